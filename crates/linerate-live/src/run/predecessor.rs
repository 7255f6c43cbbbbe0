//! The agent that a host had before: it has ended before another one touches the host.
//!
//! One that stands still keeps what it has set, and its ports, and closes no connection. The agent that takes its place is at
//! the same host and of the same user, so it ends it: no other process can.

use super::host_settings;
use crate::lab::process_journal::{named, start_of};
use crate::observer;
use crate::{Error, Result};
use linerate_sys::process::{Process, Signal};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How long it may take to put back what it has set, once it goes on and sees that its controller is gone.
const TIDIES: Duration = Duration::from_secs(5);

/// How long the kernel may take to end it.
const ENDS: Duration = Duration::from_secs(5);

/// What stands before the place in the name of a process.
const AT: char = '@';

/// This process, as another one finds it: its number, its start, and where numbers mean the same; nothing where the kernel tells
/// one of them not.
pub fn own_name() -> String {
    let pid = std::process::id();
    let name = || Some(format!("{pid}.{}{AT}{}", start_of(pid).ok()??, place()?));
    name().unwrap_or_default()
}

/// Where a number means the same process: this machine since it started, and this namespace of processes.
fn place() -> Option<String> {
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?.ino();
    let machine = observer::machine_id();
    (!machine.is_empty()).then(|| format!("{machine}/{namespace}"))
}

/// Ends it, and puts back what it has set on this host. An error where it does not end. Nothing is done for one of another place.
pub fn end(name: &str, base: &Path) -> Result<()> {
    let Some((name, _)) = name.split_once(AT).filter(|(_, at)| place().as_deref() == Some(at)) else {
        return Ok(());
    };
    let Some((pid, start)) = named(name).filter(|(pid, _)| *pid != std::process::id()) else {
        return Ok(());
    };
    if let Some(process) = Process::open(pid)?.filter(|process| is_same_process(process, start)) {
        let stays = || {
            let hint = format!("end it there: kill -9 {pid}");
            Error::unavailable(format!("the agent before, process {pid}, does not end"), hint)
        };
        process.signal(Signal::Continue)?;
        if !process.wait(TIDIES)? {
            process.signal(Signal::Kill)?;
            if !process.wait(ENDS)? {
                return Err(stays());
            }
        }
    }
    if host_settings::has_journal(base, name) {
        host_settings::undo(base, false)?;
    }
    if host_settings::has_journal(base, name) {
        let what = format!("what the agent before, process {pid}, has set there is not put back");
        return Err(Error::unavailable(what, "put it back there: linerate undo"));
    }
    Ok(())
}

/// Whether the process that has its number now is the one that had it then.
fn is_same_process(process: &Process, start: u64) -> bool {
    process.start_time().ok().flatten() == Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn name_of(pid: u32) -> String {
        name_at_this_host(&format!("{pid}.{}", start_of(pid).unwrap().unwrap()))
    }

    fn name_at_this_host(process: &str) -> String {
        format!("{process}{AT}{}", place().unwrap())
    }

    #[test]
    fn one_that_stands_still_is_ended_and_no_other() {
        let base = tempfile::TempDir::new().unwrap();
        let mut before = Command::new("sleep").arg("600").spawn().unwrap();
        let process = Process::open(before.id()).unwrap().unwrap();
        process.signal(Signal::Stop).unwrap();
        let name = name_of(before.id());
        let process_name = name.split_once(AT).unwrap().0;
        let later = name_at_this_host(&format!("{process_name}7"));
        let elsewhere = format!("{name}7");
        for other in ["", "x", &later, process_name, &elsewhere, &own_name()] {
            end(other, base.path()).unwrap();
            assert!(!process.has_ended().unwrap(), "{other} is not it");
        }
        end(&name, base.path()).unwrap();
        assert!(process.has_ended().unwrap());
        before.wait().unwrap();
        end(&name, base.path()).unwrap();
    }

    /// A journal under lock is of a process that lives, though it is not seen from here.
    #[test]
    fn what_another_one_still_holds_is_an_error() {
        let base = tempfile::TempDir::new().unwrap();
        let name = "4194303.7";
        let folder = crate::lab::process_journal::folder(base.path(), "settings").unwrap();
        let journal = linerate_sys::own_file::create_own(&folder.join(name)).unwrap();
        journal.lock().unwrap();
        end(&format!("{name}{AT}elsewhere/1"), base.path()).unwrap();
        let error = end(&name_at_this_host(name), base.path()).unwrap_err();
        assert!(error.to_string().contains("is not put back"), "{error}");
        drop(journal);
        end(&name_at_this_host(name), base.path()).unwrap();
    }
}
