//! NetPIPE: the columns of its output file. Of 3 the Mbps are 2^20 bits and the times seconds, of 5 they are 10^6 or 10^9 and
//! microseconds: the columns themselves prove which.

use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run, refuse};
use crate::vocabulary::{Quantity, Statistic};

const HINT: &str = "give the file that NPtcp -o FILE wrote: a size, a rate and a time in each line";

/// What an edition writes: its columns, and what one of their units is.
struct Edition {
    name: &'static str,
    columns: usize,
    /// The bits of its rate, and the digits behind its point.
    rate: (f64, i32, &'static str),
    /// The seconds of its time, and the digits behind its point.
    time: (f64, i32, &'static str),
    /// What the time and the rate are of their trials.
    statistics: (Statistic, Statistic),
}

const MEANS: (Statistic, Statistic) = (Statistic::Mean, Statistic::Mean);

/// Version 3 prints the least time of its trials, 5 their mean, and where it has five columns also the least and the
/// greatest rate.
const EDITIONS: [Edition; 4] = [
    Edition {
        name: "3",
        columns: 3,
        rate: (1_048_576.0, 6, "column 2, 2^20 bits/s"),
        time: (1.0, 8, "column 3, s"),
        statistics: (Statistic::Least, Statistic::Greatest),
    },
    Edition {
        name: "5",
        columns: 3,
        rate: (1e6, 3, "column 2, 10^6 bits/s"),
        time: (1e-6, 3, "column 3, us"),
        statistics: MEANS,
    },
    Edition {
        name: "5",
        columns: 3,
        rate: (1e9, 3, "column 2, 10^9 bits/s"),
        time: (1e-6, 2, "column 3, us"),
        statistics: MEANS,
    },
    Edition {
        name: "5",
        columns: 5,
        rate: (1e9, 3, "column 2, 10^9 bits/s"),
        time: (1e-6, 2, "column 5, us"),
        statistics: MEANS,
    },
];

/// The most pairs of processes whose rates NetPIPE 5 adds.
const MOST_PAIRS: f64 = 4096.0;

pub(super) fn recognises(text: &str) -> bool {
    let mut rows = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).peekable();
    let fits = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        EDITIONS.iter().any(|edition| edition.columns == words.len())
            && words[0].parse::<u64>().is_ok()
            && words[1..].iter().all(|word| word.contains('.') && word.parse::<f64>().is_ok())
    };
    rows.peek().is_some() && rows.all(fits)
}

/// A line: bytes, rates, time.
struct Row {
    line: u64,
    numbers: Vec<f64>,
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    let mut draft = Draft::default();
    let rows: Vec<Row> = lines(run)?.iter().filter_map(|line| row(line, &mut draft)).collect();
    if rows.is_empty() {
        return Ok(draft);
    }
    let fits = |edition: &&Edition| {
        let pairs = edition.pairs(&rows);
        rows.iter().filter(|row| edition.fits(row, pairs)).count()
    };
    // Of two that fit alike the first of the table.
    let best = EDITIONS.iter().rev().max_by_key(fits).filter(|edition| fits(edition) > 0);
    let Some(edition) = best else {
        let line = rows.first().map_or(String::new(), |row| format!("line {}: ", row.line));
        return refuse(
            format!(
                "{line}its rate is not its size over its time in the units of any NetPIPE{}",
                near(&rows)
            ),
            HINT,
        );
    };
    draft.version = Some(edition.name.into());
    let pairs = edition.pairs(&rows);
    for row in &rows {
        if edition.fits(row, pairs) {
            let read = edition.rows(row, pairs, &mut draft);
            draft.keep(read);
        } else {
            let (line, near) = (row.line, near(std::slice::from_ref(row)));
            let what = "its rate is not its size over its time in the units of the others";
            draft.doubt(format!("line {line}: {what}{near}, and left out"));
        }
    }
    draft.doubt(if edition.name == "3" {
        "the file does not say what carried the bytes, nor whether NetPIPE ran with -s (one way) or -2 (both ways): read as \
         a ping-pong"
    } else {
        "the file does not say what carried the bytes, nor whether NetPIPE ran with --stream (one way) or --bidir (both ways): \
         read as a ping-pong"
    });
    if pairs > 1 {
        draft.doubt("its rates are those of several pairs of processes together");
    }
    draft.doubt("how many trials and repetitions a time is of is not in the file");
    Ok(draft)
}

/// A hint at a unit that no edition writes.
fn near(rows: &[Row]) -> &'static str {
    let decimal = Edition { rate: (1e6, 6, ""), ..EDITIONS[0] };
    if rows.iter().any(|row| decimal.fits(row, 1)) {
        ", but of 10^6 bits: no NetPIPE 3 writes that"
    } else {
        ""
    }
}

/// The numbers of a line.
fn row(line: &Line, draft: &mut Draft) -> Option<Row> {
    let count = line.words().len();
    if !EDITIONS.iter().any(|edition| edition.columns == count) {
        let what = format!("line {} has {count} columns, and not three or five", line.number);
        line.is_unread(draft);
        return draft.keep(refuse(what, HINT));
    }
    let numbers = draft.keep(line.numbers())?;
    Some(Row { line: line.number, numbers })
}

impl Edition {
    /// How many pairs of processes add their rates: as many as most lines say.
    fn pairs(&self, rows: &[Row]) -> u32 {
        let of_row = |row: &Row| {
            let (bits, rate, time) =
                (8.0 * row.numbers[0], row.numbers[1], row.numbers[row.numbers.len() - 1]);
            let pairs = (rate * self.rate.0 * time * self.time.0 / bits).round();
            (1.0..=MOST_PAIRS).contains(&pairs).then_some(pairs as u32)
        };
        let mut pairs: Vec<u32> = rows.iter().filter_map(of_row).collect();
        pairs.sort_unstable();
        if self.name == "3" { 1 } else { pairs.get(pairs.len() / 2).copied().unwrap_or(1) }
    }

    /// Whether a line's rate is its size over its time, of so many pairs, as far as the digits go.
    fn fits(&self, row: &Row, pairs: u32) -> bool {
        if row.numbers.len() != self.columns {
            return false;
        }
        let (bits, rate, time) = (8.0 * row.numbers[0], row.numbers[1], row.numbers[self.columns - 1]);
        // Both columns are rounded; at a few microseconds the time has three digits.
        let half = |digits: i32| 0.5 * 10_f64.powi(-digits);
        let least = ((time - half(self.time.1)) * self.time.0).max(1e-12);
        let most = (time + half(self.time.1)) * self.time.0;
        let moved = bits * f64::from(pairs) / self.rate.0;
        (moved / most - half(self.rate.1)..=moved / least + half(self.rate.1)).contains(&rate)
    }

    fn rows(&self, row: &Row, pairs: u32, draft: &mut Draft) -> Read<()> {
        let message_bytes = whole(row.numbers[0], &format!("line {}", row.line))?;
        let shared = Shared {
            test: "NetPIPE".into(),
            message_bytes: Some(message_bytes),
            flows: Some(pairs).filter(|pairs| *pairs > 1),
            line: Some(row.line),
            ..Shared::default()
        };
        let time = (Quantity::HalfRoundTrip, self.statistics.0);
        let seconds = row.numbers[self.columns - 1];
        draft.rows.push(shared.row(time, (seconds, self.time.0 * 1e9), (None, self.time.2))?);
        let rate = (Quantity::Throughput, self.statistics.1);
        draft.rows.push(shared.row(rate, (row.numbers[1], self.rate.0), (None, self.rate.2))?);
        if self.columns == 5 {
            for (column, statistic) in [(2, Statistic::Least), (3, Statistic::Greatest)] {
                let field = format!("column {}, 10^9 bits/s", column + 1);
                let what = (Quantity::Throughput, statistic);
                draft.rows.push(shared.row(what, (row.numbers[column], self.rate.0), (None, &field))?);
            }
        }
        Ok(())
    }
}
