//! A loop that a library's own compiler made, to hold ours against in the same process.

use crate::Result;
use crate::library::Library;
use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};

type Ping = unsafe extern "C" fn(*mut c_void, c_int, c_longlong, c_longlong) -> c_longlong;

/// `long long linerate_reference(void *room, int bytes, long long lead, long long messages)`: a lead and then so many round
/// trips over `MPI_COMM_WORLD`, which rank 0 begins; the nanoseconds that these took.
pub struct Reference(Ping);

impl Reference {
    /// The one that is in this library, which must have it as above.
    pub fn load(library: &Library) -> Result<Reference> {
        // SAFETY: the symbol's name is this crate's own, and its type is told above.
        Ok(Reference(unsafe { library.function::<Ping>("linerate_reference")? }))
    }

    /// Plays; MPI is under way in this process, and the other rank plays as well.
    pub fn ping(&self, room: &mut [u8], lead: i64, messages: i64) -> i64 {
        let bytes = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        // SAFETY: the room is there for the time of the call, and as long as it is told.
        unsafe { (self.0)(room.as_mut_ptr().cast(), bytes, lead, messages) }
    }
}

type OfFile =
    unsafe extern "C" fn(*const c_char, *mut c_void, c_int, c_int, c_longlong, c_longlong) -> c_longlong;

/// `long long linerate_reference_file(const char *path, void *room, int bytes, int how, long long lead, long long messages)`:
/// makes a file that all ranks have open, reads or writes a lead and then so many of its regions, and closes it; the nanoseconds
/// that these took, or less than nothing where something failed.
pub struct FileReference(OfFile);

impl FileReference {
    /// The one that is in this library, which must have it as above.
    pub fn load(library: &Library) -> Result<FileReference> {
        // SAFETY: the symbol's name is this crate's own, and its type is told above.
        Ok(FileReference(unsafe { library.function::<OfFile>("linerate_reference_file")? }))
    }

    /// Plays; MPI is under way in this process, and the other ranks play as well. `how` has a bit for writing, and one for each
    /// rank by itself.
    pub fn play(&self, path: &CStr, room: &mut [u8], how: i32, lead: i64, messages: i64) -> i64 {
        let bytes = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        // SAFETY: the path ends with a zero; the room is there for the time of the call, and as long as it is told.
        unsafe { (self.0)(path.as_ptr(), room.as_mut_ptr().cast(), bytes, how, lead, messages) }
    }
}
