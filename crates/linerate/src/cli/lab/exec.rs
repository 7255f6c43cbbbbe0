//! `linerate lab exec`: a command on a host of a lab that is up.

use super::super::runtime;
use super::super::watch::warn;
use super::args::Exec;
use super::{choose, labs};
use crate::Result;
use crate::lab::journal;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// What shells answer for a command that is there and cannot be run, and for one that is not there.
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Becomes the command: nothing of linerate remains between it and the terminal, so that its signals, its
/// jobs and its end are its own. Returns only where there is no such command.
pub fn main(args: &Exec) -> Result<ExitCode> {
    let held = labs(&runtime::register()?)?;
    let first = |name: &str| format!("say which: linerate lab exec --lab {name} {} …", args.host);
    let lab = choose(held, args.lab.as_deref(), first)?;
    lab.enter(lab.entry.host(&args.host)?)?;
    let shell = || vec![std::env::var_os("SHELL").unwrap_or_else(|| OsString::from("/bin/sh"))];
    let words = if args.command.is_empty() { shell() } else { args.command.clone() };
    let [program, arguments @ ..] = words.as_slice() else {
        return Ok(ExitCode::from(NOT_FOUND));
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(mark) = &lab.entry.mark {
        command.env(journal::VARIABLE, mark);
    }
    let error = command.exec();
    let (code, why) = match error.kind() {
        ErrorKind::PermissionDenied if is_somewhere(program) => {
            (CANNOT_RUN, "this is not a program that you may run".to_owned())
        }
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            (NOT_FOUND, "there is no such command on this machine".to_owned())
        }
        _ => (CANNOT_RUN, error.to_string()),
    };
    warn(&format!("{}: {why}", program.to_string_lossy()));
    Ok(ExitCode::from(code))
}

/// Whether there is such a file, in a folder of PATH where no path is given: a folder that may not be searched
/// is refused in the same way as a file that may not be run.
fn is_somewhere(program: &OsStr) -> bool {
    if program.as_encoded_bytes().contains(&b'/') {
        return Path::new(program).exists();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
