//! `linerate trace --pid` and `--port`: where the messages of a running program wait on this host, from the arguments to the table.

use super::page_file::write;
use super::stop::Stop;
use super::trace_args::Trace;
use super::{farewell, print, tell};
use crate::observer::running::Suspect;
use crate::report::{RunningTraceReport, running_trace_page};
use crate::trace::trace_program;
use crate::{Error, Result};
use std::process::ExitCode;
use std::time::Duration;

/// Traces, and prints what was seen; none where no program is asked for.
pub fn main(args: &Trace) -> Option<Result<ExitCode>> {
    // The command line takes no larger port.
    let port = args.port.and_then(|port| u16::try_from(port).ok());
    let suspect = args.pid.map(Suspect::Process).or(port.map(Suspect::Port))?;
    Some(traced(args, suspect))
}

fn traced(args: &Trace, suspect: Suspect) -> Result<ExitCode> {
    if args.level == 0 {
        return Err(Error::usage("--level 0 sees nothing of a program that is not ours", "try --level 1"));
    }
    let time = Duration::from_nanos(args.time());
    if !args.quiet && !args.json {
        tell(&format!("tracing for {} s, changing nothing", time.as_secs_f64()));
    }
    let stop = Stop::listen()?;
    let trace = trace_program(suspect, args.level, time, &|| stop.wanted())?;
    let report = RunningTraceReport::new(&trace);
    match args.json {
        true => print(&format!("{}\n", report.json().map_err(|e| Error::io("write", "JSON", e.into()))?))?,
        false => print(&report.text())?,
    }
    // What was measured is told first: a page that cannot be written loses none of it.
    if let Some(path) = &args.page {
        write(path, running_trace_page(&trace).as_bytes())?;
    }
    farewell();
    if stop.wanted() { Err(Error::Interrupted) } else { Ok(ExitCode::SUCCESS) }
}
