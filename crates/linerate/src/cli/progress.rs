//! What a person sees while a run goes on: on a terminal only, on standard error.

use crate::plan::Step;
use crate::record::Recording;
use crate::schedule::Schedule;
use crate::unit::{BitRate, Bytes};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line that is rewritten.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Hidden when `quiet`, or when standard error is no terminal.
    pub fn new(quiet: bool) -> Progress {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        Progress { bar }
    }

    /// Says what is being done before anything is measured.
    pub fn say(&self, what: &str) {
        self.bar.set_style(ProgressStyle::with_template("{msg} …").unwrap_or(ProgressStyle::default_bar()));
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Says what the run will be.
    pub fn planned(&mut self, schedule: &dyn Schedule) {
        let seconds = schedule.predicted_ns() as f64 / 1e9;
        self.bar.println(format!("planned   {}, about {}", schedule.announcement(), about(seconds)));
        if let Some(note) = schedule.note() {
            self.bar.println(format!("note      {note}"));
        }
        let template = "measuring {prefix} ▕{bar:20}▏ {msg}";
        let style = ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar());
        self.bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
    }

    /// Says what is measured now, the rate of the last trial, and the time left.
    pub fn step(&self, step: &Step, schedule: &dyn Schedule, recording: &Recording) {
        if self.bar.is_hidden() {
            return;
        }
        let left = schedule.left_ns(recording) as f64 / 1e9;
        let done: f64 = recording.steps.iter().map(|step| step.duration_ns as f64 / 1e9).sum();
        self.bar.set_position((1000.0 * done / (done + left).max(0.001)) as u64);
        self.bar.set_prefix(schedule.stage(step));
        let size = match step.blocks.as_slice() {
            [block] => format!(" {}", Bytes(block.message_bytes)),
            _ => String::new(),
        };
        let rate = last_rate(recording).map_or(String::new(), |rate| format!(" · {rate}"));
        self.bar.set_message(format!("{}{size}{rate} · {} left", step.case, about(left)));
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn about(seconds: f64) -> String {
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
