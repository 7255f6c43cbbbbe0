//! A stream of datagrams: numbered, stamped with when they were sent, at a set pace or as fast as they go.

use super::super::arrivals::{
    Arrival, ArrivalRecord, RecordKind, STAMPED_BYTES, Stamps, Unnumbered, write_sent,
};
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
        let pacer = Pacer::for_pace(block.pace, clock);
        let is_stamped = block.message_bytes as usize >= STAMPED_BYTES;
        let (mut tally, mut samples) = (Tally::default(), Vec::new());
        let (sent, done) = match pacer {
            Some(pacer) => self.send_paced(clock, block, walk, pacer, (&mut tally, &mut samples))?,
            None if is_stamped => self.send_all::<K, true>(clock, block, walk, stamps)?,
            None => self.send_all::<K, false>(clock, block, walk, stamps)?,
        };
        tally.sent_within_ns = Some(done.saturating_sub(begun));
        self.finish(sent)?;
        let tally = Some(Box::new(tally));
        Ok(Moved { bytes: sent * block.message_bytes, tally, samples, ..Moved::default() })
    }

    /// As fast as they go, with the time in those that have room; how many went, and when that was done.
    fn send_all<K: Clock, const STAMPED: bool>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<(u64, u64)> {
        let len = block.message_bytes as usize;
        let (mut sent, mut now) = (0, 0);
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                let message = walk.next(len);
                write_tag(message, self.tag(sent));
                if STAMPED {
                    if self.link.begins_packet() {
                        now = clock.now_ns();
                    }
                    write_sent(message, now);
                }
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

    /// The record of arrivals was made ready before the block's time.
    pub(super) fn receive<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        match std::mem::take(&mut self.arrivals) {
            RecordKind::Counted => self.receive_into(Unnumbered, clock, block, walk, stamps),
            RecordKind::Numbered(numbers) => self.receive_into(numbers, clock, block, walk, stamps),
            RecordKind::Stamped(numbers, times) => {
                self.receive_into(Stamps(numbers, times), clock, block, walk, stamps)
            }
        }
    }

    /// A stamp closes `messages` datagrams that came. A block with losses has fewer stamps than slices, and
    /// its last one closes what was left when the sender was done.
    fn receive_into<B: ArrivalRecord, K: Clock>(
        &mut self,
        mut arrivals: B,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        let all = block.messages * u64::from(block.slices);
        let (mut came, mut next, mut silences) = (0, block.messages, 0);
        let (mut sent, mut done_ns, mut late_until, mut now) = (None, 0, 0, 0);
        while came < all {
            let room = walk.next(len);
            // Once the sender is done, what has not come yet has not long to come.
            let received = if sent.is_none() { self.link.receive(room) } else { self.link.receive_now(room) };
            if B::TIMED && self.link.began_packet() {
                now = clock.now_ns();
            }
            match received? {
                Some(length) if self.is_of_block(&room[..length], len) => {
                    silences = 0;
                    if arrivals.arrived(&room[..length], now) != Arrival::First {
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
                // Another block's, late; or the nudge, which goes on until this end has answered.
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
                    late_until = done_ns + late_ns(&arrivals);
                }
            }
        }
        if !came.is_multiple_of(block.messages) {
            stamps.push(done_ns);
        }
        let sent = self.all_sent(sent)?;
        self.drain(walk, len, &mut arrivals, clock)?;
        self.link.tell(came)?;
        Ok(moved_by_receiver(block, came, sent, arrivals))
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
        arrivals: &mut impl ArrivalRecord,
        clock: &impl Clock,
    ) -> io::Result<()> {
        loop {
            let room = walk.next(len);
            match self.link.receive_now(room)? {
                Some(length) if self.is_of_block(&room[..length], len) => {
                    arrivals.arrived(&room[..length], clock.now_ns());
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

/// What a receiver has to tell.
fn moved_by_receiver(block: &Block, came: u64, sent: u64, arrivals: impl ArrivalRecord) -> Moved {
    let mut moved = Moved { bytes: came * block.message_bytes, ..Moved::default() };
    (moved.messages, moved.lost) = (Some(came), Some(sent.saturating_sub(came)));
    let mut tally = Tally::default();
    arrivals.finish(&mut tally, &mut moved.samples);
    moved.tally = (tally != Tally::default()).then(|| Box::new(tally));
    moved
}

/// How long a datagram may still be under way when its sender has said that it is done: no longer than twice
/// what delays differed by so far.
fn late_ns(arrivals: &impl ArrivalRecord) -> u64 {
    (2 * arrivals.spread_ns()).min(SILENCE.as_nanos() as u64)
}
