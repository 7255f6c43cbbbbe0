//! `linerate trace`: where a message waits, from the arguments to the tables.

use super::args::{CommandLine, Hosts, Keep, StateFolder};
use super::fault::with_faults;
use super::measure::reached;
use super::planned_hosts::two_hosts;
use super::run::{once, settings};
use super::stop::Stop;
use super::trace_args::Trace;
use super::watch::Watching;
use super::{farewell, print};
use crate::plan::{Plan, Profile, Rungs, View};
use crate::report::{trace_json, trace_page, trace_text};
use crate::run::trace::TraceOrder;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The rung whose addresses the connection has.
const RUNG: &str = "network.tcp";

/// The longest message: ids of stamps are counted in bytes, in 32 bits.
const LONGEST: u64 = 64 << 10;

/// Traces, and prints what came of it.
pub fn main(args: &Trace) -> Result<ExitCode> {
    if args.bytes > LONGEST {
        return Err(Error::usage(
            format!("--bytes {}: at most 64KiB are traced", args.bytes),
            "try --bytes 1KiB",
        ));
    }
    let order = TraceOrder {
        bytes: args.bytes,
        exchanges: args.exchanges,
        blocks: args.blocks,
        level: args.level,
        waits: args.waits(),
    };
    let hosts = hosts(args)?;
    let (plan, stop) = (plan(args, &hosts)?, Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let traced = reached(&plan, &hosts, &wanted, watcher.as_mut()).and_then(|mut runner| {
        runner.trace(&order, &mut |done, of| watcher.moved(&format!("{done} of {of} pairs of blocks")))
    });
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let mut trace = traced.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    trace.target = hosts.target.to_string();
    if let Some(path) = &args.page {
        write(path, &trace_page(&trace))?;
    }
    match args.json {
        true => {
            print(&format!("{}\n", trace_json(&trace).map_err(|e| Error::io("write", "JSON", e.into()))?))?
        }
        false => print(&trace_text(&trace))?,
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, page: &str) -> Result<()> {
    std::fs::write(path, page).map_err(|error| Error::io("write", path.display().to_string(), error))
}

/// The arguments as commands that measure are told them.
fn hosts(args: &Trace) -> Result<Hosts> {
    Ok(Hosts {
        target: with_faults(&args.target, &args.faults)?,
        only: Vec::new(),
        skip: Vec::new(),
        // Nothing is visited in an order.
        seed: Some(0),
        faults: Vec::new(),
        reach: args.reach.clone(),
        output: PathBuf::new(),
        watching: Watching { quiet: args.quiet || args.json, live: false, json: false },
        state: StateFolder { folder: None },
        asked: CommandLine::default(),
        keep: Keep::default(),
    })
}

/// What hosts are told that are reached.
fn plan(args: &Trace, hosts: &Hosts) -> Result<Plan> {
    once("--set", &args.set)?;
    let profile = Profile::named("quick").ok_or_else(|| Error::usage("no profile is called `quick`", ""))?;
    Ok(Plan {
        target: hosts.target.clone(),
        hosts: two_hosts(hosts)?,
        profile,
        view: View::Ladder(Rungs::named([RUNG])),
        settings: settings(&hosts.target, &args.set)?,
        arms: Vec::new(),
        seed: 0,
        budget_ns: None,
    })
}
