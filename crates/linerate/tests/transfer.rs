//! Files between two hosts: every byte comes, what is ended goes on, and what cannot be is told once.
//!
//! `LINERATE_TRANSFER_KILLS=30 cargo test --test integration transfer::` kills more often.

mod bounds;
mod kills;
mod refusals;
mod tools;
mod trees;

use crate::documented::sshd::Sshd;
use crate::user::ranks::nobody_is_left;
use crate::user::runs::PROGRAM;
use rand::Rng;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// `linerate transfer`, with a mark on every process that it starts.
fn command(folder: &Path, target: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["transfer", target]).current_dir(folder);
    command.env("LINERATE_STATE", folder.join("state")).env("LINERATE_CONFIG", "");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A file of chance.
fn file(path: &Path, bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    rand::rng().fill_bytes(&mut content);
    std::fs::write(path, &content).unwrap();
    content
}

/// What it told of a transfer that went well.
#[track_caller]
fn told(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn to(folder: &TempDir) -> PathBuf {
    let to = folder.path().join("to");
    std::fs::create_dir(&to).unwrap();
    to
}

#[test]
fn every_byte_comes_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let to = to(&folder);
    // What stands beside it while it comes has a name, too.
    let name = "file".repeat(62);
    let content = file(&folder.path().join(&name), 21_000_007);
    std::fs::set_permissions(folder.path().join(&name), PermissionsExt::from_mode(0o640)).unwrap();
    let output = command(folder.path(), "lab").args([&name, "to", "--json"]).output().unwrap();
    let told = told(&output);
    assert_eq!(std::fs::read(to.join(&name)).unwrap(), content);
    assert_eq!(names(&to), std::slice::from_ref(&name), "no part and no journal is left");
    let mode = std::fs::metadata(to.join(&name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let transfer = &told["transfer"];
    let digest = transfer["receiver"]["digest"].as_str().unwrap();
    assert_eq!((transfer["bytes"].as_u64(), digest.len()), (Some(21_000_007), 64));
    let streams = transfer["receiver"]["streams"].as_array().unwrap();
    let came: u64 = streams.iter().map(|stream| stream["bytes"].as_u64().unwrap()).sum();
    assert_eq!((streams.len(), came), (4, 21_000_007), "the receiver's bytes");
    // The rate is those bytes by that end's clock, and until the disk has them.
    let end = |name: &str| transfer["receiver"][name].as_u64().unwrap();
    assert!(
        end("first_done_ns") <= end("last_done_ns") && end("last_done_ns") + end("sync_ns") <= end("done_ns")
    );
    let rate = told["throughput_bps"].as_f64().unwrap();
    assert!((rate * end("done_ns") as f64 / 8e9 / 21_000_007.0 - 1.0).abs() < 1e-9);
    assert!(told["bound"]["sentence"].as_str().is_some_and(|sentence| sentence.contains('%')));
    nobody_is_left(folder.path());
}

#[test]
fn each_way_of_moving_it_moves_it() {
    let folder = TempDir::new().unwrap();
    let content = file(&folder.path().join("file"), 9_000_001);
    file(&folder.path().join("old"), 3);
    std::fs::write(folder.path().join("empty"), "").unwrap();
    let name = OsStr::from_bytes(b"no\xfftext");
    let ways: [(&[&str], &str, &OsStr, &[u8]); 8] = [
        (&["--direct", "--streams", "3"], "file", "direct".as_ref(), &content),
        (&["--tls=chacha20-poly1305", "--no-verify"], "file", "sealed".as_ref(), &content),
        (&["--pull"], "file", "pulled".as_ref(), &content),
        (&["--no-verify", "--streams", "2"], "file", "sent".as_ref(), &content),
        (&["--no-sync", "--cold", "--streams", "1"], "file", "unsynced".as_ref(), &content),
        (&["--overwrite"], "file", "old".as_ref(), &content),
        (&["--connect", "b>a"], "empty", "nothing".as_ref(), &[]),
        (&["--anew"], "file", name, &content),
    ];
    for (options, from, into, expected) in ways {
        let mut command = command(folder.path(), "lab");
        let output = command.arg(from).arg(into).args(options).arg("--json").output().unwrap();
        let told = told(&output);
        assert_eq!(std::fs::read(folder.path().join(into)).unwrap(), expected, "{options:?}");
        let cipher = told["transfer"]["sender"]["cipher"].as_str();
        assert_eq!(cipher, options[0].strip_prefix("--tls="), "as granted: {options:?}");
        for end in ["sender", "receiver"] {
            let io = &told["transfer"][end]["file_io"];
            assert_eq!(io.is_object(), options.contains(&"--direct"), "{options:?}");
            // Whether it was had is of this machine's file system; why not is told.
            assert!(io.is_null() || io["past_cache"] == true || io["why_not"].is_string(), "{io}");
        }
        let has_digest = told["transfer"]["receiver"]["digest"].is_string();
        assert_eq!(has_digest, !options.contains(&"--no-verify"), "{options:?}");
        let is_synced = told["transfer"]["receiver"]["sync_ns"].is_u64();
        assert_eq!(is_synced, !options.contains(&"--no-sync"), "{options:?}");
    }
    let output = command(folder.path(), "lab").args(["memory:3MB", "memory", "--tls"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in [
        "2.86 MiB from memory:3000000 to memory, 4 streams",
        "thrown away",
        "told alike by both ends",
        "sealed    aes-128-gcm by TLS 1.3: sealing took",
        "a core, of the sending streams' time, opening",
    ] {
        assert!(text.contains(part), "{part}: {text} {}", said(&output));
    }
    assert!(output.stderr.is_empty(), "nothing is told where nobody looks: {}", said(&output));
}

#[test]
fn over_ssh_a_file_goes_and_comes_back() {
    let sshd = match Sshd::start("HOST") {
        Ok(sshd) => sshd,
        Err(why) => return println!("SKIP: over_ssh_a_file_goes_and_comes_back: {why}"),
    };
    let folder = TempDir::new().unwrap();
    let content = file(&folder.path().join("file"), 5_000_000);
    let far = folder.path().join("far");
    for words in [&["file", far.to_str().unwrap()][..], &[far.to_str().unwrap(), "back", "--pull"]] {
        let mut command = command(folder.path(), "ssh://HOST");
        told(&command.args(words).args(["--json", "--ssh", &sshd.command()]).output().unwrap());
    }
    assert_eq!(std::fs::read(far).unwrap(), content);
    assert_eq!(std::fs::read(folder.path().join("back")).unwrap(), content);
}
