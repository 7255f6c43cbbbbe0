//! What listens at the far end for one transfer, and is gone afterwards.

use super::site::Site;
use crate::lab::VirtualHost;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Signal;
use linerate_sys::{cpu_time, spawn};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that listens.
pub struct Service {
    /// What it is called in an error.
    pub name: &'static str,
    /// Makes its files; gives the words that start it.
    pub words: fn(&Site) -> Result<Vec<String>>,
}

/// Where programs of a transfer run.
pub trait Place {
    /// A command there.
    fn command(&self, program: &str) -> Command;
}

impl Place for VirtualHost {
    fn command(&self, program: &str) -> Command {
        VirtualHost::command(self, program)
    }
}

/// Beside this process, on its host.
pub struct Here;

impl Place for Here {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // A service manager may have told this process things that are not meant for this one.
        command.env_remove("NOTIFY_SOCKET");
        spawn::tie_to_parent(&mut command);
        command
    }
}

/// How long it may take until it listens, and how often is looked.
const LISTENS: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(2);

/// What the state of a listening socket is called in `/proc/net/tcp` (`TCP_LISTEN` of net/tcp_states.h).
const LISTEN: &str = "0A";

/// The most that is read of what a program said, of which the last line is told.
const MOST_SAID: usize = 400;

/// One that runs; it ends with this value.
pub struct Serving {
    process: ChildProcess,
}

impl Serving {
    /// The CPU time of what it has started, and not waited for.
    pub fn descendants_ns(&self) -> u64 {
        cpu_time::descendants_ns(self.process.pid())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.process.signal_group(Signal::Kill);
    }
}

impl Service {
    /// Starts it on a host, and waits until it listens.
    pub fn start(&self, host: &dyn Place, site: &Site) -> Result<Serving> {
        let log = site.folder.join("service.log");
        let command = quiet(host, &(self.words)(site)?, site, &log)?;
        let process = ChildProcess::start(self.name, Duration::ZERO, command)?;
        let serving = Serving { process };
        let begun = Instant::now();
        while !listens(serving.process.pid(), site.port) {
            if serving.process.has_ended() || begun.elapsed() > LISTENS {
                let what = format!("does not listen: {}", last_line(&log));
                return Err(Error::peer(self.name, what, "see whether it is installed whole"));
            }
            std::thread::sleep(LOOK);
        }
        Ok(serving)
    }
}

/// A command on a host of which nobody sees anything, and that sees nothing of the user's.
pub fn quiet(host: &dyn Place, words: &[String], site: &Site, log: &Path) -> Result<Command> {
    let (program, arguments) = words.split_first().ok_or_else(|| Error::usage("no words", ""))?;
    let fail = |e| Error::io("open", log.display().to_string(), e);
    let file = File::create(log).map_err(fail)?;
    let mut command = host.command(program);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(file.try_clone().map_err(fail)?).stderr(file).env("HOME", &site.folder);
    // A proxy would be another path.
    for name in ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"] {
        command.env_remove(name).env_remove(name.to_ascii_uppercase());
    }
    Ok(command)
}

/// Whether something listens at a port of the network namespace that a process is in.
fn listens(pid: u32, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    ["", "6"].iter().any(|version| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/tcp{version}")).unwrap_or_default();
        text.lines().any(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
            local.ends_with(&wanted) && state == LISTEN
        })
    })
}

/// The last line that a program said.
pub fn last_line(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(MOST_SAID)..]).into_owned();
    let said = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    said.unwrap_or("it said nothing").to_owned()
}
