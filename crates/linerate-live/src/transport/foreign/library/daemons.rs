//! The daemons that some libraries need before they start ranks: each host's are ended with its end of the session.

use super::boot::{self, Boot};
use super::elsewhere::Elsewhere;
use super::launch_request::LaunchRequest;
use super::shell::{Served, Shell, plain};
use super::supervise::SupervisedDaemon;
use super::{Found, ProcessEnvironment, outside_of_jobs, this_program};
use crate::vocabulary::LaunchDaemons;
use crate::{Error, Result};
use linerate_sys::process::{Process, effective_user};
use linerate_sys::{orphans, spawn};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whom root is called where it is refused: an account that every system has and that nobody uses.
const NOT_ROOT: u32 = 1;

/// Those of a host where a launcher is, or will be.
pub struct Daemons {
    needed: &'static LaunchDaemons,
    kept: SupervisedDaemon,
}

impl Daemons {
    /// With a folder that nobody else has.
    pub fn expect(needed: &'static LaunchDaemons) -> Result<Daemons> {
        Ok(Daemons { needed, kept: SupervisedDaemon::expect()? })
    }

    /// What starts them, and then the ranks.
    pub fn command(&self, launcher: &Path, asked: &LaunchRequest<'_>, homes: &[&str]) -> Result<Command> {
        let beside = |words: &[&str]| words_of(launcher, words);
        let hosts = Some(asked.hosts()).filter(|hosts| !hosts.is_empty());
        let boot = Boot {
            folder: self.kept.folder().to_owned(),
            start: beside(self.needed.start),
            hosts: hosts.unwrap_or_else(|| vec![Ipv4Addr::LOCALHOST.to_string()]),
            launch: std::iter::once(launcher.display().to_string()).chain(asked.arguments()).collect(),
            ranks: [0, 1].into_iter().flat_map(|number| lines(asked, number, homes)).collect(),
            end: beside(self.needed.end),
        };
        let mut command = self.kept.command_until_end()?;
        command.arg(boot::ROLE).arg(boot.to_word()?);
        outside_of_jobs(&mut command, &ProcessEnvironment::of_this_process());
        command.env(self.needed.folder, self.kept.folder()).env(self.needed.shell, this_program()?);
        command.env("PATH", with_folder_of(launcher)?);
        self.call_otherwise(&mut command);
        Ok(command)
    }

    /// Where root is refused it is called somebody else.
    fn call_otherwise(&self, command: &mut Command) {
        if self.is_renamed() {
            spawn::call_otherwise(command, NOT_ROOT);
        }
    }

    fn is_renamed(&self) -> bool {
        self.needed.refuse_root && effective_user() == 0
    }

    /// Why they could not be started.
    pub fn explain(&self, name: &str, error: Error) -> Error {
        if !self.is_renamed() {
            return error;
        }
        let what = format!(
            "{name} refuses root, and no user namespace is to be had in which root is called otherwise: {error}"
        );
        Error::unavailable(what, "run it as another user than root")
    }

    /// The one that started a rank.
    pub fn of_rank(&self, rank: u32) -> Option<Process> {
        orphans::parent(rank).and_then(|parent| Process::open(parent).ok().flatten())
    }

    /// Their processes.
    pub fn processes(&self) -> Vec<u32> {
        self.kept.processes()
    }

    /// What is on record of them.
    pub fn about(&self) -> &'static str {
        if self.is_renamed() { ", root being called user 1" } else { "" }
    }

    /// What runs a command of a launcher on another host, which starts one here.
    fn shell(&self, launcher: Option<&Path>) -> Result<Shell> {
        let start = self.kept.shell()?;
        let (variable, folder) = (self.needed.folder, self.kept.folder().display().to_string());
        let path = launcher.map(with_folder_of).transpose()?;
        let is_renamed = self.is_renamed();
        Ok(Box::new(move |line| {
            // In the line: what is in this process's own variables is not for them.
            let mut command = start(&format!("{variable}={folder}; export {variable}; {line}"));
            command.envs(path.as_ref().map(|path| ("PATH", path)));
            if is_renamed {
                spawn::call_otherwise(&mut command, NOT_ROOT);
            }
            command
        }))
    }
}

/// What a host where no launcher runs has for one on another host. The daemons before the shell that starts them.
pub struct Far {
    daemons: Option<Daemons>,
    served: Served,
}

impl Far {
    /// This host, for a launcher that needs such daemons, where it needs any.
    pub fn of_this_host(
        all: &[Found],
        name: Option<&str>,
        needed: Option<&'static LaunchDaemons>,
        address: Ipv4Addr,
    ) -> Result<(Far, Elsewhere)> {
        let daemons = needed.map(Daemons::expect).transpose()?;
        let is_it = |found: &&Found| found.identity.as_ref().is_ok_and(|it| Some(it.name.as_str()) == name);
        let launcher = all.iter().find(is_it).and_then(|found| found.launcher.as_deref());
        let shell = match &daemons {
            Some(daemons) => daemons.shell(launcher)?,
            None => Box::new(plain),
        };
        let (served, elsewhere) = Elsewhere::of_this_host(all, address, shell)?;
        Ok((Far { daemons, served }, elsewhere))
    }

    /// Whether the other end has said that no rank will come.
    pub fn is_forsaken(&self) -> bool {
        self.served.is_forsaken()
    }

    /// The daemon that started a rank, where one does.
    pub fn daemon_of(&self, rank: u32) -> Option<Process> {
        self.daemons.as_ref()?.of_rank(rank)
    }

    /// The daemons' processes.
    pub fn processes(&self) -> Vec<u32> {
        self.daemons.iter().flat_map(Daemons::processes).collect()
    }
}

/// A line for each rank of a place.
fn lines(asked: &LaunchRequest<'_>, number: usize, homes: &[&str]) -> Vec<Vec<String>> {
    let words = asked.rank(number, homes);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    vec![words; asked.ranks_at(number) as usize]
}

fn words_of(launcher: &Path, words: &[&str]) -> Vec<String> {
    let program = |name: &str| launcher.with_file_name(name).display().to_string();
    let (first, others) = words.split_first().map_or(("", words), |(first, others)| (*first, others));
    std::iter::once(program(first)).chain(others.iter().map(|word| (*word).to_owned())).collect()
}

/// `PATH` with a launcher's own folder before it: its daemons look for each other there.
fn with_folder_of(launcher: &Path) -> Result<std::ffi::OsString> {
    let own = launcher.parent().map(PathBuf::from);
    let folders = own.into_iter().chain(ProcessEnvironment::of_this_process().programs);
    std::env::join_paths(folders).map_err(|e| Error::unavailable(format!("PATH: {e}"), ""))
}
