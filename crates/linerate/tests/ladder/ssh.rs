//! Hosts reached by Debian's sshd: one in each of two namespaces.

use crate::user::runs::{
    PROGRAM, await_condition, await_lines, code, entry, failed_hosts, recording, report, signal, warnings,
};
use linerate::lab::Lab;
use linerate::plan::Topology;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PORT: u16 = 2222;

/// What is measured between two hosts.
const LADDER: &[&str] = &["--sizes", "1KiB", "--only", "network.tcp,network.mpi"];

/// An sshd on one host; ends with this value.
struct Sshd(Child);

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn key(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status();
    assert!(made.unwrap().success());
    path
}

/// Starts sshd on a host and waits until it listens. Nothing of the machine's own ssh is used.
fn sshd(lab: &Lab, host: usize, folder: &Path) -> Sshd {
    sshd_with(lab, host, folder, PORT, None)
}

/// The same at a port, with a home of its own to which a shell did something that only this sshd sees.
fn sshd_with(lab: &Lab, host: usize, folder: &Path, port: u16, home: Option<(&Path, &str)>) -> Sshd {
    let address = lab.hosts()[host].address;
    let config = folder.join(format!("sshd_config_{host}_{port}"));
    let keys = folder.join("authorized_keys");
    let text = format!(
        "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nUsePAM no\nUseDNS no\n",
        folder.join("host_key").display(),
        keys.display()
    );
    let set = home.map_or(String::new(), |(home, _)| format!("SetEnv HOME={}\n", home.display()));
    std::fs::write(&config, text + &set).unwrap();
    // Debian's sshd wants this folder for its unprivileged part; a booted host has it.
    std::fs::create_dir_all("/run/sshd").unwrap();
    let mut command = match home {
        None => lab.hosts()[host].command("/usr/sbin/sshd"),
        Some((home, script)) => {
            std::fs::create_dir_all(home).unwrap();
            let mut command = lab.hosts()[host].command("unshare");
            let script = format!("{script}; exec /usr/sbin/sshd \"$@\"");
            command.args(["--mount", "sh", "-c", &script]).arg(home);
            command
        }
    };
    command.arg("-D").arg("-e").arg("-f").arg(&config);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    await_condition("sshd to listen", || {
        let mut scan = lab.hosts()[host].command("ssh-keyscan");
        scan.args(["-p", &port.to_string(), &address.to_string()]).stderr(Stdio::null());
        !scan.output().unwrap().stdout.is_empty()
    });
    Sshd(child)
}

/// Folders of copied programs, so that the ones this test adds can be taken away again.
fn copies() -> Vec<PathBuf> {
    let home = std::env::var("HOME").unwrap();
    let entries = std::fs::read_dir(Path::new(&home).join(".cache/linerate")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Two hosts with sshd, and the command that reaches them.
pub(crate) struct Fixture {
    pub(crate) lab: Lab,
    daemons: Vec<Sshd>,
    pub(crate) folder: TempDir,
    pub(crate) ssh: String,
    copies_before: Vec<PathBuf>,
}

impl Fixture {
    pub(crate) fn new(hosts: u32) -> Fixture {
        let folder = TempDir::new().unwrap();
        let topology = Topology { hosts, ..Topology::default() };
        let lab = Lab::build(&topology, Path::new(PROGRAM)).unwrap();
        key(folder.path(), "host_key");
        let user = key(folder.path(), "user_key");
        std::fs::copy(user.with_extension("pub"), folder.path().join("authorized_keys")).unwrap();
        let daemons = (0..hosts as usize).map(|host| sshd(&lab, host, folder.path())).collect();
        let config = folder.path().join("ssh_config");
        let text = format!(
            "Host *\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  \
             UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n",
            user.display()
        );
        std::fs::write(&config, text).unwrap();
        let ssh = format!("ssh -F {}", config.display());
        Fixture { lab, daemons, folder, ssh, copies_before: copies() }
    }

    pub(crate) fn target(&self, host: usize) -> String {
        format!("ssh://root@{}:{PORT}", self.lab.hosts()[host].address)
    }

    /// Runs from host a.
    fn run(&self, target: &str, what: &[&str]) -> std::process::Output {
        self.command(target, "1", what).output().unwrap()
    }

    fn command(&self, target: &str, passes: &str, what: &[&str]) -> Command {
        let mut command = self.lab.hosts()[0].command(PROGRAM);
        command
            .args(["run", target, "--profile", "quick", "--passes", passes, "--quiet"])
            .args(what)
            .args(["--set", "tcp.congestion-control=cubic", "--ssh", &self.ssh, "--output"])
            .arg(self.folder.path().join("out"));
        command.env("LINERATE_STATE", self.folder.path().join("state"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for copy in copies().into_iter().filter(|copy| !self.copies_before.contains(copy)) {
            let _ = std::fs::remove_dir_all(copy);
        }
    }
}

fn check(fixture: &Fixture, target: &str, reached: [&str; 2]) {
    let output = fixture.run(target, LADDER);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = recording(&fixture.folder.path().join("out"));
    let text = std::fs::read_to_string(&path).unwrap();
    for reached in reached {
        assert!(text.contains(&format!(r#""reached":"{reached}"#)), "no host was reached by {reached}");
    }
    let report = report(&path);
    let rung = entry(&report, "network.tcp", Some("a>b"), 1);
    assert!(rung["throughput_bps"]["median"].as_f64().unwrap() > 0.0);
    // The program lies at another place on the host that it was copied to.
    let ranks = entry(&report, "network.mpi", Some("a>b"), 1);
    assert!(ranks["throughput_bps"]["median"].as_f64().unwrap() > 0.0, "{ranks}");
    assert!(!warnings(&report).contains(&"bytes-not-crossed".to_owned()));
    let wire = text.lines().find(|line| line.contains(r#""name":"wire0""#));
    assert!(wire.is_some(), "the bytes did not cross the wire between the hosts");
}

#[test]
fn a_host_reached_by_ssh_is_measured_from_here() {
    let fixture = Fixture::new(2);
    check(&fixture, &fixture.target(1), ["local", "ssh://root@"]);
}

#[test]
fn two_hosts_reached_by_ssh_are_measured() {
    let fixture = Fixture::new(2);
    let target = format!("{},{}", fixture.target(0), fixture.target(1));
    check(&fixture, &target, ["ssh://root@", "ssh://root@"]);
}

/// They begin tens of milliseconds apart.
const FAN_IN: &str = r#"
name = "mine"
[[case]]
id = "hot"
rung = "network.tcp"
sizes = "64KiB"
roles = "fan-in"
trial = "500ms"
[[figure]]
id = "hot"
title = "hot"
cases = ["hot"]
x = "size"
y = "throughput"
"#;

#[test]
fn all_of_three_hosts_send_to_one() {
    let fixture = Fixture::new(3);
    let plan = fixture.folder.path().join("mine.toml");
    std::fs::write(&plan, FAN_IN).unwrap();
    let target = [0, 1, 2].map(|host| fixture.target(host)).join(",");
    let output = fixture.run(&target, &["--plan", plan.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = report(&recording(&fixture.folder.path().join("out")));
    let point = &report["suites"][0]["figures"][0]["series"][0]["points"][0];
    assert!(point["value"]["median"].as_f64().is_some_and(|bps| bps > 0.0), "{}", report["suites"]);
    assert_eq!(point["hosts"], "b+c>a", "{point}");
    let lines = std::fs::read_to_string(recording(&fixture.folder.path().join("out"))).unwrap();
    assert_eq!(lines.matches(r#""reached":"ssh://root@"#).count(), 3);
    // A ladder takes no third one.
    let output = fixture.run(&target, LADDER);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 hosts are given"));
}

/// One case of a pair, and one of all hosts.
const SOME_OF_ALL: &str = r#"
name = "mine"
[[case]]
id = "pair"
rung = "network.tcp"
sizes = "64KiB"
[[case]]
id = "all"
rung = "network.tcp"
sizes = "64KiB"
roles = "fan-in"
[[figure]]
id = "both"
title = "both"
cases = ["pair", "all"]
x = "case"
y = "throughput"
"#;

#[test]
fn a_suite_goes_on_without_a_host_that_is_not_reached() {
    let fixture = Fixture::new(2);
    let plan = fixture.folder.path().join("mine.toml");
    std::fs::write(&plan, SOME_OF_ALL).unwrap();
    let nobody = fixture.target(1).replace(&format!(":{PORT}"), ":1");
    let target = format!("{},{},{nobody}", fixture.target(0), fixture.target(1));
    let output = fixture.run(&target, &["--plan", plan.to_str().unwrap()]);
    // It could have been measured.
    assert_eq!(output.status.code(), Some(12), "{}", String::from_utf8_lossy(&output.stderr));
    let report = report(&recording(&fixture.folder.path().join("out")));
    let points = report["suites"][0]["figures"][0]["series"][0]["points"].as_array().unwrap().clone();
    assert_eq!((points.len(), &points[0]["hosts"]), (1, &"a>b".into()), "{points:?}");
    let left_out: Vec<&str> = report["suites"][0]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|not| not["why"].as_str().unwrap())
        .collect();
    let is_told = |part: &str| left_out.iter().any(|why| why.contains(part));
    assert!(is_told("host c is not reached: ") && is_told("host c, which takes part in it"), "{left_out:?}");
}

/// What a process started, and what that did.
fn descendants(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    children.flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

/// The agent that an sshd started.
fn agent_of(sshd: &Sshd) -> Option<u32> {
    let second_word = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1).map(<[u8]>::to_vec)
    };
    descendants(sshd.0.id()).into_iter().find(|pid| second_word(pid).as_deref() == Some(b"agent"))
}

/// A run from host a to b that has made a trial.
fn run_under_way(fixture: &Fixture) -> Child {
    let out = fixture.folder.path().join("out");
    let what = ["--sizes", "1KiB", "--only", "network.tcp"];
    let run = fixture.command(&fixture.target(1), "3", &what).spawn().unwrap();
    await_lines(&out, "trial", 1);
    run
}

/// A run of which the agent of `b` was killed while it measured.
fn run_that_lost_its_agent(fixture: &mut Fixture, lost_for_good: bool) -> Child {
    let run = run_under_way(fixture);
    let agent = agent_of(&fixture.daemons[1]).expect("an agent under sshd");
    if lost_for_good {
        fixture.daemons.truncate(1);
    }
    signal(agent, Signal::KILL);
    run
}

#[test]
fn a_host_that_comes_back_is_measured_on() {
    let mut fixture = Fixture::new(2);
    let mut run = run_that_lost_its_agent(&mut fixture, false);
    assert_eq!(code(&mut run), Some(0));
    let found = warnings(&report(&recording(&fixture.folder.path().join("out"))));
    assert!(found.contains(&"failed-once".to_owned()), "{found:?}");
}

#[test]
#[ignore = "a host is waited for a minute and a half: ./test --long"]
fn a_host_that_is_gone_for_good_ends_the_run() {
    let mut fixture = Fixture::new(2);
    let run = run_that_lost_its_agent(&mut fixture, true);
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("it does not come back: ") && text.contains("hint: "), "{text}");
}

/// What a shell does at host b.
fn at_b(fixture: &Fixture, line: &str) {
    let status = fixture.lab.hosts()[1].command("sh").args(["-c", line]).status().unwrap();
    assert!(status.success(), "{line}");
}

/// Nothing comes to host b any more.
fn cut_off_b(fixture: &Fixture) {
    let rules =
        "add table inet away; add chain inet away in { type filter hook input priority 0; policy drop; }";
    at_b(fixture, &format!("nft '{rules}'"));
}

#[test]
#[ignore = "a path is away for half a minute: ./test --long"]
fn a_path_that_is_away_for_half_a_minute_is_waited_for() {
    let fixture = Fixture::new(2);
    let mut run = run_under_way(&fixture);
    let agent = agent_of(&fixture.daemons[1]).expect("an agent under sshd");
    cut_off_b(&fixture);
    std::thread::sleep(Duration::from_secs(30));
    assert_eq!(agent_of(&fixture.daemons[1]), Some(agent), "it is not given up");
    at_b(&fixture, "nft delete table inet away");
    assert_eq!(code(&mut run), Some(0));
    let report = report(&recording(&fixture.folder.path().join("out")));
    let rung = entry(&report, "network.tcp", Some("a>b"), 1);
    assert!(rung["throughput_bps"]["median"].as_f64().unwrap() > 0.0);
}

/// The controller ends without a word to anybody: what it ran on the host behind the path notices by itself.
#[test]
#[ignore = "an agent is silent for a minute first: ./test --long"]
fn an_agent_whose_controller_vanished_ends() {
    let fixture = Fixture::new(2);
    let mut run = run_under_way(&fixture);
    let agent = agent_of(&fixture.daemons[1]).expect("an agent under sshd");
    // As a rule the kernel gives up after a quarter of an hour.
    at_b(&fixture, "echo 3 > /proc/sys/net/ipv4/tcp_retries2");
    cut_off_b(&fixture);
    run.kill().unwrap();
    run.wait().unwrap();
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(agent_of(&fixture.daemons[1]), Some(agent), "it waits for its controller");
    let started = || descendants(fixture.daemons[1].0.id());
    let begun = Instant::now();
    while !started().is_empty() {
        assert!(begun.elapsed().as_secs() < 150, "left: {:?}", started());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// How a shell loses the disk of its home `$0`: what was there is gone, and nothing can be put there.
const LOSES_DISK: &str = "umount -l \"$0\" && mount -t tmpfs -o ro tmpfs \"$0\"";

/// What measures is in memory and goes on without it; an agent that ends then cannot be started again there.
#[test]
#[ignore = "a host that does not come back is waited for: ./test --long"]
fn a_host_that_loses_its_disk_is_measured_until_its_agent_ends() {
    let fixture = Fixture::new(4);
    let (folder, port) = (fixture.folder.path(), PORT + 20);
    let home = folder.join("home");
    let sshd = sshd_with(&fixture.lab, 2, folder, port, Some((&home, "mount -t tmpfs tmpfs \"$0\"")));
    let own = format!("ssh://root@{}:{port}", fixture.lab.hosts()[2].address);
    let target = [fixture.target(0), fixture.target(1), own, fixture.target(3)].join(",");
    let out = folder.join("out");
    let mut command = fixture.lab.hosts()[0].command(PROGRAM);
    command.args(["matrix", &target, "--quiet", "--no-page", "--trial", "300ms", "--ssh", &fixture.ssh]);
    // Without a folder of its own the program's copy goes to another one.
    command.args(["--remote-dir", &format!("c={}", home.display())]);
    command.arg("--output").arg(&out).env("LINERATE_STATE", folder.join("state"));
    let run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    await_lines(&out, "trial", 1);
    let agent = agent_of(&sshd).expect("an agent under sshd").to_string();
    let mut lose = Command::new("nsenter");
    lose.args(["-t", &agent, "-m", "sh", "-c", LOSES_DISK]).arg(&home);
    assert!(lose.status().unwrap().success());
    let trials = || std::fs::read_to_string(recording(&out)).unwrap().matches(r#""event":"trial""#).count();
    let before = trials();
    await_lines(&out, "trial", before + 6);
    signal(agent.parse().unwrap(), Signal::KILL);
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(11), "three hosts are too few to name one: {text}");
    let matrix = report(&recording(&out))["matrix"].clone();
    let failed = failed_hosts(&matrix);
    assert_eq!(failed.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, false]);
    let why = failed[2].unwrap();
    assert!(why.contains("it does not come back: ") && why.contains("read-only file system"), "{why}");
    let between = |cell: &&serde_json::Value| cell["from"] != "c" && cell["to"] != "c";
    assert_eq!(matrix["cells"].as_array().unwrap().iter().filter(between).count(), 6, "{matrix:#}");
}

#[test]
#[ignore = "takes half a minute: ./test --long"]
fn the_suite_of_sockets_is_drawn_over_ssh() {
    let fixture = Fixture::new(3);
    let target = [0, 1, 2].map(|host| fixture.target(host)).join(",");
    let output = fixture.run(&target, &["--suite", "sockets"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = report(&recording(&fixture.folder.path().join("out")));
    let figures = report["suites"][0]["figures"].as_array().unwrap();
    let empty: Vec<&str> = figures
        .iter()
        .filter(|figure| figure["series"].as_array().is_none_or(Vec::is_empty))
        .filter_map(|figure| figure["id"].as_str())
        .collect();
    // The links of hosts that are reached by ssh are left as they are.
    let of_links = ["003-F3c-offloads", "003-F3c-offloads-cpu"];
    assert!(figures.len() > 20 && empty == of_links, "{empty:?}");
    let left_out = report["suites"][0]["left_out"].to_string();
    assert!(left_out.contains("link.offload=off") && left_out.contains("lab"), "{left_out}");
}

#[test]
fn a_host_that_ssh_does_not_reach_is_said() {
    let fixture = Fixture::new(2);
    let nowhere = format!("ssh://root@{}:1", fixture.lab.hosts()[1].address);
    let output = fixture.run(&nowhere, LADDER);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("cannot be reached by ssh") && text.contains("hint: "), "{text}");
}

/// How a shell makes of `$0` a home that takes no copy, and what is said of it.
const HOMES: [(&str, &str); 3] = [
    ("mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"", "read-only file system"),
    ("mount -t tmpfs -o size=1m tmpfs \"$0\"", "has no room for"),
    ("mount -t tmpfs -o noexec tmpfs \"$0\"", "mounted noexec"),
];

#[test]
fn a_home_that_takes_no_copy_is_told_and_another_folder_does() {
    let fixture = Fixture::new(2);
    let folder = fixture.folder.path();
    let mut last = String::new();
    for (number, (script, said)) in (0..).zip(HOMES) {
        let (home, port) = (folder.join(format!("home-{number}")), PORT + 1 + number);
        let _sshd = sshd_with(&fixture.lab, 1, folder, port, Some((&home, script)));
        let target = format!("ssh://root@{}:{port}", fixture.lab.hosts()[1].address);
        let output = fixture.run(&target, &["--remote-dir", "~/mine"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(said) && text.contains("--remote-dir b=/tmp"), "{text}");
        assert!(!folder.join("out").exists(), "a run that is refused leaves nothing");
        if number == 2 {
            let mine = folder.join("mine");
            let wanted = format!("b={}", mine.display());
            let output =
                fixture.run(&target, &["--sizes", "1KiB", "--only", "network.tcp", "--remote-dir", &wanted]);
            last = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{last}");
            // Another run finds it there, and what it finds is smaller than this program with its symbols.
            let copies: Vec<PathBuf> = files_below(&mine);
            assert_eq!(copies.len(), 1, "{copies:?}");
            let (copy, program) = (copies[0].metadata().unwrap(), Path::new(PROGRAM).metadata().unwrap());
            assert!(copies[0].ends_with("linerate") && copy.len() < program.len(), "{copies:?}");
        }
    }
    assert!(!last.contains("the program's copy is in"), "{last}");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The number of an ordinary user whom only these tests know.
const ORDINARY: u32 = 54321;

/// How a shell gives the machine one more user, in a mount namespace of its own: `$0` is that user's home.
fn one_more_user() -> String {
    format!(
        "cp /etc/passwd \"$0/passwd\" && echo \"ordinary:x:{ORDINARY}:{ORDINARY}::$0:/bin/sh\" >> \"$0/passwd\" && \
         mount --bind \"$0/passwd\" /etc/passwd && chown {ORDINARY}:{ORDINARY} \"$0\" && chmod 755 \"$0\"/.. \"$0\""
    )
}

#[test]
fn hosts_are_diagnosed_as_an_ordinary_user() {
    let fixture = Fixture::new(2);
    let folder = fixture.folder.path();
    let daemons = [0, 1].map(|host| {
        let (home, script) = (folder.join(format!("ordinary-{host}")), one_more_user());
        sshd_with(&fixture.lab, host, folder, PORT + 10, Some((&home, &script)))
    });
    let hosts =
        [0, 1].map(|host| format!("ssh://ordinary@{}:{}", fixture.lab.hosts()[host].address, PORT + 10));
    let out = folder.join("out");
    let mut command = fixture.lab.hosts()[0].command(PROGRAM);
    command.args(["diagnose", &hosts.join(","), "--base", "socket.send-buffer=4KiB", "--budget", "14s"]);
    command.args(["--quiet", "--format", "json", "--ssh", &fixture.ssh, "--output"]).arg(&out);
    let output = command.env("LINERATE_STATE", folder.join("state")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert!(matches!(output.status.code(), Some(10 | 11)), "{:?} {errors}", output.status);
    let verdicts = report["verdicts"].as_array().unwrap();
    let buffer = verdicts.iter().find(|one| one["cause"] == "small-send-buffer").unwrap();
    assert!(buffer["gain"]["estimate"].as_f64() > Some(0.1), "{buffer}");
    // The agents are that user's, who may change nothing of the hosts, and none of them is left.
    let lines = std::fs::read_to_string(recording(&out)).unwrap();
    assert_eq!(lines.matches(r#""reached":"ssh://ordinary@"#).count(), 2);
    await_condition("the agents to be gone", || daemons.iter().all(|daemon| agent_of(daemon).is_none()));
}
