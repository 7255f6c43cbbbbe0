//! `linerate import`: what another tool wrote, to recordings.

use super::args::Import;
use super::print;
use super::recorder::{create_folder, new_recording};
use super::watch::warn;
use crate::record::import::{Given, LARGEST_FILE, import};
use crate::record::{End, Event};
use crate::{Error, Result};
use jiff::Timestamp;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads all files first: where one is refused, nothing is written.
pub fn main(args: &Import) -> Result<ExitCode> {
    let utc = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut recordings = Vec::new();
    for path in &args.files {
        let given = Given {
            file: name(path),
            tool: args.tool.clone(),
            utc: utc.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            command: command.clone(),
        };
        let refused = |refusal: crate::record::import::Refusal| Error::Import {
            file: path.display().to_string(),
            what: refusal.what,
            hint: refusal.hint,
        };
        let runs = import(&bytes(path)?, &given).map_err(refused)?;
        let count = runs.len();
        recordings.extend((1..).zip(runs).map(|(number, events)| (path, (number, count), events)));
    }
    create_folder(&args.output)?;
    for (path, run, events) in recordings {
        let written = write(&args.output, &stem(path, run, &events), &events)?;
        for doubt in doubts(&events) {
            warn(&format!("{}: {doubt}", place(path, run)));
        }
        print(&format!("{}\n", written.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The file, and which of several runs in it.
fn place(path: &Path, (number, count): (usize, usize)) -> String {
    let path = path.display();
    if count > 1 { format!("{path}, run {number} of {count}") } else { path.to_string() }
}

/// A file's bytes, or those of standard input; one more than is read of the longest.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let most = LARGEST_FILE as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        let file = File::open(path).map_err(|e| Error::io("import", &name, e))?;
        file.take(most).read_to_end(&mut bytes)
    };
    read.map_err(|e| Error::io("read", &name, e))?;
    Ok(bytes)
}

/// The file's name; that of standard input says so.
fn name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".into();
    }
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// `iperf3-before-1`: the tool, the name of its file, and the number of several runs in it.
fn stem(path: &Path, (number, count): (usize, usize), events: &[Event]) -> String {
    let tool = events.iter().find_map(|event| match event {
        Event::Source(source) => Some(source.tool.as_str()),
        _ => None,
    });
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let stem: String = stem.chars().map(plain).take(100).collect();
    let tool = tool.unwrap_or("imported");
    let named = match stem.as_str() {
        "" | "-" => tool.into(),
        stem if stem.starts_with(tool) => stem.into(),
        stem => format!("{tool}-{stem}"),
    };
    if count > 1 { format!("{named}-{number}") } else { named }
}

fn doubts(events: &[Event]) -> &[String] {
    match events.first() {
        Some(Event::Source(source)) => &source.doubts,
        _ => &[],
    }
}

fn write(folder: &Path, stem: &str, events: &[Event]) -> Result<PathBuf> {
    let (path, mut writer) = new_recording(folder, stem)?;
    let end = Event::End(End { reason: "completed".into(), error: None, at_ns: 0 });
    let written = events.iter().chain([&end]).try_for_each(|event| writer.write(event).map(drop));
    if let Err(error) = written {
        // Of a file that is still there nothing is lost, and half of it would look like a run that was cut.
        let _ = std::fs::remove_file(&path);
        return Err(Error::io("write", path.display().to_string(), error));
    }
    Ok(path)
}
