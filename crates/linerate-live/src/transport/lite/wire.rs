//! A message on the wire: a header of 64 bytes, then the payload. Nothing stands between messages.
//!
//! A header is as long as a cache line, so that it shifts no payload against the lines: shifted by 16 bytes, the kernel's
//! copies made a round trip of 1 MiB a fifth slower.
//!
//! | bytes | what |
//! |---|---|
//! | 0..3 | the mark `lm2`: the layer and its version |
//! | 3 | zero |
//! | 4..8 | the tag, little-endian |
//! | 8..16 | bytes of the payload, little-endian |
//! | 16..64 | zero; not looked at |

use linerate_sys::messages::LINE;
use std::io;

/// Bytes of a header: a line of the cache.
pub const HEADER_BYTES: usize = LINE;

/// The most bytes of a message: more than any memory has, and a length that wanders into the sign is none.
pub const MOST_BYTES: u64 = 1 << 40;

/// What begins every header.
const MARK: [u8; 4] = *b"lm2\0";

/// What is said before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What its receive must be posted with.
    pub tag: u32,
    /// Bytes of the payload.
    pub len: usize,
}

impl Header {
    /// The header of such a message; an error where it is longer than any may be.
    pub fn for_payload(tag: u32, payload: &[u8]) -> io::Result<Header> {
        match payload.len() as u64 {
            0..=MOST_BYTES => Ok(Header { tag, len: payload.len() }),
            len => Err(io::Error::new(io::ErrorKind::InvalidInput, too_long(len))),
        }
    }

    /// As it is sent.
    #[inline]
    pub fn to_wire(self) -> [u8; HEADER_BYTES] {
        let mut wire = [0; HEADER_BYTES];
        wire[..4].copy_from_slice(&MARK);
        wire[4..8].copy_from_slice(&self.tag.to_le_bytes());
        wire[8..16].copy_from_slice(&(self.len as u64).to_le_bytes());
        wire
    }

    /// As it came. What is no header of this version, or claims more than a message may have, is an error: what
    /// follows it could not be told from anything.
    #[inline]
    pub fn from_wire(wire: &[u8; HEADER_BYTES]) -> io::Result<Header> {
        let (mark, rest) = wire.split_at(MARK.len());
        let (tag, len) = rest.split_at(4);
        if mark != MARK {
            return Err(hostile(format!("{mark:02x?} begins no message of this layer")));
        }
        let tag = u32::from_le_bytes(tag.try_into().map_err(io::Error::other)?);
        let claimed = u64::from_le_bytes(len[..8].try_into().map_err(io::Error::other)?);
        match usize::try_from(claimed) {
            Ok(len) if claimed <= MOST_BYTES => Ok(Header { tag, len }),
            _ => Err(hostile(too_long(claimed))),
        }
    }
}

fn too_long(len: u64) -> String {
    format!("a message of {len} bytes: at most {MOST_BYTES} are one")
}

fn hostile(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hostile_header_is_refused() {
        let good = Header { tag: 7, len: 3 }.to_wire();
        for at in 0..MARK.len() {
            let mut bad = good;
            bad[at] ^= 1;
            let refused = Header::from_wire(&bad).unwrap_err();
            assert!(refused.to_string().contains("begins no message"), "{refused}");
        }
        for len in [MOST_BYTES + 1, 1 << 63, u64::MAX] {
            let mut bad = good;
            bad[8..16].copy_from_slice(&len.to_le_bytes());
            let refused = Header::from_wire(&bad).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
            assert!(refused.to_string().contains(&format!("a message of {len} bytes")), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_is_what_came(tag: u32, len in 0..=MOST_BYTES) {
            let header = Header { tag, len: len as usize };
            prop_assert_eq!(Header::from_wire(&header.to_wire()).unwrap(), header);
        }

        #[test]
        fn no_header_exceeds_the_longest_message(wire: [u8; HEADER_BYTES]) {
            if let Ok(header) = Header::from_wire(&wire) {
                prop_assert!(header.len as u64 <= MOST_BYTES);
            }
        }
    }
}
