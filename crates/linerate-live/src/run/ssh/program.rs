//! The program as it travels: without what only a debugger reads, packed where the other host can unpack it.

use crate::{Error, Result};
use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The program, read once for all hosts.
#[derive(Debug)]
pub struct Program {
    /// What lies on the other host.
    pub bytes: Arc<[u8]>,
    /// Its SHA-256, in hexadecimal digits.
    pub digest: String,
    packed: Mutex<Option<Arc<[u8]>>>,
}

impl Program {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Program> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path.display().to_string(), e))?;
        Ok(Program::new(stripped(bytes)))
    }

    pub(super) fn new(bytes: Vec<u8>) -> Program {
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Program { bytes: bytes.into(), digest, packed: Mutex::default() }
    }

    /// The folder that its copy has for itself: a running one is never overwritten.
    pub fn folder(&self) -> &str {
        &self.digest[..16]
    }

    /// As gzip(1) unpacks it.
    pub fn packed(&self) -> Result<Arc<[u8]>> {
        let mut known = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packed) = known.as_ref() {
            return Ok(packed.clone());
        }
        let mut writer = GzBuilder::new().write(Vec::new(), Compression::default());
        let packed = writer.write_all(&self.bytes).and_then(|()| writer.finish());
        let packed: Arc<[u8]> = packed.map_err(|e| Error::io("pack", "the program", e))?.into();
        *known = Some(packed.clone());
        Ok(packed)
    }
}

/// Where the fields of an ELF header of 64 bits are, and of a line of its table of segments (elf(5)).
const HEADER: usize = 64;
const IDENTITY: &[u8] = b"\x7fELF\x02\x01";
const SEGMENTS_AT: usize = 32;
const SECTIONS_AT: usize = 40;
const SEGMENT_LEN: usize = 54;
const SEGMENT_COUNT: usize = 56;
const SECTION_COUNT: usize = 60;
const OFFSET: usize = 8;
const FILE_LEN: usize = 32;

/// Without what lies behind the segments that the kernel loads: symbols, lines, and the table of sections that leads to
/// them. What is no such file stays as it is.
fn stripped(mut file: Vec<u8>) -> Vec<u8> {
    if let Some(end) = end_of_segments(&file) {
        file.truncate(end);
        file[SECTIONS_AT..SECTIONS_AT + 8].fill(0);
        file[SECTION_COUNT..HEADER].fill(0);
    }
    file
}

/// Where the last segment and their table end, within the file.
fn end_of_segments(file: &[u8]) -> Option<usize> {
    if file.len() < HEADER || !file.starts_with(IDENTITY) {
        return None;
    }
    let short = |at: usize| Some(usize::from(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?)));
    let long = |at: usize| {
        let bytes = file.get(at..at.checked_add(8)?)?;
        usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
    };
    let (table, each, count) = (long(SEGMENTS_AT)?, short(SEGMENT_LEN)?, short(SEGMENT_COUNT)?);
    let mut end = table.checked_add(each * count)?;
    for segment in 0..count {
        let at = table.checked_add(segment * each)?;
        let segment_end = long(at.checked_add(OFFSET)?)?.checked_add(long(at.checked_add(FILE_LEN)?)?)?;
        end = end.max(segment_end);
    }
    (count > 0 && (HEADER..=file.len()).contains(&end)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn a_program_without_its_symbols_runs_as_before() {
        // This test is a program with symbols and lines.
        let this = std::env::current_exe().unwrap();
        let program = Program::read(&this).unwrap();
        assert!((program.bytes.len() as u64) < this.metadata().unwrap().len());
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        fs::write(&copy, &program.bytes).unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).unwrap();
        let listed = Command::new(&copy).args(["--list", "a_program_without"]).output().unwrap();
        assert!(String::from_utf8_lossy(&listed.stdout).contains("runs_as_before: test"), "{listed:?}");
    }

    #[test]
    fn what_is_no_program_or_a_broken_one_stays() {
        let mut broken = vec![0xff; 200];
        broken[..IDENTITY.len()].copy_from_slice(IDENTITY);
        let mut empty = vec![0; 200];
        empty[..IDENTITY.len()].copy_from_slice(IDENTITY);
        for file in [b"#!/bin/sh\n".to_vec(), Vec::new(), IDENTITY.to_vec(), broken, empty] {
            assert_eq!(stripped(file.clone()), file);
        }
    }

    #[test]
    fn what_is_packed_unpacks_to_the_same() {
        let program = Program::new(b"the whole program ".repeat(1000));
        let packed = program.packed().unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut unpacked).unwrap();
        assert!(packed.len() < 1000 && *unpacked == *program.bytes);
        assert_eq!((program.digest.len(), program.folder().len()), (64, 16));
    }
}
