//! Made-up clusters of which round trips or losses tell who is ill.

use super::cluster::{Cluster, shares};
use crate::analysis::Verdict;
use crate::analysis::matrix::{
    CellMetric, Confirmed, Ending, Kind, Shot, Shots, Stage, screened, verdict_on,
};
use crate::plan::{HostId, HostPair, HostSet, Screening};

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

/// What is sent again in one trial of thousands is chance, and no doubt of the others.
#[test]
fn fifty_healthy_clusters_are_the_same() {
    same_of(50);
}

#[test]
#[ignore = "a thousand healthy clusters: tests/long"]
fn long_a_thousand_healthy_clusters_are_the_same() {
    same_of(1_000);
}

fn same_of(runs: u64) {
    let told: Vec<_> = (0..runs).map(|seed| Cluster::of(64, 0.03).run(8, seed)).collect();
    let count = |verdict: Verdict| told.iter().filter(|told| told.verdict == verdict).count();
    let (same, named) = (count(Verdict::Same), count(Verdict::Different));
    println!("{same} of {runs} are the same, somebody is named in {named}");
    assert!(same * 20 >= told.len() * 19 && named * 100 <= told.len(), "{same} {named}");
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

/// In each of these runs more pairs than are looked at had a burst in the screening and one stray segment in both further looks.
#[test]
fn who_loses_comes_before_who_was_unlucky_once() {
    let lossy = Cluster::of(64, 0.03).with_loss(e_to_k, 0.02);
    for seed in [2, 3, 14, 18, 22] {
        let named = lossy.run(63, seed).named;
        let hosts: Vec<_> = named.iter().map(|one| (one.metric, one.hosts.clone())).collect();
        assert_eq!(hosts, [(CellMetric::RetransmitShare, vec![HostId(4), HostId(10)])], "{seed}");
    }
}

/// Where names or a file tell the racks: a way is long or slow, and round trips do not say which.
#[test]
fn a_rack_behind_a_long_way_is_no_fault() {
    let leaves = |pair: HostPair| pair.from.0.is_multiple_of(4) != pair.to.0.is_multiple_of(4);
    let far = |groups| Cluster { groups, ..Cluster::of(32, 0.03).with_longer(leaves, 1.4) };
    let (_, wrong) = shares(&far(4), 16, 10, "");
    assert!(wrong == 0.0, "{wrong}");
    let (found, wrong) = shares(&far(4).with_longer(has_d, 1.2), 16, 10, "host d by round-trip");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
    // One that is in it.
    let has_e = |pair: HostPair| pair.from == HostId(4) || pair.to == HostId(4);
    let (found, wrong) = shares(&far(4).with_longer(has_e, 1.2), 16, 10, "host e by round-trip");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}

/// A rack of few hosts has few others near: that is no fault.
#[test]
fn racks_that_differ_in_hosts_are_all_healthy() {
    let far = |pair: HostPair| (pair.from.0 < 24) != (pair.to.0 < 24);
    let (_, wrong) = shares(&Cluster::of(32, 0.03).with_longer(far, 1.4), 16, 10, "");
    assert!(wrong == 0.0, "{wrong}");
}

/// Racks of eight and hosts of other racks, of which few or none are there: each of these has nobody near, or the next one.
#[test]
fn spare_hosts_beside_racks_are_all_healthy() {
    let far: fn(HostPair) -> bool = |pair| pair.from.0 / 8 != pair.to.0 / 8;
    let apart: fn(HostPair) -> bool = |pair| pair.from.0 / 8 != pair.to.0 / 8 || pair.from.0 >= 24;
    for hosts in [25, 26, 27, 28] {
        for far in [far, apart] {
            let racks = Cluster::of(hosts, 0.03).with_longer(far, 1.4);
            let (_, wrong) = shares(&racks, hosts - 1, 5, "");
            assert!(wrong == 0.0, "{hosts}: {wrong}");
        }
    }
}

/// Hosts in no group that was found are near to each other only as far as their cells say so.
#[test]
fn who_is_in_no_found_group_is_near_as_it_shows() {
    let screening = Screening {
        found: true,
        groups: vec![HostSet { name: "found-1".into(), hosts: (0..8).map(HostId).collect() }],
        ..Screening::of_rounds(15, 16)
    };
    let near = |rest: f64, pair: (u16, u16)| {
        let pairs =
            (0..16).flat_map(|from| (0..16).map(move |to| HostPair { from: HostId(from), to: HostId(to) }));
        let log = |pair: HostPair| match (pair.from.0 < 8, pair.to.0 < 8) {
            (true, true) => 0.0,
            (false, false) => -rest,
            _ => -0.3,
        };
        let shot = |pair| Shot { stage: Stage::Screen, pair, log: log(pair) };
        let shots: Vec<Shot> = pairs.filter(|pair| pair.from != pair.to).map(shot).collect();
        let screened = screened(CellMetric::RoundTrip, &screening, 16, &shots);
        screened.distance(HostPair { from: HostId(pair.0), to: HostId(pair.1) }, &screening)
    };
    // The rest is the other rack, or each of them is in a rack of its own.
    for (rest, own) in [(0.0, 0.3), (0.1, 0.2), (0.3, 0.0), (0.4, 0.0), (-0.2, 0.3)] {
        assert!((near(rest, (8, 9)) - own).abs() < 1e-9, "{rest}: {}", near(rest, (8, 9)));
        assert!((near(rest, (0, 1)) - 0.3).abs() < 1e-9 && near(rest, (0, 9)) == 0.0);
    }
}

#[test]
fn a_whole_healthy_matrix_leaves_no_doubt() {
    for seed in 0..2 {
        let told = Cluster::of(64, 0.03).run(63, seed);
        assert_eq!(told.verdict, Verdict::Same, "{seed}: {:?}", told.doubt);
    }
}

/// Who was lost after it stood apart is told as lost.
#[test]
fn a_host_that_was_lost_leaves_no_doubt() {
    let slow = Cluster { disturbed: 0.0, ..Cluster::of(16, 0.02).with(e_to_k, 0.6) };
    let (all, screening) = (slow.shots(15, 1), slow.screening(15));
    let mut shots = Shots::default();
    for metric in CellMetric::ALL {
        let is_left = |shot: &&Shot| shot.stage == Stage::Screen || !is_e_and_k(shot.pair);
        shots.extend(metric, all.by(metric).iter().filter(is_left).copied().collect::<Vec<_>>());
    }
    let told = |lost: &[HostId]| {
        let ending = Ending { whole: true, lost: lost.iter().copied().collect() };
        verdict_on(&screening, 16, &shots, &ending).verdict
    };
    assert_eq!(told(&[]), Verdict::CannotTell);
    assert_eq!(told(&[HostId(10)]), Verdict::Same);
}

/// A recording of before round trips named anybody: they are in its screening only.
#[test]
fn round_trips_of_old_recordings_leave_no_doubt() {
    let late = Cluster::of(16, 0.02).with_longer(has_d, 1.3);
    let (all, screening) = (late.shots(15, 2), late.screening(15));
    let mut shots = Shots::default();
    for metric in CellMetric::ALL {
        let is_old = |shot: &&Shot| shot.stage == Stage::Screen || metric != CellMetric::RoundTrip;
        shots.extend(metric, all.by(metric).iter().filter(is_old).copied().collect::<Vec<_>>());
    }
    let told =
        |whole: bool| verdict_on(&screening, 16, &shots, &Ending { whole, ..Ending::default() }).verdict;
    assert_eq!([told(true), told(false)], [Verdict::Same, Verdict::CannotTell]);
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
