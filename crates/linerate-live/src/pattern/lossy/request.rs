//! Requests in datagrams, at set moments. One that has no answer is counted as lost, and has no time.

use super::super::pacer::Pacer;
use super::super::request::{Answers, MOST_UNDER_WAY, Sent};
use super::*;

/// A request under way; none where its slot is free.
type Slot = Option<(u64, Sent)>;

impl<L: Lossy> Unreliable<L> {
    pub(super) fn request<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
    ) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        if len < TAG {
            let what = format!("a request has a number of {TAG} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let all = block.messages * u64::from(block.slices);
        let lead = block.messages * u64::from(block.lead);
        let mut slots: Vec<Slot> = vec![None; MOST_UNDER_WAY];
        let mut answers = Answers::default();
        let mut pacer = Pacer::needed(block.pace, clock)?;
        let (mut asked, mut came) = (0, 0);
        let (mut longest, mut quiet_until) = (Duration::ZERO, u64::MAX);
        while came < all {
            let (message, room) = walk.next(2 * len).split_at_mut(len);
            let now = clock.now_ns();
            if asked < all && now >= pacer.due_ns() {
                let sent = Sent { due_ns: pacer.due_ns(), went_ns: now };
                write_tag(message, self.tag(asked));
                slots[asked as usize % MOST_UNDER_WAY] = Some((asked, sent));
                self.link.send(message)?;
                self.link.flush()?;
                pacer.goes(now, asked >= lead);
                asked += 1;
                if asked == all {
                    quiet_until = now + self.wait_for_last(longest);
                }
            }
            let until = if asked < all { pacer.due_ns() } else { quiet_until };
            let Some(length) = self.link.receive_until(room, until)? else {
                if clock.now_ns() >= quiet_until {
                    break;
                }
                continue;
            };
            let now = clock.now_ns();
            if let Some((number, sent)) = self.take_answered(&room[..length], len, &mut slots) {
                came += 1;
                longest = longest.max(Duration::from_nanos(now - sent.went_ns));
                if number >= lead {
                    answers.record(sent, now);
                }
                if asked == all {
                    quiet_until = now + self.wait_for_last(longest);
                }
            }
        }
        self.finish(all)?;
        let bytes = came * block.message_bytes;
        let (messages, lost) = (Some(came), Some(all - came));
        let mut moved = Moved { bytes, messages, lost, ..Moved::default() };
        answers.finish(pacer, &mut moved);
        Ok(moved)
    }

    /// The request that this datagram answers, if it is one's first answer.
    #[inline]
    fn take_answered(&self, datagram: &[u8], len: usize, slots: &mut [Slot]) -> Option<(u64, Sent)> {
        if !self.is_of_block(datagram, len) {
            return None;
        }
        let number = read_tag(datagram) & u64::from(u32::MAX);
        let slot = &mut slots[number as usize % MOST_UNDER_WAY];
        slot.take_if(|(asked, _)| *asked == number)
    }

    /// How long an answer may take after the last request, and after each one that comes: nanoseconds.
    fn wait_for_last(&self, longest: Duration) -> u64 {
        let limit = if longest.is_zero() { FIRST } else { SILENCE.max(2 * longest) };
        limit.min(self.link.patience()).as_nanos() as u64
    }
}
