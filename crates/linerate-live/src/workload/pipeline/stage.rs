//! The thread of one copy of a stage: unit after unit, with an account of where its time goes.

use super::Joints;
use super::filter::{Filter, HEAD, INPUT, Out, Setup};
use super::queue::Stopped;
use crate::Error;
use crate::plan::{Block, HostId, Stage};
use crate::record::{Activity, Doing, StageTally};
use crate::workload::activity::Watch;
use crate::workload::slowness::Slowness;
use linerate_sys::clock::monotonic_ns;
use linerate_sys::thread;
use std::time::Duration;

/// Why a thread ends early.
pub enum Failed {
    /// Somebody else failed.
    Stopped,
    /// This one did.
    Error(Error),
}

impl From<Stopped> for Failed {
    fn from(_: Stopped) -> Failed {
        Failed::Stopped
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Error(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Error {
        match failed {
            Failed::Error(error) => error,
            Failed::Stopped => Error::hung_up("the pipeline", "was stopped"),
        }
    }
}

/// Where a copy of a stage runs.
#[derive(Clone, Copy)]
pub struct Place<'j> {
    pub stage: &'j Stage,
    pub copy: u32,
    pub host: HostId,
    /// Whether nothing comes to it.
    pub is_source: bool,
}

/// A copy of a stage.
pub struct Worker<'j> {
    pub place: Place<'j>,
    pub at: (usize, u32),
    pub filter: Box<dyn Filter>,
    pub setup: Setup,
    pub block: &'j Block,
    pub one_by_one: bool,
    pub slowness: Slowness,
}

/// What a thread did.
#[derive(Default)]
pub struct Done {
    pub cpu_ns: u64,
    pub bytes: u64,
    pub tally: Option<StageTally>,
    pub activity: Option<Activity>,
    /// Of the last stage: its units, and the time of each slice.
    pub units: Option<u64>,
    pub slices_ns: Vec<u64>,
    /// Of the last stage: what it took to compare units with the truth.
    pub checked_ns: u64,
    pub checked_cpu_ns: u64,
}

/// What it takes to compare units with the truth.
#[derive(Default)]
struct Checked {
    ns: u64,
    cpu_ns: u64,
}

impl Done {
    /// It with the CPU time of its thread, less what it took to compare units with the truth.
    pub fn with_cpu(mut self, cpu_ns: u64) -> Done {
        let cpu_ns = cpu_ns.saturating_sub(self.checked_cpu_ns);
        self.cpu_ns = cpu_ns;
        self.tally.iter_mut().for_each(|tally| tally.cpu_ns = Some(cpu_ns));
        self
    }
}

/// The last stage's clock.
struct Stamps {
    begun_ns: u64,
    units: u64,
    slice_ns: u64,
    slices_ns: Vec<u64>,
}

impl Worker<'_> {
    /// All units of the block.
    pub fn run(mut self, joints: &Joints) -> Result<Done, Failed> {
        let (Some(inbox), Some(boxes), Some(wanted)) =
            (joints.inboxes.get(&self.at), joints.outboxes.get(&self.at), joints.wanted.get(&self.at))
        else {
            return Err(Failed::Stopped);
        };
        let (is_last, units) = (boxes.is_empty(), u64::from(self.block.slices) * self.block.messages);
        let watch = Watch::new(units, self.one_by_one, [Doing::WaitsForInput, Doing::WaitsForRoom]);
        let mut out = Out::new(boxes, &joints.pool, self.setup.buffer_bytes, watch);
        let (id, copy) = (self.place.stage.id.clone(), self.place.copy);
        let mut tally = StageTally { stage: id.clone(), copy, ..StageTally::default() };
        let mut stamps = Stamps::new(self.block);
        if !self.one_by_one {
            self.slowness = self.slowness.pacing(units);
        }
        let (begun, mut checked) = (monotonic_ns(), Checked::default());
        for unit in 0..units {
            out.watch.begin(unit);
            if is_last && (self.one_by_one || unit == 0) {
                stamps.begun_ns = monotonic_ns();
            }
            if is_last {
                self.slowness.begin();
            }
            if is_last && self.one_by_one {
                wanted.ask(0);
            }
            if self.place.is_source && self.one_by_one {
                let waited_ns = wanted.wait(unit)?;
                tally.input_ns += waited_ns;
                out.watch.spent(INPUT, waited_ns);
            }
            self.run_unit(unit, inbox, &mut tally, &mut out, joints)?;
            out.watch.end(unit);
            if is_last {
                self.slowness.end();
                stamps.stamp(self.block.messages);
                self.check(unit, units, &mut checked)?;
            }
        }
        tally.output_ns = out.waited_ns;
        tally.made_bytes = out.bytes;
        let all = monotonic_ns() - begun - checked.ns;
        tally.compute_ns = all.saturating_sub(tally.input_ns + tally.output_ns);
        let units = is_last.then_some(units);
        Ok(Done {
            tally: Some(tally),
            activity: out.watch.into_activity(id, copy, Doing::Works),
            units,
            checked_ns: checked.ns,
            checked_cpu_ns: checked.cpu_ns,
            slices_ns: if is_last { stamps.slices_ns } else { Vec::new() },
            ..Done::default()
        })
    }

    /// One unit of work.
    fn run_unit(
        &mut self,
        unit: u64,
        inbox: &super::Inbox,
        tally: &mut StageTally,
        out: &mut Out<'_>,
        joints: &Joints,
    ) -> Result<(), Failed> {
        let Place { stage, is_source, .. } = self.place;
        if stage.crash == Some(unit) {
            // The fault that was asked for: the process is gone, and not only this thread.
            std::process::abort();
        }
        if is_source {
            self.filter.make(unit, out)?;
        } else {
            loop {
                let (buffer, waited_ns) = inbox.take()?;
                tally.input_ns += waited_ns;
                out.watch.spent(INPUT, waited_ns);
                let Some(buffer) = buffer else { break };
                let bytes = &buffer[HEAD..];
                (tally.buffers, tally.bytes) = (tally.buffers + 1, tally.bytes + bytes.len() as u64);
                self.filter.take(unit, bytes, out)?;
                joints.pool.give(buffer);
            }
        }
        let slow_ns = stage.slow_ns();
        if slow_ns > 0 {
            std::thread::sleep(Duration::from_nanos(slow_ns));
        }
        self.filter.end(unit, out)?;
        out.end();
        if out.stopped { Err(Failed::Stopped) } else { Ok(()) }
    }

    /// Compares the first and the last unit with the truth. One by one the next unit waits for it; ahead only the last one is
    /// compared, for others are on their way.
    fn check(&mut self, unit: u64, units: u64, checked: &mut Checked) -> Result<(), Failed> {
        let is_looked_at = unit + 1 == units || unit == 0 && self.one_by_one;
        if !is_looked_at {
            return Ok(());
        }
        let (begun, cpu_ns) = (monotonic_ns(), thread::scheduling().cpu_ns);
        self.filter.check(unit).map_err(|error| error.on_host(&self.place.host))?;
        checked.ns += monotonic_ns() - begun;
        checked.cpu_ns += thread::scheduling().cpu_ns.saturating_sub(cpu_ns);
        Ok(())
    }
}

impl Stamps {
    fn new(block: &Block) -> Stamps {
        let slices_ns = Vec::with_capacity(block.slices as usize);
        Stamps { begun_ns: 0, units: 0, slice_ns: 0, slices_ns }
    }

    /// A unit is there; after so many a slice ends.
    fn stamp(&mut self, messages: u64) {
        let now = monotonic_ns();
        self.slice_ns += now - self.begun_ns;
        self.begun_ns = now;
        self.units += 1;
        if self.units.is_multiple_of(messages.max(1)) {
            self.slices_ns.push(std::mem::take(&mut self.slice_ns));
        }
    }
}
