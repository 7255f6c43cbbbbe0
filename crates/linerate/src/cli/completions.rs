//! `linerate completions`: what a shell needs to complete a command line.

use super::args::Completions;
use super::{command, write};
use crate::Result;
use std::process::ExitCode;

/// Prints the shell's script, as it is.
pub fn main(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command::visible(), "linerate", &mut script);
    write(&script)?;
    Ok(ExitCode::SUCCESS)
}
