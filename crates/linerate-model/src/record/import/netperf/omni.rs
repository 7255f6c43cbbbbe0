//! The keywords (`-k`) and the CSV (`-o`) of netperf's omni test, with whichever of them were asked for.

use super::super::Draft;
use super::super::lines::Line;
use super::super::row::{Shared, number, whole};
use super::{BANNER, RATES, reached, read_banner};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use std::collections::BTreeMap;

/// What the CSV calls a keyword.
const NAMES: [(&str, &str); 24] = [
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
    ("Throughput Confidence Width (%)", "THROUGHPUT_CONFID"),
    ("Confidence Level Percent", "CONFIDENCE_LEVEL"),
    ("Confidence Width Target", "CONFIDENCE_INTERVAL"),
    ("Confidence Iterations Run", "CONFIDENCE_ITERATION"),
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
const READ: [&str; 7] = [
    "THROUGHPUT",
    "THROUGHPUT_UNITS",
    "PROTOCOL",
    "LOCAL_SEND_SIZE",
    "REQUEST_SIZE",
    "THROUGHPUT_CONFID",
    "CONFIDENCE_ITERATION",
];

/// What is told and no number.
const FACTS: [&str; 5] =
    ["ELAPSED_TIME", "DIRECTION", "COMMAND_LINE", "CONFIDENCE_LEVEL", "CONFIDENCE_INTERVAL"];

/// The words of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|field| field.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Whether a line has the names of columns.
fn is_heads(line: &str) -> bool {
    // One name tells, where it is no word of a sentence.
    NAMES.iter().any(|(name, _)| line.contains(name))
        && fields(line).iter().any(|field| NAMES.iter().any(|(name, _)| name == field))
}

/// The keyword and the value of a line that has one.
fn keyword(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once('=')?;
    let is_key = |key: &str| {
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    is_key(key).then_some((key, value.trim()))
}

fn is_keyword(line: &str) -> bool {
    keyword(line).is_some_and(|(key, _)| NAMES.iter().any(|(_, known)| *known == key))
}

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(|line| is_keyword(line) || is_heads(line))
}

type Test = BTreeMap<String, String>;

pub(super) fn read(lines: &[Line], draft: &mut Draft) {
    let banner = lines.iter().find(|line| line.text.contains(BANNER));
    let shared = banner.map_or_else(Shared::default, |banner| read_banner(banner, draft));
    let is_keywords = lines.iter().any(|line| is_keyword(&line.text));
    let tests = if is_keywords { keywords(lines, draft) } else { table(lines, draft) };
    for test in tests {
        read_test(&test, &shared, draft);
    }
}

/// `KEY=VALUE` a line; a keyword that comes again begins another test.
fn keywords(lines: &[Line], draft: &mut Draft) -> Vec<Test> {
    let mut tests = vec![Test::new()];
    for line in lines {
        match keyword(&line.text) {
            Some((key, value)) => {
                if tests.last().is_some_and(|test| test.contains_key(key)) {
                    tests.push(Test::new());
                }
                tests.last_mut().map(|test| test.insert(key.to_owned(), value.to_owned()));
            }
            None if line.text.contains(BANNER) => (),
            None => line.is_unread(draft),
        }
    }
    tests
}

/// A line of names, and the lines of values up to the next one.
fn table(lines: &[Line], draft: &mut Draft) -> Vec<Test> {
    let key = |head: String| {
        let known = NAMES.iter().find(|(name, _)| *name == head);
        known.map_or(head, |(_, key)| (*key).to_owned())
    };
    let (mut heads, mut tests) = (Vec::new(), Vec::new());
    for line in lines {
        if line.text.contains(BANNER) {
            heads.clear();
        } else if is_heads(&line.text) {
            heads = fields(&line.text).into_iter().map(key).collect();
        } else if heads.is_empty() {
            line.is_unread(draft);
        } else {
            let values = fields(&line.text);
            if values.len() == heads.len() {
                tests.push(heads.iter().cloned().zip(values).collect());
            } else {
                draft.doubt(format!(
                    "line {} is no line of its table, and left out: {}",
                    line.number, line.text
                ));
                line.is_unread(draft);
            }
        }
    }
    tests
}

/// The numbers of one test.
fn read_test(test: &Test, shared: &Shared, draft: &mut Draft) {
    let text = |key: &str| test.get(key).filter(|value| !value.is_empty());
    // What it did not measure it writes as -1.
    let value = |key: &str, draft: &mut Draft| {
        let word = text(key).filter(|value| value.parse() != Ok(-1.0))?;
        draft.keep(number(word, key))
    };
    let size = |key: &str, draft: &mut Draft| {
        let size = value(key, draft)?;
        draft.keep(whole(size, key))
    };
    let protocol = text("PROTOCOL").map(|name| name.to_lowercase());
    let way = text("DIRECTION").map(|way| way.to_lowercase());
    let is_stream = way.as_deref().is_some_and(|way| ["send", "recv"].contains(&way));
    let of_way = if is_stream { "LOCAL_SEND_SIZE" } else { "REQUEST_SIZE" };
    let shared = Shared {
        test: if shared.test.is_empty() { "omni".into() } else { shared.test.clone() },
        transport: protocol.or(shared.transport.clone()).filter(|name| name != "omni"),
        pattern: if is_stream { Some(Pattern::Stream) } else { shared.pattern },
        message_bytes: size(of_way, draft).filter(|size| *size > 0),
        samples: size("CONFIDENCE_ITERATION", draft).filter(|count| *count > 1),
        ..shared.clone()
    };
    throughput(value("THROUGHPUT", draft), text("THROUGHPUT_UNITS"), &shared, draft);
    for (key, quantity, statistic, scale) in NUMBERS {
        if let Some(number) = value(key, draft) {
            // Latencies are of single transactions, however many runs there were.
            let shared = Shared { samples: None, ..shared.clone() };
            draft.add(shared.row((quantity, statistic), (number, scale), (None, key)));
        }
    }
    if let Some(percent) = value("THROUGHPUT_CONFID", draft) {
        reached(percent, &shared, "THROUGHPUT_CONFID", draft);
    }
    for (key, value) in test {
        let known = NUMBERS.iter().any(|(name, ..)| name == key) || READ.contains(&key.as_str());
        if FACTS.contains(&key.as_str()) {
            draft.fact(&key.to_lowercase().replace('_', " "), Some(value.clone()));
        } else if !known {
            draft.unread(key.clone(), value);
        }
    }
}

/// The throughput, in whichever unit the test has it.
fn throughput(number: Option<f64>, unit: Option<&String>, shared: &Shared, draft: &mut Draft) {
    let Some(number) = number else { return };
    let Some(unit) = unit else {
        return draft
            .doubt("THROUGHPUT has no unit beside it, and is left out: ask for THROUGHPUT_UNITS too");
    };
    let rate = RATES.iter().find(|(name, _)| unit.starts_with(name));
    let (quantity, scale, end) = match rate {
        Some((_, scale)) => (Quantity::Throughput, *scale, None),
        None if unit.starts_with("Trans/s") => (Quantity::TransactionRate, 1.0, Some(Does::Pings)),
        None => return draft.doubt(format!("`{unit}` is no unit of a throughput that is known here")),
    };
    draft.add(shared.row((quantity, Statistic::Mean), (number, scale), (end, "THROUGHPUT")));
}
