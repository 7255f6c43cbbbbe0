//! Analysis and findings to text, JSON and CSV, and the tables of names to pages; touches nothing.
//!
//! Every format is a rendering of one [`Report`], so that they cannot disagree. The JSON form is the
//! stable one: keys are added, never renamed; `docs/report.schema.json` describes it.

mod arms;
mod assemble;
mod block;
mod curve;
mod ladder;
mod note;
pub mod reference;
mod rows;
mod runs;
mod shape;
mod text;

pub use runs::{RunsReport, runs_json, runs_text};
pub use shape::*;

use crate::record::Recording;

/// The version of the JSON form.
pub const SCHEMA: &str = "linerate.report/1";

/// Where the text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns; none for as many as the table needs, which gives the same text everywhere.
    pub width: Option<u16>,
    /// Whether colours are shown. They never carry meaning alone.
    pub colour: bool,
}

/// A way to write a report.
#[derive(Debug)]
pub struct Format {
    /// The value of `--format`.
    pub name: &'static str,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Writes it.
    pub render: fn(&Recording, Page) -> String,
}

/// Every format.
pub const FORMATS: &[Format] = &[
    Format { name: "text", about: "the answer, the ladder and the notes, for a terminal", render: text },
    Format { name: "json", about: "everything, for programs: schema linerate.report/1", render: json },
    Format {
        name: "csv",
        about: "one row a case and message size, or an arm, for spreadsheets",
        render: csv,
    },
];

impl Report {
    /// Analyses and diagnoses a recording.
    pub fn of(recording: &Recording) -> Report {
        let analysis = crate::analysis::analyse(recording);
        let diagnosis = crate::diagnosis::diagnose(recording, &analysis);
        assemble::report(recording, &analysis, &diagnosis)
    }
}

/// The text form.
pub fn text(recording: &Recording, page: Page) -> String {
    let report = Report::of(recording);
    match &report.arms {
        Some(compared) => arms::render(&report, compared, page),
        None => text::render(&report, page),
    }
}

/// The JSON form.
pub fn json(recording: &Recording, _page: Page) -> String {
    // Maps have string keys and numbers that are not finite become null: nothing in it can fail.
    let text = serde_json::to_string_pretty(&Report::of(recording)).unwrap_or_default();
    text + "\n"
}

/// The CSV form.
pub fn csv(recording: &Recording, _page: Page) -> String {
    match crate::analysis::compare_arms(recording) {
        Some(compared) => rows::render_arms(&compared),
        None => rows::render(&crate::analysis::analyse(recording)),
    }
}

#[cfg(test)]
mod tests;
