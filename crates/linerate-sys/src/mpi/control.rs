//! Control variables of the tool interface (MPI 3.0, section 14.3): what a library made of what its environment says.

use super::{Handle, Rank};
use crate::library::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// The longest value that is read. A text's length is that of the variable, not of what it holds.
const VALUE: usize = 16 << 10;
/// `MPI_MAX_OBJECT_NAME` is 128 at the most: mpi.h of MPICH, of Open MPI (64), and of the standard ABI.
const TYPE_NAME: usize = 256;

type Begin = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
type IndexOf = unsafe extern "C" fn(*const c_char, *mut c_int) -> c_int;
type InfoOf<H> = unsafe extern "C" fn(
    c_int,
    *mut c_char,
    *mut c_int,
    *mut c_int,
    *mut H,
    *mut c_void,
    *mut c_char,
    *mut c_int,
    *mut c_int,
    *mut c_int,
) -> c_int;
type Open = unsafe extern "C" fn(c_int, *const c_void, *mut *mut c_void, *mut c_int) -> c_int;
type Close = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type Read = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type NameOf<H> = unsafe extern "C" fn(H, *mut c_char, *mut c_int) -> c_int;

/// The calls, in a library that has them: LAM is older.
pub(super) struct Controls<H> {
    index_of: IndexOf,
    info_of: InfoOf<H>,
    open: Open,
    close: Close,
    read: Read,
    name_of: NameOf<H>,
}

impl<H: Handle> Controls<H> {
    /// Begins the interface, for as long as the process lasts: MPICH forgets all variables where it is ended before.
    pub fn load(library: &Library, level: c_int) -> Option<Self> {
        let mut provided = 0;
        // SAFETY: the MPI standard gives each symbol this type, with this ABI's handles; those of this interface are
        // pointers in all of them. It may be begun at any time, and one thread calls MPI.
        unsafe {
            let begin = library.function::<Begin>("MPI_T_init_thread").ok()?;
            (begin(level, &mut provided) == 0).then_some(())?;
            Some(Controls {
                index_of: library.function::<IndexOf>("MPI_T_cvar_get_index").ok()?,
                info_of: library.function::<InfoOf<H>>("MPI_T_cvar_get_info").ok()?,
                open: library.function::<Open>("MPI_T_cvar_handle_alloc").ok()?,
                close: library.function::<Close>("MPI_T_cvar_handle_free").ok()?,
                read: library.function::<Read>("MPI_T_cvar_read").ok()?,
                name_of: library.function::<NameOf<H>>("MPI_Type_get_name").ok()?,
            })
        }
    }
}

impl<H: Handle> Rank<H> {
    /// The value of a control variable; none where the library has no such variable, or none that is a number or a text.
    pub fn control(&self, name: &str) -> Option<String> {
        let controls = self.controls.as_ref()?;
        self.value_of(controls, &CString::new(name).ok()?)
    }

    fn value_of(&self, controls: &Controls<H>, name: &CStr) -> Option<String> {
        let (mut index, mut kind, mut bound) = (0, self.constants.byte, 0);
        let nobody = null_mut::<c_int>();
        // SAFETY: the name ends with a zero; null is allowed for whatever is not wanted, and the others are written to for
        // the time of the call.
        let answers = unsafe {
            let (text, info) = (null_mut(), controls.info_of);
            let found = (controls.index_of)(name.as_ptr(), &mut index);
            if found != 0 {
                return None;
            }
            info(index, text, nobody, nobody, &mut kind, null_mut(), text, nobody, &mut bound, nobody)
        };
        if answers != 0 || bound != self.constants.unbound {
            return None;
        }
        let (mut handle, mut count) = (null_mut(), 0);
        // SAFETY: a variable that is bound to no object needs none.
        if unsafe { (controls.open)(index, null(), &mut handle, &mut count) } != 0 {
            return None;
        }
        let value = read_as(&self.type_name(controls, kind)?, usize::try_from(count).ok()?, |room| {
            // SAFETY: the handle is open, and the room is for so many elements of its type.
            unsafe { (controls.read)(handle, room.as_mut_ptr().cast()) == 0 }
        });
        // SAFETY: it was opened above, and is not used again.
        unsafe { (controls.close)(&mut handle) };
        value
    }

    fn type_name(&self, controls: &Controls<H>, kind: H) -> Option<String> {
        let (mut name, mut length) = ([0_u8; TYPE_NAME], 0);
        // SAFETY: there is room for the longest name of any ABI.
        let named = unsafe { (controls.name_of)(kind, name.as_mut_ptr().cast(), &mut length) };
        let name = CStr::from_bytes_until_nul(&name).ok().filter(|_| named == 0)?;
        name.to_str().ok().map(str::to_owned)
    }
}

/// A value of so many elements of the type of this name, in room of words: they are as aligned as any type needs.
fn read_as(kind: &str, count: usize, read: impl FnOnce(&mut [u64]) -> bool) -> Option<String> {
    if count == 0 || count > VALUE {
        return None;
    }
    let mut room = vec![0_u64; count + 1];
    if !read(&mut room) {
        return None;
    }
    let (word, half) = (room[0], room[0].to_ne_bytes());
    let half = [half[0], half[1], half[2], half[3]];
    match (kind, count) {
        ("MPI_C_BOOL", 1) => Some(u8::from(half[0] != 0).to_string()),
        ("MPI_CHAR", _) => {
            let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
            Some(CStr::from_bytes_until_nul(&bytes).ok()?.to_str().ok()?.to_owned())
        }
        ("MPI_INT" | "MPI_INT32_T", 1) => Some(i32::from_ne_bytes(half).to_string()),
        ("MPI_UNSIGNED" | "MPI_UINT32_T", 1) => Some(u32::from_ne_bytes(half).to_string()),
        ("MPI_LONG" | "MPI_INT64_T" | "MPI_COUNT", 1) => Some(word.cast_signed().to_string()),
        ("MPI_UNSIGNED_LONG" | "MPI_UNSIGNED_LONG_LONG" | "MPI_UINT64_T", 1) => Some(word.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of_bytes(kind: &str, count: usize, bytes: &[u8]) -> Option<String> {
        read_as(kind, count, |room| {
            for (word, bytes) in room.iter_mut().zip(bytes.chunks(8)) {
                let mut eight = [0; 8];
                eight[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_ne_bytes(eight);
            }
            true
        })
    }

    #[test]
    fn a_value_is_read_as_its_type_says() {
        let minus = (-1_i32).to_ne_bytes();
        assert_eq!(value_of_bytes("MPI_INT", 1, &minus).as_deref(), Some("-1"));
        assert_eq!(value_of_bytes("MPI_C_BOOL", 1, &[1]).as_deref(), Some("1"));
        assert_eq!(value_of_bytes("MPI_UNSIGNED", 1, &minus).as_deref(), Some("4294967295"));
        assert_eq!(
            value_of_bytes("MPI_UNSIGNED_LONG", 1, &(1_u64 << 40).to_ne_bytes()).as_deref(),
            Some("1099511627776")
        );
        assert_eq!(value_of_bytes("MPI_CHAR", 12, b"tcp,self,vader\0").as_deref(), Some("tcp,self,vader"));
        assert_eq!(
            (
                value_of_bytes("MPI_FLOAT", 1, &minus),
                value_of_bytes("MPI_INT", 2, &minus),
                value_of_bytes("MPI_INT", 0, &[])
            ),
            (None, None, None)
        );
        assert_eq!(read_as("MPI_INT", 1, |_| false), None);
    }
}
