//! Which libraries stand between this process's calls of sockets and the C library (ld.so(8), `LD_PRELOAD`).

use std::ffi::{CStr, c_void};
use std::ptr::null;

/// What such a library takes over where it takes over anything.
const CALLS: [&CStr; 8] =
    [c"connect", c"socket", c"bind", c"accept4", c"send", c"recv", c"sendmsg", c"recvmsg"];

/// How the files of C libraries begin, in which these calls are at home; glibc before 2.34 had them twice.
const OWN: [&str; 5] = ["libc.so", "libc-", "libpthread.so", "libpthread-", "ld-musl-"];

/// The file that has an address, and where it was loaded.
fn file_with(address: *const c_void) -> Option<(String, usize)> {
    let mut found = libc::Dl_info {
        dli_fname: null(),
        dli_fbase: null::<c_void>().cast_mut(),
        dli_sname: null(),
        dli_saddr: null::<c_void>().cast_mut(),
    };
    // SAFETY: it writes into the structure, and the address is only compared with those of loaded files.
    let is_found = unsafe { libc::dladdr(address, &raw mut found) } != 0;
    if !is_found || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: it is the loader's own text, which ends with a zero, and stays as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((name.to_string_lossy().into_owned(), found.dli_fbase as usize))
}

/// Whose a call is: the file that the loader found it in first.
fn file_of(call: &CStr) -> Option<(String, usize)> {
    // SAFETY: the name ends with a zero; the address is not called.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, call.as_ptr()) };
    (!address.is_null()).then(|| file_with(address)).flatten()
}

/// The files of the libraries by which calls of sockets go, where the C library is not the first; none as a rule.
pub fn interposers() -> Vec<String> {
    let program = file_with(interposers as fn() -> Vec<String> as *const c_void);
    let is_own = |file: &(String, usize)| {
        let name = file.0.rsplit('/').next().unwrap_or_default();
        // The instruments of a compiler are in the program itself.
        program.as_ref().is_some_and(|program| program.1 == file.1)
            || OWN.iter().any(|own| name.starts_with(own))
    };
    let mut files: Vec<String> =
        CALLS.into_iter().filter_map(file_of).filter(|file| !is_own(file)).map(|file| file.0).collect();
    files.sort_unstable();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_sockets_are_the_c_library_s_own() {
        assert_eq!(interposers(), Vec::<String>::new());
        assert!(file_of(c"no_such_call_anywhere").is_none());
    }
}
