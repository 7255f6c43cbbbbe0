//! What a host is like with a fault, and that no other host is.

use super::nobody::{self, program};
use linerate::lab::{InForce, Lab, VirtualHost};
use linerate::plan::Topology;
use linerate_sys::ethtool::{Ethtool, OFFLOADS};
use linerate_sys::firewall::nftables_rules;
use linerate_sys::link::routes;
use serde_json::{Value, json};
use std::fs;

/// How a line begins that a part says to the test.
const MARK: &str = "says ";

fn lab(faults: &[&str]) -> Lab {
    let faults = faults.iter().map(|text| text.parse().unwrap());
    let topology = Topology::default().with_faults(faults).unwrap();
    Lab::build(&topology, &program()).unwrap()
}

/// What a host says about itself.
fn facts(host: &VirtualHost) -> Value {
    let mut command = host.command("/proc/self/exe");
    let output =
        command.args(["--exact", "--ignored", "--nocapture", "faults::hosts::part_tells_facts"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let said = text.lines().find_map(|line| line.strip_prefix(MARK));
    serde_json::from_str(said.unwrap_or_else(|| panic!("{text}"))).unwrap()
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_tells_facts() {
    let setting = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let ethtool = Ethtool::open().unwrap();
    let offloads = OFFLOADS.iter().map(|offload| ethtool.offload("wire0", offload).unwrap());
    println!(
        "\n{MARK}{}",
        json!({
            "tcp_rmem": setting("tcp_rmem"),
            "tcp_wmem": setting("tcp_wmem"),
            "tcp_window_scaling": setting("tcp_window_scaling"),
            "tcp_sack": setting("tcp_sack"),
            "tcp_timestamps": setting("tcp_timestamps"),
            "offloads": offloads.collect::<Vec<_>>(),
            "rules": nftables_rules().unwrap(),
            "begins_with_two": routes().unwrap().iter().any(|route| {
                route.metrics.iter().any(|metric| metric == "InitCwnd(2)")
            }),
        })
    );
}

#[test]
fn a_fault_is_on_its_host_alone() {
    let small = json!("4096 65536 65536");
    let cases: [(&str, &[(&str, Value)]); 8] = [
        ("small-buffers=64KiB", &[("tcp_rmem", small.clone()), ("tcp_wmem", small)]),
        ("window-scaling-off", &[("tcp_window_scaling", json!("0"))]),
        ("sack-off", &[("tcp_sack", json!("0"))]),
        ("timestamps-off", &[("tcp_timestamps", json!("0"))]),
        ("offload-off", &[("offloads", json!([false, false, false]))]),
        ("firewall-rules=1001", &[("rules", json!(4 * 1001))]),
        ("conntrack", &[("rules", json!(2))]),
        ("small-initial-window=2", &[("begins_with_two", json!(true))]),
    ];
    let plain = facts(&lab(&[]).hosts()[0]);
    for (fault, changed) in cases {
        let lab = lab(&[&format!("b:{fault}")]);
        let [a, b] = lab.hosts() else { panic!("two hosts") };
        assert_eq!(facts(a), plain, "{fault}");
        let mut expected = plain.clone();
        changed.iter().for_each(|(name, value)| expected[*name] = value.clone());
        assert_ne!(expected, plain, "{fault}");
        assert_eq!(facts(b), expected, "{fault}");
        let [InForce { fault: named, place, granted }] = lab.faults() else { panic!("{:?}", lab.faults()) };
        assert_eq!((named.as_str(), place.as_str()), (format!("b:{fault}").as_str(), "b"));
        assert!(!granted.is_empty(), "{fault}");
    }
}

#[test]
fn a_fault_without_a_place_is_on_every_host() {
    let lab = lab(&["sack-off", "firewall-rules=2"]);
    for host in lab.hosts() {
        let facts = facts(host);
        assert_eq!((&facts["tcp_sack"], &facts["rules"]), (&json!("0"), &json!(8)), "{}", host.name);
    }
    assert_eq!(lab.faults().len(), 4);
}

#[test]
fn connections_are_tracked_where_that_is_a_fault() {
    for (faults, tracked) in [(&[][..], 0), (&["conntrack"], 1)] {
        let lab = lab(faults);
        // A datagram that nobody waits for is remembered for half a minute.
        let script = "echo x > /dev/udp/198.18.0.2/9; \
                      cat /proc/sys/net/netfilter/nf_conntrack_count 2>/dev/null || echo 0";
        let output = lab.hosts()[0].command("bash").args(["-c", script]).output().unwrap();
        let count = String::from_utf8(output.stdout).unwrap();
        assert_eq!(count.trim(), tracked.to_string(), "{faults:?}");
    }
}

#[test]
fn a_cpu_that_may_not_be_used_is_said() {
    let topology = Topology::default().with_faults(["cpu-hog=1023".parse().unwrap()]).unwrap();
    let error = Lab::build(&topology, &program()).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("the fault cpu-hog=1023 cannot be put in"), "{error}");
    assert!(error.hint().unwrap().contains("those that may be used are 0"), "{:?}", error.hint());
}

#[test]
fn a_disk_is_put_in_or_it_is_said_why_not() {
    let topology = Topology::default().with_faults(["b:slow-disk".parse().unwrap()]).unwrap();
    let built = Lab::build(&topology, &program());
    match super::disks::may_serve() {
        true => assert!(built.unwrap().faults()[0].granted.contains("fuse.linerate")),
        false => {
            let error = built.unwrap_err();
            assert_eq!(error.exit_code(), 3);
            assert!(error.to_string().contains("the fault b:slow-disk=100Mb/s cannot be put in"), "{error}");
            assert!(error.hint().unwrap().contains("/dev/fuse"), "{:?}", error.hint());
        }
    }
}

/// Runs the tests of this file again.
#[test]
fn an_ordinary_user_can_do_it_too() {
    nobody::runs_them_too(&["faults::hosts::"], &[]);
}
