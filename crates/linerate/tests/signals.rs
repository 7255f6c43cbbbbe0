//! Signals that end a run or have it stand still: what was measured is reported, however many of them come at once.

use crate::user::runs::{
    PROGRAM, await_condition, code, command, processes, recording, report, run, warnings,
};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// Waits until a recording there has this in it.
fn await_text(folder: &Path, wanted: &str) {
    await_condition(wanted, || {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains(wanted))
    });
}

/// All that a process says until it ends.
fn said(child: &mut Child) -> String {
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// Ends a run that has measured something by these signals, the pause between each; its code and what it said.
fn ended_by(signals: &[&str], pause: Duration) -> (Option<i32>, String, TempDir) {
    let folder = TempDir::new().unwrap();
    let arguments = ["lab", "--only", "in-host.tcp", "--passes", "400", "--no-page"];
    let mut run = command(folder.path(), &arguments).spawn().unwrap();
    await_text(folder.path(), "\"pass\":1,");
    for name in signals {
        signal(name, run.id());
        std::thread::sleep(pause);
    }
    let code = code(&mut run);
    let said = said(&mut run);
    (code, said, folder)
}

#[test]
fn signals_at_once_are_one() {
    for signals in [["-TERM", "-TERM", "-INT"], ["-INT", "-HUP", "-TERM"]] {
        let (code, said, folder) = ended_by(&signals, Duration::from_millis(30));
        assert_eq!(code, Some(130), "{signals:?}: {said}");
        assert!(said.contains("in-host.tcp"), "a report of what there is: {said}");
        let text = std::fs::read_to_string(recording(folder.path())).unwrap();
        assert!(text.contains("\"interrupted\""), "{signals:?}");
    }
}

fn state(process: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('-')
}

#[test]
fn a_suspended_run_stands_still_whole_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let few = ["--passes", "4", "--profile", "quick", "--sizes", "64,65536", "--no-page"];
    let mut run = command(folder.path(), &[&["lab", "--only", "network.tcp"][..], &few].concat());
    // A group of its own, as a shell gives it.
    let mut run = run.process_group(0).spawn().unwrap();
    await_text(folder.path(), "\"pass\":1,");
    signal("-TSTP", run.id());
    let is_still = || processes().iter().all(|(pid, _)| state(*pid) == 'T');
    await_condition("all processes to stand still", is_still);
    let roles: Vec<String> = processes().into_iter().map(|(_, role)| role).collect();
    for role in ["run", "agent", "worker"] {
        assert!(roles.contains(&role.to_owned()), "{roles:?}");
    }
    let before = std::fs::read(recording(folder.path())).unwrap().len();
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_still());
    assert_eq!(std::fs::read(recording(folder.path())).unwrap().len(), before);
    signal("-CONT", run.id());
    let code = code(&mut run);
    let said = said(&mut run);
    assert_eq!(code, Some(0), "{said}");
    let text = std::fs::read_to_string(recording(folder.path())).unwrap();
    assert!(text.contains("\"completed\""), "{said}");
    // It fell into a step, or between two.
    let is_marked = text.contains("\"suspended_ns\":");
    assert_eq!(warnings(&report(&recording(folder.path()))).contains(&"suspended".into()), is_marked);
}

/// A run by a shell that does this with it.
fn by_shell(script: &str, folder: &Path) -> (Option<i32>, String) {
    let mut shell = Command::new("bash");
    shell.args(["-c", script, PROGRAM]).arg(folder).env("LINERATE_STATE", folder.join("state"));
    let mut shell = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let code = code(&mut shell);
    (code, said(&mut shell))
}

const SIMULATED: &str = "run simulated --only network.tcp --profile quick --no-page --quiet --output";

#[test]
fn a_limit_on_files_leaves_a_report_of_what_there_is() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let (code, said) = by_shell(&format!("ulimit -f 256; \"$0\" {SIMULATED} \"$1\""), &out);
    let recording = recording(&out);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("network.tcp") && said.contains("over the rung below"), "{said}");
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(last[0].contains("ulimit -f") && last[1].contains(recording.to_str().unwrap()), "{said}");
    assert!(std::fs::read_to_string(&recording).unwrap().ends_with('\n'), "only whole lines");
}

#[test]
fn a_reader_that_leaves_is_told_of_the_recording() {
    for end in ["| head -1", "| head -1 2>&1", "| true", "2>&- | head -1"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let script = format!("\"$0\" {SIMULATED} \"$1\" {end}; exit ${{PIPESTATUS[0]}}");
        let (code, said) = by_shell(&script, &out);
        let recording = recording(&out);
        assert_eq!(code, Some(0), "{end}: {said}");
        assert!(std::fs::read_to_string(&recording).unwrap().contains("\"completed\""), "{end}");
        let last = said.lines().last().unwrap_or_default();
        assert!(end.contains("2>&-") || last.contains(recording.to_str().unwrap()), "{end}: {said}");
    }
}

#[test]
fn a_run_that_is_refused_leaves_no_recording() {
    let cases: [(&[&str], i32); 2] = [
        (&["ssh://nobody@127.0.0.1:1"], 4),
        (&["lab", "--only", "network.tcp", "--set", "cpu.placement=4000/4001"], 2),
    ];
    for (arguments, code) in cases {
        let run = run(arguments);
        let said = String::from_utf8_lossy(&run.output.stderr);
        assert_eq!(run.output.status.code(), Some(code), "{arguments:?}: {said}");
        let files = std::fs::read_dir(run.folder.path()).unwrap().flatten();
        let files: Vec<_> = files.map(|file| file.file_name()).filter(|name| *name != "state").collect();
        assert!(files.is_empty(), "{arguments:?}: {files:?}: {said}");
        assert!(!said.contains(".jsonl"), "{arguments:?}: {said}");
    }
}
