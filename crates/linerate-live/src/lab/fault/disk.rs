//! A slow disk: a folder of one host whose files are served by a process of ours, no faster than asked for.
//!
//! It is mounted in the host's own mount namespace, over a folder that is there and empty: nothing is made on the
//! machine, nothing of it is hidden, and nobody else sees it. The files are the process's memory. It ends with who
//! keeps the lab, and the kernel then fails whatever is still asked of it.
//!
//! | part | does |
//! |---|---|
//! | `pace` | when bytes have passed |
//! | `tree` | files and folders |
//! | `serve` | the kernel's questions |

mod pace;
mod serve;
mod tree;

use super::super::request::{Answer, encode, stranger};
use super::super::{VirtualHost, refusal};
use crate::unit::{BitRate, Bytes};
use crate::{Error, Result};
use fuser::{Config, Session, SessionACL};
use linerate_sys::child::ChildProcess;
use linerate_sys::{mount, thread};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The hidden subcommand under which [`main`] is reached.
pub const SUBCOMMAND: &str = "lab-disk";

/// Folders that machines have (Filesystem Hierarchy Standard 3.0, sections 3.11, 3.12 and 3.17): the first one that
/// is empty is taken.
const FOLDERS: [&str; 3] = ["/mnt", "/srv", "/media"];

/// The type under which the kernel lists it.
const KIND: &str = "fuse.linerate";

/// The longest answer that is read.
const LONGEST_ANSWER: u64 = 64 << 10;

/// Starts it on a host, which has a mount namespace of its own, and waits until its folder can be used. Says where
/// that is.
pub(super) fn start(program: &Path, host: &VirtualHost, rate: &str) -> Result<(ChildProcess, String)> {
    let mut command = host.command(program);
    command.args([SUBCOMMAND, rate]).stderr(Stdio::null());
    let role = format!("the lab's slow disk of host {}", host.name);
    // It has nothing to tidy up.
    let process = ChildProcess::start(&role, Duration::ZERO, command)?;
    let mut said = String::new();
    if let Some((_, output)) = process.streams() {
        let mut output = BufReader::new(output.take(LONGEST_ANSWER));
        output.read_line(&mut said).map_err(|e| Error::io("read", "its answer", e))?;
    }
    match serde_json::from_str::<Answer<String>>(&said) {
        Ok(answer) => Ok((process, answer.outcome()?)),
        Err(_) => {
            Err(Error::died(process.verdict().unwrap_or_else(|| format!("{role}: gave no answer").into())))
        }
    }
}

/// Mounts it and serves it until the process is ended; says on `output` where it is, or why it is not.
pub fn main(rate: &str, mut output: impl Write) -> Result<()> {
    let parsed: BitRate = rate.parse().map_err(|_| stranger(&format!("{rate} is no rate")))?;
    // Without it each pause would be 50 us longer.
    let _ = thread::lower_timer_slack();
    let (answer, session) = match mount(parsed, rate) {
        Ok((said, session)) => (Answer::Built(said), Some(session)),
        Err(error) => (Answer::from(error), None),
    };
    let answer = [encode(&answer)?, b"\n".to_vec()].concat();
    let said = output.write_all(&answer).and_then(|()| output.flush());
    said.map_err(|e| Error::io("write", "standard output", e))?;
    let served = session.map_or(Ok(()), Session::run);
    served.map_err(|e| Error::io("serve", "the slow disk", e))
}

/// `named` is the rate as it was given: the kernel lists it.
fn mount(rate: BitRate, named: &str) -> Result<(String, Session<serve::Disk>)> {
    let is_empty = |folder: &&&str| {
        // Not where it is a link: the kernel would list the folder behind it.
        let is_own = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
        is_own && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
    };
    let folder = FOLDERS.iter().find(is_empty).ok_or_else(|| {
        let what = format!("none of the folders {} is there and empty", FOLDERS.join(", "));
        Error::unavailable(what, "empty one of them, or make it: sudo mkdir /srv")
    })?;
    let source = format!("slow-disk={named}").replace(' ', "");
    let mounted = mount::open_fuse().and_then(|device| {
        mount::mount_fuse(&device, KIND, &source, Path::new(folder))?;
        Ok(device)
    });
    let device = mounted.map_err(|error| refusal::explain(error, false))?;
    let disk = serve::Disk::new(rate.0);
    let session = Session::from_fd(disk, device.into(), SessionACL::All, Config::default())
        .map_err(|e| Error::io("serve", *folder, e))?;
    let found = mount::mounted_at(Path::new(folder))?;
    match found.filter(|found| found.kind == KIND && found.source == source) {
        Some(found) => Ok((format!("{folder}: {}, {}", found.kind, Bytes(tree::CAPACITY)), session)),
        None => Err(Error::unavailable(format!("{folder} is not what was mounted there"), "")),
    }
}
