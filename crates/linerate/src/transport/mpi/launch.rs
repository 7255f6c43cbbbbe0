//! A library's own launcher: its arguments, its last words, its end.

use super::library::shell::{ACCESS, Lent};
use super::library::{Found, Surroundings, outside_of_jobs};
use crate::vocabulary::{MPI_MAKERS, MpiLaunch};
use crate::{Error, Result};
use linerate_sys::child::Own;
use linerate_sys::spawn;
use std::collections::VecDeque;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A rank that is to be started.
#[derive(Debug, Clone)]
pub struct Seat {
    /// This program, on the rank's host.
    pub program: PathBuf,
    /// The library there, and its ABI.
    pub file: PathBuf,
    /// Its ABI.
    pub abi: String,
    /// Its version, as it says it.
    pub version: String,
    /// The host's address and the interface that has it; none where both ranks are on one host.
    pub at: Option<(Ipv4Addr, String)>,
}

/// The hidden command that is a rank.
pub const ROLE: &str = "rank";
/// What a launcher has to end its ranks and itself.
const PATIENCE: Duration = Duration::from_secs(3);
/// How much of what it wrote last is kept.
const KEPT: usize = 2000;

/// A launcher that goes on.
pub struct Launched {
    /// The library's version on the other host, where it is another one.
    other_version: Option<String>,
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
    /// Starts two ranks, which call these homes; between two hosts by this remote shell.
    pub fn start(
        found: &Found,
        seats: &[Seat; 2],
        homes: [&str; 2],
        shell: Option<&Lent>,
        variables: &[(String, String)],
    ) -> Result<Launched> {
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
        outside_of_jobs(&mut command, &Surroundings::of_this_process());
        let [near, _] = seats;
        let ranks = if near.at.is_some() { &recipe.across } else { &recipe.within };
        let fill = |seat: &Seat, template: &str| filled(template, seats, seat);
        let unsaid = |words| unsaid(words, variables);
        command.args(unsaid(ranks.arguments).iter().map(|word| fill(near, word)));
        command.envs(ranks.environment.iter().map(|(name, value)| (name, fill(near, value))));
        for (number, seat) in seats.iter().enumerate() {
            command.args((number > 0).then_some(":"));
            command.args(unsaid(ranks.each).iter().map(|word| fill(seat, word)));
            let names = variables.iter().map(|(name, _)| name);
            command.args(names.flat_map(|name| ranks.export.map(|word| [word, name])).flatten());
            command.arg(&seat.program).arg(ROLE).arg(&seat.file).arg(&seat.abi).args(homes);
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.envs(shell.map(|lent| (ACCESS, lent.name())));
        let [near, far] = seats;
        let other_version = (near.version != far.version).then(|| far.version.clone());
        Ok(Launched { other_version, ..run(command, identity.name.clone())? })
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
        let other =
            self.other_version.as_ref().map_or(String::new(), |other| format!(", {other} on the other host"));
        format!("{version}, {}{launcher}{other}", found.path.display())
    }
}

/// A launcher's words without the variables that were said as they are: by such words they would lose.
fn unsaid(words: &[&'static str], variables: &[(String, String)]) -> Vec<&'static str> {
    let mut left = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let is_said = |name: &str| variables.iter().any(|(said, _)| said == name);
        match word {
            "-env" | "-genv" if words.clone().next().is_some_and(is_said) => drop(words.nth(1)),
            _ => left.push(word),
        }
    }
    left
}

/// A launcher's word, with what it needs to know of the hosts.
fn filled(template: &str, [near, far]: &[Seat; 2], own: &Seat) -> String {
    let address = |seat: &Seat| seat.at.as_ref().map_or(String::new(), |(address, _)| address.to_string());
    let interface = own.at.as_ref().map_or("", |(_, interface)| interface);
    let marks = [
        ("{near}", address(near)),
        ("{far}", address(far)),
        ("{address}", address(own)),
        ("{interface}", interface.into()),
        ("{shell}", near.program.display().to_string()),
    ];
    marks.iter().fold(template.to_owned(), |word, (mark, value)| word.replace(mark, value))
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
    Ok(Launched { other_version: None, launcher: told.recv().map_err(lost)??, said })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_was_said_is_not_said_again_by_the_launcher() {
        let words = ["-n", "1", "-env", "A", "1", "-genv", "B", "2"];
        let said = |names: &[&str]| {
            let variables: Vec<_> = names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            unsaid(&words, &variables).join(" ")
        };
        assert_eq!(said(&[]), "-n 1 -env A 1 -genv B 2");
        assert_eq!(said(&["A"]), "-n 1 -genv B 2");
        assert_eq!(said(&["A", "B", "C"]), "-n 1");
    }
}
