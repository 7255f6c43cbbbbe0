//! Faults of the wire move the measurement as their models say, and the wire's own account agrees.

use super::measured::{Measured, measure, measure_round_trips, small, within};
use crate::user::nobody;
use crate::user::ranks::is_of;
use crate::user::runs::{PROGRAM, await_condition, command, recording};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const FAR: &str = "lab:delay=1ms";
const SEGMENT_BITS: f64 = 1448.0 * 8.0;
const ROUND_TRIP_S: f64 = 0.002;

/// What TCP can carry where each packet is lost with this probability.
fn mathis(loss: f64) -> f64 {
    SEGMENT_BITS * 1.22 / (ROUND_TRIP_S * loss.sqrt())
}

/// A share of the packets from a to b, by the wire's account.
fn share(measured: &Measured, count: fn(&linerate::record::LinkAudit) -> u64) -> f64 {
    let packets = measured.link("a-b", |link| link.packets);
    assert!(packets > 1000, "{packets} packets");
    measured.link("a-b", count) as f64 / packets as f64
}

#[test]
fn loss_bounds_the_rate_as_its_root() {
    let lossy = measure(FAR, &["loss=1%"], &[]);
    within("loss=1%: share lost", share(&lossy, |link| link.lost), 0.006..0.014);
    let ratio = lossy.rate() / mathis(0.01);
    within("loss=1%: rate over that of Mathis", ratio, 0.4..2.5);
    assert!(lossy.moved("total_retrans") > 0);
    let burst = measure(FAR, &["burst-loss=1%"], &[]);
    within("burst-loss=1%: share lost", share(&burst, |link| link.lost), 0.002..0.03);
    within("burst-loss: rate over that without bursts", burst.rate() / lossy.rate(), 1.0..f64::INFINITY);
}

#[test]
fn a_loss_of_one_direction_is_of_that_direction() {
    let measured = measure(FAR, &["b-a:loss=2%"], &[]);
    assert_eq!(measured.link("a-b", |link| link.lost), 0);
    assert!(measured.link("b-a", |link| link.lost) > 0);
}

#[test]
fn packets_come_late_or_twice_as_asked() {
    let measured = measure("lab:delay=1ms,rate=1Gb/s", &["reorder=2%", "duplicate=1%"], &[]);
    let (held, twice) = (share(&measured, |link| link.held), share(&measured, |link| link.duplicated));
    within("reorder=2%: share held back", held, 0.015..0.025);
    within("duplicate=1%: share that came twice", twice, 0.007..0.013);
    assert!(measured.moved("reord_seen") > 0 && measured.moved("dsack_dups") > 0);
}

#[test]
fn a_delay_is_half_a_round_trip() {
    let plain = measure_round_trips("lab:wire=user", &[], &small());
    for (fault, each_way_ns) in [("delay=10ms", 10e6), ("asymmetric-delay=20ms", 10e6)] {
        let far = measure_round_trips("lab", &[fault], &small());
        let added = far.half_round_trip_ns() - plain.half_round_trip_ns();
        within(&format!("{fault}: half round trip over 10 ms"), added / each_way_ns, 0.97..1.10);
    }
}

#[test]
fn jitter_spreads_round_trips_around_the_delay() {
    let measured = measure_round_trips("lab:delay=5ms", &["jitter=2ms"], &small());
    let half = measured.half_round_trip_ns();
    within("jitter=2ms: half round trip over 5 ms", half / 5e6, 0.9..1.2);
    let spread = measured.spread_ns();
    // The mean of two ways, each within 2 ms of its delay: the quartiles are 2 (2 - sqrt(2)) ms apart.
    within("jitter=2ms: ns between the quartiles", spread, 0.8e6..1.6e6);
}

#[test]
fn a_policer_lets_no_more_than_its_rate_through() {
    let measured = measure("lab:delay=1ms", &["policer=100Mb/s"], &[]);
    let ratio = measured.rate() / 100e6;
    within("policer=100Mb/s: rate over the policer's", ratio, 0.2..1.02);
    assert!(measured.link("a-b", |link| link.policed) > 0 && measured.moved("total_retrans") > 0);
}

#[test]
fn a_black_hole_swallows_only_large_packets() {
    let fits = measure("lab", &["mtu-black-hole=1400"], &["tcp.mss=1340"]);
    assert!(fits.rate() > 100e6, "{}", fits.rate());
    assert_eq!(fits.link("a-b", |link| link.swallowed), 0);
}

/// The sizes that pass are measured, and where they end is found: with 52 B of headers in packets of 1400 B.
#[test]
fn what_a_black_hole_swallows_costs_its_sizes_alone() {
    let folder = TempDir::new().unwrap();
    let only = ["--only", "network.tcp,in-host.tcp", "--sizes", "64,1024,65536"];
    let faulty = ["lab", "--fault", "mtu-black-hole=1400", "--passes", "1", "--profile", "quick"];
    let output = command(folder.path(), &[&faulty[..], &only].concat()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(12), "{text}");
    let explained = Command::new(PROGRAM).arg("explain").arg(recording(folder.path())).output().unwrap();
    let explained = String::from_utf8_lossy(&explained.stdout);
    let one_line = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "ping-pong sleeping a>b from 1349 B on",
        "1348 B pass, 1349 B do not: packets above 1400 B vanish",
        "--set tcp.mss=1360",
    ] {
        assert!(one_line.contains(told), "{told}: {explained}");
    }
    let measured = |rung: &str| text.lines().any(|line| line.trim().starts_with(rung) && line.contains("µs"));
    assert!(measured("in-host.tcp") && measured("network.tcp"), "{text}");
}

/// The end that receives has waited long enough; the one that sends over the same connection need not wait as well.
#[test]
fn silent_directions_end_together() {
    let folder = TempDir::new().unwrap();
    let plan = folder.path().join("both.toml");
    let text = "name = \"both\"\nabout = \"both\"\n[[case]]\nid = \"both\"\nrung = \"network.tcp\"\n\
                pattern = \"bidirectional\"\nsizes = [\"1MiB\"]\n";
    std::fs::write(&plan, text).unwrap();
    fails_in_time(&["--plan", plan.to_str().unwrap()]);
}

/// Ten seconds without a byte end a trial.
fn fails_in_time(what: &[&str]) {
    let (folder, begun) = (TempDir::new().unwrap(), Instant::now());
    let arguments = [&["lab", "--fault", "mtu-black-hole=1400"], what].concat();
    let output = command(folder.path(), &arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("moved no byte within the time limit"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
}

/// Writes a setting of the network of both hosts of a run that goes on. They are given the time to come up.
fn on_both_hosts(folder: &Path, setting: &str, value: &str) {
    let is_agent = |path: &PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"agent") && is_of(path, folder)
    };
    let mut agents = Vec::new();
    await_condition("both agents", || {
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        agents = all.filter(is_agent).collect();
        agents.len() == 2
    });
    for agent in agents {
        let mut command = Command::new("nsenter");
        let user: &[&str] = if nobody::is_root() { &[] } else { &["--user", "--preserve-credentials"] };
        command.args(user).arg("--net").arg("--target").arg(agent.file_name().unwrap());
        command.args(["sh", "-c", &format!("echo {value} > /proc/sys/net/{setting}")]);
        assert!(command.status().unwrap().success());
    }
}

/// A host keeps for 30 s what lacks a fragment, and then takes no other one: without a wait the exchange after a flood
/// finds nobody. Of 42 fragments one is lost in nine datagrams of ten; 43 such fill the 4 MiB that a host has for them.
#[test]
fn what_a_flood_left_incomplete_is_told() {
    let folder = TempDir::new().unwrap();
    let plan = folder.path().join("flood.toml");
    let text = "name = \"flood\"\nabout = \"flood\"\n[[case]]\nid = \"flood\"\nrung = \"network.udp\"\n\
                pattern = \"stream\"\nsizes = [\"60KiB\"]\ntrial = \"1s\"\n[[case]]\nid = \"request\"\n\
                rung = \"network.udp\"\npattern = \"ping-pong\"\nwait = \"sleeping\"\nsizes = [\"2KiB\"]\n";
    std::fs::write(&plan, text).unwrap();
    let how = ["--profile", "quick", "--passes", "1", "--plan", plan.to_str().unwrap()];
    let run = command(folder.path(), &[&["lab:a-b.loss=5%"], &how[..]].concat()).spawn().unwrap();
    // A second is told from none as well as half a minute is.
    on_both_hosts(folder.path(), "ipv4/ipfrag_time", "1");
    let output = run.wait_with_output().unwrap();
    // Of the flood it may be that nothing came.
    assert!([Some(0), Some(12)].contains(&output.status.code()), "{output:?}");
    let explained = Command::new(PROGRAM).arg("explain").arg(recording(folder.path())).output().unwrap();
    let told = String::from_utf8_lossy(&explained.stdout);
    assert!(told.contains("reassembly-failed"), "{told}");
}
