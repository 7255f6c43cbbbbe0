//! Runs of libraries whose ranks are processes, in the middle of which something is killed or stopped.

use super::ranks::{is_of, planned, playing, recorded};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a run may take until it measures: it warms every case up first.
const PLAYS: Duration = Duration::from_secs(60);

/// So many cases a pass: its sessions last for seconds, and do not end while a process of theirs is looked for.
const CASES: u64 = 8;

/// Streams of one size after the other. Each lasts a moment alone: what hangs is waited for so many times as long.
fn plan(rung: &str, wait: &str) -> String {
    let case = |number: u64| {
        let size = 1024 + number;
        format!(
            "[[case]]\nid = \"{size}\"\nrung = \"{rung}\"\npattern = \"stream\"\nwait = \"{wait}\"\n\
             sizes = [\"{size}B\"]\ntrial = \"400ms\"\n"
        )
    };
    format!("name = \"disturbed\"\n{}", (0..CASES).map(case).collect::<String>())
}

/// A run of many passes of a rung, whose ends wait so.
pub fn long(folder: &Path, rung: &str, wait: &str) -> Command {
    let mut command = planned(folder, &plan(rung, wait));
    command.args(["--passes", "20"]);
    command
}

/// Such a run that has begun to measure, and a rank of it that plays.
pub fn in_the_middle(command: &mut Command, folder: &Path, role: &str) -> (Child, u32) {
    let (run, begun) = (command.stdout(Stdio::null()).spawn().unwrap(), Instant::now());
    loop {
        if let Some(rank) = playing(run.id(), folder, role) {
            println!("{role} plays after {:?}", begun.elapsed());
            return (run, rank);
        }
        assert!(begun.elapsed() < PLAYS, "no {role} plays");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process of the run, which ends within so many seconds, with all that came before and with why there
/// is no more: that is given.
pub fn disturbed(mut run: Child, folder: &Path, victim: u32, signal: &str, within_s: u64) -> String {
    assert!(is_of(Path::new(&format!("/proc/{victim}")), folder));
    assert!(Command::new("kill").args([signal, &victim.to_string()]).status().unwrap().success());
    let begun = Instant::now();
    let status = run.wait().unwrap();
    println!("{signal}: over after {:?}", begun.elapsed());
    assert_eq!(status.code(), Some(12), "{signal}");
    assert!(begun.elapsed() < Duration::from_secs(within_s), "{signal}: {:?}", begun.elapsed());
    let lines = recorded(folder);
    let not = lines.iter().find(|line| line["event"] == "unavailable").expect("its failure is on record");
    let why = not["why"].as_str().unwrap();
    assert!(why.starts_with("failed: ") && not["after_steps"].as_u64() > Some(0), "{not}");
    why.into()
}
