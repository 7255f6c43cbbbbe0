//! `linerate lab`: virtual hosts that a user keeps to work in.

pub mod args;
mod down;
mod exec;
mod list;
mod page;
mod stale;
mod up;

use super::print;
use super::watch::warn;
use crate::lab::{Held, Register};
use crate::vocabulary::distance;
use crate::{Error, Result};
use args::Lab;
use std::process::ExitCode;

/// What to type when there is no lab.
const PUT_ONE_UP: &str = "put one up: linerate lab up --detach";

/// Runs one of the commands.
pub fn main(lab: &Lab) -> Result<ExitCode> {
    match lab {
        Lab::Up(up) => up::main(up),
        Lab::Exec(exec) => exec::main(exec),
        Lab::List(list) => list::main(list),
        Lab::Down(down) => down::main(down),
        Lab::Hold { .. } => up::hold(),
    }
}

/// The labs that are up; what else was found is said on standard error.
fn labs(register: &Register) -> Result<Vec<Held>> {
    let look = register.look()?;
    look.gone.iter().for_each(|gone| warn(&gone.to_string()));
    look.notes.iter().for_each(|note| warn(note));
    Ok(look.held)
}

/// The lab with this name, or the only one; `hint` is what to type to choose the one with a name.
fn choose(mut held: Vec<Held>, name: Option<&str>, hint: impl Fn(&str) -> String) -> Result<Held> {
    let names: Vec<String> = held.iter().map(|held| held.entry.name.clone()).collect();
    let Some(first) = names.first() else {
        let what =
            name.map_or_else(|| "no lab is up".to_owned(), |name| format!("no lab called `{name}` is up"));
        return Err(Error::usage(what, PUT_ONE_UP));
    };
    match name {
        None if names.len() == 1 => Ok(held.swap_remove(0)),
        None => Err(Error::usage(format!("{} labs are up: {}", names.len(), names.join(", ")), hint(first))),
        Some(name) => match names.iter().position(|other| other == name) {
            Some(at) => Ok(held.swap_remove(at)),
            None => Err(Error::usage(format!("no lab called `{name}` is up"), meant(&names, name))),
        },
    }
}

/// What was meant, or all that there is.
fn meant(names: &[String], wanted: &str) -> String {
    let near =
        names.iter().filter(|name| distance(name, wanted) <= 2).min_by_key(|name| distance(name, wanted));
    match near {
        Some(name) => format!("did you mean {name}?"),
        None => format!("up: {}", names.join(", ")),
    }
}
