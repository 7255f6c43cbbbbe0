//! `linerate lab up`: builds a lab and keeps it, here or in the background.

use super::super::printable;
use super::args::Up;
use super::{folder, labs, page, print};
use crate::lab::{Holding, Inside, Order, holder};
use crate::run::this_program;
use crate::{Error, Result};
use jiff::Timestamp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::process::ExitCode;

/// Keeps a lab until a signal comes, or starts who does.
pub fn main(args: &Up) -> Result<ExitCode> {
    let register = folder::register()?;
    // Says what is stale.
    labs(&register)?;
    register.refuse_taken(&args.name)?;
    let order = Order {
        name: args.name.clone(),
        topology: args.topology.clone(),
        base: register.base().to_owned(),
        utc: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    if args.detach {
        let entry = holder::start(&order, &this_program()?)?;
        print(&page::hosts(&entry))?;
        say(&page::usage(&entry, "it ends with `linerate lab down`"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut ending = signals()?;
    let holding = Holding::put_up(&order, &this_program()?)?;
    print(&page::hosts(holding.entry()))?;
    say(&page::usage(holding.entry(), "it ends with Ctrl-C"));
    ending.forever().next();
    let inside = holding.inside();
    drop(holding);
    say(&left_inside(&inside, "kill "));
    Ok(ExitCode::SUCCESS)
}

/// The background holder, which [`main`] starts.
pub fn hold() -> Result<ExitCode> {
    let mut ending = signals()?;
    if let Some(_holding) = holder::serve(std::io::stdin(), &this_program()?)? {
        ending.forever().next();
    }
    Ok(ExitCode::SUCCESS)
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

/// Prints to standard error.
#[allow(clippy::print_stderr)]
pub fn say(text: &str) {
    eprint!("{}", printable(text));
}
