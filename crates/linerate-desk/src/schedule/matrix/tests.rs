//! Made-up clusters are screened: who is slow is named, and nobody else.

mod cluster;
mod metrics;

use super::course::Course;
use crate::analysis::Verdict;
use crate::analysis::matrix::{
    Carries, CellMetric, Confirmed, Ending, Kind, Part, Shot, Shots, Stage, grouped_by, verdict_on,
};
use crate::plan::{HostId, HostPair, Screening};
use cluster::{Cluster, randoms, shares};
use std::collections::BTreeSet;

fn d_sends(pair: HostPair) -> bool {
    pair.from == HostId(3)
}

fn d_receives(pair: HostPair) -> bool {
    pair.to == HostId(3)
}

fn e_to_k(pair: HostPair) -> bool {
    pair == HostPair { from: HostId(4), to: HostId(10) }
}

fn leaves_first_rack(pair: HostPair) -> bool {
    pair.from.0.is_multiple_of(4) && !pair.to.0.is_multiple_of(4)
}

/// What every number of runs must come to.
fn check(runs: u64, full: u64) {
    let slow = Cluster::of(64, 0.03).with(d_sends, 0.9);
    let (found, wrong) = shares(&slow, 8, runs, "sender d");
    assert!(found >= 0.99 && wrong <= 0.01, "a host a tenth slower: {found}, others {wrong}");
    let (_, wrong) = shares(&Cluster::of(64, 0.03), 8, runs, "");
    assert!(wrong <= 0.01, "nobody is slow, and somebody was named in {wrong}");
    let pair = Cluster::of(64, 0.03).with(e_to_k, 0.8);
    let (found, wrong) = shares(&pair, 63, full, "link e>k");
    assert!(found >= 0.99 && wrong <= 0.01, "a pair a fifth slower: {found}, others {wrong}");
    let (_, wrong) = shares(&Cluster::of(64, 0.03), 63, full, "");
    assert!(wrong <= 0.01, "nobody is slow in a whole matrix, and somebody was named in {wrong}");
}

/// The same seeds each time: of so few runs every one must come out right.
#[test]
fn slow_hosts_and_links_are_named() {
    check(20, 3);
}

#[test]
#[ignore = "a thousand runs of each kind: tests/long"]
fn long_a_thousand_clusters_are_screened() {
    check(1_000, 1_000);
}

#[test]
fn both_directions_at_once_name_as_one_at_a_time_does() {
    let both = |cluster: Cluster| Cluster { bidirectional: true, ..cluster };
    let (found, wrong) = shares(&both(Cluster::of(64, 0.03).with(d_sends, 0.85)), 8, 20, "sender d");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
    let (found, wrong) = shares(&both(Cluster::of(16, 0.03).with(e_to_k, 0.7)), 15, 20, "link e>k");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
    let (_, wrong) = shares(&both(Cluster::of(64, 0.03)), 16, 20, "");
    assert!(wrong == 0.0, "nobody is slow, and somebody was named in {wrong}");
    let screening = Screening { bidirectional: true, ..Screening::of_rounds(7, 8) };
    assert_eq!(Course::new(&screening, 8, 1).screening_steps(), 7);
}

#[test]
fn a_host_slow_both_ways_is_one_name() {
    let slow = Cluster::of(16, 0.03).with(d_sends, 0.7).with(d_receives, 0.7);
    let (found, wrong) = shares(&slow, 15, 20, "host d");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
    let slow = Cluster::of(8, 0.03).with(d_receives, 0.6);
    let (found, wrong) = shares(&slow, 7, 20, "receiver d");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}

#[test]
fn unlike_directions_of_a_host_are_told_apart() {
    let slow = Cluster::of(16, 0.02).with(d_sends, 0.5).with(d_receives, 0.8);
    for seed in 0..10 {
        let told = slow.run(15, seed);
        let mut kinds: Vec<(Kind, f64)> =
            told.named.iter().map(|one| (one.kind, one.shift.estimate.exp())).collect();
        kinds.sort_by_key(|(kind, _)| *kind);
        let [(Kind::Sender, sends), (Kind::Receiver, receives)] = kinds[..] else {
            panic!("{seed}: {kinds:?}")
        };
        assert!((sends - 0.5).abs() < 0.05 && (receives - 0.8).abs() < 0.05, "{seed}: {sends} {receives}");
    }
}

/// It met one partner; the others met enough of each other.
#[test]
fn a_host_that_was_lost_early_stops_no_search() {
    let (cluster, screening) = (Cluster::of(16, 0.02).with(d_sends, 0.6), Screening::of_rounds(15, 16));
    let mut course = Course::new(&screening, 16, 3);
    let (mut random, mut shots) = (randoms(3), Shots::default());
    let mut lost = BTreeSet::new();
    loop {
        let further = course.further(&shots, &lost);
        if further.is_empty() {
            break;
        }
        for round in &further {
            cluster.measure(round, &mut random, &mut shots);
        }
        lost.insert(HostId(9));
    }
    let told = verdict_on(&screening, 16, &shots, &Ending::default());
    let names: Vec<(Kind, &[HostId])> = told.named.iter().map(|one| (one.kind, &one.hosts[..])).collect();
    assert_eq!(names, [(Kind::Sender, &[HostId(3)][..])], "{:?}", told.doubt);
    assert_eq!(told.named[0].slow_partners.0, told.named[0].slow_partners.1);
}

#[test]
fn a_host_that_no_plan_has_is_no_panic() {
    let shot = |from, to| Shot {
        stage: Stage::Screen,
        pair: HostPair { from: HostId(from), to: HostId(to) },
        log: 1.0,
    };
    let mut shots = Shots::default();
    for metric in CellMetric::ALL {
        shots.extend(metric, [shot(0, 1), shot(9, 0), shot(0, 9)]);
    }
    let told = verdict_on(&Screening::of_rounds(3, 4), 4, &shots, &Ending::default());
    assert_eq!(told.verdict, Verdict::CannotTell);
}

/// A run that was cut after its screening: what stood apart in it was looked at no more.
#[test]
fn cells_that_were_not_looked_at_again_are_no_healthy_ones() {
    let slow = Cluster { disturbed: 0.0, ..Cluster::of(16, 0.02).with(e_to_k, 0.6) };
    let screening = slow.screening(15);
    let mut course = Course::new(&screening, 16, 1);
    let (mut random, mut shots) = (randoms(1), Shots::default());
    loop {
        let further = course.further(&shots, &BTreeSet::new());
        if further.iter().any(|round| round.stage != Stage::Screen) {
            break;
        }
        for round in &further {
            slow.measure(round, &mut random, &mut shots);
        }
    }
    let told = verdict_on(&screening, 16, &shots, &Ending::default());
    let is_e_to_k = |pair| pair == HostPair { from: HostId(4), to: HostId(10) };
    let mut unseen = told.screened.unseen.iter();
    assert!(unseen.any(|one| matches!(one.part, Part::Link(pair) if is_e_to_k(pair))), "{told:?}");
    assert_eq!(told.verdict, Verdict::CannotTell, "{:?}", told.doubt);
}

#[test]
fn a_slow_rack_is_named_and_none_of_its_hosts() {
    let rack = Cluster { groups: 4, ..Cluster::of(32, 0.03).with(leaves_first_rack, 0.7) };
    let (found, wrong) = shares(&rack, 16, 20, "group a>e>i>m>q>u>y>ac");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}

/// Neither names nor a file tell the racks, and eight hosts of 32 share a way out.
#[test]
fn a_slow_rack_that_nobody_named_is_found() {
    let rack = Cluster::of(32, 0.03).with(|pair| pair.from.0 < 8 && pair.to.0 >= 8, 0.7);
    let (found, wrong) = shares(&rack, 16, 20, "group a>b>c>d>e>f>g>h");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
    let all = Cluster::of(32, 0.03).with(|pair| pair.from.0 < 8, 0.7);
    let (found, wrong) = shares(&all, 16, 20, "group a>b>c>d>e>f>g>h");
    assert!(found == 1.0 && wrong == 0.0, "{found} {wrong}");
}

/// Groups that are claimed of so many healthy runs.
fn claimed(runs: u64) -> u64 {
    let of_run = |(hosts, rounds, seed): (u32, u32, u64)| {
        let cluster = Cluster::of(hosts, 0.03);
        let screening = cluster.screening(rounds);
        let mut course = Course::new(&screening, hosts, seed);
        let (mut random, mut shots) = (randoms(!seed), Shots::default());
        for _ in 0..rounds {
            for round in course.further(&shots, &BTreeSet::new()) {
                cluster.measure(&round, &mut random, &mut shots);
            }
        }
        let of = |carries| grouped_by(carries, &screening, hosts as usize, &shots).found;
        u64::from(Carries::ALL.into_iter().any(of))
    };
    let kinds = [(8, 7), (16, 15), (64, 16)];
    (0..runs).flat_map(|seed| kinds.map(|(hosts, rounds)| of_run((hosts, rounds, seed)))).sum()
}

#[test]
fn no_groups_are_claimed_for_noise() {
    assert_eq!(claimed(100), 0);
}

#[test]
#[ignore = "five thousand runs: tests/long"]
fn long_noise_has_groups_in_one_percent_at_most() {
    let claimed = claimed(1_000);
    println!("{claimed} of 3000 healthy runs have groups");
    assert!(claimed <= 30, "{claimed} of 3000");
    let ways_out = Cluster::of(32, 0.03).with(|pair| pair.from.0 < 8 && pair.to.0 >= 8, 0.8);
    let all = Cluster::of(32, 0.03).with(|pair| pair.from.0 < 8, 0.8);
    for rack in [ways_out, all] {
        let (found, wrong) = shares(&rack, 16, 1_000, "group a>b>c>d>e>f>g>h");
        println!("a rack that sends a fifth less: named in {found}, something else in {wrong}");
        assert!(found >= 0.98 && wrong <= 0.02, "{found} {wrong}");
    }
}

/// Every host of a rack is slow, to those beside it too, and a third of all hosts is in it.
#[test]
fn a_rack_of_slow_hosts_is_one_name() {
    let rack = Cluster { groups: 3, ..Cluster::of(12, 0.03).with(|pair| pair.from.0.is_multiple_of(3), 0.6) };
    for seed in 0..20 {
        let told = rack.run(8, seed);
        let names: Vec<(Kind, usize)> = told.named.iter().map(|one| (one.kind, one.hosts.len())).collect();
        assert_eq!(names, [(Kind::Group, 4)], "{seed}: {told:#?}");
        let shift = told.named[0].shift;
        assert!(shift.low.unwrap() > 0.5f64.ln() && shift.high.unwrap() < 0.7f64.ln(), "{seed}: {shift:?}");
    }
}

#[test]
fn what_is_slow_under_load_only_says_so() {
    let mut slow = Cluster::of(16, 0.03).with(d_sends, 0.7);
    slow.faults[0].2 = true;
    for seed in 0..10 {
        let told = slow.run(15, seed);
        let names: Vec<(Kind, Confirmed)> = told.named.iter().map(|one| (one.kind, one.confirmed)).collect();
        assert_eq!(names, [(Kind::Sender, Confirmed::UnderLoad)], "{seed}");
    }
}

#[test]
fn the_ratio_is_that_of_the_fault() {
    let slow = Cluster::of(16, 0.03).with(d_sends, 0.6);
    let held = (0..40).filter(|seed| {
        let told = slow.run(15, *seed);
        let shift = told.named[0].shift;
        let truth = 0.6f64.ln();
        (shift.estimate - truth).abs() < 0.06 && shift.low.unwrap() <= truth && truth <= shift.high.unwrap()
    });
    let held = held.count();
    assert!(held >= 34, "95 % intervals held the truth in {held} of 40");
}

#[test]
fn too_few_partners_or_too_much_noise_cannot_be_told() {
    for (cluster, rounds, part) in [
        (Cluster::of(2, 0.01), 1, "1 partner"),
        (Cluster::of(4, 0.01), 3, "3 partners"),
        (Cluster::of(64, 0.01), 2, "2 partners"),
        (Cluster::of(64, 0.2), 8, "scatter by"),
    ] {
        let told = cluster.run(rounds, 1);
        let (why, takes) = told.doubt.clone().unwrap_or_else(|| panic!("{told:?}"));
        assert!(
            told.verdict == Verdict::CannotTell && why.contains(part) && !takes.is_empty(),
            "{why}; {takes}"
        );
    }
    let quiet = Cluster { disturbed: 0.0, ..Cluster::of(64, 0.02) }.run(8, 1);
    assert_eq!((quiet.verdict, quiet.doubt), (Verdict::Same, None));
    assert!(quiet.seen.unwrap() < 0.05, "{:?}", quiet.seen);
}

#[test]
fn a_lost_host_is_left_out_and_the_rest_goes_on() {
    let screening = Screening::of_rounds(7, 8);
    let mut course = Course::new(&screening, 8, 1);
    let lost = BTreeSet::from([HostId(2)]);
    let mut pairs = 0;
    loop {
        let further = course.further(&Shots::default(), &lost);
        if further.is_empty() {
            break;
        }
        let all = further.iter().flat_map(|round| &round.pairs);
        pairs += all.inspect(|pair| assert!(pair.from != HostId(2) && pair.to != HostId(2))).count();
        assert!(further.iter().all(|round| round.stage == Stage::Screen));
    }
    assert_eq!(pairs, 7 * 6);
}

#[test]
fn ten_thousand_hosts_are_planned() {
    let mut course = Course::new(&Screening::of_rounds(16, 10_000), 10_000, 1);
    let rounds: usize = (0..16).map(|_| course.further(&Shots::default(), &BTreeSet::new()).len()).sum();
    assert!(rounds >= 32 && course.screening_steps() == rounds);
}
