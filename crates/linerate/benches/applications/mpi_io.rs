//! Files through MPI-IO by a library that is loaded at run time, against a loop that this library's own compiler made, in the same
//! ranks.

use super::ranks;
use super::row::{Row, Told};
use super::sessions::{BLOCK_NS, SLICES, block, counted_ns};
use linerate::pattern::{FileOrder, Filed, Part, play_here};
use linerate::transport::foreign::library::{Found, ProcessEnvironment, libraries};
use linerate::transport::foreign::mpi::RankFile;
use linerate::vocabulary::{Does, Wait};
use linerate_sys::library::Library;
use linerate_sys::mpi::{FileReference, Handle, Mpi, Rank, ThreadLevel};
use linerate_sys::thread;
use serde_json::{Value, json};
use std::ffi::CString;
use std::path::Path;
use std::rc::Rc;

/// What an answer begins with: a launcher and a library may say what they like.
const MARK: &str = "linerate-bench-mpi-io";

/// The parts of a file, and where it is: memory, so that no disk's moods are in it.
const BYTES: u64 = 2 << 20;
const FOLDER: &str = "/dev/shm";

/// Bits of how a file is used, as [`FileReference`] has them.
const WRITES: i32 = 1;
const INDEPENDENT: i32 = 2;

/// As `pattern` has it: eight regions, each rank's part marked or looked at where it begins, and what a status says was moved.
const REFERENCE: &str = r#"
#include <mpi.h>
#include <string.h>
#include <time.h>
static unsigned long long word(unsigned long long place) {
    return __builtin_bswap64((place + 1) * 0x9e3779b97f4a7c15ULL);
}
static int moved(MPI_File file, char *room, int bytes, int how, int rank, int ranks, long long region) {
    MPI_Offset at = (region % 8 * ranks + rank) * (MPI_Offset)bytes;
    unsigned long long first = word(((unsigned long long)rank << 32) + at);
    MPI_Status status;
    int count;
    if (how & 1) memcpy(room, &first, 8);
    switch (how) {
        case 0: MPI_File_read_at_all(file, at, room, bytes, MPI_BYTE, &status); break;
        case 1: MPI_File_write_at_all(file, at, room, bytes, MPI_BYTE, &status); break;
        case 2: MPI_File_read_at(file, at, room, bytes, MPI_BYTE, &status); break;
        default: MPI_File_write_at(file, at, room, bytes, MPI_BYTE, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    return count != bytes || memcmp(room, &first, 8) != 0;
}
long long linerate_reference_file(const char *path, void *room, int bytes, int how, long long lead, long long messages) {
    int rank, ranks, wrong = 0;
    struct timespec a, b;
    MPI_File file;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file)) return -1;
    for (long long region = 0; region < 8; region++) wrong |= moved(file, room, bytes, how | 1, rank, ranks, region);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long long region = 0; region < lead; region++) wrong |= moved(file, room, bytes, how, rank, ranks, region);
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long long region = 0; region < messages; region++) wrong |= moved(file, room, bytes, how, rank, ranks, lead + region);
    clock_gettime(CLOCK_MONOTONIC, &b);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
    return wrong ? -1 : (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
}
"#;

/// The rank's side: pairs of blocks, and what rank 0 found, nanoseconds of each.
pub fn rank(arguments: &[String]) -> Result<(), String> {
    let [library, abi, reference, how, pairs] = arguments else { return Err("five arguments".into()) };
    let told = |error: linerate_sys::Error| format!("{error}: {}", error.source);
    let library = Library::open(Path::new(library)).map_err(told)?;
    let abi = abi.parse().map_err(|()| "no such ABI")?;
    let mut mpi = Mpi::init(&library, abi, ThreadLevel::Single, 2).map_err(told)?;
    let own = Library::open(Path::new(reference)).map_err(told)?;
    let reference = FileReference::load(&own).map_err(told)?;
    let how: i32 = how.parse().map_err(|_| "no way to use a file")?;
    let pairs: usize = pairs.parse().map_err(|_| "no number of pairs")?;
    let number = mpi.rank();
    let cpus = thread::allowed_cpus().map_err(told)?;
    let cpu = cpus[number as usize % cpus.len()];
    thread::pin(&[cpu]).map_err(told)?;
    let mut room = vec![1; BYTES as usize];
    // About as long as a block, at 4 GB/s a rank.
    let messages = ((BLOCK_NS * 4.0 / BYTES as f64 / f64::from(SLICES)) as u64).max(1);
    let path = CString::new(format!("{FOLDER}/.linerate-bench-reference-{how}"))
        .map_err(|error| error.to_string())?;
    let counted = (messages * u64::from(SLICES - 1)) as i64;
    let mut found = Vec::new();
    // The first pair finds its way.
    for pair in 0..=pairs {
        let mut one = |is_ours: bool| match (is_ours, &mut mpi) {
            (true, Mpi::Narrow(rank)) => ours(rank, cpu, how, messages),
            (true, Mpi::Wide(rank)) => ours(rank, cpu, how, messages),
            (false, _) => Ok(reference.play(&path, &mut room, how, messages as i64, counted)),
        };
        let first = one(pair % 2 == 0)?;
        let second = one(pair % 2 != 0)?;
        if first <= 0 || second <= 0 {
            return Err("a file was not what was written".into());
        }
        if pair > 0 {
            found.push(if pair % 2 == 0 { [first, second] } else { [second, first] });
        }
    }
    if number == 0 {
        println!("\n{MARK} {}", json!({ "counted": counted, "pairs": found }));
    }
    mpi.finalize();
    Ok(())
}

/// The nanoseconds of a block by our loops, without those of its lead.
fn ours<H: Handle>(rank: &mut Rank<H>, cpu: u32, how: i32, messages: u64) -> Result<i64, String> {
    let does = if how & WRITES > 0 { Does::WritesFile } else { Does::ReadsFile };
    let independent = how & INDEPENDENT > 0;
    let order = FileOrder { folder: Some(FOLDER.into()), independent, tiles: false };
    let part = Part { link: Filed::new(RankFile(rank), order), does, cpu: Some(cpu) };
    let measured =
        play_here(part, Wait::Polling, &[block(BYTES, messages)]).map_err(|error| error.to_string())?;
    Ok(measured.first().map_or(0, |one| counted_ns(&one.flow.slices_ns) as i64))
}

/// Every library that is here, read and written, together and by each rank for itself.
pub fn rows() -> Vec<Row> {
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let known = libraries(program, &ProcessEnvironment::of_this_process());
    let known = known.into_iter().filter(|found| found.identity.as_ref().is_ok_and(|one| one.abi.is_some()));
    // LAM has its file calls in another library.
    let has_files = |found: &Found| found.identity.as_ref().is_ok_and(|one| one.name != "lam");
    let ways = [
        ("read, collective", 0),
        ("write, collective", WRITES),
        ("read", INDEPENDENT),
        ("write", INDEPENDENT | WRITES),
    ];
    let mut rows = Vec::new();
    for found in known.filter(has_files).map(Rc::new) {
        let name = found.identity.as_ref().map_or(String::new(), |one| one.name.clone());
        rows.extend(ways.map(|(way, how)| {
            let found = Rc::clone(&found);
            Row {
                name: format!("mpi-io {name} {way}, 2 MiB"),
                against: "its own compiler's loop",
                unit: "b/s a rank",
                aim: Some(0.98),
                measure: Box::new(move |pairs| measured(&found, how, pairs)),
            }
        }));
    }
    rows
}

fn measured(found: &Found, how: i32, pairs: usize) -> Result<Told, String> {
    let folder = std::env::temp_dir().join(format!("linerate-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let reference =
        ranks::compiled(found, REFERENCE, &folder).ok_or("its compiler made no reference: is it installed?");
    let answers = reference
        .map_err(str::to_owned)
        .and_then(|reference| ranks::played(found, &reference, &[how.to_string(), pairs.to_string()], MARK));
    let _ = std::fs::remove_dir_all(&folder);
    let answer: Value = serde_json::from_str(&answers?.concat()).map_err(|error| error.to_string())?;
    let bits = answer["counted"].as_f64().unwrap_or(0.0) * 8e9 * BYTES as f64;
    let both = |pair: &Value| Some([bits / pair[0].as_f64()?, bits / pair[1].as_f64()?]);
    let pairs: Option<Vec<[f64; 2]>> = answer["pairs"].as_array().into_iter().flatten().map(both).collect();
    Told::of_pairs(&pairs.unwrap_or_default())
}
