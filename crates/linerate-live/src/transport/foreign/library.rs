//! The message libraries of this host: where they are, what each is, and why one cannot be used.
//!
//! | file | duty |
//! |---|---|
//! | `launch_request` | the ranks that are to be launched, in a launcher's words |
//! | [`boot`] | the process that starts daemons before ranks |
//! | `daemons` | those that some launchers need, and what ends them |
//! | `elsewhere` | what a launcher must know of the other host |
//! | `find` | the files and the launchers that there are |
//! | `home` | where a rank calls, and what it is asked |
//! | `identify` | what a file is, asked of it in a process of its own |
//! | [`supervise`] | what sees to the end of a daemon |
//! | `launch` | a launcher of ranks that goes on |
//! | `session` | the session of ranks that a launcher starts |
//! | `rank` | a rank's side |
//! | `bounded_output` | what a foreign program says, in bounds |
//! | [`shell`] | the remote shell of their launchers |
//! | `started` | a launcher that goes on: its last words, its end |
//! | `rank_report`, `parts` | what a rank tells of its library |
//! | `variable` | what is said by variables |

pub mod boot;
pub mod bounded_output;
mod daemons;
pub mod elsewhere;
mod find;
pub(super) mod home;
mod identify;
mod launch;
pub(super) mod launch_request;
mod parts;
pub(super) mod rank;
pub(super) mod rank_report;
pub(super) mod session;
pub mod shell;
pub(super) mod started;
pub mod supervise;
pub(super) mod variable;

use crate::Error;
use crate::vocabulary::{LIBRARY_KINDS, LibraryKind};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The hidden command that loads a library and says what it is.
const ROLE: &str = "library";

/// What to try where one cannot be used.
const LOADS: &str = "does a program that is linked with it run?";

/// Variables of a job that this process may be in: a library would take itself for a part of it. And what nobody else is
/// to know, for launchers pass their variables on to other hosts in the clear.
const OF_A_JOB: &[&str] = &[
    "PMI",
    "PMIX_",
    "OMPI_",
    "PRTE_",
    "HYD",
    "MPI_LOCAL",
    "LAM",
    "TROLLIUS",
    "PVMSOCK",
    "PVMEPID",
    "PVMTMASK",
    "PVMCTX",
    "SLURM_",
    "LINERATE_WORKER_SECRET",
];

/// What a library is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name that picks it: `openmpi`, `mpich`, `lam`, `pvm`.
    pub name: String,
    /// Its version, as it says it.
    pub version: String,
    /// The ABI of an MPI; none of what is no MPI.
    pub abi: Option<String>,
}

/// What the process has in its environment that says where programs and libraries are.
#[derive(Debug, Clone, Default)]
pub struct ProcessEnvironment {
    /// The folders of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Those of `LD_LIBRARY_PATH`.
    pub libraries: Vec<PathBuf>,
    /// The names of all variables.
    pub variables: Vec<String>,
}

/// A library of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its kind in the vocabulary.
    pub kind: &'static str,
    /// The file, with all links followed.
    pub path: PathBuf,
    /// What it is, or why it cannot be used.
    pub identity: Result<Identity, String>,
    /// What starts its ranks; none where nothing was found, or it needs nothing.
    pub launcher: Option<PathBuf>,
}

/// The program itself, to be started again.
pub fn this_program() -> crate::Result<PathBuf> {
    let path = Path::new("/proc/self/exe");
    std::fs::read_link(path).map_err(|e| Error::io("readlink", "/proc/self/exe", e))
}

/// Every library on this host, by kind; `program` is this one, which loads each in a process of its own.
pub fn libraries(program: &Path, around: &ProcessEnvironment) -> Vec<Found> {
    LIBRARY_KINDS.iter().flat_map(|kind| all_of((program, around), kind)).collect()
}

/// Every one of a kind.
pub(super) fn of_kind(name: &str, program: &Path, around: &ProcessEnvironment) -> Vec<Found> {
    let kinds = LIBRARY_KINDS.iter().filter(|kind| kind.name == name);
    kinds.flat_map(|kind| all_of((program, around), kind)).collect()
}

/// Those of a kind at one place: a file, or the folder that it was installed to.
pub(super) fn identify_all_at(
    name: &str,
    place: &Path,
    program: &Path,
    around: &ProcessEnvironment,
) -> Vec<Found> {
    let kinds = LIBRARY_KINDS.iter().filter(|kind| kind.name == name);
    let all = kinds.flat_map(|kind| find::files_at(kind, place).into_iter().map(move |path| (kind, path)));
    all.map(|(kind, path)| identify_at((program, around), kind, path)).collect()
}

/// Whether there is a file of a kind; nothing is loaded.
pub(super) fn is_there(name: &str, around: &ProcessEnvironment) -> bool {
    LIBRARY_KINDS.iter().any(|kind| kind.name == name && !find::files(kind, around).is_empty())
}

fn all_of(here: (&Path, &ProcessEnvironment), kind: &'static LibraryKind) -> Vec<Found> {
    find::files(kind, here.1).into_iter().map(|path| identify_at(here, kind, path)).collect()
}

/// A command that does not take itself for a part of the job that this process may be in.
pub(super) fn outside_of_jobs(command: &mut Command, around: &ProcessEnvironment) {
    let of_a_job = |name: &&String| OF_A_JOB.iter().any(|begin| name.starts_with(begin));
    for name in around.variables.iter().filter(of_a_job) {
        command.env_remove(name);
    }
}

impl ProcessEnvironment {
    /// Those that this process was started in.
    pub fn of_this_process() -> ProcessEnvironment {
        let environment = std::fs::read("/proc/self/environ").unwrap_or_default();
        let pairs = environment.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok());
        let pairs: Vec<(&str, &str)> = pairs.filter_map(|pair| pair.split_once('=')).collect();
        let folders = |name: &str| {
            let set = pairs.iter().find(|(variable, _)| *variable == name).map_or("", |(_, value)| *value);
            set.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
        };
        ProcessEnvironment {
            programs: folders("PATH"),
            libraries: folders("LD_LIBRARY_PATH"),
            variables: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

fn identify_at(
    (program, around): (&Path, &ProcessEnvironment),
    kind: &'static LibraryKind,
    path: PathBuf,
) -> Found {
    let identity = ask(program, &path, around).map_err(|error| error.to_string());
    let launcher = identity
        .as_ref()
        .ok()
        .and_then(|identity| find::launcher_of(kind, &path, identity, &around.programs));
    Found { kind: kind.name, path, identity, launcher }
}

/// What the process says that loads one, behind a mark that no library knows: it may print what it likes before.
pub fn line(path: &Path, mark: &str) -> String {
    // It is plain words and numbers, of which JSON can be made.
    let said = serde_json::to_string(&identify::identify(path)).unwrap_or_default();
    format!("\n{mark} {said}\n")
}

/// Has a process of its own load it.
fn ask(program: &Path, path: &Path, around: &ProcessEnvironment) -> crate::Result<Identity> {
    let mut command = Command::new(program);
    let mark = format!("{:032x}", rand::random::<u128>());
    command.arg(ROLE).arg(path).arg(&mark);
    outside_of_jobs(&mut command, around);
    let begin = mark.clone();
    let (lines, verdict) =
        bounded_output::lines(command, "loading it", move |line| line.starts_with(&begin))?;
    let Some(answer) = lines.iter().find_map(|line| line.strip_prefix(&mark)) else {
        let how = verdict.unwrap_or_else(|| "ended without an answer".into());
        return Err(Error::unavailable(format!("loading it failed: {how}"), LOADS));
    };
    let read: Result<Identity, String> = serde_json::from_str(answer)
        .unwrap_or_else(|error| Err(format!("gave no answer that can be read: {error}")));
    read.map_err(|why| Error::unavailable(why, LOADS))
}
