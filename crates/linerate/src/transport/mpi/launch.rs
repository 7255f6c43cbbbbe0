//! A library's own launcher: its arguments, its last words, its end.

use super::library::{Found, Surroundings, outside_of_jobs, this_program};
use crate::vocabulary::{MPI_MAKERS, MpiLaunch};
use crate::{Error, Result};
use linerate_sys::child::Own;
use linerate_sys::spawn;
use std::collections::VecDeque;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The hidden command that is a rank.
const ROLE: &str = "rank";
/// What a launcher has to end its ranks and itself.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of what it wrote last is kept.
const KEPT: usize = 2000;

/// A launcher that goes on.
pub struct Launched {
    launcher: Own,
    said: Arc<Mutex<VecDeque<u8>>>,
}

/// Whether it is known how this one's ranks are started.
pub fn is_known(name: &str) -> bool {
    recipe(name).is_some()
}

fn recipe(name: &str) -> Option<&'static MpiLaunch> {
    MPI_MAKERS.iter().find(|maker| maker.name == name)?.launch.as_ref()
}

impl Launched {
    /// Starts two ranks, which call these homes.
    pub fn start(found: &Found, homes: [&str; 2]) -> Result<Launched> {
        let identity = found.identity.as_ref().map_err(|why| Error::unavailable(why.clone(), ""))?;
        let unknown = || {
            let hint = "take another one with --set mpi.implementation=…: `linerate doctor` lists them";
            Error::unavailable(format!("how {} starts its ranks is not known", identity.name), hint)
        };
        let recipe = recipe(&identity.name).ok_or_else(unknown)?;
        let no_launcher =
            || Error::unavailable("no launcher of it is on the path", "put its mpirun into PATH");
        let launcher = found.launcher.as_ref().ok_or_else(no_launcher)?;
        let mut command = Command::new(launcher);
        command.args(recipe.arguments).arg(this_program()?).arg(ROLE).arg(&found.path);
        command.arg(identity.abi.as_deref().unwrap_or_default()).args(homes);
        command.envs(recipe.environment.iter().copied());
        outside_of_jobs(&mut command, &Surroundings::of_this_process());
        run(command, identity.name.clone())
    }

    /// How it ended and what it said last; none while it goes on.
    pub fn last_words(&self) -> Option<String> {
        if !self.launcher.has_ended() {
            return None;
        }
        let how = self.launcher.verdict()?;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said: Vec<u8> = said.iter().copied().collect();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Some(match lines.is_empty() {
            true => how,
            false => format!("{how}: {}", lines.join(" / ")),
        })
    }

    /// What is on record of the library.
    pub fn about(&self, found: &Found) -> String {
        let version = found.identity.as_ref().map_or("", |identity| identity.version.as_str());
        let launcher =
            found.launcher.as_ref().map_or(String::new(), |by| format!(", started by {}", by.display()));
        format!("{version}, {}{launcher}", found.path.display())
    }
}

/// A child is killed when the thread ends that started it: this one reads what it says until it has ended.
fn run(mut command: Command, name: String) -> Result<Launched> {
    let said = Arc::new(Mutex::new(VecDeque::with_capacity(KEPT)));
    let (tell, told) = channel();
    let heard = said.clone();
    std::thread::spawn(move || {
        let started =
            std::io::pipe().map_err(|e| Error::io("pipe2", "launcher", e)).and_then(|(reader, writer)| {
                let other = writer.try_clone().map_err(|e| Error::io("dup", "launcher", e))?;
                command.stdin(Stdio::null()).stdout(writer).stderr(other);
                spawn::tie_to_parent(&mut command);
                Ok((reader, Own::start(format!("the launcher of {name}"), PATIENCE, command)?))
            });
        match started {
            Ok((reader, launcher)) => {
                let sent = tell.send(Ok(launcher));
                if sent.is_ok() {
                    keep_last(reader, &heard);
                }
            }
            Err(error) => drop(tell.send(Err(error))),
        }
    });
    let lost = |_| Error::peer("the launcher", "was not started", "please report it");
    Ok(Launched { launcher: told.recv().map_err(lost)??, said })
}

fn keep_last(mut reader: impl Read, said: &Mutex<VecDeque<u8>>) {
    let mut part = [0; 512];
    while let Ok(count @ 1..) = reader.read(&mut part) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend(&part[..count]);
        let surplus = said.len().saturating_sub(KEPT);
        said.drain(..surplus);
    }
}
