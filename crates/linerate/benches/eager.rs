//! Whether the step at which an MPI stops sending at once is found where it was put.
//!
//!     cargo bench --bench eager [-- [--passes N] [NAME]...]
//!
//! Runs `network.mpi` in a lab with three eager limits for each library, and prints between which two sizes the
//! steps of its half round trips were found, whether a refinement confirmed them, and whether one is within a size of the
//! limit, as the ladder of a quick profile has sizes. A NAME, `openmpi` or `mpich`, picks a library. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const LIBRARIES: [&str; 2] = ["openmpi", "mpich"];
const LIMITS: [(&str, f64); 3] = [("4KiB", 4096.0), ("16KiB", 16_384.0), ("64KiB", 65_536.0)];

/// Two sizes of the ladder lie so far apart.
const A_SIZE: f64 = 2.0;

/// A step: the sizes between which it is, its height, and whether it was measured again there.
struct Found {
    from_bytes: f64,
    at_bytes: f64,
    jump_ns: Option<f64>,
    is_confirmed: bool,
}

/// The steps of the half round trips with this limit.
fn found(folder: &Path, library: &str, limit: &str, passes: &str) -> Result<Vec<Found>, String> {
    let program = env!("CARGO_BIN_EXE_linerate");
    let output = folder.join(format!("{library}-{limit}"));
    let mut run = Command::new(program);
    run.args(["run", "lab", "--profile", "quick", "--no-page", "--quiet", "--only", "network.mpi"]);
    run.args(["--passes", passes, "--set", &format!("mpi.implementation={library}")]);
    run.args(["--set", &format!("mpi.eager-limit={limit}"), "--output"]).arg(&output);
    let ran = run.output().map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned());
    }
    let file = std::fs::read_dir(&output).ok().and_then(|mut all| all.next()?.ok()).ok_or("no recording")?;
    let told = Command::new(program).arg("report").arg(file.path()).args(["--format", "json"]).output();
    let told = told.map_err(|error| error.to_string())?.stdout;
    let report: Value = serde_json::from_slice(&told).map_err(|error| error.to_string())?;
    let curves = report["curves"].as_array().into_iter().flatten();
    let breaks =
        curves.filter(|curve| curve["pattern"] == "ping-pong").flat_map(|curve| curve["breaks"].as_array());
    let read = |it: &Value| {
        Some(Found {
            from_bytes: it["from_bytes"].as_f64()?,
            at_bytes: it["at_bytes"].as_f64()?,
            jump_ns: it["jump_ns"]["median"].as_f64(),
            is_confirmed: it["confirmed"]["holds"] == true,
        })
    };
    Ok(breaks.flatten().filter_map(read).collect())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let at = arguments.iter().position(|word| word == "--passes");
    let passes = at.and_then(|at| arguments.get(at + 1)).map_or("20", String::as_str);
    let is_wanted = |library: &&&str| {
        let mut named = arguments.iter().filter(|word| LIBRARIES.contains(&word.as_str())).peekable();
        named.peek().is_none() || named.any(|word| word == **library)
    };
    let folder = std::env::temp_dir().join(format!("linerate-bench-eager-{}", std::process::id()));
    for library in LIBRARIES.iter().filter(is_wanted) {
        for (limit, bytes) in LIMITS {
            let steps = match found(&folder, library, limit, passes) {
                Ok(steps) => steps,
                Err(why) => {
                    println!("{library:<8} {limit:>6}   missing: {why}");
                    continue;
                }
            };
            let is_near = |step: &Found| step.at_bytes <= bytes * A_SIZE && step.at_bytes >= bytes / A_SIZE;
            let verdict = if steps.iter().any(is_near) { "found" } else { "NOT FOUND" };
            println!("{library:<8} {limit:>6}   {verdict}");
            for step in steps {
                let height = step.jump_ns.map_or("a bend".into(), |ns| format!("+{:.1} us", ns / 1e3));
                let sure = if step.is_confirmed { "confirmed" } else { "not confirmed" };
                println!("{:18}{} B to {} B, {height}, {sure}", "", step.from_bytes, step.at_bytes);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}
