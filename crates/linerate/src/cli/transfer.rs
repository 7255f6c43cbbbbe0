//! `linerate transfer`: a file from one host to another, from the arguments to what held it up.

mod compare;

use super::args::Hosts;
use super::measure::reached;
use super::stop::Stop;
use super::transfer_args::Transfer;
use super::watch::progress::about;
use super::{farewell, print, tell, unmeasured};
use crate::plan::Plan;
use crate::report::{size, transfer_json, transfer_text};
use crate::run::{Moving, Order};
use crate::unit::BitRate;
use crate::{Error, Result};
use std::process::ExitCode;

/// Moves it, and prints what came of it.
pub fn main(args: &Transfer) -> Result<ExitCode> {
    match args.compare {
        true => compare::main(args),
        false => moved(args),
    }
}

fn moved(args: &Transfer) -> Result<ExitCode> {
    for (name, given) in [("SOURCE", &args.source), ("DESTINATION", &args.destination)] {
        if given.as_ref().is_some_and(|given| given.is_empty()) {
            return Err(Error::usage(format!("{name} is empty"), "is a variable of the shell unset?"));
        }
    }
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
        direct: args.direct,
        cipher: args.tls.clone(),
    };
    let ((hosts, plan), stop) = (hosts_and_plan(args)?, Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let moved = reached(&plan, &hosts, &wanted, watcher.as_mut())
        .and_then(|mut runner| runner.transfer(&order, &mut |moving| watcher.moved(&progress(moving))));
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let transfer = moved.map_err(|error| match stop.wanted() {
        true => {
            tell("what came is kept beside the destination: the same command goes on");
            Error::Interrupted
        }
        false => error,
    })?;
    match args.json {
        true => print(&format!("{}\n", transfer_json(&transfer)))?,
        false => print(&transfer_text(&transfer))?,
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}

/// The hosts, and what they are told that are reached: nothing of it is measured.
fn hosts_and_plan(args: &Transfer) -> Result<(Hosts, Plan)> {
    let hosts = unmeasured::hosts(args.target.clone(), &args.reach, args.quiet || args.json);
    let plan = unmeasured::plan_of_connection(&hosts, &args.set, &[])?;
    Ok((hosts, plan))
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
