//! A trace in words, and as JSON.

use super::block::{aligned, borderless};
use crate::analysis::{StageKey, StageTime, TraceAnalysis, TraceOf, analyse_trace};
use crate::record::{Trace, TraceHost};
use crate::statistic::Estimate;
use crate::unit::{Nanoseconds, counted, percent, signed_percent, significant};
use crate::vocabulary::{TRACE_LEVELS, TraceLevel, Wait};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.trace-report/1";

/// Of whole exchanges fewer than this leave something out.
const COVERED: f64 = 0.99;

/// The stages may sum to so much more or less than what was clocked.
const SUMS: f64 = 0.01;

/// A longer message is several packets: a segment of an MTU of 1500.
const SEGMENT: u64 = 1448;

/// A trace for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceReport<'t> {
    /// `linerate.trace-report/1`.
    pub schema: &'static str,
    /// What was traced.
    pub target: &'t str,
    /// Bytes of a message, each way.
    pub message_bytes: u64,
    /// Calls in which the asking host sends a message.
    pub writes: u32,
    /// Whether messages went as datagrams, of UDP, and not over a connection of TCP.
    pub datagrams: bool,
    /// The knobs that were set.
    pub knobs: &'t [String],
    /// The hosts, the asking one first.
    pub hosts: &'t [TraceHost],
    /// The numbers, for each way of waiting.
    #[serde(flatten)]
    pub analysis: TraceAnalysis,
    /// What cannot be seen, and why; what is doubtful.
    pub notes: Vec<String>,
}

impl TraceReport<'_> {
    /// The report of a trace.
    pub fn new(trace: &Trace) -> TraceReport<'_> {
        let analysis = analyse_trace(trace);
        let notes = notes(trace, &analysis);
        let Trace { target, message_bytes, writes, datagrams, knobs, hosts, .. } = trace;
        let (message_bytes, writes, datagrams) = (*message_bytes, *writes, *datagrams);
        TraceReport {
            schema: SCHEMA,
            target,
            message_bytes,
            writes,
            datagrams,
            knobs,
            hosts,
            analysis,
            notes,
        }
    }
}

/// As one line for programs.
pub fn trace_json(trace: &Trace) -> serde_json::Result<String> {
    serde_json::to_string(&TraceReport::new(trace))
}

/// What is printed.
pub fn trace_text(trace: &Trace) -> String {
    let report = TraceReport::new(trace);
    let hosts: Vec<String> =
        trace.hosts.iter().map(|host| format!("{} on CPU {}", host.host, host.cpu)).collect();
    let mut text = format!("{}: {}, {}\n", trace.target, what(trace).join(", "), hosts.join(", "));
    for of in &report.analysis.waits {
        text += "\n";
        text.extend(lines(of).into_iter().map(|(name, said)| format!("{name:<10}{said}\n")));
        text += "\n";
        text += &table(&of.stages);
    }
    if !report.notes.is_empty() {
        text += "\n";
        text.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    }
    text
}

/// What an exchange is: its bytes, in how many calls, with which knobs.
pub(super) fn what(trace: &Trace) -> Vec<String> {
    let calls = (trace.writes > 1).then(|| format!("sent in {} calls", trace.writes));
    let bytes = format!("{} B each way", trace.message_bytes);
    let datagrams = trace.datagrams.then(|| "as datagrams".to_owned());
    [Some(bytes), datagrams, calls].into_iter().flatten().chain(trace.knobs.iter().cloned()).collect()
}

pub(super) fn time(ns: f64) -> String {
    Nanoseconds(ns).rounded(3)
}

/// What is said of one way of waiting.
pub(super) fn lines(of: &TraceOf) -> Vec<(String, String)> {
    let clocked = &of.clocked;
    let mut lines = vec![(
        of.wait.to_string(),
        format!(
            "round trip {} in the middle; p50 {}, p90 {}, p99 {}",
            time(clocked.middle_ns),
            time(clocked.p50_ns),
            time(clocked.p90_ns),
            time(clocked.p99_ns)
        ),
    )];
    lines.push((
        "sum".into(),
        format!(
            "{} of {} clocked ({}); {} of {} whole, {}",
            time(of.sum_ns),
            time(clocked.middle_ns),
            signed_percent(of.sum_error()),
            percent(of.coverage()),
            counted(of.exchanges as u64, if of.every > 1 { "stamped exchange" } else { "exchange" }),
            counted(of.lost_events, "lost event"),
        ),
    ));
    lines.extend(sample(of));
    lines.extend(tax(of));
    if let Some(said) = tail(of) {
        lines.push(("tail".into(), said));
    }
    lines
}

/// What the numbers are of, where not every exchange is stamped.
fn sample(of: &TraceOf) -> Option<(String, String)> {
    let all = of.exchanges + of.between;
    let said = format!(
        "one of {} exchanges is stamped, {} of {}, whatever time it takes: stages, percentiles and the slowest 1 % are of these",
        of.every, of.exchanges, all
    );
    (of.every > 1).then(|| ("sample".into(), said))
}

/// What tracing costs.
fn tax(of: &TraceOf) -> Option<(String, String)> {
    let (tax, untraced) = (of.tax?, time(of.untraced_ns?.median));
    let said = match of.stamped_tax.filter(|_| of.every > 1) {
        None => format!(
            "a traced round trip takes {} longer than the {untraced} of one that is not",
            interval(tax)
        ),
        Some(stamped) => format!(
            "round trips take {} longer while they are traced than {untraced} while they are not; those that are stamped {}",
            interval(tax),
            interval(stamped)
        ),
    };
    Some(("tax".into(), said))
}

pub(super) fn interval(tax: Estimate) -> String {
    match (tax.low, tax.high) {
        (Some(low), Some(high)) => format!(
            "{} [{}, {}; {}]",
            signed_percent(tax.median),
            signed_percent(low),
            signed_percent(high),
            counted(tax.n, "pair")
        ),
        _ => format!("{} ({}: too few for an interval)", signed_percent(tax.median), counted(tax.n, "pair")),
    }
}

/// What the slowest do differently.
fn tail(of: &TraceOf) -> Option<String> {
    const TOLD: usize = 2;
    let longer = of.clocked.slowest_ns / of.clocked.middle_ns;
    let excess = of.excess();
    let parts: Vec<String> = excess
        .iter()
        .take(TOLD)
        .filter(|(_, ns, share)| *ns > 0.0 && *share >= 0.1)
        .map(|(key, _, share)| format!("{} {}", percent(*share), place_of(key)))
        .collect();
    (!parts.is_empty() && longer.is_finite()).then(|| {
        format!(
            "the slowest 1 % take {}, {} times the middle; what they take longer is {}",
            time(of.clocked.slowest_ns),
            significant(longer, 3),
            parts.join(", ")
        )
    })
}

/// `run-queue (b in)`.
fn place_of(key: &StageKey) -> String {
    let place = place(key);
    if place.is_empty() { key.stage.into() } else { format!("{} ({place})", key.stage) }
}

/// `b in`.
pub(super) fn place(key: &StageKey) -> String {
    let host = key.host.map(|host| host.to_string());
    host.into_iter().chain(key.way.map(str::to_owned)).collect::<Vec<_>>().join(" ")
}

/// The columns of a stage.
pub(super) const HEADS: [&str; 9] =
    ["where", "stage", "middle", "share", "95 % of blocks", "p50", "p90", "p99", "slowest 1 %"];

/// A stage's cells.
pub(super) fn cells(stage: &StageTime) -> Vec<String> {
    let ends = stage.of_blocks.and_then(|of| Some((of.low?, of.high?)));
    let blocks = ends.map_or("-".to_owned(), |(low, high)| format!("{} to {}", time(low), time(high)));
    let slowest = stage.slowest_ns.map_or("-".to_owned(), time);
    let times = [stage.p50_ns, stage.p90_ns, stage.p99_ns].map(time).into_iter().chain([slowest]);
    let first = vec![
        place(&stage.key),
        stage.key.stage.to_owned(),
        time(stage.middle_ns),
        percent(stage.share),
        blocks,
    ];
    first.into_iter().chain(times).collect()
}

pub(super) fn table(stages: &[StageTime]) -> String {
    let mut table = borderless(None);
    table.set_header(HEADS);
    for stage in stages {
        table.add_row(cells(stage));
    }
    aligned(table, |index| index < 2).iter().map(|line| format!("{line}\n")).collect()
}

/// What is to be known of hosts traced for exchanges.
fn of_hosts(trace: &Trace) -> Vec<String> {
    let seen = |level: &'static TraceLevel| (level.reads, level.blind);
    let missing = |points: &str| {
        format!(
            "no point {points}: this kernel has not its tracepoint, or, of threads, the program is in a PID namespace of its own. The \
             stage after it holds its time."
        )
    };
    said_of_hosts(&trace.hosts, seen, missing)
}

/// What is to be known of hosts: what each is read by, and what not, and why. What holds for both is said once.
pub(super) fn said_of_hosts(
    hosts: &[TraceHost],
    seen: fn(&'static TraceLevel) -> (&'static str, &'static str),
    missing: fn(&str) -> String,
) -> Vec<String> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for host in hosts {
        let level = TRACE_LEVELS.iter().find(|level| level.number == host.level);
        let level = level.map(|level| (level.number, seen(level)));
        let level =
            level.map(|(number, (reads, blind))| format!("level {number}: {reads}. Not seen: {blind}."));
        let refused = host.refused.iter();
        let refused =
            refused.map(|refused| format!("no {}: {}; {}.", refused.observer, refused.why, refused.hint));
        let missing = (!host.missing.is_empty()).then(|| missing(&host.missing.join(", ")));
        for text in level.into_iter().chain(refused).chain(missing) {
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, hosts)) => hosts.push(host.host.to_string()),
                None => said.push((text, vec![host.host.to_string()])),
            }
        }
    }
    let noun = |hosts: &[String]| if hosts.len() == 1 { "host" } else { "hosts" };
    said.iter().map(|(text, hosts)| format!("{} {}, {text}", noun(hosts), hosts.join(" and "))).collect()
}

fn notes(trace: &Trace, analysis: &TraceAnalysis) -> Vec<String> {
    let mut notes = of_hosts(trace);
    for wait in [Wait::Sleeping, Wait::Polling] {
        let was_traced = trace.blocks.iter().any(|block| block.wait == wait);
        if was_traced && !analysis.waits.iter().any(|of| of.wait == wait) {
            notes.push(format!(
                "{wait}: no block can be used: a clock was set while each ran, or the program's own times are missing."
            ));
        }
    }
    let levels: Vec<u8> = trace.hosts.iter().map(|host| host.level).collect();
    if levels.windows(2).any(|pair| pair[0] != pair[1]) && trace.message_bytes > SEGMENT {
        notes.push(
            "One host stamps the first packet of a message and the other its last byte: the wire holds the time between.".into(),
        );
    }
    notes.extend(analysis.waits.iter().flat_map(|of| doubts(trace, of)));
    notes.dedup();
    notes
}

fn doubts(trace: &Trace, of: &TraceOf) -> Vec<String> {
    let mut doubts = Vec::new();
    let wait = of.wait;
    let (exchanges, messages) = match of.every {
        0..=1 => ("exchanges", "messages"),
        _ => ("stamped exchanges", "messages of stamped exchanges"),
    };
    if of.coverage() < COVERED {
        let missing: Vec<String> =
            of.missing.iter().map(|(point, count)| format!("{point} {count} times")).collect();
        let missing = if missing.is_empty() { "nothing".into() } else { missing.join(", ") };
        doubts.push(format!(
            "{wait}: only {} of the {exchanges} are whole. Missing: {missing}; out of order: {}.",
            percent(of.coverage()),
            of.disordered
        ));
    }
    if of.lost_exchanges > 0 {
        doubts.push(format!(
            "{wait}: {} lost on the way, which no stage and no round trip is of.",
            counted(of.lost_exchanges, "exchange")
        ));
    }
    for (point, share) in &of.sparse {
        doubts.push(format!(
            "{wait}: only {} of the {messages} are stamped at {point}, so no stage ends there: the one after it holds its time.",
            percent(*share)
        ));
    }
    if !of.stages.is_empty() && of.sum_error().abs() > SUMS {
        doubts.push(format!("{wait}: the stages do not sum to what was clocked: do not trust their shares."));
    }
    if of.stepped_blocks > 0 {
        doubts.push(format!(
            "{wait}: {} left out: a clock was set meanwhile.",
            counted(of.stepped_blocks as u64, "block")
        ));
    }
    let slept = trace.blocks.iter().filter(|block| block.wait == wait);
    if wait == Wait::Sleeping && slept.clone().any(|block| !block.kept_awake) {
        doubts.push(format!(
            "{wait}: CPUs were not kept awake, so a wake-up also takes them out of their idle states."
        ));
    }
    let again: u64 = slept
        .flat_map(|block| [&block.asking, &block.answering])
        .filter_map(|side| side.tcp.get("total_retrans"))
        .sum();
    if again > 0 {
        doubts.push(format!(
            "{wait}: {} sent again; an exchange with one is slower by TCP's wait.",
            counted(again, "segment")
        ));
    }
    if of.stages.is_empty() {
        doubts.push(format!("{wait}: no exchange of the middle is whole, so nothing is said of its stages."));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::StageKey;
    use crate::plan::HostId;

    #[test]
    fn a_place_is_a_host_and_a_way() {
        let key = |host: Option<u16>, way| StageKey { host: host.map(HostId), way, stage: "run-queue" };
        assert_eq!(place_of(&key(Some(1), Some("in"))), "run-queue (b in)");
        assert_eq!(
            (place_of(&key(None, None)), place(&key(Some(1), None))),
            ("run-queue".into(), "b".into())
        );
    }

    #[test]
    fn a_trace_of_nothing_says_what_was_traced() {
        let trace = Trace { target: "lab".into(), message_bytes: 64, ..Trace::default() };
        assert_eq!(trace_text(&trace), "lab: 64 B each way, \n");
        assert!(trace_json(&trace).is_ok_and(|json| json.contains(r#""waits":[]"#)));
        let held = Trace { writes: 2, knobs: vec!["tcp.no-delay=off".into()], ..trace };
        assert_eq!(trace_text(&held), "lab: 64 B each way, sent in 2 calls, tcp.no-delay=off, \n");
    }
}
