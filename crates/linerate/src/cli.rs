//! Arguments to a plan; the loop; the only room that prints, exits, or reads the environment.

use crate::lab::builder;
use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let done = match command.as_str() {
        builder::SUBCOMMAND => builder::main(std::io::stdin()),
        _ => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(error.exit_code()),
    }
}
