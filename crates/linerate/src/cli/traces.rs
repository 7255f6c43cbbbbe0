//! What processes leave that died: undone by the next one that makes something, which first begins a journal of its
//! own.

use super::chain;
use super::runtime::runtime;
use crate::lab::journal::{self, Depth, Undoing, Undone};
use crate::run::host_settings;
use crate::{Error, Result};

/// Undoes what dead processes left, and begins this one's journal; says what there is to say of it. A run never fails
/// for it: what it makes goes with it, and the journal is for where that does not hold. But a limit that is met by then
/// will be met again.
pub fn begin() -> Result<Vec<String>> {
    let mut told = tidy();
    match journal::begin(&runtime()) {
        Ok(()) => {}
        Err(error @ Error::Limit { .. }) => return Err(error),
        Err(error) => {
            let what = "what is started is not written down, so no later start would end it";
            told.push(format!("{what}: {}", chain(&error)));
        }
    }
    Ok(told)
}

/// Undoes what the program itself had started, and says what that was.
pub fn tidy() -> Vec<String> {
    // Why nothing can be read there is why nothing can be written there, which is told.
    let Undoing { undone, left, .. } = journal::undo(&runtime(), Depth::Start).unwrap_or_default();
    let undone = undone.iter().map(|undone| sentence(undone, "is ended"));
    let processes = undone.chain(left.iter().map(|left| sentence(left, "does not end")));
    let (settings, notes) = host_settings::undo(&runtime(), false).unwrap_or_default();
    let settings = settings.iter().map(|one| format!("after a search that was killed: {one}"));
    processes.chain(settings).chain(notes).collect()
}

/// Undoes everything that dead processes left.
pub fn undo() -> Result<Undoing> {
    journal::undo(&runtime(), Depth::Asked)
}

/// What became of a process that was left.
pub fn sentence(undone: &Undone, became: &str) -> String {
    let Undone { of, pid, command, .. } = undone;
    format!("process {pid} {became}: `{command}`, which process {of} left when it died")
}
