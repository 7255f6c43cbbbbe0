//! `linerate trace --stream`: what a stream costs both hosts, from the arguments to the table.

use super::fault::{as_asked, with_faults};
use super::measure::reached;
use super::page_file::write;
use super::stop::Stop;
use super::trace_args::Trace;
use super::value::AskedTarget;
use super::{farewell, print, unmeasured};
use crate::report::{stream_json, stream_page, stream_text};
use crate::run::stream::StreamOrder;
use crate::vocabulary::{OF_RELAYS, SHIM_READ_RATE};
use crate::{Error, Result};
use std::process::ExitCode;

/// The highest level of streams.
const MOST_LEVEL: u8 = 1;

/// Traces, and prints what came of it.
pub fn main(args: &Trace, asked: &AskedTarget) -> Result<ExitCode> {
    if args.level > MOST_LEVEL {
        let what = format!("--level {}: streams are counted at level {MOST_LEVEL}", args.level);
        return Err(Error::usage(what, "leave out --level, or try --level 0"));
    }
    let order = StreamOrder { blocks: args.blocks, time_ns: args.time(), level: args.level };
    let target = with_faults(&asked.target, &args.faults)?;
    let hosts = unmeasured::hosts(target, &args.reach, args.quiet || args.json);
    let heeded = [OF_RELAYS, &[SHIM_READ_RATE.name]].concat();
    let (plan, stop) = (unmeasured::plan_of_connection(&hosts, &args.set, &heeded)?, Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let traced = reached(&plan, &hosts, &wanted, watcher.as_mut()).and_then(|mut runner| {
        runner.trace_stream(&order, &mut |done, of| watcher.moved(&format!("{done} of {of} pairs of blocks")))
    });
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let mut trace = traced.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    trace.target = as_asked(asked, &args.faults);
    match args.json {
        true => {
            print(&format!("{}\n", stream_json(&trace).map_err(|e| Error::io("write", "JSON", e.into()))?))?
        }
        false => print(&stream_text(&trace))?,
    }
    // What was measured is told first: a page that cannot be written loses none of it.
    if let Some(path) = &args.page {
        write(path, stream_page(&trace).as_bytes())?;
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}
