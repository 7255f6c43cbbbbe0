//! Message passing by the real MPIs of this host: each is loaded and started by its own launcher, its bytes are all
//! there, and what goes wrong with one is told in time and leaves nothing behind.

use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const QUICK: [&str; 4] = ["--profile", "quick", "--passes", "1"];

fn linerate(folder: &Path, library: &str, how: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["run", "lab", "--only", "in-host.mpi", "--no-page", "--set"])
        .arg(format!("mpi.implementation={library}"));
    command.args(how).arg("--output").arg(folder.join("o")).env("LINERATE_STATE", folder.join("state"));
    command.env("LINERATE_CONFIG", "").env("LD_LIBRARY_PATH", "").stdin(Stdio::null());
    command
}

fn recorded(folder: &Path) -> Vec<Value> {
    let file = std::fs::read_dir(folder.join("o")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The processes below one, with their arguments.
fn below(ancestor: u32) -> BTreeMap<u32, String> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        if let Some(parent) =
            after.split_ascii_whitespace().nth(1).and_then(|parent| parent.parse::<u32>().ok())
        {
            parents.insert(pid, parent);
        }
    }
    let is_below = |mut pid: u32| {
        while let Some(parent) = parents.get(&pid).filter(|parent| **parent != 0) {
            if *parent == ancestor {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let arguments = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    parents.keys().filter(|pid| is_below(**pid)).map(|pid| (*pid, arguments(*pid))).collect()
}

#[test]
fn each_mpi_carries_every_byte_and_says_what_it_is() {
    for (library, version) in [("openmpi", "Open MPI v"), ("mpich", "MPICH Version: ")] {
        let folder = TempDir::new().unwrap();
        let output = linerate(folder.path(), library, &QUICK).output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        let lines = recorded(folder.path());
        let sessions: Vec<&Value> = lines
            .iter()
            .filter(|line| line["event"] == "session" && line["endpoints"][0].is_string())
            .collect();
        assert!(!sessions.is_empty());
        for session in sessions {
            let about = session["endpoints"][0].as_str().unwrap();
            assert!(about.starts_with(version) && about.contains("started by"), "{about}");
            assert_eq!(session["granted"][0]["granted"], *library);
        }
        let trials: Vec<&Value> =
            lines.iter().filter(|line| line["event"] == "trial" && line["pass"] == 1).collect();
        for pattern in ["ping-pong", "stream"] {
            let of_pattern = trials.iter().filter(|trial| trial["case"]["pattern"] == pattern);
            assert!(of_pattern.clone().count() > 0, "{library}: no {pattern}");
            for trial in of_pattern {
                assert_eq!(trial["case"]["wait"], "polling");
                let block = &trial["block"];
                let number = |name: &str| block[name].as_u64().unwrap();
                let all = number("message_bytes") * number("messages") * number("slices");
                let roles = trial["roles"].as_array().unwrap();
                assert_eq!(roles.len(), 2);
                assert!(roles.iter().all(|role| role["flows"][0]["bytes"] == all), "{trial}");
            }
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains("in-host.mpi"), "{stdout}");
    }
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
    let [lib, bin] = ["lib", "bin"].map(|name| folder.path().join(name));
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
    let mut command = linerate(folder.path(), "openmpi", &QUICK);
    command.env("LD_LIBRARY_PATH", lib);
    let begun = Instant::now();
    (command.output().unwrap(), begun.elapsed())
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
    let (output, took) = with_launcher("shift 6; exec mpiexec.mpich -n 2 \"$@\"");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("1 ranks know of each other, not 2"), "{text}");
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_rank_that_is_killed_ends_the_run_and_leaves_nothing_behind() {
    for library in ["openmpi", "mpich"] {
        let folder = TempDir::new().unwrap();
        let mut command = linerate(folder.path(), library, &["--budget", "60s"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let begun = Instant::now();
        let ranks = loop {
            let all = below(run.id());
            let ranks: Vec<u32> =
                all.iter().filter(|(_, line)| line.contains("linerate rank ")).map(|(pid, _)| *pid).collect();
            // The launcher has these words among its own arguments.
            if ranks.len() >= 3 {
                break ranks;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{library}: no ranks: {all:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        // Only a rank that plays has a thread that is bound to one CPU.
        let plays = |pid: &&u32| {
            let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let statuses =
                threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
            let is_bound = |status: String| {
                let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
                list.is_some_and(|list| list.trim().parse::<u32>().is_ok())
            };
            statuses.map(is_bound).any(|bound| bound)
        };
        let victim = loop {
            if let Some(rank) = ranks.iter().find(plays) {
                break *rank;
            }
            assert!(begun.elapsed() < Duration::from_secs(40), "{library}: no rank plays");
            std::thread::sleep(Duration::from_millis(5));
        };
        let killed = Command::new("kill").args(["-9", &victim.to_string()]).status().unwrap();
        assert!(killed.success());
        let status = run.wait().unwrap();
        assert!(!status.success(), "{library}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{library}: {:?}", begun.elapsed());
        let left = |pid: &&u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("rank")
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while ranks.iter().filter(left).count() > 0 {
            assert!(Instant::now() < deadline, "{library}: ranks were left behind");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
