//! `linerate trace`: where a message waits, from the arguments to the tables.

use super::fault::{as_asked, with_faults};
use super::measure::reached;
use super::page_file::write;
use super::stop::Stop;
use super::trace_args::Trace;
use super::{farewell, print, trace_running, trace_stream, unmeasured};
use crate::report::{trace_json, trace_page, trace_text};
use crate::run::trace::TraceOrder;
use crate::vocabulary::{OF_RELAYS, SHIM_READ_RATE};
use crate::{Error, Result};
use std::process::ExitCode;

/// The longest message: ids of stamps are counted in bytes, in 32 bits.
const LONGEST: u64 = 64 << 10;

/// What a datagram has room for that is one packet, with the number that it carries.
const LEAST_DATAGRAM: u64 = 8;
const LONGEST_DATAGRAM: u64 = 1400;

/// The knobs of a connection.
const OF_TCP: &str = "tcp.";

/// Traces, and prints what came of it.
pub fn main(args: &Trace) -> Result<ExitCode> {
    if let Some(of_running) = trace_running::main(args) {
        return of_running;
    }
    let asked = args.target.as_ref().ok_or_else(|| Error::usage("no TARGET", "try linerate trace lab"))?;
    if args.stream {
        return trace_stream::main(args, asked);
    }
    if args.time.is_some() {
        let what = "--time is of --stream, --pid and --port";
        return Err(Error::usage(what, "how long exchanges are traced is told by --exchanges and --blocks"));
    }
    if args.bytes > LONGEST {
        return Err(Error::usage(
            format!("--bytes {}: at most 64KiB are traced", args.bytes),
            "try --bytes 1KiB",
        ));
    }
    if args.datagrams {
        fit_for_datagrams(args)?;
    }
    let order = TraceOrder {
        bytes: args.bytes,
        exchanges: args.exchanges,
        every: args.every,
        blocks: args.blocks,
        // The tracepoints stamp the first packet of a message.
        level: if args.writes > 1 { 0 } else { args.level },
        waits: args.waits(),
        writes: args.writes,
        datagrams: args.datagrams,
    };
    // What no host can do is said before any is reached.
    order.check(&[order.level])?;
    let target = with_faults(&asked.target, &args.faults)?;
    let hosts = unmeasured::hosts(target, &args.reach, args.quiet || args.json);
    let (plan, stop) = (
        unmeasured::plan_of_connection(&hosts, &args.set, &[OF_RELAYS, &[SHIM_READ_RATE.name]].concat())?,
        Stop::listen()?,
    );
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let traced = reached(&plan, &hosts, &wanted, watcher.as_mut()).and_then(|mut runner| {
        runner.trace(&order, &mut |done, of| watcher.moved(&format!("{done} of {of} pairs of blocks")))
    });
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let mut trace = traced.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    trace.target = as_asked(asked, &args.faults);
    match args.json {
        true => {
            print(&format!("{}\n", trace_json(&trace).map_err(|e| Error::io("write", "JSON", e.into()))?))?
        }
        false => print(&trace_text(&trace))?,
    }
    // What was measured is told first: a page that cannot be written loses none of it.
    if let Some(path) = &args.page {
        write(path, trace_page(&trace).as_bytes())?;
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}

/// What is asked of datagrams: a message is one packet, and nothing is set of a connection.
fn fit_for_datagrams(args: &Trace) -> Result<()> {
    if !(LEAST_DATAGRAM..=LONGEST_DATAGRAM).contains(&args.bytes) {
        let what = format!(
            "--bytes {}: a datagram of {LEAST_DATAGRAM} to {LONGEST_DATAGRAM} B is traced",
            args.bytes
        );
        return Err(Error::usage(what, "try --bytes 64B"));
    }
    match args.set.iter().find(|setting| setting.knob.starts_with(OF_TCP)) {
        None => Ok(()),
        Some(setting) => Err(Error::usage(
            format!("{setting} does nothing to datagrams"),
            "leave out --datagrams, or this",
        )),
    }
}
