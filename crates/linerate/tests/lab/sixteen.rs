//! A lab of sixteen hosts: as many as a small cluster has.

use super::*;
use linerate::plan::Target;

/// How far apart the hosts of a pair are in the list: neighbours, a long way, and both ways.
const STRIDES: [usize; 3] = [1, 5, 13];

#[test]
fn sixteen_hosts_reach_each_other() {
    reach_each_other(&lab(Topology { hosts: 16, ..Topology::default() }));
}

/// One process carries the frames of all of them.
#[test]
fn sixteen_hosts_reach_each_other_over_the_wire() {
    let Ok(Target::Lab(topology)) = "lab:hosts=16,rate=1Gb/s,delay=1ms,hops=1".parse() else { panic!() };
    reach_each_other(&lab(topology));
}

fn reach_each_other(lab: &Lab) {
    let names: Vec<_> = lab.hosts().iter().map(|host| host.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[15]), (16, "a", "p"));
    for number in 0..16 {
        let other = (number + STRIDES[number % STRIDES.len()]) % 16;
        transfer(&lab.hosts()[number], &lab.hosts()[other]);
    }
}

#[test]
fn sixteen_hosts_are_hosts_of_their_own() {
    let lab = lab(Topology { hosts: 16, mtu: 9000, ..Topology::default() });
    for host in lab.hosts() {
        let facts = facts(host);
        assert_eq!((&facts["host_name"], &facts["mtu"]), (&json!(host.name), &json!(9000)), "{facts}");
        assert_eq!(facts["links"], json!(["lo", host.interface]));
        // Fifteen neighbours are known from the start: nobody has to ask for one.
        assert_eq!(facts["packets"], 0, "{facts}");
    }
}
