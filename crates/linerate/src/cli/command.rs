//! The clap command, in its words; which of its commands is meant.

use super::args::Args;
use super::words::Words;
use clap::{Command, CommandFactory};
use std::ffi::OsString;

/// The whole command line.
pub fn command() -> Command {
    let bare = Args::command();
    let names: Vec<String> = bare.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names
        .into_iter()
        .fold(dress(bare, ""), |command, name| command.mut_subcommand(name.clone(), |sub| dress(sub, &name)))
}

/// What a user may call: without the commands that the program keeps for itself.
pub fn visible() -> Command {
    let all = command();
    let about = all.get_about().cloned().unwrap_or_default();
    let root = Command::new("linerate").version(env!("CARGO_PKG_VERSION")).about(about);
    let shown = all.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned();
    dress(root.subcommand_required(true).subcommands(shown), "")
}

fn dress(command: Command, name: &str) -> Command {
    match Words::for_command(name) {
        Some(words) => command.after_help(words.help()),
        None => command,
    }
}

/// The names of the commands that a line begins with: `lab`, `up` of `linerate lab up --detach`.
pub fn path(command: &Command, line: &[OsString]) -> Vec<String> {
    let mut at = command;
    let mut names = Vec::new();
    for word in line.iter().skip(1) {
        let Some(sub) = word.to_str().and_then(|word| at.find_subcommand(word)) else { break };
        names.push(sub.get_name().to_owned());
        at = sub;
    }
    names
}

/// The command at the end of a path.
pub fn at<'c>(command: &'c Command, path: &[String]) -> Option<&'c Command> {
    path.iter().try_fold(command, |at, name| at.find_subcommand(name))
}
