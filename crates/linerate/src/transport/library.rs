//! The message libraries of this host: where they are, what each is, and why one cannot be used.
//!
//! | file | duty |
//! |---|---|
//! | [`find`](find) | the files and the launchers that there are |
//! | [`identify`](identify) | what a file is, asked of it in a process of its own |

mod find;
mod identify;

use crate::Error;
use crate::vocabulary::{LIBRARY_KINDS, LibraryKind};
use linerate_sys::child::Own;
use linerate_sys::spawn;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The hidden command that loads a library and says what it is.
const ROLE: &str = "library";

/// What loading may take: a large one is loaded in a tenth of a second.
const LIMIT: Duration = Duration::from_secs(10);

/// Variables of a job that this process may be in: a library would take itself for a part of it.
const OF_A_JOB: &[&str] =
    &["PMI", "PMIX_", "OMPI_", "PRTE_", "HYD", "MPI_LOCAL", "LAM", "TROLLIUS", "SLURM_"];

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

/// What the process has in its surroundings that says where programs and libraries are.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
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

/// Every library on this host, by kind; `program` is this one, which loads each in a process of its own.
pub fn libraries(program: &Path, around: &Surroundings) -> Vec<Found> {
    let of_kind = |kind: &'static LibraryKind| {
        let paths = find::files(kind, around);
        paths.into_iter().map(|path| found((program, around), kind, path)).collect::<Vec<_>>()
    };
    LIBRARY_KINDS.iter().flat_map(of_kind).collect()
}

fn found((program, around): (&Path, &Surroundings), kind: &'static LibraryKind, path: PathBuf) -> Found {
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
fn ask(program: &Path, path: &Path, around: &Surroundings) -> crate::Result<Identity> {
    let who = path.display().to_string();
    let mut command = Command::new(program);
    let mark = format!("{:032x}", rand::random::<u128>());
    command.arg(ROLE).arg(path).arg(&mark).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let of_a_job = |name: &&String| OF_A_JOB.iter().any(|begin| name.starts_with(begin));
    for name in around.variables.iter().filter(of_a_job) {
        command.env_remove(name);
    }
    spawn::end_with_parent(&mut command);
    let child = Own::start(who.clone(), Duration::ZERO, command)?;
    let (_input, output) = child.streams().ok_or_else(|| Error::peer(&who, "has no streams", ""))?;
    let (tell, told) = channel();
    // It reads until the child has ended, which is with this function.
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(std::io::Result::ok);
        let _ = tell.send(lines.find_map(|line| line.strip_prefix(&mark).map(String::from)));
    });
    let hint = "does a program that is linked with it run?";
    match told.recv_timeout(LIMIT) {
        Ok(Some(answer)) => {
            let read: Result<Identity, String> = serde_json::from_str(&answer)
                .unwrap_or_else(|error| Err(format!("gave no answer that can be read: {error}")));
            read.map_err(|why| Error::unavailable(why, hint))
        }
        Ok(None) => {
            let how = child.verdict().unwrap_or_else(|| "ended without an answer".into());
            Err(Error::unavailable(format!("loading it failed: {how}"), hint))
        }
        Err(_) => Err(Error::unavailable(format!("loading it took more than {} s", LIMIT.as_secs()), hint)),
    }
}
