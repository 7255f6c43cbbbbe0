//! ping of iputils, of busybox and of the BSDs: a line an answer, then what was lost and the times of all answers.

use super::lines::{Line, lines};
use super::row::{Shared, number, row, sound, whole};
use super::{Draft, MOST_VALUES, Read, Run};
use crate::record::Imported;
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};

const MILLISECOND: f64 = 1e6;
const PINGS: Option<Does> = Some(Does::Pings);

/// How its first line begins, and how the line that says how many bytes a message has goes on.
const FIRST: &str = "PING ";
const SIZES: [&str; 2] = ["bytes of data", "data bytes"];

/// What stands before the times of all answers: `rtt min/avg/max/mdev = 0.024/0.032/0.038/0.006 ms`.
const TIMES: [&str; 2] = ["rtt ", "round-trip "];

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(is_first) || text.contains(" ping statistics ---")
}

fn is_first(line: &str) -> bool {
    line.trim_start().starts_with(FIRST) && SIZES.iter().any(|size| line.contains(size))
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    is_first(line)
}

/// Whether a line alone is one of its others.
pub(super) fn goes_on(line: &str) -> bool {
    let is_answer = line.contains("seq=") && line.contains(" time");
    let is_times = TIMES.iter().any(|name| line.starts_with(name)) && line.contains("min/avg/max");
    is_answer || is_times || line.contains(" ping statistics ---") || line.contains(" packets transmitted")
}

/// Each of its first lines begins a run.
pub(super) fn runs(text: &str) -> Vec<usize> {
    let mut at = 0;
    let begin = |line: &str| {
        let begin = at;
        at += line.len();
        is_first(line).then_some(begin)
    };
    text.split_inclusive('\n').filter_map(begin).collect()
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut shared = Shared { test: "ping".into(), pattern: Some(Pattern::PingPong), ..Shared::default() };
    let (mut answers, mut has_counts) = (Vec::new(), false);
    for line in lines(run)? {
        let line = Line { text: pointed(&line.text), ..line };
        shared.line = Some(line.number);
        if is_first(&line.text) {
            first(&line, &mut shared, &mut draft);
        } else if let Some(time) = answer(&line) {
            answers.extend(draft.keep(time));
        } else if line.text.contains(" packets transmitted") {
            has_counts = true;
            counts(&line, &mut shared, &mut draft);
        } else if TIMES.iter().any(|name| line.text.starts_with(name)) {
            times(&line, &shared, &mut draft);
        } else if !line.text.contains(" ping statistics ---") {
            line.is_unread(&mut draft);
        }
    }
    if !has_counts {
        draft.doubt("how many packets were sent is missing: ping was killed before its end");
    }
    each("ping, each answer", &shared, answers, &mut draft);
    Ok(draft)
}

/// A line with points in its numbers: some versions write the commas of the user's language, `time=0,254 ms`.
fn pointed(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let point = |(at, c): (usize, char)| {
        if c == ',' && at > 0 && is_digit(at - 1) && is_digit(at + 1) { '.' } else { c }
    };
    text.char_indices().map(point).collect()
}

/// `PING h (192.0.2.1) 56(84) bytes of data.`, `PING h(h (::1)) 56 data bytes`, `PING h (192.0.2.1): 56 data bytes`.
fn first(line: &Line, shared: &mut Shared, draft: &mut Draft) {
    let rest = &line.text[FIRST.len()..];
    draft.fact("host", rest.split([' ', '(', ':']).next().map(String::from));
    let at = SIZES.iter().find_map(|size| rest.find(size)).unwrap_or_default();
    let word = rest[..at].split_whitespace().last().unwrap_or_default();
    let bytes = line.number(word.split('(').next().unwrap_or_default());
    shared.message_bytes = draft.keep(bytes.and_then(|bytes| whole(bytes, &format!("line {}", line.number))));
}

/// The time of an answer: `64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.024 ms`, in busybox `seq=0`.
fn answer(line: &Line) -> Option<Read<f64>> {
    let (before, rest) = line.text.split_once("time=").or(line.text.split_once("time<"))?;
    let word = rest.split_whitespace().next().unwrap_or_default().trim_end_matches("ms");
    // A packet that came twice is not another answer.
    let is_answer = before.contains("seq=") && !rest.contains("DUP");
    is_answer.then(|| line.number(word))
}

/// `3 packets transmitted, 3 received, +1 duplicates, 0% packet loss, time 406ms`.
fn counts(line: &Line, shared: &mut Shared, draft: &mut Draft) {
    let count = |names: &[&str], draft: &mut Draft| {
        let part = line.text.split(',').find(|part| names.iter().any(|name| part.contains(name)))?;
        let word = part.split_whitespace().next().unwrap_or_default().trim_start_matches('+').to_owned();
        draft.keep(line.number(&word))
    };
    for (name, what) in [
        ("duplicates", ["answer came twice", "answers came twice"]),
        ("errors", ["error was answered", "errors were answered"]),
        ("corrupted", ["answer was damaged", "answers were damaged"]),
    ] {
        if let Some(many) = count(&[name], draft) {
            let what = what[usize::from(many != 1.0)];
            draft.doubt(format!("line {}: {many} {what}", line.number));
        }
    }
    let sent = count(&["packets transmitted"], draft);
    let received = count(&[" received"], draft);
    lost(sent, received, shared, "packets", draft);
}

/// What was lost of what was sent; the samples of what follows are the answers.
pub(super) fn lost(
    sent: Option<f64>,
    received: Option<f64>,
    shared: &mut Shared,
    field: &str,
    draft: &mut Draft,
) {
    let (Some(sent), Some(received)) = (sent, received) else { return };
    let place = field.to_owned();
    let samples = draft.keep(whole(sent, &place));
    shared.samples = draft.keep(whole(received, &place));
    if sent < received || sent == 0.0 {
        return draft.doubt(format!("{received} answers to {sent} packets: what was lost is not known"));
    }
    let of_all = Shared { samples, ..shared.clone() };
    let lost = sent - received;
    draft.add(of_all.row((Quantity::Lost, Statistic::Total), (lost, 1.0), (PINGS, field)));
    draft.add(of_all.row((Quantity::LostShare, Statistic::Mean), (lost / sent, 1.0), (PINGS, field)));
}

/// `rtt min/avg/max/mdev = 0.024/0.032/0.038/0.006 ms`; what it calls mdev is the standard deviation.
fn times(line: &Line, shared: &Shared, draft: &mut Draft) {
    let Some((names, values)) = line.text.split_once(" = ") else { return line.is_unread(draft) };
    let names = names.split_whitespace().last().unwrap_or_default();
    let Some((values, rest)) = values.split_once(" ms") else { return line.is_unread(draft) };
    slashed(&format!("line {}", line.number), (names, values), shared, draft);
    if let Some((_, ewma)) = rest.split_once("ipg/ewma ") {
        draft.unread(format!("line {}, ipg/ewma", line.number), ewma);
    }
}

/// Milliseconds whose names and values stand between slashes.
pub(super) fn slashed(place: &str, (names, values): (&str, &str), shared: &Shared, draft: &mut Draft) {
    for (name, value) in names.split('/').zip(values.split('/')) {
        let statistic = match name.trim() {
            "min" => Statistic::Least,
            "avg" => Statistic::Mean,
            "max" => Statistic::Greatest,
            "mdev" | "stddev" | "std-dev" => Statistic::Deviation,
            other => {
                draft.unread(format!("{place}, {other}"), value);
                continue;
            }
        };
        if let Some(value) = draft.keep(number(value.trim(), place)) {
            draft.add(shared.row((Quantity::RoundTrip, statistic), (value, MILLISECOND), (PINGS, name)));
        }
    }
}

/// The times of single answers, in milliseconds, as one row.
pub(super) fn each(test: &str, shared: &Shared, times: Vec<f64>, draft: &mut Draft) {
    if times.len() > MOST_VALUES {
        return draft
            .doubt(format!("of {} single answers none is kept, only what holds of all", times.len()));
    }
    let times: Vec<f64> =
        times.into_iter().filter_map(|time| draft.keep(sound(time * MILLISECOND, "time"))).collect();
    if !times.is_empty() {
        draft.rows.push(Imported {
            pattern: shared.pattern,
            message_bytes: shared.message_bytes,
            end: PINGS,
            samples: Some(1),
            ..row(test, Quantity::RoundTrip, Statistic::Mean, times, "time")
        });
    }
}
