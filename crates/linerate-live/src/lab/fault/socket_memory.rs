//! Little memory for sockets: the programs on a host are in a control group that bounds it.
//!
//! The group is made below that of this process, so that what bounds this one goes on to bound them. A process of the
//! program's own keeps it: a group has to be empty when it is removed, and there has to be somebody left to do that when all
//! others were killed.

use super::super::request::{Answer, encode, stranger};
use crate::unit::Bytes;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::control_group::groups;
use linerate_sys::process::Process;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The hidden subcommand under which [`main`] is reached.
pub const SUBCOMMAND: &str = "lab-group";

/// What bounds the memory of a group's TCP sockets alone; version 2 has nothing like it.
const LIMIT: &str = "memory.kmem.tcp.limit_in_bytes";

/// What the folder of a group begins with; the number of its keeper follows.
const NAME: &str = "linerate-";

/// How long the group's last processes may take to end, and how often it is looked.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 64 << 10;

/// A control group that the programs on a host are to join.
#[derive(Debug)]
pub struct Group {
    /// Its `cgroup.procs`, open for writing.
    pub members: Arc<OwnedFd>,
    /// When this closes, its keeper removes it.
    _kept: ChildStdin,
}

/// A group that stands.
#[derive(Debug, Serialize, Deserialize)]
struct Standing {
    folder: PathBuf,
    granted: String,
}

/// Has one made for the programs on a host, and says what was granted.
pub(super) fn start(program: &Path, host: &str, memory: &str) -> Result<(ChildProcess, Group, String)> {
    let mut command = Command::new(program);
    command.args([SUBCOMMAND, memory]).process_group(0).current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let role = format!("the keeper of the control group of host {host}");
    let process = ChildProcess::start(&role, PATIENCE, command)?;
    let lost = || Error::died(process.verdict().unwrap_or_else(|| format!("{role}: gave no answer").into()));
    let (kept, output) = process.streams().ok_or_else(lost)?;
    let mut said = String::new();
    let read = BufReader::new(output.take(LONGEST_ANSWER)).read_line(&mut said);
    read.map_err(|e| Error::io("read", "its answer", e))?;
    let answer: Answer<Standing> = serde_json::from_str(&said).map_err(|_| lost())?;
    let Standing { folder, granted } = answer.outcome()?;
    let file = folder.join("cgroup.procs");
    let members = OpenOptions::new().write(true).open(&file);
    let members = members.map_err(|e| Error::io("open", file.display().to_string(), e))?;
    Ok((process, Group { members: Arc::new(members.into()), _kept: kept }, granted))
}

/// Makes a group, says where it is or why there is none, and removes it when its input ends, as it does whatever ends who
/// has asked for it.
pub fn main(memory: &str, mut input: impl Read, mut output: impl Write) -> Result<()> {
    let bytes: Bytes = memory.parse().map_err(|_| stranger(&format!("{memory} is no size")))?;
    let (answer, made) = match make(bytes) {
        Ok((standing, made)) => (Answer::Built(standing), Some(made)),
        Err(error) => (Answer::from(error), None),
    };
    let answer = [encode(&answer)?, b"\n".to_vec()].concat();
    let said = output.write_all(&answer).and_then(|()| output.flush());
    said.map_err(|e| Error::io("write", "standard output", e))?;
    if made.is_some() {
        // Nothing is said to it.
        let _ = input.read(&mut [0]);
    }
    Ok(())
}

/// A folder that goes with this value, when nobody is in the group any more.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        let begun = Instant::now();
        while fs::remove_dir(&self.0).is_err() && self.0.exists() && begun.elapsed() < PATIENCE {
            sleep(PAUSE);
        }
    }
}

fn make(memory: Bytes) -> Result<(Standing, Made)> {
    let own = groups(Path::new("/"), "memory").into_iter().next();
    let own =
        own.map(|group| group.directory).filter(|folder| folder.join(LIMIT).exists()).ok_or_else(|| {
            let what = "no control group of this machine bounds the memory of sockets alone";
            Error::unavailable(what, "that takes the memory controller of version 1 (cgroups(7)), and root")
        })?;
    remove_stale(&own);
    let folder = own.join(format!("{NAME}{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| refused(&folder, error))?;
    let made = Made(folder.clone());
    let file = folder.join(LIMIT);
    fs::write(&file, memory.0.to_string()).map_err(|error| refused(&file, error))?;
    let granted = fs::read_to_string(&file).map_err(|error| refused(&file, error))?;
    Ok((Standing { folder, granted: format!("{LIMIT} = {}", granted.trim()) }, made))
}

fn refused(path: &Path, error: std::io::Error) -> Error {
    let path = path.display();
    match error.kind() {
        PermissionDenied | ReadOnlyFilesystem | NotFound => {
            Error::unavailable(format!("no control group can be made at {path}: {error}"), "it takes root")
        }
        _ => Error::io("write", path.to_string(), error),
    }
}

/// Removes the groups of keepers that were killed themselves. Those in which somebody is stay.
fn remove_stale(own: &Path) {
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let keeper = name.to_str().and_then(|name| name.strip_prefix(NAME)?.parse::<u32>().ok());
        // One that nobody has waited for yet has its number still.
        let has_ended =
            |process: Option<Process>| process.is_none_or(|it| it.wait(Duration::ZERO).unwrap_or(false));
        if keeper.is_some_and(|pid| Process::open(pid).is_ok_and(has_ended)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}
