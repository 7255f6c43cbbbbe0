//! Reading a recording: whole, cut off, or from an earlier version.

use super::{Event, LONGEST_LINE, Recording, SCHEMA};
use std::io::{BufRead, Read};

/// What every version of the schema's name begins with.
const FAMILY: &str = "linerate.recording/";

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The bytes could not be had.
    #[error("it cannot be read: {0}")]
    Io(std::io::Error),
    /// The first line is not a recording's.
    #[error("this is not a linerate recording: {0}")]
    NotARecording(String),
    /// A newer program wrote it.
    #[error("a newer linerate wrote it: its schema is {0}, and this program reads {SCHEMA} and earlier")]
    TooNew(String),
}

/// Reads every line that can be read. A line cut off by a crash costs that line only.
pub fn read(source: impl BufRead) -> Result<(Recording, Vec<BadLine>), Unreadable> {
    let mut recording = Recording::default();
    let mut bad = Vec::new();
    let mut source = source;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = LONGEST_LINE as u64 + 1;
        let count = (&mut source).take(limit).read_until(b'\n', &mut line).map_err(Unreadable::Io)?;
        if count == 0 {
            break;
        }
        if line.len() > LONGEST_LINE {
            let why = format!("longer than {LONGEST_LINE} bytes");
            if number == 1 {
                return Err(Unreadable::NotARecording(format!("its first line is {why}")));
            }
            bad.push(BadLine { line: number, why });
            skip_line(&mut source).map_err(Unreadable::Io)?;
            continue;
        }
        match serde_json::from_slice::<Event>(&line) {
            Ok(Event::Header(_) | Event::Source(_)) if number > 1 => {
                bad.push(BadLine { line: number, why: "a second header".into() });
            }
            Ok(event) => recording.push(event),
            Err(error) if number == 1 => return Err(not_a_recording(&line, &error)),
            Err(error) => bad.push(BadLine { line: number, why: unread(&line, &error) }),
        }
        if number == 1 {
            check_header(&recording)?;
        }
    }
    match recording.schema() {
        Some(_) => Ok((recording, bad)),
        None => Err(Unreadable::NotARecording("it is empty".into())),
    }
}

/// Why a line is no event. Each line is read alone, so only the column says where.
fn unread(line: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() && !line.ends_with(b"\n") {
        return "cut off: its run crashed, or is still going on".into();
    }
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// Reads and forgets the rest of a line, in small pieces.
fn skip_line(source: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let (used, ended) = {
            let bytes = source.fill_buf()?;
            match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), bytes.is_empty()),
            }
        };
        source.consume(used);
        if ended {
            return Ok(());
        }
    }
}

fn check_header(recording: &Recording) -> Result<(), Unreadable> {
    match recording.schema() {
        Some(schema) if schema == SCHEMA => Ok(()),
        Some(schema) => Err(other_schema(schema)),
        None => Err(Unreadable::NotARecording("its first line is no header".into())),
    }
}

fn not_a_recording(line: &[u8], error: &serde_json::Error) -> Unreadable {
    let schema = serde_json::from_slice::<serde_json::Value>(line)
        .ok()
        .and_then(|value| Some(value.get("schema")?.as_str()?.to_owned()));
    match schema {
        Some(schema) if schema != SCHEMA => other_schema(&schema),
        Some(_) => Unreadable::NotARecording(format!("its first line is no header: {}", unread(line, error))),
        _ => Unreadable::NotARecording("its first line is no header".into()),
    }
}

/// A schema of the same family with a higher number is newer; any other is not ours.
fn other_schema(schema: &str) -> Unreadable {
    let number = |schema: &str| schema.strip_prefix(FAMILY)?.parse::<u32>().ok();
    match number(schema) > number(SCHEMA) {
        true => Unreadable::TooNew(schema.into()),
        false => Unreadable::NotARecording(format!("its schema is `{schema}`")),
    }
}
