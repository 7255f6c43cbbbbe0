//! Hosts whose agents hang while a screening is measured: the others are, and who has a new agent is too.

use super::super::Simulation;
use super::begun;
use super::clusters::cluster;
use crate::analysis::matrix::matrix;
use crate::plan::{HostId, HostPair, PATIENCE_NS, Pairs, Step, Why, World};
use crate::record::{Event, NotMeasured, Reason, Recording};
use crate::schedule::schedule_of;
use crate::vocabulary::ReasonKind;

/// Longer than anything here is predicted to take.
const LATE_NS: u64 = 300_000_000_000;

/// These pairs of a step fell, with an agent or by themselves, as the runner tells of it.
fn fallen(step: &Step, pairs: &Pairs, process: bool) -> Event {
    let reason = Reason::new(ReasonKind::Failed, "failed: it does not answer any more", "see there");
    let failed = NotMeasured::failed(step, pairs, reason);
    Event::NotMeasured(NotMeasured { at_ns: Some(LATE_NS), process, ..failed })
}

fn lost(host: HostId, step: &Step) -> Event {
    let reason = Reason::new(ReasonKind::Failed, "it is not reached", "");
    let (host, after_steps) = (Some(host), Some(step.number));
    Event::NotMeasured(NotMeasured {
        host,
        after_steps,
        reason,
        at_ns: Some(LATE_NS),
        lost: true,
        ..NotMeasured::default()
    })
}

/// What falls in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Falls {
    /// All of it: it could not be begun.
    Whole,
    /// The pair of the host that hangs.
    Pair,
}

/// A whole matrix in which so many steps of this kind fall with a host, which is told; with the last of them it is lost, or has a
/// new agent.
fn measured(hosts: u32, why: Why, (falls, what): (usize, Falls), is_lost: bool) -> (Recording, HostId) {
    let plan = cluster(hosts, hosts - 1);
    let mut recording = begun(&plan);
    let mut simulation = Simulation::new(&plan, &World { noise: 0.01, ..World::default() }, 7);
    let mut schedule = schedule_of(&plan, &recording);
    let (mut left, mut steps, mut hangs) = (falls, 0, None);
    while let Some(step) = schedule.next(&recording) {
        steps += 1;
        assert!(steps < 1_000, "it comes to an end");
        assert_eq!(step.patience_ns, PATIENCE_NS, "a path has as long as before");
        let host = *hangs.get_or_insert(step.case.pairs.first().from);
        if step.why == why && left > 0 && step.case.pairs.has(host) {
            left -= 1;
            let parts = step.case.pairs.apart();
            let own = parts.iter().position(|pairs| pairs.has(host)).unwrap();
            let others = step.without(&[own as u32].into()).filter(|_| what == Falls::Pair);
            recording.push(fallen(&step, others.as_ref().map_or(&step.case.pairs, |_| &parts[own]), true));
            if let Some(others) = others {
                simulation.step(&others).into_iter().for_each(|event| recording.push(event));
            }
            if left == 0 && is_lost {
                recording.push(lost(host, &step));
            }
            continue;
        }
        simulation.step(&step).into_iter().for_each(|event| recording.push(event));
    }
    assert_eq!(left, 0, "{why:?} was to be");
    (recording, hangs.unwrap())
}

/// Every cell of the hosts that are left has round trips, and streams as long as they should be.
fn check(hosts: u32, why: Why, falls: (usize, Falls), is_lost: bool) {
    let (recording, hangs) = measured(hosts, why, falls, is_lost);
    let when = format!("{hosts} hosts, {why:?} x {falls:?}, lost: {is_lost}");
    let there = u64::from(hosts) - u64::from(is_lost);
    let told = matrix(&recording).unwrap();
    let of_others = |pair: &HostPair| !is_lost || pair.from != hangs && pair.to != hangs;
    let cells = told.cells.iter().filter(|cell| of_others(&cell.pair)).count() as u64;
    assert_eq!(cells, there * (there - 1), "{when}: {:?}", recording.unavailable);
    let of_others = told.cells.iter().filter(|cell| of_others(&cell.pair));
    let known = of_others.filter(|cell| cell.throughput_bps.is_some() && cell.round_trip_ns.is_some());
    assert_eq!(known.count() as u64, cells, "{when}: {:?}", told.cells);
    assert!(told.told.named.is_empty(), "{when}: {:?}", told.told.named);
    let screened =
        recording.trials.iter().filter(|trial| trial.pass > 0 && !trial.case.pattern.is_exchange());
    for trial in screened {
        let messages = trial.block.messages * u64::from(trial.block.slices);
        assert!(messages > 1_000, "{when}: a trial of {messages} messages tells no rate");
    }
}

#[test]
fn a_hang_while_rounds_are_sized_costs_no_cell() {
    for hosts in [3, 4, 6] {
        for (falls, is_lost) in [(1, false), (1, true), (2, false), (2, true), (4, false), (4, true)] {
            check(hosts, Why::Probe, (falls, Falls::Whole), is_lost);
        }
        // The other pairs tell the rates.
        check(hosts, Why::Probe, (2, Falls::Pair), false);
        check(hosts, Why::Probe, (2, Falls::Pair), true);
    }
}

#[test]
fn what_fails_by_itself_is_not_sized_again() {
    let plan = cluster(4, 3);
    let sized = |process: bool| {
        let mut recording = begun(&plan);
        let mut schedule = schedule_of(&plan, &recording);
        let (mut steps, mut at_ns) = (0, 0);
        while let Some(step) = schedule.next(&recording).filter(|step| step.why == Why::Probe) {
            steps += 1;
            at_ns += 1;
            let Event::NotMeasured(failed) = fallen(&step, &step.case.pairs, process) else { continue };
            recording.push(Event::NotMeasured(NotMeasured { at_ns: Some(at_ns), ..failed }));
        }
        steps
    };
    // Each of two patterns is tried twice.
    assert_eq!((sized(false), sized(true) > 4), (4, true));
}

#[test]
fn a_hang_in_a_round_costs_no_cell_of_the_others() {
    for hosts in [3, 4, 6] {
        for what in [Falls::Whole, Falls::Pair] {
            // The second step of a host in a round is its round trips.
            for falls in 1..=2 {
                check(hosts, Why::Pass, (falls, what), false);
                check(hosts, Why::Pass, (falls, what), true);
            }
        }
    }
}
