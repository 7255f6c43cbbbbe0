//! Files that are their user's own: opened without following a link, without waiting, and looked at before they are
//! used. A name in a folder may lead anywhere; a descriptor that was looked at does not.

use crate::{Error, Result};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// Opens a regular file of the calling user that has no second name, to read and to write; none where there is none.
pub fn open_own(path: &Path) -> Result<Option<File>> {
    let fail = |call| move |source| Error::new(call, path.display().to_string(), source);
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(fail("open")(errno.into())),
    };
    let found = fstat(&file).map_err(|errno| fail("stat")(errno.into()))?;
    let is_own = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        && found.st_uid == rustix::process::geteuid().as_raw()
        && found.st_nlink == 1;
    let other =
        || fail("open")(std::io::Error::new(ErrorKind::PermissionDenied, "not a file of this user alone"));
    is_own.then(|| Some(File::from(file))).ok_or_else(other)
}

/// Makes a file, or empties the one that is there, for the calling user alone. A link is not followed.
pub fn create_own(path: &Path) -> Result<File> {
    let fail = |source: Errno| Error::new("open", path.display().to_string(), source);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(path, flags, Mode::RUSR | Mode::WUSR).map(File::from).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn only_a_plain_file_is_opened() {
        let folder = std::env::temp_dir().join(format!("linerate-sys-own-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let file = folder.join("file");
        drop(create_own(&file).unwrap());
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(open_own(&file).unwrap().is_some());
        assert!(open_own(&folder.join("none")).unwrap().is_none());
        let link = folder.join("link");
        symlink(&file, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["link", "pipe", "."] {
            assert!(open_own(&folder.join(name)).is_err(), "{name}");
        }
        assert!(create_own(&link).is_err());
        assert!(open_own(Path::new("/dev/null")).is_err());
        fs::hard_link(&file, folder.join("second")).unwrap();
        assert!(open_own(&file).is_err(), "it has two names");
        fs::remove_dir_all(&folder).unwrap();
    }
}
