//! How long a byte of a stream takes by itself, whatever binds: what a warm-up shows.

use crate::plan::Block;
use linerate_sys::clock::monotonic_ns;

/// Parts of the warm-up of which the middle one counts: what disturbs some of them is not the pace.
const PARTS: usize = 16;

/// The bytes that go by themselves, counted down.
///
/// What a sender pushes is no measure of what passes: buffers take it at once, and then nothing for a while, and they grow. So
/// what is known to have arrived is clocked.
#[derive(Debug)]
pub struct WarmUp {
    all: u64,
    left: u64,
    /// How many of the last ones are clocked: by then the buffers are full.
    clocked: u64,
    /// Bytes of one part at least.
    part: u64,
    /// What has arrived so far.
    arrived: u64,
    /// When this part began, and what had arrived by then.
    since: Option<(u64, u64)>,
    ns_per_byte: [f64; PARTS],
    filled: usize,
}

impl WarmUp {
    /// That of a stream's blocks; none where they begin without one.
    pub fn of_stream(blocks: &[Block]) -> Option<WarmUp> {
        let first = blocks.first().filter(|block| block.lead == block.slices)?;
        let messages = first.messages * u64::from(first.slices);
        let (all, clocked) = (messages * first.message_bytes, messages.div_ceil(2) * first.message_bytes);
        Some(WarmUp {
            all,
            left: all,
            clocked,
            part: (clocked / PARTS as u64).max(1),
            arrived: 0,
            since: None,
            ns_per_byte: [0.0; PARTS],
            filled: 0,
        })
    }

    /// So many moved, and of all of them so many are still on their way; after the last one, how long each takes, which is 0
    /// where there were too few of them to show it.
    #[inline]
    pub fn moved(&mut self, bytes: usize, outstanding: u64) -> Option<f64> {
        self.moved_at(bytes, outstanding, monotonic_ns)
    }

    fn moved_at(&mut self, bytes: usize, outstanding: u64, now_ns: impl Fn() -> u64) -> Option<f64> {
        self.left = self.left.saturating_sub(bytes as u64);
        self.arrived = (self.all - self.left).saturating_sub(outstanding);
        if self.since.is_none() && self.left <= self.clocked {
            // From the end of a message on: that the next one is waited for belongs to its time.
            self.since = Some((now_ns(), self.arrived));
        } else if let Some((since_ns, then)) = self.since {
            let arrived = self.arrived.saturating_sub(then);
            if arrived >= self.part && self.filled < PARTS {
                let now_ns = now_ns();
                self.ns_per_byte[self.filled] = (now_ns - since_ns) as f64 / arrived as f64;
                self.filled += 1;
                self.since = Some((now_ns, self.arrived));
            }
        }
        (self.left == 0).then(|| {
            let parts = &mut self.ns_per_byte[..self.filled];
            parts.sort_unstable_by(f64::total_cmp);
            parts.get(parts.len() / 2).copied().unwrap_or(0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1000;

    fn warm_up(messages: u64) -> WarmUp {
        let block = Block { message_bytes: BYTES as u64, messages, slices: 1, lead: 1, ..Block::default() };
        WarmUp::of_stream(&[block]).unwrap()
    }

    /// A byte arrives each 10 ns, and a send buffer of 20 messages takes a third of itself at once, and grows.
    #[test]
    fn bursts_and_growing_buffers_are_no_pace() {
        let mut warm_up = warm_up(400);
        let (mut pushed, mut now_ns, mut buffer) = (0_u64, 0_u64, 20_000_u64);
        let mut found = None;
        while found.is_none() {
            let on_its_way = |now_ns: u64| pushed.saturating_sub(now_ns / 10);
            if on_its_way(now_ns) + BYTES as u64 > buffer {
                now_ns += 10 * buffer / 3;
                buffer += 100;
            }
            pushed += BYTES as u64;
            found = warm_up.moved_at(BYTES, pushed.saturating_sub(now_ns / 10), || now_ns);
        }
        assert!((9.5..10.5).contains(&found.unwrap()), "{found:?}");
    }

    #[test]
    fn what_disturbs_some_parts_is_not_the_pace() {
        let mut warm_up = warm_up(64);
        let mut found = None;
        for message in 0..64_u64 {
            // Somebody else has the CPU for a while.
            let now_ns = message * 10_000 + if message > 50 { 3_000_000 } else { 0 };
            found = warm_up.moved_at(BYTES, 0, || now_ns + 10_000);
        }
        assert!((9.9..10.1).contains(&found.unwrap()), "{found:?}");
    }

    /// A sender that rests before each message, of which there are few.
    #[test]
    fn a_rest_belongs_to_the_message_behind_it() {
        for messages in 2..6 {
            let mut warm_up = warm_up(messages);
            let found = (1..=messages).map(|message| warm_up.moved_at(BYTES, 900, || message * 1_000_000));
            let found = found.last().flatten().unwrap();
            assert!((990.0..1010.0).contains(&found), "{messages}: {found}");
        }
        // One by itself shows nothing.
        assert_eq!(warm_up(1).moved_at(BYTES, 0, || 1_000_000), Some(0.0));
    }
}
