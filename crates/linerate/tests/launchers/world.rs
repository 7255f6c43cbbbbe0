//! A lab whose hosts can be entered by a command, as a launcher's remote shell enters them.

use crate::user::runs::{PROGRAM, await_lines};
use linerate::lab::Lab;
use linerate::plan::Topology;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A case that takes half a second.
pub const PLAN: &str = r#"
name = "mine"
[[case]]
id = "one"
rung = "network.tcp"
sizes = "64KiB"
trial = "50ms"
[[figure]]
id = "one"
title = "one"
cases = ["one"]
x = "size"
y = "throughput"
"#;

/// Skips what a remote shell's options may be, enters the host, and runs the rest.
const ENTER: &str = r#"
while :; do case "$1" in -*) shift;; *) break;; esac; done
host=$1; shift
test -f "$(dirname "$0")/$host.pid" || { echo "no host is called $host" >&2; exit 1; }
exec nsenter -t "$(cat "$(dirname "$0")/$host.pid")" -n -u -- sh -c 'eval "$*"' "$host" "$@"
"#;

/// Hosts `h0`, `h1` and so on; the controller runs on the last one.
pub struct World {
    pub lab: Lab,
    pub folder: TempDir,
    /// One on each host, so that it can be entered.
    sleepers: Vec<Child>,
}

/// What went to standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

impl World {
    pub fn new(hosts: u32) -> World {
        let folder = TempDir::new().unwrap();
        let topology = Topology { hosts: hosts.max(2), ..Topology::default() };
        let lab = Lab::build(&topology, Path::new(PROGRAM)).unwrap();
        let mut sleepers = Vec::new();
        for (number, host) in lab.hosts().iter().enumerate() {
            let mut command = host.command("sleep");
            let child = command.arg("1000").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::fs::write(folder.path().join(format!("h{number}.pid")), child.id().to_string()).unwrap();
            sleepers.push(child);
        }
        let world = World { lab, folder, sleepers };
        world.script("enter", ENTER);
        std::fs::write(world.folder.path().join("mine.toml"), PLAN).unwrap();
        world
    }

    /// A script of a shell, by its path.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command that enters a host.
    pub fn enter(&self) -> String {
        self.folder.path().join("enter").to_str().unwrap().to_owned()
    }

    pub fn plan(&self) -> String {
        self.folder.path().join("mine.toml").to_str().unwrap().to_owned()
    }

    /// Where recordings go.
    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// A run whose controller is on the last host.
    pub fn run(&self, target: &str, launch: &str, what: &[&str]) -> Command {
        let arguments = ["run", target, "--launch", launch, "--profile", "quick"];
        let mut command = self.command(&arguments);
        command.args(["--set", "tcp.congestion-control=cubic"]).args(what);
        command.arg("--output").arg(self.out());
        command
    }

    /// The program on the last host.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.hosts()[self.lab.hosts().len() - 1].command(PROGRAM);
        command.args(arguments).arg("--quiet");
        command.env("LINERATE_STATE", self.folder.path().join("state"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Waits until something was measured.
    pub fn await_trial(&self) {
        await_lines(&self.out(), "trial", 1);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for sleeper in &mut self.sleepers {
            let _ = sleeper.kill();
            let _ = sleeper.wait();
        }
    }
}
