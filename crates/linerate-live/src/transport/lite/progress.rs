//! Who moves the bytes: a call while there is one, else a thread of the layer's own, or a signal in the middle of work.
//!
//! A call has the engine for itself until it returns, waits as its caller wants to wait, and hands nothing over. The
//! thread rests meanwhile: it looks up now and then, and takes over where no call came since. Where a call leaves an
//! asynchronous request behind, it rings for the thread at once.

use super::engine::{Engine, Lent, Unexpected};
use linerate_sys::interrupt;
use linerate_sys::wake::EventCounter;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// When the thread looks up that rests: a caller that computes for longer has its progress made. While it finds that calls
/// were made it rests twice as long each time, up to a bound, for each look puts a caller that polls off its CPU.
const LOOK_UP: Duration = Duration::from_millis(2);
const LOOK_UP_AT_LAST: Duration = Duration::from_millis(32);

/// How much of a message comes before the thread is woken for it: half of what a connection's window is at first, so that
/// its sender goes on meanwhile.
const LUMP: usize = 32 << 10;

/// How long it sleeps at the socket at most.
const WATCH: Duration = Duration::from_secs(1);

/// What the calls and the thread share.
#[derive(Debug)]
pub struct Shared {
    engine: Mutex<Engine>,
    socket: Arc<OwnedFd>,
    /// Odd while a call is under way.
    calls: AtomicU64,
    /// What the thread waits for at the socket: bit 0 what comes, bit 1 room to send.
    watched: AtomicU8,
    wake_up: EventCounter,
    ends: AtomicBool,
}

impl Shared {
    /// Nobody moves anything yet.
    pub fn new(socket: OwnedFd) -> linerate_sys::Result<Shared> {
        let socket = Arc::new(socket);
        Ok(Shared {
            engine: Mutex::new(Engine::new(socket.clone())),
            socket,
            calls: AtomicU64::new(0),
            watched: AtomicU8::new(0),
            wake_up: EventCounter::new()?,
            ends: AtomicBool::new(false),
        })
    }

    /// The socket.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Runs a call, which has the engine for itself. What it leaves to do is the thread's, if there is one.
    #[inline]
    pub fn call<T>(
        &self,
        has_thread: bool,
        work: impl FnOnce(&mut Engine) -> io::Result<T>,
    ) -> io::Result<T> {
        self.calls.fetch_add(1, SeqCst);
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = engine.wake_in(None).and_then(|()| work(&mut engine));
        let outcome = engine.keep(outcome);
        let needed = bits(engine.needs());
        drop(engine);
        self.calls.fetch_add(1, SeqCst);
        if needed & !self.watched.load(SeqCst) != 0 && has_thread {
            self.wake_up.signal().map_err(|error| error.source)?;
        }
        outcome
    }

    /// Works, and lets a signal move what can be moved in the middle of it.
    pub fn work_interrupted(&self, work: impl FnOnce()) -> io::Result<()> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let mut outcome = Ok(());
        let moves = || {
            while outcome.is_ok() {
                match progress_in_signal(&mut engine) {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => outcome = Err(error),
                }
            }
        };
        interrupt::work(&*self.socket, moves, work).map_err(|error| error.source)?;
        match engine.keep(outcome) {
            // Who waits for more meets it again.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            kept => kept,
        }
    }

    /// Ends the thread.
    pub fn end(&self) {
        self.ends.store(true, SeqCst);
        // A counter that cannot be signalled leaves the thread to look up by itself.
        let _ = self.wake_up.signal();
    }

    fn is_in_call(&self) -> bool {
        self.calls.load(SeqCst) % 2 == 1
    }

    /// The thread: gives way to calls until the connection or the layer ends.
    pub fn progress(&self) {
        let (mut seen, mut rest) = (None, LOOK_UP);
        while !self.ends.load(SeqCst) {
            let Ok(is_signalled) = self.wake_up.wait_beside(&*self.socket, [false, false], rest) else {
                return;
            };
            let calls = self.calls.load(SeqCst);
            let is_quiet = seen.replace(calls) == Some(calls) && calls.is_multiple_of(2);
            rest = (2 * rest).min(LOOK_UP_AT_LAST);
            if is_signalled || is_quiet {
                if self.watch().is_err() {
                    return self.watched.store(0, SeqCst);
                }
                rest = LOOK_UP;
            }
        }
    }

    /// Moves what can be moved until a call takes over; an error where there is nothing more to come or to go.
    fn watch(&self) -> io::Result<()> {
        while !self.ends.load(SeqCst) {
            // In this order: either this sees the call's end, or the call sees that nobody watches.
            let Some(mut engine) = self.if_free() else {
                self.watched.store(0, SeqCst);
                if self.is_in_call() {
                    return Ok(());
                }
                continue;
            };
            let moved = step(&mut engine)?;
            let awaited = [!engine.is_held_up(), engine.needs()[1]];
            engine.wake_in(Some(LUMP))?;
            self.watched.store(bits(awaited), SeqCst);
            drop(engine);
            if !moved {
                self.wake_up.wait_beside(&*self.socket, awaited, WATCH).map_err(|error| error.source)?;
            }
        }
        Ok(())
    }

    /// The engine, where no call has it or is about to.
    fn if_free(&self) -> Option<MutexGuard<'_, Engine>> {
        if self.is_in_call() {
            return None;
        }
        match self.engine.try_lock() {
            Ok(engine) => Some(engine),
            Err(TryLockError::Poisoned(engine)) => Some(engine.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// What goes and comes at once.
fn step(engine: &mut Engine) -> io::Result<bool> {
    let pushed = engine.push::<&[u8]>(None);
    let pushed = engine.keep(pushed)?;
    let pulled = engine.pull(&mut Lent::default(), Unexpected::Small, false);
    Ok(engine.keep(pulled)? || pushed)
}

/// The same in the middle of other work, where nothing may be allocated.
fn progress_in_signal(engine: &mut Engine) -> io::Result<bool> {
    let pushed = engine.push::<&[u8]>(None)?;
    let pulled = engine.pull(&mut Lent::default(), Unexpected::Waits, false)?;
    engine.wake_in(Some(LUMP))?;
    Ok(pulled || pushed)
}

fn bits([comes, goes]: [bool; 2]) -> u8 {
    u8::from(comes) | u8::from(goes) << 1
}
