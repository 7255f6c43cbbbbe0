//! Processes that their parents left behind, as daemons are: they become this one's children, so that they can be ended
//! (`PR_SET_CHILD_SUBREAPER` in prctl(2)).

use crate::process::{Process, Signal};
use crate::{Error, Result};
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, setsid, wait};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::fs::{self, File};

/// Makes this process the parent of what its descendants leave behind, in a session of its own: no terminal and no
/// signal to the group of its parent ends it. It must not lead a group already.
pub fn adopt() -> Result<()> {
    setsid().map_err(|errno| Error::new("setsid", "this process", errno))?;
    set_child_subreaper(Some(getpid())).map_err(|errno| Error::new("prctl", "PR_SET_CHILD_SUBREAPER", errno))
}

/// Gives up the standard streams, so that who reads from them sees their end when those that were started with them
/// have given them up as well.
pub fn silence() -> Result<()> {
    let failed = |e| Error::new("open", "/dev/null", e);
    let nothing = File::options().read(true).write(true).open("/dev/null").map_err(failed)?;
    let done = dup2_stdin(&nothing).and_then(|()| dup2_stdout(&nothing)).and_then(|()| dup2_stderr(&nothing));
    done.map_err(|errno| Error::new("dup2", "/dev/null", errno))
}

/// Takes notice of every child that has ended; says whether others go on, and with what code the `first` one ended, where
/// it was among them: 255 where a signal ended it.
pub fn reap(first: u32) -> (bool, Option<u8>) {
    let mut code = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if is_same(pid, first) => {
                let exit = status.exit_status().and_then(|exit| u8::try_from(exit).ok());
                code = Some(exit.unwrap_or(255));
            }
            Ok(Some(_)) => {}
            Ok(None) => return (true, code),
            Err(_) => return (false, code),
        }
    }
}

fn is_same(pid: Pid, number: u32) -> bool {
    pid.as_raw_pid().cast_unsigned() == number
}

/// The children of a process, by number.
pub fn children(process: u32) -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").map_err(|e| Error::new("opendir", "/proc", e))?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    Ok(numbers.filter(|number| parent(*number) == Some(process)).collect())
}

/// Sends a signal to each child.
pub fn signal_children(signal: Signal) -> Result<()> {
    for number in children(std::process::id())? {
        // A child has its number until it has been taken notice of, which only this process does.
        if let Some(child) = Process::open(number)? {
            child.signal(signal)?;
        }
    }
    Ok(())
}

/// The parent of a process; none where there is no such process.
pub fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit(')').next()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read() {
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
        assert_eq!(parent(u32::MAX), None);
    }
}
