//! A known share of slowness: the fault that a method must find before it may be believed.
//!
//! A sender that only wastes time hides it in the buffers wherever it is not the sender that binds.
//! So a stream is paced: its warm-up shows how long a message takes by itself, whatever binds, and
//! from then on one goes out each so much longer. Where no warm-up showed it, and in a ping-pong, in
//! which nothing can hide, each message pays a share of the time that the last one took.

use super::warm_up::WarmUp;
use crate::plan::Block;
use crate::vocabulary::Does;
use linerate_sys::clock::monotonic_ns;

/// What one end does to its messages.
#[derive(Debug)]
pub struct Slowdown {
    /// None where this end only answers.
    share: Option<f64>,
    warm_up: Option<WarmUp>,
    /// The size that is paced, and the time from one message to the next.
    paced: Option<(usize, f64)>,
    /// When the last message went.
    last_at: Option<u64>,
    /// When the next one goes, where messages are paced.
    next_at: Option<f64>,
}

impl Slowdown {
    /// For one end of a step.
    pub fn new(percent: u32, does: Does, blocks: &[Block]) -> Slowdown {
        let slows = percent > 0 && matches!(does, Does::Sends | Does::Pings);
        let warm_up = WarmUp::of_stream(blocks).filter(|_| does == Does::Sends);
        let share = slows.then(|| f64::from(percent) / 100.0);
        Slowdown { share, warm_up, paced: None, last_at: None, next_at: None }
    }

    /// Waits until a message of this size may go.
    #[inline]
    pub fn hold(&mut self, len: usize) {
        let Some(share) = self.share else { return };
        if self.warm_up.is_some() {
            return;
        }
        let now = monotonic_ns();
        match (self.paced, self.last_at) {
            (Some((paced, each_ns)), _) if paced == len => {
                let at = self.next_at.unwrap_or(now as f64);
                spin_until(at as u64);
                self.next_at = Some(at + each_ns);
            }
            (_, Some(last)) => {
                spin_until(now + (share * (now - last) as f64) as u64);
                self.last_at = Some(monotonic_ns());
            }
            (_, None) => self.last_at = Some(now),
        }
    }

    /// Whether messages go by themselves still, to show how long one takes.
    #[inline]
    pub fn is_warming_up(&self) -> bool {
        self.share.is_some() && self.warm_up.is_some()
    }

    /// So much went of a message of this size, and so much is still on its way; tells whether messages are paced from now on.
    #[inline]
    pub fn moved(&mut self, (len, moved): (usize, usize), outstanding: u64) -> bool {
        let (Some(share), Some(warm_up)) = (self.share, &mut self.warm_up) else { return false };
        let Some(ns_per_byte) = warm_up.moved(moved, outstanding) else { return false };
        self.paced = Some((len, ns_per_byte * len as f64 * (1.0 + share))).filter(|_| ns_per_byte > 0.0);
        self.warm_up = None;
        true
    }

    /// A stream's next block begins: the other end said go.
    pub fn begins(&mut self) {
        self.next_at = None;
    }
}

#[inline]
fn spin_until(at_ns: u64) {
    while monotonic_ns() < at_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Cache;

    fn block(messages: u64, slices: u32, lead: u32) -> Block {
        Block { message_bytes: 8, messages, slices, lead, cache: Cache::Hot, ..Block::default() }
    }

    /// A message takes this long by itself.
    const MESSAGE_NS: u64 = 100_000;

    /// The time of so many messages, each of which takes [`MESSAGE_NS`] by itself.
    fn time_of(slowdown: &mut Slowdown, messages: u64) -> u64 {
        let begun = monotonic_ns();
        for _ in 0..messages {
            slowdown.hold(8);
            spin_until(monotonic_ns() + MESSAGE_NS);
            slowdown.moved((8, 8), 0);
        }
        monotonic_ns() - begun
    }

    /// Spinning never ends early, so a lower bound holds however busy the machine is.
    #[test]
    fn a_stream_is_slowed_after_its_warm_up() {
        let mut slowdown = Slowdown::new(50, Does::Sends, &[block(40, 1, 1), block(40, 1, 0)]);
        time_of(&mut slowdown, 40);
        slowdown.begins();
        assert!(time_of(&mut slowdown, 41) >= 40 * MESSAGE_NS * 3 / 2);
    }

    #[test]
    fn a_ping_pong_pays_a_share_of_each_round_trip() {
        let mut slowdown = Slowdown::new(50, Does::Pings, &[block(40, 1, 0)]);
        assert!(time_of(&mut slowdown, 41) >= 40 * MESSAGE_NS * 3 / 2);
    }

    #[test]
    fn whoever_answers_is_not_slowed() {
        for does in [Does::Echoes, Does::Receives] {
            let mut slowdown = Slowdown::new(1000, does, &[block(10, 1, 1)]);
            slowdown.hold(8);
            slowdown.moved((8, 8), 0);
            assert!(slowdown.last_at.is_none() && slowdown.paced.is_none());
        }
    }
}
