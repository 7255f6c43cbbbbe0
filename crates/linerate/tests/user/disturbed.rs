//! Runs of libraries whose ranks are processes, in the middle of which something is killed or stopped.

use super::ranks::{is_of, playing, recorded};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a run may take until it measures: it warms every size up first.
const PLAYS: Duration = Duration::from_secs(120);

/// A run of a minute, of all sizes so that no session ends soon, that has begun to measure, and a rank of it that plays.
pub fn in_the_middle(command: &mut Command, folder: &Path, role: &str) -> (Child, u32) {
    command.args(["--budget", "60s"]).stdout(Stdio::null()).stderr(Stdio::null());
    let (run, begun) = (command.spawn().unwrap(), Instant::now());
    loop {
        if let Some(rank) = playing(run.id(), folder, role) {
            return (run, rank);
        }
        assert!(begun.elapsed() < PLAYS, "no {role} plays");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to a process of the run, which ends within so many seconds and well, with all that came before and with why
/// there is no more: that is given.
pub fn disturbed(mut run: Child, folder: &Path, victim: u32, signal: &str, within_s: u64) -> String {
    assert!(is_of(Path::new(&format!("/proc/{victim}")), folder));
    assert!(Command::new("kill").args([signal, &victim.to_string()]).status().unwrap().success());
    let (status, begun) = (run.wait().unwrap(), Instant::now());
    assert!(status.success(), "{signal}");
    assert!(begun.elapsed() < Duration::from_secs(within_s), "{signal}: {:?}", begun.elapsed());
    let lines = recorded(folder);
    let not = lines.iter().find(|line| line["event"] == "unavailable").expect("its failure is on record");
    let why = not["why"].as_str().unwrap();
    assert!(why.starts_with("failed: ") && not["after_steps"].as_u64() > Some(0), "{not}");
    why.into()
}
