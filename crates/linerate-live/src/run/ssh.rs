//! Hosts reached by ssh: the binary is copied over when it is missing there, or another one.

use crate::lab::journal;
use crate::{Error, Result};
use linerate_sys::spawn;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// How to call ssh, and whom.
#[derive(Debug, Clone)]
pub struct Ssh {
    words: Vec<String>,
    host: String,
}

/// Where a copy of the program lies on the other host: one folder a version, so that a running one
/// is never overwritten.
#[derive(Debug)]
struct Copied {
    folder: String,
    bytes: Vec<u8>,
}

impl Ssh {
    /// `host` is `[user@]host[:port]`; `command` is `ssh` or what stands for it, with its options.
    pub fn new(command: &str, host: &str) -> Result<Ssh> {
        let mut words: Vec<String> = command.split_whitespace().map(String::from).collect();
        if words.is_empty() {
            return Err(Error::usage("the ssh command is empty", "try --ssh 'ssh -F my_config'"));
        }
        let (name, port) = split_port(host);
        if let Some(port) = port {
            words.extend(["-p".into(), port.into()]);
        }
        Ok(Ssh { words, host: name })
    }

    /// The command that runs an agent there, once the program is there.
    pub fn agent(&self, program: &Path) -> Result<Command> {
        let copied = Copied::of(program)?;
        self.provide(&copied)?;
        Ok(self.remote(&format!("exec {}/linerate agent", copied.folder)))
    }

    fn remote(&self, script: &str) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg("-T").arg("--").arg(&self.host).arg(script);
        // Not in a group of its own: it may ask on the terminal.
        spawn::end_with_parent(&mut command);
        journal::mark(&mut command);
        command
    }

    fn provide(&self, copied: &Copied) -> Result<()> {
        let look = format!("if test -x {0}/linerate; then echo present; else uname -sm; fi", copied.folder);
        let found = self.output(&look)?;
        // A login script may greet first; the last line is the answer.
        let found = found.lines().last().unwrap_or_default().trim();
        if found == "present" {
            return Ok(());
        }
        let ours = format!("Linux {}", std::env::consts::ARCH);
        if found != ours {
            let what = format!("is `{found}`, and this program is for `{ours}`");
            return Err(Error::unavailable(format!("{} {what}", self.host), "build linerate on that host"));
        }
        self.copy(copied)
    }

    fn output(&self, script: &str) -> Result<String> {
        // What ssh asks, it asks on the terminal; what it says of a failure becomes part of the error.
        let output = self.remote(script).stdin(Stdio::null()).output();
        let output = output.map_err(|e| Error::io("start", &self.words[0], e))?;
        if !output.status.success() {
            return Err(self.failed("cannot be reached by ssh", &output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The copy is given its name only when it is whole.
    fn copy(&self, copied: &Copied) -> Result<()> {
        let script = copied.script();
        let mut command = self.remote(&script);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn();
        let mut child = child.map_err(|e| Error::io("start", &self.words[0], e))?;
        let written = match child.stdin.take() {
            Some(mut input) => input.write_all(&copied.bytes),
            None => Ok(()),
        };
        let output = child.wait_with_output().map_err(|e| Error::io("wait", &self.words[0], e))?;
        match (written, output.status.success()) {
            (Ok(()), true) => Ok(()),
            _ => Err(self.failed("did not take the program's copy", &output.stderr)),
        }
    }

    /// With the cause as ssh told it, and what helps against that.
    fn failed(&self, what: &str, told: &[u8]) -> Error {
        let told = String::from_utf8_lossy(told);
        let call = format!("{} {}", self.words.join(" "), self.host);
        let (cause, hint) = cause(&told);
        let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
        let name = self.host.rsplit('@').next().unwrap_or_default();
        let hint = hint.replace("CALL", &call).replace("USER", &self.host).replace("NAME", name);
        Error::peer(&self.host, format!("{what}{cause}"), hint)
    }
}

/// What ssh and the shell there say of a failure, and what to try. CALL is the call of ssh with the host,
/// USER the host with its user, NAME without.
const SAYINGS: &[(&str, &str)] = &[
    ("Could not resolve hostname", "see whether the name is known: getent hosts NAME"),
    ("Host key verification failed", "connect once by hand, and look at the host's key: CALL true"),
    ("Permission denied (", "let ssh in without a password: ssh-copy-id USER"),
    ("Connection refused", "see whether sshd runs there, and on which port: ssh://USER:PORT"),
    ("timed out", "see whether the host is up and no firewall is between: ping NAME"),
    ("No route to host", "see whether the host is up: ping NAME"),
    ("Network is unreachable", "see whether this host is connected: ip route"),
    ("No space left on device", "make room in the home folder there"),
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

impl Copied {
    fn of(program: &Path) -> Result<Copied> {
        let bytes =
            std::fs::read(program).map_err(|e| Error::io("read", program.display().to_string(), e))?;
        let hash: String = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(Copied { folder: format!("\"$HOME\"/.cache/linerate/{hash}"), bytes })
    }

    /// Takes the copy from standard input. A part of one goes with the shell that took it, and where that was
    /// killed, with the next copy.
    fn script(&self) -> String {
        let (folder, len) = (&self.folder, self.bytes.len());
        format!(
            "umask 077; mkdir -p {folder} && cd {folder} || exit 1; \
             trap 'rm -f part.$$' EXIT; trap 'exit 1' HUP INT TERM; \
             for part in part.*; do kill -0 \"${{part#part.}}\" 2>/dev/null || rm -f \"$part\"; done; \
             cat > part.$$ && test $(wc -c < part.$$) -eq {len} && \
             chmod 700 part.$$ && mv -f part.$$ linerate"
        )
    }
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
