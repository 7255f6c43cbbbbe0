//! `linerate lab list`: the labs that are up.

use super::super::{print, runtime};
use super::args::List;
use super::up::say;
use super::{PUT_ONE_UP, labs, page};
use crate::Result;
use std::process::ExitCode;

/// Prints the list.
pub fn main(args: &List) -> Result<ExitCode> {
    let labs = labs(&runtime::register()?)?;
    if args.format == "json" {
        print(&page::list_json(&labs))?;
    } else if labs.is_empty() {
        say(&format!("no lab is up\nhint: {PUT_ONE_UP}\n"));
    } else {
        print(&page::list(&labs))?;
    }
    Ok(ExitCode::SUCCESS)
}
