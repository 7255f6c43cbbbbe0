//! Bytes that follow from a unit's number: a pipeline that does nothing but hand on. Blank ones cost no stage anything.

use super::filter::{Filter, Out, Setup, nonsense};
use crate::{Error, Result};

/// A place of a unit, before the bytes from there on.
const PLACE: usize = 8;

/// The word at a place of a unit (D. Knuth, The Art of Computer Programming, 6.4).
fn word(unit: u64, at: u64) -> u64 {
    (unit.rotate_left(40) ^ (at + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Makes them.
pub struct Make(pub Setup);

impl Filter for Make {
    fn make(&mut self, unit: u64, out: &mut Out<'_>) -> Result<()> {
        let Setup { buffer_bytes, update_bytes } = self.0;
        let most = (buffer_bytes - PLACE) as u64 / 8 * 8;
        let mut at = 0;
        while at < update_bytes && !out.stopped {
            let len = most.min(update_bytes - at);
            out.record(PLACE + len as usize, |room| {
                let (place, bytes) = room.split_at_mut(PLACE);
                place.copy_from_slice(&at.to_be_bytes());
                for (nth, eight) in bytes.chunks_mut(8).enumerate() {
                    let word = word(unit, at + 8 * nth as u64).to_be_bytes();
                    eight.copy_from_slice(&word[..eight.len()]);
                }
            });
            out.flush();
            at += len;
        }
        Ok(())
    }
}

/// Hands them on.
pub struct Pass;

impl Filter for Pass {
    fn take(&mut self, _unit: u64, bytes: &[u8], out: &mut Out<'_>) -> Result<()> {
        out.record(bytes.len(), |room| room.copy_from_slice(bytes));
        out.flush();
        Ok(())
    }
}

/// What came of a unit: how much, and whether it is what was made.
#[derive(Debug, Clone, Copy)]
struct Came {
    bytes: u64,
    is_right: bool,
}

const NOTHING: Came = Came { bytes: 0, is_right: true };

/// Compares them.
pub struct Check {
    setup: Setup,
    /// Of the unit that is under way, and of the one before it.
    coming: Came,
    came: Came,
}

impl Check {
    /// Of nothing yet.
    pub fn new(setup: Setup) -> Check {
        Check { setup, coming: NOTHING, came: NOTHING }
    }
}

impl Filter for Check {
    fn take(&mut self, unit: u64, bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        let (place, bytes) = bytes.split_first_chunk().ok_or_else(|| nonsense("bytes"))?;
        let at = u64::from_be_bytes(*place);
        let word = |nth: usize| word(unit, at.wrapping_add(8 * nth as u64)).to_be_bytes();
        self.coming.is_right &=
            bytes.chunks(8).enumerate().all(|(nth, eight)| *eight == word(nth)[..eight.len()]);
        self.coming.bytes += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, _unit: u64, _out: &mut Out<'_>) -> Result<()> {
        self.came = std::mem::replace(&mut self.coming, NOTHING);
        Ok(())
    }

    fn check(&mut self, unit: u64) -> Result<()> {
        let Came { bytes, is_right } = self.came;
        if is_right && bytes == self.setup.update_bytes {
            return Ok(());
        }
        let what = format!("unit {unit} has {bytes} B of {}, right: {is_right}", self.setup.update_bytes);
        Err(Error::peer("the pipeline", what, "see the way between its hosts"))
    }
}

/// Gives buffers with whatever they had: what handing them on costs is left.
pub struct Give(pub Setup);

impl Filter for Give {
    fn make(&mut self, _unit: u64, out: &mut Out<'_>) -> Result<()> {
        let Setup { buffer_bytes, update_bytes } = self.0;
        let mut left = update_bytes;
        while left > 0 && !out.stopped {
            let len = left.min(buffer_bytes as u64);
            out.blank(len as usize);
            left -= len;
        }
        Ok(())
    }
}

/// Counts their bytes.
pub struct Count {
    setup: Setup,
    /// Of the unit that is under way, and of the one before it.
    coming: u64,
    came: u64,
}

impl Count {
    /// Of nothing yet.
    pub fn new(setup: Setup) -> Count {
        Count { setup, coming: 0, came: 0 }
    }
}

impl Filter for Count {
    fn take(&mut self, _unit: u64, bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        self.coming += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, _unit: u64, _out: &mut Out<'_>) -> Result<()> {
        self.came = std::mem::take(&mut self.coming);
        Ok(())
    }

    fn check(&mut self, unit: u64) -> Result<()> {
        if self.came == self.setup.update_bytes {
            return Ok(());
        }
        let what = format!("unit {unit} has {} B of {}", self.came, self.setup.update_bytes);
        Err(Error::peer("the pipeline", what, "see the way between its hosts"))
    }
}
