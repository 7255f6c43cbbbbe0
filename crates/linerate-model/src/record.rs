//! The artifact: versioned JSON Lines, append-only, readable after a crash.
//!
//! Each line is one [`Event`]. The recording is the only bridge between the live half, which emits
//! events, and the desk half, which reads them. Reading is the one fallible step between the two:
//! it returns the [`Recording`] and the lines that it could not read.

mod activity;
mod addition;
mod calibration;
mod capture;
mod environment;
mod event;
mod grant;
mod host_delta;
pub mod import;
mod imported;
mod latency;
mod not_measured;
mod read;
mod running;
mod running_trace;
mod stream_trace;
mod tally;
mod trace;
mod transfer;
mod transfer_beside;
mod unavailable;
mod wire;
mod write;

pub use activity::{Activity, Doing};
pub use addition::Addition;
pub use calibration::{
    Calibration, Ceiling, Figure, HostCalibration, LayerMedians, Medians, RunSpread, SpreadOf, SpreadSource,
};
pub use capture::{Capture, CapturedSide, Packet, decode_packets, encode_packets};
pub use environment::{Environment, MOST_ADDRESSES};
pub use event::{
    Defaults, End, Event, Flow, Granted, Header, HostFacts, RoleRecord, Series, SessionRecord, SocketRecord,
    StepRecord, Trial,
};
pub use host_delta::{HostDelta, InterfaceDelta};
pub use imported::{Imported, Original, Source};
pub use latency::{Latencies, decode_histogram, encode_histogram, encode_merged, merge_histograms};
pub use not_measured::{NotMeasured, Reason};
pub use read::{BadLine, Unreadable, read};
pub use running::{Level, RunningConnection, RunningProgram};
pub use running_trace::{RunningRound, RunningTrace};
pub use stream_trace::{StreamBlock, StreamSide, StreamTrace};
pub use tally::{StageTally, SubInterval, Tally};
pub use trace::{Trace, TraceBlock, TraceHost, TraceSide, leave_out};
pub use transfer::{FileIo, Spent, Transfer, TransferEnd, TransferStream};
pub use transfer_beside::{Recognised, TransfersBeside, TransfersOf};
pub use unavailable::{KnobRefused, UnavailableTransport, Unobserved};
pub use wire::{Late, LinkAudit, WireAudit};
pub use write::Writer;

pub mod synthetic;
#[cfg(test)]
mod tests;

use crate::plan::{Case, HostId, Plan};
use std::collections::BTreeSet;

/// The version of the lines; readers accept every earlier one.
pub const SCHEMA: &str = "linerate.recording/1";

/// The longest line that is read or written.
pub const LONGEST_LINE: usize = 1 << 20;

/// The events of one run, sorted by kind, each kind in the order in which it happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// The first line; none of another tool's results.
    pub header: Option<Header>,
    /// The hosts.
    pub hosts: Vec<HostFacts>,
    /// What was known before the run began.
    pub calibration: Option<Calibration>,
    /// The sessions that were opened, a new one each pass.
    pub sessions: Vec<SessionRecord>,
    /// The steps that were completed.
    pub steps: Vec<StepRecord>,
    /// The trials.
    pub trials: Vec<Trial>,
    /// What was sampled during the long streams.
    pub series: Vec<Series>,
    /// Where later runs went on.
    pub additions: Vec<Addition>,
    /// What could not be measured, and why.
    pub unavailable: Vec<NotMeasured>,
    /// The first line of another tool's results, in place of a header.
    pub source: Option<Source>,
    /// Those results.
    pub imported: Vec<Imported>,
    /// That file as it was, part by part.
    pub original: Vec<Original>,
    /// How the run ended; none when it was cut off.
    pub end: Option<End>,
}

impl Recording {
    /// Adds one event.
    pub fn push(&mut self, event: Event) {
        match event {
            Event::Header(header) => self.header = Some(header),
            Event::Host(host) => self.hosts.push(host),
            Event::Calibration(calibration) => self.calibration = Some(calibration),
            Event::Session(session) => self.sessions.push(session),
            Event::Step(step) => self.steps.push(step),
            Event::Trial(trial) => self.trials.push(trial),
            Event::Series(series) => self.series.push(series),
            Event::NotMeasured(not) => self.unavailable.push(not),
            Event::Source(source) => self.source = Some(source),
            Event::Imported(imported) => self.imported.push(imported),
            Event::Original(original) => self.original.push(original),
            Event::Addition(addition) => self.additions.push(addition),
            Event::End(end) => self.end = Some(end),
        }
    }

    /// What was on record after so many steps.
    pub fn until(&self, steps: usize) -> Recording {
        let kept = |step: u32| (step as usize) < steps;
        let mut earlier = self.clone();
        earlier.steps.retain(|step| kept(step.step));
        earlier.trials.retain(|trial| kept(trial.step));
        earlier.series.retain(|series| kept(series.step));
        earlier.unavailable.retain(|not| not.after_steps.is_none_or(kept));
        earlier
    }

    /// Whether a case failed on the way, or messages of some sizes of it.
    pub fn has_failed(&self, case: &Case) -> bool {
        self.unavailable.iter().any(|not| not.concerns(case))
    }

    /// What failed on the way and is not tried again.
    pub fn failed_for_good(&self) -> impl Iterator<Item = &NotMeasured> {
        let for_good = |(nth, _): &(usize, &NotMeasured)| self.is_for_good(*nth);
        self.unavailable.iter().enumerate().filter(for_good).map(|(_, not)| not)
    }

    /// Whether what failed is not tried again: another program's code at once, and what failed twice. What failed once is
    /// tried again in a later round, for a path may have been away for a while. A host that is lost does not come back.
    pub fn is_for_good(&self, nth: usize) -> bool {
        let not = &self.unavailable[nth];
        let is_again = || self.unavailable[..nth].iter().any(|earlier| not.is_again(earlier));
        not.lost_host().is_some() || not.after_steps.is_some() && (not.case.is_none() || is_again())
    }

    /// Hosts that the run goes on without.
    pub fn lost_hosts(&self) -> BTreeSet<HostId> {
        self.unavailable.iter().filter_map(NotMeasured::lost_host).collect()
    }

    /// Those of them that were not there when it began.
    pub fn unreached_hosts(&self) -> BTreeSet<HostId> {
        let at_first = self.unavailable.iter().filter(|not| not.after_steps.is_none());
        at_first.filter_map(NotMeasured::lost_host).collect()
    }

    /// Whether a case failed with a second size, and with none was measured before.
    pub fn fails_throughout(&self, nth: usize) -> bool {
        let not = &self.unavailable[nth];
        let (Some(case), Some(after), false) = (&not.case, not.after_steps, not.session) else {
            return false;
        };
        self.unavailable[..nth].iter().any(|earlier| earlier.case == not.case)
            && !self.trials.iter().any(|trial| trial.step < after && trial.case.is_of(case))
    }

    /// The schema that the first line names.
    fn schema(&self) -> Option<&str> {
        let header = self.header.as_ref().map(|header| header.schema.as_str());
        header.or(self.source.as_ref().map(|source| source.schema.as_str()))
    }

    /// The plan in the header.
    pub fn plan(&self) -> Option<&Plan> {
        self.header.as_ref().map(|header| &header.plan)
    }
}
