//! A traced stream in words, and as JSON.

use super::block::{aligned, borderless};
use super::size;
use super::trace::{interval, said_of_hosts};
use crate::analysis::{StreamAnalysis, StreamEnd, StreamUnit, StreamValue, analyse_stream};
use crate::record::{StreamTrace, TraceHost};
use crate::statistic::Estimate;
use crate::unit::{BitRate, Nanoseconds, counted, percent, significant};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.stream-trace-report/1";

/// A traced stream for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StreamReport<'t> {
    /// `linerate.stream-trace-report/1`.
    pub schema: &'static str,
    /// What was traced.
    pub target: &'t str,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// The most bytes of a call.
    pub call_bytes: u64,
    /// How often the lines are sampled.
    pub every_ns: u64,
    /// The knobs that were set.
    pub knobs: &'t [String],
    /// The sender and the receiver.
    pub hosts: &'t [TraceHost],
    /// The numbers.
    #[serde(flatten)]
    pub analysis: StreamAnalysis,
    /// What cannot be seen, and why; what is doubtful.
    pub notes: Vec<String>,
}

impl StreamReport<'_> {
    /// The report of a trace.
    pub fn new(trace: &StreamTrace) -> StreamReport<'_> {
        let analysis = analyse_stream(trace);
        let notes = notes(trace, &analysis);
        let StreamTrace { target, block_bytes, call_bytes, every_ns, knobs, hosts, .. } = trace;
        StreamReport {
            schema: SCHEMA,
            target,
            block_bytes: *block_bytes,
            call_bytes: *call_bytes,
            every_ns: *every_ns,
            knobs,
            hosts,
            analysis,
            notes,
        }
    }
}

/// As one line for programs.
pub fn stream_json(trace: &StreamTrace) -> serde_json::Result<String> {
    serde_json::to_string(&StreamReport::new(trace))
}

/// What is printed.
pub fn stream_text(trace: &StreamTrace) -> String {
    let report = StreamReport::new(trace);
    let mut text = format!("{}: {}\n\n", trace.target, what(trace).join(", "));
    text.extend(lines(&report.analysis).into_iter().map(|(name, said)| format!("{name:<10}{said}\n")));
    text += "\n";
    let mut table = borderless(None);
    table.set_header(heads(&report.analysis.ends));
    for row in rows(&report.analysis.ends) {
        table.add_row(row);
    }
    text.extend(aligned(table, |index| index == 0).iter().map(|line| format!("{line}\n")));
    if !report.notes.is_empty() {
        text += "\n";
        text.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    }
    text
}

/// What the stream is.
pub(super) fn what(trace: &StreamTrace) -> Vec<String> {
    let stream = format!("a stream in blocks of {}", size(trace.block_bytes));
    let calls = format!("calls of {} at most", size(trace.call_bytes));
    let hosts = trace.hosts.iter().map(|host| format!("{} on CPU {}", host.host, host.cpu));
    [stream, calls].into_iter().chain(trace.knobs.iter().cloned()).chain(hosts).collect()
}

/// What is said of the stream, and of what has no column.
pub(super) fn lines(of: &StreamAnalysis) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if let Some(rate) = of.throughput_bps {
        let said = median_text(rate, |bps| BitRate(bps).rounded(3));
        lines.push(("rate".to_owned(), format!("{said} received while it was watched")));
    }
    if let (Some(tax), Some(untraced)) = (of.tax, of.untraced_bps) {
        let untraced = median_text(untraced, |bps| BitRate(bps).rounded(3));
        let is_known = tax.low.is_some_and(|low| low > 0.0) || tax.high.is_some_and(|high| high < 0.0);
        let said = match is_known {
            true => format!("a stream that is not watched is {} faster: {untraced}", interval(tax)),
            false => format!("what watching costs cannot be told: {} of {untraced} unwatched", interval(tax)),
        };
        lines.push(("tax".into(), said));
    }
    for end in &of.ends {
        let all = |counts: &std::collections::BTreeMap<String, u64>| {
            counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        if !end.drops.is_empty() {
            lines.push((format!("drops {}", end.host), all(&end.drops)));
        }
        if !end.protocol.is_empty() {
            lines.push((format!("tcp {}", end.host), all(&end.protocol)));
        }
        if !end.packet_threads_ns.is_empty() {
            let threads = end.packet_threads_ns.iter();
            let threads = threads.map(|(name, ns)| format!("{name} {}", Nanoseconds(*ns as f64).rounded(3)));
            lines.push((format!("threads {}", end.host), threads.collect::<Vec<_>>().join(", ")));
        }
    }
    lines
}

/// The heads of the columns.
pub(super) fn heads(ends: &[StreamEnd]) -> Vec<String> {
    let head = |end: &StreamEnd| format!("{} {}", end.host, if end.sends { "sends" } else { "receives" });
    [String::new()].into_iter().chain(ends.iter().map(head)).collect()
}

/// A row for each figure that one of them has.
pub(super) fn rows(ends: &[StreamEnd]) -> Vec<Vec<String>> {
    let named = crate::analysis::STREAM_FIGURES.iter().map(|figure| figure.name);
    let row = |name: &'static str| {
        let cells = ends.iter().map(|end| end.figure(name).map_or("-".to_owned(), cell));
        [name.to_owned()].into_iter().chain(cells).collect()
    };
    named.filter(|name| ends.iter().any(|end| end.figure(name).is_some())).map(row).collect()
}

fn cell(value: &StreamValue) -> String {
    median_text(value.of_blocks, |number| match value.unit {
        StreamUnit::Share => percent(number),
        StreamUnit::NanosecondsPerByte => format!("{} ns/B", significant(number, 3)),
        StreamUnit::Bytes => size(number.round() as u64),
        StreamUnit::PerSecond => format!("{}/s", significant(number, 3)),
        StreamUnit::PerBlock => significant(number, 3),
    })
}

/// The median, with its interval where that is wider than what is printed.
fn median_text(of: Estimate, print: impl Fn(f64) -> String) -> String {
    let median = print(of.median);
    match (of.low.map(&print), of.high.map(&print)) {
        (Some(low), Some(high)) if low != median || high != median => format!("{median} [{low}, {high}]"),
        (Some(_), Some(_)) => median,
        _ => format!("{median} (n {})", of.n),
    }
}

fn notes(trace: &StreamTrace, analysis: &StreamAnalysis) -> Vec<String> {
    let missing = |points: &str| {
        format!("no counts at {points}: this kernel has not these tracepoints, or with fewer arguments.")
    };
    let mut notes =
        said_of_hosts(&trace.hosts, |level| (level.reads_of_streams, level.blind_to_streams), missing);
    if trace.one_machine {
        notes.push("Both hosts are one machine: what is received is worked on in a softirq of the CPU that sends, and what is of the machine is in both columns.".into());
    }
    let few = analysis.throughput_bps.is_some_and(|rate| rate.low.is_none());
    if few {
        notes.push(format!(
            "{}: too few for intervals; from 6 on there are.",
            counted(trace.blocks.len() as u64, "pair")
        ));
    }
    notes.push("Each host's times are by its own clock since the block began there: the lines of both are at most a round trip apart.".into());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{StreamBlock, StreamSide};

    #[test]
    fn a_number_has_its_interval_where_that_shows() {
        let estimate = |low, high| Estimate { median: 0.5, low, high, n: 6 };
        let said = |low, high| median_text(estimate(low, high), percent);
        assert_eq!(said(Some(0.4), Some(0.6)), "50 % [40 %, 60 %]");
        assert_eq!((said(Some(0.5), Some(0.5)), said(None, None)), ("50 %".into(), "50 % (n 6)".into()));
    }

    #[test]
    fn text_and_json_tell_who_sends_and_what_was_dropped() {
        let drops = [("QDISC_DROP".to_owned(), 7)].into();
        let side = StreamSide { elapsed_ns: 100, bytes: 100, thread_ns: 50, drops, ..StreamSide::default() };
        let block = StreamBlock { untraced: (100, 100), sending: side, ..StreamBlock::default() };
        let trace = StreamTrace { target: "lab".into(), blocks: vec![block], ..StreamTrace::default() };
        let text = stream_text(&trace);
        for part in ["a sends", "b receives", "QDISC_DROP 7", "thread.cpu", "50 % (n 1)", "0.500 ns/B"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(stream_json(&trace).is_ok_and(|json| json.contains(r#""name":"thread.cpu""#)));
        assert!(!stream_text(&StreamTrace::default()).contains("NaN"));
    }
}
