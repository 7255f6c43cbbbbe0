//! Each other program that moves files moves one of 10 MB, and a folder where it can, in the lab, whole, and nothing of its servers is left.

use super::{command, told};
use crate::user::ranks::nobody_is_left;
use linerate::workload::tool::{Bench, TOOLS, Tool};
use serde_json::Value;
use tempfile::TempDir;

/// By these programs, and by this one beside them: the whole table in two parts, each of which has its time.
fn each_moves_a_file(tools: &[&Tool], test: &str) {
    let path = Bench::programs();
    for tool in tools {
        if let Some(missing) = tool.missing(&path) {
            println!("SKIP: {test}: {}: no {missing} here", tool.name);
        }
    }
    let here: Vec<&&Tool> = tools.iter().filter(|tool| tool.missing(&path).is_none()).collect();
    let names: Vec<&str> = here.iter().map(|tool| tool.name).collect();
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), "lab");
    command.args(["--compare", "--sizes", "10MB", "--files", "60", "--rounds", "1", "--json"]);
    let named = [&["none"][..], &names[..]].concat().join(",");
    let output = command.args(["--tools", &named]).output().unwrap();
    let told = told(&output);
    let rows = told["rows"].as_array().unwrap();
    let of = |name: &str| {
        let all = rows.iter().filter(move |row| row["transfers"]["tool"] == name);
        all.collect::<Vec<_>>()
    };
    for tool in here {
        let rows = of(tool.name);
        let loads = 1 + usize::from(tool.moves_folders());
        let best = loads * tool.best.map_or(0, |best| best.streams.len());
        assert_eq!(rows.len(), loads * tool.streams.len() + best, "{}", tool.name);
        let has_flags = |row: &&&Value| row["transfers"]["flags"].is_string();
        assert_eq!(rows.iter().filter(has_flags).count(), best, "{}", tool.name);
        for row in rows {
            assert!(row["throughput_bps"]["median"].as_f64().is_some_and(|bps| bps > 0.0), "{row}");
            assert_eq!(row["transfers"]["took_ns"].as_array().map(Vec::len), Some(1), "{row}");
        }
    }
    assert_eq!(of("linerate").len(), 6);
    let is_folder = |row: &&&Value| row["transfers"]["files"] == 60;
    assert_eq!(of("linerate, not verified").iter().filter(is_folder).count(), 1);
    assert!(of("linerate, memory to disk").iter().filter(is_folder).count() == 0);
    assert!(told["round_trip_ns"].as_u64().is_some_and(|ns| ns > 0), "{told}");
    nobody_is_left(folder.path());
}

#[test]
fn each_tool_that_is_here_moves_a_file() {
    each_moves_a_file(&TOOLS[..TOOLS.len() / 2], "each_tool_that_is_here_moves_a_file");
}

#[test]
fn each_further_tool_moves_a_file() {
    each_moves_a_file(&TOOLS[TOOLS.len() / 2..], "each_further_tool_moves_a_file");
}
