//! fping: a line a target with what was lost and the times of all answers; with `-C` each of them, with `-e` the only one.

use super::lines::{Line, lines};
use super::ping::{each, lost, slashed};
use super::row::Shared;
use super::{Draft, Read, Run};
use crate::vocabulary::Pattern;
use std::collections::BTreeMap;

/// How the lines of its summary go on behind the target: `xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.018/0.034/0.043`.
const SUMMARY: &str = "xmt/rcv/%";
const COUNTS: [&str; 2] = ["xmt/rcv/%loss = ", "xmt/rcv/%return = "];
/// What stands between the target and what is said of it.
const BEHIND: &str = " : ";

pub(super) fn recognises(text: &str) -> bool {
    let is_answer = |line: &str| parted(line).is_some_and(|(_, rest)| answer(rest).is_some());
    let is_alive = |line: &str| line.contains(" is alive (") && line.trim_end().ends_with(" ms)");
    let is_each = |line: &str| {
        parted(line).is_some_and(|(target, rest)| {
            !target.contains(' ') && alone(rest).is_some_and(|times| times.len() > 1)
        })
    };
    text.contains(SUMMARY) || text.lines().any(|line| is_answer(line) || is_alive(line) || is_each(line))
}

fn parted(line: &str) -> Option<(&str, &str)> {
    let line = unstamped(line);
    let (target, rest) = line.split_once(BEHIND)?;
    Some((target.trim(), rest.trim()))
}

/// Without the time that -D puts before an answer: `[1795785542.96111] `.
fn unstamped(line: &str) -> &str {
    let is_time = |text: &str| text.contains('.') && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let stamped = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    stamped.filter(|(time, _)| is_time(time)).map_or(line, |(_, rest)| rest)
}

/// The time of an answer: `[0], 64 bytes, 0.026 ms (0.026 avg, 0% loss)`.
fn answer(rest: &str) -> Option<&str> {
    let (number, rest) = rest.strip_prefix('[')?.split_once("], ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    let (_, time) = rest.split_once(" bytes, ")?;
    time.split_once(" ms").map(|(time, _)| time)
}

/// The words of a line of `-C`, times with three digits and `-` for what was lost.
fn alone(rest: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_time = |word: &&str| {
        **word == *"-" || word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    (!words.is_empty() && words.iter().all(is_time)).then_some(words)
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut answers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines(run)? {
        let read = match parted(&line.text) {
            Some((target, rest)) if rest.contains(SUMMARY) => {
                summary(&line, target, rest, &mut draft);
                true
            }
            Some((target, rest)) if answer(rest).is_some() => {
                let time = draft.keep(line.number(answer(rest).unwrap_or_default()));
                answers.entry(target.into()).or_default().extend(time);
                true
            }
            Some((target, rest)) => single(&line, target, rest, &mut draft),
            None => is_alive(&line, &mut answers, &mut draft),
        };
        if !read {
            line.is_unread(&mut draft);
        }
    }
    // What -C prints at its end are the same answers again.
    let is_told = |target: &str, draft: &Draft| draft.rows.iter().any(|row| row.test == answers_of(target));
    for (target, times) in answers {
        if is_told(&target, &draft) {
            continue;
        }
        each(&format!("{target}, each answer"), &shared(&target, None), times, &mut draft);
    }
    draft.doubt("the file does not say the size of a message without the header of its packets");
    Ok(draft)
}

fn shared(target: &str, line: Option<u64>) -> Shared {
    Shared { test: target.into(), pattern: Some(Pattern::PingPong), line, ..Shared::default() }
}

fn summary(line: &Line, target: &str, rest: &str, draft: &mut Draft) {
    let mut shared = shared(target, Some(line.number));
    let counts = COUNTS.iter().find_map(|mark| rest.split_once(mark)).map_or("", |(_, counts)| counts);
    let counts: Vec<&str> = counts.split([',', '/']).take(2).map(str::trim).collect();
    if let [sent, received] = counts[..] {
        let (sent, received) = (draft.keep(line.number(sent)), draft.keep(line.number(received)));
        lost(sent, received, &mut shared, "xmt/rcv", draft);
    }
    if let Some((names, values)) = rest.split_once("min/").and_then(|(_, rest)| rest.split_once(" = ")) {
        let names = format!("min/{names}");
        slashed(&format!("line {}", line.number), (&names, values), &shared, draft);
    }
}

/// What `-C` prints at its end: all answers of a target.
fn single(line: &Line, target: &str, rest: &str, draft: &mut Draft) -> bool {
    let Some(words) = alone(rest) else { return false };
    let times: Vec<f64> =
        words.iter().filter(|word| **word != "-").filter_map(|word| draft.keep(line.number(word))).collect();
    let mut shared = shared(target, Some(line.number));
    lost(Some(words.len() as f64), Some(times.len() as f64), &mut shared, "-C", draft);
    each(&answers_of(target), &shared, times, draft);
    true
}

fn answers_of(target: &str) -> String {
    super::short(&format!("{target}, answers of -C"))
}

/// `192.0.2.1 is alive (0.149 ms)`.
fn is_alive(line: &Line, answers: &mut BTreeMap<String, Vec<f64>>, draft: &mut Draft) -> bool {
    let Some((target, rest)) = line.text.split_once(" is alive (") else { return false };
    let time = rest.split_once(" ms").and_then(|(time, _)| draft.keep(line.number(time)));
    answers.entry(target.trim().into()).or_default().extend(time);
    true
}
