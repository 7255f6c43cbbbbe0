//! Message passing by the real MPIs of this host: each is loaded and started by its own launcher, its bytes are all
//! there, and what goes wrong with one is told in time and leaves nothing behind.

#[path = "user/ranks.rs"]
mod ranks;

use ranks::{crossed, every_byte_came, is_of, nobody_is_left, playing, program, recorded, words};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const QUICK: [&str; 4] = ["--profile", "quick", "--passes", "1"];

fn linerate(folder: &Path, library: &str, how: &[&str]) -> Command {
    on_rung(folder, "in-host.mpi", library, how)
}

fn on_rung(folder: &Path, rung: &str, library: &str, how: &[&str]) -> Command {
    let mut command = program(folder);
    command.args(["--only", rung, "--set"]).arg(format!("mpi.implementation={library}"));
    command.args(how);
    command
}

/// What a rung of a library that only polls has.
const WAYS: [(&str, &str); 2] = [("ping-pong", "polling"), ("stream", "polling")];

const BOTH: [(&str, &str); 2] = [("openmpi", "Open MPI v"), ("mpich", "MPICH Version: ")];

#[test]
fn each_mpi_carries_every_byte_and_says_what_it_is() {
    for (library, version) in BOTH {
        carries_every_byte("in-host.mpi", library, version);
    }
}

#[test]
fn between_two_hosts_every_byte_crosses_and_nothing_is_left() {
    for (library, version) in BOTH {
        let lines = carries_every_byte("network.mpi", library, version);
        for (step, came, moved) in crossed(&lines) {
            assert!(moved.iter().all(|moved| *moved > came), "{library}: {moved:?} of {came}: {step}");
        }
    }
}

#[test]
fn a_library_that_goes_past_the_network_is_refused() {
    let folder = TempDir::new().unwrap();
    let past = ["--set", "mpi.environment=UCX_TLS=posix,sysv,self UCX_NET_DEVICES=all"];
    let output =
        on_rung(folder.path(), "network.mpi", "mpich", &[&QUICK[..], &past].concat()).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success() && text.contains("it took another way than the network"), "{text}");
    nobody_is_left(folder.path());
}

const TWO: &str = r#"
name = "two"
[[case]]
id = "both"
rung = "network.mpi"
pattern = "ping-pong"
wait = "polling"
sizes = ["64", "8KiB"]
trial = "20ms"
[case.vary]
"mpi.implementation" = ["openmpi", "mpich"]
"mpi.eager-limit" = ["4KiB", "64KiB"]
[[figure]]
id = "both"
title = "Both"
cases = ["both"]
x = "size"
y = "half-round-trip"
"#;

/// Packets that host a received for each message that came back to it, in those trials: a message that is asked for first
/// takes more. The fewest of all visits, for other packets only add.
fn packets(lines: &[Value], library: &str, limit: &str, size: u64) -> f64 {
    let arms = lines[0]["plan"]["arms"].as_array().unwrap();
    let is_asked = |arm: &Value| {
        let name = arm["name"].as_str().unwrap();
        name.contains(library) && name.contains(&format!("mpi.eager-limit={limit}"))
    };
    let arm = 1 + arms.iter().position(is_asked).unwrap() as u64;
    let trials = lines.iter().filter(|line| line["event"] == "trial" && line["case"]["arm"] == arm);
    let trials = trials.filter(|line| line["pass"] != 0 && line["block"]["message_bytes"] == size);
    let each = |trial: &Value| {
        let step =
            lines.iter().find(|line| line["event"] == "step" && line["step"] == trial["step"]).unwrap();
        let host = step["hosts"].as_array().unwrap().iter().find(|host| host["host"] == "a").unwrap();
        let came = host["interfaces"].as_array().unwrap().iter().map(|it| it["rx_packets"].as_f64().unwrap());
        let messages = ["messages", "slices"].map(|name| trial["block"][name].as_f64().unwrap());
        came.fold(0.0, f64::max) / messages.iter().product::<f64>()
    };
    trials.map(each).reduce(f64::min).unwrap()
}

#[test]
fn the_threshold_of_each_mpi_moves_with_the_knob() {
    let folder = TempDir::new().unwrap();
    let plan = folder.path().join("two.toml");
    std::fs::write(&plan, TWO).unwrap();
    let mut command = program(folder.path());
    let output = command.args(["--profile", "quick", "--passes", "3", "--plan"]).arg(&plan).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (library, _) in BOTH {
        let [asked, at_once] = ["4KiB", "64KiB"].map(|limit| packets(&lines, library, limit, 8192));
        assert!(asked > 1.5 * at_once, "{library}: {asked} and {at_once} packets a message of 8 KiB");
        let [one, other] = ["4KiB", "64KiB"].map(|limit| packets(&lines, library, limit, 64));
        assert!(
            (0.9..1.1).contains(&(one / other)),
            "{library}: {one} and {other} packets a message of 64 B"
        );
    }
}

#[test]
fn each_way_to_receive_carries_every_byte_and_is_on_record() {
    for how in ["posted", "any-source", "unexpected"] {
        for (library, _) in BOTH {
            let folder = TempDir::new().unwrap();
            let receive = format!("mpi.receive={how}");
            let with = [&QUICK[..], &["--set", &receive]].concat();
            let output = on_rung(folder.path(), "network.mpi", library, &with).output().unwrap();
            assert!(output.status.success(), "{}", words(&output));
            let lines = recorded(folder.path());
            let is_of_session =
                |line: &&Value| line["event"] == "session" && line["endpoints"][0].is_string();
            let granted = lines.iter().find(is_of_session).unwrap()["granted"].as_array().unwrap();
            assert!(
                granted.iter().any(|one| one["knob"] == "mpi.receive" && one["granted"] == how),
                "{granted:?}"
            );
            every_byte_came(&lines, &WAYS);
        }
    }
}

/// Runs a rung by a library, and gives what is on record.
fn carries_every_byte(rung: &str, library: &str, version: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let output = on_rung(folder.path(), rung, library, &QUICK).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    let sessions: Vec<&Value> =
        lines.iter().filter(|line| line["event"] == "session" && line["endpoints"][0].is_string()).collect();
    assert!(!sessions.is_empty());
    for session in sessions {
        let about = session["endpoints"][0].as_str().unwrap();
        assert!(about.starts_with(version) && about.contains("started by"), "{about}");
        assert_eq!(session["granted"][0]["granted"], *library);
    }
    every_byte_came(&lines, &WAYS);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(rung), "{stdout}");
    nobody_is_left(folder.path());
    lines
}

#[test]
fn a_library_that_is_not_there_is_told_with_those_that_are() {
    let folder = TempDir::new().unwrap();
    let output = linerate(folder.path(), "mvapich", &QUICK).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success());
    assert!(text.contains("no mvapich") && text.contains("openmpi") && text.contains("mpich"), "{text}");
}

/// Open MPI in a folder of its own, with a launcher of this script.
fn with_launcher(script: &str) -> (Output, Duration) {
    let folder = TempDir::new().unwrap();
    let lib = with_open_mpi(folder.path(), script);
    let mut command = linerate(folder.path(), "openmpi", &QUICK);
    command.env("LD_LIBRARY_PATH", lib);
    let begun = Instant::now();
    (command.output().unwrap(), begun.elapsed())
}

fn with_open_mpi(folder: &Path, script: &str) -> PathBuf {
    let [lib, bin] = ["lib", "bin"].map(|name| folder.join(name));
    std::fs::create_dir(&lib).unwrap();
    std::fs::create_dir(&bin).unwrap();
    let cache = Command::new("/sbin/ldconfig").arg("-p").output().unwrap();
    let cache = String::from_utf8(cache.stdout).unwrap();
    let real = cache.lines().find_map(|line| line.trim().strip_prefix("libmpi.so.40 ")?.split("=> ").nth(1));
    std::fs::copy(real.expect("Open MPI is installed"), lib.join("libmpi.so.40")).unwrap();
    let launcher = bin.join("mpirun.openmpi");
    let text =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'mpirun (Open MPI) 0'; exit; }}\n{script}\n");
    std::fs::write(&launcher, text).unwrap();
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).unwrap();
    lib
}

#[test]
fn one_that_fails_is_on_record_and_the_other_is_measured() {
    let folder = TempDir::new().unwrap();
    let lib = with_open_mpi(folder.path(), "echo 'there are no slots here' >&2; exit 3");
    let plan = folder.path().join("two.toml");
    std::fs::write(&plan, TWO).unwrap();
    let mut command = program(folder.path());
    command.env("LD_LIBRARY_PATH", lib).args(["--profile", "quick", "--passes", "2", "--plan"]).arg(&plan);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    let not: Vec<&Value> = lines.iter().filter(|line| line["event"] == "unavailable").collect();
    assert_eq!(not.len(), 2, "each of its arms fails once: {not:?}");
    for one in not {
        let why = one["why"].as_str().unwrap();
        assert!(why.starts_with("failed with mpi.") && why.contains("mpi.implementation=openmpi"), "{why}");
        assert!(why.contains("there are no slots here"), "{why}");
    }
    assert!(packets(&lines, "mpich", "4KiB", 64) > 0.0 && packets(&lines, "mpich", "64KiB", 8192) > 0.0);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("there are no slots here"), "{stdout}");
}

#[test]
fn a_launcher_that_fails_hangs_or_is_anothers_is_told_in_time() {
    let (output, took) = with_launcher("echo 'there are no slots here' >&2; exit 3");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("there are no slots here"), "{text}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    let (output, took) = with_launcher("exec sleep 1000");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("the ranks were not there after 15 s"), "{text}");
    assert!(took < Duration::from_secs(40), "{took:?}");
    // Each rank of another library's launcher is alone, and MPI itself finds nothing wrong with that.
    let (output, took) =
        with_launcher("shift 6; exec mpiexec.mpich -n 2 \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$6\"");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("1 ranks know of each other, not 2"), "{text}");
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_rank_that_is_killed_or_hangs_is_on_record_and_leaves_nothing_behind() {
    for (library, signal) in
        [("openmpi", "-KILL"), ("mpich", "-KILL"), ("openmpi", "-STOP"), ("mpich", "-STOP")]
    {
        let folder = TempDir::new().unwrap();
        let mut command = linerate(folder.path(), library, &["--budget", "60s"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let begun = Instant::now();
        let victim = loop {
            if let Some(rank) = playing(run.id(), folder.path(), "rank") {
                break rank;
            }
            assert!(begun.elapsed() < Duration::from_secs(40), "{library}: no rank plays");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(is_of(Path::new(&format!("/proc/{victim}")), folder.path()));
        let killed = Command::new("kill").args([signal, &victim.to_string()]).status().unwrap();
        assert!(killed.success());
        let (status, begun) = (run.wait().unwrap(), Instant::now());
        // What came before stays, and the run ends as one that had nothing more to do.
        assert!(status.success(), "{library}");
        assert!(begun.elapsed() < Duration::from_secs(40), "{library}: {:?}", begun.elapsed());
        let lines = recorded(folder.path());
        let not = lines.iter().find(|line| line["event"] == "unavailable").expect("its failure is on record");
        let why = not["why"].as_str().unwrap();
        assert!(why.starts_with("failed: ") && not["after_steps"].as_u64() > Some(0), "{not}");
        nobody_is_left(folder.path());
    }
}
