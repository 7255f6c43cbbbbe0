//! Limits of the host: who meets one is told which it is, its value, who set it and what to try, and nothing is left.

use crate::user::nobody;
use crate::user::runs::{await_condition, processes, recording, report, warnings};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A run that makes processes, threads, connections and a recording.
const RUN: &str = "run lab --only network.tcp --sizes 64 --profile quick --passes 1 --quiet --no-page";

/// What a shell does before it becomes the program.
fn run_after(what: &str, arguments: &str) -> (Output, TempDir) {
    let folder = TempDir::new().unwrap();
    let program = nobody::program();
    let script =
        format!("{what} && exec {} {arguments} --output {}", program.display(), folder.path().display());
    let mut command = Command::new("bash");
    command
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("LINERATE_STATE", folder.path().join("state"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output, folder)
}

/// Whether the run met the limit: then it is told in a sentence and a hint, by code 3, and no process is left.
fn is_met(limit: &str, output: &Output, parts: &[&str]) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    await_condition("the end of what was started", || processes().is_empty());
    if output.status.success() {
        return false;
    }
    assert_eq!(output.status.code(), Some(3), "{limit}: {said}");
    assert!(!said.contains("panicked") && !said.contains("a defect"), "{limit}: {said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines.len() == 2 && lines[1].starts_with("hint: "),
        "{limit}: not one sentence and one hint: {said}"
    );
    assert!(parts.iter().all(|part| said.contains(part)), "{limit}: {said}");
    true
}

/// Limits of a process: the flag of `ulimit`, rising values of which the first is too low, and what is said.
const OF_A_PROCESS: &[(&str, &[u32], &str)] = &[
    ("-n", &[4, 6, 9, 16, 40], "the limit is"),
    ("-f", &[0], "KiB a file"),
    ("-v", &[60_000, 75_000], "address space|memory"),
    ("-s", &[200], "KiB of stack"),
    ("-d", &[5_000], "of data a process|memory"),
    ("-t", &[1], "s of CPU time"),
];

#[test]
fn a_limit_of_a_process_is_told() {
    for (flag, values, part) in OF_A_PROCESS {
        for (nth, value) in values.iter().enumerate() {
            let (output, _folder) = run_after(&format!("ulimit {flag} {value}"), RUN);
            let limit = format!("ulimit {flag} {value}");
            // What the loader has no room for says nothing.
            if output.status.code().is_none_or(|code| code == 127) && *flag == "-v" {
                continue;
            }
            let either: Vec<&str> = part.split('|').collect();
            let said = String::from_utf8_lossy(&output.stderr);
            let part = either.iter().find(|part| said.contains(**part)).unwrap_or(&either[0]);
            let met = is_met(&limit, &output, &[part, "ulimit"]);
            assert!(met || nth > 0 || ["-v", "-t"].contains(flag), "{limit} is no limit");
        }
    }
}

/// What it wrote before is gone: half of it would look like a run that was cut.
#[test]
fn an_import_that_finds_no_room_leaves_nothing() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/imported/files/ping-loopback.txt");
    for (limit, is_enough) in [(0, false), (1, false), (1000, true)] {
        let (output, folder) = run_after(&format!("ulimit -f {limit}"), &format!("import {file}"));
        let is_met = is_met(&format!("ulimit -f {limit}"), &output, &["KiB a file", "ulimit"]);
        assert_eq!(is_met, !is_enough, "{limit}: {output:?}");
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left = left.filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl"));
        assert_eq!(left.count() > 0, is_enough, "{limit}");
    }
}

#[test]
fn a_limit_of_a_user_is_told_to_an_ordinary_one() {
    if nobody::is_root() {
        let part = "limits::a_limit_of_a_user_is_told_to_an_ordinary_one";
        nobody::runs_them_too(&["--exact", part, "limits::a_limit_of_a_process_is_told"], &[]);
        return;
    }
    let met = [1, 4, 9, 14].map(|value| {
        let limit = format!("ulimit -u {value}");
        let (output, _folder) = run_after(&limit, RUN);
        is_met(&limit, &output, &["processes and threads of a user", "ulimit -u"])
    });
    assert!(met[0], "{met:?}");
}

/// A control group of version 1 or 2, which ends with this value.
struct Group(PathBuf);

impl Group {
    /// None where no such group can be made.
    fn new(controller: &str) -> Option<Group> {
        let name = format!("linerate-test-{}", std::process::id());
        let places = [format!("/sys/fs/cgroup/{controller}/{name}"), format!("/sys/fs/cgroup/{name}")];
        places.into_iter().map(PathBuf::from).find_map(|path| {
            let is_hierarchy = path.parent()?.join("cgroup.procs").exists();
            (is_hierarchy && fs::create_dir(&path).is_ok()).then_some(Group(path))
        })
    }

    /// Whether it has the file, and takes this.
    fn set(&self, file: &str, value: &str) -> bool {
        self.0.join(file).exists() && fs::write(self.0.join(file), value).is_ok()
    }

    /// What a shell does to be in it.
    fn enter(&self) -> String {
        format!("echo $$ > {}", self.0.join("cgroup.procs").display())
    }

    fn name(&self) -> String {
        self.0.file_name().unwrap().to_string_lossy().into_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        await_condition("the end of the group's processes", || {
            fs::read_to_string(self.0.join("cgroup.procs")).is_ok_and(|text| text.is_empty())
        });
        fs::remove_dir(&self.0).unwrap();
    }
}

#[test]
fn a_limit_of_a_control_group_is_told() {
    let Some(group) = Group::new("pids").filter(|group| group.set("pids.max", "3")) else {
        return println!(
            "SKIP: limits::a_limit_of_a_control_group_is_told: no control group can be made here"
        );
    };
    let mut met = Vec::new();
    for most in [3, 4, 5, 7, 8, 9, 13, 16, 20] {
        assert!(group.set("pids.max", &most.to_string()));
        let (output, _folder) = run_after(&group.enter(), RUN);
        let parts = [&format!("the limit is {most} processes and threads"), "pids.max", &group.name()];
        met.push(is_met(&format!("pids.max {most}"), &output, &parts));
    }
    assert!(met[..6].iter().all(|met| *met), "{met:?}");
}

#[test]
fn a_limit_of_memory_is_told_by_who_is_left() {
    let set = |group: &Group, bytes: &str| {
        group.set("memory.max", bytes) || group.set("memory.limit_in_bytes", bytes)
    };
    let Some(group) = Group::new("memory").filter(|group| set(group, "96M")) else {
        return println!(
            "SKIP: limits::a_limit_of_memory_is_told_by_who_is_left: no control group can be made here"
        );
    };
    // A shared room beyond the limit: the kernel ends who fills it, and not who tells.
    let run =
        "run lab --only in-host.shared-memory --sizes 512MiB --profile quick --passes 1 --quiet --no-page";
    let (output, _folder) = run_after(&group.enter(), run);
    let parts = ["the limit is 96 MiB of memory", "it was exceeded", &group.name()];
    assert!(is_met("memory.max 96M", &output, &parts), "{}", String::from_utf8_lossy(&output.stdout));
}

fn set_quota(group: &Group) -> bool {
    group.set("cpu.max", "30000 100000")
        || (group.set("cpu.cfs_period_us", "100000") && group.set("cpu.cfs_quota_us", "30000"))
}

#[test]
fn a_quota_of_cpu_time_is_told_and_no_other_process() {
    let Some(group) = Group::new("cpu").filter(set_quota) else {
        return println!(
            "SKIP: limits::a_quota_of_cpu_time_is_told_and_no_other_process: no control group can be made here"
        );
    };
    let run = "run lab --only in-host.tcp --sizes 64,1MiB --profile quick --passes 1 --quiet --no-page";
    let (output, folder) = run_after(&group.enter(), run);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = report(&recording(folder.path()));
    let codes = warnings(&told);
    assert!(codes.contains(&"throttled".to_owned()), "{codes:?}");
    assert!(!codes.iter().any(|code| code == "foreign-cpu" || code == "preempted"), "{codes:?}");
    let warning = told["warnings"].as_array().unwrap().iter().find(|one| one["code"] == "throttled").unwrap();
    let detail = warning["detail"].as_str().unwrap();
    assert!(detail.contains("host a in ") && detail.contains(" periods"), "{detail}");
    assert!(detail.contains("0.3 CPUs") && detail.contains(&group.name()), "{detail}");
}

#[test]
fn ends_on_the_only_cpu_are_told_and_no_other_process() {
    let is_set = |group: &Group| group.set("cpuset.mems", "0") && group.set("cpuset.cpus", "1");
    let Some(group) = Group::new("cpuset").filter(is_set) else {
        return println!(
            "SKIP: limits::ends_on_the_only_cpu_are_told_and_no_other_process: no control group can be made here"
        );
    };
    let run = "run lab --only network.tcp --sizes 64,1MiB --profile quick --passes 1 --quiet --no-page";
    let (output, folder) = run_after(&group.enter(), run);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = report(&recording(folder.path()));
    let codes = warnings(&told);
    assert!(!codes.iter().any(|code| code == "preempted"), "{codes:?}");
    let warning = told["warnings"].as_array().unwrap().iter().find(|one| one["code"] == "one-cpu");
    let detail = warning.unwrap_or_else(|| panic!("{codes:?}"))["detail"].as_str().unwrap();
    assert!(detail.contains("host a may use CPU 1 of 0") && detail.contains(&group.name()), "{detail}");
}

#[test]
fn a_closed_stream_ends_nothing_by_a_panic() {
    let folder = TempDir::new().unwrap();
    let program = nobody::program();
    for closed in [">&-", "2>&-", ">/dev/full", "2>/dev/full", "<&- >&- 2>&-"] {
        for what in
            ["list", "lab list", "run simulated --only memory.copy --no-page --passes 1", "explain nonsense"]
        {
            let output = if what.starts_with("run") {
                format!("--output {}", folder.path().display())
            } else {
                String::new()
            };
            let script = format!("{} {what} {output} {closed}", program.display());
            let ended =
                Command::new("sh").args(["-c", &script]).current_dir(Path::new("/")).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(!said.contains("panicked") && !said.contains("a defect"), "{script}: {said}");
            assert!(ended.status.code().is_some_and(|code| code < 7), "{script}: {:?} {said}", ended.status);
        }
    }
}
