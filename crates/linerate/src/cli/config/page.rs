//! What `linerate config` shows.

use super::file::Place;
use super::settings::{Entry, Given, Settings, commands};
use clap::Command;
use serde::Serialize;
use std::collections::BTreeMap;

/// The place of the file, what it sets, and what comes of that.
#[derive(Serialize)]
pub struct Shown {
    /// The file; none without a home, or where an empty `LINERATE_CONFIG` switches it off.
    file: Option<String>,
    /// The variable that says so.
    from: Option<&'static str>,
    exists: bool,
    settings: Vec<Setting>,
    /// What stands in front of each command's own arguments.
    commands: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct Setting {
    table: String,
    key: String,
    value: serde_json::Value,
    line: usize,
}

impl Shown {
    /// What there is to show.
    pub fn new(place: Option<&Place>, exists: bool, settings: &Settings, command: &Command) -> Shown {
        let setting = |entry: &Entry| Setting {
            table: entry.table(),
            key: entry.key.clone(),
            value: match &entry.value {
                Given::Switch(on) => (*on).into(),
                Given::Values(values) if values.len() == 1 => values[0].clone().into(),
                Given::Values(values) => values.clone().into(),
            },
            line: entry.line,
        };
        let arguments = |path: &[String]| -> Vec<String> {
            settings.for_command(command, path).into_iter().flat_map(Entry::arguments).collect()
        };
        let in_force = commands(command).into_iter().map(|(path, _)| (path.join(" "), arguments(&path)));
        Shown {
            file: place.map(Place::name),
            from: place.map(|place| place.from),
            exists,
            settings: settings.entries.iter().map(setting).collect(),
            commands: in_force.filter(|(_, arguments)| !arguments.is_empty()).collect(),
        }
    }

    /// For a program.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// For a person.
    pub fn text(&self) -> String {
        let (Some(file), Some(from)) = (&self.file, self.from) else {
            return "no configuration file is read: $LINERATE_CONFIG is empty, or there is no home\n".into();
        };
        let mut text = format!("file      {file}\nnamed by  ${from}\n");
        if !self.exists {
            return text + "exists    no; `linerate config --example` prints one to begin with\n";
        }
        text += "exists    yes\n";
        if self.settings.is_empty() {
            return text + "sets      nothing\n";
        }
        text += "\nit sets\n";
        let row =
            |one: &Setting| format!("  line {:<4} [{}] {} = {}\n", one.line, one.table, one.key, one.value);
        text.extend(self.settings.iter().map(row));
        text += "\nso these commands begin with\n";
        let row = |(name, words): (&String, &Vec<String>)| format!("  linerate {name} {}\n", words.join(" "));
        text.extend(self.commands.iter().map(row));
        text
    }
}
