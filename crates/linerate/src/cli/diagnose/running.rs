//! `linerate diagnose --pid` and `--port`: a running program's connections, read only, from the arguments to the verdict.

use crate::cli::args::Diagnose;
use crate::cli::stop::Stop;
use crate::cli::{farewell, print, tell};
use crate::observer::running::{Suspect, watch_program};
use crate::report::RunningReport;
use crate::{Error, Result};
use std::process::ExitCode;
use std::time::Duration;

/// How long a program is watched where nobody says.
const TIME_NS: u64 = 5_000_000_000;

/// Nothing is proved of what was not changed.
const CANNOT_TELL: u8 = 11;

/// Watches, prints what was seen, and answers with the verdict's code; none where no program is asked for.
pub fn main(args: &Diagnose) -> Option<Result<ExitCode>> {
    // The command line takes no larger port.
    let port = args.port.and_then(|port| u16::try_from(port).ok());
    let suspect = args.pid.map(Suspect::Process).or(port.map(Suspect::Port))?;
    Some(watched(args, suspect))
}

fn watched(args: &Diagnose, suspect: Suspect) -> Result<ExitCode> {
    let time = Duration::from_nanos(args.budget.unwrap_or(TIME_NS));
    let is_json = args.format == "json";
    if args.format == "csv" {
        return Err(Error::usage("what a running program does has no rows", "try --format json"));
    }
    if !args.hosts.watching.quiet && !is_json {
        tell(&format!("watching for {} s, changing nothing", time.as_secs_f64()));
    }
    let stop = Stop::listen()?;
    let program = watch_program(suspect, time, &|| stop.wanted())?;
    let report = RunningReport::new(&program);
    match is_json {
        true => print(&format!("{}\n", report.json().map_err(|e| Error::io("write", "JSON", e.into()))?))?,
        false => print(&report.text())?,
    }
    farewell();
    if stop.wanted() {
        return Err(Error::Interrupted);
    }
    // Healthy is said only where something was sent and seen, and nothing of it speaks of a fault.
    let is_seen = report.found.connections.iter().any(|one| one.waits.is_some());
    let is_ill = report.found.verdicts.iter().any(|one| one.is_fault);
    Ok(if is_seen && !is_ill { ExitCode::SUCCESS } else { ExitCode::from(CANNOT_TELL) })
}
