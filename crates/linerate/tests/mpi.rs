//! Message passing by the real MPIs of this host: each is loaded and started by its own launcher, its bytes are all
//! there, and what goes wrong with one is told in time and leaves nothing behind.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::packets::packets;
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, filled, is_all, nobody_is_left, planned, program, recorded, sessions,
    words,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

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
fn each_mpi_carries_every_byte() {
    for (library, version) in BOTH {
        let lines = carries_every_byte("in-host.mpi", library, version);
        goes_by(&lines, library, &["pml ob1", "btl tcp", "btl vader"], &[]);
    }
}

/// The parts of Open MPI that are in use are on record, and not those that cannot be; MPICH has none that are files.
fn goes_by(lines: &[Value], library: &str, has: &[&str], has_not: &[&str]) {
    for (about, _) in sessions(lines) {
        let parts = about.split_once(", by ").map_or("", |(_, parts)| parts);
        let is_there = |part: &&str| parts.split(", ").any(|one| one == *part);
        match library {
            "openmpi" => assert!(has.iter().all(is_there) && !has_not.iter().any(is_there), "{about}"),
            _ => assert_eq!(parts, "", "{about}"),
        }
    }
}

#[test]
fn between_two_hosts_every_byte_crosses() {
    for (library, version) in BOTH {
        let lines = carries_every_byte("network.mpi", library, version);
        goes_by(&lines, library, &["pml ob1", "btl tcp"], &["btl vader", "btl sm"]);
        for (step, came, moved) in crossed(&lines) {
            assert!(is_all(&moved, came), "{library}: {moved:?} of {came}: {step}");
        }
    }
}

#[test]
fn a_library_past_the_network_is_refused() {
    let folder = TempDir::new().unwrap();
    let past = ["--set", "mpi.environment=UCX_TLS=posix,sysv,self UCX_NET_DEVICES=all"];
    let output =
        on_rung(folder.path(), "network.mpi", "mpich", &[&SHORT[..], &past].concat()).output().unwrap();
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

/// Those of a library with an eager limit.
fn of(lines: &[Value], library: &str, limit: &str, size: u64) -> f64 {
    packets(lines, &[library, &format!("mpi.eager-limit={limit}")], size)
}

#[test]
fn the_threshold_of_each_mpi_moves_with_the_knob() {
    let folder = TempDir::new().unwrap();
    let output = planned(folder.path(), TWO).args(["--passes", "3"]).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (library, _) in BOTH {
        let [asked, at_once] = ["4KiB", "64KiB"].map(|limit| of(&lines, library, limit, 8192));
        assert!(asked > 1.5 * at_once, "{library}: {asked} and {at_once} packets a message of 8 KiB");
        let [one, other] = ["4KiB", "64KiB"].map(|limit| of(&lines, library, limit, 64));
        assert!(
            (0.9..1.1).contains(&(one / other)),
            "{library}: {one} and {other} packets a message of 64 B"
        );
    }
    // Open MPI tells it by a control variable; MPICH's is one of UCX, of which none tells.
    let granted = |library, knob| {
        let own = sessions(&lines).into_iter().filter(|(_, knobs)| *knobs["mpi.implementation"] == library);
        own.map(|(_, knobs)| knobs[knob].as_str()).collect::<BTreeSet<_>>()
    };
    assert_eq!(granted("openmpi", "mpi.eager-limit"), BTreeSet::from([Some("4 KiB"), Some("64 KiB")]));
    assert_eq!(granted("mpich", "mpi.eager-limit"), BTreeSet::from([None]));
    for (library, knob) in [("openmpi", "mpi.yield"), ("mpich", "mpi.progress-thread")] {
        assert_eq!(granted(library, knob), BTreeSet::from([Some("off")]), "asked for or not");
    }
}

const EACH: &str = r#"
[[case]]
id = "PATTERN"
rung = "RUNG"
pattern = "PATTERN"
wait = "polling"
sizes = ["1", "1KiB", "100KiB"]
[case.vary]
"mpi.implementation" = ["openmpi", "mpich"]
"KNOB" = VALUES
"#;

/// Each MPI is granted each of these values of a knob, and carries every byte with it.
fn each_is_granted(rung: &str, knob: &str, values: &[&str]) {
    let folder = TempDir::new().unwrap();
    let all = format!("{values:?}");
    let case = |(pattern, _)| {
        filled(EACH, &[("PATTERN", pattern), ("RUNG", rung), ("KNOB", knob), ("VALUES", &all)])
    };
    let text = format!("name = \"each\"\n{}", WAYS.map(case).concat());
    let output = planned(folder.path(), &text).args(["--passes", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    every_byte_came(&lines, &WAYS);
    let granted: BTreeSet<[String; 2]> = sessions(&lines)
        .iter()
        .map(|(_, knobs)| ["mpi.implementation", knob].map(|name| knobs[name].as_str().unwrap().to_owned()))
        .collect();
    let of = |library: &'static str| values.iter().map(move |value| [library, value].map(str::to_owned));
    assert_eq!(granted, BOTH.into_iter().flat_map(|(library, _)| of(library)).collect());
    nobody_is_left(folder.path());
}

#[test]
fn each_way_to_receive_carries_every_byte() {
    each_is_granted("network.mpi", "mpi.receive", &["posted", "any-source", "unexpected", "plain"]);
}

#[test]
fn each_thread_level_carries_every_byte() {
    each_is_granted("in-host.mpi", "mpi.thread-level", &["single", "multiple"]);
}

const TOGETHER: &str = r#"
name = "together"
[[case]]
id = "PATTERN"
rung = "RUNG"
pattern = "PATTERN"
wait = "polling"
sizes = ["4", "64KiB"]
flows = [FLOWS]
trial = "20ms"
[case.vary]
VARY
[[figure]]
id = "PATTERN"
title = "PATTERN"
cases = ["PATTERN"]
x = "size"
y = "METRIC"
"#;

/// A pattern, its metric, and the bytes that two ranks, and four, are given in an operation.
const PATTERNS: [(&str, &str, [u64; 2]); 6] = [
    ("broadcast", "collective-time", [1, 3]),
    ("reduce", "collective-time", [1, 1]),
    ("allreduce", "collective-time", [2, 4]),
    ("all-to-all", "collective-time", [4, 16]),
    ("barrier", "collective-time", [0, 0]),
    ("overlap", "overlap", [4, 8]),
];

/// Runs every pattern of ranks, and looks at what came to each.
fn together(rung: &str, flows: u64, (vary, arms): (&str, usize)) {
    let folder = TempDir::new().unwrap();
    let text = |(pattern, y, _): (&str, &str, _)| {
        let marks = [
            ("PATTERN", pattern),
            ("METRIC", y),
            ("RUNG", rung),
            ("FLOWS", &flows.to_string()),
            ("VARY", vary),
        ];
        filled(TOGETHER, &marks)
    };
    let mut command = program(folder.path());
    for one in PATTERNS {
        let path = folder.path().join(format!("{}.toml", one.0));
        std::fs::write(&path, text(one).replacen("together", &format!("together-{}", one.0), 1)).unwrap();
        command.arg("--plan").arg(path);
    }
    let output = command.args(SHORT).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    assert!(!lines.iter().any(|line| line["event"] == "unavailable"), "{}", words(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    for (pattern, _, given) in PATTERNS {
        let is_of = |line: &&Value| {
            line["event"] == "trial" && line["case"]["pattern"] == pattern && line["pass"] == 1
        };
        let trials: Vec<&Value> = lines.iter().filter(is_of).collect();
        assert!(trials.len() >= 2 * arms, "{pattern}: {}\n{told}", trials.len());
        for trial in trials {
            let number = |name: &str| trial["block"][name].as_u64().unwrap();
            let operations = number("messages") * number("slices");
            let flows_of = |role: &Value| role["flows"].as_array().unwrap().clone();
            let all: Vec<Value> = trial["roles"].as_array().unwrap().iter().flat_map(flows_of).collect();
            assert_eq!(all.len() as u64, 2 * flows, "{pattern}");
            let came: u64 = all.iter().map(|flow| flow["bytes"].as_u64().unwrap()).sum();
            let each = given[usize::from(flows > 1)] * number("message_bytes");
            assert_eq!(came, each * operations, "{pattern}: {trial}");
        }
    }
    nobody_is_left(folder.path());
}

#[test]
fn ranks_do_together_what_every_pattern_asks() {
    let both = r#""mpi.implementation" = ["openmpi", "mpich"]"#;
    together("network.mpi", 1, (both, 2));
}

/// Ranks that give way may share a CPU; others would measure the scheduler.
#[test]
fn there_may_be_several_ranks_at_each_host() {
    let yields = "\"mpi.implementation\" = [\"openmpi\"]\n\"mpi.yield\" = [\"on\"]";
    together("network.mpi", 2, (yields, 1));
    together("in-host.mpi", 2, (yields, 1));
}

/// Runs a rung by a library, and gives what is on record.
fn carries_every_byte(rung: &str, library: &str, version: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let output = on_rung(folder.path(), rung, library, &SHORT).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (about, granted) in sessions(&lines) {
        assert!(about.starts_with(version) && about.contains("started by"), "{about}");
        assert_eq!(*granted["mpi.implementation"], library);
        assert_eq!(*granted["mpi.thread-level"], "single", "asked for or not");
    }
    every_byte_came(&lines, &WAYS);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(rung), "{stdout}");
    nobody_is_left(folder.path());
    lines
}

#[test]
fn a_missing_library_is_told_with_the_others() {
    let folder = TempDir::new().unwrap();
    let output = linerate(folder.path(), "mvapich", &SHORT).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success());
    assert!(text.contains("no mvapich") && text.contains("openmpi") && text.contains("mpich"), "{text}");
}

/// Open MPI in a folder of its own, with a launcher of this script.
fn with_launcher(script: &str) -> (Output, Duration) {
    let folder = TempDir::new().unwrap();
    let lib = with_open_mpi(folder.path(), script);
    let mut command = linerate(folder.path(), "openmpi", &SHORT);
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
fn a_failed_library_leaves_the_other_measured() {
    let folder = TempDir::new().unwrap();
    let lib = with_open_mpi(folder.path(), "echo 'there are no slots here' >&2; exit 3");
    let mut command = planned(folder.path(), TWO);
    let output = command.env("LD_LIBRARY_PATH", lib).args(["--passes", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(12), "{}", words(&output));
    let lines = recorded(folder.path());
    let not: Vec<&Value> = lines.iter().filter(|line| line["event"] == "unavailable").collect();
    assert_eq!(not.len(), 2, "each of its arms fails once: {not:?}");
    for one in not {
        let why = one["why"].as_str().unwrap();
        assert!(why.starts_with("failed with mpi.") && why.contains("mpi.implementation=openmpi"), "{why}");
        assert!(why.contains("there are no slots here"), "{why}");
    }
    assert!(of(&lines, "mpich", "4KiB", 64) > 0.0 && of(&lines, "mpich", "64KiB", 8192) > 0.0);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("left out") && stdout.contains("network.mpi a>b: failed with"), "{stdout}");
}

#[test]
fn a_broken_launcher_is_told_in_time() {
    let (output, took) = with_launcher("echo 'there are no slots here' >&2; exit 3");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("there are no slots here"), "{text}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    let (output, took) = with_launcher("exec sleep 1000");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("the ranks were not there after 15 s"), "{text}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    // Each rank of another library's launcher is alone, and MPI itself finds nothing wrong with that.
    let (output, took) =
        with_launcher("shift 6; exec mpiexec.mpich -n 2 \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$6\" \"$7\"");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("1 ranks know of each other, not 2"), "{text}");
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn a_killed_or_hung_rank_is_on_record() {
    for (library, signal) in [("openmpi", "-KILL"), ("mpich", "-KILL"), ("openmpi", "-STOP")] {
        let folder = TempDir::new().unwrap();
        let mut command = long(folder.path(), "in-host.mpi", "polling");
        command.arg("--set").arg(format!("mpi.implementation={library}"));
        let (run, rank) = in_the_middle(&mut command, folder.path(), "rank");
        disturbed(run, folder.path(), rank, signal, 40);
        nobody_is_left(folder.path());
    }
}
