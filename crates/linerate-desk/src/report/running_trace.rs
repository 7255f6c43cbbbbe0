//! The stages of a running program's messages in words, and as JSON.

use super::trace::{interval, table, time};
use crate::analysis::{RunningTraceAnalysis, analyse_running_trace};
use crate::record::RunningTrace;
use crate::unit::{counted, percent};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.running-trace-report/1";

/// A trace of a running program, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunningTraceReport<'t> {
    /// `linerate.running-trace-report/1`.
    pub schema: &'static str,
    /// What was asked for.
    pub name: &'t str,
    /// The process whose threads were watched.
    pub process: Option<u32>,
    /// The watched end of the connection.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// By what it was seen: 1 is by programs at tracepoints, 2 by rings of them.
    pub level: u8,
    /// The numbers; none where no message was followed by another.
    pub analysis: Option<RunningTraceAnalysis>,
    /// What cannot be seen, and why; what is doubtful.
    pub notes: Vec<String>,
}

impl RunningTraceReport<'_> {
    /// The report of a trace.
    pub fn new(trace: &RunningTrace) -> RunningTraceReport<'_> {
        let analysis = analyse_running_trace(trace);
        let notes = notes(trace, analysis.as_ref());
        let RunningTrace { name, process, local, remote, level, .. } = trace;
        RunningTraceReport {
            schema: SCHEMA,
            name,
            process: *process,
            local: local.to_string(),
            remote: remote.to_string(),
            level: *level,
            analysis,
            notes,
        }
    }

    /// As one line for programs.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// What is printed.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {} from {}, changing nothing\n", self.name, self.local, self.remote);
        if let Some(of) = &self.analysis {
            text += "\n";
            text.extend(lines(of).into_iter().map(|(name, said)| format!("{name:<10}{said}\n")));
            text += "\n";
            text += &table(&of.stages);
        }
        if !self.notes.is_empty() {
            text += "\n";
            text.extend(self.notes.iter().map(|note| format!("note: {note}\n")));
        }
        text
    }
}

/// What is said of the messages.
pub(super) fn lines(of: &RunningTraceAnalysis) -> Vec<(&'static str, String)> {
    let clocked = &of.between_arrivals;
    let messages = format!(
        "{} from one arrival to the next in the middle; p50 {}, p90 {}, p99 {}",
        time(clocked.middle_ns),
        time(clocked.p50_ns),
        time(clocked.p90_ns),
        time(clocked.p99_ns)
    );
    let sum = format!(
        "{} of {}; {} of {} whole, {}",
        time(of.sum_ns),
        time(clocked.middle_ns),
        percent(of.whole as f64 / of.cycles.max(1) as f64),
        counted(of.cycles as u64, "message"),
        counted(of.lost_events, "lost event")
    );
    let tax = of.tax.map(|tax| ("tax", format!("untraced, {} segments a second", interval(tax))));
    [("messages", messages), ("sum", sum)].into_iter().chain(tax).collect()
}

fn notes(trace: &RunningTrace, analysis: Option<&RunningTraceAnalysis>) -> Vec<String> {
    let mut notes = vec![
        "application is from the thread's turn on its CPU to TCP's turn to send: the return of recv(), the program, and its call of send(); \
         beyond is the network, the other host and its program."
            .to_owned(),
    ];
    let refused = trace.refused.iter().map(|one| format!("no {}: {}; {}", one.observer, one.why, one.hint));
    notes.extend(refused);
    if trace.level == 2 {
        notes.push(
            "level 2: records of the kernel's tracepoints in rings of perf_event_open(2). What goes out is told by the thread that sends it, and \
             from an acknowledgement by its length: an answer below 51 B is not seen."
                .into(),
        );
    }
    if trace.process.is_none() {
        notes.push("whose connection it is cannot be told, so no thread is watched: application holds its wake-up too; try as root.".into());
    }
    if !trace.missing.is_empty() {
        notes.push(format!(
            "no tracepoint {}: this kernel has it not, or, of threads, this program is in a PID namespace of its own. The stage after it \
             holds its time.",
            trace.missing.join(", ")
        ));
    }
    let Some(of) = analysis else {
        notes.push(
            "no message that came was followed by one that went out: what goes one way is not cut into stages. See linerate diagnose --pid."
                .into(),
        );
        return notes;
    };
    if of.several > 0 {
        let several = counted(of.several, "message");
        notes.push(format!("{several} of more than one packet: their first one's times are told, and application holds the rest."));
    }
    if of.whole * 100 < of.cycles * 99 {
        notes.push("fewer than 99 % of the messages are whole: the stages are of the others.".into());
    }
    notes
}
