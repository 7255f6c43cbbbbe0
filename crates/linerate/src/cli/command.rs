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

/// The line with `--budget -5s` as `--budget=-5s`: what begins with a dash and is no option's name is a value that its
/// option refuses in its own words. A command that is handed on is left as it is.
pub fn with_values(command: &Command, line: Vec<OsString>) -> Vec<OsString> {
    let sub = at(command, &path(command, &line)).unwrap_or(command);
    if sub.get_arguments().any(clap::Arg::is_trailing_var_arg_set) {
        return line;
    }
    let takes_value = |word: &str| {
        let long = |arg: &&clap::Arg| arg.get_long().is_some() && arg.get_long() == word.strip_prefix("--");
        sub.get_arguments().find(long).is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut joined: Vec<OsString> = Vec::new();
    for word in line {
        let option = joined.last().and_then(|last| last.to_str()).filter(|last| takes_value(last));
        match (option, word.to_str()) {
            (Some(option), Some(value)) if is_negative(value) => {
                let whole = OsString::from(format!("{option}={value}"));
                joined.pop();
                joined.push(whole);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// `-5s`, `-.5`, `-inf`: below zero, whatever its unit.
fn is_negative(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return false };
    let small = rest.to_ascii_lowercase();
    small.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || ["inf", "infinity", "nan"].contains(&&*small)
}

/// The command at the end of a path.
pub fn at<'c>(command: &'c Command, path: &[String]) -> Option<&'c Command> {
    path.iter().try_fold(command, |at, name| at.find_subcommand(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_below_zero_is_no_option() {
        let joined = |line: &[&str]| {
            let line = line.iter().map(OsString::from).collect();
            with_values(&command(), line)
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            joined(&["linerate", "run", "lab", "--budget", "-5s", "--quiet", "--passes", "-1"]),
            ["linerate", "run", "lab", "--budget=-5s", "--quiet", "--passes=-1"]
        );
        for line in [
            &["linerate", "run", "lab", "--profile", "--quiet"][..],
            &["linerate", "run", "lab", "--quiet", "-5"],
            &["linerate", "lab", "exec", "a", "tail", "--lines", "-5"],
        ] {
            assert_eq!(joined(line), line);
        }
    }
}
