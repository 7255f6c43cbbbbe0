//! Plays the parts of one end, a thread each, pinned, with its memory ready before the first message; or the only part by the
//! thread that calls.

use super::awake::Awake;
use super::buffer::Region;
use super::{Kernel, Loops, Moved, Walk};
use crate::plan::Block;
use crate::record::{Flow, Latencies};
use crate::vocabulary::{Does, Sample, Wait};
use crate::{Error, Result};
use linerate_sys::clock;
use linerate_sys::thread::{self, Scheduling};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Barrier, OnceLock};

/// One thread's part.
#[derive(Debug)]
pub struct Part<L> {
    /// The connection, as the engine drives it.
    pub link: L,
    /// What this end does.
    pub does: Does,
    /// The CPU; none leaves it to the scheduler.
    pub cpu: Option<u32>,
}

impl<'s, L: Loops + 's> Part<L> {
    fn boxed(self) -> Any<'s> {
        Part { link: Box::new(self.link), does: self.does, cpu: self.cpu }
    }
}

/// What one thread measured of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The flow's figures, slices included for an end that keeps time.
    pub flow: Flow,
    /// What else was timed.
    pub samples: Vec<(Sample, Latencies)>,
    /// Whether timer slack was lowered.
    pub timer_slack_lowered: bool,
    /// Whether a spinner kept the CPU awake.
    pub kept_awake: bool,
}

/// A part whose loops are behind a table of functions: one call a block, and all that is around the loops is compiled once
/// and not for each kind of connection.
type Any<'s> = Part<Box<dyn Loops + 's>>;

/// Loops all parts at once, every block after the other; gives a list of blocks a part.
pub fn play<'s, L: Loops + 's>(
    parts: Vec<Part<L>>,
    wait: Wait,
    blocks: &[Block],
) -> Result<Vec<Vec<Measured>>> {
    play_any(parts.into_iter().map(Part::boxed).collect(), wait, blocks)
}

fn play_any(parts: Vec<Any<'_>>, wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Measured>>> {
    let stage = Stage::for_parts(&parts, wait, blocks);
    let played = parts.into_iter().map(|part| || stage.play(part));
    let answers = thread::together("flow", played)?;
    let measured: Option<Vec<_>> = answers.into_iter().map(|played| played.ok().flatten()).collect();
    measured.ok_or_else(|| stage.failure())
}

/// Loops the only part, by this thread, which may be the only one that may call what it drives; gives a list of blocks. The
/// thread has afterwards the CPUs that it had.
pub fn play_here<'s, L: Loops + 's>(part: Part<L>, wait: Wait, blocks: &[Block]) -> Result<Vec<Measured>> {
    play_any_here(part.boxed(), wait, blocks)
}

fn play_any_here(part: Any<'_>, wait: Wait, blocks: &[Block]) -> Result<Vec<Measured>> {
    let before = thread::allowed_cpus()?;
    let parts = [part];
    let stage = Stage::for_parts(&parts, wait, blocks);
    let [part] = parts;
    let measured = stage.play(part);
    thread::pin(&before)?;
    measured.ok_or_else(|| stage.failure())
}

/// What all threads of one end share.
struct Stage<'b> {
    blocks: &'b [Block],
    barrier: Barrier,
    /// Whether data flows both ways over each connection.
    duplex: bool,
    /// Keeps them so.
    awake: Option<Awake>,
    /// What failed first: of the others some failed because of it.
    failure: OnceLock<Error>,
}

impl Stage<'_> {
    fn for_parts<'b>(parts: &[Any<'_>], wait: Wait, blocks: &'b [Block]) -> Stage<'b> {
        let cpus: Vec<u32> = parts.iter().filter_map(|part| part.cpu).collect();
        Stage {
            blocks,
            barrier: Barrier::new(parts.len()),
            duplex: parts.iter().map(|part| part.does).collect::<BTreeSet<_>>().len() > 1,
            awake: (wait == Wait::Sleeping).then(|| Awake::keep(&cpus)).flatten(),
            failure: OnceLock::new(),
        }
    }

    /// Why there is nothing.
    fn failure(self) -> Error {
        let panicked = || Error::peer("a measuring thread", "panicked", "please report it");
        self.failure.into_inner().unwrap_or_else(panicked)
    }

    /// What a thread measured of each block; none where it failed. Such a one still meets the others at every
    /// barrier, or they would wait for ever.
    fn play(&self, mut part: Any<'_>) -> Option<Vec<Measured>> {
        let prepared = prepare(part.cpu, part.does, self.blocks);
        let mut ready = self.ok_or_abort(&mut part, prepared);
        let mut measured = Vec::with_capacity(self.blocks.len());
        for block in self.blocks {
            let begun = ready.and_then(|ready| {
                let begun = part.link.prepare(part.does, block).map_err(|error| broken(&error, block));
                self.ok_or_abort(&mut part, begun.map(|()| ready))
            });
            // Parallel flows begin a block together, or they might never be under way at once.
            self.barrier.wait();
            let met = begun.and_then(|ready| {
                let start = Start::now();
                let met = part.link.agree(part.does, self.duplex).map_err(|error| broken(&error, block));
                // What a receiver finds waiting came since it said go; a round trip begins with its message.
                let start = if part.does.begins() { Start::now() } else { start };
                self.ok_or_abort(&mut part, met.map(|()| (ready, start)))
            });
            if self.duplex {
                self.barrier.wait();
            }
            ready = met.and_then(|(mut ready, start)| {
                let played = ready.play(&mut part, block, start).map_err(|error| broken(&error, block));
                let (flow, samples) = self.ok_or_abort(&mut part, played)?;
                let (timer_slack_lowered, kept_awake) = (ready.timer_slack_lowered, self.awake.is_some());
                measured.push(Measured { flow, samples, timer_slack_lowered, kept_awake });
                Some(ready)
            });
        }
        ready.map(|_| measured)
    }

    /// What came of it; where it failed, others may wait for what this connection will not bring any more.
    fn ok_or_abort<T>(&self, part: &mut Any<'_>, outcome: Result<T>) -> Option<T> {
        let failed = |error| {
            // The first is told; others may have failed because of it.
            let _ = self.failure.set(error);
            part.link.abort();
        };
        outcome.map_err(failed).ok()
    }
}

/// The moment before a block, and what the scheduler had done to the thread by then.
#[derive(Debug, Clone)]
pub struct Start {
    at_ns: u64,
    cpu: u32,
    scheduling: Scheduling,
}

impl Start {
    /// Now.
    pub fn now() -> Start {
        let (cpu, scheduling) = (thread::current_cpu(), thread::scheduling());
        Start { at_ns: clock::monotonic_ns(), cpu, scheduling }
    }

    /// The moment, by the monotonic clock.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// What the thread took from then to `end`.
    pub fn until(&self, end: &Start) -> Flow {
        let (before, after) = (&self.scheduling, &end.scheduling);
        Flow {
            start_ns: self.at_ns,
            duration_ns: end.at_ns - self.at_ns,
            cpu_ns: after.cpu_ns - before.cpu_ns,
            run_delay_ns: after.run_delay_ns.zip(before.run_delay_ns).map(|(after, before)| after - before),
            voluntary_switches: after.voluntary_switches - before.voluntary_switches,
            involuntary_switches: after.involuntary_switches - before.involuntary_switches,
            cpu: Some(end.cpu),
            migrated: self.cpu != end.cpu,
            ..Flow::default()
        }
    }
}

/// What a block gave.
type Played = (Flow, Vec<(Sample, Latencies)>);

/// A thread's memory.
struct Ready {
    region: Region,
    stamps: Vec<u64>,
    timer_slack_lowered: bool,
}

fn prepare(cpu: Option<u32>, does: Does, blocks: &[Block]) -> Result<Ready> {
    if let Some(cpu) = cpu {
        thread::pin(&[cpu])?;
    }
    let timer_slack_lowered = thread::lower_timer_slack().is_ok();
    let stamps = blocks.iter().map(|block| block.slices as usize).max().unwrap_or(0);
    let region = Region::for_blocks(blocks, does)?;
    Ok(Ready { region, stamps: Vec::with_capacity(stamps), timer_slack_lowered })
}

impl Ready {
    fn play(&mut self, part: &mut Any<'_>, block: &Block, start: Start) -> io::Result<Played> {
        self.stamps.clear();
        let mut walk = self.region.walk(block, part.does);
        let moved = part.link.run(part.does, block, &mut walk, &mut self.stamps)?;
        let end = Start::now();
        let mut kernel = Kernel::new();
        part.link.counters(&mut kernel)?;
        let slices_ns =
            if part.does.keeps_time() { differences(start.at_ns, &self.stamps) } else { Vec::new() };
        let Moved { bytes, messages, lost, tally, samples } = moved;
        Ok((Flow { slices_ns, bytes, messages, lost, tally, kernel, ..start.until(&end) }, samples))
    }
}

/// One thread's part in which `run` moves the bytes, whatever its loop.
pub(super) fn measured<L>(
    mut part: Part<L>,
    block: &Block,
    kept_awake: bool,
    run: impl FnOnce(&mut L, Does, &mut Walk<'_>) -> io::Result<u64>,
) -> Result<Measured> {
    let mut ready = prepare(part.cpu, part.does, std::slice::from_ref(block))?;
    let mut walk = ready.region.walk(block, part.does);
    let start = Start::now();
    let bytes = run(&mut part.link, part.does, &mut walk).map_err(|error| broken(&error, block))?;
    let flow = Flow { bytes, ..start.until(&Start::now()) };
    let timer_slack_lowered = ready.timer_slack_lowered;
    Ok(Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake })
}

fn differences(start: u64, stamps: &[u64]) -> Vec<u64> {
    let before = std::iter::once(&start).chain(stamps);
    stamps.iter().zip(before).map(|(stamp, before)| stamp - before).collect()
}

fn broken(error: &io::Error, block: &Block) -> Error {
    let error = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::peer(
            "the other end",
            "moved no byte within the time limit",
            "see whether its host still answers",
        ),
        io::ErrorKind::Unsupported => {
            let hint = "take another transport: linerate list transports";
            Error::unavailable("this transport does not carry this pattern", hint)
        }
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::BrokenPipe => Error::hung_up("the other end", "closed its connection in mid-trial"),
        _ => Error::peer("the connection", error.to_string(), ""),
    };
    error.at_size(block.message_bytes)
}
