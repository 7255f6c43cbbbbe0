//! The ladder as a table.

use super::block::{Block, bands};
use super::shape::{LadderEntry, Report, SpreadEntry};
use crate::plan::HostId;
use crate::statistic::Estimate;
use crate::unit::{BitRate, Bytes, Nanoseconds, significant, supported_digits};

const NOTHING: &str = "-";

/// Over the spread between equal runs, beside what it belongs to.
const RUNS: &str = "runs";

/// A line of the table: both directions of a rung, or a rung on both hosts.
struct Row<'r> {
    name: String,
    /// From the first host, or on it.
    forward: Option<&'r LadderEntry>,
    /// From the other host, or on it.
    backward: Option<&'r LadderEntry>,
}

impl<'r> Row<'r> {
    /// A number that the first direction has, or else the other one.
    fn either<T>(&self, number: impl Fn(&'r LadderEntry) -> Option<T>) -> Option<T> {
        self.forward.and_then(&number).or_else(|| self.backward.and_then(&number))
    }

    /// Why there is nothing to show; none where something was measured.
    fn unavailable(&self) -> Option<String> {
        let measured = [self.forward, self.backward].into_iter().flatten().any(|e| e.unavailable.is_none());
        let entry = self.forward.or(self.backward).filter(|_| !measured)?;
        let why = entry.unavailable.as_ref().map_or("nothing is known".into(), |not| not.reason.sentence());
        Some(format!("not measured: {why}"))
    }
}

/// The lines of the table, in bands that fit the width; what was not measured stands in its place.
pub(super) fn render(report: &Report, width: Option<usize>) -> Vec<Vec<String>> {
    let rows = rows(report);
    let names = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let (measured, missing): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.unavailable().is_none());
    let name_column = Block {
        title: String::new(),
        heads: vec![format!("{:<names$}", "rung")],
        rows: measured.iter().map(|row| vec![format!("{:<names$}", row.name)]).collect(),
        left: true,
    };
    let mut bands = bands(&name_column, &blocks(report, &measured), width);
    if measured.is_empty() {
        bands = vec![Vec::new()];
    }
    let heads = if measured.is_empty() { 0 } else { 2 };
    if let Some(band) = bands.first_mut() {
        for row in missing {
            let place = rows.iter().take_while(|other| !std::ptr::eq(*other, row)).count();
            let line = format!("{:<names$}   {}", row.name, row.unavailable().unwrap_or_default());
            band.insert((heads + place).min(band.len()), line);
        }
    }
    bands
}

/// Entries of one rung, number of flows and pattern share a line.
fn rows(report: &Report) -> Vec<Row<'_>> {
    let first = report.run.hosts.first().map_or(HostId::default(), |host| host.host).to_string();
    let stated = report.ladder.first().map(|entry| entry.message_bytes);
    let mut rows: Vec<Row> = Vec::new();
    for entry in &report.ladder {
        let host = entry.host.map(String::from);
        let from = host.as_deref().or(entry.direction.as_deref()).unwrap_or(&first);
        let both_ways = from.contains("<>");
        let is_forward = from.split(['<', '>']).next() == Some(first.as_str());
        let flows = if entry.flows > 1 { format!(" x {}", entry.flows) } else { String::new() };
        // The head of the column says the size of most.
        let other_size = Some(entry.message_bytes) != stated && entry.throughput_bps.is_some();
        let size = if other_size { format!(", {}", Bytes(entry.message_bytes)) } else { String::new() };
        let name = format!("{}{flows}{}{size}", entry.title, if both_ways { ", both ways" } else { "" });
        let index = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            rows.push(Row { name, forward: None, backward: None });
            rows.len() - 1
        });
        let place = if is_forward { &mut rows[index].forward } else { &mut rows[index].backward };
        place.get_or_insert(entry);
    }
    rows
}

/// The table in columns, for a form that sets it otherwise.
pub(super) struct Columns {
    /// The name of each row.
    pub names: Vec<String>,
    /// The columns; without those that are empty.
    pub blocks: Vec<Block>,
    /// What was not measured, and why.
    pub missing: Vec<(String, String)>,
}

/// The table of a report.
pub(super) fn columns(report: &Report) -> Columns {
    let rows = rows(report);
    let (measured, missing): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.unavailable().is_none());
    Columns {
        names: measured.iter().map(|row| row.name.clone()).collect(),
        blocks: blocks(report, &measured),
        missing: missing
            .iter()
            .map(|row| (row.name.clone(), row.unavailable().unwrap_or_default()))
            .collect(),
    }
}

fn blocks(report: &Report, rows: &[&Row]) -> Vec<Block> {
    let entry = report.ladder.first();
    let names: Vec<String> = report.run.hosts.iter().map(|host| host.host.to_string()).collect();
    let (a, b) = (names.first().map_or("a", String::as_str), names.get(1).map_or("b", String::as_str));
    let size = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| Bytes(bytes).to_string());
    let stream = format!("throughput, {}", size(entry.map(|entry| entry.message_bytes)));
    let latency = format!("half round trip, {}", size(entry.map(|entry| entry.latency_bytes)));
    let block = |title: &str, heads: &[&str], cells: &dyn Fn(&Row) -> Vec<String>| Block {
        title: title.into(),
        heads: heads.iter().map(|head| (*head).to_owned()).collect(),
        rows: rows.iter().map(|row| cells(row)).collect(),
        left: false,
    };
    vec![
        with_runs(block(&stream, &[&format!("{a}>{b}"), "±", RUNS, &format!("{b}>{a}")], &|row| {
            let forward = row.forward.and_then(|entry| entry.throughput_bps);
            let backward = row.backward.and_then(|entry| entry.throughput_bps);
            let between = row.forward.and_then(|entry| entry.between_run.throughput);
            vec![rate(forward), width(forward), spread(between), rate(backward)]
        })),
        with_runs(block(&latency, &["polling", RUNS, "sleeping", RUNS], &|row| {
            let polling = row.either(|entry| entry.half_round_trip_ns.polling);
            let sleeping = row.either(|entry| entry.half_round_trip_ns.sleeping);
            let of_polling = spread(row.either(|entry| entry.between_run.polling));
            let of_sleeping = spread(row.either(|entry| entry.between_run.sleeping));
            vec![time(polling), of_polling, time(sleeping), of_sleeping]
        })),
        block("", &["kept"], &|row| vec![share(row.either(|entry| entry.kept_of_below))]),
        block("over the rung below", &["constant", "per byte"], &|row| {
            let cost = row.either(|entry| entry.cost.as_ref());
            vec![gap(cost.and_then(|cost| cost.constant_ns)), gap(cost.map(|cost| cost.ns_per_byte))]
        }),
        block("CPU ns/B", &["send", "recv"], &|row| {
            let cpu = row.either(|entry| entry.cpu_ns_per_byte.as_ref());
            vec![cost(cpu.and_then(|cpu| cpu.sender)), cost(cpu.and_then(|cpu| cpu.receiver))]
        }),
    ]
}

/// Leaves out the columns about equal runs when nothing is in them.
fn with_runs(block: Block) -> Block {
    let empty =
        |column: usize| block.heads[column] == RUNS && block.rows.iter().all(|row| row[column].is_empty());
    let kept: Vec<usize> = (0..block.heads.len()).filter(|column| !empty(*column)).collect();
    let keep = |cells: &[String]| kept.iter().map(|column| cells[*column].clone()).collect::<Vec<_>>();
    Block { heads: keep(&block.heads), rows: block.rows.iter().map(|row| keep(row)).collect(), ..block }
}

/// How far equal runs lie apart, in percent.
fn spread(entry: Option<SpreadEntry>) -> String {
    let text = |entry: SpreadEntry| {
        format!("±{} %", significant(100.0 * entry.share, if entry.share < 0.1 { 1 } else { 2 }))
    };
    entry.map_or(String::new(), text)
}

fn or_nothing(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOTHING.into())
}

fn digits(estimate: &Estimate) -> i32 {
    supported_digits(estimate.median, estimate.half_width())
}

fn rate(estimate: Option<Estimate>) -> String {
    or_nothing(estimate.map(|e| BitRate(e.median).rounded(digits(&e))))
}

/// The half-width in percent; the number of passes where there is no interval.
fn width(estimate: Option<Estimate>) -> String {
    let text = |estimate: Estimate| match estimate.relative_half_width() {
        // It does not reach below nothing.
        Some(share) if share > 1.0 => format!("+{} %", significant(100.0 * share, 2)),
        Some(share) => format!("±{} %", significant(100.0 * share, if share < 0.1 { 1 } else { 2 })),
        None => format!("n={}", estimate.n),
    };
    estimate.map_or(String::new(), text)
}

fn time(estimate: Option<Estimate>) -> String {
    or_nothing(estimate.map(|e| Nanoseconds(e.median).rounded(digits(&e))))
}

/// A share in percent; with a tilde where it may be off by more than a tenth of itself.
fn share(estimate: Option<Estimate>) -> String {
    let text = |estimate: Estimate| {
        let vague = estimate.relative_half_width().is_some_and(|width| width > 0.1);
        format!("{}{} %", if vague { "~" } else { "" }, significant(100.0 * estimate.median, 2))
    };
    or_nothing(estimate.map(text))
}

fn cost(ns: Option<f64>) -> String {
    or_nothing(ns.map(|ns| significant(ns, 2)))
}

/// A difference with its sign; where its interval holds zero, only how far from zero it may be.
fn gap(estimate: Option<Estimate>) -> String {
    let text = |estimate: Estimate| {
        let (low, high) = (estimate.low.unwrap_or(f64::NAN), estimate.high.unwrap_or(f64::NAN));
        if low <= 0.0 && high >= 0.0 {
            return format!("±{}", Nanoseconds(high.max(-low)).rounded(1));
        }
        let sign = if estimate.median < 0.0 { '-' } else { '+' };
        format!("{sign}{}", Nanoseconds(estimate.median.abs()).rounded(digits(&estimate).min(2)))
    };
    or_nothing(estimate.map(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64, low: f64, high: f64) -> Option<Estimate> {
        Some(Estimate { median, low: Some(low), high: Some(high), n: 10 })
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(rate(estimate(57.123e9, 56.1e9, 58.3e9)), "57 Gb/s");
        assert_eq!(rate(estimate(57.123e9, 57.1e9, 57.2e9)), "57.1 Gb/s");
        assert_eq!(time(estimate(2812.0, 2700.0, 2900.0)), "2.8 µs");
        assert_eq!(share(estimate(0.803, 0.79, 0.81)), "80 %");
        assert_eq!(share(estimate(1.2, 0.36, 2.5)), "~120 %");
        assert_eq!(width(estimate(100.0, 97.9, 101.0)), "±2 %");
        assert_eq!(width(estimate(100.0, 85.4, 101.0)), "±15 %");
        assert_eq!(width(Some(Estimate { median: 1.0, low: None, high: None, n: 4 })), "n=4");
        assert_eq!((rate(None), width(None), gap(None)), ("-".into(), String::new(), "-".into()));
    }

    #[test]
    fn a_gap_says_when_it_cannot_be_told_from_zero() {
        assert_eq!(gap(estimate(212.0, 190.0, 230.0)), "+210 ns");
        assert_eq!(gap(estimate(-0.031, -0.04, -0.02)), "-0.031 ns");
        assert_eq!(gap(estimate(10.0, -21.0, 33.0)), "±30 ns");
    }
}
