//! What a program sees while a run goes on: JSON Lines on standard output, each flushed at once.
//!
//! The recording comes first: a line is shown only when it is on disk, so a reader that goes away loses
//! nothing. The run then ends in good order before its next step.

use super::progress::share_done;
use super::{Watcher, warn};
use crate::cli::chain;
use crate::cli::output::leave;
use crate::cli::stop::Stop;
use crate::plan::Step;
use crate::record::{Event, Recording};
use crate::report::{Notice, Report};
use crate::schedule::Schedule;
use crate::{Error, Result};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes every event, and what a program needs besides.
pub struct Lines {
    stop: Stop,
    failed: Option<io::Error>,
}

impl Lines {
    /// Ends the run by `stop` when nobody reads.
    pub fn new(stop: &Stop) -> Lines {
        Lines { stop: stop.clone(), failed: None }
    }

    fn put(&mut self, line: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if let Err(error) = write(line) {
            self.failed = Some(error);
            self.stop.ask();
        }
    }
}

impl Watcher for Lines {
    fn announce(&mut self, what: &str) {
        self.put(&Notice::Preparing { what: what.into() }.line());
    }

    fn warned(&mut self, what: &str) {
        warn(what);
    }

    fn planned(&mut self, schedule: &dyn Schedule, path: &Path) {
        let planned = Notice::Planned {
            recording: path.display().to_string(),
            announcement: schedule.announcement(),
            note: schedule.note(),
            predicted_ns: schedule.predicted_ns(),
        };
        self.put(&planned.line());
    }

    fn step(&mut self, step: &Step, schedule: &dyn Schedule, recording: &Recording) {
        let progress = Notice::Progress {
            step: step.number,
            stage: schedule.stage(step),
            case: step.case.clone(),
            message_bytes: step.blocks.iter().map(|block| block.message_bytes).collect(),
            predicted_ns: step.predicted_ns,
            done_share: share_done(schedule, recording),
            left_ns: schedule.left_ns(recording),
        };
        self.put(&progress.line());
    }

    fn written(&mut self, _: &Event, line: &[u8]) {
        self.put(line);
    }

    /// A reader that went away is no failure.
    fn ended(&mut self) -> Result<()> {
        match self.failed.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(broken(error)),
            _ => Ok(()),
        }
    }
}

fn write(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line).and_then(|()| out.flush())
}

fn broken(error: io::Error) -> Error {
    Error::io("write", "standard output", error)
}

/// Prints one line; a reader that went away ends the program quietly, as it does anywhere else.
pub fn print(notice: &Notice) -> Result<()> {
    match write(&notice.line()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => leave(),
        answer => answer.map_err(broken),
    }
}

/// Prints the report of a run.
pub fn report(path: &Path, recording: &Recording) -> Result<()> {
    let report = Box::new(Report::from_recording(recording));
    print(&Notice::Report { recording: path.display().to_string(), report })
}

/// Prints what went wrong. Where the reader went away and the run was stopped for it, that is no error.
pub fn error(error: &Error) {
    let exit_code = error.exit_code();
    let hint = error.hint().map(str::to_owned);
    let notice = Notice::Error { exit_code, message: chain(error), hint };
    let gone = write(&notice.line()).is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
    if gone && matches!(error, Error::Interrupted) {
        leave();
    }
}
