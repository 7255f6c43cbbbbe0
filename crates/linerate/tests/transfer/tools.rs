//! Each other program that moves files moves one of 10 MB, and a folder where it can, in the lab, whole, and nothing of its servers is left.

use super::{command, told};
use crate::user::ranks::nobody_is_left;
use linerate::workload::tool::{Bench, TOOLS};
use serde_json::Value;
use tempfile::TempDir;

#[test]
fn each_tool_that_is_here_moves_a_file() {
    let path = Bench::programs();
    for tool in TOOLS {
        if let Some(missing) = tool.missing(&path) {
            println!("SKIP: each_tool_that_is_here_moves_a_file: {}: no {missing} here", tool.name);
        }
    }
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), "lab");
    let output = command
        .args(["--compare", "--sizes", "10MB", "--files", "120", "--rounds", "1", "--json"])
        .output()
        .unwrap();
    let told = told(&output);
    let rows = told["rows"].as_array().unwrap();
    let of = |name: &str| {
        let all = rows.iter().filter(move |row| row["transfers"]["tool"] == name);
        all.collect::<Vec<_>>()
    };
    for tool in TOOLS.iter().filter(|tool| tool.missing(&path).is_none()) {
        let rows = of(tool.name);
        let loads = 1 + usize::from(tool.moves_folders());
        let ways = tool.streams.len() + tool.best.map_or(0, |best| best.streams.len());
        assert_eq!(rows.len(), loads * ways, "{}", tool.name);
        let best = rows.iter().filter(|row| row["transfers"]["flags"].is_string()).count();
        assert_eq!(best, loads * tool.best.map_or(0, |best| best.streams.len()), "{}", tool.name);
        for row in rows {
            assert!(row["throughput_bps"]["median"].as_f64().is_some_and(|bps| bps > 0.0), "{row}");
            assert_eq!(row["transfers"]["took_ns"].as_array().map(Vec::len), Some(1), "{row}");
        }
    }
    assert_eq!(of("linerate").len(), 6);
    let is_folder = |row: &&&Value| row["transfers"]["files"] == 120;
    assert_eq!(of("linerate, not verified").iter().filter(is_folder).count(), 1);
    assert!(of("linerate, memory to disk").iter().filter(is_folder).count() == 0);
    nobody_is_left(folder.path());
}
