//! Writing a recording: each event is on disk before the next step begins.

use super::Event;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Appends events to a file.
#[derive(Debug)]
pub struct Writer {
    file: File,
}

impl Writer {
    /// Creates the file; one that exists is never overwritten.
    pub fn create(path: &Path) -> io::Result<Writer> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Writer { file })
    }

    /// Writes one line with one call, so that a crash leaves whole lines.
    pub fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
