//! Our loops against one that each MPI's own compiler made, in the same ranks, block by block in turns.
//!
//!     cargo bench --bench mpi [-- [--json FILE] [--pairs N] [NAME]...]
//!
//! Prints ours over the reference's time of a round trip: the median of the ratios of adjacent blocks, with its 95 %
//! interval by the signs of its order statistics, and their number; last the geometric mean of all rows. A NAME,
//! `openmpi` or `mpich`, picks a library. Nothing here decides a test.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "sides/ranks.rs"]
mod ranks;

use linerate::pattern::{Part, Passed, play_here};
use linerate::plan::Block;
use linerate::statistic::Estimate;
use linerate::transport::foreign::library::{Found, ProcessEnvironment, libraries};
use linerate::transport::foreign::mpi::rank::RankMessages;
use linerate::vocabulary::{Cache, Does, MPI_MAKERS, Wait};
use linerate_sys::library::Library;
use linerate_sys::mpi::{Handle, Mpi, Rank, Reference, ThreadLevel};
use linerate_sys::thread;
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const PAIRS: usize = 200;
const BLOCK_NS: f64 = 5e6;
/// Parts of a block; as long as one of them is what goes before it, on both sides.
const SLICES: u32 = 4;
/// Bytes, and about what a round trip takes.
const SIZES: [(u64, f64); 4] = [(1, 6e2), (1 << 10, 1.5e3), (64 << 10, 2.3e4), (1 << 20, 2e5)];
/// What an answer begins with: a launcher and a library may say what they like.
const MARK: &str = "linerate-bench-mpi";

const REFERENCE: &str = r#"
#include <mpi.h>
#include <time.h>
static void round_trips(int rank, void *room, int bytes, long long messages) {
    for (long long i = 0; i < messages; i++) {
        if (rank == 0) {
            MPI_Send(room, bytes, MPI_BYTE, 1, 78, MPI_COMM_WORLD);
            MPI_Recv(room, bytes, MPI_BYTE, 1, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(room, bytes, MPI_BYTE, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(room, bytes, MPI_BYTE, 0, 78, MPI_COMM_WORLD);
        }
    }
}
long long linerate_reference(void *room, int bytes, long long lead, long long messages) {
    int rank;
    struct timespec a, b;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    round_trips(rank, room, bytes, lead);
    clock_gettime(CLOCK_MONOTONIC, &a);
    round_trips(rank, room, bytes, messages);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
}
"#;

/// The rank's side: every pair of blocks of every size, and what rank 0 found.
fn rank(arguments: &[String]) -> Result<(), String> {
    let [library, abi, reference, pairs] = arguments else { return Err("four arguments".into()) };
    let told = |error: linerate_sys::Error| format!("{error}: {}", error.source);
    let library = Library::open(Path::new(library)).map_err(told)?;
    let abi = abi.parse().map_err(|()| "no such ABI")?;
    let mut mpi = Mpi::init(&library, abi, ThreadLevel::Single, 2).map_err(told)?;
    let own = Library::open(Path::new(reference)).map_err(told)?;
    let reference = Reference::load(&own).map_err(told)?;
    let pairs: usize = pairs.parse().map_err(|_| "no number of pairs")?;
    let number = mpi.rank();
    let cpus = thread::allowed_cpus().map_err(told)?;
    let cpu = cpus[number as usize % cpus.len()];
    thread::pin(&[cpu]).map_err(told)?;
    for (size, about_ns) in SIZES {
        let lead = ((BLOCK_NS / about_ns) as u64 / u64::from(SLICES)).max(1);
        let mut room = vec![1; size as usize];
        let mut ratios = Vec::new();
        let messages = lead * u64::from(SLICES);
        let theirs = |room: &mut [u8]| reference.ping(room, lead as i64, messages as i64);
        // The first pair finds its way.
        for pair in 0..=pairs {
            let mut one = || {
                let ours = match &mut mpi {
                    Mpi::Narrow(rank) => ours(rank, number, cpu, (size, lead)),
                    Mpi::Wide(rank) => ours(rank, number, cpu, (size, lead)),
                };
                ours.map_err(|error| error.to_string())
            };
            let (ours, theirs) = match pair % 2 {
                0 => (one()?, theirs(&mut room)),
                _ => {
                    let theirs = theirs(&mut room);
                    (one()?, theirs)
                }
            };
            if pair > 0 {
                ratios.push((ours, theirs));
            }
        }
        if number == 0 {
            println!("\n{MARK} {}", json!({ "bytes": size, "messages": messages, "pairs": ratios }));
        }
    }
    mpi.finalize();
    Ok(())
}

/// The nanoseconds of a block by our loops, without those of its lead: until that is over, one end may still be on its way.
fn ours<H: Handle>(
    rank: &mut Rank<H>,
    number: i32,
    cpu: u32,
    (message_bytes, messages): (u64, u64),
) -> linerate::Result<i64> {
    let (slices, lead, cache) = (1 + SLICES, 1, Cache::Hot);
    let block = Block { message_bytes, messages, slices, lead, cache, ..Block::default() };
    let does = if number == 0 { Does::Pings } else { Does::Echoes };
    let part = Part { link: Passed::new(RankMessages::<_, false, false>(rank)), does, cpu: Some(cpu) };
    let measured = play_here(part, Wait::Polling, &[block])?;
    let slices = measured.into_iter().flat_map(|measured| measured.flow.slices_ns);
    Ok(slices.skip(1).sum::<u64>() as i64)
}

/// Ours over the reference's, a row a size.
fn measured(found: &Found, folder: &Path, pairs: usize) -> Result<Vec<(u64, Estimate)>, String> {
    let reference = ranks::compiled(found, REFERENCE, folder);
    let reference = reference.ok_or("its compiler made no reference: is it installed?")?;
    let answers = ranks::played(found, &reference, &[pairs.to_string()], MARK)?;
    Ok(answers.iter().filter_map(|answer| row(answer)).collect())
}

fn row(answer: &str) -> Option<(u64, Estimate)> {
    let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
    let pairs = answer["pairs"].as_array()?.iter();
    let ratios: Option<Vec<f64>> = pairs.map(|pair| Some(pair[0].as_f64()? / pair[1].as_f64()?)).collect();
    Some((answer["bytes"].as_u64()?, Estimate::from_values(ratios?)?))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let Some(ended) = ranks::as_rank(&arguments, rank) {
        return ended;
    }
    let value = |flag: &str| {
        let at = arguments.iter().position(|word| word == flag)?;
        arguments.get(at + 1).cloned()
    };
    let pairs = value("--pairs").and_then(|text| text.parse().ok()).unwrap_or(PAIRS);
    let json = value("--json").map(|path| File::create(path).expect("the file can be written"));
    let wanted = |name: &str| {
        let makers = || MPI_MAKERS.iter().map(|maker| maker.name);
        let mut named = arguments.iter().filter(|word| makers().any(|maker| maker == *word)).peekable();
        named.peek().is_none() || named.any(|word| word == name)
    };
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let folder = std::env::temp_dir().join(format!("linerate-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the references");
    let (mut logs, mut json) = (Vec::new(), json);
    for found in libraries(program, &ProcessEnvironment::of_this_process()) {
        let Ok(identity) = &found.identity else { continue };
        if identity.abi.is_none() || !wanted(&identity.name) {
            continue;
        }
        match measured(&found, &folder, pairs) {
            Err(why) => println!("{:<28} missing: {why}", identity.version),
            Ok(rows) => {
                for (bytes, ratio) in rows {
                    let Estimate { median, low, high, n } = ratio;
                    let [low, high] =
                        [low, high].map(|end| end.map_or("?".into(), |end| format!("{end:.3}")));
                    println!("{:<28} {bytes:>8} B   {median:.3} [{low}, {high}] n={n}", identity.version);
                    logs.push(ratio.median.ln());
                    if let Some(file) = &mut json {
                        let line = json!({ "library": identity.version, "bytes": bytes, "ratio": ratio.median,
                            "low": ratio.low, "high": ratio.high, "n": ratio.n });
                        writeln!(file, "{line}").expect("the file can be written");
                    }
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    if !logs.is_empty() {
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        println!("geometric mean of {} rows: {mean:.3}", logs.len());
    }
    ExitCode::SUCCESS
}
