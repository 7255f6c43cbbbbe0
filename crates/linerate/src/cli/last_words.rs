//! What would end the program by a signal or with a trace is told in one sentence instead.

use super::output::{complain, tell};
use crate::{Error, Result};
use linerate_sys::limit::{address_space, stack_bytes};
use signal_hook::consts::SIGXFSZ;
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Called before anything else.
pub fn prepare() {
    // Whoever writes beyond the limit of a file's size is told so by write(2), unless the signal ends it. A handler is not
    // handed down to other programs, as a signal that is ignored would be. Where it is refused the signal ends it.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    panic::set_hook(Box::new(defect));
}

/// What the main thread needs; the kernel ends who wants more by a signal.
const STACK_BYTES: u64 = 1 << 20;

/// Whether the host allows what nothing can be done without.
pub fn look_at_stack() -> Result<()> {
    match stack_bytes() {
        Some((bytes, limit)) if bytes < STACK_BYTES => {
            let what = format!("the program needs {} KiB of stack; {}", STACK_BYTES / 1024, limit.what);
            Err(Error::Limit { what, hint: limit.hint })
        }
        _ => Ok(()),
    }
}

/// A defect of this program, or of a library, is told as one. The standard library has no other way to tell that there is no
/// memory for what a thread begins with.
fn defect(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let words =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let said = words.unwrap_or("no reason was given").replace('\n', " ");
    let is_memory = said.contains("Cannot allocate memory") || said.contains("alternative stack");
    if let Some(limit) = address_space().filter(|_| is_memory) {
        complain(&format!("a thread cannot begin; {}", limit.what));
        tell(&format!("hint: {}", limit.hint));
        std::process::exit(3);
    }
    let place =
        info.location().map_or(String::new(), |place| format!(" ({}:{})", place.file(), place.line()));
    complain(&format!("a defect{place}: {said}"));
    tell("hint: please report it with this sentence");
}
