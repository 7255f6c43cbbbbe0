//! What is written for other programs is read back, by readers that share nothing with the writers.

use super::{Told, folder, near, told};
use linerate::vocabulary::{Does, Quantity, Statistic};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder with a recording of a made-up machine, and one of another tool.
struct Desk {
    folder: TempDir,
    run: PathBuf,
    imported: PathBuf,
}

impl Desk {
    fn new() -> Desk {
        let folder = TempDir::new().unwrap();
        let printed = linerate(
            folder.path(),
            &[
                "run",
                "simulated",
                "--profile",
                "quick",
                "--only",
                "memory.copy,in-host.tcp,network.tcp",
                "--seed",
                "1",
                "--no-page",
            ],
        );
        let run = folder.path().join(printed.lines().last().unwrap());
        let file = folder.path().join("old.json");
        std::fs::copy(super::folder().join("iperf3-tcp.json"), &file).unwrap();
        let printed = linerate(folder.path(), &["import", "old.json"]);
        let imported = folder.path().join(printed.trim());
        Desk { folder, run, imported }
    }

    fn report(&self, recording: &Path, format: &str) -> String {
        linerate(
            self.folder.path(),
            &["report", recording.to_str().unwrap(), "--format", format, "--output", "-"],
        )
    }
}

fn linerate(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_STATE", folder.join("state")).env("LINERATE_CONFIG", "");
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A sample: the family's name, its labels, its value.
type Sample = (String, BTreeMap<String, String>, f64);

/// Reads OpenMetrics 1.0 as strictly as its text says, as far as gauges and info go.
fn open_metrics(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("the last line is # EOF");
    let (mut samples, mut seen, mut families) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    let mut family = String::new();
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (what, name, text) =
                (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
            if name != family {
                assert!(families.insert(name.to_owned(), String::new()).is_none(), "{name} comes twice");
                family = name.to_owned();
            }
            match what {
                "TYPE" => _ = families.insert(family.clone(), text.into()),
                "UNIT" => {
                    assert!(name.ends_with(&format!("_{text}")), "{name} does not end with its unit {text}")
                }
                "HELP" => assert!(!text.is_empty()),
                other => panic!("{other}: {line}"),
            }
            continue;
        }
        let (name, labels, value) = sample(line);
        let suffix = if families[&family] == "info" { "_info" } else { "" };
        assert_eq!(name, format!("{family}{suffix}"), "a sample outside of its family: {line}");
        assert!(seen.insert((name.clone(), labels.clone())), "twice: {line}");
        assert!(value.is_finite());
        samples.push((name, labels, value));
    }
    samples
}

/// `name{label="value",…} 1.5`.
fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).unwrap();
    let name = &line[..end];
    assert!(
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
        "{line}"
    );
    let mut labels = BTreeMap::new();
    let mut rest = &line[end..];
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (key, after) = rest.split_once("=\"").unwrap();
            assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{key}: {line}");
            let (mut value, mut chars, mut used) = (String::new(), after.chars(), 0);
            loop {
                let c = chars.next().unwrap();
                used += c.len_utf8();
                match c {
                    '"' => break,
                    '\\' => {
                        let escaped = chars.next().unwrap();
                        used += escaped.len_utf8();
                        value.push(match escaped {
                            'n' => '\n',
                            '\\' | '"' => escaped,
                            other => panic!("\\{other}: {line}"),
                        });
                    }
                    c => value.push(c),
                }
            }
            assert!(labels.insert(key.to_owned(), value).is_none(), "{key} twice: {line}");
            rest = &after[used..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = &rest[1..];
    }
    (name.to_owned(), labels, rest.strip_prefix(' ').unwrap().parse().unwrap())
}

#[test]
fn open_metrics_has_the_numbers_of_json() {
    let desk = Desk::new();
    let json: Value = serde_json::from_str(&desk.report(&desk.run, "json")).unwrap();
    let samples = open_metrics(&desk.report(&desk.run, "openmetrics"));
    let value = |name: &str, labels: &[(&str, &str)]| {
        let fits = |(known, held, _): &&Sample| {
            known == name
                && labels.iter().all(|(key, value)| held.get(*key).is_some_and(|held| held == value))
        };
        let found: Vec<f64> = samples.iter().filter(fits).map(|(.., value)| *value).collect();
        assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
        found[0]
    };
    let mut compared = 0;
    for entry in json["ladder"].as_array().unwrap().iter().filter(|entry| !entry["throughput_bps"].is_null())
    {
        let place = entry["direction"].as_str().or(entry["host"].as_str()).unwrap();
        let (rung, flows) = (entry["id"].as_str().unwrap(), entry["flows"].to_string());
        for part in ["median", "low", "high"] {
            let labels = [("rung", rung), ("place", place), ("flows", flows.as_str()), ("estimate", part)];
            if let Some(wanted) = entry["throughput_bps"][part].as_f64() {
                near(value("linerate_throughput_bits_per_second", &labels), wanted);
                compared += 1;
            }
            if let Some(wanted) = entry["half_round_trip_ns"]["sleeping"][part].as_f64() {
                let labels = [&labels[..], &[("wait", "sleeping")]].concat();
                near(value("linerate_half_round_trip_seconds", &labels), wanted * 1e-9);
            }
        }
    }
    assert!(compared > 3, "{compared} numbers were compared");
    let info = samples.iter().find(|(name, ..)| name == "linerate_run_info").unwrap();
    assert_eq!(info.1["target"], "simulated");
    let imported = open_metrics(&desk.report(&desk.imported, "openmetrics"));
    assert!(imported.iter().any(|(name, labels, _)| name == "linerate_imported"
        && labels["statistic"] == "mean"
        && labels["unit"] == "b/s"));
}

#[test]
fn csv_has_the_numbers_of_json() {
    let desk = Desk::new();
    let json: Value = serde_json::from_str(&desk.report(&desk.run, "json")).unwrap();
    let printed = linerate(
        desk.folder.path(),
        &["report", desk.run.to_str().unwrap(), "--format", "tables", "--output", "tables"],
    );
    let mut tables = BTreeMap::new();
    for path in printed.lines() {
        let mut reader = csv::Reader::from_path(desk.folder.path().join(path)).unwrap();
        let heads: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
        let distinct: BTreeSet<&String> = heads.iter().collect();
        assert_eq!(distinct.len(), heads.len(), "{path}: {heads:?}");
        // The reader refuses a row that has not as many fields as the heads.
        let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap().to_owned();
        tables.insert(name, rows);
    }
    let ladder = json["ladder"].as_array().unwrap();
    assert_eq!(tables["ladder"].len(), ladder.len());
    for (row, entry) in tables["ladder"].iter().zip(ladder) {
        assert_eq!(row["id"], entry["id"].as_str().unwrap());
        let median = entry["throughput_bps"]["median"]
            .as_f64()
            .map_or(String::new(), |_| entry["throughput_bps"]["median"].to_string());
        assert_eq!(row.get("throughput_bps.median").map_or("", String::as_str), median);
    }
    let points: usize = json["curves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|curve| curve["points"].as_array().unwrap().len())
        .sum();
    assert_eq!(tables["curves.points"].len(), points);
    assert!(tables["curves.points"].iter().all(|row| !row["id"].is_empty() && !row["pattern"].is_empty()));
    let slices: usize =
        json["timelines"].as_array().unwrap().iter().map(|line| line["at_s"].as_array().unwrap().len()).sum();
    assert_eq!(tables["timelines.values"].len(), slices);
    assert_eq!(tables["report"].len(), 1);
}

/// The paths of all leaves, without the numbers of arrays.
fn shape(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| shape(value, &format!("{path}.{key}"), found))
        }
        Value::Array(values) => values.iter().for_each(|value| shape(value, &format!("{path}[]"), found)),
        _ => _ = found.insert(path.into()),
    }
}

#[test]
fn the_iperf3_form_has_iperf3s_shape() {
    let desk = Desk::new();
    let text = desk.report(&desk.run, "iperf3");
    let (mut ours, mut theirs) = (BTreeSet::new(), BTreeSet::new());
    let value: Value = serde_json::from_str(&text).unwrap();
    shape(&value, "", &mut ours);
    let real: Value =
        serde_json::from_slice(&std::fs::read(folder().join("iperf3-tcp.json")).unwrap()).unwrap();
    shape(&real, "", &mut theirs);
    let strange: Vec<&String> = ours.difference(&theirs).filter(|path| *path != ".title").collect();
    assert!(strange.is_empty(), "iperf3 has no such fields: {strange:?}");
    for path in [
        ".start.timestamp.timesecs",
        ".start.test_start.protocol",
        ".intervals[].sum.bits_per_second",
        ".end.sum_sent.bytes",
        ".end.sum_received.bits_per_second",
    ] {
        assert!(ours.contains(path), "{path} is missing");
    }
    // What it says can be read again, and is what the JSON form says.
    let again: Told = told(text.as_bytes(), Some("iperf3")).unwrap();
    let whole = again.value(Quantity::Throughput, Statistic::Mean, Some(Does::Receives));
    near(whole, value["end"]["sum_received"]["bits_per_second"].as_f64().unwrap());
    let json: Value = serde_json::from_str(&desk.report(&desk.run, "json")).unwrap();
    let long = json["timelines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["id"] == "network.tcp" && line["flows"] == 1)
        .unwrap();
    let parts = again.rows.iter().find(|row| row.values.len() > 1).unwrap();
    let rates: Vec<f64> =
        long["throughput_bps"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!(parts.values, rates);
}

#[test]
fn the_iperf3_form_needs_a_long_stream() {
    let desk = Desk::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command.args(["report", "--format", "iperf3"]).arg(&desk.imported).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no long stream"));
}
