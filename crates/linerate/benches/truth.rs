//! The lab's own wire against the truth: what is put in, what is measured, and whether they agree.
//!
//!     cargo bench --bench truth -- [--json FILE] [ROW...]
//!
//! ROW is a group of rows: rate, path, bound, delay, hops, loss, window, mathis, jitter. Prints a line a row, and
//! writes one as JSON into FILE. It ends with 1 where a row is out of its tolerance; nothing is tried twice.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/truth/measure.rs"]
mod measure;
#[allow(dead_code, reason = "the tests are run as an ordinary user too")]
#[path = "../tests/user/nobody.rs"]
mod nobody;
#[allow(dead_code, reason = "the tests take another part of it")]
#[path = "../tests/truth/rows.rs"]
mod rows;

use rows::{Row, Which};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

/// Repetitions of each row: the fewest that have an interval, and some.
const TIMES: usize = 8;

/// A group of rows.
struct Group {
    name: &'static str,
    rows: fn() -> Vec<Row>,
}

const GROUPS: &[Group] = &[
    Group { name: "rate", rows: || [1e7, 1e8, 1e9, 5e9].map(|rate| rows::rate(rate, "", TIMES)).into() },
    Group {
        name: "path",
        rows: || vec![rows::rate(1e9, ",delay=10ms", TIMES), rows::rate(1e9, ",delay=5ms", TIMES)],
    },
    Group { name: "bound", rows: || [1e7, 1e8, 1e9].map(|rate| rows::ping_pong_bound(rate, TIMES)).into() },
    Group {
        name: "delay",
        rows: || rows::added_round_trips(&[0.5, 1.0, 5.0, 25.0, 100.0], Which::Median, TIMES),
    },
    Group { name: "coalesce", rows: || rows::coalescing(&[16.0, 64.0, 250.0, 1000.0], Which::Median, TIMES) },
    Group { name: "hops", rows: || rows::hops(rows::HOPS, Which::Median, TIMES) },
    Group {
        name: "loss",
        rows: || [0.001, 0.01, 0.05].into_iter().flat_map(|share| rows::loss(share, u64::MAX, 3.0)).collect(),
    },
    Group { name: "window", rows: rows::window },
    Group { name: "mathis", rows: || vec![rows::mathis(30.0)] },
    Group { name: "jitter", rows: || rows::jitter(4000) },
];

fn main() -> ExitCode {
    // Cargo says --bench to every bench.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut file, mut wanted) = (None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => file = arguments.next().map(|path| File::create(path).unwrap()),
            name if GROUPS.iter().any(|group| group.name == name) => wanted.push(argument),
            other => {
                let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
                eprintln!("no group of rows is called `{other}`; there are {}", names.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    let mut is_ok = true;
    for group in
        GROUPS.iter().filter(|group| wanted.is_empty() || wanted.iter().any(|name| name == group.name))
    {
        for row in (group.rows)() {
            println!("{}", row.text());
            is_ok &= row.is_ok();
            if let Some(file) = &mut file {
                writeln!(file, "{}", line(&row)).unwrap();
            }
        }
    }
    ExitCode::from(u8::from(!is_ok))
}

fn line(row: &Row) -> Value {
    let estimate = row.estimate();
    json!({
        "row": row.name,
        "true": row.truth,
        "measured": {
            "median": estimate.median, "low": estimate.low, "high": estimate.high, "n": estimate.n,
        },
        "ratio": estimate.median / row.truth,
        "tolerance": row.tolerance / row.truth,
        "ok": row.is_ok(),
    })
}
