//! Arguments to a plan; the loop; the only room that prints, exits, or reads the environment.

mod ab;
mod args;
mod calibrate;
mod capture;
mod capture_args;
mod command;
mod compare;
mod completions;
mod config;
mod diagnose;
mod doctor;
mod explain;
mod fault;
mod heading;
mod history;
mod import;
mod join;
mod kept;
mod lab;
mod lab_file;
mod last_words;
mod list;
mod man;
mod matrix;
mod measure;
mod onto;
mod output;
mod page_file;
mod planned_hosts;
mod printed;
mod reach;
mod recorder;
mod report;
mod resume;
mod role;
mod run;
mod runtime;
mod state;
mod stop;
mod suite;
mod trace;
mod trace_args;
mod trace_running;
mod trace_stream;
mod traces;
mod transfer;
mod transfer_args;
mod tune;
mod undo;
mod unmeasured;
mod usage;
mod value;
mod watch;
mod words;

use crate::analysis::{Verdict, has_failed};
use crate::lab::journal;
use crate::record::Recording;
use crate::transport::foreign::library::shell;
use crate::{Error, Result};
use args::{Args, Command};
use clap::FromArgMatches;
use output::{complain, farewell, print, printable, tell, write};
use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    last_words::prepare();
    if let Err(error) = last_words::look_at_stack() {
        return failed(&error);
    }
    if let Some(code) = as_remote_shell() {
        return code;
    }
    let args = match asked() {
        Ok(args) => args,
        Err(error) => return failed(&error),
    };
    let json = args.command.is_json();
    let ended = dispatch(args);
    journal::end();
    match ended {
        Ok(code) => code,
        Err(error) => {
            if json {
                watch::lines::error(&error);
            }
            failed(&error)
        }
    }
}

/// A launcher takes the path of a remote shell and says nothing of its own to it: a variable tells what this program is
/// to it. Ranks, keepers and who starts daemons inherit that, and are something else.
fn as_remote_shell() -> Option<ExitCode> {
    let access = std::env::var(shell::ACCESS).ok()?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| role::FROM_OUTSIDE.contains(&word.as_str())) {
        return None;
    }
    Some(shell::call::main(&access, &words).map_or_else(|error| failed(&error), ExitCode::from))
}

/// Says what went wrong and what to try, and answers with its code.
fn failed(error: &Error) -> ExitCode {
    complain(&chain(error));
    if let Some(hint) = error.hint() {
        tell(&format!("hint: {hint}"));
    }
    ExitCode::from(error.exit_code())
}

/// What was asked for: by the configuration file, and by the command line, which wins.
fn asked() -> Result<Args> {
    let command = command::command();
    let given = command::with_values(&command, std::env::args_os().collect());
    let path = command::path(&command, &given);
    let (line, asked) = config::in_force(&command, given)?;
    let matches = usage::parse(&command, &path, &line)?;
    let mut args = Args::from_arg_matches(&matches).map_err(|error| usage::error_from(&error, &path))?;
    if let Some(hosts) = args.command.hosts() {
        hosts.asked = asked;
        hosts.target = fault::with_faults(&hosts.target, &hosts.faults)?;
    }
    Ok(args)
}

fn dispatch(args: Args) -> crate::Result<ExitCode> {
    match args.command {
        Command::Run(run) => run::main(&run),
        Command::Ab(ab) => ab::main(&ab),
        Command::Diagnose(diagnose) => diagnose::main(&diagnose),
        Command::Transfer(transfer) => transfer::main(&transfer),
        Command::Trace(trace) => trace::main(&trace),
        Command::Capture(capture) => capture::main(&capture),
        Command::Tune(tune) => tune::main(&tune),
        Command::Matrix(matrix) => matrix::main(&matrix),
        Command::Undo(args) => undo::main(&args),
        Command::Resume(resume) => resume::main(&resume),
        Command::History(history) => history::main(&history),
        Command::Compare(compare) => compare::main(&compare),
        Command::Report(report) => report::main(&report),
        Command::Import(import) => import::main(&import),
        Command::Calibrate(calibrate) => calibrate::main(&calibrate),
        Command::Doctor(state) => doctor::main(&state),
        Command::List(list) => list::main(&list),
        Command::Explain(explain) => explain::main(&explain),
        Command::Lab(lab) => lab::main(&lab),
        Command::Config(config) => config::main(&config),
        Command::Completions(completions) => completions::main(&completions),
        Command::Man(man) => man::main(&man),
        Command::Role(role) => role::main(role),
    }
}

/// Something was not measured that could have been.
const SOME_FAILED: u8 = 12;

/// The exit code of a run that was reported, however it ended.
fn settle(recording: &Recording, ended: Result<()>) -> Result<ExitCode> {
    match ended {
        Ok(()) if has_failed(recording) => Ok(ExitCode::from(SOME_FAILED)),
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

/// An error and its causes, each once; the kernel's answer in its words, without its number.
fn chain(error: &Error) -> String {
    const NUMBER: &str = " (os error ";
    let text = crate::control::chain(error);
    let mut parts = text.split(NUMBER);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}
