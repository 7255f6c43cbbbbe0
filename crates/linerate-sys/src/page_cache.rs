//! What of a file the kernel keeps in memory: how much it is, and letting it go. It acts on one file and needs no privilege,
//! unlike `/proc/sys/vm/drop_caches`, which acts on the whole host.

use crate::{Error, Result};
use rustix::fs::{Advice, fadvise};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::os::fd::AsRawFd;

/// So much is looked at at once.
const WINDOW: u64 = 256 << 20;

/// Lets the kernel's pages of a file go (`POSIX_FADV_DONTNEED`). What is not on the disk yet is written first: the kernel
/// keeps it otherwise.
pub fn drop_cached(file: &File) -> Result<()> {
    let fail = |call, e| Error::new(call, object(file), e);
    file.sync_data().map_err(|e| fail("fdatasync", e))?;
    fadvise(file, 0, None, Advice::DontNeed).map_err(|e| fail("posix_fadvise", e.into()))
}

/// Says that a file is read from its beginning to its end, once.
pub fn read_ahead(file: &File) -> Result<()> {
    fadvise(file, 0, None, Advice::Sequential).map_err(|e| Error::new("posix_fadvise", object(file), e))
}

/// The share of a file's pages that are in memory (mincore(2)). Of a file that the caller neither owns nor may write, the
/// kernel says that all of it is (Linux 5.2).
pub fn cached_share(file: &File) -> Result<f64> {
    let fail = |e: std::io::Error| Error::new("mincore", object(file), e);
    let bytes = file.metadata().map_err(fail)?.len();
    let page = rustix::param::page_size() as u64;
    let (mut cached, mut pages, mut at) = (0_u64, 0_u64, 0);
    while at < bytes {
        let length = WINDOW.min(bytes - at) as usize;
        let mut room = vec![0_u8; length.div_ceil(page as usize)];
        // SAFETY: a new mapping at a place of the kernel's choice, which nothing refers to.
        let mapped =
            unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::SHARED, file, at) };
        let mapped = mapped.map_err(|e| fail(e.into()))?;
        // SAFETY: the mapping has `length` bytes, and `room` a byte for each of its pages.
        let answer = unsafe { libc::mincore(mapped, length, room.as_mut_ptr()) };
        let failed = (answer != 0).then(std::io::Error::last_os_error);
        // SAFETY: it was mapped above with this length, and nothing refers to it.
        let _ = unsafe { munmap(mapped, length) };
        if let Some(error) = failed {
            return Err(fail(error));
        }
        cached += room.iter().filter(|page| **page & 1 == 1).count() as u64;
        pages += room.len() as u64;
        at += length as u64;
    }
    Ok(if pages == 0 { 1.0 } else { cached as f64 / pages as f64 })
}

fn object(file: &File) -> String {
    format!("descriptor {}", file.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_written_is_cached_and_can_be_let_go() {
        // Not in /tmp, which may be memory: its pages stay.
        let path = std::env::current_dir().unwrap().join(format!("page-cache-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(&vec![7; 4 << 20]).unwrap();
        let before = cached_share(&file).unwrap();
        assert!(before > 0.9, "{before}");
        drop_cached(&file).unwrap();
        let after = cached_share(&file).unwrap();
        assert!(after <= before, "{after}");
        read_ahead(&file).unwrap();
    }

    #[test]
    fn an_empty_file_is_all_there() {
        let path = std::env::temp_dir().join(format!("page-cache-empty-{}", std::process::id()));
        let file = File::create_new(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(cached_share(&file).unwrap(), 1.0);
    }
}
