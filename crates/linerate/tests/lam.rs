//! Message passing by the real LAM of this host, which refuses root: as root, who is called somebody else, and as an
//! ordinary user, who is root of a lab. Its daemons end with their session, whatever ends that.

use crate::user::nobody;

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::kept::{find, nothing_is_left};
use crate::user::packets::packets;
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, is_all, planned, program, recorded, sessions, words,
};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How ranks wait that wait in the kernel.
const WAYS: [(&str, &str); 2] = [("ping-pong", "sleeping"), ("stream", "sleeping")];

fn on_rung(folder: &Path, rung: &str, how: &[&str]) -> Command {
    let mut command = program(folder);
    command.args(["--only", rung, "--set", "mpi.implementation=lam"]).args(how);
    command
}

/// Runs a rung, and gives what is on record.
fn carries_every_byte(rung: &str, how: &[&str], ways: &[(&str, &str)]) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let output = on_rung(folder.path(), rung, &[&SHORT[..], how].concat()).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (about, granted) in sessions(&lines) {
        assert!(about.starts_with("LAM/MPI, MPI 1.") && about.contains("mpirun"), "{about}");
        // In the lab of an ordinary user, too, who is root there.
        assert!(about.contains("root being called user 1"), "{about}");
        assert_eq!(*granted["mpi.implementation"], "lam");
    }
    every_byte_came(&lines, ways);
    nothing_is_left(folder.path());
    lines
}

#[test]
fn within_a_host_every_byte_comes() {
    let lines = carries_every_byte("in-host.mpi", &["--set", "mpi.rpi=tcp"], &WAYS);
    let mut granted = lines.iter().flat_map(|line| line["granted"].as_array().into_iter().flatten());
    let rpi = granted.find(|one| one["knob"] == "mpi.rpi").expect("it is on record");
    assert!(rpi["asked"] == "tcp" && rpi["granted"].is_null(), "no call tells which was taken: {rpi}");
}

const WITHIN: &str = r#"
name = "within"
[[case]]
id = "semaphores"
rung = "in-host.mpi"
pattern = "ping-pong"
wait = "sleeping"
sizes = ["64", "1KiB"]
trial = "20ms"
[case.vary]
"mpi.implementation" = ["lam"]
[[case]]
id = "spins"
rung = "in-host.mpi"
pattern = "ping-pong"
wait = "polling"
sizes = ["64", "1KiB"]
trial = "20ms"
[case.vary]
"mpi.implementation" = ["lam"]
"mpi.rpi" = ["usysv"]
[[figure]]
id = "within"
title = "Within"
cases = ["semaphores", "spins"]
x = "size"
y = "half-round-trip"
"#;

#[test]
fn in_shared_memory_ranks_wait_as_said() {
    let folder = TempDir::new().unwrap();
    let output = planned(folder.path(), WITHIN).args(["--passes", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    every_byte_came(&lines, &[("ping-pong", "polling"), ("ping-pong", "sleeping")]);
    nothing_is_left(folder.path());
}

#[test]
fn between_two_hosts_every_byte_crosses() {
    let lines = carries_every_byte("network.mpi", &[], &WAYS);
    for (step, came, moved) in crossed(&lines) {
        assert!(is_all(&moved, came), "{moved:?} of {came}: {step}");
    }
}

/// An ordinary user has a lab as well.
#[test]
fn an_ordinary_user_can_do_it_too() {
    nobody::runs_them_too(&["lam::between_two_hosts", "lam::a_run_that_is_killed"], &[]);
}

const WAYS_THERE: &str = r#"
name = "ways"
[[case]]
id = "ways"
rung = "network.mpi"
pattern = "ping-pong"
wait = "sleeping"
sizes = ["64", "8KiB"]
trial = "20ms"
[case.vary]
"mpi.implementation" = ["lam"]
"mpi.rpi" = ["tcp", "lamd"]
"mpi.eager-limit" = ["4KiB", "64KiB"]
[[case]]
id = "polls"
rung = "network.mpi"
pattern = "ping-pong"
wait = "polling"
sizes = ["64"]
[case.vary]
"mpi.implementation" = ["lam"]
[[case]]
id = "sleeps"
rung = "network.mpi"
pattern = "ping-pong"
wait = "sleeping"
sizes = ["64"]
[case.vary]
"mpi.implementation" = ["mpich"]
[[figure]]
id = "ways"
title = "Ways"
cases = ["ways"]
x = "size"
y = "half-round-trip"
"#;

#[test]
fn its_threshold_moves_and_its_daemons_relay() {
    let folder = TempDir::new().unwrap();
    let output = planned(folder.path(), WAYS_THERE).args(["--passes", "2"]).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    let of = |limit: &str, size| packets(&lines, &["mpi.rpi=tcp", &format!("mpi.eager-limit={limit}")], size);
    let [asked, at_once] = ["4KiB", "64KiB"].map(|limit| of(limit, 8192));
    assert!(asked > 1.5 * at_once, "{asked} and {at_once} packets a message of 8 KiB");
    let relayed = packets(&lines, &["mpi.rpi=lamd", "64KiB"], 64);
    assert!(relayed > 1.5 * of("64KiB", 64), "daemons acknowledge: {relayed} packets a message of 64 B");
    let not: Vec<&str> = lines
        .iter()
        .filter(|line| line["event"] == "unavailable")
        .map(|line| line["why"].as_str().unwrap())
        .collect();
    assert_eq!(not, ["unavailable: mpi only sleeps by this library", "unavailable: mpi only polls"]);
    nothing_is_left(folder.path());
}

#[test]
fn what_would_hide_how_ranks_wait_is_refused() {
    let folder = TempDir::new().unwrap();
    let past = ["--set", "mpi.environment=LAM_MPI_SSI_rpi=usysv"];
    let output = on_rung(folder.path(), "in-host.mpi", &[&SHORT[..], &past].concat()).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success() && text.contains("--set mpi.rpi=usysv"), "{text}");
    nothing_is_left(folder.path());
}

/// LAM in a folder of its own, whose tools do what these scripts say.
fn with_tools(folder: &Path, tools: &[(&str, &str)]) -> PathBuf {
    // So deep that the machine's own tools are not taken for those beside it.
    let [lib, bin] = ["deep/er/lib", "bin"].map(|name| folder.join(name));
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::create_dir(&bin).unwrap();
    let cache = Command::new("/sbin/ldconfig").arg("-p").output().unwrap();
    let cache = String::from_utf8(cache.stdout).unwrap();
    let real = cache.lines().find_map(|line| line.trim().strip_prefix("liblam.so.4 ")?.split("=> ").nth(1));
    std::fs::copy(real.expect("LAM is installed"), lib.join("liblam.so.4")).unwrap();
    for (name, script) in tools {
        let tool = bin.join(name);
        std::fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    lib
}

fn run_with(rungs: &str, tools: &[(&str, &str)], path: Option<&str>) -> (Output, Duration, Vec<Value>) {
    let folder = TempDir::new().unwrap();
    let lib = with_tools(folder.path(), tools);
    let mut command = on_rung(folder.path(), rungs, &SHORT);
    // Beside the system's own it is the first.
    command.env("LD_LIBRARY_PATH", lib).envs(path.map(|path| ("PATH", path)));
    let begun = Instant::now();
    let output = command.output().unwrap();
    let took = begun.elapsed();
    nothing_is_left(folder.path());
    (output, took, recorded(folder.path()))
}

#[test]
fn broken_daemons_are_told_in_time() {
    let launcher = ("mpirun.lam", "exit 9");
    let fails = [launcher, ("lamboot", "echo 'no room for a daemon' >&2; exit 3")];
    let (output, took, lines) = run_with("in-host.mpi,in-host.unix", &fails, None);
    assert_eq!(output.status.code(), Some(12), "{}", words(&output));
    assert!(took < Duration::from_secs(60), "{took:?}");
    let not = lines.iter().find(|line| line["event"] == "unavailable" && line["rung"] == "in-host.mpi");
    let not = not.expect("its failure is on record");
    let why = not["why"].as_str().unwrap();
    assert!(why.contains("lamboot failed: no room for a daemon"), "{not}");
    let measured = |line: &Value| line["event"] == "trial" && line["case"]["rung"] == "in-host.unix";
    assert!(lines.iter().any(measured), "the other rung is measured");

    let hangs = [launcher, ("lamboot", "exec sleep 1000")];
    let (output, took, _) = run_with("in-host.mpi", &hangs, None);
    let text = words(&output);
    assert!(!output.status.success() && text.contains("the ranks were not there after 15 s"), "{text}");
    assert!(took < Duration::from_secs(60), "{took:?}");

    let (output, _, _) = run_with("in-host.mpi", &[], Some("/no/such/folder"));
    let text = words(&output);
    assert!(!output.status.success() && text.contains("no launcher of it is on the path"), "{text}");
}

#[test]
fn root_that_cannot_be_renamed_is_told() {
    let folder = TempDir::new().unwrap();
    let inner = on_rung(folder.path(), "in-host.mpi,in-host.unix", &SHORT);
    // Within this user namespace no other one can be made.
    let mut command = Command::new("unshare");
    let script = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
    command.arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(12), "{}", words(&output));
    let lines = recorded(folder.path());
    let not = lines.iter().find(|line| line["event"] == "unavailable").expect("it is on record");
    assert!(not["why"].as_str().unwrap().contains("lam refuses root"), "{not}");
    assert!(not["hint"].as_str().unwrap().contains("another user than root"), "{not}");
    let measured = |line: &Value| line["event"] == "trial" && line["case"]["rung"] == "in-host.unix";
    assert!(lines.iter().any(measured), "the other rung is measured");
    nothing_is_left(folder.path());
}

/// A run in its middle, and a rank of it that plays.
fn begun(folder: &Path, rung: &str) -> (Child, u32) {
    let mut command = long(folder, rung, "sleeping");
    command.args(["--set", "mpi.implementation=lam", "--set", "mpi.rpi=tcp"]);
    in_the_middle(&mut command, folder, "rank")
}

/// Each of these, which a rung, a signal and a victim are, is on record and leaves nothing behind; without words it is a rank.
fn all_are_told(cases: &[(&str, &str, Option<&str>)]) {
    for (rung, signal, victim) in cases {
        let folder = TempDir::new().unwrap();
        let (run, rank) = begun(folder.path(), rung);
        let victim = victim.map_or(rank, |words| find(folder.path(), words).expect(words));
        disturbed(run, folder.path(), victim, signal, 60);
        nothing_is_left(folder.path());
    }
}

#[test]
fn a_killed_or_hung_rank_is_on_record() {
    all_are_told(&[("in-host.mpi", "-KILL", None), ("in-host.mpi", "-STOP", None)]);
}

#[test]
fn a_killed_daemon_or_launcher_is_on_record() {
    all_are_told(&[
        ("in-host.mpi", "-KILL", Some("/lamd -H")),
        ("in-host.mpi", "-KILL", Some("mpirun.lam -wd")),
        ("network.mpi", "-KILL", Some("-n 1 -o 0")),
    ]);
}

#[test]
fn a_run_that_is_killed_leaves_no_daemon_behind() {
    let folder = TempDir::new().unwrap();
    let (mut run, _) = begun(folder.path(), "network.mpi");
    run.kill().unwrap();
    run.wait().unwrap();
    nothing_is_left(folder.path());
}
