//! Defaults of options, kept in a file: where it is, what it puts in front of a command line, and
//! `linerate config`, which shows both.

mod example;
mod file;
mod page;
mod settings;

use super::args::{CommandLine, Config};
use super::{command, complain, print, tell};
use crate::Result;
use crate::record::Defaults;
use clap::Command;
use file::Place;
use settings::{Entry, Settings};
use std::ffi::OsString;
use std::process::ExitCode;

/// Commands that take nothing from the file: they must work, or tell, where it is broken.
const WITHOUT: &[&str] = &["config", "completions", "man"];

/// Commands that do what the file says to hosts: they stop where it is broken. All others show what is there already,
/// and work without it.
const MEASURING: &[&[&str]] = &[
    &["run"],
    &["ab"],
    &["diagnose"],
    &["tune"],
    &["matrix"],
    &["transfer"],
    &["trace"],
    &["capture"],
    &["calibrate"],
    &["lab", "up"],
];

/// Prints the place of the file and what it sets, or an example of one.
pub fn main(args: &Config) -> Result<ExitCode> {
    let command = command::command();
    if args.example {
        print(&example::text(&command))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = file::place();
    let text = place.as_ref().map(Place::read).transpose()?.flatten();
    let settings = match (&place, &text) {
        (Some(place), Some(text)) => Settings::read(&place.name(), text, &command)?,
        _ => Settings::default(),
    };
    let shown = page::Shown::new(place.as_ref(), text.is_some(), &settings, &command);
    print(&if args.format == "json" { shown.json() } else { shown.text() })?;
    Ok(ExitCode::SUCCESS)
}

/// The command line in force: what the file says stands in front of what was given, which wins.
pub fn in_force(command: &Command, given: Vec<OsString>) -> Result<(Vec<OsString>, CommandLine)> {
    let path = command::path(command, &given);
    let asked = |line: &[OsString], defaults| {
        let words = line.iter().map(|word| word.to_string_lossy().into_owned());
        CommandLine { line: words.collect(), defaults }
    };
    let alone = |given: Vec<OsString>| {
        let asked = asked(&given, None);
        Ok((given, asked))
    };
    if path.is_empty() || !takes_defaults(command, &path) {
        return alone(given);
    }
    // What asks for help or the version gets it, whatever the file says.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(&given) else {
        return alone(given);
    };
    let Some(place) = file::place() else {
        return alone(given);
    };
    let read = place
        .read()
        .and_then(|text| text.map(|text| Settings::read(&place.name(), &text, command)).transpose());
    let settings = match read {
        Ok(Some(settings)) => settings,
        Ok(None) => return alone(given),
        Err(error) if MEASURING.iter().any(|known| *known == path) => return Err(error),
        Err(error) => {
            complain(&super::chain(&error));
            tell("the file of defaults is left out here: `linerate config` tells more");
            return alone(given);
        }
    };
    let entries = settings.for_command(command, &path);
    let left = settings::without_given(command, &path, &matches, entries);
    let arguments: Vec<String> = left.into_iter().flat_map(Entry::arguments).collect();
    if arguments.is_empty() {
        return alone(given);
    }
    let mut line = given;
    let at = 1 + path.len();
    line.splice(at..at, arguments.iter().map(OsString::from));
    let asked = asked(&line, Some(Defaults { file: place.name(), arguments }));
    Ok((line, asked))
}

/// Whether a command takes its defaults from the file.
fn takes_defaults(command: &Command, path: &[String]) -> bool {
    let hidden = command::at(command, path).is_none_or(Command::is_hide_set);
    !hidden && path.first().is_some_and(|name| !WITHOUT.contains(&name.as_str()))
}
