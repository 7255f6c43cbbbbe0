//! A library's own launcher: its arguments, its last words, its end.

use super::library::shell::{ACCESS, Lent};
use super::library::started::{Started, Tie};
use super::library::{Found, Surroundings, outside_of_jobs};
use crate::vocabulary::{MPI_MAKERS, MpiLaunch};
use crate::{Error, Result};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

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

/// A launcher that goes on.
pub struct Launched {
    /// The library's version on the other host, where it is another one.
    other_version: Option<String>,
    launcher: Started,
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
        let role = format!("the launcher of {}", identity.name);
        Ok(Launched { other_version, launcher: Started::run(command, role, Tie::Bound)? })
    }

    /// How it ended and what it said last; none while it goes on.
    pub fn last_words(&self) -> Option<String> {
        self.launcher.last_words()
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
