//! Which ranges of a part are there: a file beside it, a line a range, after its bytes. What a kill leaves of it is read as far
//! as it goes, and nothing in it is believed: each range that it names is looked through again, and compared with the source.

use super::fault;
use super::range::Division;
use crate::Result;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The first word of the first line.
const SCHEMA: &str = "linerate.transfer/1";

/// The longest journal that is read: a line each of the most ranges, and more.
const LONGEST: u64 = 1 << 20;

/// What a part is of: as its journal's first line has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// How it is divided.
    pub division: Division,
    /// The digest of a folder's catalog; none of a file.
    pub catalog: Option<String>,
}

impl Subject {
    fn line(&self) -> String {
        let Division { bytes, range_bytes } = self.division;
        let catalog = self.catalog.as_ref().map_or(String::new(), |digest| format!(" {digest}"));
        format!("{SCHEMA} {bytes} {range_bytes}{catalog}")
    }
}

/// The journal of a part that is being written.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Begins one anew.
    pub fn create(path: &Path, subject: &Subject) -> Result<Journal> {
        let shown = path.display().to_string();
        let file = linerate_sys::destination::open_plain(path, 0o600).map_err(fault::of_file)?;
        file.set_len(0).map_err(|e| fault::on("ftruncate", &shown, e))?;
        let journal = Journal { file, path: path.to_owned() };
        journal.write(&format!("{}\n", subject.line()))?;
        Ok(journal)
    }

    /// Says that a range is there.
    pub fn keep(&self, range: u64) -> Result<()> {
        self.write(&format!("{range}\n"))
    }

    /// One call for a line, so that threads do not mix theirs.
    fn write(&self, line: &str) -> Result<()> {
        let mut file = &self.file;
        file.write_all(line.as_bytes()).map_err(|e| fault::on("write", &self.path.display().to_string(), e))
    }
}

/// The ranges that a journal names, where it is one of this subject; ascending, each once.
pub fn read(path: &Path, subject: &Subject) -> Vec<u64> {
    let mut bytes = Vec::new();
    let Ok(file) = linerate_sys::destination::open_source(path) else { return Vec::new() };
    if file.take(LONGEST).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    ranges(&String::from_utf8_lossy(&bytes), subject)
}

fn ranges(text: &str, subject: &Subject) -> Vec<u64> {
    let Some((first, rest)) = text.split_once('\n') else { return Vec::new() };
    if first != subject.line() {
        return Vec::new();
    }
    // The last line may have been cut short, and be another number then.
    let whole = rest.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut ranges: Vec<u64> = whole.lines().filter_map(|line| line.parse().ok()).collect();
    ranges.retain(|range| *range < subject.division.count());
    ranges.sort_unstable();
    ranges.dedup();
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(bytes: u64) -> Subject {
        Subject { division: Division::for_file(bytes).unwrap(), catalog: None }
    }

    #[test]
    fn what_was_kept_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("journal"), subject(100 << 20));
        let journal = Journal::create(&path, &file).unwrap();
        [7, 3, 7].iter().for_each(|range| journal.keep(*range).unwrap());
        assert_eq!(read(&path, &file), [3, 7]);
        assert!(read(&path, &subject((100 << 20) + 1)).is_empty(), "another file's");
        let folder_of_it = Subject { catalog: Some("f00".into()), ..file.clone() };
        assert!(read(&path, &folder_of_it).is_empty(), "a folder's");
        assert!(read(folder.path(), &file).is_empty());
    }

    #[test]
    fn a_damaged_journal_is_read_as_far_as_it_goes() {
        let file = subject(100 << 20);
        let first = format!("{}\n", file.line());
        for (rest, ranges_there) in
            [("1\n2", &[1][..]), ("", &[]), ("1\nx\n-4\n99999\n2\n", &[1, 2]), ("\0\0\n5\n\u{fffd}\n", &[5])]
        {
            assert_eq!(ranges(&format!("{first}{rest}"), &file), ranges_there, "{rest:?}");
        }
        assert!(ranges("1\n2\n", &file).is_empty());
    }
}
