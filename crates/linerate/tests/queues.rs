//! Queues of an adapter, and what is set on each: changed, put back, and left where somebody else has a hand in it.

use crate::user::runs::PROGRAM;
use linerate::lab::Lab;
use linerate::plan::{HostAddress, Setting, Topology};
use linerate::record::Granted;
use linerate::run::host_settings::{Became, HostSettings};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A cable of four queues, on whatever host this runs.
const CABLE: &str = "ip link add many0 numrxqueues 4 numtxqueues 4 type veth peer name many1 numrxqueues 4 \
     numtxqueues 4 && ip addr add 10.77.0.1/24 dev many0 && ip link set many0 up && ip link set many1 up";
const QUEUES: &str = "/sys/class/net/many0/queues";
const LEFT_OUT: &str = "left out: ";
const BASE: &str = "LINERATE_TEST_SETTINGS";

fn lab() -> Lab {
    Lab::build(&Topology::default(), Path::new(PROGRAM)).unwrap()
}

/// What a shell prints, on this host or on one of a lab.
fn printed(mut command: Command, script: &str) -> String {
    let output = command.args(["-c", script]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn here(script: &str) -> String {
    printed(Command::new("sh"), script)
}

fn on_host(lab: &Lab, script: &str) -> String {
    printed(lab.hosts()[0].command("sh"), script)
}

/// Runs a part of a test on a host of the lab, behind a script; what the part left out is a skip of the test.
fn run(test: &str, lab: &Lab, before: &str, part: &str) {
    let program = std::env::current_exe().unwrap();
    let script = format!("{before} {} --exact queues::{part} --ignored --nocapture", program.display());
    let said = on_host(lab, &script);
    assert!(said.contains("1 passed"), "{said}");
    if let Some((_, why)) = said.lines().find_map(|line| line.split_once(LEFT_OUT)) {
        println!("SKIP: {test}: {why}");
    }
}

fn settings(texts: &[&str]) -> Vec<Setting> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn address() -> HostAddress {
    "10.77.0.1".parse().unwrap()
}

/// The masks of the receive queues that there are.
fn masks() -> Vec<String> {
    here(&format!("cat {QUEUES}/rx-*/rps_cpus")).lines().map(String::from).collect()
}

/// Whether this user may steer at all: the kernel asks for the machine's own root (net/core/net-sysfs.c).
fn may_steer() -> bool {
    here(&format!("echo 0 2>/dev/null >{QUEUES}/rx-0/rps_cpus && echo yes || echo no")) == "yes"
}

/// All CPUs of this machine as the kernel prints them.
fn all_cpus() -> String {
    let count: u32 = here("ls -d /sys/devices/system/cpu/cpu*/topology | wc -l").parse().unwrap();
    format!("{:x}", u128::MAX >> (128 - count.min(128)))
}

#[test]
fn queues_and_their_steering_are_put_back() {
    let test = "queues_and_their_steering_are_put_back";
    run(test, &lab(), &format!("{CABLE};"), "a_host_s_queues_are_set");
}

#[test]
#[ignore = "a part, which runs on a host of a lab"]
fn a_host_s_queues_are_set() {
    let folder = TempDir::new().unwrap();
    let mut host = HostSettings::new(folder.path());
    host.is_transient(true);
    let mut set = |texts: &[&str]| host.set(&settings(texts), Some(&address())).unwrap();
    let as_asked = |granted: &[Granted]| granted.iter().all(Granted::is_as_asked);
    let granted = set(&["host.queues=3"]);
    assert!(as_asked(&granted) && masks().len() == 3, "{granted:?}");
    let granted = set(&["host.queues=5"]);
    let said = granted[0].granted.as_deref().unwrap();
    assert!(!as_asked(&granted) && said.starts_with("rx=3 tx=3 ("), "{granted:?}");
    set(&[]);
    assert_eq!(masks().len(), 4);
    if !may_steer() {
        return println!("{LEFT_OUT}this user may not steer packets");
    }
    let (all, none) = (all_cpus(), masks()[0].clone());
    let is_all = |mask: &String| mask.trim_start_matches(['0', ',']).replace(',', "") == all;
    // In whatever order they are asked for, queues come before what is set on them.
    let (few, many) = ("host.queues=2", "host.queues=4");
    let steered = "host.receive-packet-steering=on";
    for (asked, count) in
        [([steered, few].as_slice(), 2), (&[many, steered], 4), (&[steered, few], 2), (&[steered], 4)]
    {
        let granted = set(asked);
        assert!(as_asked(&granted) && granted[0].knob == settings(asked)[0].knob, "{granted:?}");
        assert!(masks().len() == count && masks().iter().all(is_all), "{asked:?}: {:?}", masks());
    }
    set(&[]);
    assert_eq!(masks(), vec![none; 4]);
    assert_eq!(host.put_back().unwrap(), []);
}

#[test]
fn what_an_administrator_steers_is_left() {
    let test = "what_an_administrator_steers_is_left";
    run(test, &lab(), &format!("{CABLE};"), "an_administrator_steers_a_queue");
}

#[test]
#[ignore = "a part, which runs on a host of a lab"]
fn an_administrator_steers_a_queue() {
    if !may_steer() || all_cpus() == "1" {
        return println!("{LEFT_OUT}this user may not steer packets, or there is one CPU");
    }
    let folder = TempDir::new().unwrap();
    let mut host = HostSettings::new(folder.path());
    host.is_transient(true);
    here(&format!("echo 1 > {QUEUES}/rx-2/rps_cpus"));
    let before = masks();
    // With the queue would go what is set on it.
    let granted = host.set(&settings(&["host.queues=2"]), Some(&address())).unwrap();
    let said = granted[0].granted.as_deref().unwrap();
    assert!(said.contains("rps_cpus of rx-2 of many0") && masks() == before, "{said}");
    let granted = host.set(&settings(&["host.receive-packet-steering=on"]), Some(&address())).unwrap();
    assert!(granted.iter().all(Granted::is_as_asked), "{granted:?}");
    here(&format!("echo 2 > {QUEUES}/rx-1/rps_cpus"));
    let told = host.put_back().unwrap();
    let left: Vec<&str> =
        told.iter().filter(|one| one.became == Became::Left).map(|one| one.place.as_str()).collect();
    assert_eq!(left, ["rps_cpus of rx-1 of many0"]);
    let now = masks();
    assert!(now[0] == before[0] && now[2] == before[2] && now[1] != before[1], "{now:?}");
}

/// An interface of the same name is in the namespace that sysfs shows.
#[test]
fn sysfs_of_another_namespace_is_refused() {
    let lab = lab();
    run(
        "sysfs_of_another_namespace_is_refused",
        &lab,
        &format!("{CABLE}; unshare --net sh -c '{CABLE}; exec \"$@\"' sh"),
        "a_stranger_s_queues_are_refused",
    );
    let found = on_host(&lab, &format!("cat {QUEUES}/rx-*/rps_cpus | tr -d '0,\\n'"));
    assert_eq!(found, "");
}

#[test]
#[ignore = "a part, which runs where sysfs shows another namespace"]
fn a_stranger_s_queues_are_refused() {
    let folder = TempDir::new().unwrap();
    let mut host = HostSettings::new(folder.path());
    host.is_transient(true);
    let asked = settings(&["host.receive-packet-steering=on", "host.queues=2"]);
    for granted in host.set(&asked, Some(&address())).unwrap() {
        let said = granted.granted.unwrap();
        assert!(said.contains("does not show many0 of this network namespace"), "{said}");
    }
    assert_eq!(host.put_back().unwrap(), []);
}

#[test]
fn queues_are_put_back_after_a_kill() {
    let (lab, folder) = (lab(), TempDir::new().unwrap());
    let base = folder.path().join("linerate");
    std::fs::create_dir(&base).unwrap();
    std::fs::set_permissions(&base, PermissionsExt::from_mode(0o700)).unwrap();
    on_host(&lab, CABLE);
    let mut part = lab.hosts()[0].command(std::env::current_exe().unwrap());
    let part = part.args(["--exact", "queues::queues_are_set_until_killed", "--ignored", "--nocapture"]);
    let mut part = part.env(BASE, &base).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(part.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.into_iter().find_map(|line| line.split_once("set: ").map(|(_, said)| said.to_owned()));
    part.kill().unwrap();
    part.wait().unwrap();
    let steered = said.expect("it ended by itself") == "steered";
    let state = format!("ls {QUEUES} | grep -c rx-; cat {QUEUES}/rx-1/rps_cpus | tr -d '0,'");
    let set = on_host(&lab, &state);
    assert!(set.starts_with('2') && (set.lines().count() == 2 || !steered), "{set}");
    if steered {
        on_host(&lab, &format!("echo 1 > {QUEUES}/rx-0/rps_cpus"));
    }
    let mut undo = lab.hosts()[0].command(PROGRAM);
    let output = undo.arg("undo").env("XDG_RUNTIME_DIR", folder.path()).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("queues of many0 is rx=4 tx=4 again"), "{printed}");
    let is_left = "rps_cpus of rx-0 of many0 is 1, which somebody else made it meanwhile";
    assert_eq!(printed.contains(is_left), steered, "{printed}");
    assert_eq!(on_host(&lab, &state), "4");
    if !steered {
        println!(
            "SKIP: queues_are_put_back_after_a_kill: this user may not steer packets, or there is one CPU"
        );
    }
}

#[test]
#[ignore = "a part, which runs on a host of a lab until it is killed"]
fn queues_are_set_until_killed() {
    let mut host = HostSettings::new(Path::new(&std::env::var(BASE).unwrap()));
    let asked = settings(&["host.queues=2", "host.receive-packet-steering=on"]);
    let granted = host.set(&asked, Some(&address())).unwrap();
    // With one CPU nobody can make of it anything else.
    let is_steered = granted[1].is_as_asked() && all_cpus() != "1";
    println!("set: {}", if is_steered { "steered" } else { "queues" });
    std::thread::sleep(Duration::from_secs(60));
}
