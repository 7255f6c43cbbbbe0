//! What the lab's wires carry: the largest packets, and IPv6.

use super::*;

#[test]
fn every_port_has_the_mtu_asked_for() {
    for (hosts, mtu) in [(2, 576), (2, 65535), (3, 9000)] {
        let lab = lab(Topology { hosts, mtu, ..Topology::default() });
        for host in lab.hosts() {
            assert_eq!(facts(host)["mtu"], mtu, "{hosts} hosts, {}", host.name);
        }
        // A port in between with a smaller MTU would swallow full packets.
        transfer(&lab.hosts()[0], &lab.hosts()[1]);
    }
}

#[test]
fn only_what_is_sent_by_ipv6_crosses() {
    for hosts in [2, 3] {
        let lab = lab(Topology { hosts, ..Topology::default() });
        let [a, b, ..] = lab.hosts() else { panic!("{hosts} hosts") };
        let (Some(source), Some(target)) = (a.address6, b.address6) else {
            println!("SKIP: this kernel has no IPv6");
            return;
        };
        transfer_between((a, source), (b, target));
        let bytes = facts(b)["bytes"].as_u64().unwrap() as usize;
        // Headers, and what TCP says to open and close; a second transfer would be twice as much.
        assert!((BYTES..BYTES + BYTES / 4).contains(&bytes), "{bytes} B crossed");
        for host in &lab.hosts()[2..] {
            assert!(facts(host)["bytes"].as_u64().unwrap() < BYTES as u64 / 100, "{}", host.name);
        }
    }
}

#[test]
fn a_port_too_small_for_ipv6_has_no_address() {
    let hosts = |mtu| lab(Topology { mtu, ..Topology::default() });
    assert!(hosts(1279).hosts().iter().all(|host| host.address6.is_none()));
}
