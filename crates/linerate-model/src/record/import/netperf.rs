//! netperf: its tables below their banner, with the parts that `-D` prints, and in [`omni`] the forms of its `omni` test.

mod omni;

use super::lines::{Line, lines};
use super::row::{Shared, row, sound, whole};
use super::{Draft, Read, Run, refuse};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

/// What stands in every banner.
const BANNER: &str = " TEST from ";

/// Its units of a rate, in bits; the bytes of its Mega are 2^20.
const RATES: [(&str, f64); 7] = [
    ("10^3bits/s", 1e3),
    ("10^6bits/s", 1e6),
    ("10^9bits/s", 1e9),
    ("KBytes/s", 8.0 * 1024.0),
    ("MBytes/s", 8.0 * 1_048_576.0),
    ("GBytes/s", 8.0 * 1_073_741_824.0),
    ("bytes/s", 8.0),
];

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(|line| line.contains(BANNER)) || omni::recognises(text)
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let lines = lines(run)?;
    let mut draft = Draft::default();
    if omni::recognises(run.text) {
        omni::read(&lines, &mut draft);
        return Ok(draft);
    }
    if !lines.iter().any(|line| line.text.contains(BANNER)) {
        return refuse(
            "it has no banner that tells what its columns are",
            "run netperf without -P 0, or with the keywords of the omni test: netperf -t omni -- -k all",
        );
    }
    for test in lines.chunk_by(|_, next| !next.text.contains(BANNER)) {
        match test {
            [banner, rest @ ..] if banner.text.contains(BANNER) => table(banner, rest, &mut draft),
            other => other.iter().for_each(|line| line.is_unread(&mut draft)),
        }
    }
    Ok(draft)
}

/// One test: its banner, the names of its columns, its numbers.
fn table(banner: &Line, lines: &[Line], draft: &mut Draft) {
    let shared = read_banner(banner, draft);
    let (heads, rest): (Vec<&Line>, Vec<&Line>) =
        lines.iter().partition(|line| !line.is_row() && !line.text.starts_with("Interim"));
    let (parts, rows): (Vec<&Line>, Vec<&Line>) =
        rest.into_iter().partition(|line| line.text.starts_with("Interim"));
    let words = heads.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
    let scale = unit(&words.replace(" /", "/"));
    for line in &heads {
        confidence(line, &shared, draft);
    }
    match rows.as_slice() {
        [] => {
            draft.doubt(format!("line {}: this test has no result", banner.number));
            heads.iter().for_each(|line| line.is_unread(draft));
        }
        [first, rest @ ..] => {
            let read = numbers(first, rest, &shared, scale, draft);
            if draft.keep(read).is_none() {
                first.is_unread(draft);
            }
        }
    }
    interim(&parts, &shared, scale, draft);
}

/// What netperf says where it did not reach the confidence that was asked for.
fn confidence(line: &Line, shared: &Shared, draft: &mut Draft) {
    if line.text.contains("Desired confidence was not achieved") {
        draft.doubt("netperf did not reach the confidence that it was asked for");
    } else if line.text.starts_with("!!!")
        && line.text.contains("Throughput")
        && let Some((_, width)) = line.text.rsplit_once(':')
    {
        if let Some(percent) = draft.keep(line.number(width.trim().trim_end_matches('%'))) {
            let shared = Shared { line: Some(line.number), ..shared.clone() };
            reached(percent, &shared, "Confidence intervals: Throughput", draft);
        }
    } else if line.text.contains("WARNING") && !line.text.starts_with("!!!") {
        draft.doubt(format!("line {} warns: {}", line.number, line.text));
    }
}

/// The width of the interval of the throughput, in per cent of it.
fn reached(percent: f64, shared: &Shared, field: &str, draft: &mut Draft) {
    let what = (Quantity::IntervalWidth, Statistic::Mean);
    draft.add(shared.row(what, (percent, 0.01), (None, field)));
    draft.doubt(format!("the interval of its throughput is {percent} % of it wide"));
}

/// What a banner tells.
fn read_banner(banner: &Line, draft: &mut Draft) -> Shared {
    let (name, rest) = banner.text.split_once(BANNER).unwrap_or((&banner.text, ""));
    let name = name.trim_start_matches("MIGRATED ").trim();
    draft.fact(
        "server",
        rest.split_once(" to ").and_then(|(_, to)| to.split_whitespace().next()).map(String::from),
    );
    let lower = name.to_lowercase();
    let kind = lower.split_whitespace().nth(1).unwrap_or_default();
    Shared {
        test: name.into(),
        transport: lower.split_whitespace().next().map(String::from),
        pattern: match kind {
            "stream" | "maerts" | "sendfile" => Some(Pattern::Stream),
            "request/response" => Some(Pattern::PingPong),
            "connect/request/response" => Some(Pattern::Connect),
            _ => None,
        },
        ..Shared::default()
    }
}

/// The bits of a unit that is named in a text.
fn unit(text: &str) -> Option<f64> {
    RATES.iter().find(|(name, _)| text.contains(name)).map(|(_, scale)| *scale)
}

/// The numbers of a table: of a stream one line, of datagrams one an end, of transactions one and the other end's sizes.
fn numbers(first: &Line, rest: &[&Line], shared: &Shared, scale: Option<f64>, draft: &mut Draft) -> Read<()> {
    let words = first.words();
    let at = |place: usize| match words.get(place) {
        Some(word) => first.number(word),
        None => refuse(format!("line {} has too few columns", first.number), "give all that netperf printed"),
    };
    let size = |place: usize| whole(at(place)?, &format!("line {}", first.number)).map(Some);
    let shared = Shared { line: Some(first.number), ..shared.clone() };
    let mean = |quantity| (quantity, Statistic::Mean);
    let used = match (shared.pattern, scale) {
        (Some(Pattern::Stream), Some(scale)) if rest.is_empty() => {
            let shared = Shared { message_bytes: size(2)?, ..shared };
            draft.rows.push(shared.row(mean(Quantity::Throughput), (at(4)?, scale), (None, "Throughput"))?);
            5
        }
        (Some(Pattern::Stream), Some(scale)) => {
            let shared = Shared { message_bytes: size(1)?, ..shared };
            draft.rows.push(shared.row(
                mean(Quantity::Throughput),
                (at(5)?, scale),
                (Some(Does::Sends), "Throughput"),
            )?);
            datagrams(rest[0], &shared, (at(3)?, scale), draft)?;
            6
        }
        (Some(Pattern::PingPong | Pattern::Connect), _) => {
            let message_bytes = size(2)?;
            let same = size(3)? == message_bytes;
            let shared = Shared { message_bytes: message_bytes.filter(|_| same), ..shared };
            let rate = (at(5)?, 1.0);
            draft.rows.push(shared.row(
                mean(Quantity::TransactionRate),
                rate,
                (Some(Does::Pings), "Trans. Rate"),
            )?);
            6
        }
        _ => {
            draft.doubt(format!("line {}: the numbers of this test are not known here", first.number));
            0
        }
    };
    if words.len() > used {
        first.is_unread(draft);
    }
    // Of datagrams the receiver's line was read.
    let read = usize::from(used == 6 && shared.pattern == Some(Pattern::Stream));
    rest.iter().skip(read).for_each(|line| line.is_unread(draft));
    Ok(())
}

/// The receiver's line of a stream of datagrams, and what was lost on the way to it.
fn datagrams(line: &Line, shared: &Shared, (sent, scale): (f64, f64), draft: &mut Draft) -> Read<()> {
    let words = line.words();
    let [_, _, okay, throughput] = words[..] else { return Ok(()) };
    let shared = Shared { line: Some(line.number), ..shared.clone() };
    let (okay, throughput) = (line.number(okay)?, line.number(throughput)?);
    let receives = Some(Does::Receives);
    draft.rows.push(shared.row(
        (Quantity::Throughput, Statistic::Mean),
        (throughput, scale),
        (receives, "Throughput"),
    )?);
    if sent > 0.0 && okay <= sent {
        let samples = Some(whole(sent, "the datagrams sent")?);
        let lost = shared.row(
            (Quantity::Lost, Statistic::Total),
            (sent - okay, 1.0),
            (receives, "Okay, of both ends"),
        )?;
        draft.rows.push(Imported { samples, ..lost });
    }
    Ok(())
}

/// What `-D` prints while the test runs: `Interim result: 35344.39 10^6bits/s over 1.002 seconds ending at 1559.219`.
fn interim(lines: &[&Line], shared: &Shared, scale: Option<f64>, draft: &mut Draft) {
    let (mut rates, mut at_s, mut origin) = (Vec::new(), Vec::new(), None);
    let transactions = shared.pattern != Some(Pattern::Stream);
    for line in lines {
        // A test that was stopped has no table that says the unit; its parts do.
        let Some(scale) = scale.or(transactions.then_some(1.0)).or(unit(&line.text)) else { continue };
        let mut find = |mark: &str| line.find(mark, draft);
        let found = (find("Interim result:"), find(" over "), find("ending at "));
        let (Some(rate), Some(seconds), Some(end)) = found else { continue };
        let origin = *origin.get_or_insert(end - seconds);
        let from = (end - seconds - origin).max(0.0);
        let read = sound(rate * scale, "an interim result")
            .and_then(|rate| Ok((rate, sound(end - origin, "the time of an interim result")?)));
        if let Some((rate, to)) = draft.keep(read) {
            rates.push(rate);
            at_s.push([from, to]);
        }
    }
    if rates.is_empty() {
        return;
    }
    let quantity = if transactions { Quantity::TransactionRate } else { Quantity::Throughput };
    let test = format!("{}, parts", shared.test);
    draft.rows.push(Imported {
        transport: shared.transport.clone(),
        pattern: shared.pattern,
        at_s,
        ..row(&test, quantity, Statistic::Mean, rates, "Interim result")
    });
}
