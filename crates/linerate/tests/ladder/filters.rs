//! Packet filters of a lab: each kind is loaded and met, stands where it is to stand, and is gone for the next case, also
//! where the process that loaded it was killed.

use crate::user::nobody;
use crate::user::runs::{command, recording, report, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

const PLAN: &str = r#"
name = "mine"
[[case]]
id = "kinds"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
[case.vary]
"filter.kind" = ["nft-list", "nft-set", "nft-map", "iptables-nft", "iptables-legacy", "ipset"]
"filter.rules" = ["601"]
"filter.state" = ["state-last"]
[[case]]
id = "port"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
[case.vary]
"filter.kind" = ["tc-bpf"]
"filter.match" = ["none", "last"]
"filter.rules" = ["3001"]
[[case]]
id = "places"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
[case.vary]
"filter.at" = ["sender", "router"]
"filter.rules" = ["5"]
[[case]]
id = "fits"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
[case.vary]
"filter.kind" = ["iptables-legacy"]
"filter.match" = ["middle"]
"filter.rules" = ["5"]
"filter.state" = ["state-first"]
[[case]]
id = "plain"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
"#;

fn lines_of(folder: &std::path::Path) -> Vec<Value> {
    let recorded = std::fs::read_to_string(recording(folder)).unwrap();
    recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The packets that the rules of each host counted in the steps of an arm, and the exchanges that it had: nothing where it
/// has none.
fn met(lines: &[Value], arm: u64) -> BTreeMap<String, (u64, u64)> {
    let is_of = |line: &&Value| line["pass"] == 1 && line["case"]["arm"].as_u64().unwrap_or(0) == arm;
    let of_arm = |event: &'static str| lines.iter().filter(is_of).filter(move |line| line["event"] == event);
    let exchanges = |trial: &Value| {
        let count = |key: &str| trial["block"][key].as_u64().unwrap();
        count("slices") * count("messages")
    };
    let exchanged: u64 = of_arm("trial").map(exchanges).sum();
    let mut met: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for host in of_arm("step").flat_map(|step| step["hosts"].as_array().unwrap()) {
        if let Some(packets) = host["counters"]["filter.packets"].as_u64() {
            met.entry(host["host"].as_str().unwrap().to_owned()).or_insert((0, exchanged)).0 += packets;
        }
    }
    met
}

/// What the sessions of an arm say that was granted of a knob.
fn granted(lines: &[Value], arm: u64, knob: &str) -> Vec<String> {
    let is_of = |line: &&Value| line["event"] == "session" && line["arm"].as_u64().unwrap_or(0) == arm;
    let all = lines.iter().filter(is_of).flat_map(|line| line["granted"].as_array().unwrap().clone());
    let of_knob = all.filter(|one| one["knob"] == knob);
    let mut values: Vec<String> = of_knob.map(|one| one["granted"].as_str().unwrap().to_owned()).collect();
    values.dedup();
    values
}

#[test]
fn filters_stand_for_a_case_and_are_met() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let plan = plan.to_str().unwrap();
    let run = run(&["lab:hosts=3", "--plan", plan, "--profile", "quick", "--passes", "1"]);
    let report = run.report();
    let left_out = report["suites"][0]["left_out"].as_array().unwrap();
    assert!(left_out.is_empty(), "{left_out:?}");
    let lines = lines_of(run.folder.path());
    let hosts = |arm: u64| met(&lines, arm).into_keys().collect::<Vec<_>>();
    for (arm, rules, place) in (1..=6)
        .map(|arm| (arm, "601", "b"))
        .chain([(7, "3001", "b"), (8, "3001", "b")])
        .chain([(9, "5", "a"), (10, "5", "c"), (11, "5", "b")])
    {
        assert_eq!(granted(&lines, arm, "filter.rules"), [rules], "arm {arm}");
        assert_eq!(hosts(arm), [place], "arm {arm}");
        // An exchange is a packet each way; a router's rules meet both. What else there is acknowledges.
        let (packets, exchanges) = met(&lines, arm)[place];
        let least = if place == "c" { 2 * exchanges } else { exchanges };
        assert!(
            exchanges > 0 && (least..2 * least + 20).contains(&packets),
            "arm {arm}: {packets}, {exchanges}"
        );
    }
    assert_eq!(granted(&lines, 5, "filter.kind"), ["iptables-legacy"]);
    assert_eq!(
        (granted(&lines, 11, "filter.match"), granted(&lines, 11, "filter.state")),
        (vec!["middle".into()], vec!["state-first".into()])
    );
    assert_eq!((hosts(0), granted(&lines, 0, "filter.rules")), (vec![], vec![]), "no filter is left");
}

/// Their hosts are in a user namespace, where one message to the kernel holds few rules.
#[test]
fn an_ordinary_users_filters_are_met_too() {
    nobody::runs_them_too(&["filters_stand_for_a_case_and_are_met"], &[]);
}

const MANY: &str = r#"
name = "many"
[[case]]
id = "request"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "1"
trial = "200ms"
[case.vary]
"filter.kind" = ["nft-list"]
"filter.rules" = ["0", "20000"]
[[claim]]
says = "a rule costs a round trip"
y = "round-trip"
of = { case = "request" }
slope = "rules"
above = 0.0
"#;

/// The same, before every other process of the machine where that may be: what they do would decide otherwise.
fn before_others(command: &Command) -> Command {
    let mut first = Command::new(if nobody::is_root() { "chrt" } else { "env" });
    first.args(if nobody::is_root() { &["-f", "10"][..] } else { &[] });
    first.arg(command.get_program()).args(command.get_args());
    first.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    first
}

#[test]
fn each_of_many_rules_lengthens_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("many.toml");
    std::fs::write(&plan, MANY).unwrap();
    let arguments = ["lab", "--plan", plan.to_str().unwrap(), "--profile", "quick", "--passes", "6"];
    let output = before_others(&command(folder.path(), &arguments)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let claim = &report(&recording(folder.path()))["suites"][0]["claims"][0];
    assert_eq!((&claim["holds"], &claim["unit"]), (&json!("yes"), &json!("ns")), "{claim}");
    // Less than a comparison takes, and more than a second for all of them, would be something else.
    let cost = claim["value"]["median"].as_f64().unwrap();
    assert!((0.5..50_000.0).contains(&cost), "{claim}");
}

/// Commands on the hosts of a lab of its own.
struct Kept(tempfile::TempDir);

impl Kept {
    fn lab(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(nobody::program());
        command.env("XDG_RUNTIME_DIR", self.0.path()).arg("lab").args(arguments);
        command
    }

    fn said(&self, arguments: &[&str]) -> String {
        let output = self.lab(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn agent(&self, host: &str) -> Agent {
        let program = nobody::program();
        let mut command = self.lab(&["exec", host, "--", program.to_str().unwrap(), "agent"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Agent { child, output, number: 0 }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.lab(&["down", "--all", "--kill"]).output();
    }
}

struct Agent {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    number: u64,
}

impl Agent {
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.number, "method": method, "params": params });
        writeln!(self.child.stdin.as_ref().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn order(kind: &str, at: &str, hook: &str) -> Value {
    let tracking = if kind == "tc-bpf" { "stateless" } else { "state-last" };
    let filter = json!({ "rules": 9, "kind": kind, "fits": "none", "tracking": tracking, "at": at });
    let routes = if at == "router" { json!([["198.18.0.1", "198.18.0.3"]]) } else { json!([]) };
    json!({ "filter": filter, "hook": hook, "routes": routes })
}

#[test]
fn what_a_killed_agent_has_loaded_is_swept() {
    let lab = Kept(tempfile::tempdir().unwrap());
    lab.said(&["up", "hosts=3", "--detach"]);
    let stands = || {
        let rules = lab.said(&["exec", "b", "--", "/usr/sbin/nft", "list", "ruleset"]);
        let routes = lab.said(&["exec", "b", "--", "cat", "/proc/net/route"]);
        let queueing = lab.said(&["exec", "b", "--", "/usr/sbin/tc", "qdisc", "show"]);
        (rules.trim().to_owned(), routes.lines().count(), queueing)
    };
    let empty = stands();
    assert_eq!(empty.0, "");
    let none = json!({ "filter": null, "hook": null, "routes": [] });
    for (kind, at, hook) in [
        ("nft-map", "receiver", "input"),
        ("ipset", "router", "forward"),
        ("iptables-legacy", "sender", "output"),
        ("tc-bpf", "receiver", "input"),
    ] {
        let mut agent = lab.agent("b");
        let told = agent.ask("filter", order(kind, at, hook));
        assert_eq!(told["result"][0]["granted"], "9", "{kind}: {told}");
        assert!(stands().0.contains("linerate-met"), "{kind}");
        agent.child.kill().unwrap();
        agent.child.wait().unwrap();
        assert_ne!(stands(), empty, "{kind}: the host outlives its agent");
        let mut next = lab.agent("b");
        let told = next.ask("filter", none.clone());
        assert_eq!(told["result"], json!([]), "{told}");
        assert_eq!(stands(), empty, "{kind}");
        drop(next.child.stdin.take());
        next.child.wait().unwrap();
    }
}
