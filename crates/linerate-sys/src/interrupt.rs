//! Work that a socket interrupts: SIGIO of the calling thread (fcntl(2), F_SETOWN_EX and O_ASYNC; signal(7)).

use crate::{Error, Result};
use std::cell::Cell;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What a thread does when the signal comes: a pointer to its closure, as long as [`work`] has it.
type Act<'a> = &'a mut dyn FnMut();

thread_local! {
    // Without a destructor and without a late beginning: the handler may read it at any time.
    static ACT: Cell<*mut Act<'static>> = const { Cell::new(null_mut()) };
}

/// Works, and meanwhile acts, on this thread and in the middle of the work, whenever something came for the socket or there is
/// room to send again; once before the work as well, for what came already.
///
/// What acts stands in a signal handler: it and the work may not both allocate, lock or print, or one waits for the other for
/// ever. A panic in it ends the process.
pub fn work(socket: &impl AsFd, mut act: impl FnMut(), work: impl FnOnce()) -> Result<()> {
    install()?;
    let mut act: Act<'_> = &mut act;
    let pointer = &raw mut act;
    let mask = Blocked::now()?;
    let _set = Set::to(pointer);
    let _owned = Owned::by_this_thread(socket.as_fd().as_raw_fd())?;
    // SAFETY: it lives as long as this call, and the signal, whose handler calls it as well, is blocked.
    unsafe { (*pointer)() };
    mask.open()?;
    // Whatever ends the work, the signal is blocked before the closure goes: fields and locals are dropped in reverse.
    let _closes = mask.closes();
    work();
    Ok(())
}

/// The handler is the process's, and stays: without a closure it does nothing.
fn install() -> Result<()> {
    static INSTALLED: OnceLock<i32> = OnceLock::new();
    let answer = *INSTALLED.get_or_init(|| {
        // SAFETY: all fields of it may be zero; the handler has the type that its flags say.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            match libc::sigaction(libc::SIGIO, &raw const action, null_mut()) {
                0 => 0,
                _ => io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL),
            }
        }
    });
    let failed = |code| Error::new("sigaction(SIGIO)", "the process", io::Error::from_raw_os_error(code));
    if answer == 0 { Ok(()) } else { Err(failed(answer)) }
}

extern "C" fn handle(_: libc::c_int) {
    let act = ACT.get();
    if act.is_null() {
        return;
    }
    // SAFETY: errno belongs to the thread that is interrupted, which may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the closure lives while the pointer is set; the signal is blocked in its own handler, and wherever else
    // it is called.
    let acted = catch_unwind(AssertUnwindSafe(|| unsafe { (*act)() }));
    if acted.is_err() {
        // There is no frame that could be unwound to.
        std::process::abort();
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// The closure of this thread, for a time.
struct Set;

impl Set {
    fn to(act: *mut Act<'_>) -> Set {
        ACT.set(act.cast());
        Set
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        ACT.set(null_mut());
    }
}

/// The signal is blocked for this thread.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn now() -> Result<Blocked> {
        // SAFETY: a set that is written to before it is read.
        let set = unsafe {
            let mut set = zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGIO);
            set
        };
        let blocked = Blocked(set);
        blocked.change(libc::SIG_BLOCK)?;
        Ok(blocked)
    }

    fn change(&self, how: libc::c_int) -> Result<()> {
        // SAFETY: the set lives through the call.
        match unsafe { libc::pthread_sigmask(how, &raw const self.0, null_mut()) } {
            0 => Ok(()),
            code => Err(Error::new("pthread_sigmask", "SIGIO", io::Error::from_raw_os_error(code))),
        }
    }

    fn open(&self) -> Result<()> {
        self.change(libc::SIG_UNBLOCK)
    }

    fn closes(&self) -> Closes<'_> {
        Closes(self)
    }
}

/// Blocks the signal again when it goes.
struct Closes<'b>(&'b Blocked);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        // It fails for a wrong number only, and this one was right before.
        let _ = self.0.change(libc::SIG_BLOCK);
    }
}

/// A socket that signals this thread.
struct Owned(RawFd);

/// `struct f_owner_ex` (fcntl(2)).
#[repr(C)]
struct Owner {
    kind: libc::c_int,
    number: libc::pid_t,
}

const F_SETOWN_EX: libc::c_int = 15;
const F_OWNER_TID: libc::c_int = 0;
const _: () = assert!(size_of::<Owner>() == 8);

impl Owned {
    fn by_this_thread(socket: RawFd) -> Result<Owned> {
        let owner = Owner { kind: F_OWNER_TID, number: rustix::thread::gettid().as_raw_nonzero().get() };
        // SAFETY: the kernel reads the structure for the time of the call.
        let answer = unsafe { libc::fcntl(socket, F_SETOWN_EX, &raw const owner) };
        if answer != 0 {
            return Err(Error::new("fcntl(F_SETOWN_EX)", "socket", io::Error::last_os_error()));
        }
        asynchronous(socket, true).map_err(|e| Error::new("fcntl(O_ASYNC)", "socket", e))?;
        Ok(Owned(socket))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // What signals on finds no closure.
        let _ = asynchronous(self.0, false);
    }
}

fn asynchronous(socket: RawFd, on: bool) -> io::Result<()> {
    // SAFETY: numbers only.
    let flags = unsafe { libc::fcntl(socket, libc::F_GETFL) };
    let flags = if on { flags | libc::O_ASYNC } else { flags & !libc::O_ASYNC };
    // SAFETY: as above.
    match unsafe { libc::fcntl(socket, libc::F_SETFL, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    #[test]
    fn what_comes_interrupts_a_working_thread() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let came = std::sync::atomic::AtomicUsize::new(0);
        let source = near.try_clone().unwrap();
        let writer = std::thread::spawn(move || {
            for _ in 0..20 {
                std::thread::sleep(Duration::from_millis(2));
                far.write_all(&[7; 10]).unwrap();
            }
            far
        });
        let take = || {
            let mut room = [0; 64];
            while let Ok(count @ 1..) = near.read(&mut room) {
                came.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let begun = Instant::now();
        work(&source, take, || {
            while came.load(std::sync::atomic::Ordering::Relaxed) < 200 && begun.elapsed().as_secs() < 20 {
                std::hint::spin_loop();
            }
        })
        .unwrap();
        assert_eq!(came.into_inner(), 200);
        // Afterwards nothing acts any more.
        let mut far = writer.join().unwrap();
        far.write_all(&[1]).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(ACT.get().is_null());
    }
}
