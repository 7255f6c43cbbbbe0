//! A task: a process that enrols with the daemon of its host, and plays what it is asked. The first one starts the other.

use crate::pattern::{Passed, Passing};
use crate::transport::foreign::library::home::{Play, Played};
use crate::transport::foreign::library::rank::{RankProgram, played, serve_home};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::library::Library;
use linerate_sys::messages::{Messages, Windows, parts};
use linerate_sys::pvm::Task;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::PathBuf;

/// The hidden command that is a task.
pub const ROLE: &str = "task";

/// What a task is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRequest {
    /// The library on its host.
    pub file: PathBuf,
    /// Where it calls.
    pub home: String,
    /// Whether it asks for a connection to the other task.
    pub is_direct: bool,
    /// How it packs.
    pub encoding: String,
    /// The other task; none where it is the other one.
    pub starts: Option<Box<Starts>>,
}

/// How the first task starts the other one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starts {
    /// This program there.
    pub program: PathBuf,
    /// The host; none where it is the same one.
    pub host: Option<Host>,
    /// What it is to be.
    pub asked: TaskRequest,
}

/// A host that the virtual machine is to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its address.
    pub name: String,
    /// The daemon's program there.
    pub daemon: PathBuf,
}

/// What a task found when it met the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Whether they have a connection beside the daemons.
    pub is_direct: bool,
}

impl TaskRequest {
    /// For the command line.
    pub fn to_word(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::usage(e.to_string(), ""))
    }
}

/// Plays until the end that it works for goes away.
pub fn main(word: &str) -> Result<()> {
    let wrong = |e| Error::usage(format!("no task: {e}"), "linerate starts this command itself");
    let asked: TaskRequest = serde_json::from_str(word).map_err(wrong)?;
    let home = asked.home.clone();
    serve_home(&home, One { asked, task: None })
}

/// One that has called home.
struct One {
    asked: TaskRequest,
    /// None before it has enrolled.
    task: Option<Task>,
}

impl One {
    /// Enrols, starts the other task, and exchanges a first message with it.
    fn begin(&mut self) -> Result<About> {
        let library = Library::open(&self.asked.file)?;
        let unknown = |()| Error::usage(format!("no encoding is called `{}`", self.asked.encoding), "");
        let encoding = self.asked.encoding.parse().map_err(unknown)?;
        let mut task = Task::enrol(&library, encoding, self.asked.is_direct)?;
        match &self.asked.starts {
            Some(other) => {
                let host = other.host.as_ref();
                host.map_or(Ok(()), |host| task.add_host(&host.name, &host.daemon))?;
                let word = other.asked.to_word()?;
                task.spawn(&other.program, &[ROLE, &word], host.map(|host| host.name.as_str()))?;
            }
            None => task.find_parent()?,
        }
        task.check(self.asked.starts.is_some())?;
        let is_direct = task.is_direct();
        self.task = Some(task);
        Ok(About { is_direct })
    }
}

impl RankProgram for One {
    fn play(&mut self, asked: &Play) -> Result<Vec<Played>> {
        let not_yet = || Error::usage("the task has not begun", "linerate asks it by itself");
        let task = self.task.as_mut().ok_or_else(not_yet)?;
        match asked.wait {
            Wait::Polling => played(Passed::new(TaskMessages::<true>(task)), asked),
            Wait::Sleeping => played(Passed::new(TaskMessages::<false>(task)), asked),
        }
    }

    fn answer(&mut self, method: &str, _: &Value) -> Option<Result<Value>> {
        let told = |about| serde_json::to_value(about).map_err(|e| Error::usage(e.to_string(), ""));
        (method == "begin").then(|| self.begin().and_then(told))
    }

    fn leave(&mut self) {
        self.task.iter_mut().for_each(Task::leave);
    }
}

/// A task as the loops see it, which polls or not. PVM posts no receives: a window's messages are received one by one.
struct TaskMessages<'t, const POLLS: bool>(&'t mut Task);

impl<const POLLS: bool> Messages for TaskMessages<'_, POLLS> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.send(bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.receive::<POLLS>(room)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.0.send(bytes)?;
        self.0.receive::<POLLS>(room)
    }

    #[inline]
    fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        self.0.send(bytes)?;
        work();
        self.0.receive::<POLLS>(room)
    }
}

impl<const POLLS: bool> Windows for TaskMessages<'_, POLLS> {
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        parts(region, len, messages).try_for_each(|bytes| self.0.send(bytes))
    }

    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        rooms.into_iter().try_fold(0, |came, room| Ok(came + self.0.receive::<POLLS>(room)?))
    }
}

impl<const POLLS: bool> Passing for TaskMessages<'_, POLLS> {}
