//! A launcher of ranks that goes on, and what is on record of it.

use super::Found;
use super::daemons::Daemons;
use super::launch_request::LaunchRequest;
use super::shell::{ACCESS, Lent};
use super::started::{Started, Tie};
use crate::{Error, Result};
use linerate_sys::process::Process;
use std::time::Duration;

/// What a launcher has to end its daemons, once its ranks have ended.
const FAREWELL: Duration = Duration::from_secs(3);

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

impl Launched {
    /// Starts both sets of ranks, which call these homes, one for each rank; between two hosts by this remote shell.
    pub fn start(asked: &LaunchRequest<'_>, homes: &[&str], shell: Option<&Lent>) -> Result<Launched> {
        let LaunchRequest { found, recipe, variables, rank_specs: [near, far], .. } = asked;
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
