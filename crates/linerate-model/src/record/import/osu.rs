//! The OSU micro-benchmarks: a title, the names of the columns, a line a message size.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Pattern, Quantity, Statistic};

/// What a title tells: a part of it, the pattern, and whether a time is half of a round trip. The first that fits.
const TESTS: [(&str, Option<Pattern>, bool); 14] = [
    ("bi-directional bandwidth", Some(Pattern::Bidirectional), false),
    ("multiple bandwidth", Some(Pattern::Stream), false),
    ("bandwidth", Some(Pattern::Stream), false),
    ("allreduce", Some(Pattern::Allreduce), false),
    ("reduce_scatter", None, false),
    ("reduce", Some(Pattern::Reduce), false),
    ("broadcast", Some(Pattern::Broadcast), false),
    ("bcast", Some(Pattern::Broadcast), false),
    ("all-to-all personalized", Some(Pattern::AllToAll), false),
    ("barrier", Some(Pattern::Barrier), false),
    ("mpi latency", Some(Pattern::PingPong), true),
    ("multi latency", Some(Pattern::PingPong), true),
    ("multi-process latency", Some(Pattern::PingPong), true),
    ("multi-threaded latency", Some(Pattern::PingPong), true),
];

const TITLE: &str = "# OSU ";

/// The column of `-c`, and what stands in it: where a buffer was wrong, the program ends after its line.
const VALIDATION: &str = "Validation";
const FAIL: &str = "Fail";

/// What a title has behind MPI where buffers are on an accelerator.
const DEVICES: [&str; 5] = ["-cuda managed", "-cuda", "-rocm", "-openacc", "-managed"];

pub(super) fn recognises(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(TITLE))
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let mut test = Test::default();
    for line in lines(run)? {
        if let Some(title) = line.text.strip_prefix(TITLE) {
            test = Test::titled(title, &mut draft);
        } else if let Some(pairs) = line.find("[ pairs: ", &mut draft) {
            let pairs = draft.keep(whole(pairs, &format!("line {}", line.number)));
            test.shared.flows = pairs.and_then(|pairs| u32::try_from(pairs).ok());
        } else if let Some(names) =
            line.text.strip_prefix('#').filter(|names| names.contains("us)") || names.contains("/s"))
        {
            test.columns = columns(names);
        } else if line.is_row() && !test.columns.is_empty() {
            let row = test.row(&line, &mut draft);
            if draft.keep(row).is_none() {
                line.is_unread(&mut draft);
            }
        } else {
            line.is_unread(&mut draft);
        }
    }
    draft.doubt("the file does not say the hosts, the MPI or what it ran over");
    Ok(draft)
}

/// The names of columns: they hold single blanks, and more stand between them.
fn columns(text: &str) -> Vec<String> {
    let names = text.split("  ").map(str::trim).filter(|name| !name.is_empty());
    names.map(String::from).collect()
}

/// The test whose lines follow.
#[derive(Default)]
struct Test {
    shared: Shared,
    columns: Vec<String>,
    half: bool,
}

impl Test {
    fn titled(title: &str, draft: &mut Draft) -> Test {
        let (name, version) = title.rsplit_once(" v").unwrap_or((title, ""));
        draft.version = Some(version.trim().to_owned()).filter(|version| !version.is_empty());
        let lower = DEVICES.iter().fold(name.to_lowercase(), |name, device| name.replacen(device, "", 1));
        let known = TESTS.iter().find(|(part, ..)| lower.contains(part));
        let shared = Shared {
            test: name.trim_end_matches(" Test").into(),
            transport: lower.split_whitespace().next().map(String::from),
            pattern: known.and_then(|(_, pattern, _)| *pattern),
            ..Shared::default()
        };
        Test { shared, columns: Vec::new(), half: known.is_some_and(|(.., half)| *half) }
    }

    fn row(&self, line: &Line, draft: &mut Draft) -> Read<()> {
        let words = line.words();
        if words.len() != self.columns.len() {
            draft.doubt(format!("line {} has not the columns of its table, and is left out", line.number));
            line.is_unread(draft);
            return Ok(());
        }
        let mut shared = Shared { line: Some(line.number), ..self.shared.clone() };
        let place = format!("line {}", line.number);
        let cells = || self.columns.iter().map(String::as_str).zip(words.iter().copied());
        for (name, word) in cells() {
            match name {
                "Size" => shared.message_bytes = Some(whole(line.number(word)?, &place)?),
                "Iterations" => shared.samples = Some(whole(line.number(word)?, &place)?),
                VALIDATION if word == FAIL => {
                    draft.doubt(format!(
                        "{place}: the buffers were not what they should be (Validation: Fail)"
                    ));
                }
                _ => (),
            }
        }
        for (name, word) in cells() {
            if let Some((what, scale)) = self.meaning(name) {
                if let Some(value) = draft.keep(line.number(word)) {
                    // The least and the greatest are of the ranks, of which each has the mean of its repetitions.
                    let is_of_ranks = [Statistic::Least, Statistic::Greatest].contains(&what.1);
                    let shared = if is_of_ranks { shared.of_ranks() } else { shared.clone() };
                    draft.add(shared.row(what, (value, scale), (None, name)));
                }
            } else if !["Size", "Iterations", VALIDATION].contains(&name) {
                draft.unread(format!("line {}, {name}", line.number), word);
            }
        }
        Ok(())
    }

    /// What a column is of, and what one of its units is in ours.
    fn meaning(&self, name: &str) -> Option<((Quantity, Statistic), f64)> {
        let percentile = || {
            let digits = name.strip_prefix('P')?;
            digits.split_once(' ').map_or(digits, |(digits, _)| digits).parse::<u8>().ok()
        };
        let statistic = match percentile() {
            Some(percent) => Statistic::Percentile(percent.into()),
            None if name.contains("Min") => Statistic::Least,
            None if name.contains("Max") => Statistic::Greatest,
            None => Statistic::Mean,
        };
        let time = if self.half { Quantity::HalfRoundTrip } else { Quantity::OperationTime };
        // Of a non-blocking collective these are parts of the loop around it, and not the operation.
        const AROUND: [&str; 5] = ["Overall", "Compute", "Coll. Init", "MPI_Test", "MPI_Wait"];
        match name {
            name if AROUND.iter().any(|around| name.starts_with(around)) => None,
            name if name.starts_with("Overlap") => Some(((Quantity::Overlap, statistic), 0.01)),
            name if name.contains("MB/s") => Some(((Quantity::Throughput, statistic), 8e6)),
            name if name.contains("Messages/s") => Some(((Quantity::MessageRate, statistic), 1.0)),
            name if name.contains("us)") => Some(((time, statistic), 1e3)),
            _ => None,
        }
    }
}
