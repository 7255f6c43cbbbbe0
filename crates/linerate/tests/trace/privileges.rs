//! What each privilege lets a trace see, as docs/guides/trace.md has it: root and an ordinary user's lab are asked elsewhere.

use super::ECHO;
use crate::user::nobody::{self, NOBODY, program};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A program that asks and answers, and its port; it ends with this.
pub struct Echo(Child, String);

impl Echo {
    pub fn start() -> Option<Echo> {
        let mut child = Command::new("python3").args(["-c", ECHO]).stdout(Stdio::piped()).spawn().ok()?;
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Some(Echo(child, port.trim().to_owned()))
    }

    pub fn port(&self) -> &str {
        &self.1
    }

    /// Who answers.
    pub fn process(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A copy of the program, where everybody may run it.
fn copy() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("linerate");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    assert!(Command::new("cp").arg(program()).arg(&path).status().unwrap().success());
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    folder
}

/// What such a command says of this port: its code, and both of its streams.
fn told(command: &mut Command, folder: &TempDir, port: &str) -> (Option<i32>, String) {
    command.args(["trace", "-q", "--time", "600ms", "--port", port]).current_dir(folder.path());
    command.env("LINERATE_STATE", folder.path().join("state")).env("LINERATE_CONFIG", "");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

fn as_nobody(command: &mut Command) -> &mut Command {
    command.uid(NOBODY).gid(NOBODY)
}

#[test]
fn file_capabilities_are_enough_for_level_1() {
    const NAME: &str = "file_capabilities_are_enough_for_level_1";
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: {NAME}: {why}");
    }
    let Some(echo) = Echo::start() else { return println!("SKIP: {NAME}: python3 is not installed") };
    let folder = copy();
    let path = folder.path().join("linerate");
    let (code, text) = told(as_nobody(&mut Command::new(&path)), &folder, &echo.1);
    assert!(code == Some(3) && text.contains("CAP_BPF and CAP_PERFMON"), "{text}");
    let within = ["-U", "-r", path.to_str().unwrap()];
    let (code, text) = told(as_nobody(Command::new("unshare").args(within)), &folder, &echo.1);
    assert!(code == Some(3) && text.contains("from a user namespace"), "{text}");
    match Command::new("setcap").arg("cap_bpf,cap_perfmon+ep").arg(&path).status() {
        Ok(status) if status.success() => {}
        _ => {
            return println!(
                "SKIP: {NAME}: setcap(8) is not installed, or its file system has no capabilities"
            );
        }
    }
    let (code, text) = told(as_nobody(&mut Command::new(&path)), &folder, &echo.1);
    assert!(code == Some(0) && text.contains("ip-in") && text.contains("whose connection it is"), "{text}");
}

#[test]
fn a_kernel_without_btf_is_told_of() {
    const NAME: &str = "a_kernel_without_btf_is_told_of";
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: {NAME}: {why}");
    }
    assert!(nobody::is_root(), "nobody else may trace");
    let Some(echo) = Echo::start() else { return println!("SKIP: {NAME}: python3 is not installed") };
    let folder = TempDir::new().unwrap();
    let hidden = "mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", hidden, "sh"]).arg(program());
    let (code, text) = told(&mut command, &folder, &echo.1);
    assert!(text.contains("level 1 needs Linux 5.12 with BTF"), "{text}");
    // Root goes on by rings, where tcp_probe says which packet it saw.
    match linerate_sys::tracer::Rings::open(&[]) {
        Ok(_) => {
            assert!(code == Some(0) && text.contains("note: level 2") && text.contains("ip-in"), "{text}")
        }
        Err(_) => assert!(code == Some(3) && text.contains("rings of tracepoints"), "{text}"),
    }
}
