//! Analysis and findings to text, JSON and CSV, and the tables of names to pages; touches nothing.
//!
//! Every format is a rendering of one [`Report`], so that they cannot disagree. The JSON form is the
//! stable one: keys are added, never renamed; `docs/report.schema.json` describes it.

mod arms;
mod assemble;
mod block;
mod capture;
mod capture_page;
mod cause;
mod curve;
pub mod draw;
mod ended;
mod export;
pub mod figure;
mod history;
mod html;
mod imported;
pub mod keep;
mod ladder;
mod line;
mod listening;
mod matrix;
mod note;
mod notice;
mod pcapng;
mod plain_page;
mod published;
pub mod reference;
mod rows;
mod running;
mod running_trace;
mod running_trace_page;
mod runs;
mod shape;
mod stream;
mod stream_page;
mod suite;
mod text;
mod time_line;
mod trace;
mod trace_page;
mod transfer;
mod transfer_beside;
mod tuning;

pub use capture::{CaptureReport, capture_json, capture_text};
pub use capture_page::capture_page;
pub use figure::Sheet;
pub use history::{history_csv, history_json, history_text};
pub use notice::Notice;
pub use pcapng::{Seen, pcapng};
pub use running::RunningReport;
pub use running_trace::RunningTraceReport;
pub use running_trace_page::running_trace_page;
pub use runs::{RunsReport, runs_json, runs_text};
use shape::Shows;
pub use shape::*;
pub use stream::{StreamReport, stream_json, stream_text};
pub use stream_page::stream_page;
pub use trace::{TraceReport, trace_json, trace_text};
pub use trace_page::trace_page;
pub use transfer::{size, transfer_json, transfer_text};
pub use transfer_beside::{transfers_json, transfers_text};

use crate::Result;
use crate::analysis::Analysis;
use crate::plan::View;
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
    /// Whether it shows several recordings beside each other.
    pub several: bool,
    /// Writes it.
    pub render: fn(&[Sheet], Page) -> Result<Rendered>,
}

/// A report that is written.
#[derive(Debug)]
pub enum Rendered {
    /// One text.
    Text(String),
    /// Files, by name.
    Files(Vec<(String, Vec<u8>)>),
}

/// Every format.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "the answer, the ladder and the notes, for a terminal",
        several: false,
        render: |sheets, page| each(sheets, |sheet| text_of(&sheet.report, page)),
    },
    Format {
        name: "json",
        about: "everything, for programs: schema linerate.report/1",
        several: false,
        render: |sheets, _| each(sheets, |sheet| json_of(&sheet.report)),
    },
    Format {
        name: "csv",
        about: "one row a case and message size, an arm or a point of a suite, for spreadsheets",
        several: false,
        render: |sheets, _| each(sheets, |sheet| csv_of(sheet.recording, &sheet.analysis)),
    },
    Format {
        name: "tables",
        about: "each table of the report as a CSV file, in a folder",
        several: true,
        render: |sheets, _| export::tables(sheets),
    },
    Format {
        name: "openmetrics",
        about: "the numbers with their labels, for Prometheus and what reads OpenMetrics 1.0",
        several: false,
        render: |sheets, _| each(sheets, export::open_metrics),
    },
    Format {
        name: "iperf3",
        about: "a long stream in the JSON of iperf3, for dashboards that read it",
        several: false,
        render: |sheets, _| export::iperf3(sheets),
    },
    Format {
        name: "html",
        about: "one page with figures, findings and the data, that needs nothing else",
        several: true,
        render: |sheets, _| html::page(sheets).map(Rendered::Text),
    },
    Format {
        name: "svg",
        about: "each figure as a file, for papers and slides",
        several: true,
        render: |sheets, _| pictures(sheets, "svg", |svg| Ok(svg.into_bytes())),
    },
    Format {
        name: "png",
        about: "each figure as a file of pixels, 2280 wide",
        several: true,
        render: |sheets, _| pictures(sheets, "png", |svg| draw::png(&svg)),
    },
];

/// A text of each recording.
fn each(sheets: &[Sheet], text: impl Fn(&Sheet) -> String) -> Result<Rendered> {
    Ok(Rendered::Text(sheets.iter().map(text).collect()))
}

/// Every figure as a file.
fn pictures(sheets: &[Sheet], kind: &str, encode: fn(String) -> Result<Vec<u8>>) -> Result<Rendered> {
    let figures = figure::figures(sheets);
    let drawn = figures.iter().zip(draw::svg(&figures)?);
    let files = drawn.map(|(figure, svg)| Ok((format!("{}.{kind}", figure.id), encode(svg)?)));
    files.collect::<Result<Vec<_>>>().map(Rendered::Files)
}

impl Report {
    /// Analyses and diagnoses a recording.
    pub fn from_recording(recording: &Recording) -> Report {
        Report::with(recording, &crate::analysis::analyse(recording))
    }

    /// Diagnoses a recording that was analysed.
    pub fn with(recording: &Recording, analysis: &Analysis) -> Report {
        let diagnosis = crate::diagnosis::diagnose(recording, analysis);
        assemble::report(recording, analysis, &diagnosis)
    }
}

/// The text form.
pub fn text(recording: &Recording, page: Page) -> String {
    text_of(&Report::from_recording(recording), page)
}

fn text_of(report: &Report, page: Page) -> String {
    match report.shows() {
        Shows::Imported(imported) => imported::render(imported, page),
        Shows::Comparison(compared) => arms::render(report, compared, page),
        Shows::Diagnosis(compared, causes) => cause::render(report, compared, causes, page),
        Shows::Tuning(tuned) => tuning::render(report, tuned, page),
        Shows::Matrix(matrix) => matrix::render(report, matrix, page),
        Shows::Suites(_) | Shows::Ladder => text::render(report, page),
    }
}

/// All that is to be known beside the numbers of a recording, with what to try.
pub fn explained(recording: &Recording, page: Page) -> String {
    let report = Report::from_recording(recording);
    let mut notes = text::all_notes(&report);
    match report.shows() {
        Shows::Imported(imported) => return imported::render(imported, page),
        Shows::Comparison(compared) => notes.extend(arms::notes(compared)),
        Shows::Diagnosis(compared, causes) => notes.extend(cause::notes(compared, causes)),
        Shows::Tuning(tuned) => notes.extend(tuning::notes(tuned)),
        Shows::Matrix(_) | Shows::Suites(_) | Shows::Ladder => {}
    }
    notes.sort_by_key(|note| note.weight.place());
    if notes.is_empty() {
        "There is nothing to know beside the numbers.\n".into()
    } else {
        note::whole(notes, page)
    }
}

/// The JSON form.
pub fn json_of(report: &Report) -> String {
    // Maps have string keys and numbers that are not finite become null: nothing in it can fail.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// The CSV form.
pub fn csv_of(recording: &Recording, analysis: &Analysis) -> String {
    match recording.plan().map(|plan| &plan.view) {
        None => rows::render_imported(recording),
        Some(View::Suites(_)) => rows::render_suites(&analysis.suites),
        Some(View::Ladder(_)) => rows::render(recording, analysis),
        // Where it was cut short there are curves of the plan as it stands.
        Some(View::Comparison { .. }) => crate::analysis::compare_arms(recording)
            .map_or_else(|| rows::render(recording, analysis), |compared| rows::render_arms(&compared)),
        Some(View::Matrix { .. }) => crate::analysis::matrix::matrix(recording)
            .map_or_else(String::new, |matrix| rows::render_matrix(&matrix)),
        Some(View::Tuning { .. }) => crate::analysis::tuned(recording)
            .map_or_else(|| rows::render(recording, analysis), |tuned| rows::render_tuning(&tuned)),
    }
}

#[cfg(test)]
mod tests;
