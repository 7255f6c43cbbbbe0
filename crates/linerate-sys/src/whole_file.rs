//! A new file that appears whole or not at all: it has no name until everything is in it (`O_TMPFILE` in open(2)),
//! so that a process that dies while it writes leaves nothing.

use crate::{Error, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Writes a file that is not there yet. Where one is there, or the file system or a missing `/proc` do not allow it,
/// the name is there before the bytes.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    match write_unnamed(path, bytes) {
        Ok(()) => Ok(()),
        Err(error) if is_refusal(&error) => {
            fs::write(path, bytes).map_err(|e| Error::new("write", path.display().to_string(), e))
        }
        Err(error) => Err(error),
    }
}

fn write_unnamed(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |call| move |source| Error::new(call, path.display().to_string(), source);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let everybody = Mode::from_raw_mode(0o666);
    let file = open(folder, flags, everybody).map_err(|e| fail("open")(e.into()))?;
    let mut file = File::from(file);
    file.write_all(bytes).map_err(fail("write"))?;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    let named = linkat(CWD, unnamed.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW);
    named.map_err(|e| fail("linkat")(e.into()))
}

/// Whether it is no failure of the file itself: open(2) and linkat(2) say which answers old file systems give.
fn is_refusal(error: &Error) -> bool {
    let refusals: &[Errno] = match error.call {
        "open" => &[Errno::OPNOTSUPP, Errno::ISDIR, Errno::INVAL, Errno::NOENT],
        "linkat" => &[Errno::EXIST, Errno::NOENT, Errno::PERM, Errno::OPNOTSUPP, Errno::XDEV],
        _ => &[],
    };
    refusals.iter().any(|errno| Some(errno.raw_os_error()) == error.source.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("linerate-sys-{name}-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_whole_when_it_has_a_name() {
        let folder = folder("whole");
        let path = folder.join("page.html");
        write(&path, b"first").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        // What is there already is overwritten as any file is.
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_without_a_name_is_nowhere() {
        let folder = folder("nowhere");
        let open = || open(&folder, OFlags::TMPFILE | OFlags::WRONLY, Mode::empty());
        if open().is_err() {
            return println!("SKIP: a_file_without_a_name_is_nowhere: this file system has no O_TMPFILE");
        }
        let long = vec![0; 1 << 20];
        // As a kill between the two calls would leave it.
        let mut file = File::from(open().unwrap());
        file.write_all(&long).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_said() {
        let error = write(Path::new("/proc/no/such/place"), b"").unwrap_err();
        assert_eq!((error.call, error.object.as_str()), ("write", "/proc/no/such/place"));
    }
}
