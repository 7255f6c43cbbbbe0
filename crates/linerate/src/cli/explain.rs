//! `linerate explain`: what a name means.

use super::args::Explain;
use super::print;
use crate::report::reference;
use crate::{Error, Result};
use std::process::ExitCode;

/// Prints what a name means, or all names.
pub fn main(args: &Explain) -> Result<ExitCode> {
    let text = match &args.name {
        Some(name) => reference::explain(name).map_err(|near| unknown(name, &near))?,
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
