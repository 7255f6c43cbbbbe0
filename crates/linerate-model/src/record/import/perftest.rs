//! perftest: a title, what the test was run with, the names of the columns, a line a message size.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Pattern, Quantity, Statistic};

/// What a title begins with: the verb, and whether its times are halves of a round trip.
const VERBS: [(&str, bool); 6] = [
    ("Send_imm", true),
    ("Send", true),
    ("RDMA_Write_imm", true),
    ("RDMA_Write", true),
    ("RDMA_Read", false),
    ("Atomic", false),
];

/// What is said of a test: in the file, and as a fact.
const FACTS: [(&str, &str); 6] = [
    ("Device", "device"),
    ("Link type", "link"),
    ("Mtu", "MTU"),
    ("Connection type", "connection"),
    ("Transport type", "transport"),
    ("TX depth", "TX depth"),
];

const SIZE: &str = "#bytes";
const ITERATIONS: &str = "#iterations";
const LEVEL: &str = "#sl";

/// What no look at the processor's clock changes: each is a difference of two counts of cycles, or half of one.
const OF_ONE_EXCHANGE: [&str; 5] = ["t_min", "t_max", "t_typical", "99% percentile", "99.9% percentile"];
/// Of how many times the digits must agree before they prove something: by chance 1 of 50 does.
const PROOF: usize = 3;
const OF_CYCLES: &str = "its times are whole or half numbers, as cycles are (-C), though its heads call them usec: they are left out";

/// How far a rate may be from its size times its messages, of which both are rounded.
const NEAR: f64 = 0.02;

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(is_heads)
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    title(line.trim()).is_some() || is_heads(line)
}

fn is_heads(line: &str) -> bool {
    line.contains(SIZE)
        && line.contains(ITERATIONS)
        && ["BW average[", "t_avg[", "t_typical["].iter().any(|name| line.contains(name))
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut test = Test::default();
    for line in lines(run)? {
        if is_heads(&line.text) {
            test.columns = columns(&line.text);
        } else if let Some((name, half)) = title(&line.text) {
            test = Test::titled(name, half);
        } else if let Some(unit) = line.text.strip_prefix("#, ") {
            test.in_cycles = unit == "cycles";
        } else if line.is_row() && line.text.split_whitespace().next().is_some_and(|word| word.ends_with(','))
        {
            // One exchange of -U or -H, of which the table has what holds of all.
            line.is_unread(&mut draft);
        } else if line.is_row() && !test.columns.is_empty() {
            test.row(&line, &mut draft);
        } else if !test.read_setting(&line, &mut draft) && !line.text.starts_with("---") {
            line.is_unread(&mut draft);
        }
    }
    Ok(draft)
}

/// `RDMA_Write Bidirectional BW Test`.
fn title(text: &str) -> Option<(&str, bool)> {
    let name = text.strip_suffix(" Test")?;
    let verb =
        VERBS.iter().find(|(verb, _)| name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(' ')))?;
    Some((name, verb.1))
}

/// The names of columns hold blanks; each ends with its unit, or begins with a mark.
fn columns(text: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        name += if name.is_empty() { "" } else { " " };
        name += word;
        if word.ends_with(']') || word.starts_with('#') {
            names.push(std::mem::take(&mut name));
        }
    }
    names.extend(Some(name).filter(|name| !name.is_empty()));
    names
}

/// The word behind a name and its colon, of which a line may have two.
fn value_of<'l>(text: &'l str, name: &str) -> Option<&'l str> {
    let (before, rest) = text.split_once(name)?;
    let is_whole = before.chars().next_back().is_none_or(char::is_whitespace);
    let value = rest.trim_start().strip_prefix(':')?;
    value.split_whitespace().next().filter(|_| is_whole)
}

/// The test whose lines follow.
#[derive(Default)]
struct Test {
    shared: Shared,
    columns: Vec<String>,
    /// Whether a time is half of a round trip; none where no title tells the verb.
    half: Option<bool>,
    /// Whether it says that its times are cycles; most often it does not say.
    in_cycles: bool,
}

impl Test {
    fn titled(name: &str, half: bool) -> Test {
        let pattern = match name {
            name if name.contains("Latency") => Some(Pattern::PingPong),
            name if name.contains("Bidirectional") => Some(Pattern::Bidirectional),
            name if name.contains("BW") => Some(Pattern::Stream),
            _ => None,
        };
        let shared = Shared { test: name.into(), pattern, ..Shared::default() };
        Test { shared, half: Some(half), ..Test::default() }
    }

    /// Whether a line tells of the test.
    fn read_setting(&mut self, line: &Line, draft: &mut Draft) -> bool {
        let text = line.text.as_str();
        if let Some(count) = value_of(text, "Number of qps") {
            self.shared.flows = draft
                .keep(line.number(count).and_then(|count| whole(count, "Number of qps")))
                .and_then(|count| u32::try_from(count).ok());
        }
        if let Some(kind) = value_of(text, "Connection type") {
            self.shared.transport = Some(kind.to_lowercase());
        }
        let found: Vec<(&str, &str)> =
            FACTS.iter().filter_map(|(name, fact)| Some((*fact, value_of(text, name)?))).collect();
        for (fact, value) in &found {
            draft.fact(fact, Some((*value).to_owned()));
        }
        if text.contains("Conflicting CPU frequency") {
            draft.doubt(format!(
                "line {}: {text}: its clock is the CPU's, so its numbers may be wrong",
                line.number
            ));
        }
        !found.is_empty() || value_of(text, "Number of qps").is_some()
    }

    fn row(&self, line: &Line, draft: &mut Draft) {
        let words = line.words();
        if words.len() != self.columns.len() {
            draft.doubt(format!("line {} has not the columns of its table, and is left out", line.number));
            return line.is_unread(draft);
        }
        let place = format!("line {}", line.number);
        let cell = |name: &str| {
            self.columns.iter().zip(&words).find(|(column, _)| *column == name).map(|(_, word)| *word)
        };
        let count = |name: &str, draft: &mut Draft| {
            draft.keep(line.number(cell(name)?).and_then(|count| whole(count, &place)))
        };
        let mut shared = Shared {
            line: Some(line.number),
            message_bytes: count(SIZE, draft),
            samples: count(ITERATIONS, draft),
            ..self.shared.clone()
        };
        if shared.test.is_empty() {
            shared.test = "perftest".into();
        }
        if let Some(level) = cell(LEVEL) {
            shared.test = format!("{}, service level {level}", shared.test);
        }
        let before = draft.rows.len();
        let in_cycles = self.in_cycles || self.has_cycles(&words);
        for (name, word) in self.columns.iter().zip(&words) {
            if in_cycles && (name.starts_with("t_") || name.contains("percentile")) {
                draft.doubt(OF_CYCLES);
                draft.unread(format!("{place}, {name}"), word);
                continue;
            }
            self.cell(line, (name, word), &shared, draft);
        }
        agree(&place, before, draft);
    }

    /// Whether the times of a row can only be counts of cycles. Times in microseconds have two digits that mean something.
    fn has_cycles(&self, words: &[&str]) -> bool {
        let is_one = |name: &String| {
            let name = name.split('[').next().unwrap_or_default().trim();
            OF_ONE_EXCHANGE.contains(&name)
        };
        let cells = self.columns.iter().zip(words).filter(|(name, _)| is_one(name));
        let is_count = |word: &str| word.ends_with(".00") || word.ends_with(".50");
        let (counts, others): (Vec<&str>, Vec<&str>) =
            cells.map(|(_, word)| *word).partition(|word| is_count(word));
        counts.len() >= PROOF && others.is_empty()
    }

    fn cell(&self, line: &Line, (name, word): (&str, &str), shared: &Shared, draft: &mut Draft) {
        if [SIZE, ITERATIONS, LEVEL].contains(&name) {
            return;
        }
        let Some((what, scale)) = self.meaning(name) else {
            return draft.unread(format!("line {}, {name}", line.number), word);
        };
        if what.0 == Quantity::RoundTrip && self.half.is_none() {
            return draft.doubt("the line that names the test is missing, so whether a time is of half a round trip is not known: times are left out");
        }
        match draft.keep(line.number(word)) {
            // It writes 0 for a peak that it did not look for, as in a test of a given time.
            Some(peak) if peak == 0.0 && what.1 == Statistic::Greatest && what.0 == Quantity::Throughput => {}
            Some(value) => draft.add(shared.row(what, (value, scale), (None, name))),
            None => (),
        }
    }

    /// What a column is of, and what one of its units is in ours.
    fn meaning(&self, name: &str) -> Option<((Quantity, Statistic), f64)> {
        let (name, unit) = name.split_once('[')?;
        let time = if self.half == Some(true) { Quantity::HalfRoundTrip } else { Quantity::RoundTrip };
        let what = match name.trim() {
            "BW peak" => (Quantity::Throughput, Statistic::Greatest),
            "BW average" => (Quantity::Throughput, Statistic::Mean),
            "MsgRate" => (Quantity::MessageRate, Statistic::Mean),
            // The two longest of all are cut off before it looks.
            "t_min" => (time, Statistic::Least),
            "t_max" => (time, Statistic::Greatest),
            "t_typical" => (time, Statistic::Median),
            "t_avg" => (time, Statistic::Mean),
            "t_stdev" => (time, Statistic::Deviation),
            "99% percentile" => (time, Statistic::Percentile(99.0)),
            "99.9% percentile" => (time, Statistic::Percentile(99.9)),
            _ => return None,
        };
        let scale = match unit.trim_end_matches(']') {
            "MB/sec" | "MiB/sec" => 8.0 * 1_048_576.0,
            "Gb/sec" => 1e9,
            "Mpps" => 1e6,
            "usec" => 1e3,
            _ => return None,
        };
        Some((what, scale))
    }
}

/// A rate is the size times the messages: where it is not, the unit or the line is wrong.
fn agree(place: &str, before: usize, draft: &mut Draft) {
    let value = |quantity, statistic| {
        let rows = &draft.rows[before..];
        rows.iter().find(|row| (row.quantity, row.statistic) == (quantity, statistic))
    };
    let (Some(rate), Some(messages)) =
        (value(Quantity::Throughput, Statistic::Mean), value(Quantity::MessageRate, Statistic::Mean))
    else {
        return;
    };
    let Some(bytes) = rate.message_bytes else { return };
    let made = messages.values[0] * bytes as f64 * 8.0;
    // Two digits behind the point are all that a small rate has.
    let rounding = 0.01 * if rate.field.contains("Gb") { 1e9 } else { 8.0 * 1_048_576.0 };
    if (made - rate.values[0]).abs() > NEAR * made + rounding {
        draft.doubt(format!("{place}: its rate is not its size times its messages"));
    }
}
