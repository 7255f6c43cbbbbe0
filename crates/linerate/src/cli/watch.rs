//! What sees a run while it goes on: chosen once from the arguments, told between steps, never asked.
//!
//! A watcher learns what the controller knows anyway, when no block is timed: nothing here is called
//! between a step's first request and its last answer. What it shows never changes what is measured. It
//! cannot fail a run either: one that can no longer show anything asks the run to stop in good order, and
//! says why when the recording is whole.

pub mod lines;
mod live;
pub mod progress;
mod quiet;

use super::heading::OUTPUT;
use super::stop::Stop;
use crate::Result;
use crate::plan::Step;
use crate::record::{Event, Recording};
use crate::schedule::Schedule;
use lines::Lines;
use live::Live;
use progress::Progress;
use quiet::Quiet;
use std::path::Path;

/// Sees a run.
pub trait Watcher {
    /// Something is being done before anything is measured.
    fn announce(&mut self, what: &str);
    /// How far that is: many times, and only for who looks on.
    fn moved(&mut self, _: &str) {}
    /// Something beside the measurement is not as it should be.
    fn warned(&mut self, what: &str);
    /// The hosts are known, and so is what the run will be; the recording is at `path`.
    fn planned(&mut self, schedule: &dyn Schedule, path: &Path);
    /// A step is about to begin.
    fn step(&mut self, step: &Step, schedule: &dyn Schedule, recording: &Recording);
    /// An event is in the recording, as this line.
    fn written(&mut self, event: &Event, line: &[u8]);
    /// The recording is whole, and nothing more is shown. The answer says why showing failed.
    fn ended(&mut self) -> Result<()>;
}

/// How a run is watched.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(multiple = false)]
pub struct Watching {
    /// No progress and no notes: only the report, warnings and errors.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Show rates, latencies and both hosts' CPUs on the whole terminal while they are measured.
    #[arg(long, help_heading = OUTPUT)]
    pub live: bool,
    /// Print events for programs instead of the report: JSON Lines, the recording's own and what goes with
    /// them.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// One way to watch.
struct Way {
    asked: fn(&Watching) -> bool,
    start: fn(&Stop) -> Result<Box<dyn Watcher>>,
}

/// Every way; the first one that is asked for is taken, and the last one is what nobody asks for.
const WAYS: &[Way] = &[
    Way { asked: |watching| watching.quiet, start: |_| Ok(Box::new(Quiet)) },
    Way { asked: |watching| watching.json, start: |stop| Ok(Box::new(Lines::new(stop))) },
    Way { asked: |watching| watching.live, start: |stop| Ok(Box::new(Live::new(stop)?)) },
    Way { asked: |_| true, start: |_| Ok(Box::new(Progress::new())) },
];

impl Watching {
    /// The watcher that was asked for; it may use `stop` to end the run.
    pub fn start(&self, stop: &Stop) -> Result<Box<dyn Watcher>> {
        let way = WAYS.iter().find(|way| (way.asked)(self));
        way.map_or_else(|| Ok(Box::new(Quiet) as Box<dyn Watcher>), |way| (way.start)(stop))
    }
}

/// Says a warning on standard error.
pub fn warn(what: &str) {
    super::complain(what);
}
