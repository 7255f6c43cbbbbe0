//! Ports, what ssh says, and copies that were broken off.

use super::many::{Wanted, provide_all};
use super::place::copy_script;
use super::{Program, Reaching, RemoteFolder, Ssh, cause, split_port};
use crate::plan::HostId;
use crate::{Error, Result};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
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
    /// What there was to say.
    told: Vec<String>,
}

/// What travels: it says how it is called, and no two are alike.
fn program(name: &str) -> Program {
    Program::new(format!("#!/bin/sh\necho {name} \"$@\"\n# {}\n", "x".repeat(3000)).into_bytes())
}

impl Here {
    fn new() -> Here {
        Here::with("")
    }

    /// `before` is run by its login.
    fn with(before: &str) -> Here {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("run")).unwrap();
        let script = home.path().join("ssh");
        let text = format!(
            "#!/bin/sh\nfor last; do :; done\nHOME=$(dirname \"$0\"); XDG_RUNTIME_DIR=$HOME/run; \
             export HOME XDG_RUNTIME_DIR\necho Welcome.\n{before}\nexec sh -c \"$last\"\n"
        );
        // Moved into place when it is closed: a child that another test forks would have it open for writing.
        fs::write(home.path().join("new"), text).unwrap();
        fs::set_permissions(home.path().join("new"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(home.path().join("new"), &script).unwrap();
        let ssh = Ssh::new(&format!("sh {}", script.display()), "here", HostId(1)).unwrap();
        Here { home, ssh, told: Vec::new() }
    }

    fn provide(&mut self, program: &Program, folder: Option<&str>) -> Result<PathBuf> {
        let folder: Option<RemoteFolder> = folder.map(|folder| folder.parse().unwrap());
        let told = &mut self.told;
        let mut say = |reaching: Reaching| {
            if let Reaching::Elsewhere(why) = reaching {
                told.push(why);
            }
        };
        self.ssh.provide(program, folder.as_ref(), &|| Ok(()), &mut say).map(PathBuf::from)
    }

    /// Where a copy lies when nothing speaks against it.
    fn usual(&self, program: &Program) -> PathBuf {
        self.home.path().join(".cache/linerate").join(program.folder())
    }

    /// A copy under way, of which a part has come.
    fn under_way(&self, program: &Program, part: &[u8]) -> Child {
        let folder = self.usual(program);
        fs::create_dir_all(&folder).unwrap();
        let before = self.files(program).len();
        let mut command = self.ssh.script(&copy_script(program, folder.to_str().unwrap(), false));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(part).unwrap();
        while self.files(program).len() == before {
            std::thread::yield_now();
        }
        child
    }

    /// A copy under way beside what another one left.
    fn under_way_alone(&self, program: &Program) -> Child {
        let folder = self.usual(program);
        let mut command = self.ssh.script(&copy_script(program, folder.to_str().unwrap(), false));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"the").unwrap();
        while self.files(program) != [part(&child)] {
            std::thread::yield_now();
        }
        child
    }

    fn files(&self, program: &Program) -> Vec<String> {
        let entries = fs::read_dir(self.usual(program)).into_iter().flatten();
        let mut files: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }
}

/// How a copy under way is called: two hosts with one home have processes of the same numbers.
fn part(child: &Child) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    format!("part.{}.{}", host.trim(), child.id())
}

/// What each part of an error is about.
fn says(error: &Error, parts: &[&str]) {
    let text = format!("{error}; {}", error.hint().unwrap_or_default());
    parts.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
}

#[test]
fn a_copy_comes_once_and_another_program_beside_it() {
    let mut here = Here::new();
    for program in [program("one"), program("two")] {
        let copy = here.provide(&program, None).unwrap().join("linerate");
        assert_eq!(copy, here.usual(&program).join("linerate"));
        assert_eq!(fs::read(&copy).unwrap(), *program.bytes);
        let written = fs::metadata(&copy).unwrap().modified().unwrap();
        here.provide(&program, None).unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), written);
        assert_eq!(here.files(&program), ["linerate"]);
    }
    assert!(here.told.is_empty(), "{:?}", here.told);
}

#[test]
fn what_is_not_the_program_is_never_run() {
    let mut here = Here::new();
    let program = program("one");
    let copy = here.provide(&program, None).unwrap().join("linerate");
    // Of the same length, a part, nothing at all: each says by a file that it was run.
    let run = here.home.path().join("run/was-run");
    let mut same = format!("#!/bin/sh\ntouch {}\n", run.display()).into_bytes();
    let part = same.clone();
    same.resize(program.bytes.len(), b'\n');
    for wrong in [same, part, Vec::new()] {
        fs::write(&copy, wrong).unwrap();
        here.provide(&program, None).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), *program.bytes);
        assert!(!run.exists());
    }
}

#[test]
fn without_gzip_and_digests_it_goes_as_it_is() {
    let tools = TempDir::new().unwrap();
    for tool in ["sh", "id", "uname", "ls", "mkdir", "cat", "chmod", "rm", "rmdir", "df", "wc", "mv"] {
        let found = ["/bin", "/usr/bin"].map(|folder| PathBuf::from(folder).join(tool));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, tools.path().join(tool)).unwrap();
    }
    let mut here = Here::with(&format!("PATH={}", tools.path().display()));
    let program = program("one");
    let copy = here.provide(&program, None).unwrap().join("linerate");
    assert_eq!(fs::read(copy).unwrap(), *program.bytes);
}

#[test]
fn a_folder_of_ones_own_is_taken_whatever_it_is_called() {
    let mut here = Here::new();
    let program = program("one");
    let user = linerate_sys::process::effective_user();
    let odd = here.home.path().join("it's $HOME; \"odd\"");
    for (folder, place) in [(odd.to_str().unwrap(), odd.clone()), ("~/a b", here.home.path().join("a b"))] {
        let copy = here.provide(&program, Some(folder)).unwrap();
        assert_eq!(copy, place.join(format!("linerate-{user}")).join(program.folder()));
        assert_eq!(fs::read(copy.join("linerate")).unwrap(), *program.bytes);
        assert_eq!(here.provide(&program, Some(folder)).unwrap(), copy);
    }
    for folder in ["scratch", "", "$HOME/x", "/a\nb", "~root/x"] {
        assert!(folder.parse::<RemoteFolder>().is_err(), "{folder}");
    }
}

#[test]
fn a_folder_that_others_may_write_to_is_none() {
    let mut here = Here::new();
    let program = program("one");
    let root =
        here.home.path().join("open").join(format!("linerate-{}", linerate_sys::process::effective_user()));
    fs::create_dir_all(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    let error = here.provide(&program, Some("~/open")).unwrap_err();
    says(&error, &["~/open", "others may write", "--remote-dir b=/tmp"]);
}

#[test]
fn a_folder_that_cannot_be_is_told_with_one_that_would_do() {
    let mut here = Here::new();
    let program = program("one");
    let file = here.home.path().join("ssh");
    let error = here.provide(&program, Some(file.to_str().unwrap())).unwrap_err();
    says(&error, &["cannot be written", "/tmp would do there", "--remote-dir b=/tmp"]);
}

#[test]
fn where_the_usual_place_cannot_be_another_is_said() {
    let mut here = Here::new();
    let program = program("elsewhere");
    fs::write(here.home.path().join(".cache"), "no folder").unwrap();
    let copy = here.provide(&program, None).unwrap();
    assert_eq!(fs::read(copy.join("linerate")).unwrap(), *program.bytes);
    assert!(copy.starts_with("/tmp") && here.told.len() == 1, "{copy:?} {:?}", here.told);
    assert!(
        here.told[0].contains("~/.cache") && here.told[0].ends_with("copy is in /tmp"),
        "{:?}",
        here.told
    );
    fs::remove_dir_all(&copy).unwrap();
}

#[test]
fn a_program_that_cannot_run_there_is_told() {
    let mut here = Here::new();
    let broken = Program::new(b"#!/no/such/interpreter\n".to_vec());
    let error = here.provide(&broken, None).unwrap_err();
    says(&error, &["did not take the program's copy", "not found"]);
}

#[test]
fn hosts_are_provided_beside_each_other() {
    let shared = TempDir::new().unwrap();
    let meets = |own: &str, other: &str| {
        let at = |name: &str| shared.path().join(name).display().to_string();
        Here::with(&format!("touch {}; until test -e {}; do sleep 0.01; done", at(own), at(other)))
    };
    // The third asks, which it does when it is alone; the fourth is not there.
    let asks =
        "case \"$*\" in *BatchMode=yes*) echo 'me@here: Permission denied (publickey).' >&2; exit 255;; esac";
    let gone = "echo 'connect to host gone port 22: Connection refused' >&2; exit 255";
    let hosts = [meets("a", "b"), meets("b", "a"), Here::with(asks), Here::with(gone)];
    let program = program("one");
    let wanted: Vec<Wanted<'_>> = hosts.iter().map(|here| (here.ssh.clone(), None)).collect();
    let provided = provide_all(&wanted, &program, &|| Ok(()), &mut |_| ()).unwrap();
    for (here, provided) in hosts[..3].iter().zip(&provided) {
        assert_eq!(provided.as_ref().unwrap(), here.usual(&program).to_str().unwrap());
    }
    assert!(provided[3].as_ref().unwrap_err().to_string().contains("Connection refused"));
}

#[test]
fn a_wish_to_stop_ends_the_wait_for_each_of_many() {
    let hosts = [Here::with("exec sleep 600"), Here::with("exec sleep 600"), Here::new()];
    let wanted: Vec<Wanted<'_>> = hosts.iter().map(|here| (here.ssh.clone(), None)).collect();
    let stop = || Err(Error::Interrupted);
    let ended = provide_all(&wanted, &program("one"), &stop, &mut |_| ());
    assert!(matches!(ended, Err(Error::Interrupted)));
}

#[test]
fn a_wish_to_stop_ends_the_wait() {
    let here = Here::with("exec sleep 600");
    let stop = || Err(Error::Interrupted);
    let ended = here.ssh.provide(&program("one"), None, &stop, &mut |_| ());
    assert!(matches!(ended, Err(Error::Interrupted)));
}

#[test]
fn a_copy_that_is_broken_off_leaves_no_part() {
    let here = Here::new();
    let program = program("one");
    let mut child = here.under_way(&program, b"the");
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success());
    assert_eq!(here.files(&program), Vec::<String>::new());
}

#[test]
fn a_part_that_a_kill_left_goes_with_the_next_copy() {
    let mut here = Here::new();
    let program = program("one");
    let mut killed = here.under_way(&program, b"the");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(here.files(&program).len(), 1);
    // One that is under way stays: it takes the killed one's part away itself.
    let mut other = here.under_way_alone(&program);
    here.provide(&program, None).unwrap();
    assert_eq!(here.files(&program), ["linerate".to_owned(), part(&other)]);
    drop(other.stdin.take());
    assert!(!other.wait().unwrap().success());
    assert_eq!(here.files(&program), ["linerate"]);
}
