//! Writing a recording: each event is on disk before the next step begins.

use super::Event;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Appends events to a file.
#[derive(Debug)]
pub struct Writer {
    file: File,
    /// The bytes of whole lines.
    len: u64,
}

impl Writer {
    /// Creates the file; one that exists is never overwritten.
    pub fn create(path: &Path) -> io::Result<Writer> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        Ok(Writer { file, len: 0 })
    }

    /// Writes one line with one call, so that a crash leaves whole lines; answers with the line. A line of
    /// which only a part found room is taken back.
    pub fn write(&mut self, event: &Event) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        match self.file.write_all(&line) {
            Ok(()) => {
                self.len += line.len() as u64;
                Ok(line)
            }
            Err(error) => {
                // Where this fails too, the reader passes the part over.
                let _ = self.file.set_len(self.len);
                Err(error)
            }
        }
    }
}
