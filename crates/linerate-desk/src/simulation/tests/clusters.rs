//! Screenings of many hosts on the made-up machine: what the controller keeps of them, and what they take it.

use super::super::Simulation;
use super::{begun, plan};
use crate::analysis::matrix::matrix;
use crate::plan::{Plan, PlannedHost, Rungs, Screening, View, World};
use crate::record::{Event, Recording};
use crate::schedule::schedule_of;
use std::time::Instant;

/// What a controller may take for a thousand hosts in sixteen rounds, and a recording of 64 hosts on disk.
const MOST_MEMORY: u64 = 512 << 20;
const MOST_RECORDED: usize = 50_000_000;

pub(super) fn cluster(hosts: u32, rounds: u32) -> Plan {
    plan(|plan| {
        plan.hosts = PlannedHost::first(hosts);
        plan.profile.trial_ns = 400_000_000;
        plan.profile.warm_up_ns = 200_000_000;
        let design = Screening::of_rounds(rounds, hosts);
        plan.view = View::Matrix { rungs: Rungs::named(["network.tcp"]), design };
    })
}

/// A whole screening, and the bytes of its recording.
fn screened(hosts: u32, rounds: u32) -> (Recording, usize) {
    let (plan, world) = (cluster(hosts, rounds), World { noise: 0.01, ..World::default() });
    let mut recording = begun(&plan);
    let mut simulation = Simulation::new(&plan, &world, 7);
    let mut schedule = schedule_of(&plan, &recording);
    let mut bytes = serde_json::to_vec(&recording.header).unwrap().len();
    while let Some(step) = schedule.next(&recording) {
        for event in simulation.step(&step) {
            bytes += serde_json::to_vec::<Event>(&event).unwrap().len() + 1;
            recording.push(event);
        }
    }
    (recording, bytes)
}

/// What this process has had at most.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}

/// What it takes is printed and decides nothing; what would grow with the square of the trials would not come to its end.
#[test]
fn a_thousand_hosts_fit_in_half_a_gigabyte() {
    for hosts in [8, 64, 256, 1_000] {
        let begun = Instant::now();
        let (recording, bytes) = screened(hosts, 16);
        let planned = begun.elapsed();
        let told = matrix(&recording).unwrap();
        let trials = recording.trials.len();
        println!(
            "{hosts} hosts: {trials} trials, {:.1} us each for steps, {:.1} us for the word, {:.1} MB recorded, {} MiB at most",
            1e6 * planned.as_secs_f64() / trials as f64,
            1e6 * (begun.elapsed() - planned).as_secs_f64() / trials as f64,
            bytes as f64 / 1e6,
            peak_bytes() >> 20,
        );
        assert_eq!(told.cells.len(), (hosts * 16.min(hosts - 1)) as usize, "{:?}", told.told.doubt);
        assert!(told.told.named.is_empty(), "{:?}", told.told.named);
    }
    assert!(peak_bytes() < MOST_MEMORY, "{} MiB", peak_bytes() >> 20);
}

#[test]
fn a_whole_matrix_of_64_hosts_is_a_small_recording() {
    let (recording, bytes) = screened(64, 63);
    println!("{} trials, {:.1} MB", recording.trials.len(), bytes as f64 / 1e6);
    assert!(bytes < MOST_RECORDED, "{bytes} bytes");
}

#[test]
fn ten_thousand_hosts_are_planned_at_once() {
    let plan = cluster(10_000, 16);
    let recording = begun(&plan);
    let begun = Instant::now();
    let mut schedule = schedule_of(&plan, &recording);
    let (predicted, step) = (schedule.predicted_ns(), schedule.next(&recording).unwrap());
    println!(
        "{} pairs, {:.0} s predicted, {:?}",
        step.case.pairs.len(),
        predicted as f64 / 1e9,
        begun.elapsed()
    );
    assert_eq!(step.case.pairs.len(), 5_000);
    assert!(predicted > 10_000_000_000);
}
