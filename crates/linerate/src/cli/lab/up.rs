//! `linerate lab up`: builds a lab and keeps it, here or in the background.

use super::super::watch::warn;
use super::super::{printable, runtime, traces};
use super::args::Up;
use super::{labs, page, print};
use crate::lab::fault::of_runs_alone;
use crate::lab::{Holding, Inside, Order, holder};
use crate::plan::Topology;
use crate::run::this_program;
use crate::{Error, Result};
use jiff::Timestamp;
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Process;
use linerate_sys::thread;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// A wait for a wire's end, of which there may be many.
const WHILE: Duration = Duration::from_secs(3600);

/// Keeps a lab until a signal comes, or starts who does.
pub fn main(args: &Up) -> Result<ExitCode> {
    let register = runtime::register()?;
    // Says what is stale.
    labs(&register)?;
    traces::tidy().iter().for_each(|told| warn(told));
    register.refuse_taken(&args.name)?;
    let topology = topology(args)?;
    let order = Order {
        name: args.name.clone(),
        topology,
        base: register.base().to_owned(),
        utc: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    if args.detach {
        let entry = holder::start(&order, &this_program()?)?;
        print(&page::hosts(&entry))?;
        print(&page::faults(&entry))?;
        say(&page::usage(&entry, "it ends with `linerate lab down`"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut ending = signals()?;
    let holding = Holding::put_up(&order, &this_program()?)?;
    print(&page::hosts(holding.entry()))?;
    print(&page::faults(holding.entry()))?;
    say(&page::usage(holding.entry(), "it ends with Ctrl-C"));
    let holding = keep(holding, &mut ending)?;
    let inside = holding.inside();
    drop(holding);
    say(&left_inside(&inside, "linerate lab down --stale; or kill "));
    Ok(ExitCode::SUCCESS)
}

/// The lab that was asked for, with its faults; those of a run have nothing to act on here.
fn topology(args: &Up) -> Result<Topology> {
    let asked = args.topology.clone().with_faults(args.faults.iter().cloned());
    let topology = asked.map_err(|error| Error::usage(error.what, error.hint))?;
    match of_runs_alone(&topology) {
        Some(fault) => {
            let what =
                format!("the fault {fault} is of a run's own programs, and a lab that is kept has none");
            Err(Error::usage(what, format!("linerate run lab --fault {fault}")))
        }
        None => Ok(topology),
    }
}

/// The background holder, which [`main`] starts.
pub fn hold() -> Result<ExitCode> {
    let mut ending = signals()?;
    if let Some(holding) = holder::serve(std::io::stdin(), &this_program()?)? {
        keep(holding, &mut ending)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps a lab until a signal comes, or until it is none any more because a process of its own ended: that is the
/// error.
fn keep(holding: Holding, ending: &mut Signals) -> Result<Holding> {
    for own in holding.processes() {
        let (wake, own) = (ending.handle(), Process::open(own.pid())?);
        thread::start("end", move || {
            while own.as_ref().is_some_and(|own| !own.wait(WHILE).unwrap_or(true)) {}
            wake.close();
        })?;
    }
    if ending.forever().next().is_some() {
        return Ok(holding);
    }
    let ended = holding.processes().filter(|own| own.has_ended()).find_map(ChildProcess::verdict);
    let how = ended.unwrap_or_else(|| "a process of the lab's own ended".into());
    holding.abandon();
    Err(Error::died(how))
}

/// The signals that end a lab, heard from now on.
fn signals() -> Result<Signals> {
    Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|e| Error::io("sigaction", "the signals that end a lab", e))
}

/// Who is still on the hosts of a lab that was ended, and what to do; nothing where nobody is.
pub fn left_inside(inside: &[Inside], hint: &str) -> String {
    let head = match inside.len() {
        0 => return String::new(),
        1 => "1 process is still on its hosts, which stay until it ends:\n".to_owned(),
        many => format!("{many} processes are still on its hosts, which stay until they end:\n"),
    };
    let lines = inside.iter().map(|inside| format!("  {:<8} {}\n", inside.pid(), inside.command));
    let pids: Vec<String> = inside.iter().map(|inside| inside.pid().to_string()).collect();
    format!("{head}{}hint: {hint}{}\n", lines.collect::<String>(), pids.join(" "))
}

/// Writes to standard error. Where that is gone, nobody is left to tell.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(printable(text).as_bytes());
}
