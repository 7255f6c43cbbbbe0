//! A file in ranges, and their digests: each is a subtree of the file's BLAKE3, so that the ranges' together are the file's own
//! digest, in whatever order they came.

use crate::{Error, Result};
use blake3::Hasher;
use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// 32 bytes.
pub type Digest = [u8; 32];

/// The smallest range: what is sent again at most where a stream breaks. The largest number of them, whose digests one message of
/// control must hold.
const LEAST: u64 = 4 << 20;
const MOST_RANGES: u64 = 1 << 14;

/// The longest file: what ext4 and XFS can hold, and no sum of its places overflows.
const LONGEST: u64 = 1 << 60;

/// How a file is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// The file's bytes.
    pub bytes: u64,
    /// Those of a range: a power of two; the last one may be shorter.
    pub range_bytes: u64,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl Division {
    /// As small as there may be ranges.
    pub fn for_file(bytes: u64) -> Result<Division> {
        let bytes = Some(bytes).filter(|bytes| *bytes <= LONGEST);
        let bytes =
            bytes.ok_or_else(|| Error::usage("the file is longer than 2^60 bytes", "send it in parts"))?;
        Ok(Division { bytes, range_bytes: bytes.div_ceil(MOST_RANGES).next_power_of_two().max(LEAST) })
    }

    /// As another end, or a journal, says.
    pub fn new(bytes: u64, range_bytes: u64) -> Result<Division> {
        let usual = Division::for_file(bytes)?;
        let is_same = usual.range_bytes == range_bytes;
        is_same.then_some(usual).ok_or_else(|| Error::peer("the other end", "divides the file otherwise", ""))
    }

    /// How many ranges there are.
    pub fn count(&self) -> u64 {
        self.bytes.div_ceil(self.range_bytes)
    }

    /// One of them.
    pub fn span(&self, range: u64) -> Option<Span> {
        let at = (range < self.count()).then(|| range * self.range_bytes)?;
        Some(Span { at, bytes: self.range_bytes.min(self.bytes - at) })
    }

    /// What a range's digest is made with.
    pub fn hasher(&self, at: u64) -> RangeHasher {
        let mut hasher = Hasher::new();
        hasher.set_input_offset(at);
        RangeHasher { hasher, is_whole: self.count() == 1 }
    }

    /// The file's digest from those of all its ranges.
    pub fn digest(&self, ranges: &[Digest]) -> Digest {
        match ranges {
            [] => blake3::hash(&[]).into(),
            [whole] => *whole,
            _ => {
                let (left, right) = ranges.split_at(left(ranges.len()));
                merge_subtrees_root(&subtree(left), &subtree(right), Mode::Hash).into()
            }
        }
    }
}

/// The digest of one range in the making.
pub struct RangeHasher {
    hasher: Hasher,
    is_whole: bool,
}

impl RangeHasher {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// The digest: the file's own where it has one range.
    pub fn digest(&self) -> Digest {
        match self.is_whole {
            true => self.hasher.finalize().into(),
            false => self.hasher.finalize_non_root(),
        }
    }
}

/// The left subtree has the largest power of two of ranges that leaves something to the right (the BLAKE3 paper, section 2.1).
fn left(ranges: usize) -> usize {
    ranges.next_power_of_two() / 2
}

fn subtree(ranges: &[Digest]) -> Digest {
    match ranges {
        [one] => *one,
        _ => {
            let (left, right) = ranges.split_at(left(ranges.len()));
            merge_subtrees_non_root(&subtree(left), &subtree(right), Mode::Hash)
        }
    }
}

/// As `b3sum` prints it.
pub fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_together_are_the_files_own_digest() {
        let text: Vec<u8> = (0..5 * LEAST + 77).map(|byte| (byte % 251) as u8).collect();
        for bytes in [0, 1, LEAST - 1, LEAST, LEAST + 1, 2 * LEAST, 3 * LEAST, 4 * LEAST + 5, 5 * LEAST + 77]
        {
            let text = &text[..bytes as usize];
            let division = Division::for_file(bytes).unwrap();
            let ranges: Vec<Digest> = (0..division.count())
                .map(|range| {
                    let span = division.span(range).unwrap();
                    let mut hasher = division.hasher(span.at);
                    text[span.at as usize..][..span.bytes as usize]
                        .chunks(100_000)
                        .for_each(|part| hasher.update(part));
                    hasher.digest()
                })
                .collect();
            assert_eq!(division.digest(&ranges), *blake3::hash(text).as_bytes(), "{bytes}");
        }
    }

    #[test]
    fn ranges_are_few_and_cover_the_file() {
        for bytes in [0, 1, LEAST, 10_000_000, 1 << 36, (1 << 36) + 1, 1 << 44, LONGEST] {
            let division = Division::for_file(bytes).unwrap();
            assert!(division.count() <= MOST_RANGES, "{bytes}");
            assert!(division.range_bytes.is_power_of_two());
            let last = division.count().checked_sub(1).map(|last| division.span(last).unwrap());
            assert_eq!(last.map_or(0, |span| span.at + span.bytes), bytes);
            assert_eq!(division.span(division.count()), None);
            assert_eq!(Division::new(bytes, division.range_bytes).unwrap(), division);
        }
        assert!(Division::for_file(LONGEST + 1).is_err());
        assert!(Division::new(10, 4096).is_err(), "another end's word is not taken");
    }
}
