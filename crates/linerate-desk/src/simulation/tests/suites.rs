//! Suites on a made-up machine: what was put in comes out of their figures and conclusions.

use super::{plan, run};
use crate::analysis::{Holds, SuiteValues, analyse};
use crate::plan::{HostId, Pairs, Suite, View, World};
use crate::record::{Recording, SessionRecord};
use crate::simulation::machine::Machine;
use crate::vocabulary::SUITES;

fn values(suite: &str) -> SuiteValues {
    values_in(suite, &World::default(), |_| ())
}

fn values_in(suite: &str, world: &World, edit: impl Fn(&mut Recording)) -> SuiteValues {
    let plan = plan(|plan| {
        let suite = Suite::shipped(suite).unwrap();
        (plan.arms, plan.view) = (suite.arms(), View::Suites(vec![suite]));
        plan.profile.passes = 6;
        plan.profile.timeline_ns = 0;
    });
    let mut recording = run(&plan, world);
    edit(&mut recording);
    assert_eq!(recording.steps.iter().map(|step| step.pass).max(), Some(6), "{suite:?}");
    let mut analysis = analyse(&recording);
    assert_eq!((analysis.layers.len(), analysis.suites.len()), (0, 1), "a suite has no ladder");
    analysis.suites.remove(0)
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
            assert_eq!(found.n, 6);
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
