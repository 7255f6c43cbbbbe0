//! OpenSHMEM, loaded at run time: puts and gets between two processing elements (OpenSHMEM 1.4).
//!
//! Each of them has the same region of symmetric memory. In front lie words, which one writes and the other waits for;
//! behind them the payload. Waiting is a call of the library: some move what comes only while they are called.

use crate::library::Library;
use crate::messages::parts;
use crate::{Error, Result};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::io;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicI64, Ordering};

/// How many words there are.
pub const WORDS: usize = 4;
/// How far apart they are: each has a cache line of its own, and its neighbour.
const APART: usize = 128;
/// The most bytes of payload.
pub const PAYLOAD: usize = 128 << 20;
/// Of the whole region.
const REGION: usize = WORDS * APART + PAYLOAD;
/// Room for a name (the standard's `SHMEM_MAX_NAME_LEN` is a maker's own: 64 to 256).
const NAME: usize = 4096;
/// What a wait is tried on: what the word has, what it is compared with, whether that is another value.
const TRIED: [(c_long, c_long, bool); 3] = [(1, 0, true), (1, 2, true), (1, 1, false)];

type OfNothing = unsafe extern "C" fn();
type Tells = unsafe extern "C" fn() -> c_int;
type Ends = unsafe extern "C" fn(c_int);
type InitThread = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
type Move = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int);
type PutOne = unsafe extern "C" fn(*mut c_long, c_long, c_int);
type WaitUntil = unsafe extern "C" fn(*mut c_long, c_int, c_long);
type Test = unsafe extern "C" fn(*mut c_long, c_int, c_long) -> c_int;

/// Numbers that the standard leaves to each maker's header.
#[derive(Debug, Clone, Copy)]
pub struct Constants {
    /// `SHMEM_THREAD_SERIALIZED`.
    pub serialized: c_int,
    /// `SHMEM_CMP_NE`.
    pub not_equal: c_int,
}

struct Calls {
    put: Move,
    start_put: Move,
    get: Move,
    start_get: Move,
    put_one: PutOne,
    wait_until: WaitUntil,
    fence: OfNothing,
    quiet: OfNothing,
    barrier: OfNothing,
}

/// One of two processing elements, between `shmem_init_thread` and [`leave`](Pe::leave).
pub struct Pe {
    calls: Calls,
    ends: Ends,
    not_equal: c_int,
    own: c_int,
    /// The region, for as long as the process lives.
    region: *mut u8,
}

// SAFETY: the library was asked for calls of any thread, one after the other, and the region is the process's.
unsafe impl Send for Pe {}

impl Library {
    /// Whose OpenSHMEM it is (`shmem_info_get_name`, `shmem_info_get_version`): the text, and the standard's version.
    pub fn shmem_maker(&self) -> Option<(String, i32, i32)> {
        type Name = unsafe extern "C" fn(*mut c_char);
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int);
        let mut text = vec![0u8; NAME];
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the standard gives both symbols this type. They hand out constants, and write no more than the room.
        unsafe {
            self.function::<Name>("shmem_info_get_name").ok()?(text.as_mut_ptr().cast());
            self.function::<Version>("shmem_info_get_version").ok()?(&mut major, &mut minor);
        }
        let end = text.iter().position(|byte| *byte == 0)?;
        Some((String::from_utf8_lossy(&text[..end]).into_owned(), major, minor))
    }
}

impl Pe {
    /// `shmem_init_thread`, so that threads may call one after the other; there must be two of them. Both get their region.
    pub fn init(library: &Library, constants: Constants) -> Result<Pe> {
        // SAFETY: the standard gives each symbol this type; without the last ones of 1.3 the ones before them do.
        let (calls, ends, init, own, all, allocate) = unsafe {
            let either =
                |first, second| library.function::<Move>(first).or_else(|_| library.function(second));
            let calls = Calls {
                put: library.function::<Move>("shmem_putmem")?,
                start_put: either("shmem_putmem_nbi", "shmem_putmem")?,
                get: library.function::<Move>("shmem_getmem")?,
                start_get: either("shmem_getmem_nbi", "shmem_getmem")?,
                put_one: library.function::<PutOne>("shmem_long_p")?,
                wait_until: library.function::<WaitUntil>("shmem_long_wait_until")?,
                fence: library.function::<OfNothing>("shmem_fence")?,
                quiet: library.function::<OfNothing>("shmem_quiet")?,
                barrier: library.function::<OfNothing>("shmem_barrier_all")?,
            };
            let init = library.function::<InitThread>("shmem_init_thread")?;
            let own = library.function::<Tells>("shmem_my_pe")?;
            let all = library.function::<Tells>("shmem_n_pes")?;
            let allocate = library.function::<Allocate>("shmem_malloc")?;
            (calls, library.function::<Ends>("shmem_global_exit")?, init, own, all, allocate)
        };
        let mut provided = 0;
        // SAFETY: there is room for the number that is told.
        let answer = unsafe { init(constants.serialized, &mut provided) };
        if answer != 0 || provided < constants.serialized {
            let why = io::Error::other("it allows calls from one thread only");
            return Err(Error::new("shmem_init_thread", "the library", why));
        }
        // SAFETY: they take nothing.
        let (own, count) = unsafe { (own(), all()) };
        if count != 2 || !(0..2).contains(&own) {
            let why = format!("{count} of them know of each other, not 2: does its launcher belong to it?");
            return Err(Error::new("shmem_n_pes", "the library", io::Error::other(why)));
        }
        // SAFETY: both ask for the same number of bytes, as the call wants it.
        let region: *mut u8 = unsafe { allocate(REGION) }.cast();
        if region.is_null() {
            let why = format!("there is no room for {} MiB: SHMEM_SYMMETRIC_SIZE", REGION >> 20);
            return Err(Error::new("shmem_malloc", "symmetric memory", io::Error::other(why)));
        }
        let pe = Pe { calls, ends, not_equal: constants.not_equal, own, region };
        pe.check(library)?;
        pe.clear();
        Ok(pe)
    }

    /// Its number.
    pub fn own(&self) -> i32 {
        self.own
    }

    fn peer(&self) -> c_int {
        1 - self.own
    }

    /// Another maker's number would be another comparison, or none.
    fn check(&self, library: &Library) -> Result<()> {
        // SAFETY: the standard gives the symbol this type.
        let test = unsafe { library.function::<Test>("shmem_long_test")? };
        for (value, other, is_other) in TRIED {
            self.word(0).store(value, Ordering::Relaxed);
            // SAFETY: the word lies in symmetric memory.
            let answer = unsafe { test(self.word(0).as_ptr(), self.not_equal, other) };
            if (answer != 0) != is_other {
                let why = io::Error::other("its SHMEM_CMP_NE is another number");
                return Err(Error::new("shmem_test", "the library", why));
            }
        }
        Ok(())
    }

    /// One of its own words.
    #[inline]
    fn word(&self, number: usize) -> &AtomicI64 {
        let at = (number % WORDS) * APART;
        // SAFETY: it lies in the region, which begins where any type may; only the library and atomic calls use it.
        unsafe { AtomicI64::from_ptr(self.region.add(at).cast()) }
    }

    /// Where so many bytes of payload lie.
    #[inline]
    fn payload(&self, at: usize, bytes: usize) -> io::Result<*mut u8> {
        match at.checked_add(bytes) {
            // SAFETY: it lies in the region.
            Some(end) if end <= PAYLOAD => Ok(unsafe { self.region.add(WORDS * APART + at) }),
            _ => Err(io::Error::other(format!("{bytes} B at {at} are more than symmetric memory has"))),
        }
    }

    /// `shmem_putmem` into the other one's payload: these bytes may change when it returns.
    #[inline]
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let to = self.payload(at, bytes.len())?;
        // SAFETY: the other one's region has room there, and the bytes stay for the time of the call.
        unsafe { (self.calls.put)(to.cast(), bytes.as_ptr().cast(), bytes.len(), self.peer()) };
        Ok(())
    }

    /// `shmem_putmem_nbi` of so many [`parts`] of a region to as many places, one behind the other, then `shmem_quiet`.
    #[inline]
    pub fn put_each(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let to = self.payload(0, len.saturating_mul(messages))?;
        for (number, bytes) in parts(region, len, messages).enumerate() {
            // SAFETY: as with `put`; the bytes are borrowed until the last call has seen all of it off.
            unsafe {
                let to = to.add(number * len).cast();
                (self.calls.start_put)(to, bytes.as_ptr().cast(), bytes.len(), self.peer());
            }
        }
        // SAFETY: it takes nothing.
        unsafe { (self.calls.quiet)() };
        Ok(())
    }

    /// `shmem_getmem` from the other one's payload.
    #[inline]
    pub fn get(&mut self, at: usize, room: &mut [u8]) -> io::Result<()> {
        let from = self.payload(at, room.len())?;
        // SAFETY: the other one's region has so many bytes there, and the room stays for the time of the call.
        unsafe { (self.calls.get)(room.as_mut_ptr().cast(), from.cast(), room.len(), self.peer()) };
        Ok(())
    }

    /// `shmem_getmem_nbi` into each of these rooms of `len` bytes, from places one behind the other, then `shmem_quiet`.
    #[inline]
    pub fn get_each(&mut self, rooms: &mut [u8], len: usize) -> io::Result<()> {
        let from = self.payload(0, rooms.len())?;
        for (number, room) in rooms.chunks_mut(len.max(1)).enumerate() {
            // SAFETY: as with `get`; the rooms are borrowed until the last call has seen all of it in.
            unsafe {
                let from = from.add(number * len.max(1)).cast();
                (self.calls.start_get)(room.as_mut_ptr().cast(), from, room.len(), self.peer());
            }
        }
        // SAFETY: it takes nothing.
        unsafe { (self.calls.quiet)() };
        Ok(())
    }

    /// `shmem_fence`: what is put from now on arrives after what was put before.
    #[inline]
    pub fn fence(&mut self) {
        // SAFETY: it takes nothing.
        unsafe { (self.calls.fence)() };
    }

    /// `shmem_long_p` of one of the other one's words.
    #[inline]
    pub fn put_word(&mut self, number: usize, value: u64) {
        let word = self.word(number).as_ptr();
        // SAFETY: the other one's region has the word at the same place.
        unsafe { (self.calls.put_one)(word, value as c_long, self.peer()) };
    }

    /// `shmem_long_wait_until` one of its own words is no longer this; what it is then.
    #[inline]
    pub fn wait_word(&mut self, number: usize, old: u64) -> u64 {
        let word = self.word(number);
        // SAFETY: the word lies in symmetric memory.
        unsafe { (self.calls.wait_until)(word.as_ptr(), self.not_equal, old as c_long) };
        word.load(Ordering::Acquire) as u64
    }

    /// Writes to some of its own payload, so that no page of it is missing. Nobody else may use it meanwhile.
    pub fn fill(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let to = self.payload(at, bytes.len())?;
        // SAFETY: there is so much room, and no reference to any of it.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Whether its own payload has these bytes. Nobody else may use it meanwhile.
    pub fn holds(&self, at: usize, bytes: &[u8]) -> io::Result<bool> {
        let from = self.payload(at, bytes.len())?;
        // SAFETY: there are so many bytes, which a wait has seen arrive.
        Ok(unsafe { from_raw_parts(from, bytes.len()) } == bytes)
    }

    /// Both begin anew with words that are 0.
    pub fn clear(&self) {
        (0..WORDS).for_each(|number| self.word(number).store(0, Ordering::Relaxed));
        self.barrier();
    }

    /// `shmem_barrier_all`.
    pub fn barrier(&self) {
        // SAFETY: it takes nothing.
        unsafe { (self.calls.barrier)() };
    }

    /// `shmem_global_exit`, which ends this process and lets its launcher end the other one: that may be gone, and
    /// `shmem_finalize` would wait for it. Of Open MPI before 4.1.6 that crashes, too (its issue 11604).
    pub fn leave(&mut self) {
        // SAFETY: it takes a number, and does not come back.
        unsafe { (self.ends)(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_no_openshmem_has_no_maker() {
        let math = Library::open(Path::new("libm.so.6")).unwrap();
        assert_eq!(math.shmem_maker(), None);
        let error = Pe::init(&math, Constants { serialized: 2, not_equal: 1 }).err().unwrap();
        assert_eq!((error.call, error.object.as_str()), ("dlsym", "shmem_putmem"));
    }
}
