//! Files moved by this program against those moved by others, in paired blocks in a lab.
//!
//!     cargo bench --bench transfer [-- [--rounds N] [--sizes 10MB,100MB] [--target lab:delay=10ms]]
//!
//! Each round moves the same file by every program once, in another order; a round is a block, and the ratio of the two times in
//! it is taken before the median, so that what changes from round to round falls on both. Prints, for each other program, by
//! how much ours is faster: the median of the ratios with its interval. Like is held against like: what seals is marked, and so
//! is what does not verify. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::statistic::Estimate;
use serde_json::Value;
use std::error::Error;
use std::process::{Command, Stdio};

/// From six on a median has an interval; a few more make it narrow.
const ROUNDS: &str = "9";
const SIZES: &str = "10MB,100MB";

/// What this program is called in the rows that others are held against, and that without digests.
const OURS: [&str; 2] = ["linerate", "linerate, not verified"];

/// Streams of ours: as shipped.
const STREAMS: u64 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let of = |name: &str, usual: &str| {
        let at = arguments.iter().position(|word| word == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(usual.to_owned(), Clone::clone)
    };
    let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args([
            "transfer",
            &of("--target", "lab"),
            "--compare",
            "--json",
            "--rounds",
            &of("--rounds", ROUNDS),
        ])
        .args(["--sizes", &of("--sizes", SIZES)])
        .stderr(Stdio::inherit())
        .output()?;
    let told: Value = serde_json::from_slice(&output.stdout)?;
    let rows: Vec<&Value> =
        told["rows"].as_array().into_iter().flatten().map(|row| &row["transfers"]).collect();
    let mut sizes: Vec<u64> = rows.iter().filter_map(|row| row["bytes"].as_u64()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for bytes in sizes {
        println!(
            "\n{} MB, until it was on the disk: their time over ours, block by block",
            bytes / 1_000_000
        );
        let of_size = || rows.iter().copied().filter(move |row| row["bytes"] == bytes);
        let ours = OURS.map(|name| of_size().find(|row| row["tool"] == name && row["streams"] == STREAMS));
        println!(
            "  {:26} {:>7} {:>26} {:>26}  sealed",
            "program", "streams", "ours verified", "ours not verified"
        );
        for other in of_size().filter(|row| row["is_ours"] == false) {
            let [verified, bare] = ours.map(|ours| ours.map_or("-".into(), |ours| ratio(ours, other)));
            let best = if other["flags"].is_string() { ", best flags" } else { "" };
            let tool = format!("{}{best}", other["tool"].as_str().unwrap_or_default());
            let (streams, seals) = (&other["streams"], if other["seals"] == true { "yes" } else { "no" });
            println!("  {tool:26} {streams:>7} {verified:>26} {bare:>26}  {seals}");
        }
    }
    Ok(())
}

/// The median of their time over ours, round by round, with its interval.
fn ratio(ours: &Value, theirs: &Value) -> String {
    let times = |row: &Value| -> Vec<f64> {
        row["took_ns"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let (ours, theirs) = (times(ours), times(theirs));
    let ratios: Vec<f64> = theirs.iter().zip(&ours).map(|(theirs, ours)| theirs / ours).collect();
    match Estimate::from_values(ratios.iter().copied()) {
        None => theirs_failed(&theirs),
        Some(Estimate { median, low: Some(low), high: Some(high), n }) => {
            format!("{median:.2} [{low:.2}, {high:.2}] n {n}")
        }
        Some(Estimate { median, n, .. }) => format!("{median:.2} n {n}"),
    }
}

fn theirs_failed(theirs: &[f64]) -> String {
    if theirs.is_empty() { "it failed".into() } else { "ours failed".into() }
}
