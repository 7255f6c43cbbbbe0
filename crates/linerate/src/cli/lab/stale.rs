//! `linerate lab down --stale`: undoes what dead processes left, and says what that was.

use super::super::watch::warn;
use super::super::{print, runtime, traces};
use super::up::say;
use crate::lab::Gone;
use crate::lab::journal::Undoing;
use crate::{Error, Result};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Undoes it all. What does not end is an error, after the rest was undone.
pub fn main(as_json: bool) -> Result<ExitCode> {
    let look = runtime::register()?.look()?;
    let undoing = traces::undo()?;
    look.notes.iter().chain(&undoing.notes).for_each(|note| warn(note));
    if as_json {
        print(&format!("{:#}\n", list(&look.gone, &undoing)))?;
    } else if look.gone.is_empty() && undoing.undone.is_empty() {
        say("nothing is stale\n");
    } else {
        let records = look.gone.iter().map(|gone| format!("{gone}\n"));
        let processes = undoing.undone.iter().map(|undone| traces::sentence(undone, "is ended") + "\n");
        print(&records.chain(processes).collect::<String>())?;
    }
    match undoing.left.first() {
        Some(left) => {
            let what = format!("does not end even when killed: `{}`", left.command);
            Err(Error::peer(format!("process {}", left.pid), what, "is it being debugged?"))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn list(gone: &[Gone], undoing: &Undoing) -> Value {
    let records =
        gone.iter().map(|gone| json!({ "undone": "record", "lab": gone.name, "holder_pid": gone.pid }));
    let processes = undoing.undone.iter().map(|undone| {
        json!({
            "undone": undone.kind.singular(),
            "pid": undone.pid,
            "command": undone.command,
            "left_by_pid": undone.of,
        })
    });
    records.chain(processes).collect()
}
