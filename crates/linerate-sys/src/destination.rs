//! A file that is about to hold what it holds nowhere yet: opened as a plain file, its room taken in advance, its name given
//! when it is whole.

use crate::{Error, Result};
use rustix::fs::{
    CWD, FallocateFlags, FileType, Mode, OFlags, RenameFlags, fallocate, fstat, fstatfs, fstatvfs, open,
    rename, renameat_with, syncfs,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// What open(2) answers of a link that is not to be followed, and of a socket.
pub const IS_LINK: i32 = libc::ELOOP;
/// See above.
pub const IS_SOCKET: i32 = libc::ENXIO;

/// Bytes of what stat(2) counts as a block.
const OF_BLOCK: u64 = 512;

/// Opens a file to read and to write, and makes it where there is none, with these permissions less the process's mask. A
/// link is not followed, and nothing but a regular file is opened.
pub fn open_plain(path: &Path, mode: u32) -> Result<File> {
    let fail = |call, e: Errno| Error::new(call, path.display().to_string(), e);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(open(path, flags, Mode::from_raw_mode(mode)).map_err(|e| fail("open", e))?.into(), path)
}

/// Opens a regular file to read; a link is not followed, and nothing else is opened.
pub fn open_source(path: &Path) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty());
    regular(opened.map_err(|e| Error::new("open", path.display().to_string(), e))?.into(), path)
}

/// Opens a folder, and not through a link.
pub fn open_folder(path: &Path) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty());
    opened.map(File::from).map_err(|e| Error::new("open", path.display().to_string(), e))
}

/// An error where the file system that something is on has not so many bytes left for who is no root.
pub fn has_room(on: &File, bytes: u64, path: &Path) -> Result<()> {
    let fail = |e: Errno| Error::new("statvfs", path.display().to_string(), e);
    let found = fstatvfs(on).map_err(fail)?;
    let left = found.f_bavail.saturating_mul(found.f_frsize);
    if left >= bytes { Ok(()) } else { Err(fail(Errno::NOSPC)) }
}

/// Has all on the disk that the file system has in memory on which something is.
pub fn sync_file_system(on: &File, path: &Path) -> Result<()> {
    syncfs(on).map_err(|e| Error::new("syncfs", path.display().to_string(), e))
}

fn regular(file: File, path: &Path) -> Result<File> {
    let found = fstat(&file).map_err(|e| Error::new("stat", path.display().to_string(), e))?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(file),
        _ => {
            let other = std::io::Error::new(ErrorKind::InvalidInput, "not a regular file");
            Err(Error::new("open", path.display().to_string(), other))
        }
    }
}

/// Takes the room that a file will need; says whether the file system does that. Where it does not, the file has its length
/// and its room is taken as it is written. In memory taking room is filling it with zeroes, which costs as much as what is written
/// then: there it is only looked whether there is enough.
pub fn allocate(file: &File, bytes: u64, path: &Path) -> Result<bool> {
    let fail = |call, e: std::io::Error| Error::new(call, path.display().to_string(), e);
    let system = fstatfs(file).map_err(|e| fail("statfs", e.into()))?;
    // A tmpfs without a limit has no blocks.
    if system.f_type == libc::TMPFS_MAGIC && system.f_blocks > 0 {
        let found = fstat(file).map_err(|e| fail("stat", e.into()))?;
        has_room(file, bytes.saturating_sub(found.st_blocks.unsigned_abs() * OF_BLOCK), path)?;
        file.set_len(bytes).map_err(|e| fail("ftruncate", e))?;
        return Ok(false);
    }
    // No file system takes room for nothing.
    if bytes > 0 {
        match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                file.set_len(bytes).map_err(|e| fail("ftruncate", e))?;
                return Ok(false);
            }
            Err(errno) => return Err(fail("fallocate", errno.into())),
        }
    }
    file.set_len(bytes).map_err(|e| fail("ftruncate", e))?;
    Ok(true)
}

/// Gives a file its name. What has that name already is replaced only where that is asked for.
pub fn name(from: &Path, to: &Path, replaces: bool) -> Result<()> {
    let fail = |e: Errno| Error::new("rename", to.display().to_string(), e);
    if replaces {
        return rename(from, to).map_err(fail);
    }
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it: what is there by now is seen, and what comes between is not.
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => rename(from, to).map_err(fail),
        Err(Errno::INVAL | Errno::NOSYS) => Err(fail(Errno::EXIST)),
        named => named.map_err(fail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_name_is_taken_only_where_asked() {
        let folder = std::env::temp_dir().join(format!("linerate-sys-destination-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let [part, whole] = ["part", "whole"].map(|name| folder.join(name));
        let file = open_plain(&part, 0o600).unwrap();
        allocate(&file, 5000, &part).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 5000);
        name(&part, &whole, false).unwrap();
        open_plain(&part, 0o600).unwrap();
        let error = name(&part, &whole, false).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::metadata(&whole).unwrap().len(), 5000);
        name(&part, &whole, true).unwrap();
        assert_eq!(fs::metadata(&whole).unwrap().len(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn in_memory_it_is_looked_for_room_and_none_is_taken() {
        let path = Path::new("/dev/shm").join(format!("linerate-sys-room-{}", std::process::id()));
        let file = open_plain(&path, 0o600).unwrap();
        assert!(!allocate(&file, 1 << 20, &path).unwrap());
        let found = fstat(&file).unwrap();
        let error = allocate(&file, 1 << 60, &path).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert_eq!((found.st_size, found.st_blocks), (1 << 20, 0));
        assert_eq!(error.source.raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn only_a_plain_file_is_opened() {
        let folder = std::env::temp_dir().join(format!("linerate-sys-plain-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        std::os::unix::fs::symlink(folder.join("file"), folder.join("link")).unwrap();
        assert!(open_source(&folder.join("file")).is_ok());
        for path in [folder.join("link"), folder.clone(), "/dev/zero".into()] {
            assert!(open_source(&path).is_err(), "{}", path.display());
            assert!(open_plain(&path, 0o600).is_err(), "{}", path.display());
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
