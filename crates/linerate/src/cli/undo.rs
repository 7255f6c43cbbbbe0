//! `linerate undo`: puts back the settings of this host that a search changed and did not put back itself.

use super::runtime::runtime;
use super::watch::warn;
use super::{farewell, print};
use crate::run::host_settings::{Became, PutBack, undo};
use crate::{Error, Result};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Puts back the settings of this host that `linerate tune --apply` left in force, and those of a search that was killed. A
/// setting that reads otherwise than the search made it is somebody else's by now: it is told of, and left.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub format: String,
}

/// Puts it all back. What cannot be is an error, after the rest was.
pub fn main(args: &Undo) -> Result<ExitCode> {
    let (told, notes) = undo(&runtime(), true)?;
    notes.iter().for_each(|note| warn(note));
    if args.format == "json" {
        print(&format!("{:#}\n", told.iter().map(entry).collect::<Value>()))?;
    } else if told.is_empty() {
        print("nothing is to be undone\n")?;
    } else {
        print(&told.iter().map(|one| format!("{one}\n")).collect::<String>())?;
    }
    farewell();
    match told.iter().find(|one| one.became == Became::Failed) {
        Some(failed) => Err(Error::unavailable(failed.to_string(), "as the user who searched, or root")),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn entry(one: &PutBack) -> Value {
    let became = match one.became {
        Became::PutBack => "put-back",
        Became::Left => "left",
        Became::Failed => "failed",
    };
    json!({ "setting": one.place, "became": became, "before": one.before, "now": one.now })
}
