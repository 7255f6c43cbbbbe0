//! Results of other tools: files of real runs are read as what they say, damaged ones are refused or give finite numbers,
//! and what is written for other programs is read back.
//!
//! The files are in `files/`; their names begin with the tool. All are of real runs, but for those of perftest, nccl-tests,
//! busybox and the columns of iperf 2.2, which are in the form of their sources.

mod both_ways;
mod broken;
mod compared;
mod exported;
mod fuzzed;
mod hardware;
mod intervals;
mod made;
mod others;
mod read;
mod refused;
mod several;
mod uncounted;
mod unread;

use linerate::record::import::{Given, Refusal, import};
use linerate::record::{Event, Imported, Source};
use linerate::vocabulary::{Does, Quantity, Statistic};
use std::path::PathBuf;

/// The folder of the files.
fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "imported", "files"].iter().collect()
}

/// The bytes of a file.
pub fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// All files, by name.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let names =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), file(&name))).collect()
}

/// The tool that a file is of.
pub fn tool(name: &str) -> &str {
    name.split(['-', '.']).next().unwrap()
}

/// A file that was read.
struct Told {
    source: Source,
    rows: Vec<Imported>,
    original: String,
}

/// Reads bytes, the tool told by them or named.
fn told(bytes: &[u8], tool: Option<&str>) -> Result<Told, Refusal> {
    Ok(each(bytes, tool)?.swap_remove(0))
}

/// Reads bytes that hold several runs, or one.
fn each(bytes: &[u8], tool: Option<&str>) -> Result<Vec<Told>, Refusal> {
    let given = Given { file: "f".into(), tool: tool.map(String::from), ..Given::default() };
    Ok(import(bytes, &given)?.into_iter().map(of_run).collect())
}

fn of_run(events: Vec<Event>) -> Told {
    let mut events = events.into_iter();
    let Some(Event::Source(source)) = events.next() else { panic!("the first line is no source") };
    let (mut rows, mut original) = (Vec::new(), String::new());
    for event in events {
        match event {
            Event::Imported(row) => rows.push(row),
            Event::Original(part) => original.push_str(&part.text),
            other => panic!("{other:?}"),
        }
    }
    Told { source, rows, original }
}

impl Told {
    fn of(name: &str) -> Told {
        told(&file(name), None).unwrap_or_else(|refusal| panic!("{name}: {refusal} ({})", refusal.hint))
    }

    /// The only row of a quantity and statistic, of an end where one is named.
    #[track_caller]
    fn one(&self, quantity: Quantity, statistic: Statistic, end: Option<Does>) -> &Imported {
        let is_it = |row: &&Imported| {
            row.quantity == quantity
                && row.statistic == statistic
                && row.values.len() == 1
                && (end.is_none() || row.end == end)
        };
        let found: Vec<&Imported> = self.rows.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{quantity:?} {statistic:?} {end:?}: {:#?}", self.rows);
        found[0]
    }

    /// Its value.
    #[track_caller]
    fn value(&self, quantity: Quantity, statistic: Statistic, end: Option<Does>) -> f64 {
        self.one(quantity, statistic, end).values[0]
    }

    /// Whether a doubt says so.
    fn doubts(&self, text: &str) -> bool {
        self.source.doubts.iter().any(|doubt| doubt.contains(text))
    }

    /// The rows of a message size.
    fn at(&self, bytes: u64) -> Vec<&Imported> {
        self.rows.iter().filter(|row| row.message_bytes == Some(bytes)).collect()
    }
}

/// What stands behind a text in another one, up to the next blank or separator, as a number: a look at the file that
/// shares nothing with the importer.
#[track_caller]
fn behind(text: &str, mark: &str) -> f64 {
    let rest = text.split_once(mark).unwrap_or_else(|| panic!("no `{mark}`")).1.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || ".e+-".contains(c))).unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}

/// Equal but for the last bits.
#[track_caller]
fn near(value: f64, wanted: f64) {
    assert!((value - wanted).abs() <= 1e-12 * wanted.abs().max(1e-12), "{value} is not {wanted}");
}
