//! neper: `key=value` a line, of tcp_rr, tcp_crr, tcp_stream and their like.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// The bits of a unit of its throughput: its binary ones have an i, or are spelt out.
const RATES: [(&str, f64); 20] = [
    ("bits/s", 1.0),
    ("10^3bits/s", 1e3),
    ("10^6bits/s", 1e6),
    ("10^9bits/s", 1e9),
    ("B/s", 8.0),
    ("KBytes/s", 8.0 * 1024.0),
    ("MBytes/s", 8.0 * 1_048_576.0),
    ("GBytes/s", 8.0 * 1_073_741_824.0),
    ("Kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("KB/s", 8e3),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
    ("Kibit/s", 1024.0),
    ("Mibit/s", 1_048_576.0),
    ("Gibit/s", 1_073_741_824.0),
    ("KiB/s", 8.0 * 1024.0),
    ("MiB/s", 8.0 * 1_048_576.0),
    ("GiB/s", 8.0 * 1_073_741_824.0),
];

/// What some of its versions write of transactions.
const TRANSACTIONS: [&str; 3] = ["trans/s", "transactions/s", "Trans/s"];

/// Keys that it has from its first line to its last.
const KEYS: [&str; 6] = [
    "num_transactions",
    "throughput",
    "correlation_coefficient",
    "time_start",
    "total_run_time",
    "test_length",
];

fn key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once('=')?;
    let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    is_key.then_some((key, value.trim()))
}

pub(super) fn recognises(text: &str) -> bool {
    let keys = text.lines().filter_map(key).filter(|(key, _)| KEYS.contains(key));
    let mut keys: Vec<&str> = keys.map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len() > 1
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    // Its version stands before all.
    line.starts_with("VERSION=") || key(line).is_some_and(|(key, _)| KEYS.contains(&key))
}

/// Its options come first in each run; without them a key that comes again.
pub(super) fn runs(text: &str) -> Vec<usize> {
    let (mut at, mut begins, mut is_over) = (0, vec![0], false);
    for line in text.split_inclusive('\n') {
        let name = key(line).map(|(key, _)| key);
        // What follows the throughput begins otherwise.
        let begins_again = ["VERSION", "percentiles", "all_samples", "total_run_time", "num_transactions"];
        if is_over && name.is_some_and(|name| begins_again.contains(&name)) {
            begins.push(at);
            is_over = false;
        }
        is_over |= name == Some("throughput");
        at += line.len();
    }
    begins
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let lines = lines(run)?;
    let mut draft = Draft::default();
    let value = |name: &str| {
        let line = lines.iter().rev().find(|line| key(&line.text).is_some_and(|(key, _)| key == name))?;
        key(&line.text).map(|(_, value)| (line, value))
    };
    let count = |name: &str, draft: &mut Draft| {
        let (line, word) = value(name)?;
        let count = line.number(word).and_then(|count| whole(count, &format!("line {}", line.number)));
        draft.keep(count)
    };
    let is_stream = value("num_transactions").is_none()
        && !value("throughput_units").is_some_and(|(_, unit)| TRANSACTIONS.contains(&unit));
    let shared = Shared {
        test: if is_stream { "stream".into() } else { "request/response".into() },
        pattern: is_stream.then_some(Pattern::Stream),
        flows: count("num_flows", &mut draft).and_then(|flows| u32::try_from(flows).ok()),
        message_bytes: if is_stream {
            count("buffer_size", &mut draft)
        } else {
            same_sizes(&count, &mut draft)
        },
        ..Shared::default()
    };
    for (name, key) in [("host", "host"), ("threads", "num_threads"), ("duration, s", "test_length")] {
        draft.fact(name, value(key).map(|(_, value)| value.to_owned()));
    }
    draft.version = value("VERSION").map(|(_, version)| version.into());
    let transactions = count("num_transactions", &mut draft);
    match value("throughput") {
        Some((line, word)) => {
            let unit = value("throughput_units").map(|(_, unit)| unit);
            throughput((line, word), unit, is_stream, &shared, &mut draft);
        }
        // The end that only sent knows what the other one read, in bits a second.
        None => match value("remote_throughput").filter(|(_, word)| is_stream && *word != "0") {
            Some((line, word)) => throughput((line, word), Some("bits/s"), true, &shared, &mut draft),
            None => draft.doubt("the line of its throughput is missing: neper was stopped before its end"),
        },
    }
    for line in &lines {
        let shared = Shared { line: Some(line.number), samples: transactions, ..shared.clone() };
        match key(&line.text) {
            Some((name, word)) if name.starts_with("latency_") => {
                latency(line, (name, word), &shared, &mut draft)
            }
            Some(("throughput" | "throughput_units" | "num_transactions" | "remote_throughput", _)) => (),
            Some((name, word)) => draft.unread(name.into(), word),
            None => line.is_unread(&mut draft),
        }
    }
    // Its server times nothing, and prints zeros.
    let is_timed = |row: &Imported| row.quantity == Quantity::RoundTrip;
    if draft.rows.iter().any(is_timed)
        && draft.rows.iter().filter(|row| is_timed(row)).all(|row| row.values.iter().all(|ns| *ns == 0.0))
    {
        draft.rows.retain(|row| !is_timed(row));
        draft.doubt("all its latencies are 0, as a server of neper prints them, which times nothing: they are left out");
    }
    draft.doubt("the file does not say whether it is of TCP or UDP");
    if !is_stream {
        draft.doubt("the file does not say whether each transaction had a connection of its own (tcp_crr)");
    }
    Ok(draft)
}

/// The size of a request, where that of its answer is the same.
fn same_sizes(count: &dyn Fn(&str, &mut Draft) -> Option<u64>, draft: &mut Draft) -> Option<u64> {
    let request = count("request_size", draft)?;
    count("response_size", draft).filter(|response| *response == request)
}

fn throughput(
    (line, word): (&Line, &str),
    unit: Option<&str>,
    is_stream: bool,
    shared: &Shared,
    draft: &mut Draft,
) {
    let Some(rate) = draft.keep(line.number(word)) else { return };
    let shared = Shared { line: Some(line.number), ..shared.clone() };
    let what = if is_stream { Quantity::Throughput } else { Quantity::TransactionRate };
    let scale = match (is_stream, unit) {
        (false, _) => Some(1.0),
        // It counts where it reads, and has had this unit where none was asked for.
        (true, None) => Some(1e6),
        (true, Some(unit)) => RATES.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale),
    };
    let Some(scale) = scale else {
        return draft.doubt(format!(
            "line {}: the unit {} is not known here",
            line.number,
            unit.unwrap_or_default()
        ));
    };
    if is_stream && unit.is_none() {
        draft.doubt("the file does not say the unit of its throughput: taken as Mbit/s");
    }
    let end = if is_stream { Does::Receives } else { Does::Pings };
    draft.add(shared.row((what, Statistic::Mean), (rate, scale), (Some(end), "throughput")));
}

/// The time of a transaction, in seconds.
fn latency(line: &Line, (name, word): (&str, &str), shared: &Shared, draft: &mut Draft) {
    let statistic = match name.trim_start_matches("latency_") {
        "min" => Statistic::Least,
        "max" => Statistic::Greatest,
        "mean" => Statistic::Mean,
        "stddev" => Statistic::Deviation,
        other => match other.strip_prefix('p').map(str::parse) {
            Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => Statistic::Percentile(percent),
            _ => return line.is_unread(draft),
        },
    };
    if let Some(seconds) = draft.keep(line.number(word)) {
        draft.add(shared.row((Quantity::RoundTrip, statistic), (seconds, 1e9), (Some(Does::Pings), name)));
    }
}
