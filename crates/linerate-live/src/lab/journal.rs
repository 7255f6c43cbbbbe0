//! What this process makes outside itself, written down before it is made, and undone by the next start where this
//! one died.
//!
//! Nearly everything goes by itself: namespaces with their descriptors, children with their parent, sockets without
//! a name, files that have a name only when they are whole. What is left is processes that were started and may have
//! lost whoever would end them. Each is marked in its environment, and the mark is in the journal first.
//!
//! A journal is a file in its user's runtime directory, called `PID.START` after its process. The process keeps a lock
//! on it: what is locked, or called as a process that lives, is never touched. Nothing in it is believed but a known
//! kind and a mark, and a mark is of use only against processes of the same user that carry it and are younger than
//! the journal's own.

mod file;
mod undo;

pub use undo::{Depth, Undoing, Undone, undo};

use crate::Result;
use file::{Journal, Line};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The environment variable that marks a process as ours, and every process that it starts.
pub const VARIABLE: &str = "LINERATE_MARK";

/// What can be in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The program's own: builder, wire, agents and their workers.
    Processes,
    /// What a user runs on the hosts of a kept lab: ended only on request.
    Commands,
}

impl Kind {
    /// What one of it is called.
    pub fn singular(self) -> &'static str {
        match self {
            Kind::Processes => "process",
            Kind::Commands => "command",
        }
    }
}

/// This process's journal; none while it has made nothing.
static OWN: Mutex<Option<Journal>> = Mutex::new(None);

/// Begins this process's journal in `base`, the runtime directory of the program: from now on what [`mark`] marks is
/// written down. A second call changes nothing.
pub fn begin(base: &Path) -> Result<()> {
    let mut own = own();
    if own.is_none() {
        let mut journal = Journal::create(base)?;
        journal.write(Line::new(Kind::Processes))?;
        *own = Some(journal);
    }
    Ok(())
}

/// Marks what the command will start, where a journal was begun.
pub fn mark(command: &mut Command) {
    if let Some(mark) = own().as_ref().and_then(|journal| journal.mark_of(Kind::Processes)) {
        command.env(VARIABLE, mark);
    }
}

/// A mark for what a user runs on the hosts of a lab that this process keeps; none without a journal.
pub(super) fn mark_for_commands() -> Result<Option<String>> {
    let mut own = own();
    let Some(journal) = own.as_mut() else { return Ok(None) };
    let line = Line::new(Kind::Commands);
    let mark = line.mark.clone();
    journal.write(line)?;
    Ok(Some(mark))
}

/// Ends this process's journal in good order: what it made is gone. It stays where a user's commands go on.
pub fn end() {
    if let Some(journal) = own().take() {
        let goes_on = journal.marks_of(Kind::Commands).any(|mark| !undo::carriers(mark, 0).is_empty());
        journal.close(goes_on);
    }
}

/// Whether a text is a mark.
pub(super) fn is_mark(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn own() -> MutexGuard<'static, Option<Journal>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}
