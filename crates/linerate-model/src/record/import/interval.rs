//! Lines of iperf, of 2 and of 3: `[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0    409 KBytes`. Its bits are
//! of 1000 and its bytes of 1024.

use super::lines::Line;
use super::row::{Shared, number, row};
use super::{Draft, Read, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Quantity, Statistic};

/// What stands in one.
#[derive(Debug, Clone)]
pub(super) struct Interval {
    pub line: u64,
    /// The number of its stream, or SUM.
    pub id: String,
    /// `TX-C` and the like, with `--bidir`.
    pub role: String,
    pub from: f64,
    pub to: f64,
    pub bps: f64,
    /// What follows the rate.
    pub rest: String,
}

/// A unit of a rate, in bits.
const RATES: [(&str, f64); 10] = [
    ("bits", 1.0),
    ("Kbits", 1e3),
    ("Mbits", 1e6),
    ("Gbits", 1e9),
    ("Tbits", 1e12),
    ("Bytes", 8.0),
    ("KBytes", 8.0 * 1024.0),
    ("MBytes", 8.0 * 1_048_576.0),
    ("GBytes", 8.0 * 1_073_741_824.0),
    ("TBytes", 8.0 * 1_099_511_627_776.0),
];

/// Whether a line alone looks like one.
pub(super) fn is_line(text: &str) -> bool {
    let rest = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    rest.and_then(|(_, rest)| rest.split_once(" sec "))
        .is_some_and(|(times, rest)| times.contains('-') && rest.contains("Bytes") && rest.contains("/sec"))
}

impl Interval {
    /// The interval that a line is; none where it is another line. What stands before the bracket is a time or a title.
    pub fn from_line(line: &Line) -> Option<Read<Interval>> {
        let (id, rest) = line.text.split_once('[')?.1.split_once(']')?;
        let (role, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let (times, rest) = rest.split_once(" sec ")?;
        let (from, to) = times.split_once('-')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [_, moved, rate, unit, more @ ..] = words.as_slice() else { return None };
        if !moved.ends_with("Bytes") || !unit.ends_with("/sec") {
            return None;
        }
        let place = format!("line {}", line.number);
        let read = || {
            let known = RATES.iter().find(|(name, _)| unit.strip_suffix("/sec") == Some(name));
            let Some((_, scale)) = known else {
                return refuse(
                    format!("{place}: `{}` is no unit that is known here", super::short(unit)),
                    "",
                );
            };
            Ok(Interval {
                line: line.number,
                id: id.trim().to_owned(),
                role: role.trim().to_owned(),
                from: number(from.trim(), &place)?,
                to: number(to.trim(), &place)?,
                bps: number(rate, &place)? * scale,
                rest: more.join(" "),
            })
        };
        Some(read())
    }

    /// `SUM`, and `SUM-2` where iperf 2 tells of how many streams.
    pub fn is_sum(&self) -> bool {
        let id = self.id.trim_start_matches('*');
        id == "SUM" || id.starts_with("SUM-")
    }

    /// Whether it begins with a delay's variation, as a receiver of datagrams says it: `0.002 ms  0/382`. A stream's latencies
    /// in iperf 2 stand as `1.2/0.9/3.1/0.2 ms`, its round trips as `31=0.1/0.2 ms`.
    pub fn is_of_datagrams(&self) -> bool {
        let mut words = self.rest.split_whitespace();
        let is_number = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
        is_number && words.next() == Some("ms") && self.rest.contains('/')
    }

    /// What a receiver of datagrams says: `0.002 ms  0/382 (0%)`, in iperf 2 also `0/  382`.
    pub fn datagrams(&self, shared: &Shared, draft: &mut Draft) {
        let Some((jitter, lost)) = self.rest.split_once(" ms").filter(|_| self.is_of_datagrams()) else {
            return;
        };
        let place = format!("line {}", self.line);
        let shared = Shared { line: Some(self.line), ..shared.clone() };
        let receives = Some(Does::Receives);
        let lost: String = lost.split('(').next().unwrap_or_default().split_whitespace().collect();
        let counts = lost.split_once('/').map(|(lost, all)| (number(lost, &place), number(all, &place)));
        let (lost, all) = match counts {
            Some((Ok(lost), Ok(all))) if all > 0.0 && lost <= all => (lost, all),
            // Nothing is known of their delay either.
            Some((Ok(_), Ok(0.0))) => return draft.doubt(format!("{place}: no datagram came")),
            Some((Ok(_), Ok(_))) => return,
            _ => return draft.doubt(format!("{place}: how many datagrams were lost cannot be read")),
        };
        let with = |row: Imported| Imported { samples: Some(all as u64), ..row };
        let jitter = number(jitter.rsplit(' ').next().unwrap_or_default(), &place);
        if let Some(jitter) = draft.keep(jitter) {
            let row = shared.row((Quantity::Jitter, Statistic::Mean), (jitter, 1e6), (receives, "Jitter"));
            draft.add(row.map(with));
        }
        let row = shared.row((Quantity::Lost, Statistic::Total), (lost, 1.0), (receives, "Lost/Total"));
        draft.add(row.map(with));
        let row =
            shared.row((Quantity::LostShare, Statistic::Mean), (lost / all, 1.0), (receives, "Lost/Total"));
        draft.add(row.map(with));
    }
}

/// The line of all streams: the only one's, else that of their sum. A sum over one stream is of others too, whose lines are
/// not here.
pub(super) fn whole_of<'i>(intervals: &[&'i Interval]) -> Option<&'i Interval> {
    let mut streams = intervals.iter().filter(|one| !one.is_sum());
    match (streams.next(), streams.next()) {
        (Some(only), None) => Some(only),
        _ => intervals.iter().rfind(|one| one.is_sum()).copied(),
    }
}

/// The rates over the whole test: of all streams together, and of each.
pub(super) fn totals(intervals: &[&Interval], shared: &Shared, end: Option<Does>, draft: &mut Draft) {
    let streams: Vec<&Interval> = intervals.iter().copied().filter(|one| !one.is_sum()).collect();
    let flows = u32::try_from(streams.len()).ok().filter(|flows| *flows > 0);
    let shared = Shared { flows: flows.or(shared.flows), ..shared.clone() };
    let mean = (Quantity::Throughput, Statistic::Mean);
    let whole = whole_of(intervals);
    if let Some(whole) = whole {
        let shared = Shared { line: Some(whole.line), ..shared.clone() };
        draft.add(shared.row(mean, (whole.bps, 1.0), (end, "Bitrate")));
        whole.datagrams(&shared, draft);
    }
    if streams.len() > 1 {
        if whole.is_none() {
            draft.doubt("the sum over all streams is missing");
        }
        let rates = streams.iter().map(|one| one.bps).collect();
        let test = format!("{}, each stream", shared.test);
        draft.rows.push(Imported { end, line: Some(streams[0].line), ..several(&test, &shared, rates) });
    }
}

/// The rates of the parts of the test, of all streams together; of several without their sum nothing.
pub(super) fn parts(intervals: &[&Interval], shared: &Shared, end: Option<Does>, draft: &mut Draft) {
    let sums: Vec<&Interval> = intervals.iter().copied().filter(|one| one.is_sum()).collect();
    let first = intervals.first().map(|one| one.id.clone());
    let mut parts = if sums.is_empty() { intervals.to_vec() } else { sums };
    // A run that broke off has its last part twice.
    parts.dedup_by_key(|one| (one.id.clone(), one.from.to_bits(), one.to.to_bits()));
    if parts.is_empty() || !parts[0].is_sum() && parts.iter().any(|one| Some(&one.id) != first.as_ref()) {
        return;
    }
    let at_s = parts.iter().map(|one| [one.from, one.to]).collect();
    let rates = parts.iter().map(|one| one.bps).collect();
    let test = format!("{}, parts", shared.test);
    draft.rows.push(Imported { end, at_s, line: Some(parts[0].line), ..several(&test, shared, rates) });
}

fn several(test: &str, shared: &Shared, rates: Vec<f64>) -> Imported {
    Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        message_bytes: shared.message_bytes,
        flows: shared.flows,
        ..row(test, Quantity::Throughput, Statistic::Mean, rates, "Bitrate")
    }
}
