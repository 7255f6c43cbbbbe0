//! Requests at set moments, whatever became of those before: an open loop. An answer's time counts from the moment
//! at which its request should have gone, so a server that stalls is charged for all that waited meanwhile
//! (coordinated omission). The other end echoes, as in a ping-pong.

use super::buffer::RECEIVE_BYTES;
use super::pacer::Pacer;
use super::{Clock, Link, Moved, Walk};
use crate::plan::Block;
use crate::record::{Latencies, Tally};
use crate::vocabulary::Sample;
use std::io;

/// Requests that may be under way at once; a further one goes late, and is counted so.
pub(super) const MOST_UNDER_WAY: usize = 1 << 16;

/// How long answers took.
#[derive(Debug, Default)]
pub(super) struct Answers {
    from_intended: Latencies,
    from_send: Latencies,
}

/// When a request should have gone, and when it went.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    pub due_ns: u64,
    pub went_ns: u64,
}

impl Answers {
    /// One came back.
    #[inline]
    pub fn record(&mut self, sent: Sent, now_ns: u64) {
        self.from_intended.record(now_ns.saturating_sub(sent.due_ns));
        self.from_send.record(now_ns.saturating_sub(sent.went_ns));
    }

    /// What they and the pacer learnt.
    pub fn finish(self, pacer: Pacer, moved: &mut Moved) {
        let mut tally = Tally::default();
        pacer.finish(&mut tally, &mut moved.samples);
        moved.samples.push((Sample::FromIntended, self.from_intended));
        moved.samples.push((Sample::FromSend, self.from_send));
        moved.tally = Some(Box::new(tally));
    }
}

/// The end that asks and keeps the time. Answers come in the order of the requests.
pub fn request<L: Link, K: Clock>(
    link: &mut L,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
) -> io::Result<Moved> {
    let len = block.message_bytes as usize;
    let (all, lead) = (block.messages * u64::from(block.slices), block.messages * u64::from(block.lead));
    let at_once = RECEIVE_BYTES.max(len);
    let mut sent = vec![Sent::default(); MOST_UNDER_WAY];
    let mut answers = Answers::default();
    let slot = |number: u64| number as usize % MOST_UNDER_WAY;
    let mut pacer = Pacer::needed(block.pace, clock)?;
    let (mut asked, mut answered, mut left, mut came) = (0, 0, 0, 0);
    while answered < all {
        let (message, room) = walk.next(len + at_once).split_at_mut(len);
        let mut may_ask = asked < all && asked - answered < MOST_UNDER_WAY as u64;
        if left == 0 && may_ask {
            let now = clock.now_ns();
            let due_ns = pacer.due_ns();
            if now >= due_ns {
                sent[slot(asked)] = Sent { due_ns, went_ns: now };
                pacer.goes(now, asked >= lead);
                (asked, left) = (asked + 1, len);
                may_ask = asked < all && asked - answered < MOST_UNDER_WAY as u64;
            }
        }
        let went = if left > 0 { link.push_now(&message[len - left..])? } else { 0 };
        left -= went;
        let got = link.pull_now(room)?;
        if got > 0 {
            came += got as u64;
            let now = clock.now_ns();
            while answered < asked && (answered + 1) * block.message_bytes <= came {
                if answered >= lead {
                    answers.record(sent[slot(answered)], now);
                }
                answered += 1;
            }
        } else if went == 0 {
            link.idle(left > 0, if may_ask && left == 0 { pacer.due_ns() } else { u64::MAX })?;
        }
    }
    let mut moved = Moved { bytes: came, ..Moved::default() };
    answers.finish(pacer, &mut moved);
    Ok(moved)
}
