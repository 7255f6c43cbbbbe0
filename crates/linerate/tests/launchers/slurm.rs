//! A real Slurm of four nodes in namespaces: slurmctld, four slurmd, munge.

use super::world::{PLAN, said};
use super::{agents, await_none, has_all_but_what_was_lost, kill};
use crate::user::runs::{PROGRAM, await_lines, code, recording};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The script that puts it up and takes it down.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/slurm-lab.sh");

/// A Slurm, which is gone with this value.
struct Slurm {
    folder: TempDir,
}

impl Slurm {
    fn up() -> Slurm {
        let slurm = Slurm { folder: TempDir::new().unwrap() };
        let mut command = slurm.script(&["up"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        std::fs::write(slurm.folder.path().join("mine.toml"), PLAN).unwrap();
        slurm
    }

    fn script(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(SCRIPT);
        command.arg("-d").arg(self.folder.path().join("lab")).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// A command on its head.
    fn on_head(&self, arguments: &[&str]) -> Command {
        let mut command = self.script(&["run"]);
        command.args(arguments).env("LINERATE_STATE", self.folder.path().join("state"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn measuring<'w>(&self, words: &[&'w str], out: &'w str, what: &[&'w str]) -> Command {
        let usual = ["--profile", "quick", "--quiet", "--set", "cpu.placement=0/1", "--output", out];
        self.on_head(&[words, &[PROGRAM, "run", "slurm:-N2"], &usual, what].concat())
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.script(&["down"]).status();
    }
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}

#[test]
fn slurm_starts_agents_and_its_end_is_a_line() {
    if let Some(program) =
        ["slurmctld", "slurmd", "srun", "munged"].into_iter().find(|name| !is_installed(name))
    {
        return println!("SKIP: slurm_starts_agents_and_its_end_is_a_line: {program} is not installed");
    }
    let slurm = Slurm::up();
    let (out, plan) = (slurm.out(), slurm.folder.path().join("mine.toml"));
    let (out, plan) = (out.to_str().unwrap(), plan.to_str().unwrap());
    // Within an allocation, and by asking for one.
    for words in [&["salloc", "-Q", "-N2"][..], &[]] {
        let output = slurm.measuring(words, out, &["--plan", plan, "--passes", "1"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let text = std::fs::read_to_string(recording(Path::new(out))).unwrap();
        // A node whose last job has not quite ended is passed over.
        let has =
            |node: &u32| text.contains(&format!(r#""reached":"slurm://n{node}","address":"10.99.0.{node}""#));
        assert_eq!((1..=4).filter(has).count(), 2, "{text}");
        std::fs::remove_dir_all(out).unwrap();
    }
    // An agent that was killed within an allocation is started again; one that srun asked for may end with it.
    let within = ["salloc", "-Q", "-N2"];
    bereft(&slurm, &within, out, |agent| agent, false);
    bereft(&slurm, &[], out, |agent| agent, true);
    bereft(&slurm, &within, out, parent, true);
    cancelled(&slurm, out);
    await_none();
}

/// What started a process: of an agent its slurmstepd.
fn parent(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    let parent = line.trim().parse().unwrap();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap();
    assert_eq!(name.trim(), "slurmstepd");
    parent
}

/// A run one of whose agents, or what holds it, is killed at any moment comes to its end, or, where that may be, is resumed to it: its
/// numbers are there.
fn bereft(slurm: &Slurm, words: &[&str], out: &str, whom: fn(u32) -> u32, may_end: bool) {
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "2"];
    let mut run = slurm.measuring(words, out, &what).spawn().unwrap();
    await_lines(Path::new(out), "trial", 1);
    std::thread::sleep(Duration::from_millis(rand::random_range(0..700)));
    kill(whom(agents()[0]));
    let ended = code(&mut run);
    let mut text = String::new();
    run.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    await_none();
    let cut = recording(Path::new(out));
    let whole = match ended {
        Some(0) => cut,
        Some(4) if may_end => {
            let resumed = slurm.folder.path().join("resumed");
            let into = resumed.to_str().unwrap();
            let resume = [PROGRAM, "resume", "--quiet", "--output", into, cut.to_str().unwrap()];
            let output = slurm.on_head(&[words, &resume].concat()).output().unwrap();
            assert!(output.status.success(), "{text} {}", said(&output));
            recording(&resumed)
        }
        other => panic!("{other:?}: {text}"),
    };
    println!("ended with {ended:?}: {text}");
    has_all_but_what_was_lost(&whole, 2);
    std::fs::remove_dir_all(out).unwrap();
}

/// An allocation that ends in mid-run.
fn cancelled(slurm: &Slurm, out: &str) {
    let what = ["--only", "network.tcp", "--sizes", "1KiB", "--passes", "50"];
    let mut run = slurm.measuring(&[], out, &what).spawn().unwrap();
    await_lines(Path::new(out), "trial", 1);
    let job = slurm.on_head(&["squeue", "-h", "-o", "%i"]).output().unwrap().stdout;
    let job = String::from_utf8(job).unwrap();
    assert!(slurm.on_head(&["scancel", job.trim()]).status().unwrap().success(), "{job}");
    assert_eq!(code(&mut run), Some(4));
    let mut text = String::new();
    run.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let told: Vec<&str> = text.lines().filter(|line| line.contains("ended its connection")).collect();
    assert_eq!(told.len(), 1, "{text}");
    // What was measured is there.
    let kept = std::fs::read_to_string(recording(Path::new(out))).unwrap();
    assert!(kept.contains(r#""event":"trial""#) && kept.contains(r#""reason":"failed""#));
}
