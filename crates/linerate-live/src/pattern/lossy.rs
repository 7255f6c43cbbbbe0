//! The loops for datagrams that may be lost. A loss costs time, never a hang: it is counted.
//!
//! Beside the datagrams goes a stream that loses nothing, on which the ends agree where a block begins
//! and how many messages it had. Every message begins with a tag that no other has, as much of it as
//! fits. An empty datagram, the *nudge*, bids the other end look at its stream.

mod exchange;
mod request;
mod search;
mod stream;
#[cfg(test)]
mod tests;

use super::arrivals::RecordKind;
use super::{Clock, Kernel, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::vocabulary::Does;
use search::SearchReceiver;
use std::io;
use std::time::Duration;

/// How long no datagram comes before a receiver looks what became of the other end.
pub const SILENCE: Duration = Duration::from_millis(50);

/// How often the nudge is sent until the other end answers: it may be lost too.
const RING: Duration = Duration::from_millis(1);

/// An exchange is given up after this many of the longest round trips so far, and not before [`SILENCE`]; on
/// a long path after so much more than one. Before any is known it may take as long as TCP waits for its
/// first answer (RFC 6298, section 2.1).
const ROUND_TRIPS: u32 = 20;
const FIRST: Duration = Duration::from_secs(1);

/// Bytes of a whole tag: the block's number, then the message's.
pub const TAG: usize = 8;

/// Datagrams, and the stream beside them.
pub trait Lossy {
    /// Readies for a block, before its time begins.
    fn begin(&mut self, _block: &Block) -> io::Result<()> {
        Ok(())
    }
    /// Says what the kernel did for the block, after its time has ended.
    fn account(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
    /// Sends what waits for others that share its way.
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Whether the next datagram begins a packet. Those that share one leave the host at once: they have its time.
    #[inline]
    fn begins_packet(&self) -> bool {
        true
    }
    /// Whether the datagram that was received last began one.
    #[inline]
    fn began_packet(&self) -> bool {
        true
    }
    /// Sends one datagram, waiting for room. It may wait for others until [`flush`](Lossy::flush).
    fn send(&mut self, datagram: &[u8]) -> io::Result<()>;
    /// Receives one datagram into the first part of `room` and gives its length: 0 is the nudge, none
    /// that nothing came for [`SILENCE`].
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>>;
    /// Receives a datagram that is there already.
    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>>;
    /// The same of one that comes until a moment of the monotonic clock, asking again and again.
    fn receive_until(&mut self, room: &mut [u8], until_ns: u64) -> io::Result<Option<usize>> {
        loop {
            let received = self.receive_now(room)?;
            if received.is_some() || linerate_sys::clock::monotonic_ns() >= until_ns {
                return Ok(received);
            }
        }
    }
    /// Tells the other end a number on the stream.
    fn tell(&mut self, number: u64) -> io::Result<()>;
    /// The other end's number, if it comes in time; the end of the stream is an error.
    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>>;
    /// An error once the other end has closed the stream; no number is taken from it.
    fn check(&self) -> io::Result<()>;
    /// How long nothing may move before a trial fails.
    fn patience(&self) -> Duration;
}

/// A link that loses datagrams, with the loops for it.
#[derive(Debug)]
pub struct Unreliable<L> {
    link: L,
    block: u32,
    /// The longest round trip so far; zero where none was.
    longest: Duration,
    /// What a receiver keeps of the block's datagrams.
    arrivals: RecordKind,
    /// What one that searches for a rate keeps of them.
    receiver: Option<SearchReceiver>,
}

impl<L: Lossy> Unreliable<L> {
    /// The loops over this link.
    pub fn new(link: L) -> Self {
        Unreliable {
            link,
            block: rand::random(),
            longest: Duration::ZERO,
            arrivals: RecordKind::Counted,
            receiver: None,
        }
    }

    /// Tells how many messages went, and rings until the other end has heard it.
    fn finish(&mut self, messages: u64) -> io::Result<()> {
        self.link.tell(messages)?;
        let rings = self.link.patience().as_nanos() / RING.as_nanos();
        for _ in 0..rings {
            self.link.send(&[])?;
            if self.link.hear(RING)?.is_some() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// The number of messages that went, when the other end has told it; silence that lasts too long is
    /// an error. `silences` counts those since a message came.
    fn finished(&mut self, silences: u32) -> io::Result<Option<u64>> {
        let sent = self.link.hear(Duration::ZERO)?;
        if sent.is_none() && SILENCE * silences >= self.link.patience() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(sent)
    }

    fn tag(&self, message: u64) -> u64 {
        u64::from(self.block) << 32 | message & u64::from(u32::MAX)
    }

    /// A sample with a loss begins again: the time until the loss was noticed is nobody's round trip.
    fn ping<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        let (mut number, mut came, mut lost, mut in_a_row) = (0, 0, 0, 0);
        let begun = clock.now_ns();
        let (mut since, mut skipped) = (begun, 0);
        for _ in 0..block.slices {
            let mut left = block.messages;
            while left > 0 {
                let message = walk.next(len);
                write_tag(message, self.tag(number));
                self.link.send(message)?;
                self.link.flush()?;
                number += 1;
                if self.returned(message, number - 1, stamps, in_a_row)? {
                    (left, came, in_a_row) = (left - 1, came + 1, 0);
                } else {
                    (left, lost, in_a_row) = (block.messages, lost + 1, in_a_row + 1);
                    let now = clock.now_ns();
                    skipped += now - since;
                    since = now;
                }
            }
            since = clock.now_ns();
            stamps.push(since - skipped);
        }
        let first = stamps.first().map_or(0, |stamp| stamp - begun);
        self.longest = self.longest.max(Duration::from_nanos(first)).max(longest_of(stamps));
        self.finish(number)?;
        let bytes = came * block.message_bytes;
        Ok(Moved { bytes, messages: Some(came), lost: Some(lost), ..Moved::default() })
    }

    /// How long an exchange may take before it is given up.
    fn limit(&self, stamps: &[u64]) -> Duration {
        let longest = self.longest.max(longest_of(stamps));
        if longest.is_zero() { FIRST } else { SILENCE.max((ROUND_TRIPS * longest).min(longest + FIRST)) }
    }

    /// Waits for a message's return; false when it is given up. Each loss in a row doubles the limit, so
    /// that a path that is slower than it was is not given up for ever.
    fn returned(&mut self, room: &mut [u8], number: u64, stamps: &[u64], in_a_row: u32) -> io::Result<bool> {
        let tag = self.tag(number) & mask(room.len());
        let mut silences = 0;
        loop {
            match self.link.receive(room)? {
                Some(length) if length == room.len() && read_tag(room) == tag => return Ok(true),
                Some(_) => {}
                None => {
                    silences += 1;
                    // Only says whether the other end is still there.
                    self.finished(silences)?;
                    if SILENCE * silences >= self.limit(stamps) * 2u32.saturating_pow(in_a_row.min(16)) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Returns whatever comes until the other end is done.
    fn echo(&mut self, block: &Block, walk: &mut Walk<'_>) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        let (mut bytes, mut silences) = (0, 0);
        loop {
            let room = walk.next(len);
            match self.link.receive(room)? {
                Some(length) if length > 0 => {
                    self.link.send(&room[..length])?;
                    self.link.flush()?;
                    (bytes, silences) = (bytes + length as u64, 0);
                }
                quiet => {
                    silences += u32::from(quiet.is_none());
                    if self.finished(silences)?.is_some() {
                        self.link.tell(0)?;
                        return Ok(Moved { bytes, ..Moved::default() });
                    }
                }
            }
        }
    }
}

impl<L: Lossy + Send> Loops for Unreliable<L> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        let all = block.messages * u64::from(block.slices);
        self.arrivals = match does {
            Does::Receives => RecordKind::for_block(all, block.message_bytes as usize),
            _ => RecordKind::Counted,
        };
        self.receiver = matches!(does, Does::FindsCapacity | Does::FindsZeroLoss)
            .then(|| SearchReceiver::new(block))
            .transpose()?;
        self.link.begin(block)
    }

    fn counters(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.link.account(kernel)
    }

    /// The end that receives first throws away what is left of the block before, and then says go: the
    /// number of the new block.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        match does {
            _ if duplex => Err(io::ErrorKind::Unsupported.into()),
            Does::Receives | Does::Echoes | Does::FindsCapacity | Does::FindsZeroLoss => {
                while self.link.receive_now(&mut [0; TAG])?.is_some() {}
                self.block = self.block.wrapping_add(1);
                self.link.tell(self.block.into())
            }
            Does::Sends | Does::Pings | Does::Requests | Does::Offers => {
                let go = self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?;
                self.block = go as u32;
                Ok(())
            }
            // Each tells the other what its own number was, and takes the larger one's successor.
            Does::Exchanges => {
                while self.link.receive_now(&mut [0; TAG])?.is_some() {}
                self.link.tell(self.block.into())?;
                let other = self.link.hear(self.link.patience())?.ok_or(io::ErrorKind::TimedOut)?;
                self.block = self.block.max(other as u32).wrapping_add(1);
                Ok(())
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let clock = &Monotonic;
        match does {
            Does::Pings => self.ping(clock, block, walk, stamps),
            Does::Echoes => self.echo(block, walk),
            Does::Sends | Does::Copies => self.send(clock, block, walk, stamps),
            Does::Receives => self.receive(clock, block, walk, stamps),
            Does::Exchanges => self.exchange(clock, block, walk, stamps),
            Does::Requests => self.request(clock, block, walk),
            Does::Offers => self.offer(clock, block, walk),
            Does::FindsCapacity => self.find_capacity(clock, block, walk),
            Does::FindsZeroLoss => self.find_zero_loss(clock, block, walk),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// The longest sample between two stamps.
fn longest_of(stamps: &[u64]) -> Duration {
    Duration::from_nanos(stamps.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0))
}

/// Writes as much of a tag as fits, the message's number first.
#[inline]
fn write_tag(message: &mut [u8], tag: u64) {
    let len = message.len().min(TAG);
    message[..len].copy_from_slice(&tag.to_le_bytes()[..len]);
}

/// As much of a tag as fitted.
#[inline]
fn read_tag(message: &[u8]) -> u64 {
    let mut tag = [0; TAG];
    let len = message.len().min(TAG);
    tag[..len].copy_from_slice(&message[..len]);
    u64::from_le_bytes(tag)
}

/// The bits of a tag that fit into a message.
fn mask(len: usize) -> u64 {
    match len {
        TAG.. => u64::MAX,
        _ => (1 << (8 * len)) - 1,
    }
}
