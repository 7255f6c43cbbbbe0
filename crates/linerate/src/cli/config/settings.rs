//! What a configuration file sets: read, checked by the options' own parsers, made into arguments.

use super::{WITHOUT, takes_defaults};
use crate::cli::{command, usage};
use crate::vocabulary::did_you_mean;
use crate::{Error, Result};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The table that holds for all commands that have the option.
pub const SHARED: &str = "default";

/// One key of the file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The command that it is for; empty for all.
    pub path: Vec<String>,
    /// The option's long name.
    pub key: String,
    /// What it is set to.
    pub value: Given,
    /// The line of the file, from 1.
    pub line: usize,
}

/// What an option is set to.
#[derive(Debug, Clone)]
pub enum Given {
    /// A flag, given or not.
    Switch(bool),
    /// Values, one or several.
    Values(Vec<String>),
}

/// All that a file sets.
#[derive(Debug, Default)]
pub struct Settings {
    /// In the order of the file.
    pub entries: Vec<Entry>,
}

/// A file that is being read.
struct Reader<'f> {
    name: &'f str,
    text: &'f str,
    command: &'f Command,
    entries: Vec<Entry>,
}

impl Entry {
    /// The arguments that say the same.
    pub fn arguments(self) -> Vec<String> {
        match self.value {
            Given::Switch(true) => vec![format!("--{}", self.key)],
            Given::Switch(false) => Vec::new(),
            Given::Values(values) => values.iter().map(|value| format!("--{}={value}", self.key)).collect(),
        }
    }

    /// The table's name in the file.
    pub fn table(&self) -> String {
        if self.path.is_empty() { SHARED.into() } else { self.path.join(".") }
    }
}

impl Settings {
    /// Reads and checks a file. The first thing that is wrong is told with its line.
    pub fn read(name: &str, text: &str, command: &Command) -> Result<Settings> {
        let mut reader = Reader { name, text, command, entries: Vec::new() };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.wrong(at, error.message(), "`linerate config --example` shows the form")
        })?;
        for (key, value) in table.get_ref() {
            reader.table(&[], key, value)?;
        }
        reader.entries.sort_by_key(|entry| entry.line);
        reader.conflicts()?;
        Ok(Settings { entries: reader.entries })
    }

    /// What holds for one command: its own table before the shared one.
    pub fn for_command(&self, command: &Command, path: &[String]) -> Vec<Entry> {
        let Some(sub) = command::at(command, path) else {
            return Vec::new();
        };
        let own: Vec<&Entry> = self.entries.iter().filter(|entry| entry.path == path).collect();
        let set = |arg: &Arg| {
            own.iter().any(|entry| {
                option(sub, &entry.key)
                    .is_some_and(|one| one.get_id() == arg.get_id() || exclude(sub, one, arg))
            })
        };
        let shared = self.entries.iter().filter(|entry| entry.path.is_empty());
        let shared = shared.filter(|entry| option(sub, &entry.key).is_some_and(|arg| !set(arg)));
        shared.chain(own.iter().copied()).cloned().collect()
    }
}

/// Leaves out what the command line or the environment says itself, or says otherwise.
pub fn without_given(
    command: &Command,
    path: &[String],
    matches: &ArgMatches,
    entries: Vec<Entry>,
) -> Vec<Entry> {
    let Some(sub) = command::at(command, path) else {
        return Vec::new();
    };
    let of_sub = path.iter().try_fold(matches, |matches, name| matches.subcommand_matches(name));
    let on_line = |arg: &Arg| {
        of_sub.is_some_and(|of| of.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine))
    };
    let in_environment = |arg: &Arg| arg.get_env().is_some_and(|name| std::env::var_os(name).is_some());
    let given: Vec<&Arg> = sub.get_arguments().filter(|arg| on_line(arg)).collect();
    let said = |arg: &Arg| {
        in_environment(arg) || given.iter().any(|one| one.get_id() == arg.get_id() || exclude(sub, one, arg))
    };
    entries.into_iter().filter(|entry| option(sub, &entry.key).is_some_and(|arg| !said(arg))).collect()
}

/// The options that a file may set: those with a long name.
pub fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let own = |arg: &&Arg| !["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(own).filter(|arg| arg.get_long().is_some() && !arg.is_hide_set())
}

fn option<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    options(command).find(|arg| arg.get_long() == Some(key))
}

/// Whether two options cannot stand together.
fn exclude(command: &Command, one: &Arg, other: &Arg) -> bool {
    let names =
        |a: &Arg, b: &Arg| command.get_arg_conflicts_with(a).iter().any(|arg| arg.get_id() == b.get_id());
    names(one, other) || names(other, one)
}

/// The commands that take defaults, each with its path.
pub fn commands(command: &Command) -> Vec<(Vec<String>, &Command)> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), command)];
    while let Some((path, at)) = open.pop() {
        for sub in at.get_subcommands() {
            let path = [path.clone(), vec![sub.get_name().to_owned()]].concat();
            if takes_defaults(command, &path) {
                found.push((path.clone(), sub));
                open.push((path, sub));
            }
        }
    }
    found
}

impl Reader<'_> {
    fn wrong(&self, at: usize, what: impl std::fmt::Display, hint: impl Into<String>) -> Error {
        Error::usage(format!("{}:{}: {what}", self.name, self.line(at)), hint)
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    /// A table of the file: `[run]`, `[default]`, `[lab.up]`.
    fn table(
        &mut self,
        above: &[String],
        key: &Spanned<std::borrow::Cow<str>>,
        value: &Spanned<DeValue>,
    ) -> Result<()> {
        let (at, name) = (key.span().start, key.get_ref().as_ref());
        let Some(table) = value.get_ref().as_table() else {
            let what = format!("`{name}` stands in no table");
            return Err(self.wrong(
                at,
                what,
                format!("write it below [{SHARED}], or below a command: [run]"),
            ));
        };
        let shared = above.is_empty() && name == SHARED;
        let path = if shared { Vec::new() } else { [above, &[name.to_owned()]].concat() };
        if !shared && !commands(self.command).iter().any(|(known, _)| *known == path) {
            return Err(self.no_table(at, &path));
        }
        for (key, value) in table {
            if value.get_ref().is_table() {
                self.table(&path, key, value)?;
            } else {
                self.entry(&path, key, value)?;
            }
        }
        Ok(())
    }

    fn no_table(&self, at: usize, path: &[String]) -> Error {
        let name = path.join(".");
        if path.first().is_some_and(|name| WITHOUT.contains(&name.as_str())) {
            return self.wrong(at, format!("[{name}] takes no defaults"), "leave it out");
        }
        let known = commands(self.command);
        let names: Vec<String> =
            known.iter().map(|(path, _)| path.join(".")).chain([SHARED.to_owned()]).collect();
        let hint = did_you_mean(
            names.iter().map(String::as_str),
            &name,
            "a table is called [default], or like a command: [run]",
        );
        self.wrong(at, format!("no command is called `{name}`"), hint)
    }

    fn entry(
        &mut self,
        path: &[String],
        key: &Spanned<std::borrow::Cow<str>>,
        value: &Spanned<DeValue>,
    ) -> Result<()> {
        let name = key.get_ref().as_ref();
        let table = if path.is_empty() { SHARED.to_owned() } else { path.join(".") };
        let all = commands(self.command);
        let concerned = all.iter().filter(|(known, _)| path.is_empty() || known == path);
        let args: Vec<(&Vec<String>, &Arg)> =
            concerned.clone().filter_map(|(path, sub)| Some((path, option(sub, name)?))).collect();
        if args.is_empty() {
            let keys: Vec<&str> =
                concerned.flat_map(|(_, sub)| options(sub)).filter_map(Arg::get_long).collect();
            let hint = did_you_mean(keys, name, "`linerate config --example` prints every key");
            return Err(self.wrong(key.span().start, format!("[{table}] has no key `{name}`"), hint));
        }
        let at = value.span().start;
        for (path, arg) in &args {
            let checked =
                given(arg, value.get_ref()).and_then(|given| fits(arg, &given, path).map(|()| given));
            checked.map_err(|error| {
                let hint = error.hint().unwrap_or_default();
                if args.len() == 1 {
                    return self.wrong(at, format!("[{table}] {error}"), hint);
                }
                let what = format!("[{table}] {error} for `linerate {}`", path.join(" "));
                self.wrong(at, what, format!("{hint}; or write it below the commands that take it"))
            })?;
        }
        let value = args.first().map_or(Ok(Given::Switch(false)), |(_, arg)| given(arg, value.get_ref()))?;
        self.entries.push(Entry { path: path.to_vec(), key: name.into(), value, line: self.line(at) });
        Ok(())
    }

    /// Two keys of one table that cannot stand together.
    fn conflicts(&self) -> Result<()> {
        for (path, sub) in commands(self.command) {
            for own in [&path[..], &[]] {
                let entries: Vec<_> = self.entries.iter().filter(|entry| entry.path == own).collect();
                let pairs = (0..entries.len()).flat_map(|n| (0..n).map(move |m| (m, n)));
                for (one, other) in pairs.map(|(m, n)| (entries[m], entries[n])) {
                    let (Some(a), Some(b)) = (option(sub, &one.key), option(sub, &other.key)) else {
                        continue;
                    };
                    if exclude(sub, a, b) {
                        let what = format!(
                            "`{}` and `{}` of line {} exclude each other",
                            other.key, one.key, one.line
                        );
                        let place = format!("{}:{}", self.name, other.line);
                        return Err(Error::usage(format!("{place}: {what}"), "leave one of them out"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A value of the file, as an option takes it.
fn given(arg: &Arg, value: &DeValue) -> Result<Given> {
    let name = arg.get_long().unwrap_or_default();
    let many = matches!(arg.get_action(), ArgAction::Append);
    let scalar = |value: &DeValue| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    };
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let wanted = || Error::usage(format!("{name}: this is on or off"), format!("write {name} = true"));
        return value.as_bool().map(Given::Switch).ok_or_else(wanted);
    }
    let values = match value {
        DeValue::Array(values) if many => values.iter().map(|value| scalar(value.get_ref())).collect(),
        value => scalar(value).map(|value| vec![value]),
    };
    let (wanted, hint) = match many {
        true => ("several texts are wanted", "write [\"…\", \"…\"]"),
        false => ("one value is wanted", "write a text in quotation marks, or a number"),
    };
    let what = format!("{name}: {wanted}, not {}", value.type_str());
    values.map(Given::Values).ok_or_else(|| Error::usage(what, hint))
}

/// Asks the option's own parser, on a command that has nothing else.
fn fits(arg: &Arg, given: &Given, path: &[String]) -> Result<()> {
    let Given::Values(values) = given else {
        return Ok(());
    };
    let alone = Arg::new(ALONE).long(ALONE).action(arg.get_action().clone());
    let mut alone = alone.value_parser(arg.get_value_parser().clone());
    if let Some(delimiter) = arg.get_value_delimiter() {
        alone = alone.value_delimiter(delimiter);
    }
    let values = values.iter().map(|value| format!("--{ALONE}={value}"));
    let line = ["linerate".to_owned()].into_iter().chain(values);
    let parsed = Command::new("linerate").arg(alone).try_get_matches_from(line);
    // In a file an option is a key.
    let key = arg.get_long().unwrap_or_default();
    parsed.map(|_| ()).map_err(|error| {
        let told = usage::error_from(&error, path);
        let what = told.to_string().replacen(&format!("--{ALONE}"), key, 1);
        Error::usage(what, told.hint().unwrap_or_default())
    })
}

/// The name of the option on that command.
const ALONE: &str = "key";
