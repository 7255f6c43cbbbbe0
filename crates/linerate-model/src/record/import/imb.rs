//! The Intel MPI Benchmarks: what IMB-MPI1 prints. What its Mbyte is, its own times tell.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read};
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

pub(super) fn recognises(text: &str) -> bool {
    text.contains(TITLE) && text.contains("#repetitions")
}

/// A line of a table, with what its table says.
struct Row {
    test: &'static str,
    name: String,
    line: u64,
    ranks: Option<u32>,
    cells: Vec<(String, f64)>,
}

impl Row {
    fn cell(&self, name: &str) -> Option<f64> {
        self.cells.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

pub(super) fn read(text: &str) -> Read<Draft> {
    let mut draft = Draft::default();
    let rows = rows(&lines(text)?, &mut draft)?;
    let mbyte = match rows.iter().filter_map(mbyte).max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, mbyte)) => mbyte,
        None => {
            if rows.iter().any(|row| row.cell("Mbytes/sec").is_some()) {
                draft.doubt("whether a Mbyte is of 10^6 or of 2^20 bytes cannot be told from the times: taken as 10^6");
            }
            DECIMAL
        }
    };
    let unit = if mbyte == BINARY { "2^20 bytes" } else { "10^6 bytes" };
    draft.fact("Mbyte", Some(unit.into()));
    for row in &rows {
        add(row, mbyte, &mut draft)?;
    }
    draft.doubt("the file does not say what the MPI ran over");
    Ok(draft)
}

/// The lines of all tables.
fn rows(lines: &[Line], draft: &mut Draft) -> Read<Vec<Row>> {
    let (mut name, mut ranks, mut columns) = (String::new(), None, Vec::<String>::new());
    let mut rows = Vec::new();
    for line in lines {
        let text = line.text.as_str();
        if let Some(title) = text.strip_prefix(TITLE) {
            (name, ranks, columns) = (title.trim().to_owned(), None, Vec::new());
        } else if let Some(count) = line.after("# #processes = ")? {
            ranks = u32::try_from(whole(count, &format!("line {}", line.number))?).ok();
        } else if text.contains("#repetitions") {
            columns = line.words().into_iter().map(String::from).collect();
        } else if line.is_row() && !columns.is_empty() {
            if line.words().len() == columns.len() {
                let cells = columns.iter().cloned().zip(line.numbers()?).collect();
                let test = TESTS.iter().find(|(known, ..)| *known == name).map_or("", |(known, ..)| *known);
                rows.push(Row { test, name: name.clone(), line: line.number, ranks, cells });
            } else {
                draft
                    .doubt(format!("line {} has not the columns of its table, and is left out", line.number));
                line.is_unread(draft);
            }
        } else if !told(text, draft) {
            line.is_unread(draft);
        }
    }
    Ok(rows)
}

/// Whether a line tells of the machine or the program.
fn told(text: &str, draft: &mut Draft) -> bool {
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
    let (.., counted) =
        TESTS.iter().find(|(name, ..)| *name == row.test).filter(|(.., counted)| *counted > 0.0)?;
    let bytes = row.cell("#bytes")?;
    let time = row.cell("t[usec]").or(row.cell("t_max[usec]"))?;
    let rate = row.cell("Mbytes/sec")?;
    if bytes <= 0.0 || time <= 0.0 || rate <= 0.0 {
        return None;
    }
    let bits = 8.0 * counted * bytes / (time * 1e-6);
    let fits = |mbyte: &f64| (bits / (rate * mbyte) - 1.0).abs() < ROUNDING;
    [DECIMAL, BINARY].into_iter().find(fits).map(|mbyte| (bytes, mbyte))
}

/// What a row of a table says.
fn add(row: &Row, mbyte: f64, draft: &mut Draft) -> Read<()> {
    let known = TESTS.iter().find(|(name, ..)| *name == row.test);
    let half = known.is_some_and(|(_, _, half, _)| *half);
    let time = if half { Quantity::HalfRoundTrip } else { Quantity::OperationTime };
    let count =
        |name: &str| row.cell(name).map(|value| whole(value, &format!("line {}", row.line))).transpose();
    let shared = Shared {
        test: row.name.clone(),
        pattern: known.and_then(|(_, pattern, ..)| *pattern),
        message_bytes: count("#bytes")?,
        samples: count("#repetitions")?,
        flows: row.ranks.filter(|_| half).map(|ranks| ranks / 2).filter(|pairs| *pairs > 0),
        line: Some(row.line),
        ..Shared::default()
    };
    for (name, value) in &row.cells {
        let meaning = match name.as_str() {
            "t[usec]" | "t_avg[usec]" => ((time, Statistic::Mean), 1e3),
            "t_min[usec]" => ((time, Statistic::Least), 1e3),
            "t_max[usec]" => ((time, Statistic::Greatest), 1e3),
            "Mbytes/sec" => ((Quantity::Throughput, Statistic::Mean), mbyte),
            "Msg/sec" => ((Quantity::MessageRate, Statistic::Mean), 1.0),
            "#bytes" | "#repetitions" => continue,
            other => {
                draft.unread(format!("line {}, {other}", row.line), &value.to_string());
                continue;
            }
        };
        draft.rows.push(shared.row(meaning.0, (*value, meaning.1), (None, name))?);
    }
    Ok(())
}
