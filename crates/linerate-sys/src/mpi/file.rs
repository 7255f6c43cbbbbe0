//! A file that all ranks have open, each of which reads and writes its part: MPI-IO (MPI 4.1, chapter 14).
//!
//! `MPI_File` is a pointer in every ABI, also where other handles are numbers. A library may have none of this: LAM has its
//! own for it.

use super::{Handle, Rank, checked, count};
use crate::library::Library;
use crate::{Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;

type Open<H> = unsafe extern "C" fn(H, *const c_char, c_int, H, *mut usize) -> c_int;
type Close = unsafe extern "C" fn(*mut usize) -> c_int;
type WriteAt<H> = unsafe extern "C" fn(usize, i64, *const c_void, c_int, H, *mut c_void) -> c_int;
type ReadAt<H> = unsafe extern "C" fn(usize, i64, *mut c_void, c_int, H, *mut c_void) -> c_int;
type SetView<H> = unsafe extern "C" fn(usize, i64, H, H, *const c_char, H) -> c_int;
type Vector<H> = unsafe extern "C" fn(c_int, c_int, c_int, H, *mut H) -> c_int;
type OfType<H> = unsafe extern "C" fn(*mut H) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int;

/// How a file is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By all ranks together: `MPI_File_write_at_all`.
    Collective,
    /// By each for itself: `MPI_File_write_at`.
    Independent,
}

/// The rows of a tile: what lies between two of them is other ranks'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Where the first one begins.
    pub at: i64,
    /// How many.
    pub rows: i32,
    /// Bytes of one.
    pub row: i32,
    /// From one to the next.
    pub pitch: i32,
}

/// The library's own.
pub(super) struct Files<H> {
    open: Open<H>,
    close: Close,
    write: [WriteAt<H>; 2],
    read: [ReadAt<H>; 2],
    set_view: SetView<H>,
    vector: Vector<H>,
    commit: OfType<H>,
    free: OfType<H>,
    error_string: ErrorString,
    /// The one that is open.
    file: Option<usize>,
    access: Access,
}

impl<H: Handle> Files<H> {
    pub fn load(library: &Library) -> Result<Self> {
        // SAFETY: the MPI standard gives each symbol this type, with this ABI's handles; `MPI_Offset` has 8 bytes in all of
        // them.
        unsafe {
            Ok(Files {
                open: library.function::<Open<H>>("MPI_File_open")?,
                close: library.function::<Close>("MPI_File_close")?,
                write: [
                    library.function::<WriteAt<H>>("MPI_File_write_at_all")?,
                    library.function::<WriteAt<H>>("MPI_File_write_at")?,
                ],
                read: [
                    library.function::<ReadAt<H>>("MPI_File_read_at_all")?,
                    library.function::<ReadAt<H>>("MPI_File_read_at")?,
                ],
                set_view: library.function::<SetView<H>>("MPI_File_set_view")?,
                vector: library.function::<Vector<H>>("MPI_Type_vector")?,
                commit: library.function::<OfType<H>>("MPI_Type_commit")?,
                free: library.function::<OfType<H>>("MPI_Type_free")?,
                error_string: library.function::<ErrorString>("MPI_Error_string")?,
                file: None,
                access: Access::Collective,
            })
        }
    }
}

impl<H> Files<H> {
    /// What a call answered, in the library's own words where it is an error.
    fn worded(&self, answer: c_int) -> io::Result<()> {
        if answer == 0 {
            return Ok(());
        }
        let (mut words, mut length) = ([0_u8; MOST_WORDS], 0);
        // SAFETY: the room is larger than the MPI_MAX_ERROR_STRING of every ABI, 1024 at most, and its last byte stays zero.
        let told = unsafe { (self.error_string)(answer, words.as_mut_ptr().cast(), &mut length) };
        let words = CStr::from_bytes_until_nul(&words).ok().filter(|words| told == 0 && !words.is_empty());
        let words = words.map_or(String::new(), |words| format!(": {}", words.to_string_lossy()));
        Err(io::Error::other(format!("MPI error {answer}{words}")))
    }
}

/// Bytes of an error's words.
const MOST_WORDS: usize = 4096;

impl<H: Handle> Rank<H> {
    fn files(&mut self) -> io::Result<&mut Files<H>> {
        let none =
            || io::Error::new(io::ErrorKind::Unsupported, "this library has no MPI_File_open of its own");
        self.files.as_mut().ok_or_else(none)
    }

    /// `MPI_File_open` by all ranks: a file that is made where it is not there, to be read and written.
    pub fn open_file(&mut self, path: &CStr, access: Access) -> Result<()> {
        let failed = |source| Error::new("MPI_File_open", path.to_string_lossy(), source);
        let (world, info, mode) = (self.constants.world, self.constants.no_info, self.constants.file_mode);
        let files = self.files().map_err(failed)?;
        let mut file = 0;
        // SAFETY: the path ends with a zero, and the handle has the size that every ABI gives it.
        let opened = unsafe { (files.open)(world, path.as_ptr(), mode, info, &mut file) };
        files.worded(opened).map_err(failed)?;
        (files.file, files.access) = (Some(file), access);
        Ok(())
    }

    /// `MPI_File_set_view` by all ranks: from now on places are those within these rows.
    pub fn view_rows(&mut self, rows: Rows) -> io::Result<()> {
        let (byte, info) = (self.constants.byte, self.constants.no_info);
        let files = self.files()?;
        let Some(file) = files.file else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut kind = byte;
        // SAFETY: the new type is written to; it is committed before it is used, and may go while the file has it.
        unsafe {
            checked((files.vector)(rows.rows, rows.row, rows.pitch, byte, &mut kind))?;
            checked((files.commit)(&mut kind))?;
            let viewed = (files.set_view)(file, rows.at, byte, kind, c"native".as_ptr(), info);
            checked(viewed).and(checked((files.free)(&mut kind)))
        }
    }

    /// Writes at a place.
    #[inline]
    pub fn write_file(&mut self, at: i64, bytes: &[u8]) -> io::Result<()> {
        let (count, byte, status) = (count(bytes)?, self.constants.byte, self.statuses.as_mut_ptr().cast());
        let files = self.files()?;
        let Some(file) = files.file else { return Err(io::ErrorKind::InvalidInput.into()) };
        let call = files.write[files.access as usize];
        // SAFETY: the file is open, the buffer is there for the time of the call, and the status has room.
        checked(unsafe { call(file, at, bytes.as_ptr().cast(), count, byte, status) })?;
        self.is_whole(bytes.len())
    }

    /// Reads at a place; all of the room.
    #[inline]
    pub fn read_file(&mut self, at: i64, room: &mut [u8]) -> io::Result<()> {
        let (count, byte, status) = (count(room)?, self.constants.byte, self.statuses.as_mut_ptr().cast());
        let files = self.files()?;
        let Some(file) = files.file else { return Err(io::ErrorKind::InvalidInput.into()) };
        let call = files.read[files.access as usize];
        // SAFETY: as with `write_file`.
        checked(unsafe { call(file, at, room.as_mut_ptr().cast(), count, byte, status) })?;
        self.is_whole(room.len())
    }

    #[inline]
    fn is_whole(&self, bytes: usize) -> io::Result<()> {
        match self.received_bytes(0)? {
            moved if moved == bytes => Ok(()),
            moved => Err(io::Error::other(format!("{moved} of {bytes} bytes of a file were moved"))),
        }
    }

    /// `MPI_File_close` by all ranks.
    pub fn close_file(&mut self) -> io::Result<()> {
        let files = self.files()?;
        let Some(mut file) = files.file.take() else { return Ok(()) };
        // SAFETY: it is open, and is not used again.
        checked(unsafe { (files.close)(&mut file) })
    }
}
