//! A stream of datagrams: numbered, stamped with when they were sent, at a set pace or as fast as they go.

use super::super::journal::{Came, Journal, STAMPED_BYTES, write_sent};
use super::super::pacer::Pacer;
use super::*;
use crate::record::{Latencies, Tally};
use crate::vocabulary::Sample;

impl<L: Lossy> Unreliable<L> {
    pub(super) fn send<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let begun = clock.now_ns();
        let pacer = Pacer::of(block.pace, clock);
        let is_stamped = block.message_bytes as usize >= STAMPED_BYTES;
        let (mut tally, mut samples) = (Tally::default(), Vec::new());
        let (sent, done) = match pacer {
            Some(pacer) => self.send_paced(clock, block, walk, pacer, (&mut tally, &mut samples))?,
            None if is_stamped => self.send_stamped(clock, block, walk, stamps)?,
            None => self.send_bare(clock, block, walk, stamps)?,
        };
        tally.sent_within_ns = Some(done.saturating_sub(begun));
        self.finish(sent)?;
        let tally = Some(Box::new(tally));
        Ok(Moved { bytes: sent * block.message_bytes, tally, samples, ..Moved::default() })
    }

    /// As fast as they go; how many went, and when that was done.
    fn send_stamped<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<(u64, u64)> {
        let len = block.message_bytes as usize;
        let mut sent = 0;
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                let message = walk.next(len);
                write_tag(message, self.tag(sent));
                write_sent(message, clock.now_ns());
                self.link.send(message)?;
                sent += 1;
            }
            stamps.push(clock.now_ns());
        }
        self.link.flush()?;
        Ok((sent, clock.now_ns()))
    }

    /// The same of datagrams that have no room for the time.
    fn send_bare<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<(u64, u64)> {
        let len = block.message_bytes as usize;
        let mut sent = 0;
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                let message = walk.next(len);
                write_tag(message, self.tag(sent));
                self.link.send(message)?;
                sent += 1;
            }
            stamps.push(clock.now_ns());
        }
        self.link.flush()?;
        Ok((sent, clock.now_ns()))
    }

    /// Each when it is due, or at once where that is past. It is done when the next one would be due.
    fn send_paced<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        mut pacer: Pacer,
        (tally, samples): (&mut Tally, &mut Vec<(Sample, Latencies)>),
    ) -> io::Result<(u64, u64)> {
        let len = block.message_bytes as usize;
        let is_stamped = len >= STAMPED_BYTES;
        let all = block.messages * u64::from(block.slices);
        for sent in 0..all {
            let message = walk.next(len);
            write_tag(message, self.tag(sent));
            clock.wait_until(pacer.due_ns());
            let now = clock.now_ns();
            if is_stamped {
                write_sent(message, now);
            }
            self.link.send(message)?;
            // What is due now waits for no other.
            self.link.flush()?;
            pacer.goes(now, true);
        }
        let done = clock.now_ns().max(pacer.due_ns());
        pacer.finish(tally, samples);
        Ok((all, done))
    }

    /// A stamp closes `messages` datagrams that came. A block with losses has fewer stamps than slices, and
    /// its last one closes what was left when the sender was done.
    pub(super) fn receive<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        let all = block.messages * u64::from(block.slices);
        let mut register = Register::of(all, len);
        let (mut came, mut next, mut silences) = (0, block.messages, 0);
        let (mut sent, mut done_ns, mut late_until) = (None, 0, 0);
        while came < all {
            let room = walk.next(len);
            // Once the sender is done, what has not come yet has not long to come.
            let received = if sent.is_none() { self.link.receive(room) } else { self.link.receive_now(room) };
            match received? {
                Some(length) if self.is_of_block(&room[..length], len) => {
                    silences = 0;
                    if !register.is_new(&room[..length], clock) {
                        continue;
                    }
                    came += 1;
                    if came == next {
                        stamps.push(clock.now_ns());
                        next += block.messages;
                    }
                    if sent.is_some() {
                        done_ns = clock.now_ns();
                    }
                }
                // Another block's, late; or the bell, which goes on until this end has answered.
                Some(length) if length > 0 || sent.is_some() => {}
                None if sent.is_some() => {
                    if clock.now_ns() >= late_until {
                        break;
                    }
                    self.link.hear(RING)?;
                }
                quiet => {
                    silences += u32::from(quiet.is_none());
                    sent = self.finished(silences)?;
                    done_ns = clock.now_ns();
                    late_until = done_ns + register.late_ns();
                }
            }
        }
        if !came.is_multiple_of(block.messages) {
            stamps.push(done_ns);
        }
        let sent = self.all_sent(sent)?;
        self.drain(walk, len, &mut register, clock)?;
        self.link.tell(came)?;
        let lost = sent.saturating_sub(came);
        let mut moved = Moved { bytes: came * block.message_bytes, ..Moved::default() };
        (moved.messages, moved.lost) = (Some(came), Some(lost));
        register.finish(&mut moved);
        Ok(moved)
    }

    /// How many were sent: heard already, or awaited where all of them came before.
    fn all_sent(&mut self, heard: Option<u64>) -> io::Result<u64> {
        match heard {
            Some(sent) => Ok(sent),
            None => Ok(self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?),
        }
    }

    /// What is there by now came twice. One that comes only now, after all that, is lost: it was counted so.
    fn drain(
        &mut self,
        walk: &mut Walk<'_>,
        len: usize,
        register: &mut Register,
        clock: &impl Clock,
    ) -> io::Result<()> {
        loop {
            let room = walk.next(len);
            match self.link.receive_now(room)? {
                Some(length) if self.is_of_block(&room[..length], len) => {
                    register.is_new(&room[..length], clock);
                }
                Some(_) => {}
                None => return Ok(()),
            }
        }
    }

    /// Whether a datagram belongs to this block; too short a one cannot say.
    #[inline]
    pub(super) fn is_of_block(&self, datagram: &[u8], len: usize) -> bool {
        datagram.len() == len && (len < TAG || read_tag(datagram) >> 32 == u64::from(self.block))
    }
}

/// The journal of datagrams that have room for one.
struct Register(Option<Journal>);

impl Register {
    fn of(all: u64, len: usize) -> Register {
        Register(Journal::of(all, len))
    }

    /// Whether this one has not come yet; what has no number is always new.
    #[inline]
    fn is_new(&mut self, datagram: &[u8], clock: &impl Clock) -> bool {
        let Some(journal) = &mut self.0 else { return true };
        let now = if journal.is_timed() { clock.now_ns() } else { 0 };
        journal.came(datagram, now) == Came::First
    }

    /// How long a datagram may still be under way when its sender has said that it is done: no longer than
    /// twice what delays differed by so far.
    fn late_ns(&self) -> u64 {
        let spread = self.0.as_ref().map_or(0, Journal::spread_ns);
        (2 * spread).min(SILENCE.as_nanos() as u64)
    }

    fn finish(self, moved: &mut Moved) {
        let Some(journal) = self.0 else { return };
        let mut tally = Tally::default();
        journal.finish(&mut tally, &mut moved.samples);
        moved.tally = Some(Box::new(tally));
    }
}
