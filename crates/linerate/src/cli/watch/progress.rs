//! What a person sees while a run goes on: on a terminal only, on standard error.

use super::{Watcher, warn};
use crate::Result;
use crate::plan::Step;
use crate::record::{Event, Recording};
use crate::schedule::Schedule;
use crate::unit::{BitRate, Bytes};
use crate::vocabulary::ReasonKind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;
use std::time::Duration;

/// A line that is rewritten.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Hidden when standard error is no terminal.
    pub fn new() -> Progress {
        Progress { bar: ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr()) }
    }
}

impl Watcher for Progress {
    fn announce(&mut self, what: &str) {
        self.bar.set_style(ProgressStyle::with_template("{msg} …").unwrap_or(ProgressStyle::default_bar()));
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    fn moved(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn warned(&mut self, what: &str) {
        self.bar.suspend(|| warn(what));
    }

    fn planned(&mut self, schedule: &dyn Schedule, _: &Path) {
        let seconds = schedule.predicted_ns() as f64 / 1e9;
        self.bar.println(format!("planned   {}, about {}", schedule.announcement(), about(seconds)));
        if let Some(note) = schedule.note() {
            self.bar.println(format!("note      {note}"));
        }
        let template = "measuring {prefix} ▕{bar:20}▏ {wide_msg}";
        let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }

    /// Says what is measured now, the rate of the last trial, and the time left.
    fn step(&mut self, step: &Step, schedule: &dyn Schedule, recording: &Recording) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position((1000.0 * share_done(schedule, recording)) as u64);
        self.bar.set_prefix(schedule.stage(step));
        let size = match step.blocks.as_slice() {
            [block] => format!(" {}", Bytes(block.message_bytes)),
            _ => String::new(),
        };
        let left = about(schedule.left_ns(recording) as f64 / 1e9);
        let rate = last_rate(recording).map_or(String::new(), |rate| format!(" · {rate}"));
        self.bar.set_message(format!("{}{size}{rate} · {left} left", step.case));
        self.bar.tick();
    }

    /// What failed is told at once: what follows from it may take its time.
    fn written(&mut self, event: &Event, _: &[u8]) {
        if let Event::NotMeasured(not) = event
            && not.reason.kind == ReasonKind::Failed
        {
            self.bar.println(format!("failed    {}: {}", not.what(), not.reason.why));
        }
    }

    fn ended(&mut self) -> Result<()> {
        self.bar.finish_and_clear();
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The share of the run's time that has passed.
pub fn share_done(schedule: &dyn Schedule, recording: &Recording) -> f64 {
    let left: f64 = schedule.left_ns(recording) as f64;
    let done: f64 = recording.steps.iter().map(|step| step.duration_ns as f64).sum();
    done / (done + left).max(1e6)
}

/// A time to wait, in words.
pub fn about(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.1} min", s / 60.0),
    }
}

/// The rate of the last trial, as a sign of life; the report does it properly.
fn last_rate(recording: &Recording) -> Option<BitRate> {
    let trial = recording.trials.last()?;
    let role = trial.roles.iter().find(|role| role.does.keeps_time())?;
    let bytes: u64 = role.flows.iter().map(|flow| flow.bytes).sum();
    let time = role.flows.iter().map(|flow| Duration::from_nanos(flow.duration_ns)).max()?;
    (!time.is_zero()).then(|| BitRate(bytes as f64 * 8.0 / time.as_secs_f64()))
}
