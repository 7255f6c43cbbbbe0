//! Files moved by this program against those moved by others, in paired blocks in a lab.
//!
//!     cargo bench --bench transfer [-- [--rounds N] [--only memory,disk,small] [--target lab:delay=10ms]]
//!
//! Each row of [`LOADS`] over each path of [`PATHS`]. A round moves the same file by every program once, in another order; a round
//! is a block, and the ratio of the two times in it is taken before the median, so that what changes from round to round falls on
//! both. Who is a tenth behind in each of three rounds runs no more, and who takes ten times as long is ended. Prints, for each
//! other program, by how much ours is faster: the median of the ratios with its interval; and what both ends' CPUs took for a byte.
//! Like is held against like: what seals against ours sealed, what verifies against ours verified, the rest against ours that does
//! not. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::statistic::Estimate;
use serde_json::Value;
use std::error::Error;
use std::process::{Command, Stdio};

/// From six on a median has an interval; a few more make it narrow.
const ROUNDS: &str = "9";

/// What is moved: a word for it, and how `linerate transfer --compare` is asked for it.
const LOADS: &[(&str, &[&str])] = &[
    ("memory", &["--from", "memory", "--to", "memory", "--sizes", "256MiB"]),
    ("disk", &["--from", "disk", "--to", "memory", "--sizes", "256MiB"]),
    ("small", &["--from", "disk", "--to", "memory", "--sizes", "10MB", "--files", "10000"]),
];

/// A link that nothing bounds but the CPUs, a slower one, and one of 20 ms there and back.
const PATHS: &[&str] = &["lab", "lab:rate=1Gb/s", "lab:delay=10ms"];

/// What this program is called in the rows that others are held against: verified, not verified, sealed and verified.
const VERIFIED: &str = "linerate";
const BARE: &str = "linerate, not verified";
const SEALED: &str = "linerate, sealed";

/// Programs that hide nothing and compare what came with what was sent: rsync(1), "a whole-file checksum"; xrdcp(1) does so only
/// where it is asked.
const VERIFYING: &[&str] = &["rsync"];

/// Streams of ours: as shipped.
const STREAMS: u64 = 4;

/// The lower end of a ratio from which on ours is at least as fast.
const AT_LEAST: f64 = 0.98;

/// A tenth behind.
const BEHIND: f64 = 1.1;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let of = |name: &str| {
        let at = arguments.iter().position(|word| word == name);
        at.and_then(|at| arguments.get(at + 1)).cloned()
    };
    let (only, target) = (of("--only"), of("--target"));
    let rounds = of("--rounds").unwrap_or(ROUNDS.into());
    let is_wanted = |word: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == word));
    let paths: Vec<&str> = target.as_deref().map_or(PATHS.to_vec(), |target| vec![target]);
    for path in paths {
        for (word, load) in LOADS.iter().filter(|(word, _)| is_wanted(word)) {
            println!("\n== {word}, {path}");
            let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
                .args(["transfer", path, "--compare", "--race", "--json", "--rounds", &rounds])
                .args(*load)
                .stderr(Stdio::inherit())
                .output()?;
            table(&serde_json::from_slice(&output.stdout)?);
        }
    }
    Ok(())
}

fn table(told: &Value) {
    let rows: Vec<&Value> = told["rows"].as_array().into_iter().flatten().collect();
    let mut loads: Vec<[Option<u64>; 2]> = rows.iter().map(|row| load(row)).collect();
    loads.sort_unstable();
    loads.dedup();
    for [files, bytes] in loads {
        let what = files.map_or("a file".to_owned(), |files| format!("{files} files"));
        println!("\n{what}, {} bytes: their time over ours, round by round", bytes.unwrap_or_default());
        println!(
            "  {:26} {:>7} {:>26} {:24} {:>9} {:>9}",
            "program", "streams", "ratio", "against", "CPU ns/B", "ours"
        );
        let of_load = || rows.iter().copied().filter(|row| load(row) == [files, bytes]);
        for other in of_load().filter(|row| row["transfers"]["is_ours"] == false) {
            let (is, verifies) = (&other["transfers"], |name: &str| VERIFYING.contains(&name));
            let against = match is["seals"] == true {
                true => SEALED,
                false if is["tool"].as_str().is_some_and(verifies) => VERIFIED,
                false => BARE,
            };
            let ours = of_load()
                .find(|row| row["transfers"]["tool"] == against && row["transfers"]["streams"] == STREAMS);
            let best = if is["flags"].is_string() { ", best flags" } else { "" };
            let program = format!("{}{best}", is["tool"].as_str().unwrap_or_default());
            println!(
                "  {program:26} {:>7} {:>26} {against:24} {:>9} {:>9}",
                is["streams"],
                ours.map_or("-".into(), |ours| ratio(&ours["transfers"], is)),
                cpu(Some(other)),
                cpu(ours),
            );
        }
    }
}

fn load(row: &Value) -> [Option<u64>; 2] {
    ["files", "bytes"].map(|key| row["transfers"][key].as_u64())
}

/// CPU time of both ends for a byte.
fn cpu(row: Option<&Value>) -> String {
    let median = row.and_then(|row| row["cpu_byte_ns"]["median"].as_f64());
    median.map_or("-".into(), |ns| format!("{ns:.2}"))
}

/// The median of their time over ours, round by round, with its interval.
fn ratio(ours: &Value, theirs: &Value) -> String {
    let times = |row: &Value| -> Vec<f64> {
        row["took_ns"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let (ours, theirs) = (times(ours), times(theirs));
    let ratios: Vec<f64> = theirs.iter().zip(&ours).map(|(theirs, ours)| theirs / ours).collect();
    match Estimate::from_values(ratios.iter().copied()) {
        None => "too slow, or failed".into(),
        Some(of) => match (of.low, of.high) {
            (Some(low), Some(high)) => {
                let verdict = if low >= AT_LEAST { "" } else { " !" };
                format!("{:.2} [{low:.2}, {high:.2}]{verdict}", of.median)
            }
            // Too few rounds for an interval.
            _ if ratios.iter().all(|ratio| *ratio >= BEHIND) => format!("{:.2} [-, -] behind", of.median),
            _ => format!("{:.2} [-, -]", of.median),
        },
    }
}
