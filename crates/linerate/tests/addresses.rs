//! Hosts that cannot be reached everywhere: one open port, one direction, addresses that hold on one link only.

use crate::user::runs::{PROGRAM, await_condition, entry, recording, report};
use linerate::lab::Lab;
use linerate::plan::Topology;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// An ssh that is none: it enters the network of host b, as ssh's options let it.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --) shift; break;; -p) shift 2;; -*) shift;; *) break;; esac; done
shift
export HOME="$FOLDER" SSH_CONNECTION="$CONNECTION"
exec nsenter --net="$NETWORK" sh -c "$*"
"#;

/// Two hosts, of which b is reached by that.
struct Fixture {
    /// Keeps the network of host b open by its number.
    keeper: Child,
    lab: Lab,
    folder: TempDir,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

impl Fixture {
    fn new() -> Fixture {
        let lab = Lab::build(&Topology::default(), Path::new(PROGRAM)).unwrap();
        let folder = TempDir::new().unwrap();
        let ssh = folder.path().join("ssh");
        fs::write(&ssh, SSH).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        let keeper = lab.hosts()[1].command("sleep").arg("600").spawn().unwrap();
        Fixture { keeper, lab, folder }
    }

    /// Says something on a host, by a shell.
    fn on(&self, host: usize, script: &str) -> Output {
        let mut command = self.lab.hosts()[host].command("/bin/sh");
        command.args(["-c", &format!("PATH=$PATH:/usr/sbin:/sbin; {script}")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    }

    /// Lets host b accept what is named, and treat all else so.
    fn firewall(&self, accept: &str, else_: &str) {
        let script = format!(
            "nft 'flush ruleset; table inet f {{ chain i {{ type filter hook input priority 0; iif lo accept; \
             ct state established accept; meta l4proto ipv6-icmp accept; {accept} {else_} }}; }}'"
        );
        let output = self.on(1, &script);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Gives a host a link-local address; a lab's interfaces make none, and ask for none.
    fn link_local(&self, host: usize) -> String {
        let address = format!("fe80::{}", ["a", "b"][host]);
        let output = self
            .on(host, &format!("ip link set wire0 arp on; ip -6 address add {address}/64 dev wire0 nodad"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        address
    }

    /// Measures from host a to host b, which was reached over this connection.
    fn run(&self, connection: &str, arguments: &[&str]) -> Output {
        let mut command: Command = self.lab.hosts()[0].command(PROGRAM);
        command
            .args([
                "run",
                "ssh://b",
                "--profile",
                "quick",
                "--passes",
                "1",
                "--quiet",
                "--sizes",
                "64",
                "--no-page",
            ])
            .args(["--set", "tcp.congestion-control=cubic"])
            .args(arguments)
            .arg("--ssh")
            .arg(self.folder.path().join("ssh"))
            .arg("--output")
            .arg(self.folder.path().join("out"))
            .env("LINERATE_STATE", self.folder.path().join("state"))
            .env("FOLDER", self.folder.path())
            .env("CONNECTION", connection)
            .env("NETWORK", format!("/proc/{}/ns/net", self.keeper.id()));
        let _ = fs::remove_dir_all(self.folder.path().join("out"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    }

    /// How ssh usually reaches host b.
    fn usual(&self) -> String {
        let [a, b] = [0, 1].map(|host| self.lab.hosts()[host].address);
        format!("{a} 50000 {b} 22")
    }

    fn recorded(&self) -> String {
        fs::read_to_string(recording(&self.folder.path().join("out"))).unwrap()
    }

    /// Measures a few messages over each of these rungs.
    fn measure(&self, rungs: &[&str], arguments: &[&str]) {
        let case = |rung: &&str| {
            let id = rung.replace('.', "-");
            format!("[[case]]\nid = \"{id}\"\nrung = \"{rung}\"\nsizes = \"64\"\ntrial = \"20ms\"\n")
        };
        let cases: String = rungs.iter().map(case).collect();
        let ids: Vec<String> = rungs.iter().map(|rung| rung.replace('.', "-")).collect();
        let figure = "[[figure]]\nid = \"all\"\ntitle = \"all\"\nx = \"size\"\ny = \"throughput\"\n";
        let plan = self.folder.path().join("mine.toml");
        fs::write(&plan, format!("name = \"mine\"\n{cases}{figure}cases = {ids:?}\n")).unwrap();
        let output = self.run(&self.usual(), &[arguments, &["--plan", plan.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let report = report(&recording(&self.folder.path().join("out")));
        let series = report["suites"][0]["figures"][0]["series"].as_array().unwrap();
        let is_measured =
            |series: &serde_json::Value| series["points"][0]["value"]["median"].as_f64() > Some(0.0);
        assert!(series.len() == rungs.len() && series.iter().all(is_measured), "{}", report["suites"]);
    }
}

/// All that the program said.
fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Each end of each connection of a host's network sessions, its own port first.
fn ports(recorded: &str, host: &str) -> Vec<(u16, u16)> {
    let mut all = Vec::new();
    for line in recorded.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_here = value["event"] == "session" && value["host"] == host;
        if !is_here || !value["rung"].as_str().is_some_and(|rung| rung.starts_with("network.")) {
            continue;
        }
        for ends in value["endpoints"].as_array().unwrap() {
            let mut ports =
                ends.as_str().unwrap().split(' ').map(|end| end.rsplit(':').next().unwrap().parse().unwrap());
            all.push((ports.next().unwrap(), ports.next().unwrap()));
        }
    }
    all
}

#[test]
fn one_open_port_is_enough_for_all_rungs() {
    let fixture = Fixture::new();
    fixture.firewall("tcp dport 5201 accept; udp dport 5201 accept;", "drop;");
    let rungs = ["network.tcp", "network.udp", "network.tls", "network.quic", "network.udp6"];
    let [a6, b6] = [0, 1].map(|host| fixture.lab.hosts()[host].address6.unwrap());
    let [a6, b6] = [format!("a={a6}"), format!("b={b6}")];
    let [a4, b4] = [0, 1].map(|host| fixture.lab.hosts()[host].address);
    let [a4, b4] = [format!("a={a4}"), format!("b={b4}")];
    let addresses = ["--address", &a4, "--address", &b4, "--address", &a6, "--address", &b6];
    fixture.measure(&rungs, &[&["--ports", "5201"], &addresses[..]].concat());
    let ports = ports(&fixture.recorded(), "b");
    assert!(ports.len() >= rungs.len() && ports.iter().all(|(own, _)| *own == 5201), "{ports:?}");
}

#[test]
fn a_firewall_is_told_by_its_port_and_what_it_does() {
    let fixture = Fixture::new();
    for (else_, rung, ports, parts) in [
        ("reject with tcp reset;", "network.tcp", "7001", ["TCP port 7001 of 198.18.", "rejects"]),
        ("reject;", "network.udp", "5201", ["UDP port 5201 of 198.18.", "rejects"]),
        (
            "drop;",
            "network.tcp",
            "7001-7009",
            ["TCP port 7001 of 198.18.", "gave no answer: a firewall drops"],
        ),
    ] {
        let else_ = if else_.contains("tcp") { format!("meta l4proto tcp {else_}") } else { else_.into() };
        fixture.firewall("tcp dport 5201 accept;", &else_);
        let usual = fixture.usual();
        let output = fixture.run(&usual, &["--ports", ports, "--only", rung]);
        let said = said(&output);
        assert!(parts.iter().all(|part| said.contains(part)), "{else_} {parts:?}: {said}");
        assert!(said.contains("--ports 5201") && !said.contains("each other there: ping"), "{else_}: {said}");
    }
}

#[test]
fn who_can_be_reached_listens() {
    let fixture = Fixture::new();
    fixture.firewall("", "drop;");
    fixture
        .measure(&["network.tcp", "network.udp", "network.quic"], &["--connect", "b>a", "--ports", "6001"]);
    let ports = ports(&fixture.recorded(), "a");
    assert!(!ports.is_empty() && ports.iter().all(|(own, _)| *own == 6001), "{ports:?}");
}

#[test]
fn link_local_addresses_have_the_zone_of_their_host() {
    let fixture = Fixture::new();
    // The same number is another interface at the other end.
    fixture.on(1, "ip link add other type dummy; ip link set other up");
    let [a, b] = [0, 1].map(|host| fixture.link_local(host));
    let connection = format!("{a}%wire0 50000 {b}%wire0 22");
    let output = fixture.run(&connection, &["--only", "network.tcp"]);
    assert!(output.status.success(), "{}", said(&output));
    let report = report(&recording(&fixture.folder.path().join("out")));
    let both = ["a>b", "b>a"].map(|direction| entry(&report, "network.tcp", Some(direction), 1));
    let is_measured = |entry: &&serde_json::Value| entry["throughput_bps"]["median"].as_f64() > Some(0.0);
    assert!(both.iter().all(is_measured), "{both:?}");
    let said_ = said(&output);
    assert!(said_.contains("over IPv6") && said_.contains(&format!("{b}%wire0")), "{said_}");
    let wrong = format!("b={b}%other");
    let output = fixture.run(&fixture.usual(), &["--only", "network.tcp", "--address", &wrong]);
    let text = said(&output);
    assert!(output.status.code() == Some(3) && text.contains("it is wire0"), "{text}");
    assert!(text.contains(&format!("{b}%wire0")), "{text}");
}

#[test]
fn ports_that_cannot_be_had_are_told_before_a_run() {
    let run = |ports: &str| {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["run", "lab", "--quiet", "--only", "network.tcp", "--ports", ports, "--output"]);
        command.arg(folder.path()).env("LINERATE_STATE", folder.path().join("state")).output().unwrap()
    };
    for (ports, part) in
        [("0", "names no ports"), ("7-3", "ends before it begins"), ("http", "names no ports")]
    {
        let output = run(ports);
        assert!(output.status.code() == Some(2) && said(&output).contains(part), "{}", said(&output));
    }
    let fixture = Fixture::new();
    let mut server = fixture.lab.hosts()[1].command("iperf3");
    let mut server = server.args(["-s", "-p", "5201"]).stdout(Stdio::null()).spawn().unwrap();
    await_condition("iperf3 to listen", || {
        let table =
            |name| fs::read_to_string(format!("/proc/{}/net/{name}", server.id())).unwrap_or_default();
        ["tcp", "tcp6"].map(table).concat().contains(&format!(":{:04X} ", 5201))
    });
    let taken = fixture.run(&fixture.usual(), &["--only", "network.tcp", "--ports", "5201"]);
    let text = said(&taken);
    let wanted =
        format!("TCP port 5201 of {}: is in use by iperf3 (process ", fixture.lab.hosts()[1].address);
    assert!(taken.status.code() == Some(3) && text.contains(&wanted), "{text}");
    // The next one is free.
    let next = fixture.run(&fixture.usual(), &["--only", "network.tcp", "--ports", "5201-5202"]);
    assert!(next.status.success(), "{}", said(&next));
    let ports = ports(&fixture.recorded(), "b");
    assert!(!ports.is_empty() && ports.iter().all(|(own, _)| *own == 5202), "{ports:?}");
    server.kill().unwrap();
    server.wait().unwrap();
}
