//! nccl-tests and rccl-tests: what ran, the names of the columns, a line a size with the numbers out of place and in place.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Pattern, Quantity, Statistic};

/// Its programs, without `_perf`.
const TESTS: [(&str, Option<Pattern>); 11] = [
    ("all_reduce", Some(Pattern::Allreduce)),
    ("all_gather", None),
    ("reduce_scatter", None),
    ("reduce", Some(Pattern::Reduce)),
    ("broadcast", Some(Pattern::Broadcast)),
    ("alltoallv", None),
    ("alltoall", Some(Pattern::AllToAll)),
    ("sendrecv", None),
    ("scatter", None),
    ("gather", None),
    ("hypercube", None),
];

/// What begins the columns of an operation out of place, and again in place; with -C it is the time of the call alone.
const TIME: &str = "time";
const CPU_TIME: &str = "cputime";
const STAMP: &str = "timestamp";

const OF_CALLS: &str =
    "its times are of the calls on the CPU alone (-C 1), as are the rates made of them: both are left out";

const ALONE: &str = "one rank: nothing went between ranks, and busbw is 0 by definition; without MPI=1 nccl-tests is built so that every process runs for itself";
const SEVERAL: &str = "ranks are counted anew: several jobs are printed into each other, and how many ranks each has is not known";

/// A rate below half of its last digit is printed as 0.
const LAST_DIGIT: &str = "rates below 0.005 GB/s are printed as 0.00, and left out";

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(is_heads)
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("# nThread ") || line.starts_with("# Collective test starting") || is_heads(line)
}

fn is_heads(line: &str) -> bool {
    let has = |name: &str| line.split_whitespace().any(|word| word == name);
    line.trim_start().starts_with('#') && has("size") && has("algbw") && has("busbw")
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let lines = lines(run)?;
    let mut draft = Draft::default();
    let mut table = Table { shared: program(&lines, &mut draft), ..Table::default() };
    let (mut ranks, mut firsts) = (0, 0);
    for line in &lines {
        if is_heads(&line.text) {
            table.heads(&line.text);
        } else if line.is_row() && !table.groups.is_empty() {
            table.row(line, &mut draft);
        } else if let Some(rank) =
            line.text.strip_prefix('#').filter(|text| text.trim_start().starts_with("Rank "))
        {
            ranks += 1;
            firsts += u32::from(rank.split_whitespace().nth(1) == Some("0"));
            draft.fact("device", rank.rsplit_once(']').map(|(_, name)| name.trim().to_owned()));
        } else {
            table.read_beside(line, &mut draft);
        }
    }
    match (ranks, firsts) {
        (_, 2..) => draft.doubt(SEVERAL),
        (1, _) => {
            draft.doubts.retain(|doubt| doubt != LAST_DIGIT);
            draft.doubt(ALONE);
        }
        _ => {}
    }
    let known = Some(ranks).filter(|ranks| *ranks > 0 && firsts < 2);
    draft.fact("ranks", known.map(|ranks: u32| ranks.to_string()));
    Ok(draft)
}

/// The program that ran: newer ones say it, of others a command line may.
fn program(lines: &[Line], draft: &mut Draft) -> Shared {
    let named = |(name, _): &&(&str, Option<Pattern>)| {
        let name = format!("{name}_perf");
        let is_it = |word: &str| word.rsplit('/').next() == Some(&name);
        lines.iter().any(|line| line.text.split_whitespace().any(is_it))
    };
    let Some((name, pattern)) = TESTS.iter().find(named) else {
        draft.doubt("the file does not say which operation it is of: its newer versions do");
        return Shared { test: "operation".into(), ..Shared::default() };
    };
    Shared { test: (*name).into(), pattern: *pattern, ..Shared::default() }
}

/// The table whose lines follow.
#[derive(Default)]
struct Table {
    shared: Shared,
    /// The names of the columns of each operation.
    groups: Vec<Vec<String>>,
    has_stamp: bool,
}

impl Table {
    fn heads(&mut self, text: &str) {
        let mut words: Vec<&str> = text.trim_start_matches('#').split_whitespace().collect();
        self.has_stamp = words.last() == Some(&STAMP);
        words.retain(|word| *word != STAMP);
        self.groups.clear();
        for word in words {
            if [TIME, CPU_TIME].contains(&word) {
                self.groups.push(Vec::new());
            }
            if let Some(group) = self.groups.last_mut() {
                group.push(word.to_owned());
            }
        }
    }

    /// What stands beside the table.
    fn read_beside(&mut self, line: &Line, draft: &mut Draft) {
        let text = line.text.as_str();
        if let Some((_, rest)) = text.split_once("nccl-tests version ") {
            draft.version = rest.split_whitespace().next().map(String::from);
        } else if let Some((_, rest)) = text.split_once("warmup iters:") {
            let count = rest.split_once(" iters:").and_then(|(_, rest)| rest.split_whitespace().next());
            let count = count.and_then(|count| draft.keep(line.number(count)));
            self.shared.samples =
                count.and_then(|count| draft.keep(whole(count, &format!("line {}", line.number))));
            draft.fact("options", Some(text.trim_start_matches('#').trim().into()));
        } else if let Some((name, value)) = text.split_once(':').filter(|_| text.starts_with('#')) {
            let name = name.trim_start_matches('#').trim();
            let value = value.trim();
            if value.ends_with("FAILED") {
                draft.doubt(format!("line {}: {name}: {value}", line.number));
            }
            draft.fact(name, Some(value.into()));
        } else if text.trim_matches(|c: char| c == '#' || c.is_whitespace()).is_empty() {
            // A line that only parts.
        } else {
            line.is_unread(draft);
        }
    }

    fn row(&self, line: &Line, draft: &mut Draft) {
        let mut words = line.words();
        if self.has_stamp {
            words.truncate(words.len().saturating_sub(2));
        }
        let many: usize = self.groups.iter().map(Vec::len).sum();
        let Some(at) = words.len().checked_sub(many).filter(|at| *at >= 2) else {
            draft.doubt(format!("line {} has not the columns of its table, and is left out", line.number));
            return line.is_unread(draft);
        };
        // Type, reduction and root, of which those that do not apply are `none` and -1.
        let parts: Vec<String> = words[2..at]
            .iter()
            .filter(|word| !["none", "-1"].contains(word))
            .map(|word| {
                if word.bytes().all(|b| b.is_ascii_digit()) { format!("root {word}") } else { (*word).into() }
            })
            .collect();
        let place = format!("line {}", line.number);
        let bytes = draft.keep(line.number(words[0]).and_then(|bytes| whole(bytes, &place)));
        let mut cells = words[at..].iter();
        let places = if self.groups.len() == 2 { &["out of place", "in place"][..] } else { &[] };
        for (number, group) in self.groups.iter().enumerate() {
            let named = [parts.join(" "), places.get(number).map_or(String::new(), |place| (*place).into())];
            let mut test = self.shared.test.clone();
            for part in named.iter().filter(|part| !part.is_empty()) {
                test = format!("{test}, {part}");
            }
            let shared =
                Shared { test, message_bytes: bytes, line: Some(line.number), ..self.shared.clone() };
            let is_call = group.first().is_some_and(|name| name == CPU_TIME);
            for (name, word) in group.iter().zip(&mut cells) {
                if is_call {
                    draft.doubt(OF_CALLS);
                    draft.unread(format!("line {}, {name}", line.number), word);
                } else {
                    cell(line, (name, word), &shared, draft);
                }
            }
        }
    }
}

fn cell(line: &Line, (name, word): (&str, &str), shared: &Shared, draft: &mut Draft) {
    let time = Quantity::OperationTime;
    let (what, scale) = match name {
        TIME => ((time, Statistic::Mean), 1e3),
        "i_min" => ((time, Statistic::Least), 1e3),
        "i_max" => ((time, Statistic::Greatest), 1e3),
        "i_p99" => ((time, Statistic::Percentile(99.0)), 1e3),
        "algbw" => ((Quantity::Throughput, Statistic::Mean), 8e9),
        "busbw" => ((Quantity::BusThroughput, Statistic::Mean), 8e9),
        "#wrong" if word == "N/A" || word == "0" => return,
        "#wrong" => {
            return draft.doubt(format!(
                "line {}: {word} elements were not what they should be ({})",
                line.number, shared.test
            ));
        }
        _ => return draft.unread(format!("line {}, {name}", line.number), word),
    };
    match draft.keep(line.number(word)) {
        Some(value) if value == 0.0 && scale == 8e9 => draft.doubt(LAST_DIGIT),
        Some(value) => draft.add(shared.row(what, (value, scale), (None, name))),
        None => (),
    }
}
