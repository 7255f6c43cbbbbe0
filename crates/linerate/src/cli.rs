//! Arguments to a plan; the loop; the only room that prints, exits, or reads the environment.

mod ab;
mod args;
mod calibrate;
mod compare;
mod doctor;
mod explain;
mod list;
mod measure;
mod progress;
mod recorder;
mod report;
mod run;
mod state;
mod stop;

use crate::analysis::Verdict;
use crate::lab::builder;
use crate::run::{agent, this_program, worker};
use crate::{Error, Result};
use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// Runs the program.
#[allow(clippy::print_stderr)]
pub fn main() -> ExitCode {
    match dispatch(Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("linerate: {}", printable(&chain(&error)));
            if let Some(hint) = error.hint() {
                eprintln!("hint: {}", printable(hint));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(args: Args) -> crate::Result<ExitCode> {
    match args.command {
        Command::Run(run) => run::main(&run),
        Command::Ab(ab) => ab::main(&ab),
        Command::Compare(compare) => compare::main(&compare),
        Command::Report(report) => report::main(&report),
        Command::Calibrate(calibrate) => calibrate::main(&calibrate),
        Command::Doctor(state) => doctor::main(&state),
        Command::List(list) => list::main(&list),
        Command::Explain(explain) => explain::main(&explain),
        Command::Agent => {
            let ssh = std::env::var("SSH_CONNECTION").ok();
            let program = this_program()?;
            agent::main(&program, ssh.as_deref(), std::io::stdin(), std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Worker { home } => {
            let secret = std::env::var(worker::SECRET).unwrap_or_default();
            worker::main(&home, &secret)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::LabBuilder => {
            builder::main(std::io::stdin())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The exit code of a run that was reported, however it ended.
fn settle(ended: Result<()>) -> Result<ExitCode> {
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Error::Interrupted) => Ok(ExitCode::from(Error::Interrupted.exit_code())),
        Err(error) => Err(error),
    }
}

/// The exit code of a verdict.
fn verdict_code(verdict: Verdict) -> ExitCode {
    ExitCode::from(match verdict {
        Verdict::Same => 0,
        Verdict::Different => 10,
        Verdict::CannotTell => 11,
    })
}

/// An error and its causes, each once.
fn chain(error: &Error) -> String {
    crate::control::chain(error)
}

/// Prints to standard output; a reader that went away (`| head`) ends the program quietly.
fn print(text: &str) -> crate::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        answer => answer.map_err(|e| Error::io("write", "standard output", e)),
    }
}

/// Without control characters that would act on a terminal: a recording or a peer may hold any text.
/// What stays are line ends and the colours that the report sets.
fn printable(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let colour = colour_len(rest);
        if colour > 0 || !first.is_control() || first == '\n' {
            kept.push_str(&rest[..colour.max(first.len_utf8())]);
        }
        rest = &rest[colour.max(first.len_utf8())..];
    }
    kept
}

/// The length of the colour sequence that a text begins with: ESC, `[`, digits and semicolons, `m`.
fn colour_len(text: &str) -> usize {
    let Some(sequence) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(sequence.len());
    if sequence[end..].starts_with('m') { end + 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_would_act_on_a_terminal_is_not_printed() {
        let cases = [
            ("plain µs ▕█▏\n", "plain µs ▕█▏\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("\u{1b}[2Jgone\rover", "[2Jgoneover"),
            ("\u{1b}[", "["),
            ("\u{9b}31m", "31m"),
        ];
        for (text, shown) in cases {
            assert_eq!(printable(text), shown);
        }
    }
}
