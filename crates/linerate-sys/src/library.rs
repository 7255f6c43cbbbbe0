//! Foreign libraries loaded at run time: what they export, and the calls that say what they are.
//!
//! Loading one runs its constructors, which may print, abort or hang: it is done in a process of its own.

use crate::{Error, Result};
use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_NOW, Symbol};
use std::ffi::{CStr, c_char, c_int};
use std::io;
use std::mem::ManuallyDrop;
use std::path::Path;

/// Room for a text that a library writes: the standard allows 8192, a library may need more.
const TEXT: usize = 16 << 10;

/// A library that stays loaded until the process ends: its threads and exit handlers may outlive any handle.
#[derive(Debug)]
pub struct Library(ManuallyDrop<Handle>);

impl Library {
    /// Loads it, all its symbols at once, visible to what it loads itself.
    pub fn open(path: &Path) -> Result<Library> {
        // SAFETY: the constructors of a library are as trusted as any program that is linked with it; the caller
        // gives it a process of its own.
        let opened = unsafe { Handle::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let refused = |error: libloading::Error| {
            // Its own text says only that the call failed.
            let why =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::new("dlopen", path.display().to_string(), io::Error::other(why))
        };
        Ok(Library(ManuallyDrop::new(opened.map_err(refused)?)))
    }

    /// Whether it, or what it depends on, exports this.
    pub fn has(&self, symbol: &str) -> bool {
        // SAFETY: the address is not used.
        unsafe { self.0.get::<*const u8>(symbol.as_bytes()) }.is_ok()
    }

    /// A function of it.
    ///
    /// # Safety
    ///
    /// `T` is the function's type.
    pub(crate) unsafe fn function<T: Copy>(&self, symbol: &str) -> Result<T> {
        // SAFETY: the caller knows the type; the library stays loaded, and so may the address.
        let found = unsafe { self.0.get::<T>(symbol.as_bytes()) };
        Ok(*found.map_err(|_| missing_symbol(symbol))?)
    }

    /// Where a variable of it lies.
    pub(crate) fn address(&self, symbol: &str) -> Result<usize> {
        // SAFETY: the address is not read from.
        let found = unsafe { self.0.get::<*const u8>(symbol.as_bytes()) };
        let found = found.map_err(|_| missing_symbol(symbol))?;
        Ok(found.into_raw() as usize)
    }

    /// The version of the MPI standard's own ABI: negative numbers say that this is another one (MPI 5.0, section 20).
    pub fn mpi_abi_version(&self) -> Option<(i32, i32)> {
        self.two_numbers("MPI_Abi_get_version")
    }

    /// The version of the MPI standard, of every MPI since 1.2.
    pub fn mpi_version(&self) -> Option<(i32, i32)> {
        self.two_numbers("MPI_Get_version")
    }

    fn two_numbers(&self, symbol: &str) -> Option<(i32, i32)> {
        type Call = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        // SAFETY: the MPI standard gives this symbol this type, and allows the call before MPI_Init.
        unsafe {
            let call: Symbol<Call> = self.0.get(symbol.as_bytes()).ok()?;
            let (mut first, mut second) = (0, 0);
            (call(&mut first, &mut second) == 0).then_some((first, second))
        }
    }

    /// What an MPI says of itself (since MPI 3).
    pub fn mpi_library_version(&self) -> Option<String> {
        type Call = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
        let mut text = vec![0u8; TEXT];
        let mut length: c_int = 0;
        // SAFETY: the MPI standard gives this symbol this type, allows the call before MPI_Init, and has it write at
        // most 8192 bytes with the zero.
        let answer = unsafe {
            let call: Symbol<Call> = self.0.get(b"MPI_Get_library_version").ok()?;
            call(text.as_mut_ptr().cast(), &mut length)
        };
        let text = CStr::from_bytes_until_nul(&text).ok()?;
        (answer == 0).then(|| text.to_string_lossy().into_owned())
    }

    /// What a function without arguments gives that returns a constant text: `pvm_version`, `ucp_get_version_string`.
    fn constant_text(&self, symbol: &str) -> Option<String> {
        type Call = unsafe extern "C" fn() -> *const c_char;
        // SAFETY: only the two functions below are asked, whose headers give them this type and a text that stays.
        unsafe {
            let call: Symbol<Call> = self.0.get(symbol.as_bytes()).ok()?;
            let text = call();
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// PVM's version (pvm3.h).
    pub fn pvm_version(&self) -> Option<String> {
        self.constant_text("pvm_version")
    }

    /// UCX's version (ucp/api/ucp.h).
    pub fn ucx_version(&self) -> Option<String> {
        self.constant_text("ucp_get_version_string")
    }

    /// libfabric's version (rdma/fabric.h): 16 bits each.
    pub fn fabric_version(&self) -> Option<(u32, u32)> {
        type Call = unsafe extern "C" fn() -> u32;
        // SAFETY: the header gives this symbol this type.
        let version = unsafe {
            let call: Symbol<Call> = self.0.get(b"fi_version").ok()?;
            call()
        };
        Some((version >> 16, version & 0xffff))
    }
}

fn missing_symbol(symbol: &str) -> Error {
    Error::new("dlsym", symbol, io::Error::from(io::ErrorKind::NotFound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_none_of_these_says_nothing() {
        let math = Library::open(Path::new("libm.so.6")).unwrap();
        assert!(math.has("cos") && !math.has("MPI_Init"));
        assert_eq!(
            (math.mpi_abi_version(), math.mpi_version(), math.mpi_library_version()),
            (None, None, None)
        );
        assert_eq!((math.pvm_version(), math.ucx_version(), math.fabric_version()), (None, None, None));
    }

    #[test]
    fn what_is_no_library_is_refused_with_the_reason() {
        let error = Library::open(Path::new("/etc/passwd")).unwrap_err();
        assert_eq!((error.call, error.object.as_str()), ("dlopen", "/etc/passwd"));
        assert!(error.source.to_string().contains("header"), "{error:?}");
    }
}
