//! A file past the page cache, where that was asked for and can be had; else why it goes through it.

use crate::record::FileIo;
use linerate_sys::direct_file::{Reader, past_cache};
use std::fs::File;

/// What was asked for, and what came of it.
pub struct Direct {
    file: Result<File, String>,
}

impl Direct {
    /// The same file past the cache.
    pub fn past_cache(file: &File, writes: bool) -> Direct {
        // The queue of requests may be forbidden where the file system has the rest.
        let had = past_cache(file, writes).and_then(|file| Reader::new().map(|_| file));
        Direct { file: had.map_err(|error| format!("{}: {}", error.call, error.source)) }
    }

    /// Of what is no single file.
    pub fn of_folder() -> Direct {
        Direct { file: Err("the small files of a folder go through it".into()) }
    }

    /// It, where it can be had.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref().ok()
    }

    /// As it is recorded.
    pub fn granted(&self) -> FileIo {
        FileIo { past_cache: self.file.is_ok(), why_not: self.file.as_ref().err().cloned() }
    }
}
