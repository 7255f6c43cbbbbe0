//! `linerate explain`: what a name means, or what is to be known of a recording.

use super::args::Explain;
use super::print;
use super::report::{columns, read_recording};
use crate::report::{explained, reference};
use crate::{Error, Result};
use std::path::Path;
use std::process::ExitCode;

/// Prints what a name means, all notes of a recording, or all names.
pub fn main(args: &Explain) -> Result<ExitCode> {
    let text = match &args.name {
        Some(name) => match reference::explain(name) {
            Ok(text) => text,
            Err(_) if Path::new(name).is_file() => explained(&read_recording(Path::new(name))?, columns()),
            Err(near) => return Err(unknown(name, &near)),
        },
        None => reference::names(),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str, near: &[&str]) -> Error {
    let hint = match near {
        [] => "`linerate explain` lists all names".into(),
        near => format!("did you mean `{}`?", near.join("` or `")),
    };
    Error::usage(format!("nothing is called `{name}`"), hint)
}
