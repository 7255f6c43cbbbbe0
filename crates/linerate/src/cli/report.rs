//! `linerate report`: a recording to text, JSON or CSV.

use super::args::Report;
use super::print;
use crate::record::{Recording, read};
use crate::report::{FORMATS, Page, text};
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufReader, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

/// Reads the recording and prints the report.
pub fn main(args: &Report) -> Result<ExitCode> {
    print(&render(&read_recording(&args.file)?, &args.format, columns())?)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a recording, and says what could not be read.
#[allow(clippy::print_stderr)]
pub fn read_recording(path: &Path) -> Result<Recording> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| Error::io("open", &name, e))?;
    let unreadable = |e: crate::record::Unreadable| Error::Record { file: name.clone(), what: e.to_string() };
    let (recording, bad) = read(BufReader::new(file)).map_err(unreadable)?;
    for line in &bad {
        eprintln!("linerate: {name}: line {}: {}", line.line, line.why);
    }
    Ok(recording)
}

/// The report in the form with this name.
pub fn render(recording: &Recording, name: &str, page: Page) -> Result<String> {
    let format = FORMATS.iter().find(|format| format.name == name);
    let format = format.ok_or_else(|| Error::usage(format!("no format is called `{name}`"), ""))?;
    Ok((format.render)(recording, page))
}

/// The text report.
pub fn text_report(recording: &Recording, page: Page) -> String {
    text(recording, page)
}

/// The page that standard output offers.
pub fn columns() -> Page {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let width = if terminal { linerate_sys::terminal::columns() } else { None };
    Page { width, colour }
}
