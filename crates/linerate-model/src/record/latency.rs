//! Latencies as HDR histograms: thousands of samples in a few hundred characters, to three digits.
//!
//! A recording may come from anyone, so what it claims about a histogram's size is checked before
//! memory is set aside for it.

use crate::{Error, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use std::io::Read;

/// The cookie of a deflated histogram, and its length, before the deflated bytes.
const COMPRESSED_COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
const COMPRESSED_HEADER: usize = 8;
/// Cookie, length, offset, digits, lowest, highest, ratio.
const HEADER: usize = 40;
/// The longest inflated histogram that is read.
const LONGEST: u64 = 1 << 20;
/// The largest value that is read: 18 minutes in nanoseconds.
const HIGHEST: u64 = 1 << 40;
/// The longest latency that is told apart when writing: a hundred seconds.
const LONGEST_NS: u64 = 100_000_000_000;
/// Significant digits: every recorded value is within a thousandth of the sample.
const DIGITS: u8 = 3;

/// Durations in nanoseconds as they are taken: a fixed memory, which does not grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies(Histogram<u32>);

impl Default for Latencies {
    fn default() -> Self {
        // Both bounds are constants that the library allows.
        Latencies(Histogram::new_with_max(LONGEST_NS, DIGITS).expect("constant bounds"))
    }
}

impl Latencies {
    /// One more; a longer one than can be told apart counts as that.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// How many were taken.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// What half of them do not exceed; 0 of none.
    pub fn median(&self) -> u64 {
        self.0.value_at_quantile(0.5)
    }

    /// Those of a text that [`encode`](Latencies::encode) gave; none where it is of another shape.
    pub fn decode(text: &str) -> Option<Latencies> {
        let mut latencies = Latencies::default();
        latencies.0.add(&decode_histogram(text)?).ok()?;
        Some(latencies)
    }

    /// Takes those of another flow.
    pub fn merge(&mut self, other: &Latencies) {
        // Equal bounds: nothing can be out of range.
        let _ = self.0.add(&other.0);
    }

    /// HDR V2, deflated, base64.
    pub fn encode(&self) -> Result<String> {
        encode_merged(&self.0)
    }
}

/// Encodes samples in nanoseconds: HDR V2, deflated, base64.
pub fn encode_histogram(samples: impl Iterator<Item = u64>) -> Result<String> {
    let mut latencies = Latencies::default();
    samples.for_each(|sample| latencies.record(sample));
    latencies.encode()
}

/// The samples of all these histograms, together; none where there is none, or one is none.
pub fn merge_histograms<'t>(mut texts: impl Iterator<Item = &'t str>) -> Option<Histogram<u32>> {
    let mut all = decode_histogram(texts.next()?)?;
    texts.try_for_each(|text| all.add(&decode_histogram(text)?).ok())?;
    Some(all)
}

/// Encodes a histogram as it was read.
pub fn encode_merged(histogram: &Histogram<u32>) -> Result<String> {
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    written.map_err(|e| Error::peer("the histogram", format!("{e:?}"), "please report it"))?;
    Ok(STANDARD.encode(bytes))
}

/// Reads a histogram; none where the text is not one, or claims more than a trial can hold.
pub fn decode_histogram(text: &str) -> Option<Histogram<u32>> {
    let bytes = STANDARD.decode(text).ok()?;
    let deflated = bytes.strip_prefix(&COMPRESSED_COOKIE)?.get(COMPRESSED_HEADER - 4..)?;
    let mut plain = Vec::new();
    ZlibDecoder::new(deflated).take(LONGEST + 1).read_to_end(&mut plain).ok()?;
    if !is_modest(&plain)? {
        return None;
    }
    Deserializer::new().deserialize(&mut plain.as_slice()).ok()
}

/// Whether the header's claims fit its bytes, and no run of zeros has a length that cannot be negated.
fn is_modest(plain: &[u8]) -> Option<bool> {
    let word = |at: usize| Some(u32::from_be_bytes(plain.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_be_bytes(plain.get(at..at + 8)?.try_into().ok()?));
    let counts = plain.get(HEADER..)?;
    Some(
        plain.len() as u64 <= LONGEST
            && word(4)? as usize == counts.len()
            && word(12)? <= u32::from(DIGITS)
            && long(24)? <= HIGHEST
            && !counts.windows(9).any(|window| window.iter().all(|byte| *byte == 0xff)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Histogram<u64> {
        let mut histogram = Histogram::new_with_max(LONGEST_NS, DIGITS).unwrap();
        (1..=999u64).for_each(|value| histogram.record(value * 7).unwrap());
        histogram
    }

    #[test]
    fn a_histogram_survives_the_journey() {
        let text = encode_histogram((1..=10_000).map(|i| i * 10)).unwrap();
        let histogram = decode_histogram(&text).unwrap();
        assert_eq!(histogram.len(), 10_000);
        let median = histogram.value_at_quantile(0.5) as f64;
        assert!((median / 50_000.0 - 1.0).abs() < 0.001, "{median}");
    }

    #[test]
    fn absurd_claims_are_refused() {
        let wide = Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 5).unwrap();
        let mut full = Histogram::<u64>::new_with_bounds(1, 1000, 3).unwrap();
        full.record_n(5, u64::from(u32::MAX) + 1).unwrap();
        for histogram in [wide, full] {
            assert!(decode_histogram(&wrapped(&plain(&histogram))).is_none());
        }
        for text in ["", "no base64!", "HISTFAAA", "AAAAAAAAAAAAAAAA"] {
            assert!(decode_histogram(text).is_none(), "{text}");
        }
    }

    /// The bytes of a deflated histogram around these plain ones.
    fn wrapped(plain: &[u8]) -> String {
        let mut deflated = Vec::new();
        flate2::read::ZlibEncoder::new(plain, flate2::Compression::fast())
            .read_to_end(&mut deflated)
            .unwrap();
        let mut bytes = COMPRESSED_COOKIE.to_vec();
        bytes.extend((deflated.len() as u32).to_be_bytes());
        bytes.extend(deflated);
        STANDARD.encode(bytes)
    }

    fn plain(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        hdrhistogram::serialization::V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_run_of_zeros_beyond_negation_is_refused() {
        let mut bytes = plain(&sample());
        bytes.truncate(HEADER);
        bytes.extend([0xff; 9]);
        bytes[4..8].copy_from_slice(&9u32.to_be_bytes());
        assert!(decode_histogram(&wrapped(&bytes)).is_none());
    }

    proptest! {
        #[test]
        fn changed_bytes_never_break_it(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
        ) {
            let mut bytes = plain(&sample());
            for (at, value) in changes {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if let Some(histogram) = decode_histogram(&wrapped(&bytes)) {
                histogram.value_at_quantile(0.5);
            }
        }
    }
}
