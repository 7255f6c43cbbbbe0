//! Hosts whose clocks differ by hours: no number is of two clocks.

use super::world::{World, said};
use crate::user::runs::{await_condition, processes, recording, report};
use std::process::Command;

/// Ten hours.
const AHEAD: &str = "36000";

/// One host's monotonic clock is ten hours ahead of the others': a namespace of time has it so.
#[test]
fn hosts_whose_clocks_differ_by_hours_are_measured_alike() {
    let can = Command::new("unshare").args(["--time", "--monotonic", AHEAD, "--fork", "true"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        return println!(
            "SKIP: launchers::clocks::hosts_whose_clocks_differ_by_hours_are_measured_alike: no namespaces of time here"
        );
    }
    let world = World::new(5);
    let ahead = format!("unshare --time --monotonic {AHEAD} --boottime {AHEAD} --fork --kill-child");
    let enter = world.enter();
    let script =
        format!("host=$1; shift\ntest $host = h1 && set -- {ahead} \"$@\"\nexec {enter} $host \"$@\"");
    let launch = format!("{} {{host}}", world.script("apart", &script));
    let out = world.out();
    let arguments = ["matrix", "launch:h0,h1,h2,h3", "--launch", &launch, "--trial", "100ms", "--no-page"];
    let output = world.command(&arguments).arg("--output").arg(&out).output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{}", said(&output));
    let matrix = report(&recording(&out))["matrix"].clone();
    let cells = matrix["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12, "{matrix:#}");
    for cell in cells {
        let [rate, trip] = ["throughput_bps", "round_trip_ns"].map(|key| cell[key].as_f64().unwrap());
        // Ten hours in either would be beyond these by powers of ten.
        assert!((1e8..1e12).contains(&rate) && (1e3..1e8).contains(&trip), "{cell}");
    }
    await_condition("the end of what the run started", || processes().is_empty());
}
