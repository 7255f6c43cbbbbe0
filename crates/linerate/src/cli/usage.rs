//! What clap finds wrong with a command line, in the words of every other error.

use super::command;
use super::value::Unfit;
use crate::vocabulary::did_you_mean;
use crate::{Error, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use std::ffi::OsString;

/// Parses the line. Help and version are printed here, and end the program.
pub fn parse(command: &Command, path: &[String], line: &[OsString]) -> Result<ArgMatches> {
    command.clone().try_get_matches_from(line).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        _ => error_from(&error, path),
    })
}

/// The error in a sentence, and what to try.
pub fn error_from(error: &clap::Error, path: &[String]) -> Error {
    let called = [&["linerate".to_owned()], path].concat().join(" ");
    let argument = name(&context_text(error, ContextKind::InvalidArg));
    let value = context_text(error, ContextKind::InvalidValue);
    let help = format!("`{called} --help` shows what there is");
    let (what, hint) = match error.kind() {
        ErrorKind::ValueValidation => return unfit(error, &argument, &value),
        ErrorKind::InvalidValue if value.is_empty() => {
            (format!("{argument} lacks its value"), known(error, &help))
        }
        ErrorKind::InvalidValue => (format!("{argument} takes no `{value}`"), known(error, &help)),
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            (format!("`{called}` has no {argument}"), suggested(error, ContextKind::SuggestedArg, &help))
        }
        ErrorKind::UnknownArgument => (format!("`{argument}` is a word too many for `{called}`"), help),
        ErrorKind::InvalidSubcommand => {
            let word = context_text(error, ContextKind::InvalidSubcommand);
            (format!("no command is called `{word}`"), near_commands(path, &word, &help))
        }
        ErrorKind::MissingRequiredArgument => (format!("`{called}` needs {argument}"), example(path, &help)),
        ErrorKind::ArgumentConflict => {
            conflict(&argument, &name(&context_text(error, ContextKind::PriorArg)))
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            (first.trim_start_matches("error: ").to_owned(), help)
        }
    };
    Error::usage(what, hint)
}

/// The commands that are near a word, or else something to try.
fn near_commands(path: &[String], word: &str, otherwise: &str) -> String {
    let all = command::visible();
    let names = command::at(&all, path).into_iter().flat_map(Command::get_subcommands).map(Command::get_name);
    did_you_mean(names, word, otherwise)
}

/// What a parser of this program said, or one of clap's own.
fn unfit(error: &clap::Error, argument: &str, value: &str) -> Error {
    let source = std::error::Error::source(error);
    match source.and_then(|source| source.downcast_ref::<Unfit>()) {
        Some(unfit) if !argument.starts_with('-') => Error::usage(&*unfit.what, &*unfit.hint),
        Some(unfit) => Error::usage(format!("{argument}: {}", unfit.what), &*unfit.hint),
        None => {
            let why = source.map_or(String::new(), |source| format!(" ({source})"));
            Error::usage(format!("{argument} takes no `{value}`{why}"), "")
        }
    }
}

fn conflict(one: &str, other: &str) -> (String, String) {
    if one == other || other.is_empty() {
        return (format!("{one} is given twice"), "give it once".into());
    }
    (format!("{one} and {other} exclude each other"), "leave one of them out".into())
}

/// What the error knows of this kind.
fn context_text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => {
            texts.iter().map(|text| name(text)).collect::<Vec<_>>().join(" and ")
        }
        _ => String::new(),
    }
}

/// `--only` of `--only <RUNG>`, `TARGET` of `<TARGET>`.
fn name(argument: &str) -> String {
    match argument.split_once(" <") {
        Some((option, _)) if option.starts_with('-') => option.to_owned(),
        _ if argument.starts_with('<') || argument.starts_with('[') => {
            argument.trim_matches(['<', '>', '[', ']', '.']).to_owned()
        }
        _ => argument.to_owned(),
    }
}

/// The names that are near, or else something to try.
fn suggested(error: &clap::Error, kind: ContextKind, otherwise: &str) -> String {
    let near = match error.get(kind) {
        Some(ContextValue::String(one)) => vec![format!("`{one}`")],
        Some(ContextValue::Strings(some)) => some.iter().map(|one| format!("`{one}`")).collect(),
        _ => Vec::new(),
    };
    if near.is_empty() { otherwise.to_owned() } else { format!("did you mean {}?", near.join(" or ")) }
}

/// So many values are named in a hint; of more, the help tells.
const MOST_NAMED: usize = 12;

/// The value that is near, or all values, or else something to try.
fn known(error: &clap::Error, otherwise: &str) -> String {
    let near = suggested(error, ContextKind::SuggestedValue, "");
    match error.get(ContextKind::ValidValue) {
        _ if !near.is_empty() => near,
        Some(ContextValue::Strings(all)) if (1..=MOST_NAMED).contains(&all.len()) => {
            format!("it takes {}", all.join(", "))
        }
        _ => otherwise.to_owned(),
    }
}

/// A worked command, where one is known.
fn example(path: &[String], otherwise: &str) -> String {
    let words = path.first().and_then(|name| super::words::Words::for_command(name));
    let first = words.and_then(|words| words.examples.first());
    first.map_or(otherwise.to_owned(), |(command, _)| format!("for example: {command}"))
}
