//! Hosts reached by ssh: the program is copied over when it is missing there, or another one.

mod converse;
mod many;
mod place;
mod program;

pub(super) use many::provide_all;
pub use place::RemoteFolder;
pub(super) use place::quoted;
pub use program::Program;

use crate::control::Check;
use crate::lab::journal;
use crate::plan::HostId;
use crate::unit::Bytes;
use crate::{Error, Result};
use converse::{Heard, converse};
use linerate_sys::spawn;
use place::{Found, copy_script, look_script};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How to call ssh, and whom.
#[derive(Debug, Clone)]
pub struct Ssh {
    words: Vec<String>,
    host: String,
    id: HostId,
}

/// What there is to tell while hosts are reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaching {
    /// The program is on its way to a host.
    Copying {
        /// The host as ssh is told it.
        host: String,
        /// What of it ssh has taken.
        gone: u64,
        /// All of it.
        of: u64,
        /// Since it began.
        time: Duration,
    },
    /// Its copy is elsewhere than it should be.
    Elsewhere(String),
    /// Agents that have not called back yet, by their hosts' names.
    Awaiting(Vec<String>),
    /// What there is to know of a host that takes no part, or is not as the others.
    Missing(String),
}

/// Who is told.
pub type Told<'t> = &'t mut dyn FnMut(Reaching);

impl Ssh {
    /// `host` is `[user@]host[:port]`; `command` is `ssh` or what stands for it, with its options.
    pub fn new(command: &str, host: &str, id: HostId) -> Result<Ssh> {
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        if words.is_empty() {
            return Err(Error::usage("the ssh command is empty", "try --ssh 'ssh -F my_config'"));
        }
        let (name, port) = split_port(host);
        if let Some(port) = port {
            words.extend(["-p".into(), port.into()]);
        }
        Ok(Ssh { words, host: name, id })
    }

    /// The same, where nobody is there to answer.
    fn without_questions(&self) -> Ssh {
        let mut words = self.words.clone();
        words.push("-oBatchMode=yes".into());
        Ssh { words, ..self.clone() }
    }

    /// The command that runs an agent there, once the program's copy is in this folder.
    pub fn agent(&self, copy: &str) -> Command {
        self.remote(&format!("exec {} agent", quoted(&format!("{copy}/linerate"))))
    }

    fn remote(&self, script: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg("-T").arg("--").arg(&self.host).arg(script);
        // Not in a group of its own: it may ask on the terminal.
        spawn::end_with_parent(&mut command);
        journal::mark(&mut command);
        command
    }

    /// Whatever the user's own shell there is, the script is for `sh`.
    fn script(&self, script: &str) -> Command {
        self.remote(&format!("exec sh -c {}", quoted(script)))
    }

    /// The folder of the program's copy, which is there then and runs.
    fn provide(
        &self,
        program: &Program,
        folder: Option<&RemoteFolder>,
        check: Check<'_>,
        told: Told<'_>,
    ) -> Result<String> {
        let nothing = Arc::from([]);
        // What ssh asks, it asks on the terminal; what it says of a failure becomes part of the error.
        let heard = converse(self.script(&look_script(program, folder)), &nothing, check, &mut |_| ())?;
        let found = Found::read(&heard.output);
        if !heard.status.success() && found.places.is_empty() {
            return Err(self.failed("cannot be reached by ssh", &heard.errors));
        }
        let ours = format!("Linux {}", std::env::consts::ARCH);
        if found.system != ours {
            let what = format!("is `{}`, and this program is for `{ours}`", found.system);
            return Err(Error::unavailable(format!("{} {what}", self.host), "build linerate on that host"));
        }
        let place = found.place(folder.is_some(), self, Bytes(program.bytes.len() as u64))?;
        if let Some(elsewhere) = &place.elsewhere {
            told(Reaching::Elsewhere(elsewhere.clone()));
        }
        if !place.is_there {
            self.copy(program, &place.copy, found.has_gzip, check, told)?;
        }
        Ok(place.copy)
    }

    /// The copy is given its name only when it is whole.
    fn copy(
        &self,
        program: &Program,
        copy: &str,
        is_packed: bool,
        check: Check<'_>,
        told: Told<'_>,
    ) -> Result<()> {
        let input = if is_packed { program.packed()? } else { program.bytes.clone() };
        let (of, begun) = (input.len() as u64, Instant::now());
        let mut moved =
            |gone| told(Reaching::Copying { host: self.host.clone(), gone, of, time: begun.elapsed() });
        let command = self.script(&copy_script(program, copy, is_packed));
        let Heard { status, took_all, errors, .. } = converse(command, &input, check, &mut moved)?;
        if status.success() && took_all {
            return Ok(());
        }
        Err(self.failed("did not take the program's copy", &errors))
    }

    /// With the cause as ssh told it, and what helps against that.
    fn failed(&self, what: &str, told: &[u8]) -> Error {
        let told = String::from_utf8_lossy(told);
        let call = format!("{} {}", self.words.join(" "), self.host);
        let (cause, hint) = cause(&told);
        let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
        let name = self.host.rsplit('@').next().unwrap_or_default();
        let hint = hint.replace("CALL", &call).replace("USER", &self.host).replace("NAME", name);
        let hint = hint.replace("HOST", &self.id.to_string());
        Error::peer(&self.host, format!("{what}{cause}"), hint)
    }
}

/// What ssh and the shell there say of a failure, and what to try. CALL is the call of ssh with the host,
/// USER the host with its user, NAME without, HOST its letter in the run.
const SAYINGS: &[(&str, &str)] = &[
    ("Could not resolve hostname", "see whether the name is known: getent hosts NAME"),
    ("Host key verification failed", "connect once by hand, and look at the host's key: CALL true"),
    ("Permission denied (", "let ssh in without a password: ssh-copy-id USER"),
    ("Connection refused", "see whether sshd runs there, and on which port: ssh://USER:PORT"),
    ("timed out", "see whether the host is up and no firewall is between: ping NAME"),
    ("No route to host", "see whether the host is up: ping NAME"),
    ("Network is unreachable", "see whether this host is connected: ip route"),
    ("No space left on device", "make room there, or name a folder that has room: --remote-dir HOST=/tmp"),
    ("uota exceeded", "make room there, or name a folder that has room: --remote-dir HOST=/tmp"),
    ("`GLIBC_", "build linerate on that host: its C library is older than this one's"),
    (
        "what came is not what was sent",
        "see what the connection or a login script there changes: CALL true | od -c",
    ),
    ("Permission denied", "see whether the home folder there can be written: CALL 'touch ~/.cache'"),
];

/// The longest cause that is told.
const LONGEST_CAUSE: usize = 200;

/// The line that tells the cause: one that is known, else the last one.
fn cause(told: &str) -> (String, &'static str) {
    let lines = || told.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let known = SAYINGS
        .iter()
        .find_map(|(saying, hint)| lines().find(|line| line.contains(saying)).map(|line| (line, *hint)));
    let (line, hint) =
        known.unwrap_or_else(|| (lines().next().unwrap_or_default(), "see whether this works: CALL true"));
    let line = line.strip_prefix("ssh: ").unwrap_or(line).trim_end_matches('.');
    (line.chars().take(LONGEST_CAUSE).collect(), hint)
}

/// Splits `host:port` and `user@[address]:port`; an address in brackets loses them.
fn split_port(host: &str) -> (String, Option<&str>) {
    if let Some((name, rest)) = host.split_once(']') {
        return (name.replacen('[', "", 1), rest.strip_prefix(':'));
    }
    match host.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name.into(), Some(port)),
        _ => (host.into(), None),
    }
}

#[cfg(test)]
mod tests;
