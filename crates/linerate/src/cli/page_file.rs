//! Files that a command writes beside what it prints: a page, packets.

use crate::{Error, Result};
use std::path::Path;

/// Writes a file, in the place of one that is there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| Error::io("write", path.display().to_string(), error))
}
