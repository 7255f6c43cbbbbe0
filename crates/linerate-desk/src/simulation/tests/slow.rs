//! Runs over slow ways: they keep their time, and measure what they say.

use super::{begun, plan, run};
use crate::analysis::{analyse, half_round_trip_ns};
use crate::plan::{Plan, Profile, Rungs, Target, View, World};
use crate::record::{Recording, Trial};
use crate::schedule::{Passes, Schedule};
use crate::vocabulary::{Pattern, RUNGS};

const SECOND: f64 = 1e9;

/// A lab of so much delay, one way, on the made-up machine.
fn slow(profile: &str, delay_ms: u32) -> (Plan, World) {
    let plan = plan(|plan| {
        plan.profile = Profile::named(profile).unwrap();
        plan.target = format!("lab:delay={delay_ms}ms").parse().unwrap();
        let unasked = RUNGS.iter().filter(|rung| !rung.on_request);
        plan.view = View::Ladder(Rungs::unnamed(unasked.map(|rung| rung.id)));
    });
    (plan, World { delay_ns: f64::from(delay_ms) * 1e6, ..World::default() })
}

fn between_hosts(recording: &Recording) -> impl Iterator<Item = &Trial> {
    recording.trials.iter().filter(|trial| trial.pass > 0 && !trial.case.pairs.is_within_host())
}

fn keeps_time_ns(trial: &Trial) -> f64 {
    let role = trial.roles.iter().find(|role| role.does.keeps_time()).unwrap();
    role.flows.iter().map(|flow| flow.duration_ns).max().unwrap() as f64
}

#[test]
fn a_run_over_a_slow_path_keeps_its_time() {
    for (profile, delay_ms) in [
        ("quick", 10),
        ("quick", 100),
        ("quick", 300),
        ("standard", 10),
        ("standard", 100),
        ("standard", 300),
    ] {
        let name = format!("{profile}, {delay_ms} ms");
        let (plan, world) = slow(profile, delay_ms);
        let schedule = Passes::new(&plan, &begun(&plan));
        let note = schedule.note().unwrap();
        assert!(note.contains("a round trip of") && note.contains("between the hosts"), "{name}: {note}");
        let told = schedule
            .unavailable()
            .iter()
            .find(|it| it.rung == "network.tcp" && it.reason.why.contains("sizes"));
        assert!(told.is_some_and(
            |it| it.reason.why.contains("a round trip takes") && it.reason.hint.contains("--budget")
        ));

        let recording = run(&plan, &world);
        let last = recording.steps.last().unwrap();
        let took = (last.at_ns + last.duration_ns) as f64;
        let budget = plan.profile.budget_ns as f64;
        assert!(took <= 1.1 * budget, "{name}: {:.0} s of {:.0} s", took / SECOND, budget / SECOND);
        assert!(took >= 0.5 * budget, "{name}: only {:.0} s", took / SECOND);

        let round_trip_ns = f64::from(delay_ms) * 2e6;
        for trial in between_hosts(&recording).filter(|trial| trial.case.pattern != Pattern::PingPong) {
            let least = SECOND.max(20.0 * round_trip_ns);
            let ns = keeps_time_ns(trial);
            // The first pass counts by rates that were found before windows had grown.
            assert!(ns >= 0.9 * least, "{name}: {} lasted {:.2} s", trial.case, ns / SECOND);
        }
        let exchanges: Vec<&Trial> =
            between_hosts(&recording).filter(|trial| trial.case.pattern == Pattern::PingPong).collect();
        for trial in &exchanges {
            let latency_ns = half_round_trip_ns(trial).unwrap();
            assert!((latency_ns / (round_trip_ns / 2.0) - 1.0).abs() < 0.1, "{name}: {latency_ns}");
        }
        assert!(!exchanges.is_empty(), "{name}");
    }
}

#[test]
fn a_slow_path_leaves_nothing_out_in_a_host() {
    let (plan, world) = slow("standard", 10);
    let analysis = analyse(&run(&plan, &world));
    let sizes = |rung: &str, pattern| {
        let curve = analysis
            .curves
            .iter()
            .find(|curve| curve.case.rung == rung && curve.case.pattern == pattern && curve.case.flows == 1);
        curve.map_or(0, |curve| curve.points.len())
    };
    assert_eq!(sizes("in-host.tcp", Pattern::PingPong), 24);
    assert!((1..=7).contains(&sizes("network.tcp", Pattern::PingPong)));
    assert!((1..=7).contains(&sizes("network.tcp", Pattern::Stream)));
}

#[test]
fn a_near_lab_is_measured_as_ever() {
    let (near, _) = slow("standard", 0);
    let shaped = Plan { target: "lab:delay=20us".parse::<Target>().unwrap(), ..near.clone() };
    let [plain, shaped] = [near, shaped].map(|plan| Passes::new(&plan, &begun(&plan)));
    assert_eq!(shaped.note(), None);
    assert_eq!(shaped.entries().len(), plain.entries().len());
}
