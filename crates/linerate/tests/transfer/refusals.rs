//! What cannot be moved is told once, in a sentence, and nothing of the user's is touched.

use super::{command, file, names, said};
use crate::user::ranks::nobody_is_left;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What it says and with which code it ends.
#[track_caller]
fn refused(folder: &Path, words: &[&str], code: i32, parts: &[&str]) {
    let output = command(folder, "lab").args(words).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(said.contains(part), "{words:?}: no `{part}` in {said}");
    }
    assert_eq!(said.lines().count(), 2, "an error and a hint: {said}");
}

#[test]
fn what_cannot_be_moved_is_told_once() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let content = file(&at("file"), 1000);
    file(&at("old"), 10);
    std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
    std::fs::create_dir_all(at("folder/deep")).unwrap();
    std::fs::create_dir(at("odd")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("odd/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let before = names(folder.path());
    let cases: [(&[&str], i32, &[&str]); 15] = [
        (&["none", "to"], 3, &["host a", "none", "No such file", "ls -l"]),
        (&["link", "to"], 3, &["host a", "it is a link", "readlink"]),
        (&["/dev/zero", "to"], 3, &["not a regular file"]),
        (&["odd", "to"], 3, &["odd/pipe", "no file, folder or link", "move it elsewhere"]),
        (&["folder", "old"], 3, &["host b", "old exists", "replaces nothing"]),
        (
            &["folder", "folder"],
            3,
            &["host b", "folder/folder is within the folder that is moved", "outside of it"],
        ),
        (&["folder", "folder/deep/to"], 3, &["folder/deep/to is within", "outside of it"]),
        (&["file", "./file", "--overwrite"], 3, &["host b", "./file is the source itself", "another"]),
        (&["file", "old"], 3, &["host b", "old exists", "--overwrite"]),
        (&["file", "link", "--overwrite"], 3, &["no regular file"]),
        (&["file", "/dev/null", "--overwrite"], 3, &["no regular file"]),
        (&["file", "none/to"], 3, &["No such file"]),
        (&["file", "to/"], 3, &["is no folder", "mkdir"]),
        (&["memory:1MB", "folder"], 2, &["memory has no name"]),
        (&["file", "to", "--set", "tcp.congestion-control=nosuch"], 2, &["no such congestion control"]),
    ];
    for (words, code, parts) in cases {
        refused(folder.path(), words, code, parts);
    }
    assert_eq!(names(folder.path()), before, "nothing is made");
    assert_eq!(names(&at("folder")), ["deep"]);
    assert_eq!(std::fs::read(at("file")).unwrap(), content);
    assert_eq!(std::fs::metadata(at("old")).unwrap().len(), 10);
    nobody_is_left(folder.path());
}

#[test]
fn words_that_make_no_sense_are_refused() {
    let folder = TempDir::new().unwrap();
    for (words, parts) in [
        (&["memory:0", "memory"][..], &["memory:", "try memory:1GiB"][..]),
        (&["file"], &["needs", "DESTINATION"]),
        (&["file", ""], &["DESTINATION is empty", "unset"]),
        (&["file", "to", "--set", "mpi.implementation=mpich"], &["does nothing to the connection"]),
        (&["--compare", "file", "to"], &["exclude", "--compare"]),
        (&["file", "to", "--streams", "0"], &["from 1 to 64"]),
        (&["--compare", "--tools", "kermit"], &["kermit"]),
        (&["file", "to", "--tls=rot13"], &["rot13", "chacha20-poly1305"]),
    ] {
        let output = command(folder.path(), "lab").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(parts.iter().all(|part| said(&output).contains(part)), "{words:?}: {}", said(&output));
    }
    let output = command(folder.path(), "ssh://nowhere").arg("--compare").output().unwrap();
    assert!(said(&output).contains("no lab"), "{}", said(&output));
}

#[test]
fn a_full_disk_is_told_before_anything_crosses() {
    let folder = TempDir::new().unwrap();
    file(&folder.path().join("file"), 3_000_000);
    std::fs::create_dir(folder.path().join("small")).unwrap();
    let script = "mount -t tmpfs -o size=1m tmpfs small && exec \"$0\" transfer lab file small";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "--propagation", "private"]);
    if !rustix::process::geteuid().is_root() {
        shell.args(["--user", "--map-root-user"]);
    }
    shell.args(["sh", "-c", script, crate::user::runs::PROGRAM]).current_dir(folder.path());
    let output = shell.env("LINERATE_CONFIG", "").stdin(Stdio::null()).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in ["host b", "statvfs", "No space left on device", "df -h"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert_eq!(said.lines().count(), 2, "{said}");
}
