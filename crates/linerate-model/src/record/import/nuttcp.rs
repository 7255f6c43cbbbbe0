//! nuttcp: its last line, which counts what the receiver got, the lines of `-i`, what `-v` says of each end, and the keys of
//! `-fparse`. Its MB are 2^20 bytes, its Mbps 10^6 bits.

use super::lines::{Line, lines};
use super::row::{Shared, number, row, whole};
use super::{Draft, Read, Run};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// The bits of a unit of its rates.
const RATES: [(&str, f64); 3] = [("Kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)];

/// What stands before the lines of `-v`, of the transmitter and of the receiver.
const ENDS: [(&str, Does); 2] = [("nuttcp-t", Does::Sends), ("nuttcp-r", Does::Receives)];

fn is_result(line: &str) -> bool {
    line.contains(" MB / ") && line.contains(" sec = ")
        || line.contains("megabytes=") && line.contains("rate_Mbps=")
}

/// Whether a line is of the whole test: those of its parts have no CPU.
fn is_whole(line: &str) -> bool {
    is_result(line) && (line.contains("%TX") || line.contains("tx_cpu="))
}

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(|line| is_result(line) || ENDS.iter().any(|(mark, _)| line.starts_with(mark)))
}

/// A run ends with its line of the whole test.
pub(super) fn runs(text: &str) -> Vec<usize> {
    let (mut at, mut begins, mut is_over) = (0, vec![0], false);
    for line in text.split_inclusive('\n') {
        if is_over && (is_result(line) || line.starts_with(ENDS[0].0)) {
            begins.push(at);
            is_over = false;
        }
        is_over |= is_whole(line);
        at += line.len();
    }
    begins
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let lines = lines(run)?;
    let mut draft = Draft::default();
    let shared = read_shared(&lines, &mut draft);
    let mut parts = Vec::new();
    let mut has_whole = false;
    for line in &lines {
        let shared = Shared { line: Some(line.number), ..shared.clone() };
        let text = line.text.as_str();
        let end = ENDS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, does)| *does);
        if let Some(end) = end {
            has_whole |= verbose(line, &shared, end, &mut draft);
        } else if is_whole(text) {
            has_whole = true;
            rate(line, &shared, Some(Does::Receives), &mut draft);
            beside(line, &shared, &mut draft);
        } else if is_result(text) {
            // Of `-frunningtotal` the sum so far stands behind.
            parts.extend(draft.keep(part(line, text.split(" Tot:").next().unwrap_or(text))).flatten());
        } else {
            line.is_unread(&mut draft);
        }
    }
    if !parts.is_empty() {
        draft.rows.push(slices(&parts, &shared));
    }
    if !has_whole {
        draft.doubt("the line of the whole test is missing: nuttcp was stopped before its end");
    }
    Ok(draft)
}

/// What is said of the test, for all rows.
fn read_shared(lines: &[Line], draft: &mut Draft) -> Shared {
    let any = |mark: &str| lines.iter().any(|line| line.text.contains(mark));
    let transport = match () {
        () if any("drop/pkt") || any(" drop=") || any(" udp ") => Some("UDP"),
        () if any("retrans") || any(" tcp") => Some("TCP"),
        () => None,
    };
    let mut shared = Shared {
        test: transport.unwrap_or("stream").into(),
        transport: transport.map(str::to_lowercase),
        pattern: Some(Pattern::Stream),
        ..Shared::default()
    };
    for line in lines.iter().filter(|line| line.text.contains("buflen=")) {
        let mut count = |mark: &str| {
            let count = line.find(mark, draft)?;
            draft.keep(whole(count, &format!("line {}", line.number)))
        };
        shared.message_bytes = count("buflen=");
        shared.flows = count("nstream=").and_then(|flows| u32::try_from(flows).ok());
    }
    let version = lines.iter().find_map(|line| line.text.split_once(": v")?.1.split(':').next());
    draft.version = version.map(String::from);
    shared
}

/// The rate of a line: of those of `-v` in `real seconds`.
fn rate(line: &Line, shared: &Shared, end: Option<Does>, draft: &mut Draft) {
    let Some(rate) = draft.keep(bps(line, &line.text)).flatten() else { return };
    let rate = shared.row((Quantity::Throughput, Statistic::Mean), (rate, 1.0), (end, "Mbps"));
    draft.add(rate);
}

/// The rate in a text, in bits a second.
fn bps(line: &Line, text: &str) -> Read<Option<f64>> {
    let place = format!("line {}", line.number);
    if let Some((_, rest)) = text.split_once("rate_Mbps=") {
        return number(rest.split_whitespace().next().unwrap_or_default(), &place)
            .map(|rate| Some(rate * 1e6));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let known = words.windows(2).rev().find_map(|pair| {
        let (_, scale) = RATES.iter().find(|(unit, _)| pair[1] == *unit)?;
        Some((pair[0], *scale))
    });
    known.map(|(rate, scale)| Ok(number(rate, &place)? * scale)).transpose()
}

/// The seconds and the rate of a part.
fn part(line: &Line, text: &str) -> Read<Option<(f64, f64)>> {
    let seconds = match text.split_once("real_sec=") {
        Some((_, rest)) => rest.split_whitespace().next(),
        None => text.split_once(" MB / ").and_then(|(_, rest)| rest.split_whitespace().next()),
    };
    let seconds = line.number(seconds.unwrap_or_default())?;
    Ok(bps(line, text)?.map(|rate| (seconds, rate)))
}

/// The rates of the parts; they follow each other without a gap.
fn slices(parts: &[(f64, f64)], shared: &Shared) -> Imported {
    let mut from = 0.0;
    let at_s = parts.iter().map(|(seconds, _)| {
        let slice = [from, from + seconds];
        from += seconds;
        slice
    });
    let at_s = at_s.collect();
    let rates = parts.iter().map(|(_, rate)| *rate).collect();
    let test = format!("{}, parts", shared.test);
    Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        message_bytes: shared.message_bytes,
        flows: shared.flows,
        end: Some(Does::Receives),
        at_s,
        ..row(&test, Quantity::Throughput, Statistic::Mean, rates, "Mbps")
    }
}

/// What stands beside the rate, as words before or behind their number.
fn beside(line: &Line, shared: &Shared, draft: &mut Draft) {
    type Beside = (&'static str, &'static str, Quantity, f64, Option<Does>);
    const BESIDE: [Beside; 4] = [
        (" %TX", "tx_cpu=", Quantity::CpuShare, 0.01, Some(Does::Sends)),
        (" %RX", "rx_cpu=", Quantity::CpuShare, 0.01, Some(Does::Receives)),
        (" retrans", "retrans=", Quantity::Retransmits, 1.0, Some(Does::Sends)),
        (" msRTT", "rtt_ms=", Quantity::RoundTrip, 1e6, None),
    ];
    for (behind, before, quantity, scale, end) in BESIDE {
        let word = match line.text.split_once(before) {
            Some((_, rest)) => rest.split_whitespace().next(),
            None => line.text.split_once(behind).and_then(|(rest, _)| rest.split_whitespace().last()),
        };
        let Some(value) = word.and_then(|word| draft.keep(line.number(word))) else { continue };
        let is_total = quantity == Quantity::Retransmits;
        let statistic = if is_total { Statistic::Total } else { Statistic::Mean };
        let test = if quantity == Quantity::RoundTrip { "round trip as it connects" } else { &shared.test };
        let shared = Shared { test: test.into(), ..shared.clone() };
        draft.add(shared.row((quantity, statistic), (value, scale), (end, behind.trim())));
    }
    lost(line, shared, draft);
}

/// `0 / 763 drop/pkt`, or `drop=0 pkt=763`.
fn lost(line: &Line, shared: &Shared, draft: &mut Draft) {
    let counts = match line.text.split_once("drop=") {
        Some((_, rest)) => rest
            .split_once(" pkt=")
            .map(|(drop, rest)| (drop, rest.split_whitespace().next().unwrap_or_default())),
        None => line.text.split_once(" drop/pkt").and_then(|(rest, _)| {
            let (before, all) = rest.rsplit_once(" / ")?;
            Some((before.split_whitespace().last()?, all))
        }),
    };
    let Some((drop, all)) = counts else { return };
    let (drop, all) = (draft.keep(line.number(drop.trim())), draft.keep(line.number(all.trim())));
    if let (Some(drop), Some(all)) = (drop, all)
        && all > 0.0
    {
        let with = |row: Imported| Imported { samples: Some(all as u64), ..row };
        let receives = Some(Does::Receives);
        let lost = shared.row((Quantity::Lost, Statistic::Total), (drop, 1.0), (receives, "drop/pkt"));
        draft.add(lost.map(with));
        let share =
            shared.row((Quantity::LostShare, Statistic::Mean), (drop / all, 1.0), (receives, "drop/pkt"));
        draft.add(share.map(with));
    }
}

/// A line of `-v`: whether it is the rate of an end.
fn verbose(line: &Line, shared: &Shared, end: Does, draft: &mut Draft) -> bool {
    let text = line.text.as_str();
    if text.contains(" real seconds = ") || text.contains("real_seconds=") {
        rate(line, shared, Some(end), draft);
        return true;
    }
    let retransmits = line.text.split_once("retrans = ").or(line.text.split_once("retrans="));
    if let Some((_, rest)) = retransmits {
        let word = rest.split_whitespace().next().unwrap_or_default();
        if let Some(count) = draft.keep(line.number(word)) {
            let what = (Quantity::Retransmits, Statistic::Total);
            draft.add(shared.row(what, (count, 1.0), (Some(Does::Sends), "retrans")));
        }
        return false;
    }
    if text.contains(" drop/pkt") {
        lost(line, shared, draft);
    } else if !text.contains("buflen=") {
        line.is_unread(draft);
    }
    false
}
