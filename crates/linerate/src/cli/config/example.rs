//! An example of a configuration file, from the commands themselves.

use super::settings::{SHARED, commands, options};
use clap::{Arg, ArgAction, Command};

/// The longest line.
const WIDTH: usize = 100;

/// Every table and every key, the keys commented out. What several commands have is explained once.
pub fn text(command: &Command) -> String {
    let mut text = String::from(
        "# Defaults of linerate's options. `linerate config` says where this file is read and what it sets.\n\
         # A command's own table wins over [default], the environment over both, the command line over all.\n",
    );
    let all = commands(command);
    let users = |arg: &Arg| -> Vec<String> {
        let has = |sub: &Command| options(sub).any(|one| one.get_long() == arg.get_long());
        all.iter().filter(|(_, sub)| has(sub)).map(|(path, _)| path.join(" ")).collect()
    };
    let is_shared = |arg: &&Arg| users(arg).len() > 1;
    text += &format!(
        "\n[{SHARED}]\n# For all commands that have the option; each key may stand in their own tables too.\n"
    );
    let mut told = Vec::new();
    for arg in all.iter().flat_map(|(_, sub)| options(sub)).filter(is_shared) {
        if !told.contains(&arg.get_long()) {
            told.push(arg.get_long());
            text += &format!("\n# For {}.\n{}", users(arg).join(", "), key(arg));
        }
    }
    for (path, sub) in all.iter().filter(|(_, sub)| options(sub).next().is_some()) {
        let shared: Vec<&str> = options(sub).filter(is_shared).filter_map(Arg::get_long).collect();
        text += &format!("\n[{}]\n", path.join("."));
        if !shared.is_empty() {
            text += &comment(&format!("And from above: {}.", shared.join(", ")));
        }
        text.extend(options(sub).filter(|arg| !is_shared(arg)).map(|arg| format!("\n{}", key(arg))));
    }
    text
}

/// One key with its help.
fn key(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let name = arg.get_long().unwrap_or_default();
    format!("{}#{name} = {}\n", comment(&help), value(arg))
}

fn value(arg: &Arg) -> String {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return "true".into();
    }
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    let named = || arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let text = format!("\"{}\"", default.or_else(named).unwrap_or_default());
    if matches!(arg.get_action(), ArgAction::Append) { format!("[{text}]") } else { text }
}

/// Words in lines that begin with `#`.
fn comment(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => *line += &format!(" {word}"),
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}
