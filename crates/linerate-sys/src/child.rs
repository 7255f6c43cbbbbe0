//! A process that this one started and is responsible for: whether it goes on, how it ended, and its end.

use crate::limit::{self, Reached};
use crate::process::{Process, Signal};
use crate::{Error, Result};
use rustix::process::{Pid, kill_process_group};
use std::io::ErrorKind;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the kernel may take from closing a process's files to saying how it ended.
const VERDICT: Duration = Duration::from_secs(1);

/// With the last handle it is waited for: whoever made it talk drops that first.
#[derive(Debug, Clone)]
pub struct ChildProcess(Arc<Handle>);

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its role, number and status.
    pub how: String,
    /// The limit that ended it, where that can be told.
    pub limit: Option<Reached>,
}

impl From<String> for Ended {
    fn from(how: String) -> Ended {
        Ended { how, limit: None }
    }
}

impl From<&str> for Ended {
    fn from(how: &str) -> Ended {
        how.to_owned().into()
    }
}

#[derive(Debug)]
struct Handle {
    role: String,
    patience: Duration,
    process: Process,
    child: Mutex<Child>,
}

impl ChildProcess {
    /// Starts it. `role` says in an error what it is; `patience` is what it has to end of its own accord when
    /// the last handle goes, before it is killed.
    pub fn start(role: impl Into<String>, patience: Duration, mut command: Command) -> Result<ChildProcess> {
        let object = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|e| Error::new("start", &object, e))?;
        // It has its number until it is waited for.
        let gone = || Error::new("find", &object, ErrorKind::NotFound);
        match Process::open(child.id()).and_then(|found| found.ok_or_else(gone)) {
            Ok(process) => {
                let child = Mutex::new(child);
                Ok(ChildProcess(Arc::new(Handle { role: role.into(), patience, process, child })))
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.0.process.pid()
    }

    /// Its standard input and output, where they are pipes that nobody has taken yet.
    pub fn streams(&self) -> Option<(ChildStdin, ChildStdout)> {
        let mut child = self.0.child.lock().unwrap_or_else(PoisonError::into_inner);
        Some((child.stdin.take()?, child.stdout.take()?))
    }

    /// Its standard input, where that is a pipe which nobody has taken yet.
    pub fn input(&self) -> Option<ChildStdin> {
        self.0.child.lock().unwrap_or_else(PoisonError::into_inner).stdin.take()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Sleeps until it has ended, at most so long; says whether it has.
    pub fn wait(&self, longest: Duration) -> bool {
        self.0.process.wait(longest).unwrap_or(false)
    }

    /// Its exit status, once it has ended.
    pub fn status(&self) -> Option<ExitStatus> {
        if !self.wait(VERDICT) {
            return None;
        }
        self.0.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok()
    }

    /// Sends a signal to its process group, where it leads one: to what it started as well.
    pub fn signal_group(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.pid()).ok().and_then(Pid::from_raw) {
            // Nobody of it may be left. Its number is nobody else's before it has been waited for.
            let _ = kill_process_group(group, signal.number());
        }
    }

    /// Has it go on, where it was made to stand still.
    pub fn go_on(&self) {
        let _ = self.0.process.signal(Signal::Continue);
    }

    /// Ends it at once, whatever it does.
    pub fn kill(&self) {
        // One that has ended hears nothing.
        let _ = self.0.process.signal(Signal::Kill);
    }

    /// How it ended, once nobody answers for it any more; none where it goes on.
    pub fn verdict(&self) -> Option<Ended> {
        let status = self.status()?;
        let how = format!("{}, process {}, ended with {status}", self.0.role, self.pid());
        Some(Ended { how, limit: limit::of_end(status) })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !self.process.wait(self.patience).unwrap_or(false) {
            // It hangs, or has nothing to tidy up, and must not outlive us.
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> ChildProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        ChildProcess::start("the shell", Duration::from_millis(10), command).unwrap()
    }

    #[test]
    fn how_a_process_ended_is_told_once_it_has() {
        let killed = shell("kill -9 $$");
        let said = killed.verdict().unwrap().how;
        assert!(said.contains(&format!("the shell, process {}", killed.pid())), "{said}");
        assert!(said.contains("signal: 9"), "{said}");
        assert!(killed.has_ended());
        // Again: the status is kept.
        assert_eq!(killed.verdict().unwrap().how, said);
        assert!(shell("exit 7").verdict().unwrap().how.ends_with("exit status: 7"));
    }

    #[test]
    fn a_running_child_ends_when_it_is_dropped() {
        let patient = shell("trap '' TERM; exec sleep 600");
        assert_eq!((patient.has_ended(), patient.verdict()), (false, None));
        let process = Process::open(patient.pid()).unwrap().unwrap();
        let other = patient.clone();
        drop(patient);
        assert!(!process.has_ended().unwrap(), "the other handle keeps it");
        drop(other);
        assert!(process.has_ended().unwrap());
    }

    #[test]
    fn what_cannot_be_started_is_said() {
        let error = ChildProcess::start("it", Duration::ZERO, Command::new("/no/such/program")).unwrap_err();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }
}
