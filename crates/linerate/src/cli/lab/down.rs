//! `linerate lab down`: ends a lab's holder, and on request what is still on its hosts.

use super::super::watch::warn;
use super::super::{runtime, traces};
use super::args::Down;
use super::up::{left_inside, say};
use super::{choose, labs, stale};
use crate::Result;
use crate::lab::{Held, Register};
use std::process::ExitCode;

/// Takes down one lab, or all, or what dead ones left.
pub fn main(args: &Down) -> Result<ExitCode> {
    if args.stale {
        return stale::main(args.format == "json");
    }
    let register = runtime::register()?;
    let held = labs(&register)?;
    let hint = |name: &str| format!("say which: linerate lab down {name}; or all: linerate lab down --all");
    let ending = if args.all { held } else { vec![choose(held, args.name.as_deref(), hint)?] };
    if ending.is_empty() {
        say("no lab is up\n");
    }
    ending.iter().try_for_each(|lab| end(&register, lab, args.kill))?;
    traces::tidy().iter().for_each(|told| warn(told));
    Ok(ExitCode::SUCCESS)
}

fn end(register: &Register, lab: &Held, kill: bool) -> Result<()> {
    let grip = lab.hold_namespaces()?;
    lab.end(&grip)?;
    // Its holder did that already, unless it had to be killed.
    register.release(&lab.entry)?;
    say(&format!("the lab `{}` is down\n", lab.entry.name));
    let (inside, hint) = match kill {
        true => (grip.end_inside(), "they do not end even when killed: "),
        false => (grip.inside(), "end them as well: linerate lab down --stale; or kill "),
    };
    say(&left_inside(&inside, hint));
    Ok(())
}
