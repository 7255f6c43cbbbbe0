//! Arguments to a plan; the loop; the only room that prints, exits, or reads the environment.

mod args;
mod doctor;
mod list;
mod measure;
mod progress;
mod report;
mod stop;

use crate::lab::builder;
use crate::{Error, run};
use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// Runs the program.
#[allow(clippy::print_stderr)]
pub fn main() -> ExitCode {
    match dispatch(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("linerate: {}", chain(&error));
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(args: Args) -> crate::Result<ExitCode> {
    match args.command {
        Command::Run(run) => measure::main(&run),
        Command::Report(report) => report::main(&report),
        Command::Doctor => doctor::main(),
        Command::List(list) => list::main(&list),
        Command::Agent => {
            let ssh = std::env::var("SSH_CONNECTION").ok();
            let program = run::this_program()?;
            run::agent::main(&program, ssh.as_deref(), std::io::stdin(), std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Worker { home } => {
            let secret = std::env::var(run::worker::SECRET).unwrap_or_default();
            run::worker::main(&home, &secret)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::LabBuilder => {
            builder::main(std::io::stdin())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// An error and its causes, each once.
fn chain(error: &Error) -> String {
    crate::control::chain(error)
}

/// Prints to standard output; a reader that went away (`| head`) ends the program quietly.
fn print(text: &str) -> crate::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        answer => answer.map_err(|e| Error::io("write", "standard output", e)),
    }
}
