//! Known faults, put in by hand between a pattern and a link: the ladder must find them where they are.

use super::slow_reader::Reader;
use super::slowdown::Slowdown;
use super::stall::Stall;
use super::work::Work;
use super::writer::{Writer, Writes};
use crate::Result;
use crate::pattern::{Drive, Driven, Kernel, Link, Loops, Measured, Part, play};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::{Spec, granted};
use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::{Does, Wait};
use linerate_sys::thread;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

/// The faults that a session was asked to have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    spin_ns: u64,
    copies: u32,
    slowdown_percent: u32,
    sender_work_percent: u32,
    receiver_work_percent: u32,
    overclaim: u64,
    read_rate: Option<BitRate>,
    stall: Option<Stall>,
    writes: Writes,
    pause: Duration,
    /// Whether the receiver is put behind all others; none where nobody says.
    idle_receiver: Option<bool>,
}

/// A link with faults before each push, and behind each pull of a receiver.
struct Shim<'s> {
    link: Driven<'s>,
    faults: Faults,
    slowdown: Slowdown,
    /// Of an end that sends, and of one that receives.
    sending: Work,
    receiving: Work,
    reader: Reader,
    stall: Option<Stall>,
    writer: Writer,
    scratch: Vec<u8>,
    /// Whether this end's thread is to be behind all others.
    is_idle: bool,
    /// How long this end rests before each of its messages.
    rest: Duration,
}

impl Faults {
    /// The faults among a session's settings.
    pub fn from_spec(spec: &Spec) -> Faults {
        Faults {
            spin_ns: spec.parsed::<Nanoseconds>("shim.spin").map_or(0, |time| time.0 as u64),
            copies: spec.parsed("shim.copies").unwrap_or(0),
            slowdown_percent: spec.parsed("shim.slowdown").unwrap_or(0),
            sender_work_percent: spec.parsed("shim.sender-work").unwrap_or(0),
            receiver_work_percent: spec.parsed("shim.receiver-work").unwrap_or(0),
            overclaim: spec.parsed("shim.overclaim").unwrap_or(1),
            read_rate: spec.parsed("shim.read-rate"),
            pause: Duration::from_nanos(
                spec.parsed::<Nanoseconds>("shim.pause").map_or(0, |time| time.0 as u64),
            ),
            idle_receiver: spec.value("shim.receiver-priority").map(|value| value == "idle"),
            stall: Stall::from_settings(spec.parsed("shim.stall"), spec.parsed("shim.stall-every")),
            writes: Writes {
                most: spec.parsed::<Bytes>("shim.write-size").map(|size| size.0 as usize),
                are_answered: spec.value("shim.answered") == Some("on"),
            },
        }
    }

    /// The faults that were asked for, as they are in force.
    pub fn granted(self, spec: &Spec) -> Vec<Granted> {
        let faults = [
            ("shim.spin", format!("{}ns", self.spin_ns)),
            ("shim.copies", self.copies.to_string()),
            ("shim.slowdown", self.slowdown_percent.to_string()),
            ("shim.sender-work", self.sender_work_percent.to_string()),
            ("shim.receiver-work", self.receiver_work_percent.to_string()),
            ("shim.overclaim", self.overclaim.to_string()),
            ("shim.pause", format!("{}ns", self.pause.as_nanos())),
            (
                "shim.receiver-priority",
                if self.idle_receiver == Some(true) { "idle" } else { "normal" }.into(),
            ),
            ("shim.stall", format!("{}ns", self.stall.map_or(0, |stall| stall.for_ns))),
            ("shim.stall-every", format!("{}ns", self.stall.map_or(0, |stall| stall.every_ns))),
            ("shim.write-size", self.writes.most.map_or_else(|| "none".into(), |most| most.to_string())),
            ("shim.answered", if self.writes.are_answered { "on" } else { "off" }.into()),
            ("shim.read-rate", self.read_rate.map_or_else(|| "none".into(), |rate| format!("{}b/s", rate.0))),
        ];
        let asked = faults.into_iter().filter(|(knob, _)| spec.value(knob).is_some());
        asked.map(|(knob, value)| granted(spec, knob, value)).collect()
    }

    /// Plays the parts with the faults in place; without any the loops run on the bare links.
    pub fn play<'s, L: Link + Send + 's>(
        self,
        parts: Vec<Part<L>>,
        wait: Wait,
        blocks: &[Block],
    ) -> Result<Vec<Vec<Measured>>> {
        if !self.change_messages() {
            return self.overclaimed(parts, wait, blocks);
        }
        let driven = |part: Part<L>| Part {
            link: Box::new(part.link) as Box<dyn Drive + 's>,
            does: part.does,
            cpu: part.cpu,
        };
        self.play_driven(parts.into_iter().map(driven).collect(), wait, blocks)
    }

    /// The same for links of several kinds.
    pub fn play_driven<'s>(
        self,
        parts: Vec<Part<Box<dyn Drive + 's>>>,
        wait: Wait,
        blocks: &[Block],
    ) -> Result<Vec<Vec<Measured>>> {
        if !self.change_messages() {
            return self.overclaimed(parts, wait, blocks);
        }
        let is_duplex = parts.iter().map(|part| part.does).collect::<BTreeSet<_>>().len() > 1;
        let wrap = |part: Part<Box<dyn Drive + 's>>| {
            let link = self.wrap(Driven(part.link), (part.does, is_duplex), blocks);
            Part { link, does: part.does, cpu: part.cpu }
        };
        self.overclaimed(parts.into_iter().map(wrap).collect(), wait, blocks)
    }

    fn overclaimed<'s, L: Loops + 's>(
        self,
        parts: Vec<Part<L>>,
        wait: Wait,
        blocks: &[Block],
    ) -> Result<Vec<Vec<Measured>>> {
        let does: Vec<Does> = parts.iter().map(|part| part.does).collect();
        let mut measured = play(parts, wait, blocks)?;
        let senders = measured.iter_mut().zip(does).filter(|(_, does)| *does == Does::Sends);
        for measured in senders.flat_map(|(blocks, _)| blocks) {
            measured.flow.bytes *= self.overclaim;
        }
        Ok(measured)
    }

    /// Whether none was asked for.
    pub fn are_none(self) -> bool {
        !self.change_messages() && self.overclaim == 1
    }

    fn change_messages(self) -> bool {
        let waits = self.read_rate.is_some() || self.stall.is_some() || !self.writes.are_usual();
        let rests = !self.pause.is_zero() || self.idle_receiver.is_some();
        let works = self.sender_work_percent > 0 || self.receiver_work_percent > 0;
        waits || rests || works || self.spin_ns > 0 || self.copies > 0 || self.slowdown_percent > 0
    }

    /// Puts the faults before each push of `link`. Nothing is allocated once messages flow.
    fn wrap<'s>(self, link: Driven<'s>, (does, is_duplex): (Does, bool), blocks: &[Block]) -> Shim<'s> {
        let largest = blocks.iter().map(|block| block.message_bytes as usize).max().unwrap_or(0);
        let slowdown = Slowdown::new(self.slowdown_percent, does, blocks);
        let sending = Work::new(self.sender_work_percent, does == Does::Sends, blocks);
        let receiving = Work::new(self.receiver_work_percent, does == Does::Receives, blocks);
        let scratch = vec![0; if self.copies > 0 { largest } else { 0 }];
        let stall = self.stall.filter(|_| does == Does::Echoes);
        let writer = self.writes.end(does, is_duplex);
        let reader = Reader::new(self.read_rate, does);
        let receives = does == Does::Receives;
        let is_idle = receives && self.idle_receiver == Some(true);
        // That a receiver is ready is no message.
        let rest = if receives { Duration::ZERO } else { self.pause };
        Shim {
            link,
            faults: self,
            slowdown,
            sending,
            receiving,
            reader,
            stall,
            writer,
            scratch,
            is_idle,
            rest,
        }
    }
}

/// What was pushed before is waited for in steps of this, and no longer than that.
const DRAINING: Duration = Duration::from_micros(100);
const LONGEST_DRAINING: Duration = Duration::from_millis(2500);

impl Shim<'_> {
    /// Waits until what was pushed so far has arrived: from what stands in buffers the other end would be served for a while,
    /// however slow this one becomes.
    fn drain(&self) -> io::Result<()> {
        let begun = Instant::now();
        while self.link.outstanding()? > 0 && begun.elapsed() < LONGEST_DRAINING {
            std::thread::sleep(DRAINING);
        }
        Ok(())
    }
}

impl Link for Shim<'_> {
    fn begin(&mut self, block: &Block) -> io::Result<()> {
        if self.is_idle {
            // The thread is a flow's own and ends with its blocks.
            thread::run_when_idle(thread::current()).map_err(|error| error.source)?;
        }
        self.writer.begins(block);
        self.link.begin(block)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.link.account(kernel)
    }

    fn outstanding(&self) -> io::Result<u64> {
        self.link.outstanding()
    }

    fn give_up(&mut self) {
        self.link.give_up();
    }

    /// A push that could move only part of a message is followed by others; each pays for what it carries.
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.rest.is_zero() {
            std::thread::sleep(self.rest);
        }
        self.sending.on(bytes.len());
        self.slowdown.hold(bytes.len());
        let until = linerate_sys::clock::monotonic_ns() + self.faults.spin_ns;
        for _ in 0..self.faults.copies {
            self.scratch[..bytes.len()].copy_from_slice(bytes);
            black_box(&mut self.scratch);
        }
        while linerate_sys::clock::monotonic_ns() < until {}
        let moved = self.writer.write(&mut self.link, bytes)?;
        if self.sending.is_warming_up() || self.slowdown.is_warming_up() {
            let outstanding = self.link.outstanding()?;
            let works = self.sending.moved(moved, outstanding);
            if self.slowdown.moved((bytes.len(), moved), outstanding) || works {
                self.drain()?;
            }
        }
        // All that a receiver says is the word to begin the next block.
        self.reader.begins();
        Ok(moved)
    }

    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // All that a sender hears is the word to begin the next block.
        self.slowdown.begins();
        let came = self.link.pull(bytes)?;
        self.receiving.on(came);
        self.receiving.moved(came, 0);
        self.reader.received(came);
        self.writer.received(&mut self.link, came)?;
        if let Some(stall) = self.stall {
            stall.hold();
        }
        Ok(came)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.link.finish()
    }

    fn push_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.link.push_now(bytes)
    }

    fn pull_now(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.link.pull_now(bytes)
    }

    fn idle(&mut self, out: bool, until_ns: u64) -> io::Result<()> {
        self.link.idle(out, until_ns)
    }
}
