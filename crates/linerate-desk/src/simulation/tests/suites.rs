//! Suites on a made-up machine: what was put in comes out of their figures and conclusions.

use super::{begun, plan, run};
use crate::analysis::{ClaimOutcome, Holds, SuiteValues, analyse};
use crate::diagnosis::diagnose;
use crate::plan::{Applies, HostId, Pairs, Plan, Suite, View, Why, World};
use crate::record::{NotMeasured, Recording, SessionRecord};
use crate::schedule::{Passes, Schedule};
use crate::simulation::machine::Machine;
use crate::vocabulary::SUITES;

fn values(suite: &str) -> SuiteValues {
    values_in(suite, &World::default(), |_| ())
}

fn values_in(suite: &str, world: &World, edit: impl Fn(&mut Recording)) -> SuiteValues {
    let plan = of_suite(Suite::shipped(suite).unwrap(), |_| ());
    let mut recording = run(&plan, world);
    edit(&mut recording);
    assert!(recording.steps.iter().map(|step| step.pass).max() >= Some(6), "{suite:?}");
    let mut analysis = analyse(&recording);
    assert_eq!((analysis.layers.len(), analysis.suites.len()), (0, 1), "a suite has no ladder");
    analysis.suites.remove(0)
}

/// Six passes of a suite.
pub(super) fn of_suite(suite: Suite, edit: impl Fn(&mut Plan)) -> Plan {
    plan(|plan| {
        (plan.arms, plan.view) = (suite.arms(), View::Suites(vec![suite.clone()]));
        plan.profile.passes = 6;
        plan.profile.timeline_ns = 0;
        edit(plan);
    })
}

#[test]
fn every_shipped_suite_runs_and_draws() {
    for entry in SUITES {
        for figure in values(entry.name).figures {
            let told = ["throughput", "half-round-trip", "half-round-trip.mean"];
            let empty = figure.series.iter().all(|series| series.points.is_empty());
            let is_told = told.contains(&figure.figure.y.as_str());
            assert!(!is_told || !empty, "{} of {}", figure.figure.id, entry.name);
        }
    }
}

#[test]
fn what_a_profile_has_no_time_for_is_left_to_longer_ones() {
    let is_left = |profile: &str| {
        let of = of_suite(Suite::shipped("transfer").unwrap(), |plan| plan.profile.name = profile.into());
        let schedule = Passes::new(&of, &begun(&of));
        let is_it = |one: &NotMeasured| one.reason.hint == "--profile standard";
        schedule.unavailable().iter().any(is_it)
    };
    assert_eq!(["quick", "standard"].map(is_left), [true, false]);
}

#[test]
fn the_truth_decides_a_figures_claims() {
    let sockets = values("sockets");
    let machine = Machine::new(&World::default());
    let figure = sockets.figures.iter().find(|one| one.figure.id == "003-F3").unwrap();
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["polling", "sleeping"]);
    for series in &figure.series {
        for point in &series.points {
            let bytes = point.x.number.unwrap() as u64;
            let wait =
                if series.name == "polling" { crate::vocabulary::Wait::Polling } else { Default::default() };
            let pattern = crate::vocabulary::Pattern::PingPong;
            let pairs = Pairs::single(HostId(0), HostId(1));
            let case =
                crate::plan::Case { rung: "network.tcp".into(), pattern, wait, pairs, ..Default::default() };
            let truth = machine.message_ns(&case, bytes) / 2.0;
            let found = point.value;
            assert!(
                (found.median / truth - 1.0).abs() < 0.05,
                "{bytes} B {}: {found:?}, not {truth}",
                series.name
            );
            assert!(found.n >= 6);
        }
    }
    let polling = sockets.claims.iter().find(|one| one.claim.says.starts_with("polling")).unwrap();
    assert_eq!(polling.holds, Holds::Yes, "{polling:?}");
}

#[test]
fn table_cells_tell_rates_and_shares() {
    let libraries = values("libraries");
    let table = &libraries.tables[0];
    let column = |of: &str, over: bool| {
        let is_it = |column: &crate::plan::TableColumn| {
            (column.of.as_str(), column.over.is_some(), column.minus.is_some()) == (of, over, false)
                && column.at.get("size").is_some_and(|size| size != "peak")
        };
        table.table.columns.iter().position(is_it).unwrap()
    };
    let median = |row: usize, at: usize| table.rows[row][at].as_ref().map(|cell| cell.value.median);
    let (rate, share) = (column("stream", false), column("stream", true));
    assert_eq!((table.units[rate], table.units[share]), ("b/s", ""));
    assert_eq!(median(0, share), None, "raw TCP over itself says nothing");
    let ratio = median(3, rate).unwrap() / median(0, rate).unwrap();
    assert!((median(3, share).unwrap() / ratio - 1.0).abs() < 0.05, "{ratio}: {:?}", median(3, share));
    assert_eq!(median(2, column("tuned", false)), None, "lite was not tuned");
    let peak = table.rows[0][0].as_ref().unwrap();
    assert!(peak.at.is_some() && peak.value.median >= median(0, rate).unwrap(), "{peak:?}");
}

#[test]
fn a_table_finds_steps_and_names_libraries() {
    const STEP_NS: f64 = 50_000.0;
    let world = World { step_at: 16 << 10, step_ns: STEP_NS, ..World::default() };
    let libraries = values_in("libraries", &world, |recording| {
        let is_library = |rung: &str| rung == "network.mpi" || rung == "network.tcp";
        let trials = recording.trials.iter().filter(|trial| is_library(&trial.case.rung));
        let session = |trial: &crate::record::Trial| SessionRecord {
            pass: 1,
            rung: trial.case.rung.clone(),
            flows: 1,
            arm: trial.case.arm,
            host: HostId(0),
            worker: 0,
            granted: Vec::new(),
            endpoints: vec![format!("MPI {}, 4.1, /usr/lib/libmpi.so, started by it", trial.case.arm)],
        };
        recording.sessions = trials.map(session).collect();
    });
    let table = &libraries.tables[1];
    let is_step =
        |column: &crate::plan::TableColumn| column.at.get("size").is_some_and(|size| size == "step");
    let at = table.table.columns.iter().position(is_step).unwrap();
    for (row, cells) in table.table.rows.iter().zip(&table.rows) {
        let step = cells[at].as_ref().expect(&row.name);
        assert_eq!(step.at.as_deref(), Some("16 KiB"), "{}", row.name);
        assert!((step.value.median / STEP_NS - 1.0).abs() < 0.2, "{}: {step:?}", row.name);
    }
    let version = |name: &str| {
        let row = table.table.rows.iter().position(|row| row.name == name).unwrap();
        table.versions[row].clone()
    };
    assert_eq!(version("raw TCP"), None, "the kernel's own is no library");
    let of_mpi = version("MPICH").unwrap();
    assert!(of_mpi.starts_with("MPI ") && of_mpi.ends_with(", 4.1"), "{of_mpi}");
}

/// Two waits of one exchange, and a limit for the ratio of their times: what it is on the made-up machine, times this.
fn of_ratio(share: f64) -> Suite {
    let machine = Machine::new(&World::default());
    let truth = |wait| {
        let (rung, pattern) = ("network.tcp".into(), crate::vocabulary::Pattern::PingPong);
        let pairs = Pairs::single(HostId(0), HostId(1));
        machine.message_ns(&crate::plan::Case { rung, pattern, wait, pairs, ..Default::default() }, 64)
    };
    let limit = share * truth(crate::vocabulary::Wait::Sleeping) / truth(crate::vocabulary::Wait::Polling);
    let text = format!(
        "name = \"mine\"\n[[case]]\nid = \"x\"\nrung = \"network.tcp\"\npattern = \"ping-pong\"\n\
         sizes = [\"64\", \"1KiB\"]\n[[figure]]\nid = \"f\"\ntitle = \"t\"\ncases = [\"x\"]\nx = \"size\"\n\
         y = \"half-round-trip\"\n[[claim]]\nsays = \"s\"\ny = \"half-round-trip\"\n\
         of = {{ case = \"x\", wait = \"sleeping\", size = \"64\" }}\n\
         over = {{ case = \"x\", wait = \"polling\", size = \"64\" }}\nabove = {limit}\n"
    );
    Suite::read(&text).unwrap()
}

/// Runs it where trials differ so much that six passes do not tell a difference of five per cent.
fn judged(share: f64, budget_ns: Option<u64>) -> (Recording, ClaimOutcome) {
    let plan = of_suite(of_ratio(share), |plan| {
        (plan.budget_ns, plan.profile.budget_ns) = (budget_ns, 0);
        plan.profile.latency_target = 0.5;
    });
    let recording = run(&plan, &World { noise: 0.05, ..World::quiet() });
    let outcome = analyse(&recording).suites.remove(0).claims.remove(0);
    (recording, outcome)
}

const SECOND_NS: u64 = 1_000_000_000;

fn extra(recording: &Recording) -> Vec<&crate::record::StepRecord> {
    recording.steps.iter().filter(|step| step.why == Why::Extra).collect()
}

#[test]
fn what_cannot_be_told_gets_the_time_that_is_left() {
    let (short, undecided) = judged(0.95, None);
    assert_eq!((undecided.holds, extra(&short).len()), (Holds::CannotTell, 0), "{undecided:?}");
    for (share, holds) in [(0.95, Holds::Yes), (1.05, Holds::No)] {
        let (long, decided) = judged(share, Some(60 * SECOND_NS));
        assert_eq!(decided.holds, holds, "{decided:?}");
        assert_eq!((decided.needs(), undecided.needs().is_some()), (None, true));
        let extra = extra(&long);
        assert!(!extra.is_empty() && long.steps.last().unwrap().at_ns < 60 * SECOND_NS);
        // There and back in one pass, and nothing else.
        for pass in extra.chunk_by(|a, b| a.pass == b.pass) {
            let waits: Vec<_> = pass.iter().map(|step| step.case.wait).collect();
            assert!(waits.len() == 4 && waits[0] == waits[3] && waits[1] == waits[2] && waits[0] != waits[1]);
        }
        let sizes = long.trials.iter().filter(|trial| trial.why == Why::Extra);
        assert!(sizes.into_iter().all(|trial| trial.block.message_bytes == 64));
    }
}

#[test]
fn what_time_cannot_decide_is_not_chased() {
    let (recording, outcome) = judged(1.001, Some(60 * SECOND_NS));
    assert_eq!((outcome.holds, extra(&recording).len()), (Holds::CannotTell, 0), "{outcome:?}");
    assert!(outcome.further_passes().is_none_or(|passes| passes > 100), "{outcome:?}");
}

/// Both sides of what is compared lie next to each other in every pass.
#[test]
fn what_is_compared_is_measured_together() {
    let mut suite = of_ratio(1.0);
    suite.cases[0].sizes = (0..12).map(|power| (64 << power).to_string()).collect();
    let recording = run(&of_suite(suite, |plan| plan.profile.budget_ns = 0), &World::quiet());
    let trials: Vec<_> = recording.trials.iter().filter(|trial| trial.pass > 0).collect();
    let compared: Vec<usize> = (0..trials.len()).filter(|at| trials[*at].block.message_bytes == 64).collect();
    assert_eq!(compared.len(), 12);
    assert!(compared.chunks(2).all(|pair| pair[1] - pair[0] == 1), "{compared:?}");
}

#[test]
fn what_does_not_apply_is_not_judged() {
    let judged = |applies: Option<Applies>, world: &World| {
        let mut suite = of_ratio(0.5);
        suite.claims[0].applies = applies;
        let recording = run(&of_suite(suite, |plan| plan.profile.budget_ns = 0), world);
        let outcome = analyse(&recording).suites.remove(0).claims.remove(0);
        (outcome.holds, outcome.condition)
    };
    let quiet = World { noise: 0.01, ..World::quiet() };
    let needs = |round_trip: Option<&str>, cpus| {
        Some(Applies { round_trip: round_trip.map(String::from), cpus, ..Applies::default() })
    };
    assert_eq!(judged(None, &quiet), (Holds::Yes, None));
    assert_eq!(judged(needs(Some("1us"), Some(4)), &quiet), (Holds::Yes, None));
    for (applies, told) in [
        (needs(Some("1ms"), None), "a round trip of"),
        (needs(None, Some(5)), "5 CPUs a host, and there are 4"),
    ] {
        let (holds, condition) = judged(applies, &quiet);
        assert_eq!(holds, Holds::NotApplicable);
        assert!(condition.as_ref().is_some_and(|said| said.contains(told)), "{condition:?}");
    }
    let slow = World { delay_ns: 1e6, ..quiet };
    assert_ne!(judged(needs(Some("1ms"), None), &slow).0, Holds::NotApplicable);
}

#[test]
fn what_the_ladder_warns_of_is_warned_of_in_suites() {
    let codes = |passes: Option<u32>, world: &World| {
        let plan = of_suite(of_ratio(1.0), |plan| {
            plan.profile.budget_ns = 0;
            plan.profile.passes = passes.unwrap_or(plan.profile.passes);
        });
        let recording = run(&plan, world);
        let analysis = analyse(&recording);
        let found = diagnose(&recording, &analysis);
        let all = found.findings.iter().chain(&found.of_suites);
        all.map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert!(codes(None, &World { between: 0.3, ..World::quiet() }).contains(&"interval-wide"));
    assert!(!codes(None, &World { noise: 0.001, ..World::quiet() }).contains(&"interval-wide"));
    assert!(!codes(Some(24), &World { noise: 0.003, ..World::quiet() }).contains(&"modes"));
    assert!(codes(Some(24), &World { noise: 0.003, modes: 0.4, ..World::quiet() }).contains(&"modes"));
}

#[test]
fn what_a_figure_misses_is_told_in_words() {
    let values = values_in("san", &World::default(), |recording| {
        recording.trials.retain(|trial| trial.case.id != "san.stream-lam");
    });
    let figure = values.figures.iter().find(|one| one.figure.id == "000-F2-stream").unwrap();
    assert_eq!(figure.missing.len(), 1, "{:?}", figure.missing);
    assert_eq!(figure.missing_words, ["LAM, sleeping"], "{:?}", figure.missing);
}

/// The made-up threads work for nine tenths of the time.
#[test]
fn a_cpus_share_is_that_of_the_time() {
    let grid = values("grid");
    let figure = grid.figures.iter().find(|one| one.figure.id == "004-F7-share").unwrap();
    let points: Vec<f64> =
        figure.series.iter().flat_map(|series| &series.points).map(|at| at.value.median).collect();
    assert_eq!((figure.series.len(), figure.unit), (4, "1"), "two engines, two ends");
    let labels: Vec<&str> = figure.series.iter().map(|series| series.words.label.as_str()).collect();
    assert!(labels.contains(&"CPU share, receiver, sendfile()"), "{labels:?}");
    assert!(points.iter().all(|share| (share - 0.9).abs() < 1e-3), "{points:?}");
}
