//! `linerate compare`: two sets of recordings.

use super::args::Compare;
use super::report::{columns, read_recording};
use super::{print, verdict_code};
use crate::analysis::{RunNumbers, compare_runs};
use crate::report::{runs_json, runs_text};
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the comparison and answers with the verdict's code.
pub fn main(args: &Compare) -> Result<ExitCode> {
    let (a, b) = (files(&args.a)?, files(&args.b)?);
    if let Some(both) = a.iter().find(|file| b.contains(file)) {
        let what = format!("{} is on both sides", both.display());
        return Err(Error::usage(what, "name another one: a run compared with itself says nothing"));
    }
    let side =
        |files: &[PathBuf]| files.iter().map(|file| numbers(file)).collect::<Result<Vec<RunNumbers>>>();
    let compared = compare_runs(&side(&a)?, &side(&b)?, args.margin);
    let text = if args.format == "json" { runs_json(&compared) } else { runs_text(&compared, columns()) };
    print(&text)?;
    Ok(verdict_code(compared.verdict))
}

fn numbers(file: &Path) -> Result<RunNumbers> {
    Ok(RunNumbers::from_recording(&read_recording(file)?))
}

/// The recordings that an argument names, each once.
fn files(text: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for part in text.split(',').map(Path::new) {
        if part.is_dir() {
            let entries =
                std::fs::read_dir(part).map_err(|e| Error::io("open", part.display().to_string(), e))?;
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")));
        } else {
            found.push(part.to_owned());
        }
    }
    for path in &mut found {
        *path = path.canonicalize().map_err(|e| Error::io("open", path.display().to_string(), e))?;
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(Error::usage(
            format!("there is no recording in {text}"),
            "make some: linerate run lab --output FOLDER; their names end in .jsonl",
        ));
    }
    Ok(found)
}
