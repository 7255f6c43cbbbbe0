//! Memory from the standard allocator, with a word of the limit that is met where there is no more.
//!
//! The standard library ends the process then by SIGABRT, as if it were broken.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// The code of a program that its host does not allow what it needs.
const CODE: i32 = 3;
/// The code of a process for which its parent says that.
pub const NO_MEMORY: i32 = 112;

/// Whether a parent says it.
static IS_SILENT: AtomicBool = AtomicBool::new(false);
/// Whether a thread of this process is saying it.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Leaves it to the parent to say what ended this process, by [`NO_MEMORY`].
pub fn leave_word_to_parent() {
    IS_SILENT.store(true, Ordering::Relaxed);
}

/// The standard allocator; who has it as the global one ends with a sentence where it has no more memory.
#[derive(Debug)]
pub struct Told;

/// What is asked for as one piece beyond this may be tried in vain.
const LARGE: usize = 1 << 30;

// SAFETY: all is left to the standard allocator; what is done where it has nothing neither allocates nor returns.
unsafe impl GlobalAlloc for Told {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that it asks for.
        had(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same.
        had(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the same.
        had(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn had(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() && size < LARGE {
        end();
    }
    memory
}

/// Says which limit there is, without any memory, and ends.
#[cold]
fn end() -> ! {
    if IS_SILENT.load(Ordering::Relaxed) {
        // SAFETY: it takes a number and does not return.
        unsafe { libc::_exit(NO_MEMORY) };
    }
    while IS_TOLD.swap(true, Ordering::Relaxed) {
        // It ends with the one that was first: two at a time would write into each other's sentence.
        // SAFETY: it takes nothing.
        unsafe { libc::pause() };
    }
    let flags = [(libc::RLIMIT_AS, "-v"), (libc::RLIMIT_DATA, "-d")];
    let found = flags.into_iter().find_map(|(resource, flag)| Some((soft_limit(resource)?, flag)));
    match found {
        Some((bytes, flag)) => {
            say(b"linerate: there is no more memory: the limit is ");
            say_number(bytes / 1024);
            say(b" KiB a process, set by `ulimit ");
            say(flag.as_bytes());
            say(b"`, limits.conf(5) or the service's unit\nhint: raise it: ulimit ");
            say(flag.as_bytes());
            say(b" unlimited\n");
        }
        None => say(b"linerate: there is no more memory\nhint: see what takes it: free -m\n"),
    }
    // SAFETY: it takes a number and does not return; what the process made ends with it.
    unsafe { libc::_exit(CODE) }
}

fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives through the call.
    let answer = unsafe { libc::getrlimit(resource, &mut limit) };
    (answer == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn say(bytes: &[u8]) {
    // SAFETY: the bytes live through the call. Where nobody reads, nobody is told.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

fn say_number(number: u64) {
    let (mut digits, mut at, mut left) = ([b'0'; 20], 20, number);
    while at == 20 || left > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    say(&digits[at..]);
}
