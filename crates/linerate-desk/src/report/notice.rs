//! What `--json` prints beside the lines of the recording: what a program needs to follow a run.

use super::Report;
use crate::plan::Case;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A line that is not in the recording. Its `event` is none of the recording's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Notice {
    /// Something is being done before anything is measured.
    Preparing {
        /// In words.
        what: String,
    },
    /// What the run will be: once a run, after the hosts and before the first step.
    Planned {
        /// The file of the recording.
        recording: String,
        /// In words.
        announcement: String,
        /// What the user should know before it begins.
        note: Option<String>,
        /// How long the run should take.
        predicted_ns: u64,
    },
    /// A step is about to begin.
    Progress {
        /// The step's number in the recording.
        step: u32,
        /// What it belongs to, in words.
        stage: String,
        /// What is measured.
        case: Case,
        /// The message sizes, in the order in which they come.
        message_bytes: Vec<u64>,
        /// How long the step should take.
        predicted_ns: u64,
        /// The share of the run's time that has passed.
        done_share: f64,
        /// How long the steps that are left should take.
        left_ns: u64,
    },
    /// The report: the last line of `run` and `ab`.
    Report {
        /// The file of the recording.
        recording: String,
        /// What `linerate report FILE --format json` prints; `docs/report.schema.json` describes it.
        #[schemars(with = "Value")]
        report: Box<Report>,
    },
    /// What `calibrate` keeps: its last line.
    Calibrated {
        /// The file that it is kept in.
        path: String,
        /// What `linerate calibrate --format json` prints.
        calibration: Value,
    },
    /// What went wrong: the last line, after the report where something was measured.
    Error {
        /// The process's exit code.
        exit_code: u8,
        /// What failed on what, and why.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
}

impl Notice {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        // Maps have string keys and numbers that are not finite become null: nothing in it can fail.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}
