//! Applications in small against what they stand on, in paired blocks by turns: what a stage, a stripe or a part of a file costs.
//!
//!     cargo bench --bench applications [-- [--json FILE] [--pairs N] [NAME]...]
//!
//! | row | ours | against |
//! |---|---|---|
//! | hand-over | buffers of 64 KiB of a `pipeline` whose filters do nothing | the raw stream of the same transport, 64 KiB |
//! | striped | `striped-read`, `striped-write` on memory, one server and one client, 2 MiB | the raw stream over TCP, 2 MiB |
//! | surface | the stage that finds a surface, CPU time | the same lines by one thread without a pipeline, alone and beside one that draws, CPU time |
//! | mpi-io | `file-read`, `file-write` through a library that is loaded | a loop that this library's `mpicc` compiled |
//!
//! Prints for each row how many times as quick ours is: the median of the ratios of adjacent blocks, with its 95 % interval by
//! the signs of its order statistics, and their number; and whether its aim is met, not met, or cannot be told, by whether the
//! interval lies on one side of it. A NAME picks rows by a part of their names. Nothing here decides a test.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod hand_over;
mod mpi_io;
#[path = "../sides/ranks.rs"]
mod ranks;
mod row;
mod sessions;
mod striped;
mod surface;

use linerate::pattern::Awake;
use row::Row;
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

/// Blocks a side.
const PAIRS: usize = 20;

/// Every kind of row.
const KINDS: &[fn() -> Vec<Row>] = &[hand_over::rows, striped::rows, surface::rows, mpi_io::rows];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let Some(ended) = ranks::as_rank(&arguments, mpi_io::rank) {
        return ended;
    }
    let value = |flag: &str| {
        let at = arguments.iter().position(|word| word == flag)?;
        arguments.get(at + 1).cloned()
    };
    let pairs = value("--pairs").and_then(|text| text.parse().ok()).unwrap_or(PAIRS);
    let mut json = value("--json").map(|path| File::create(path).expect("the file can be written"));
    let options = [value("--json"), value("--pairs")];
    let is_name = |word: &&String| !word.starts_with("--") && !options.contains(&Some((*word).clone()));
    let names: Vec<&String> = arguments.iter().filter(is_name).collect();
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part.as_str()));
    // As in a run: who sleeps is woken on a CPU that is awake.
    let cpus = linerate_sys::thread::allowed_cpus().unwrap_or_default();
    let awake = Awake::keep(&cpus);
    if awake.is_none() {
        eprintln!("CPUs are not kept awake: threads of idle priority are not to be had");
    }
    println!(
        "{:46} {:>22}  {:>4}  {:28}  medians, ours against the other's",
        "row", "times as quick", "n", "aim"
    );
    for row in KINDS.iter().flat_map(|rows| rows()).filter(|row| is_wanted(&row.name)) {
        match (row.measure)(pairs) {
            Err(why) => println!("{:46} not measured: {why}", row.name),
            Ok(told) => {
                println!("{:46} {}", row.name, told.line(&row));
                if let Some(file) = &mut json {
                    let line = json!({ "row": row.name, "against": row.against, "ratio": told.ratio, "aim": row.aim,
                        "verdict": told.verdict(row.aim), "unit": row.unit, "ours": told.ours, "other": told.other });
                    writeln!(file, "{line}").expect("the file can be written");
                }
            }
        }
    }
    ExitCode::SUCCESS
}
