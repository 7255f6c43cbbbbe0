//! What was read and not yet sorted: headers, and the payloads of small messages.

use super::wire::HEADER_BYTES;

/// What is read at once.
const BYTES: usize = 64 << 10;

/// Bytes in the order in which they came.
#[derive(Debug)]
pub struct Ahead {
    bytes: Box<[u8]>,
    /// The part of them that waits.
    from: usize,
    to: usize,
}

impl Ahead {
    /// Nothing yet.
    pub fn new() -> Ahead {
        Ahead { bytes: vec![0; BYTES].into(), from: 0, to: 0 }
    }

    /// Takes a header, where a whole one is there.
    #[inline]
    pub fn header(&mut self) -> Option<[u8; HEADER_BYTES]> {
        let header = *self.bytes[self.from..self.to].first_chunk()?;
        self.from += HEADER_BYTES;
        Some(header)
    }

    /// Takes as many bytes as there are and `room` holds; says how many.
    #[inline]
    pub fn take(&mut self, room: &mut [u8]) -> usize {
        let count = room.len().min(self.to - self.from);
        room[..count].copy_from_slice(&self.bytes[self.from..][..count]);
        self.from += count;
        count
    }

    /// Where more can be read behind what waits: as much as makes one header whole, or all that there is. Never empty,
    /// for a header that is whole is taken before more is read.
    #[inline]
    pub fn spare(&mut self, header_only: bool) -> &mut [u8] {
        self.bytes.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        let end = if header_only { HEADER_BYTES } else { BYTES };
        &mut self.bytes[self.to..end]
    }

    /// So many bytes were read there.
    #[inline]
    pub fn filled(&mut self, count: usize) {
        self.to += count;
    }
}
