//! Every table of a report as a CSV file, made of the JSON form, so that the two cannot disagree.
//!
//! An array of objects is a table: `ladder.csv`, and one inside of it a table of its own, `ladder.warnings.csv`, in which
//! the plain values of the row that it belongs to stand in front. Arrays of numbers of equal length, as of a time line,
//! are columns beside each other. The unit of a column is in its name.

use crate::Result;
use crate::report::{Rendered, Sheet};
use serde_json::{Map, Value};

/// Where a name is made of several.
const DOT: char = '.';
/// The table of the report itself: what is in it belongs to every other one, and stands in none.
const TOP: &str = "report";
/// The list of times that others go along with, and the object that holds more of them.
const TIMES: &str = "at_s";
const LISTS: &str = "values";

/// A table while it is filled: rows may have columns that others have not.
#[derive(Default)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<(usize, String)>>,
}

/// A row: names and texts.
type Row = Vec<(String, String)>;

/// All tables of all recordings; several are told apart by their letter in front.
pub fn tables(sheets: &[Sheet]) -> Result<Rendered> {
    let mut files = Vec::new();
    for sheet in sheets {
        let mut found = Tables::default();
        if let Ok(Value::Object(report)) = serde_json::to_value(&sheet.report) {
            found.object(TOP, &report, &Vec::new());
        }
        let letter = if sheet.label.is_empty() { String::new() } else { format!("{}-", sheet.label) };
        files.extend(
            found.0.into_iter().map(|(name, table)| (format!("{letter}{name}.csv"), table.written())),
        );
    }
    Ok(Rendered::Files(files))
}

/// Tables by name, in the order in which they were found.
#[derive(Default)]
struct Tables(Vec<(String, Table)>);

impl Tables {
    fn add(&mut self, name: &str, row: Row) {
        let place = self.0.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), Table::default()));
            self.0.len() - 1
        });
        self.0[place].1.add(row);
    }

    /// A row of the table `name`, and the tables inside of it.
    fn object(&mut self, name: &str, object: &Map<String, Value>, above: &Row) {
        let mut own = Row::new();
        plain("", object, &mut own);
        let row: Row = above.iter().cloned().chain(own).collect();
        let row = without_doubles(row);
        if !row.is_empty() {
            self.add(name, row);
        }
        // What stands in front of the rows inside: only what is no number of its own, which would be there many times.
        let mut keys: Row = above.clone();
        let named = object.iter().filter(|(_, value)| name != TOP && is_key(value));
        keys.extend(named.map(|(key, value)| (key.clone(), text(value))));
        self.inside(name, "", object, &keys);
    }

    fn inside(&mut self, name: &str, prefix: &str, object: &Map<String, Value>, keys: &Row) {
        let lists = equal_lists(object);
        if !lists.is_empty() {
            self.lists(&format!("{}{DOT}values", below(name, prefix)), &lists, keys);
        }
        for (key, value) in object {
            match value {
                Value::Object(inner) => self.inside(name, &joined(prefix, key), inner, keys),
                Value::Array(values) if values.iter().any(Value::is_object) => {
                    for inner in values.iter().filter_map(Value::as_object) {
                        self.object(&below(name, &joined(prefix, key)), inner, keys);
                    }
                }
                _ => (),
            }
        }
    }

    /// Lists beside each other, an index a row.
    fn lists(&mut self, name: &str, lists: &[(String, &Vec<Value>)], keys: &Row) {
        let rows = lists.first().map_or(0, |(_, list)| list.len());
        for index in 0..rows {
            let values =
                lists.iter().map(|(key, list)| (key.clone(), list.get(index).map_or(String::new(), text)));
            self.add(name, without_doubles(keys.iter().cloned().chain(values).collect()));
        }
    }
}

impl Table {
    fn add(&mut self, row: Row) {
        let mut cells = Vec::with_capacity(row.len());
        for (key, text) in row {
            let place = self.columns.iter().position(|known| *known == key).unwrap_or_else(|| {
                self.columns.push(key);
                self.columns.len() - 1
            });
            cells.push((place, text));
        }
        self.rows.push(cells);
    }

    fn written(&self) -> Vec<u8> {
        // Null stands for an object too, whose parts other rows have.
        let is_object = |name: &String| {
            let inside =
                |other: &String| other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(DOT));
            self.columns.iter().any(inside)
        };
        let kept: Vec<usize> =
            (0..self.columns.len()).filter(|place| !is_object(&self.columns[*place])).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        // A row has as many fields as the header and memory does not refuse: neither write can fail.
        let mut written = writer.write_record(kept.iter().map(|place| &self.columns[*place])).is_ok();
        for row in &self.rows {
            let mut fields = vec![""; self.columns.len()];
            row.iter().for_each(|(place, text)| fields[*place] = text);
            written &= writer.write_record(kept.iter().map(|place| fields[*place])).is_ok();
        }
        debug_assert!(written);
        writer.into_inner().unwrap_or_default()
    }
}

/// The plain values of an object, those of objects in it under both names.
fn plain(prefix: &str, object: &Map<String, Value>, row: &mut Row) {
    for (key, value) in object {
        let name = joined(prefix, key);
        match value {
            // Lists that go along with the times beside them.
            Value::Object(_) if key == LISTS && object.contains_key(TIMES) => (),
            Value::Object(inner) => plain(&name, inner, row),
            Value::Array(values) if values.iter().any(|value| value.is_object() || value.is_array()) => (),
            // Whether it would hold plain values cannot be told.
            Value::Array(values) if values.is_empty() => (),
            Value::Array(_) if is_listed(object, value) => (),
            Value::Array(values) => row.push((name, values.iter().map(text).collect::<Vec<_>>().join(" "))),
            value => row.push((name, text(value))),
        }
    }
}

/// Whether a value names what it stands in. Numbers with a fraction are results.
fn is_key(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 100,
        Value::Number(number) => number.is_u64(),
        _ => false,
    }
}

/// The lists of numbers of an object, and of the object of lists beside them, that go along with its times.
fn equal_lists(object: &Map<String, Value>) -> Vec<(String, &Vec<Value>)> {
    let Some(times) =
        object.get(TIMES).and_then(Value::as_array).filter(|times| times.iter().all(Value::is_number))
    else {
        return Vec::new();
    };
    let inner = object.get(LISTS).and_then(Value::as_object);
    let all = object.iter().chain(inner.into_iter().flatten());
    let lists = all.filter_map(|(key, value)| Some((key.clone(), value.as_array()?)));
    let mut lists: Vec<_> = lists.filter(|(_, list)| list.len() == times.len()).collect();
    lists.sort_by_key(|(key, _)| key != TIMES);
    lists
}

fn is_listed(object: &Map<String, Value>, value: &Value) -> bool {
    equal_lists(object)
        .iter()
        .any(|(_, list)| value.as_array().is_some_and(|array| std::ptr::eq(array, *list)))
}

/// Of two columns with one name the one in front is the row's that it belongs to: `above.message_bytes`.
fn without_doubles(row: Row) -> Row {
    let mut kept: Row = Vec::with_capacity(row.len());
    for (key, text) in row.into_iter().rev() {
        let taken = kept.iter().filter(|(known, _)| known.trim_start_matches("above.") == key).count();
        kept.push((format!("{}{key}", "above.".repeat(taken)), text));
    }
    kept.reverse();
    kept
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn joined(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.into() } else { format!("{prefix}{DOT}{key}") }
}

/// The name of a table inside another one; those of the report itself have only their own.
fn below(name: &str, key: &str) -> String {
    match (name, key) {
        (name, "") => name.into(),
        (TOP, key) => key.into(),
        (name, key) => format!("{name}{DOT}{key}"),
    }
}
