//! Runs on the simulated machine build a history, and the spread that it gives holds for later runs.

use linerate::analysis::analyse;
use linerate::plan::{Plan, PlannedHost, Profile, Rungs, View};
use linerate::record::{Event, Header, Medians, Recording, SCHEMA, SpreadOf, SpreadSource};
use linerate::schedule::{Passes, Schedule};
use linerate::simulation::Simulation;
use linerate::state::{Entry, State, key};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// `linerate ARGUMENTS` with a folder of its own for recordings and state.
fn linerate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .env("LINERATE_STATE", folder.join("state"))
        .args(arguments)
        .arg("--output")
        .arg(folder.join("out"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The text without its line ends: a note may break anywhere.
fn words(output: &Output) -> String {
    text(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The report of the recording that a run names in its last line, as JSON.
fn report(run: &Output) -> Value {
    let recording = text(run).lines().last().unwrap().to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command.args(["report", "--format", "json", &recording]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_thirteenth_run_shows_the_spread_of_twelve() {
    let folder = tempfile::TempDir::new().unwrap();
    let run = |seed: u32| {
        let seed = seed.to_string();
        let run = ["run", "simulated:run=5%", "--profile", "quick", "--only", "network.tcp", "--seed", &seed];
        linerate(folder.path(), &run)
    };
    let first = run(0);
    assert!(words(&first).contains("spread between runs unknown: `linerate calibrate` measures it"));
    assert_eq!(report(&first)["ladder"][0]["between_run"]["throughput"], Value::Null);
    (1..12).for_each(|seed| _ = run(seed));
    let last = run(12);
    assert!(words(&last).contains("12 earlier runs of this plan"), "{}", text(&last));
    let between = &report(&last)["ladder"][0]["between_run"];
    for figure in ["throughput", "polling", "sleeping"] {
        assert_eq!((&between[figure]["runs"], &between[figure]["source"]), (&12.into(), &"history".into()));
        // Twelve draws of 5 %: t is 2.2, and the draws' own deviation is known to a factor of two.
        let share = between[figure]["share"].as_f64().unwrap();
        assert!((0.05..0.25).contains(&share), "{figure}: {share}");
    }
}

#[test]
fn a_calibration_gives_the_next_run_its_spread() {
    let folder = tempfile::TempDir::new().unwrap();
    let only = ["--only", "network.tcp", "--quiet"];
    let calibrate = [&["calibrate", "simulated:run=5%", "--runs", "4"][..], &only].concat();
    let calibrated = text(&linerate(folder.path(), &calibrate));
    for part in ["no clock", "4 equal runs", "network.tcp a>b", "±", "kept in "] {
        assert!(calibrated.contains(part), "no `{part}` in {calibrated}");
    }
    let json = linerate(folder.path(), &[&calibrate[..], &["--format", "json"]].concat());
    let stored: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(stored["schema"], "linerate.calibration/1");
    let run = [&["run", "simulated:run=5%", "--profile", "quick"][..], &only].concat();
    let run = linerate(folder.path(), &run);
    assert!(words(&run).contains("the 4 short runs of `linerate"), "{}", text(&run));
    let throughput = &report(&run)["ladder"][0]["between_run"]["throughput"];
    assert_eq!((&throughput["runs"], &throughput["source"]), (&4.into(), &"calibrate".into()));
}

/// `linerate ARGUMENTS`, which writes no recording.
fn shown(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_STATE", folder.join("state")).args(arguments).output().unwrap()
}

#[test]
fn a_history_is_shown_and_named_and_compared_with() {
    let folder = tempfile::TempDir::new().unwrap();
    let run = |seed: u32| {
        let seed = seed.to_string();
        let only = ["--quiet", "--no-page", "--only", "network.tcp", "--seed", &seed];
        linerate(folder.path(), &[&["run", "simulated:run=5%", "--profile", "quick"][..], &only].concat())
    };
    let nothing = shown(folder.path(), &["history"]);
    assert!(nothing.status.success() && text(&nothing).contains("no completed run"));
    (0..6).for_each(|seed| _ = run(seed));
    let json = shown(folder.path(), &["history", "simulated:run=5%", "--format", "json"]);
    let told: Value = serde_json::from_slice(&json.stdout).unwrap();
    let history = &told["histories"][0];
    assert_eq!(
        (&told["schema"], history["runs"].as_array().unwrap().len()),
        (&"linerate.history/1".into(), 6)
    );
    assert_eq!(history["target"], "simulated:run=0.05");
    let figures = history["figures"].as_array().unwrap();
    let figure = figures.iter().find(|figure| figure["layer"] == "network.tcp a>b").unwrap();
    let level = &figure["levels"][0];
    assert_eq!((&level["n"], &level["change"]), (&6.into(), &Value::Null));
    let number = |name: &str| level[name].as_f64().unwrap();
    assert!(number("low") < number("median") && number("median") < number("high"), "{level}");
    let csv = text(&shown(folder.path(), &["history", "--format", "csv"]));
    let of_throughput = csv.lines().filter(|line| line.contains("network.tcp a>b,throughput")).count();
    assert!(csv.starts_with("target,hosts,plan,utc,") && of_throughput == 6, "{csv}");
    let page = text(&shown(folder.path(), &["history", "simulated"]));
    assert!(page.contains("6 runs") && page.contains("network.tcp a>b"), "{page}");
    let none = shown(folder.path(), &["history", "ssh://b"]);
    assert_eq!(none.status.code(), Some(2));
    // Those get a name, and two that follow are compared with them.
    assert!(shown(folder.path(), &["history", "--keep", "before"]).status.success());
    let early = shown(folder.path(), &["compare", "--baseline", "before"]);
    assert!(String::from_utf8_lossy(&early.stderr).contains("no run of simulated:run=0.05 came after"));
    (6..8).for_each(|seed| _ = run(seed));
    let compared = shown(folder.path(), &["compare", "--baseline", "before"]);
    assert_eq!(compared.status.code(), Some(11), "{}", String::from_utf8_lossy(&compared.stderr));
    assert!(text(&compared).contains("A: 6 runs, B: 2 runs"), "{}", text(&compared));
}

#[test]
fn a_run_without_a_home_keeps_nothing() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    ["LINERATE_STATE", "XDG_STATE_HOME", "HOME"].iter().for_each(|name| _ = command.env_remove(name));
    command.args(["run", "simulated", "--profile", "quick", "--only", "memory.copy", "--output"]);
    let output = command.arg(folder.path().join("out")).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn plan(seed: u64) -> Plan {
    Plan {
        hosts: PlannedHost::first(2),
        target: "simulated:run=5%,noise=2%".parse().unwrap(),
        profile: Profile { sizes: vec![64, 1 << 20], timeline_ns: 0, ..Profile::named("quick").unwrap() },
        view: View::Ladder(Rungs::unnamed(["network.tcp"])),
        settings: Vec::new(),
        arms: Vec::new(),
        seed,
        budget_ns: None,
    }
}

/// One whole run; its hosts are in the recording.
fn recording(plan: &Plan) -> Recording {
    let linerate::plan::Target::Simulated(world) = &plan.target else { unreachable!() };
    let mut simulation = Simulation::new(plan, world, plan.seed);
    let mut recording = Recording::default();
    recording.push(Event::Header(Header {
        schema: SCHEMA.into(),
        version: String::new(),
        utc: String::new(),
        command: Vec::new(),
        defaults: None,
        plan_hash: plan.hash(),
        plan: plan.clone(),
    }));
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = Passes::new(plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        simulation.step(&step).into_iter().for_each(|event| recording.push(event));
    }
    recording
}

#[test]
fn later_runs_lie_within_the_spread() {
    const RUNS: u64 = 206;
    let folder = tempfile::TempDir::new().unwrap();
    let state = State::at(folder.path());
    let (mut held, mut asked) = (0u32, 0u32);
    for seed in 0..RUNS {
        let plan = plan(seed);
        let recording = recording(&plan);
        let medians: Medians = analyse(&recording).medians();
        let recalled = state.recall(&plan, &recording.hosts).calibration.unwrap_or_default();
        for of in SpreadOf::ALL {
            if let Some(spread) = recalled.spread("network.tcp a>b", of) {
                assert_eq!(spread.source, SpreadSource::History);
                let median = medians["network.tcp a>b"].median(of).unwrap();
                asked += 1;
                held += u32::from((median / spread.centre - 1.0).abs() <= spread.share);
            }
        }
        let entry = Entry {
            utc: String::new(),
            key: key(plan.target.kind(), &recording.hosts),
            target: None,
            recording: None,
            plan_hash: plan.hash(),
            version: String::new(),
            medians,
        };
        state.append(&entry).unwrap();
    }
    let share = f64::from(held) / f64::from(asked);
    println!("{held} of {asked}: {share:.3}");
    assert_eq!(asked, 3 * (RUNS as u32 - 6));
    assert!(share >= 0.93, "{held} of {asked}");
}
