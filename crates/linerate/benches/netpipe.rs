//! Half round trips through message libraries against NetPIPE's programs for them, in turns, within this host.
//!
//!     cargo bench --bench netpipe [-- [--pairs N] [openmpi|mpich|lam|pvm]...]
//!
//! Both sides have the same library, way to wait, CPUs and statistic: NetPIPE's own, the best of seven batches. Prints ours
//! over NetPIPE's time: the median of the pairs' ratios with its interval by the signs of its order statistics, and the best
//! of all runs over the best of all: on a virtual machine, whose CPUs are now near each other and now far, runs are of two
//! kinds. Nothing here decides a test. The programs are Debian's netpipe-openmpi, netpipe-mpich2, netpipe-lam and netpipe-pvm.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "sides/ends.rs"]
mod ends;
#[path = "sides/netpipe.rs"]
mod netpipe;

use ends::Ends;
use linerate::pattern::Awake;
use linerate::plan::Block;
use linerate::statistic::Estimate;
use linerate::vocabulary::{Cache, Does, Wait};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PAIRS: usize = 6;
const SIZES: [u64; 4] = [64, 1 << 10, 64 << 10, 1 << 20];
/// Round trips of a look at how long one takes.
const LOOK: u64 = 20;
/// Batches of which the best counts, and about how long each is, as NetPIPE has them (netpipe.h: TRIALS, RUNTM).
const BATCHES: u32 = 7;
const BATCH_NS: f64 = 2.5e8;

/// A library on both sides.
struct Race {
    name: &'static str,
    program: &'static str,
    transport: &'static str,
    settings: &'static [&'static str],
    wait: Wait,
    /// What must run beside NetPIPE's program, and how it is started.
    theirs: fn(&Path, &[String]) -> Outcome<String>,
}

const RACES: [Race; 4] = [
    Race {
        name: "openmpi",
        program: "NPopenmpi",
        transport: "mpi",
        settings: &["mpi.implementation=openmpi"],
        wait: Wait::Polling,
        theirs: by_open_mpi,
    },
    Race {
        name: "mpich",
        program: "NPmpich2",
        transport: "mpi",
        settings: &["mpi.implementation=mpich"],
        wait: Wait::Polling,
        theirs: by_mpich,
    },
    Race {
        name: "lam",
        program: "NPlam",
        transport: "mpi",
        settings: &["mpi.implementation=lam", "mpi.rpi=usysv"],
        wait: Wait::Polling,
        theirs: by_lam,
    },
    // What NPpvm takes: PvmRouteDirect and PvmDataInPlace (its pvm.c and netpipe.h).
    Race {
        name: "pvm",
        program: "NPpvm",
        transport: "pvm",
        settings: &["pvm.route=direct", "pvm.encoding=in-place"],
        wait: Wait::Sleeping,
        theirs: by_pvm,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A rank is this program again, as linerate itself starts it.
    if arguments
        .first()
        .is_some_and(|word| !word.starts_with('-') && !RACES.iter().any(|race| race.name == word))
    {
        return linerate::cli::main();
    }
    let pairs = arguments.iter().position(|word| word == "--pairs").and_then(|at| arguments.get(at + 1));
    let pairs = pairs.and_then(|text| text.parse().ok()).unwrap_or(PAIRS);
    let wanted = |race: &&Race| {
        let mut named =
            arguments.iter().filter(|word| RACES.iter().any(|race| race.name == *word)).peekable();
        named.peek().is_none() || named.any(|word| word == race.name)
    };
    // For both sides.
    let _awake = Awake::keep(&[0, 1]);
    for race in RACES.iter().filter(wanted) {
        for bytes in SIZES {
            match raced(race, bytes, pairs) {
                Err(why) => {
                    println!("{:<10} {bytes:>8} B   missing: {why}", race.name);
                    break;
                }
                Ok((Estimate { median, low, high, n }, best)) => {
                    let [low, high] =
                        [low, high].map(|end| end.map_or("?".into(), |end| format!("{end:.3}")));
                    println!(
                        "{:<10} {bytes:>8} B   {median:.3} [{low}, {high}] n={n}, best {best:.3}",
                        race.name
                    );
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Ours over theirs, and the best of ours over the best of theirs. Who goes first changes from pair to pair, so that drift
/// favours neither.
fn raced(race: &Race, bytes: u64, pairs: usize) -> Outcome<(Estimate, f64)> {
    let program = on_path(race.program).ok_or_else(|| format!("{} is not installed", race.program))?;
    let (mut ratios, mut best) = (Vec::new(), [f64::INFINITY; 2]);
    for pair in 0..pairs {
        let (ours, theirs) = if pair % 2 == 0 {
            let ours = ours(race, bytes)?;
            (ours, theirs(race, &program, bytes)?)
        } else {
            let theirs = theirs(race, &program, bytes)?;
            (ours(race, bytes)?, theirs)
        };
        eprintln!("{} {bytes} B: ours {ours:.3} us, {} {theirs:.3} us", race.name, race.program);
        ratios.push(ours / theirs);
        best = [best[0].min(ours), best[1].min(theirs)];
    }
    let estimate = Estimate::from_values(ratios).ok_or("no pair")?;
    Ok((estimate, best[0] / best[1]))
}

/// The best batch's half round trip in microseconds.
fn ours(race: &Race, bytes: u64) -> Outcome<f64> {
    let mut ends = Ends::open(race.transport, race.settings)?;
    let about_ns = best_ns(&mut ends, race.wait, bytes, LOOK)?;
    let messages = (BATCH_NS / about_ns).max(8.0) as u64;
    Ok(best_ns(&mut ends, race.wait, bytes, messages)? / 2.0 / 1e3)
}

/// A round trip of the best batch.
fn best_ns(ends: &mut Ends, wait: Wait, message_bytes: u64, messages: u64) -> Outcome<f64> {
    let (slices, lead, cache) = (1 + BATCHES, 1, Cache::Hot);
    let block = Block { message_bytes, messages, slices, lead, cache, ..Block::default() };
    let [_, pings] = ends.play([Does::Echoes, Does::Pings], wait, block)?;
    let best = pings.flow.slices_ns.iter().skip(1).min().ok_or("nothing was measured")?;
    Ok(*best as f64 / messages as f64)
}

/// NetPIPE's best half round trip in microseconds.
fn theirs(race: &Race, program: &Path, bytes: u64) -> Outcome<f64> {
    let said = (race.theirs)(program, &netpipe::words(bytes))?;
    Ok(netpipe::half_us(&said).ok_or_else(|| format!("{} said no time: {said}", race.program))?)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Everything that a command said, once it has ended.
fn output_text(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output()?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{command:?}: {}: {text}", output.status).into())
    }
}

fn by_open_mpi(program: &Path, words: &[String]) -> Outcome<String> {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--bind-to", "none"]);
    output_text(two_ranks(&mut command, &["-np", "1", "-H", "localhost:2"], program, words))
}

fn by_mpich(program: &Path, words: &[String]) -> Outcome<String> {
    let mut command = Command::new("mpiexec.mpich");
    command.args(["-bind-to", "none"]);
    output_text(two_ranks(&mut command, &["-n", "1"], program, words))
}

fn two_ranks<'c>(
    command: &'c mut Command,
    each: &[&str],
    program: &Path,
    words: &[String],
) -> &'c mut Command {
    for cpu in ["0", "1"] {
        command.args((cpu == "1").then_some(":")).args(each);
        command.args(["taskset", "-c", cpu]).arg(program).args(words);
    }
    command
}

/// LAM works for nobody who is called root, and each rank is told its number.
fn by_lam(program: &Path, words: &[String]) -> Outcome<String> {
    let home = std::env::temp_dir().join(format!("linerate-netpipe-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let line = "chmod 777 \"$HOME\"; cd \"$HOME\"; lamboot >/dev/null 2>&1 </dev/null || exit 3; \
                mpirun.lam -ssi rpi usysv -c 2 sh -c 'exec taskset -c $LAMRANK \"$0\" \"$@\"' \"$@\"; code=$?; \
                lamhalt >/dev/null 2>&1 </dev/null; exit $code";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-user=1", "--map-group=1", "sh", "-c", line, "sh"]);
    let outcome =
        output_text(command.arg(program).args(words).env("HOME", &home).env("LAM_MPI_SESSION_PREFIX", &home));
    let _ = std::fs::remove_dir_all(&home);
    outcome
}

/// A child that ends with its owner.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Its two processes find each other by the daemon.
fn by_pvm(program: &Path, words: &[String]) -> Outcome<String> {
    let folder = std::env::temp_dir().join(format!("linerate-netpipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let quiet = |command: &mut Command| -> Outcome<Held> {
        let command = command.env("PVM_TMP", &folder).env("PVM_ALLOW_ROOT", "1").stdin(Stdio::null());
        Ok(Held(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
    };
    let daemon = quiet(&mut Command::new("pvmd"))?;
    std::thread::sleep(std::time::Duration::from_secs(1));
    let other = quiet(Command::new("taskset").args(["-c", "1"]).arg(program).args(words))?;
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut first = Command::new("timeout");
    first.args(["60", "taskset", "-c", "0"]).arg(program).args(["-h", "localhost"]).args(words);
    let outcome = output_text(first.env("PVM_TMP", &folder).env("PVM_ALLOW_ROOT", "1"));
    drop((other, daemon));
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}
