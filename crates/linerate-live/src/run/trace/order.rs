//! What is to be traced, and whether hosts can.

use crate::trace::check_ids;
use crate::vocabulary::Wait;
use crate::{Error, Result};

/// Levels from this one on record every exchange: to turn them off and on takes a call of the kernel's.
const SAMPLED_BELOW: u8 = 2;

/// The most exchanges of all blocks that one way of waiting has: of each there are two round trips of 8 B on record, one of them traced.
const MOST_IN_ALL: u64 = 4_000_000;

/// What is to be traced.
#[derive(Debug, Clone)]
pub struct TraceOrder {
    /// Bytes of a message, each way.
    pub bytes: u64,
    /// Exchanges of a block that are stamped.
    pub exchanges: u32,
    /// Every so manyth is stamped, whichever it is; the others are played too.
    pub every: u32,
    /// Pairs of blocks for each way of waiting.
    pub blocks: u32,
    /// The highest level that is wanted.
    pub level: u8,
    /// How both ends wait, one after the other in each round.
    pub waits: Vec<Wait>,
    /// Calls in which the end that asks sends a message.
    pub writes: u32,
    /// Whether messages go as datagrams.
    pub datagrams: bool,
}

impl TraceOrder {
    /// Whether it can be traced by hosts of these levels.
    pub fn check(&self, levels: &[u8]) -> Result<()> {
        if self.every > 1 && levels.iter().any(|level| *level >= SAMPLED_BELOW) {
            let what = format!("--every {}: at level {SAMPLED_BELOW} every exchange is recorded", self.every);
            let below = self.level.min(SAMPLED_BELOW).saturating_sub(1);
            return Err(Error::usage(what, format!("try --level {below}, or leave out --every")));
        }
        let in_all = u64::from(self.played()).saturating_mul(u64::from(self.blocks));
        if in_all > MOST_IN_ALL {
            let what = format!("{in_all} exchanges are more than are kept: at most {MOST_IN_ALL} are");
            return Err(Error::usage(what, "try fewer --exchanges or --blocks, or a smaller --every"));
        }
        let counts_bytes = levels.contains(&0) && !self.datagrams;
        if counts_bytes { check_ids(self.bytes, self.played()) } else { Ok(()) }
    }

    /// Exchanges of a block, stamped or not.
    pub fn played(&self) -> u32 {
        self.exchanges.saturating_mul(self.every.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: TraceOrder = TraceOrder {
        bytes: 64,
        exchanges: 400,
        every: 1,
        blocks: 10,
        level: 1,
        waits: Vec::new(),
        writes: 1,
        datagrams: false,
    };

    #[track_caller]
    fn is_refused(order: &TraceOrder, levels: &[u8], said: &str) {
        let error = order.check(levels).unwrap_err();
        let text = format!("{error}; {}", error.hint().unwrap_or_default());
        assert!(error.exit_code() == 2 && text.contains(said), "{text}");
    }

    #[test]
    fn rings_are_for_no_sample() {
        let sampled = TraceOrder { every: 2, ..ORDER };
        assert!(sampled.check(&[0, 1]).is_ok() && ORDER.check(&[2, 2]).is_ok());
        // A host without BTF is traced at level 2 where 1 was wanted.
        is_refused(&sampled, &[1, 2], "try --level 0, or leave out --every");
        is_refused(&TraceOrder { level: 2, ..sampled }, &[2], "try --level 1, or leave out --every");
    }

    #[test]
    fn more_than_is_kept_is_refused() {
        let most = TraceOrder { exchanges: 4000, every: 50, blocks: 20, ..ORDER };
        assert!(most.check(&[1, 1]).is_ok());
        is_refused(&TraceOrder { blocks: 21, ..most }, &[1, 1], "4200000 exchanges are more than are kept");
        // What may be asked of each alone.
        assert!(TraceOrder { exchanges: 4000, blocks: 200, ..ORDER }.check(&[0, 0]).is_ok());
        assert!(TraceOrder { every: u32::MAX, exchanges: u32::MAX, ..ORDER }.check(&[1, 1]).is_err());
    }

    #[test]
    fn more_than_ids_tell_apart_is_refused_at_level_0() {
        let long = TraceOrder { bytes: 64 << 10, exchanges: 4000, every: 64, ..ORDER };
        is_refused(&long, &[1, 0], "try fewer --exchanges or a smaller --every");
        assert!(long.check(&[1, 1]).is_ok());
        assert!(TraceOrder { datagrams: true, ..long }.check(&[0, 0]).is_ok());
    }
}
