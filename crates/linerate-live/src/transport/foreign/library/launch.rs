//! A launcher of ranks: its arguments, and what is on record of it.

use super::daemons::Daemons;
use super::shell::{ACCESS, Lent};
use super::started::{Started, Tie};
use super::{Found, Surroundings, outside_of_jobs};
use crate::vocabulary::{Launch, Ranks};
use crate::{Error, Result};
use linerate_sys::process::Process;
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What a launcher has to end its daemons, once its ranks have ended.
const FAREWELL: Duration = Duration::from_secs(3);

/// A rank that is to be started.
#[derive(Debug, Clone)]
pub struct Seat {
    /// This program, on the rank's host.
    pub program: PathBuf,
    /// The library there.
    pub file: PathBuf,
    /// The name that picks it.
    pub name: String,
    /// Its ABI; none of what is no MPI.
    pub abi: Option<String>,
    /// Its version, as it says it.
    pub version: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// The host's address and the interface that has it; none where both ranks are on one host.
    pub at: Option<(Ipv4Addr, String)>,
}

/// A launcher that goes on.
pub struct Launched {
    /// The library's version on the other host, where it is another one.
    other_version: Option<String>,
    /// What sees to the end of its daemons, where it has some: before the launcher, which they end with.
    daemons: Option<Daemons>,
    launcher: Started,
}

impl Drop for Launched {
    fn drop(&mut self) {
        if self.daemons.is_some() {
            self.launcher.wait(FAREWELL);
        }
    }
}

/// What is to be launched.
pub struct Asked<'r> {
    /// The library of this host.
    pub found: &'r Found,
    /// How it starts its ranks.
    pub recipe: &'static Launch,
    /// Where they are started.
    pub seats: &'r [Seat; 2],
    /// What each program is told, before its homes.
    pub words: [Vec<OsString>; 2],
    /// What the library is told beside the recipe.
    pub variables: &'r [(String, String)],
}

impl Launched {
    /// Starts the ranks of both seats, which call these homes, one for each rank; between two hosts by this remote shell.
    pub fn start(asked: &Asked<'_>, homes: &[&str], shell: Option<&Lent>) -> Result<Launched> {
        let Asked { found, recipe, variables, seats: [near, far], .. } = asked;
        let identity = found.identity.as_ref().map_err(|why| Error::unavailable(why.clone(), ""))?;
        let no_launcher = || {
            Error::unavailable("no launcher of it is on the path", "put the folder of its launcher into PATH")
        };
        let launcher = found.launcher.as_ref().ok_or_else(no_launcher)?;
        let (mut command, daemons) = match &recipe.daemons {
            None => (asked.command(launcher, homes), None),
            Some(needed) => {
                let daemons = Daemons::expect(needed)?;
                (daemons.command(launcher, asked, homes)?, Some(daemons))
            }
        };
        let environment = asked.ranks().environment;
        command.envs(environment.iter().map(|(name, value)| (name, asked.filled(value, 0))));
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.envs(shell.map(|lent| (ACCESS, lent.name())));
        let other_version = (near.version != far.version).then(|| far.version.clone());
        let role = format!("the launcher of {}", identity.name);
        let tie = if daemons.is_some() { Tie::Loose } else { Tie::Bound };
        let started = Started::run(command, role, tie);
        let launcher = started.map_err(|error| match &daemons {
            Some(daemons) => daemons.explain(&identity.name, error),
            None => error,
        })?;
        Ok(Launched { other_version, daemons, launcher })
    }

    /// The daemon that started a rank, where one does.
    pub fn daemon_of(&self, rank: u32) -> Option<Process> {
        self.daemons.as_ref()?.of_rank(rank)
    }

    /// The processes of its daemons.
    pub fn processes(&self) -> Vec<u32> {
        self.daemons.iter().flat_map(Daemons::processes).collect()
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
        let daemons = self.daemons.as_ref().map_or("", Daemons::about);
        let abi = found.identity.as_ref().ok().and_then(|identity| identity.abi.as_ref());
        let abi = abi.map_or(String::new(), |abi| format!(", ABI {abi}"));
        format!("{version}{abi}, {}{launcher}{daemons}{other}", found.path.display())
    }
}

impl Asked<'_> {
    /// The launcher with all ranks behind each other.
    fn command(&self, launcher: &Path, homes: &[&str]) -> Command {
        let mut command = Command::new(launcher);
        outside_of_jobs(&mut command, &Surroundings::of_this_process());
        command.args(self.arguments());
        for number in 0..self.seats.len() {
            command.args((number > 0).then_some(":")).args(self.rank(number, homes));
        }
        command
    }

    fn ranks(&self) -> &'static Ranks {
        if self.seats[0].at.is_some() { &self.recipe.across } else { &self.recipe.within }
    }

    /// What stands before the first rank.
    pub fn arguments(&self) -> Vec<String> {
        unsaid(self.ranks().arguments, self.variables).iter().map(|word| self.filled(word, 0)).collect()
    }

    /// The words of the ranks of a place.
    pub fn rank(&self, number: usize, homes: &[&str]) -> Vec<OsString> {
        let each = unsaid(self.ranks().each, self.variables);
        let mut words: Vec<OsString> = each.iter().map(|word| self.filled(word, number).into()).collect();
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        let exported = names.flat_map(|name| self.ranks().export.map(|word| [word, name])).flatten();
        words.extend(exported.map(OsString::from));
        words.push(self.seats[number].program.clone().into());
        words.extend(self.words[number].iter().cloned());
        words.extend(homes.iter().map(OsString::from));
        words
    }

    /// How many ranks a place has.
    pub fn ranks_at(&self, number: usize) -> u32 {
        self.seats[number].ranks
    }

    /// The address of each host.
    pub fn hosts(&self) -> Vec<String> {
        let addresses = self.seats.iter().filter_map(|seat| Some(seat.at.as_ref()?.0.to_string()));
        addresses.collect()
    }

    /// A launcher's word, with what it needs to know of the hosts.
    fn filled(&self, template: &str, number: usize) -> String {
        let [near, far] = self.seats;
        let own = &self.seats[number];
        let address =
            |seat: &Seat| seat.at.as_ref().map_or(String::new(), |(address, _)| address.to_string());
        let interface = own.at.as_ref().map_or("", |(_, interface)| interface);
        let marks = [
            ("{near}", address(near)),
            ("{far}", address(far)),
            ("{address}", address(own)),
            ("{interface}", interface.into()),
            ("{number}", number.to_string()),
            ("{ranks}", own.ranks.to_string()),
            ("{all}", (near.ranks + far.ranks).to_string()),
            ("{shell}", near.program.display().to_string()),
        ];
        marks.iter().fold(template.to_owned(), |word, (mark, value)| word.replace(mark, value))
    }
}

/// A launcher's words without the variables that were said as they are: by such words they would lose.
fn unsaid(words: &[&'static str], variables: &[(String, String)]) -> Vec<&'static str> {
    let mut left = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let is_said = |name: &str| variables.iter().any(|(said, _)| said == name);
        let is_assigned = |next: &str| next.split_once('=').is_some_and(|(name, _)| is_said(name));
        match word {
            "-env" | "-genv" if words.clone().next().is_some_and(is_said) => drop(words.nth(1)),
            "-x" if words.clone().next().is_some_and(is_assigned) => drop(words.next()),
            _ => left.push(word),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_was_said_is_not_said_again_by_the_launcher() {
        let words = ["-n", "1", "-env", "A", "1", "-genv", "B", "2", "-x", "C=3"];
        let said = |names: &[&str]| {
            let variables: Vec<_> = names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            unsaid(&words, &variables).join(" ")
        };
        assert_eq!(said(&[]), "-n 1 -env A 1 -genv B 2 -x C=3");
        assert_eq!(said(&["A"]), "-n 1 -genv B 2 -x C=3");
        assert_eq!(said(&["A", "B", "C"]), "-n 1");
    }
}
