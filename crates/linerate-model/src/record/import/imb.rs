//! The Intel MPI Benchmarks: what IMB-MPI1, -NBC, -EXT, -RMA, -MT and -IO print. What its Mbyte is, its own times tell, or
//! its message rates, else its edition.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Pattern, Quantity, Statistic};

/// The benchmarks that are like a pattern of ours, whether a time is half of a round trip, and how many times a rank's
/// size the rate counts in one operation; 0 where that is not known.
const TESTS: [(&str, Option<Pattern>, bool, f64); 12] = [
    ("PingPong", Some(Pattern::PingPong), true, 1.0),
    ("PingPongSpecificSource", Some(Pattern::PingPong), true, 1.0),
    ("PingPongAnySource", Some(Pattern::PingPong), true, 1.0),
    ("PingPing", Some(Pattern::PingPing), false, 1.0),
    ("PingPingSpecificSource", Some(Pattern::PingPing), false, 1.0),
    ("Sendrecv", None, false, 2.0),
    ("Exchange", None, false, 4.0),
    ("Bcast", Some(Pattern::Broadcast), false, 0.0),
    ("Reduce", Some(Pattern::Reduce), false, 0.0),
    ("Allreduce", Some(Pattern::Allreduce), false, 0.0),
    ("Alltoall", Some(Pattern::AllToAll), false, 0.0),
    ("Barrier", Some(Pattern::Barrier), false, 0.0),
];

/// Mbytes of both kinds, in bits.
const DECIMAL: f64 = 8e6;
const BINARY: f64 = 8.0 * 1_048_576.0;
/// How far a rate may lie from its size over its time: both are rounded.
const ROUNDING: f64 = 0.015;
const TITLE: &str = "# Benchmarking ";
const RATE: &str = "Mbytes/sec";

pub(super) fn recognises(text: &str) -> bool {
    text.contains(TITLE) && text.contains("#repetitions")
}

/// Whether a line alone is one of its beginning.
pub(super) fn begins(line: &str) -> bool {
    line.contains(TITLE) || line.contains("Intel(R) MPI Benchmarks")
}

/// A line of a table, with what its table says.
struct Row {
    test: &'static str,
    name: String,
    line: u64,
    ranks: Option<u32>,
    /// The columns with their words; what of them is no number is no value.
    cells: Vec<(String, f64)>,
}

impl Row {
    fn cell(&self, name: &str) -> Option<f64> {
        self.cells.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let rows = rows(&lines(run)?, &mut draft);
    let told = rows.iter().filter_map(mbyte).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, mbyte)| mbyte);
    let has_rates = rows.iter().any(|row| row.cell(RATE).is_some());
    let mbyte = told.or_else(|| draft.version.as_deref().and_then(of_edition));
    if mbyte.is_none() && has_rates {
        draft.doubt(
            "whether a Mbyte is of 10^6 or of 2^20 bytes neither its times nor its edition tell: taken as 10^6",
        );
    }
    let mbyte = mbyte.unwrap_or(DECIMAL);
    let unit = if mbyte == BINARY { "2^20 bytes" } else { "10^6 bytes" };
    draft.fact("Mbyte", has_rates.then(|| unit.into()));
    for row in &rows {
        add(row, mbyte, &mut draft);
    }
    draft.doubt("the file does not say what the MPI ran over");
    Ok(draft)
}

/// The Mbyte of an edition: those since 2018 count in 10^6. A file of their C++ program says a year, one of before a number
/// or a year.
fn of_edition(version: &str) -> Option<f64> {
    let number = version.split('.').next()?.parse::<u32>().ok()?;
    Some(if number >= 2018 { DECIMAL } else { BINARY })
}

/// The lines of all tables.
fn rows(lines: &[Line], draft: &mut Draft) -> Vec<Row> {
    let (mut name, mut ranks, mut columns) = (String::new(), None, Vec::<String>::new());
    let mut rows = Vec::new();
    for line in lines {
        let text = line.text.as_str();
        if let Some(title) = text.strip_prefix(TITLE) {
            (name, ranks, columns) = (title.trim().to_owned(), None, Vec::new());
        } else if let Some(count) = line.find("#processes = ", draft) {
            let count = draft.keep(whole(count, &format!("line {}", line.number)));
            ranks = count.and_then(|count| u32::try_from(count).ok());
        } else if let Some(mode) = text.split_once("MODE: ").map(|(_, mode)| mode) {
            let base = name.split(", ").next().unwrap_or_default();
            name = format!("{base}, {}", mode.trim().to_lowercase());
        } else if text.contains("#repetitions") {
            columns = line.words().into_iter().map(String::from).collect();
        } else if line.is_row() && !columns.is_empty() {
            match cells(line, &columns, draft) {
                Some(cells) => {
                    let test =
                        TESTS.iter().find(|(known, ..)| *known == name).map_or("", |(known, ..)| *known);
                    rows.push(Row { test, name: name.clone(), line: line.number, ranks, cells });
                }
                None => line.is_unread(draft),
            }
        } else if !keep_fact(text, draft) {
            line.is_unread(draft);
        }
    }
    rows
}

/// The numbers of a line of a table; none where it is none.
fn cells(line: &Line, columns: &[String], draft: &mut Draft) -> Option<Vec<(String, f64)>> {
    /// What stands in place of numbers where a size was not measured.
    const LEFT_OUT: [&str; 3] = ["out-of-mem.", "int-overflow", "time-out."];
    let words = line.words();
    if let Some(why) = LEFT_OUT.iter().find(|why| line.text.contains(*why)) {
        draft.doubt(format!("line {}: IMB did not measure this size: {why}", line.number));
        return None;
    }
    let is_row = words.first().is_some_and(|word| word.parse::<f64>().is_ok());
    if !is_row || words.len() != columns.len() {
        draft.doubt(format!("line {} is no line of its table, and left out: {}", line.number, line.text));
        return None;
    }
    let number = |(name, word): (&String, &&str)| Some((name.clone(), draft.keep(line.number(word))?));
    Some(columns.iter().zip(&words).filter_map(number).collect())
}

/// Whether a line tells of the machine or the program.
fn keep_fact(text: &str, draft: &mut Draft) -> bool {
    const FACTS: [&str; 5] = ["Date", "Machine", "System", "Release", "MPI Version"];
    let bare = text.trim_start_matches(['#', ' ']);
    if let Some((_, rest)) = bare.split_once("MPI Benchmark") {
        let mut words = rest.split([',', ' ']).map(|word| word.trim_start_matches('V'));
        draft.version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(String::from);
        return true;
    }
    let fact = bare.split_once(':').map(|(key, value)| (key.trim(), value.trim()));
    match fact.filter(|(key, _)| FACTS.contains(key)) {
        Some((key, value)) => draft.fact(key, Some(value.into())),
        None => return text.chars().all(|c| "#-".contains(c)),
    }
    true
}

/// The Mbyte that makes a row's rate its size over its time, with the size: the largest tells best.
fn mbyte(row: &Row) -> Option<(f64, f64)> {
    let bytes = row.cell("#bytes")?;
    let rate = row.cell(RATE)?;
    let (time, counted) = match row.cell("Msg/sec").filter(|rate| *rate > 0.0) {
        Some(messages) => (1e6 / messages, 1.0),
        None => {
            let known = TESTS.iter().find(|(name, ..)| *name == row.test);
            let (.., counted) = known.filter(|(.., counted)| *counted > 0.0)?;
            (row.cell("t[usec]").or(row.cell("t_max[usec]"))?, *counted)
        }
    };
    if bytes <= 0.0 || time <= 0.0 || rate <= 0.0 {
        return None;
    }
    let bits = 8.0 * counted * bytes / (time * 1e-6);
    let fits = |mbyte: &f64| (bits / (rate * mbyte) - 1.0).abs() < ROUNDING;
    [DECIMAL, BINARY].into_iter().find(fits).map(|mbyte| (bytes, mbyte))
}

/// What a row of a table says.
fn add(row: &Row, mbyte: f64, draft: &mut Draft) {
    let known = TESTS.iter().find(|(name, ..)| *name == row.test);
    let half = known.is_some_and(|(_, _, half, _)| *half);
    let time = if half { Quantity::HalfRoundTrip } else { Quantity::OperationTime };
    let place = format!("line {}", row.line);
    let count = |name: &str, draft: &mut Draft| draft.keep(whole(row.cell(name)?, &place));
    let group = row.cell("Group").map_or(String::new(), |group| format!(", group {group}"));
    let shared = Shared {
        test: format!("{}{group}", row.name),
        pattern: known.and_then(|(_, pattern, ..)| *pattern),
        message_bytes: count("#bytes", draft),
        samples: count("#repetitions", draft),
        flows: row.ranks.filter(|_| half).map(|ranks| ranks / 2).filter(|pairs| *pairs > 0),
        line: Some(row.line),
        ..Shared::default()
    };
    if row.cells.iter().any(|(name, _)| name == "#bytes") && shared.message_bytes.is_none() {
        return;
    }
    let overlapped = Shared { test: format!("{}, with computation", shared.test), ..shared.clone() };
    for (name, value) in &row.cells {
        let meaning = match name.as_str() {
            "t[usec]" | "t_avg[usec]" | "t_pure[usec]" => ((time, Statistic::Mean), 1e3),
            "t_min[usec]" => ((time, Statistic::Least), 1e3),
            "t_max[usec]" => ((time, Statistic::Greatest), 1e3),
            "t_ovrl[usec]" => ((time, Statistic::Mean), 1e3),
            "overlap[%]" => ((Quantity::Overlap, Statistic::Mean), 0.01),
            RATE => ((Quantity::Throughput, Statistic::Mean), mbyte),
            "Msg/sec" => ((Quantity::MessageRate, Statistic::Mean), 1.0),
            "#bytes" | "#repetitions" | "Group" => continue,
            "defects" => {
                if *value > 0.0 {
                    draft.doubt(format!(
                        "{place}: the buffers were not what they should be (defects: {value})"
                    ));
                }
                continue;
            }
            other => {
                draft.unread(format!("{place}, {other}"), &value.to_string());
                continue;
            }
        };
        let of_ranks = match name.as_str() {
            "t_ovrl[usec]" => overlapped.clone(),
            "t_min[usec]" | "t_max[usec]" => shared.of_ranks(),
            _ => shared.clone(),
        };
        draft.add(of_ranks.row(meaning.0, (*value, meaning.1), (None, name)));
    }
}
