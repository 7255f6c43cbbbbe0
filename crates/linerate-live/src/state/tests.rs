//! Spreads from made-up histories, keys, broken files, and programs that write at once.

use super::history::MOST_LINES;
use super::*;
use crate::plan::{HostId, Target};
use crate::record::synthetic::Synthetic;
use crate::record::{Figure, HostCalibration, LayerMedians, Medians, SpreadOf};
use tempfile::TempDir;

const LAYER: &str = "network.tcp a>b";

fn plan(target: &str) -> Plan {
    let recording = Synthetic { passes: 1, sizes: vec![64], ..Synthetic::default() }.recording();
    Plan { target: target.parse::<Target>().unwrap(), ..recording.plan().unwrap().clone() }
}

fn hosts() -> Vec<HostFacts> {
    Synthetic { passes: 1, sizes: vec![64], ..Synthetic::default() }.recording().hosts
}

fn medians(throughput_bps: f64) -> Medians {
    let figures = LayerMedians { throughput_bps: Some(throughput_bps), ..LayerMedians::default() };
    [(LAYER.to_owned(), figures)].into()
}

fn entry(plan: &Plan, throughput_bps: f64) -> Entry {
    Entry {
        utc: "2026-11-21T12:00:00Z".into(),
        key: key(plan.target.kind(), &hosts()),
        target: None,
        recording: None,
        plan_hash: plan.hash(),
        version: "0.0.0".into(),
        medians: medians(throughput_bps),
    }
}

/// A calibration whose equal runs against a target had these medians.
fn stored(target: &str, throughputs: &[f64]) -> Stored {
    let runs: Vec<Medians> = throughputs.iter().copied().map(medians).collect();
    let figure = Figure { value: 20.0, low: Some(19.0), high: Some(22.0), n: 11 };
    let figures = vec![HostCalibration {
        host: HostId(0),
        figures: [("clock.read".to_owned(), figure)].into(),
        ..HostCalibration::default()
    }];
    let plan = plan(target);
    let runs = EqualRuns {
        utc: "2026-11-21T12:00:00Z".into(),
        plan_hash: plan.hash(),
        runs: throughputs.len() as u32,
        spreads: spreads(&runs, SpreadSource::Calibrate),
    };
    let hosts = hosts();
    Stored {
        utc: Some("2026-11-21T12:00:00Z".into()),
        figures,
        runs: [(plan.target.to_string(), runs)].into(),
        ..Stored::new(key(plan.target.kind(), &hosts), &hosts)
    }
}

fn state() -> (TempDir, State) {
    let folder = TempDir::new().unwrap();
    let state = State::at(folder.path().join("state"));
    (folder, state)
}

#[test]
fn a_spread_lies_about_the_centre_of_the_runs() {
    let spreads = spreads(&[medians(8e9), medians(1e10), medians(1.25e10)], SpreadSource::History);
    let [spread] = &spreads[..] else { panic!("{spreads:?}") };
    assert_eq!((spread.layer.as_str(), spread.of, spread.runs), (LAYER, SpreadOf::Throughput, 3));
    assert!((spread.centre / 1e10 - 1.0).abs() < 1e-9, "{spread:?}");
    let alone = statistic_of(&[8e9, 1e10, 1.25e10]);
    assert_eq!(spread.share, alone);
    assert!(super::spreads(&[medians(1.0), medians(2.0)], SpreadSource::History).is_empty());
}

fn statistic_of(values: &[f64]) -> f64 {
    crate::statistic::run_spread(values).unwrap().share
}

#[test]
fn six_runs_are_believed_over_a_calibration() {
    let (_folder, state) = state();
    let plan = plan("lab");
    let of = |recalled: &Recalled| {
        let spread = recalled.calibration.as_ref()?.spread(LAYER, SpreadOf::Throughput)?;
        Some((spread.source, spread.runs))
    };
    assert_eq!(state.recall(&plan, &hosts()), Recalled::default());
    state.save(stored("lab", &[1e9, 1.1e9, 1.2e9, 1.3e9])).unwrap();
    for runs in 0..8 {
        let expected = if runs < 6 { (SpreadSource::Calibrate, 4) } else { (SpreadSource::History, runs) };
        assert_eq!(of(&state.recall(&plan, &hosts())), Some(expected), "{runs} runs");
        state.append(&entry(&plan, 1e9 + f64::from(runs))).unwrap();
    }
    // Another plan has no part in that history, and another seed does not make another plan.
    let other = Plan { seed: 9, ..plan.clone() };
    assert_eq!(of(&state.recall(&other, &hosts())), Some((SpreadSource::History, 8)));
    let other = Plan { budget_ns: Some(1), ..plan };
    assert_eq!(of(&state.recall(&other, &hosts())), Some((SpreadSource::Calibrate, 4)));
}

#[test]
fn spreads_are_of_targets_and_figures_of_hosts() {
    let (_folder, state) = state();
    state.save(stored("lab", &[1e9, 1.1e9, 1.2e9])).unwrap();
    let recalled = state.recall(&plan("lab:mtu=9000"), &hosts()).calibration.unwrap();
    assert_eq!(recalled.spread(LAYER, SpreadOf::Throughput), None);
    assert_eq!(recalled.figure(HostId(0), "clock.read").map(|figure| figure.value), Some(20.0));
    // The runs against one target stay when another one is calibrated.
    state.save(stored("lab:mtu=9000", &[2e9, 2e9, 2e9])).unwrap();
    for (target, centre) in [("lab", 1.1e9), ("lab:mtu=9000", 2e9)] {
        let recalled = state.recall(&plan(target), &hosts()).calibration.unwrap();
        let spread = recalled.spread(LAYER, SpreadOf::Throughput).unwrap();
        assert!((spread.centre / centre - 1.0).abs() < 0.01, "{target}: {spread:?}");
    }
    assert_eq!(state.recall(&plan("ssh://b"), &hosts()), Recalled::default());
}

#[test]
fn a_hosts_key_outlives_a_restart() {
    let identified = |identity: &str, boot: &str| {
        let mut host = hosts().remove(0);
        host.machine = boot.into();
        host.environment.host.insert("host.identity".into(), identity.into());
        host
    };
    let (a, b) = (identified("one", "x"), identified("two", "x"));
    let both = key("lab", &[a.clone(), b.clone()]);
    assert_eq!(both, key("lab", &[identified("one", "y"), identified("two", "y")]));
    assert_ne!(both, key("ssh", &[a.clone(), b.clone()]));
    assert_ne!(both, key("lab", &[b, a.clone()]));
    assert_ne!(both, key("lab", &[a.clone(), a]));
    assert!(both.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{both}");
    // Without an identity of its own a machine is known by its kernel.
    let mut unnamed = hosts().remove(0);
    unnamed.machine = "boot".into();
    assert_eq!(identity(&unnamed), "boot");
}

#[test]
fn another_kernels_calibration_is_not_used() {
    let (_folder, state) = state();
    state.save(stored("lab", &[1e9, 1.1e9, 1.2e9])).unwrap();
    let mut changed = hosts();
    changed[1].environment.host.insert("kernel.release".into(), "of tomorrow".into());
    let recalled = state.recall(&plan("lab"), &changed);
    assert_eq!(recalled.calibration, None);
    assert_eq!(recalled.warnings.len(), 1);
    assert!(recalled.warnings[0].contains("changed"), "{:?}", recalled.warnings);
}

#[test]
fn a_broken_calibration_is_one_warning() {
    let (_folder, state) = state();
    let good = stored("lab", &[1e9, 1.1e9, 1.2e9]);
    let path = state.save(good.clone()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let negative = {
        let mut bad = good;
        bad.runs.values_mut().for_each(|runs| runs.spreads[0].share = -1.0);
        serde_json::to_string(&bad).unwrap()
    };
    let cases = [
        (String::new(), "not a calibration"),
        (text[..text.len() / 2].to_owned(), "not a calibration"),
        ("{}".into(), "not a calibration"),
        (text.replace("calibration/1", "calibration/7"), "calibration/7"),
        (negative, "cannot have been measured"),
        (text + &" ".repeat(1 << 20), "longer than"),
    ];
    for (text, part) in cases {
        std::fs::write(&path, text).unwrap();
        let recalled = state.recall(&plan("lab"), &hosts());
        assert_eq!((recalled.calibration, recalled.warnings.len()), (None, 1), "{part}");
        let warning = &recalled.warnings[0];
        assert!(warning.contains(part) && warning.contains("calibrate"), "{warning}");
        assert_eq!((state.calibrations().0.len(), state.calibrations().1.len()), (0, 1), "{part}");
    }
}

#[test]
fn lines_that_are_no_runs_cost_themselves_only() {
    let (_folder, state) = state();
    let plan = plan("lab");
    let entry = entry(&plan, 1e9);
    state.append(&entry).unwrap();
    let path = state.folder().join("history.jsonl");
    let line = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("nonsense\n{line}{}\n{{}}\n{line}{}", "x".repeat(100_000), &line[..20]))
        .unwrap();
    assert_eq!(state.history(&entry.key, &entry.plan_hash).unwrap(), [entry.clone(), entry.clone()]);
    std::fs::File::create(&path).unwrap().set_len(64 << 20).unwrap();
    let recalled = state.recall(&plan, &hosts());
    assert_eq!(recalled.warnings.len(), 1);
    assert!(recalled.warnings[0].contains("remove it"), "{:?}", recalled.warnings);
}

#[test]
fn runs_that_end_at_once_lose_no_line() {
    const WRITERS: u32 = 4;
    const EACH: u32 = 20;
    let (_folder, state) = state();
    let plan = plan("lab");
    let line = serde_json::to_string(&entry(&plan, 1.0)).unwrap() + "\n";
    std::fs::create_dir_all(state.folder()).unwrap();
    std::fs::write(state.folder().join("history.jsonl"), line.repeat(MOST_LINES - 10)).unwrap();
    std::thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (state, plan) = (&state, &plan);
            scope.spawn(move || {
                for number in 0..EACH {
                    let run = f64::from(1000 * writer + number);
                    state.append(&entry(plan, run)).unwrap();
                }
            });
        }
    });
    let old = entry(&plan, 1.0);
    let runs = state.history(&old.key, &old.plan_hash).unwrap();
    assert_eq!(runs.len(), MOST_LINES);
    for writer in 1..=WRITERS {
        let value = |run: &Entry| run.medians[LAYER].throughput_bps.unwrap();
        let own: Vec<f64> = runs.iter().map(value).filter(|run| (run / 1000.0) as u32 == writer).collect();
        let expected: Vec<f64> = (0..EACH).map(|number| f64::from(1000 * writer + number)).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn only_a_dead_writers_file_is_removed() {
    let (_keep, state) = state();
    let plan = plan("simulated");
    std::fs::create_dir_all(state.folder()).unwrap();
    let parts = ["history.77.new", "calibration-simulated-0.9.new"];
    let others = ["notes.new", "history.new", "history.x.new", "letter.77.new", "calibration-7"];
    let put = |names: &[&str]| {
        names.iter().for_each(|name| std::fs::write(state.folder().join(name), "{").unwrap())
    };
    let there = |names: &[&str]| names.iter().filter(|name| state.folder().join(name).exists()).count();
    put(&others);
    let writes: [&dyn Fn(); 3] = [
        &|| state.append(&entry(&plan, 1e9)).unwrap(),
        &|| _ = state.save(stored("simulated", &[1.0, 2.0, 3.0])).unwrap(),
        &|| _ = state.recall(&plan, &hosts()),
    ];
    for write in writes {
        put(&parts);
        write();
        assert_eq!((there(&parts), there(&others)), (0, others.len()));
    }
}

#[test]
fn runs_that_are_named_are_there_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let state = State::at(folder.path());
    let baseline = super::Baseline::new("2026-11-26T00:00:00Z".into(), vec![entry(&plan("lab"), 1e9)]);
    state.keep_baseline("before-1.2", &baseline).unwrap();
    assert_eq!(state.baseline("before-1.2").unwrap(), baseline);
    let unknown = state.baseline("after").unwrap_err();
    assert!(unknown.to_string().contains("no baseline is called `after`"), "{unknown}");
    for name in ["", "../x", "a/b", ".hidden", &"n".repeat(65)] {
        assert!(state.keep_baseline(name, &baseline).is_err(), "{name}");
    }
    for text in ["{", "{\"schema\":\"linerate.baseline/9\",\"utc\":\"\",\"runs\":[]}"] {
        std::fs::write(folder.path().join("baseline-x.json"), text).unwrap();
        assert_eq!(state.baseline("x").unwrap_err().exit_code(), 6, "{text}");
    }
}
