//! Made-up clusters of which round trips or losses tell who is ill.

use super::cluster::{Cluster, shares};
use crate::analysis::matrix::{CellMetric, Confirmed, Kind};
use crate::plan::{HostId, HostPair};

fn has_d(pair: HostPair) -> bool {
    pair.from == HostId(3) || pair.to == HostId(3)
}

fn is_e_and_k(pair: HostPair) -> bool {
    e_to_k(pair) || e_to_k(HostPair { from: pair.to, to: pair.from })
}

fn e_to_k(pair: HostPair) -> bool {
    pair == HostPair { from: HostId(4), to: HostId(10) }
}

/// What every number of runs must come to.
fn check(runs: u64, full: u64) {
    let slow = Cluster::of(64, 0.03).with_longer(has_d, 1.1);
    let (found, wrong) = shares(&slow, 8, runs, "host d by round-trip");
    println!("a host whose round trips are a tenth longer: {found}, others {wrong}");
    assert!(found >= 0.99 && wrong <= 0.01, "{found} {wrong}");
    let (_, wrong) = shares(&Cluster::of(64, 0.03), 8, runs, "");
    println!("nobody is slow: somebody named in {wrong}");
    assert!(wrong <= 0.01, "{wrong}");
    let path = Cluster::of(64, 0.03).with_longer(is_e_and_k, 1.25);
    let (found, wrong) = shares(&path, 63, full, "link e>k by round-trip");
    println!("two hosts whose round trips are a quarter longer: {found}, others {wrong}");
    assert!(found >= 0.99 && wrong <= 0.01, "{found} {wrong}");
    let lossy = Cluster::of(64, 0.03).with_loss(e_to_k, 0.02);
    let (found, wrong) = shares(&lossy, 63, full, "link e>k by retransmit-share");
    println!("a pair that loses 2 %: {found}, others {wrong}");
    assert!(found >= 0.95 && wrong <= 0.01, "{found} {wrong}");
}

#[test]
fn two_hundred_healthy_clusters_have_two_names_at_most() {
    let (_, wrong) = shares(&Cluster::of(64, 0.03), 8, 200, "");
    assert!(wrong <= 0.01, "{wrong}");
}

#[test]
fn who_answers_late_or_loses_is_named() {
    check(20, 2);
}

#[test]
#[ignore = "a thousand runs of each kind: tests/long"]
fn long_a_thousand_clusters_are_screened_by_all_metrics() {
    check(1_000, 300);
}

#[test]
fn a_rack_behind_a_long_way_is_named_once() {
    let leaves = |pair: HostPair| pair.from.0.is_multiple_of(4) != pair.to.0.is_multiple_of(4);
    let rack = Cluster { groups: 4, ..Cluster::of(32, 0.03).with_longer(leaves, 1.4) };
    let (found, wrong) = shares(&rack, 16, 10, "group a>e>i>m>q>u>y>ac by round-trip");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}

/// A rack of few hosts has few others near: that is no fault.
#[test]
fn racks_that_differ_in_hosts_are_all_healthy() {
    let far = |pair: HostPair| (pair.from.0 < 24) != (pair.to.0 < 24);
    let (_, wrong) = shares(&Cluster::of(32, 0.03).with_longer(far, 1.4), 16, 10, "");
    assert!(wrong == 0.0, "{wrong}");
}

#[test]
fn what_is_lost_is_told_with_its_share() {
    let lossy = Cluster::of(16, 0.02).with_loss(e_to_k, 0.02);
    for seed in 0..10 {
        let told = lossy.run(15, seed);
        let [one] = &told.named[..] else { panic!("{seed}: {:?} {:?}", told.named, told.doubt) };
        assert_eq!((one.metric, one.kind), (CellMetric::RetransmitShare, Kind::Link));
        assert_eq!((one.confirmed, one.slow_partners.1), (Confirmed::Alone, 1));
        assert!((-0.03..-0.012).contains(&one.shift.estimate), "{seed}: {:?}", told);
        assert!(one.shift.low.is_some_and(|low| low < -0.012), "{seed}: {:?}", one.shift);
    }
}

/// A link that loses and is slow for it has one name.
#[test]
fn who_is_slow_for_what_it_loses_is_named_once() {
    let lossy = Cluster::of(16, 0.02).with_loss(e_to_k, 0.03).with(e_to_k, 0.6);
    for seed in 0..5 {
        let told = lossy.run(15, seed);
        let [one] = &told.named[..] else { panic!("{seed}: {:?}", told.named) };
        assert_eq!((one.metric, one.kind), (CellMetric::Throughput, Kind::Link));
        assert!(one.sent_again.is_some_and(|again| again.estimate < -0.015), "{seed}: {one:?}");
    }
}

#[test]
fn a_host_that_loses_all_that_it_sends_is_one_name() {
    let lossy = Cluster::of(16, 0.02).with_loss(|pair| pair.from == HostId(3), 0.02);
    let (found, wrong) = shares(&lossy, 8, 10, "sender d by retransmit-share");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}
