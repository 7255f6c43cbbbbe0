//! qperf: a test's name, then its numbers, each with its unit.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// What its numbers are: the name, what it is of, whose it is.
const NUMBERS: [(&str, Quantity, Option<Does>); 7] = [
    ("latency", Quantity::HalfRoundTrip, Some(Does::Pings)),
    ("bw", Quantity::Throughput, Some(Does::Receives)),
    ("recv_bw", Quantity::Throughput, Some(Does::Receives)),
    ("send_bw", Quantity::Throughput, Some(Does::Sends)),
    ("msg_rate", Quantity::MessageRate, None),
    ("send_cpus_used", Quantity::CpuShare, Some(Does::Sends)),
    ("recv_cpus_used", Quantity::CpuShare, Some(Does::Receives)),
];

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(begins)
        && text.lines().any(|line| {
            line.starts_with("    ") && NUMBERS.iter().any(|(name, ..)| line.trim_start().starts_with(name))
        })
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    line.strip_suffix(':')
        .is_some_and(|name| name.contains('_') && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let lines = lines(run)?;
    for test in lines.chunk_by(|_, next| !next.text.ends_with(':')) {
        match test {
            [head, rest @ ..] if head.text.ends_with(':') => {
                read_test(head.text.trim_end_matches(':'), rest, &mut draft);
            }
            other => other.iter().for_each(|line| line.is_unread(&mut draft)),
        }
    }
    if draft.rows.iter().any(|row| row.message_bytes.is_none()) {
        draft.doubt("the file does not say the size of a message: qperf -vvu does");
    }
    draft.doubt("numbers have the digits that qperf prints, three unless it was asked for more");
    Ok(draft)
}

fn read_test(name: &str, lines: &[Line], draft: &mut Draft) {
    let pair = |line: &Line| {
        line.text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
    };
    if name == "conf" {
        for (key, value) in lines.iter().filter_map(pair) {
            draft.fact(&key, Some(value));
        }
        draft.version = draft.facts.get("loc_qperf").cloned();
        return;
    }
    let mut shared = Shared {
        test: name.into(),
        transport: name.split('_').next().map(String::from),
        pattern: match name.rsplit('_').next() {
            Some("lat") => Some(Pattern::PingPong),
            Some("bw") if name.contains("_bi_") => Some(Pattern::Bidirectional),
            Some("bw") => Some(Pattern::Stream),
            _ => None,
        },
        ..Shared::default()
    };
    for line in lines {
        if let Some((key, value)) = pair(line)
            && key == "msg_size"
        {
            let size = size(line, &value).and_then(|size| whole(size, &format!("line {}", line.number)));
            shared.message_bytes = draft.keep(size);
        }
    }
    for line in lines {
        let known = pair(line).and_then(|(key, value)| {
            let number = NUMBERS.iter().find(|(name, ..)| *name == key)?;
            Some((number, value))
        });
        match known {
            Some(((field, quantity, end), value)) => {
                let shared = Shared { line: Some(line.number), ..shared.clone() };
                draft.add(read_value(line, &value, &shared, (*quantity, *end, field)));
            }
            None if pair(line).is_some_and(|(key, _)| key == "msg_size") => (),
            None => line.is_unread(draft),
        }
    }
}

fn read_value(
    line: &Line,
    text: &str,
    shared: &Shared,
    (quantity, end, field): (Quantity, Option<Does>, &str),
) -> Read<Imported> {
    const UNITS: [(Quantity, &[(&str, f64)]); 4] = [
        (Quantity::HalfRoundTrip, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("sec", 1e9)]),
        (
            Quantity::Throughput,
            &[
                ("bytes/sec", 8.0),
                ("KB/sec", 8e3),
                ("MB/sec", 8e6),
                ("GB/sec", 8e9),
                ("TB/sec", 8e12),
                ("bits/sec", 1.0),
                ("Kb/sec", 1e3),
                ("Mb/sec", 1e6),
                ("Gb/sec", 1e9),
                ("Tb/sec", 1e12),
            ],
        ),
        (Quantity::MessageRate, &[("/sec", 1.0), ("K/sec", 1e3), ("M/sec", 1e6), ("G/sec", 1e9)]),
        (Quantity::CpuShare, &[("% cpus", 0.01), ("%", 0.01)]),
    ];
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let unit = unit.trim();
    let known = UNITS.iter().find(|(of, _)| *of == quantity).map_or(&[][..], |(_, units)| units);
    let Some((_, scale)) = known.iter().find(|(name, _)| *name == unit) else {
        return refuse(
            format!(
                "line {}: `{}` is no unit of {field} that is known here",
                line.number,
                super::short(unit)
            ),
            "run qperf without options that change its units",
        );
    };
    let value = line.number(&number.replace(',', ""))?;
    shared.row((quantity, Statistic::Mean), (value, *scale), (end, field))
}

/// `1 bytes`, `64 KB`, or with the exact number behind it: `64 KiB (65,536)`.
fn size(line: &Line, text: &str) -> Read<f64> {
    if let Some((_, exact)) = text.split_once('(') {
        return line.number(&exact.trim_end_matches(')').replace(',', ""));
    }
    let (number, unit) = text.split_once(' ').unwrap_or((text, "bytes"));
    let scale = match unit.trim() {
        "bytes" | "byte" => 1.0,
        "KB" => 1e3,
        "KiB" => 1024.0,
        "MB" => 1e6,
        "MiB" => 1_048_576.0,
        "GB" => 1e9,
        "GiB" => 1_073_741_824.0,
        other => {
            let what = format!("line {}: `{}` is no unit of a size", line.number, super::short(other));
            return refuse(what, "run qperf without options that change its units");
        }
    };
    Ok(line.number(&number.replace(',', ""))? * scale)
}
