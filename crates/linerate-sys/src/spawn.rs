//! Children that live elsewhere, or never outlive their parent, or do: what is done between fork and exec.

use crate::namespace::{Renamed, move_into};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// Makes the child join these namespaces, in this order, and stay in its folder. A user namespace goes first,
/// since it gives the right to join those that it owns.
pub fn join_namespaces(command: &mut Command, namespaces: Vec<Arc<OwnedFd>>) {
    let join = move || Ok(move_into(namespaces.iter())?);
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(join) };
}

/// Makes the child a member of a control group: `members` is the group's `cgroup.procs`, open for writing (cgroups(7)).
pub fn join_group(command: &mut Command, members: Arc<OwnedFd>) {
    let join = move || -> io::Result<()> {
        // 0 is whoever writes.
        write(&members, b"0")?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(join) };
}

/// Has the child take itself for this user: in a user namespace of its own, which has no other one. To the kernel it
/// stays who it is, with an owner's rights to files and no others. What it makes of System V's memory and semaphores goes
/// with it.
pub fn call_otherwise(command: &mut Command, user: u32) {
    let renamed = Renamed::root_as(user);
    let rename = move || Ok(renamed.enter()?);
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(rename) };
}

/// Ties the child to its parent, as [`end_with_parent`], and gives it a process group of its own, so that Ctrl-C on
/// the terminal reaches the parent alone.
pub fn tie_to_parent(command: &mut Command) {
    command.process_group(0);
    end_first_for_memory(command);
    end_with_parent(command);
}

/// By how many thousandths of the memory that there is a child is taken for larger than it is.
const SHARE: &[u8] = b"500";

/// Where the kernel ends processes because memory, or that of their control group, is used up, it ends the child before
/// its parent, which can say why (`oom_score_adj` in proc_pid_oom_score_adj(5)). To ask for that takes no privilege.
fn end_first_for_memory(command: &mut Command) {
    let ask = || -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        // Without /proc it is as it was.
        if let Ok(file) = open(c"/proc/self/oom_score_adj", flags, Mode::empty()) {
            let _ = write(&file, SHARE);
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(ask) };
}

/// The child is killed when the *thread* that started it ends, for whatever reason (`PR_SET_PDEATHSIG` in prctl(2)).
///
/// Call it after [`join_namespaces`]: a change of credentials clears the signal.
pub fn end_with_parent(command: &mut Command) {
    let parent = std::process::id().cast_signed();
    let tie = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the signal was asked for; the child then has another one.
        match getppid() {
            Some(now) if now.as_raw_pid() == parent => Ok(()),
            _ => Err(Errno::SRCH.into()),
        }
    };
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(tie) };
}

/// Gives the child a session of its own, so that no terminal ends it and it outlives its parent, and of the
/// parent's descriptors only the standard streams: it would keep the others open for as long as it lives.
pub fn leave_session(command: &mut Command) {
    let leave = || {
        setsid()?;
        let (first, last) = (libc::STDERR_FILENO + 1, libc::c_uint::MAX);
        // SAFETY: it takes numbers only. The descriptors stay open until exec, for what is left to do there.
        // Before Linux 5.11 it fails, and they stay open after that, too.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor locks.
    unsafe { command.pre_exec(leave) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::effective_user;

    #[test]
    fn a_tied_child_ends_first_for_memory() {
        let mut command = Command::new("sleep");
        tie_to_parent(command.arg("60"));
        let mut child = command.spawn().unwrap();
        let asked = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(asked.unwrap().trim(), "500");
    }

    #[test]
    fn a_child_believes_itself_another_user() {
        let folder = std::env::temp_dir().join(format!("linerate-spawn-{}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "id -u; echo > \"$0\""]).arg(&folder);
        call_otherwise(&mut command, 1);
        let output = command.output().unwrap();
        let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&folder).unwrap());
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
        assert_eq!(owner, effective_user());
    }
}
