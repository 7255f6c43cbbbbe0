//! The file that may describe a lab.

use crate::plan::{LONGEST_FILE, TargetError};
use std::fs::File;
use std::io::Read;

/// Its text.
pub fn text(name: &str) -> Result<String, TargetError> {
    let fault = |what: String, hint: &str| TargetError { what, hint: hint.into() };
    let failed = |error: std::io::Error| {
        let hint = "a lab's file is TOML: docs/guides/lab.md shows one; without a file: lab:rate=1Gb/s";
        fault(format!("cannot read {name}: {error}"), hint)
    };
    let mut bytes = Vec::new();
    let file = File::open(name).map_err(failed)?;
    // One byte more than is allowed, so that too long a file is told as such.
    file.take(LONGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let no_text = |_| fault(format!("{name} is not UTF-8"), "a lab's file is text, in TOML");
    String::from_utf8(bytes).map_err(no_text)
}
