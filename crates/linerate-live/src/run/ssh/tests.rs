//! Ports, what ssh says, and copies that were broken off.

use super::{Copied, Ssh, cause, split_port};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use tempfile::TempDir;

#[test]
fn ports_are_told_from_addresses() {
    let cases = [
        ("b", ("b", None)),
        ("root@b:2222", ("root@b", Some("2222"))),
        ("[fd00::1]:22", ("fd00::1", Some("22"))),
        ("root@[fe80::1%eth0]:22", ("root@fe80::1%eth0", Some("22"))),
        ("root@fe80::1%eth0", ("root@fe80::1%eth0", None)),
        ("fd00::1", ("fd00::1", None)),
    ];
    for (host, parts) in cases {
        let (name, port) = split_port(host);
        assert_eq!((name.as_str(), port), parts);
    }
}

#[test]
fn what_ssh_says_is_the_cause() {
    let cases = [
        ("ssh: Could not resolve hostname nosuch: Name or service not known\r\n", "resolve", "getent"),
        ("ssh: connect to host b port 22: Connection refused\r\n", "port 22", "sshd"),
        (
            "@@@@\nREMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.\n",
            "Host key",
            "CALL",
        ),
        ("Welcome.\nroot@b: Permission denied (publickey).\n", "publickey", "ssh-copy-id"),
        ("sh: 1: cannot create x: Permission denied\n", "cannot create", "touch"),
        ("Bad owner or permissions on ~/.ssh/config\n", "Bad owner", "CALL true"),
        ("", "", "CALL true"),
    ];
    for (told, line, hint) in cases {
        let found = cause(told);
        assert!(found.0.contains(line) && found.1.contains(hint), "{told}: {found:?}");
    }
}

/// A host that is this one, with a home of its own, and an ssh that runs the last argument there.
struct Here {
    home: TempDir,
    ssh: Ssh,
}

impl Here {
    fn new() -> Here {
        let home = TempDir::new().unwrap();
        let script = home.path().join("ssh");
        let text = "#!/bin/sh\nfor last; do :; done\nHOME=$(dirname \"$0\") exec sh -c \"$last\"\n";
        // Moved into place when it is closed: a child that another test forks would have it open for writing.
        fs::write(home.path().join("new"), text).unwrap();
        fs::set_permissions(home.path().join("new"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(home.path().join("new"), &script).unwrap();
        let ssh = Ssh::new(&format!("sh {}", script.display()), "here").unwrap();
        Here { home, ssh }
    }

    fn copied(&self, bytes: &[u8]) -> Copied {
        Copied { folder: "\"$HOME\"/.cache/linerate/0".into(), bytes: bytes.into() }
    }

    /// A copy under way, of which a part has come.
    fn under_way(&self, copied: &Copied, part: &[u8]) -> Child {
        let mut command = self.ssh.remote(&copied.script());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(part).unwrap();
        while self.files().is_empty() {
            std::thread::yield_now();
        }
        child
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path().join(".cache/linerate/0")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

#[test]
fn a_copy_that_is_broken_off_leaves_no_part() {
    let here = Here::new();
    let copied = here.copied(b"the whole program");
    let mut child = here.under_way(&copied, b"the");
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success());
    assert_eq!(here.files(), Vec::<String>::new());
}

#[test]
fn only_a_killed_copys_part_is_removed() {
    let here = Here::new();
    let copied = here.copied(b"the whole program");
    let mut killed = here.under_way(&copied, b"the");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(here.files().len(), 1);
    let mut other = here.under_way(&copied, b"the");
    let of_other = format!("part.{}", other.id());
    while !here.files().contains(&of_other) {
        std::thread::yield_now();
    }
    here.ssh.copy(&copied).unwrap();
    let mut files = here.files();
    files.sort();
    assert_eq!(files, ["linerate".to_owned(), of_other]);
    let program = here.home.path().join(".cache/linerate/0/linerate");
    assert_eq!(fs::read(program).unwrap(), b"the whole program");
    drop(other.stdin.take());
    assert!(!other.wait().unwrap().success());
    assert_eq!(here.files(), ["linerate"]);
}
