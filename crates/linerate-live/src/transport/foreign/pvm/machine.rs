//! The virtual machine of a session, where the active end is: its first daemon, and its first task.

use super::task::{self, About, Host, Starts, TaskRequest};
use super::{ENCODING, ROUTE, first_usable};
use crate::transport::Spec;
use crate::transport::foreign::library::elsewhere::{Elsewhere, own_address};
use crate::transport::foreign::library::home::{RankConnection, RankListener};
use crate::transport::foreign::library::shell::{ACCESS, Lent};
use crate::transport::foreign::library::started::{Started, Tie};
use crate::transport::foreign::library::supervise::SupervisedDaemon;
use crate::transport::foreign::library::{Found, ProcessEnvironment, outside_of_jobs, this_program};
use crate::{Error, Result};
use linerate_sys::process::effective_user;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a daemon may take to be ready: it takes some ms.
const READY: Duration = Duration::from_secs(10);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(10);
/// Where an installation's own files are, where nothing says it.
const ROOTS: &[&str] = &["/usr/lib/pvm3", "/usr/share/pvm3", "/usr/local/pvm3"];
const ROOT: &str = "PVM_ROOT";
/// The variable with the folder of a daemon's files.
const FOLDER: &str = "PVM_TMP";
/// How much of the daemon's log is told, in characters.
const TOLD: usize = 500;

/// Ends when it is dropped: the task first, then the daemon, then what keeps it.
pub struct Machine {
    found: &'static Found,
    /// What the task found it to be.
    is_direct: bool,
    task: Started,
    kept: SupervisedDaemon,
    daemon: Started,
}

/// What a daemon needs to know, and what is started by it.
pub fn variables(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let around = ProcessEnvironment::of_this_process();
    let is_said = around.variables.iter().any(|name| name == ROOT);
    let root = ROOTS.iter().map(PathBuf::from).find(|root| root.is_dir()).filter(|_| !is_said);
    let mut variables = vec![(FOLDER, folder.to_owned())];
    variables.extend(root.map(|root| (ROOT, root)));
    // Only for root, whom it refuses else.
    variables.extend((effective_user() == 0).then(|| ("PVM_ALLOW_ROOT", "1".into())));
    variables
}

impl Machine {
    /// Starts the daemon and both tasks, and waits for this end's own.
    pub fn begin(
        spec: &Spec,
        home: RankListener,
        other: &str,
        elsewhere: Option<&Elsewhere>,
    ) -> Result<(RankConnection, About, Machine)> {
        let found = first_usable()?;
        let asked = task_request(spec, found, [home.name(), other], elsewhere)?;
        // Until both tasks are there nobody else needs it.
        let lent = elsewhere.map(|elsewhere| Lent::to_own_user(&elsewhere.shell)).transpose()?;
        let kept = SupervisedDaemon::expect()?;
        let address = own_address(spec)?.unwrap_or(Ipv4Addr::LOCALHOST);
        let daemon = daemon(found, &kept, address, lent.as_ref())?;
        wait(&kept, &daemon)?;
        let task = first_task(&asked, &kept)?;
        let ended = || task.last_words().or_else(|| daemon.last_words());
        let began = home.welcome(&ended).and_then(|mut rank| {
            let about: About = rank.ask("begin", &|| ended().map_or(Ok(()), |how| Err(Error::died(how))))?;
            Ok((rank, about))
        });
        let (rank, about) = began.map_err(|error| with_log(&error, kept.folder()))?;
        let is_direct = about.is_direct;
        Ok((rank, about, Machine { found, is_direct, task, kept, daemon }))
    }

    /// How the task or the daemon ended, and what it said last; none while both go on.
    pub fn last_words(&self) -> Option<String> {
        self.task.last_words().or_else(|| self.daemon.last_words())
    }

    /// The daemon's.
    pub fn processes(&self) -> Vec<u32> {
        self.kept.processes()
    }

    /// What is on record of it.
    pub fn about(&self) -> String {
        let version = self.found.identity.as_ref().map_or("", |identity| identity.version.as_str());
        let daemon = self.found.launcher.as_ref().map_or(String::new(), |by| by.display().to_string());
        let way = if self.is_direct { "by a connection of the tasks" } else { "through the daemons" };
        format!("PVM {version}, {}, started by {daemon}, {way}", self.found.path.display())
    }
}

/// What the first task is to do, and by it the other one.
fn task_request(
    spec: &Spec,
    found: &Found,
    [home, other]: [&str; 2],
    elsewhere: Option<&Elsewhere>,
) -> Result<TaskRequest> {
    let identity = found.identity.as_ref().map_err(|why| Error::unavailable(why.clone(), ""))?;
    let of = |file: &Path, home: &str| TaskRequest {
        file: file.to_owned(),
        home: home.into(),
        is_direct: spec.value(ROUTE) == Some("direct"),
        encoding: spec.value(ENCODING).unwrap_or("default").into(),
        starts: None,
    };
    let starts = match elsewhere {
        None => Starts { program: this_program()?, host: None, asked: of(&found.path, other) },
        Some(elsewhere) => {
            let placed = elsewhere.placed(&identity.name, &identity.version)?;
            let no_daemon = || {
                let hint = "put the folder of its pvmd into PATH there";
                Error::unavailable("no daemon of PVM is on the other host's path", hint)
            };
            let daemon = placed.launcher.clone().ok_or_else(no_daemon)?;
            let host = Host { name: elsewhere.shell.address.ip().to_string(), daemon };
            let asked = of(&placed.path, other);
            Starts { program: elsewhere.program.clone(), host: Some(host), asked }
        }
    };
    Ok(TaskRequest { starts: Some(Box::new(starts)), ..of(&found.path, home) })
}

fn daemon(found: &Found, kept: &SupervisedDaemon, address: Ipv4Addr, lent: Option<&Lent>) -> Result<Started> {
    let none =
        || Error::unavailable("no daemon of PVM is on the path", "put the folder of its pvmd into PATH");
    let program = found.launcher.as_ref().ok_or_else(none)?;
    let mut command = kept.command(program)?;
    outside_of_jobs(&mut command, &ProcessEnvironment::of_this_process());
    command.arg(format!("-n{address}")).envs(variables(kept.folder())).env("PVM_RSH", this_program()?);
    command.envs(lent.map(|lent| (ACCESS, lent.name())));
    Started::run(command, "the daemon of pvm".into(), Tie::Loose)
}

/// Until it has written where it is to be found.
fn wait(kept: &SupervisedDaemon, daemon: &Started) -> Result<()> {
    let deadline = Instant::now() + READY;
    loop {
        if let Some(how) = daemon.last_words() {
            return Err(Error::unavailable(how, "does pvmd run by itself?"));
        }
        let files = std::fs::read_dir(kept.folder()).into_iter().flatten().flatten();
        let is_told = |file: std::fs::DirEntry| {
            let is_it = file.file_name().to_string_lossy().starts_with("pvmd.");
            is_it && file.metadata().is_ok_and(|about| about.len() > 0)
        };
        if files.into_iter().any(is_told) {
            return Ok(());
        }
        if Instant::now() > deadline {
            let what = format!("the daemon of pvm was not ready after {} s", READY.as_secs());
            return Err(Error::unavailable(what, "does pvmd run by itself?"));
        }
        std::thread::sleep(LOOK);
    }
}

fn first_task(asked: &TaskRequest, kept: &SupervisedDaemon) -> Result<Started> {
    let mut command = Command::new(this_program()?);
    outside_of_jobs(&mut command, &ProcessEnvironment::of_this_process());
    command.arg(task::ROLE).arg(asked.to_word()?).envs(variables(kept.folder()));
    Started::run(command, "the first task of pvm".into(), Tie::Bound)
}

/// An error with what the daemon wrote last.
fn with_log(error: &Error, folder: &Path) -> Error {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = files.filter(|file| file.file_name().to_string_lossy().starts_with("pvml."));
    let text: String = logs.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let words = lines.join(" / ");
    let skipped = words.chars().count().saturating_sub(TOLD);
    let words: String = words.chars().skip(skipped).collect();
    let hint = error.hint().unwrap_or("do `pvm` and its `add` work by themselves?").to_owned();
    Error::unavailable(format!("{error}; its daemon wrote: {words}"), hint)
}
