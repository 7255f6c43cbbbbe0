//! Scenarios as data: a target, and what its ladder must say.

use crate::user::runs::{entry, run};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// What is put in.
    about: String,
    /// The arguments of `linerate run`.
    arguments: Vec<String>,
    /// What must come out.
    expect: Vec<Expectation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    id: String,
    direction: Option<String>,
    #[serde(default = "one")]
    flows: u64,
    /// The least and the greatest median rate.
    throughput_bps: Option<[f64; 2]>,
    /// A JSON pointer into the entry whose value must be there (true) or null (false).
    #[serde(default)]
    present: std::collections::BTreeMap<String, bool>,
}

fn one() -> u64 {
    1
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ladder/scenarios").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let scenario: Scenario = toml::from_str(&text).unwrap();
    let arguments: Vec<_> = scenario.arguments.iter().map(String::as_str).collect();
    // Who shares the machine may take a CPU away from the ends of a fast wire, but not three times over.
    let missed = |_| missed(&scenario, &run(&arguments).report());
    let missed: Vec<String> = (0..TRIES).map_while(missed).collect();
    assert!(missed.len() < TRIES, "{}: {}", scenario.about, missed.join("; "));
}

/// How often a rate is looked for.
const TRIES: usize = 3;

/// The first rate that is not what it must be; what must be there or not is so at once.
fn missed(scenario: &Scenario, report: &Value) -> Option<String> {
    for wanted in &scenario.expect {
        let entry = entry(report, &wanted.id, wanted.direction.as_deref(), wanted.flows);
        for (pointer, there) in &wanted.present {
            let value = entry.pointer(pointer).unwrap_or(&Value::Null);
            assert_eq!(!value.is_null(), *there, "{}: {} {pointer} is {value}", scenario.about, wanted.id);
        }
    }
    scenario.expect.iter().find_map(|wanted| {
        let [low, high] = wanted.throughput_bps?;
        let entry = entry(report, &wanted.id, wanted.direction.as_deref(), wanted.flows);
        let median = entry["throughput_bps"]["median"].as_f64().unwrap();
        (!(low..=high).contains(&median)).then(|| format!("{} is {median}", wanted.id))
    })
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(concat!(stringify!($name), ".toml")); })*

        #[test]
        fn every_scenario_is_checked() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ladder/scenarios");
            let files = std::fs::read_dir(folder).unwrap().count();
            assert_eq!(files, [$(stringify!($name)),*].len());
        }
    };
}

scenarios! { whole_ladder ipv6 rate_100m rate_1g rate_1g_mtu_9000 }
