//! The keywords (`-k`) and the CSV (`-o`) of netperf's omni test.

use super::super::lines::Line;
use super::super::row::{Shared, number, whole};
use super::super::{Draft, Read, refuse};
use super::{BANNER, RATES, told};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use std::collections::BTreeMap;

/// What the CSV calls a keyword.
const NAMES: [(&str, &str); 20] = [
    ("Throughput", "THROUGHPUT"),
    ("Throughput Units", "THROUGHPUT_UNITS"),
    ("Elapsed Time (sec)", "ELAPSED_TIME"),
    ("Protocol", "PROTOCOL"),
    ("Direction", "DIRECTION"),
    ("Local Send Size", "LOCAL_SEND_SIZE"),
    ("Remote Send Size", "REMOTE_SEND_SIZE"),
    ("Request Size Bytes", "REQUEST_SIZE"),
    ("Response Size Bytes", "RESPONSE_SIZE"),
    ("Transaction Rate Tran/s", "TRANSACTION_RATE"),
    ("Round Trip Latency usec/tran", "RT_LATENCY"),
    ("Minimum Latency Microseconds", "MIN_LATENCY"),
    ("Maximum Latency Microseconds", "MAX_LATENCY"),
    ("50th Percentile Latency Microseconds", "P50_LATENCY"),
    ("90th Percentile Latency Microseconds", "P90_LATENCY"),
    ("99th Percentile Latency Microseconds", "P99_LATENCY"),
    ("Mean Latency Microseconds", "MEAN_LATENCY"),
    ("Stddev Latency Microseconds", "STDDEV_LATENCY"),
    ("Local Transport Retransmissions", "LOCAL_TRANSPORT_RETRANS"),
    ("Command Line", "COMMAND_LINE"),
];

/// Numbers beside the throughput: the keyword, what it is, what one of its units is in ours.
const NUMBERS: [(&str, Quantity, Statistic, f64); 10] = [
    ("TRANSACTION_RATE", Quantity::TransactionRate, Statistic::Mean, 1.0),
    ("RT_LATENCY", Quantity::RoundTrip, Statistic::Mean, 1e3),
    ("MEAN_LATENCY", Quantity::RoundTrip, Statistic::Mean, 1e3),
    ("STDDEV_LATENCY", Quantity::RoundTrip, Statistic::Deviation, 1e3),
    ("MIN_LATENCY", Quantity::RoundTrip, Statistic::Least, 1e3),
    ("MAX_LATENCY", Quantity::RoundTrip, Statistic::Greatest, 1e3),
    ("P50_LATENCY", Quantity::RoundTrip, Statistic::Percentile(50.0), 1e3),
    ("P90_LATENCY", Quantity::RoundTrip, Statistic::Percentile(90.0), 1e3),
    ("P99_LATENCY", Quantity::RoundTrip, Statistic::Percentile(99.0), 1e3),
    ("LOCAL_TRANSPORT_RETRANS", Quantity::Retransmits, Statistic::Total, 1.0),
];

/// What else is read.
const READ: [&str; 5] = ["THROUGHPUT", "THROUGHPUT_UNITS", "PROTOCOL", "LOCAL_SEND_SIZE", "REQUEST_SIZE"];

/// What is told and no number.
const FACTS: [&str; 3] = ["ELAPSED_TIME", "DIRECTION", "COMMAND_LINE"];

pub(super) fn recognises(text: &str) -> bool {
    let is_csv = |line: &str| line.split(',').any(|name| name.trim() == "Throughput Units");
    text.lines().any(|line| line.trim_start().starts_with("THROUGHPUT=") || is_csv(line))
}

pub(super) fn read(text: &str, lines: &[Line], draft: &mut Draft) -> Read<()> {
    let banner = lines.iter().find(|line| line.text.contains(BANNER));
    let shared = banner.map_or_else(Shared::default, |banner| told(banner, draft));
    let is_keywords = lines.iter().any(|line| line.text.starts_with("THROUGHPUT="));
    let tests = if is_keywords { keywords(lines, draft) } else { table(text)? };
    for test in tests {
        one(&test, &shared, draft)?;
    }
    Ok(())
}

/// `KEY=VALUE` a line; a keyword that comes again begins another test.
fn keywords(lines: &[Line], draft: &mut Draft) -> Vec<BTreeMap<String, String>> {
    let mut tests = vec![BTreeMap::new()];
    for line in lines {
        let is_key = |key: &str| {
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        };
        match line.text.split_once('=').filter(|(key, _)| is_key(key)) {
            Some((key, value)) => {
                if tests.last().is_some_and(|test| test.contains_key(key)) {
                    tests.push(BTreeMap::new());
                }
                tests.last_mut().map(|test| test.insert(key.to_owned(), value.trim().to_owned()));
            }
            None if line.text.contains(BANNER) => (),
            None => line.is_unread(draft),
        }
    }
    tests
}

/// The line of names and the lines of values.
fn table(text: &str) -> Read<Vec<BTreeMap<String, String>>> {
    let rows: Vec<&str> = text.lines().filter(|line| !line.contains(BANNER) && line.contains(',')).collect();
    let joined = rows.join("\n");
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).has_headers(true).from_reader(joined.as_bytes());
    let unreadable = |error: csv::Error| super::super::Refusal {
        what: format!("it is no CSV: {error}"),
        hint: "give what netperf -t omni -- -o printed".into(),
    };
    let heads = reader.headers().map_err(unreadable)?.clone();
    let name = |head: &str| {
        let known = NAMES.iter().find(|(name, _)| *name == head.trim());
        known.map_or_else(|| head.trim().to_owned(), |(_, key)| (*key).to_owned())
    };
    let mut tests = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        if record.len() == heads.len() {
            tests.push(
                heads.iter().map(name).zip(record.iter().map(|value| value.trim().to_owned())).collect(),
            );
        }
    }
    if tests.is_empty() {
        return refuse(
            "no line has as many values as there are names",
            "give what netperf -t omni -- -o printed",
        );
    }
    Ok(tests)
}

/// The numbers of one test.
fn one(test: &BTreeMap<String, String>, shared: &Shared, draft: &mut Draft) -> Read<()> {
    let text = |key: &str| test.get(key).filter(|value| !value.is_empty());
    // What it did not measure it writes as -1.
    let value = |key: &str| match text(key).filter(|value| value.parse() != Ok(-1.0)) {
        Some(word) => number(word, key).map(Some),
        None => Ok(None),
    };
    let size = |key: &str| value(key)?.map(|value| whole(value, key)).transpose();
    let protocol = text("PROTOCOL").map(|name| name.to_lowercase());
    let sends = text("DIRECTION").map(|way| way.as_str());
    let request = size("REQUEST_SIZE")?;
    let is_stream =
        sends.is_some_and(|way| way.eq_ignore_ascii_case("send") || way.eq_ignore_ascii_case("recv"));
    let shared = Shared {
        test: if shared.test.is_empty() { "omni".into() } else { shared.test.clone() },
        transport: protocol.or(shared.transport.clone()).filter(|name| name != "omni"),
        pattern: if is_stream { Some(Pattern::Stream) } else { shared.pattern },
        message_bytes: if is_stream { size("LOCAL_SEND_SIZE")? } else { request.filter(|size| *size > 0) },
        ..shared.clone()
    };
    if let (Some(number), Some(unit)) = (value("THROUGHPUT")?, text("THROUGHPUT_UNITS")) {
        let rate = RATES.iter().find(|(name, _)| unit.starts_with(name));
        let row = match rate {
            Some((_, scale)) => {
                shared.row((Quantity::Throughput, Statistic::Mean), (number, *scale), (None, "THROUGHPUT"))?
            }
            None if unit.starts_with("Trans/s") => {
                let what = (Quantity::TransactionRate, Statistic::Mean);
                shared.row(what, (number, 1.0), (Some(Does::Pings), "THROUGHPUT"))?
            }
            None => {
                return refuse(
                    format!("`{}` is no unit that is known here", super::super::short(unit)),
                    "let netperf choose its unit",
                );
            }
        };
        draft.rows.push(row);
    }
    for (key, quantity, statistic, scale) in NUMBERS {
        if let Some(number) = value(key)? {
            draft.rows.push(shared.row((quantity, statistic), (number, scale), (None, key))?);
        }
    }
    for (key, value) in test {
        let known = NUMBERS.iter().any(|(name, ..)| name == key) || READ.contains(&key.as_str());
        if FACTS.contains(&key.as_str()) {
            draft.fact(&key.to_lowercase().replace('_', " "), Some(value.clone()));
        } else if !known {
            draft.unread(key.clone(), value);
        }
    }
    Ok(())
}
