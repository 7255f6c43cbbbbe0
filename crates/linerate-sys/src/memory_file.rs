//! A file that is in memory only (memfd_create(2)), and sending from it without a copy (sendfile(2)).

use crate::pages::Pages;
use crate::{Error, Result};
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use rustix::io::Errno;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileExt, PermissionsExt};

/// A file in memory. It is written once and never again, so what is under way cannot change.
#[derive(Debug)]
pub struct MemoryFile {
    file: File,
    len: usize,
}

impl MemoryFile {
    /// A file of this length, filled as [`Pages::filled`] fills memory.
    pub fn filled(len: usize) -> Result<MemoryFile> {
        let file = memfd_create("linerate", MemfdFlags::CLOEXEC);
        let mut file: File = file.map_err(|e| Error::new("memfd_create", "a file in memory", e))?.into();
        let content = Pages::filled(len)?;
        file.write_all(&content).map_err(|e| Error::new("write", format!("{len} bytes in memory"), e))?;
        Ok(MemoryFile { file, len: content.len() })
    }

    /// Its length.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing; it always holds something.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sends `len` bytes from `at` on, waiting as the socket does; says how many went: 0 when it takes none
    /// now. With `waits` a wait that took too long is an error.
    #[inline]
    pub fn send<const WAITS: bool>(&self, socket: &impl AsFd, at: usize, len: usize) -> io::Result<usize> {
        let mut offset = at as u64;
        match sendfile(socket, &self.file, Some(&mut offset), len) {
            Err(Errno::INTR) => Ok(0),
            Err(Errno::AGAIN) if !WAITS => Ok(0),
            // Past its end a file gives nothing; the caller stays within it.
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            answer => Ok(answer?),
        }
    }
}

/// A file in memory that only this user may read, under a name that another program may open while this is there.
#[derive(Debug)]
pub struct PrivateFile(File);

impl PrivateFile {
    /// With these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<PrivateFile> {
        let file = memfd_create("linerate", MemfdFlags::CLOEXEC);
        let mut file: File = file.map_err(|e| Error::new("memfd_create", "a file in memory", e))?.into();
        let fail = |call| move |e| Error::new(call, "a file in memory", e);
        file.set_permissions(Permissions::from_mode(0o600)).map_err(fail("fchmod"))?;
        file.write_all(bytes).map_err(fail("write"))?;
        Ok(PrivateFile(file))
    }

    /// Its name, for programs of the same user.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_fd().as_raw_fd())
    }

    /// What writes behind what is there.
    pub fn writer(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// All that is there, as far as it is text.
    pub fn text(&self) -> String {
        let mut bytes = vec![0; self.0.metadata().map_or(0, |about| about.len() as usize)];
        let read = self.0.read_at(&mut bytes, 0).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_sent_is_what_pages_hold() {
        let file = MemoryFile::filled(10_000).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        assert_eq!(file.send::<true>(&near, 5000, 3000).unwrap(), 3000);
        let mut came = vec![0; 3000];
        far.read_exact(&mut came).unwrap();
        assert_eq!(came, Pages::filled(10_000).unwrap()[5000..8000]);
        assert!(file.send::<true>(&near, 10_000, 1).is_err());
        assert_eq!((file.len(), file.is_empty()), (10_000, false));
    }
}
