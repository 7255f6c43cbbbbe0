//! A launcher or a daemon that was started: what it says, its last words, its end.

use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::{spawn, thread};
use std::collections::VecDeque;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What it has to end of its own accord, and to end what it started.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of what it wrote last is kept.
const KEPT: usize = 2000;
/// How long the rest of what it said is waited for once it has ended: what it started may hold the pipe open.
const REST: Duration = Duration::from_millis(500);

/// How it is bound to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// It is killed with this process, and is out of reach of a terminal's signals.
    Bound,
    /// It sees to its own end.
    Loose,
}

/// One that goes on.
#[derive(Debug)]
pub struct Started {
    own: ChildProcess,
    output: Arc<Output>,
}

/// What was read of its output.
#[derive(Debug, Default)]
struct Output {
    /// The end of it, and whether it is over.
    read: Mutex<(VecDeque<u8>, bool)>,
    is_over: Condvar,
}

impl Started {
    /// Starts it; `role` is what it is, for errors. A child is killed when the thread ends that started it: this one
    /// reads what it says until it has ended.
    pub fn run(mut command: Command, role: String, tie: Tie) -> Result<Started> {
        let output = Arc::new(Output::default());
        let (tell, told) = channel();
        let heard = output.clone();
        thread::start("launcher", move || {
            let started = std::io::pipe().map_err(|e| Error::io("pipe2", "launcher", e)).and_then(
                |(reader, writer)| {
                    let other = writer.try_clone().map_err(|e| Error::io("dup", "launcher", e))?;
                    command.stdin(Stdio::null()).stdout(writer).stderr(other);
                    if tie == Tie::Bound {
                        spawn::tie_to_parent(&mut command);
                    }
                    Ok((reader, ChildProcess::start(role, PATIENCE, command)?))
                },
            );
            match started {
                Ok((reader, launcher)) => {
                    let sent = tell.send(Ok(launcher));
                    if sent.is_ok() {
                        heard.read_all(reader);
                    }
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        })?;
        let lost = |_| Error::peer("the launcher", "was not started", "please report it");
        Ok(Started { own: told.recv().map_err(lost)??, output })
    }

    /// What it said last.
    pub fn output(&self) -> String {
        let read = self.output.read.lock().unwrap_or_else(PoisonError::into_inner);
        let said: Vec<u8> = read.0.iter().copied().collect();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Gives it this long to end of its own accord.
    pub fn wait(&self, longest: Duration) {
        self.own.wait(longest);
    }

    /// How it ended and what it said last; none while it goes on.
    pub fn last_words(&self) -> Option<String> {
        if !self.own.has_ended() {
            return None;
        }
        let how = self.own.verdict()?.how;
        self.output.await_end();
        let said = self.output();
        // Some frame what they say with rules.
        let says = |line: &&str| line.contains(|c| c != '-');
        let lines: Vec<&str> = said.lines().map(str::trim).filter(says).collect();
        Some(match lines.is_empty() {
            true => how,
            false => format!("{how}: {}", lines.join(" / ")),
        })
    }
}

impl Output {
    fn read_all(&self, mut reader: impl Read) {
        let lock = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut part = [0; 512];
        while let Ok(count @ 1..) = reader.read(&mut part) {
            let said = &mut lock().0;
            said.extend(&part[..count]);
            let surplus = said.len().saturating_sub(KEPT);
            said.drain(..surplus);
        }
        lock().1 = true;
        self.is_over.notify_all();
    }

    /// Who has ended may have said more than was read yet.
    fn await_end(&self) {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.is_over.wait_timeout_while(read, REST, |read| !read.1));
    }
}
