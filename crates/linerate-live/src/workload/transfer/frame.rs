//! What stands before each range on a stream. The digest follows the range's bytes.

use crate::{Error, Result};

/// Bytes of a frame.
pub const FRAME_LEN: usize = 24;

/// Bytes of a digest.
pub const DIGEST_LEN: usize = 32;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// The bytes of a range.
    Bytes { range: u64, bytes: u64 },
    /// A range that is there already, and is the source's: nothing follows.
    Held { range: u64 },
    /// This stream has done its part.
    End,
}

impl Frame {
    /// As it crosses.
    pub fn encode(self) -> [u8; FRAME_LEN] {
        let (kind, range, bytes) = match self {
            Frame::Bytes { range, bytes } => (1_u64, range, bytes),
            Frame::Held { range } => (2, range, 0),
            Frame::End => (3, 0, 0),
        };
        let mut room = [0; FRAME_LEN];
        for (place, number) in room.chunks_exact_mut(8).zip([kind, range, bytes]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        room
    }

    /// As it came.
    pub fn decode(room: &[u8; FRAME_LEN]) -> Result<Frame> {
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&room[8 * at..8 * (at + 1)]);
            u64::from_le_bytes(eight)
        };
        match [number(0), number(1), number(2)] {
            [1, range, bytes] => Ok(Frame::Bytes { range, bytes }),
            [2, range, 0] => Ok(Frame::Held { range }),
            [3, 0, 0] => Ok(Frame::End),
            _ => Err(Error::peer(
                "the sending end",
                "sent what is no frame",
                "are both ends of the same version?",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_comes_as_it_went() {
        for frame in [Frame::Bytes { range: 7, bytes: 1 << 33 }, Frame::Held { range: u64::MAX }, Frame::End]
        {
            assert_eq!(Frame::decode(&frame.encode()).unwrap(), frame);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes: [u8; FRAME_LEN]) {
            if let Ok(frame) = Frame::decode(&bytes) {
                prop_assert_eq!(frame.encode(), bytes);
            }
        }
    }
}
