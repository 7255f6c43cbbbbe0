//! `linerate transfer`: a file from one host to another, from the arguments to what held it up.

mod compare;

use super::args::{CommandLine, Hosts, Keep, StateFolder};
use super::measure::reached;
use super::planned_hosts::two_hosts;
use super::run::{once, settings};
use super::stop::Stop;
use super::transfer_args::Transfer;
use super::watch::Watching;
use super::watch::progress::about;
use super::{farewell, print};
use crate::plan::{Plan, Profile, Rungs, View};
use crate::report::{size, transfer_json, transfer_text};
use crate::run::{Moving, Order};
use crate::unit::BitRate;
use crate::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// The rung whose addresses the streams have.
const RUNG: &str = "network.tcp";

/// Moves it, and prints what came of it.
pub fn main(args: &Transfer) -> Result<ExitCode> {
    match args.compare {
        true => compare::main(args),
        false => moved(args),
    }
}

fn moved(args: &Transfer) -> Result<ExitCode> {
    let order = Order {
        source: args.source().map_err(|unfit| Error::usage(unfit.what, unfit.hint))?,
        destination: args.destination(),
        pull: args.pull,
        streams: args.streams,
        verify: !args.no_verify,
        sync: !args.no_sync,
        overwrite: args.overwrite,
        anew: args.anew,
        cold: args.cold,
    };
    let (plan, hosts, stop) = (plan(args)?, hosts(args), Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let moved = reached(&plan, &hosts, &wanted, watcher.as_mut())
        .and_then(|mut runner| runner.transfer(&order, &mut |moving| watcher.moved(&progress(moving))));
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let transfer = moved.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    match args.json {
        true => print(&format!("{}\n", transfer_json(&transfer)))?,
        false => print(&transfer_text(&transfer))?,
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}

/// The arguments as commands that measure are told them.
fn hosts(args: &Transfer) -> Hosts {
    Hosts {
        target: args.target.clone(),
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
    }
}

/// What hosts are told that are reached: nothing of it is measured.
fn plan(args: &Transfer) -> Result<Plan> {
    once("--set", &args.set)?;
    let hosts = hosts(args);
    let profile = Profile::named("quick").ok_or_else(|| Error::usage("no profile is called `quick`", ""))?;
    Ok(Plan {
        target: args.target.clone(),
        hosts: two_hosts(&hosts)?,
        profile,
        view: View::Ladder(Rungs::named([RUNG])),
        settings: settings(&args.target, &args.set)?,
        arms: Vec::new(),
        seed: 0,
        budget_ns: None,
    })
}

/// `12.0 MiB of 1.00 GiB, 1.2 Gb/s, 8 s left`.
fn progress(moving: Moving) -> String {
    let Moving { bytes, of, held, time } = moving;
    let rate = bytes.saturating_sub(held) as f64 / time.as_secs_f64().max(1e-3);
    let left = of.saturating_sub(bytes) as f64 / rate;
    let left = if left.is_finite() { format!(", {} left", about(left)) } else { String::new() };
    format!("{} of {}, {}{left}", size(bytes.min(of)), size(of), BitRate(8.0 * rate).rounded(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn progress_tells_bytes_rate_and_time_left() {
        let moving = Moving { bytes: 150 << 20, of: 1 << 30, held: 50 << 20, time: Duration::from_secs(1) };
        assert_eq!(progress(moving), "150 MiB of 1.00 GiB, 840 Mb/s, 9 s left");
        let begun = Moving { bytes: 0, held: 0, ..moving };
        assert_eq!(progress(begun), "0 B of 1.00 GiB, 0 b/s");
    }
}
