//! `linerate report`: recordings to text, JSON, CSV, a page or figures.

use super::args::Report;
use super::printed::printed;
use super::watch::warn;
use super::{print, write};
use crate::record::import::{LARGEST_FILE, tool_of};
use crate::record::{Recording, read};
use crate::report::{FORMATS, Format, Page, Rendered, Sheet};
use crate::{Error, Result};
use linerate_sys::whole_file;
use std::fs::File;
use std::io::{BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads the recordings and writes the report where it is wanted.
pub fn main(args: &Report) -> Result<ExitCode> {
    let format = named(&args.format)?;
    if args.files.len() > 1 && !format.several {
        let several: Vec<&str> = FORMATS.iter().filter(|one| one.several).map(|one| one.name).collect();
        let what = format!("--format {} is of one recording", format.name);
        return Err(Error::usage(
            what,
            format!("several stand beside each other in: {}", several.join(", ")),
        ));
    }
    let recordings = args.files.iter().map(|file| read_recording(file)).collect::<Result<Vec<_>>>()?;
    let rendered = (format.render)(&sheets(&recordings), columns())?;
    let first = args.files.first().map_or(Path::new("report"), PathBuf::as_path);
    match rendered {
        Rendered::Files(files) => {
            write_files(&args.output.clone().unwrap_or(first.with_extension("")), &files)?
        }
        Rendered::Text(text) => write_text(args, format, first, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Recordings with their numbers; several are called A, B and so on.
fn sheets(recordings: &[Recording]) -> Vec<Sheet<'_>> {
    let letter = |place: usize| char::from_u32('A' as u32 + place as u32).unwrap_or('?').to_string();
    let label = |place: usize| if recordings.len() > 1 { letter(place) } else { String::new() };
    recordings.iter().enumerate().map(|(place, recording)| Sheet::new(recording, label(place))).collect()
}

/// To the file that was named; a page that would flood a terminal goes beside its recording.
fn write_text(args: &Report, format: &Format, first: &Path, text: &str) -> Result<()> {
    let floods = format.several && std::io::stdout().is_terminal();
    let beside = floods.then(|| first.with_extension(format.name));
    let to_standard_output = args.output.as_deref().is_some_and(|path| path == Path::new("-"));
    match args.output.clone().or(beside).filter(|_| !to_standard_output) {
        Some(path) => {
            write_file(&path, text.as_bytes())?;
            print(&format!("{}\n", path.display()))
        }
        None if format.several => write(text.as_bytes()),
        None => print(text),
    }
}

fn write_files(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    if files.is_empty() {
        return Err(Error::usage("there is nothing to draw", "nothing was measured in this recording"));
    }
    std::fs::create_dir_all(folder).map_err(|e| Error::io("mkdir", folder.display().to_string(), e))?;
    for (name, bytes) in files {
        let path = folder.join(name);
        write_file(&path, bytes)?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    // Never half of one that is new.
    if path.exists() {
        return std::fs::write(path, bytes).map_err(|e| Error::io("write", path.display().to_string(), e));
    }
    Ok(whole_file::write(path, bytes)?)
}

/// Writes the page of a run beside its recording. The run is not lost where that fails.
pub fn write_page(recording: &Recording, path: &Path) -> Option<PathBuf> {
    let page = path.with_extension("html");
    // Never half of one, whatever ends this process.
    let put = |text: String| Ok(whole_file::write(&page, text.as_bytes())?);
    match render(recording, "html", columns()).and_then(put) {
        Ok(()) => Some(page),
        Err(error) => {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            warn(&format!("there is no page of this run: {}{hint}", super::chain(&error)));
            None
        }
    }
}

/// Reads a recording, and says what could not be read.
pub fn read_recording(path: &Path) -> Result<Recording> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| Error::io("open", &name, e))?;
    let unreadable = |e: crate::record::Unreadable| {
        of_another_tool(path, &name).unwrap_or(Error::Record { file: name.clone(), what: e.to_string() })
    };
    let (recording, bad) = read(BufReader::new(file)).map_err(unreadable)?;
    for line in &bad {
        warn(&format!("{name}: line {}: {}", line.line, line.why));
    }
    Ok(recording)
}

/// What to say of a file that is no recording because another tool wrote it, or this one for programs.
fn of_another_tool(path: &Path, name: &str) -> Option<Error> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).ok()?;
    if let Some(error) = printed(&bytes, name) {
        return Some(error);
    }
    let tool = tool_of(&bytes)?;
    Some(Error::Import {
        file: name.into(),
        what: format!("it is no recording: it looks like what {tool} wrote"),
        hint: format!("make a recording of it: linerate import {name}"),
    })
}

/// The report in the form with this name; files one after the other.
pub fn render(recording: &Recording, name: &str, page: Page) -> Result<String> {
    match (named(name)?.render)(&[Sheet::new(recording, "")], page)? {
        Rendered::Text(text) => Ok(text),
        Rendered::Files(_) => {
            Err(Error::usage(format!("--format {name} is not text"), "try linerate report --format"))
        }
    }
}

fn named(name: &str) -> Result<&'static Format> {
    let format = FORMATS.iter().find(|format| format.name == name);
    format.ok_or_else(|| Error::usage(format!("no format is called `{name}`"), ""))
}

/// The page that standard output offers.
pub fn columns() -> Page {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let width = if terminal { linerate_sys::terminal::columns() } else { None };
    Page { width, colour }
}
