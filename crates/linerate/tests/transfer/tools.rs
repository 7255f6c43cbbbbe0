//! Each other program that moves files moves one of 10 MB in the lab, whole, and nothing of its servers is left.

use super::{command, told};
use crate::user::ranks::nobody_is_left;
use linerate::workload::tool::{Bench, TOOLS};
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
    let output = command.args(["--compare", "--sizes", "10MB", "--rounds", "1", "--json"]).output().unwrap();
    let told = told(&output);
    let rows = told["rows"].as_array().unwrap();
    let of = |name: &str| {
        let all = rows.iter().filter(move |row| row["transfers"]["tool"] == name);
        all.collect::<Vec<_>>()
    };
    for tool in TOOLS.iter().filter(|tool| tool.missing(&path).is_none()) {
        let rows = of(tool.name);
        assert_eq!(rows.len(), tool.streams.len(), "{}", tool.name);
        for row in rows {
            assert!(row["throughput_bps"]["median"].as_f64().is_some_and(|bps| bps > 0.0), "{row}");
            assert_eq!(row["transfers"]["took_ns"].as_array().map(Vec::len), Some(1), "{row}");
        }
    }
    assert_eq!(of("linerate").len(), 3);
    nobody_is_left(folder.path());
}
