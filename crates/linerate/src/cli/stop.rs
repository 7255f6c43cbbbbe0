//! The user's wish to stop: the first signal ends the run in good order, a later one at once.
//!
//! Ctrl-Z suspends it with all that it started, in whatever group that is, until it is told to go on.
//!
//! A terminal signals a whole group, `timeout` its child and then the group, and an impatient user presses twice: signals
//! within a second are one wish.

use super::output;
use crate::{Error, Result};
use linerate_sys::suspension;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals that come so soon after the first say nothing new.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Whether the run is to stop, and who asks.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

/// What gives the terminal back, and what takes it again.
type OnTerminal = [fn(); 2];

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    wished: Mutex<Option<Instant>>,
    /// What gives the terminal back, and what takes it again.
    terminal: Mutex<Option<OnTerminal>>,
}

impl Stop {
    /// Listens for signals from now on.
    pub fn listen() -> Result<Stop> {
        let failed = |e| Error::io("sigaction", "signals", e);
        // By a handler, which runs before anything else goes on.
        flag::register(SIGCONT, suspension::flag()).map_err(failed)?;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT]).map_err(failed)?;
        let stop = Stop::default();
        let own = stop.clone();
        let listen = move || signals.forever().for_each(|signal| own.signalled(signal));
        linerate_sys::thread::start("signals", listen)?;
        Ok(stop)
    }

    /// Asks as a first signal does.
    pub fn ask(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked.
    pub fn wanted(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// What gives the terminal back before it ends at once or stands still, and what takes it again.
    pub fn has_terminal(&self, leave: fn(), take: fn()) {
        *self.0.terminal.lock().unwrap_or_else(PoisonError::into_inner) = Some([leave, take]);
    }

    /// A key was pressed: the second one is a wish of its own.
    pub fn pressed(&self) {
        if self.wish(Instant::now()).is_some() {
            self.end_at_once();
        }
    }

    fn signalled(&self, signal: i32) {
        let [leave, take] =
            self.0.terminal.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or([|| (), || ()]);
        match signal {
            SIGTSTP => {
                leave();
                suspension::suspend();
            }
            SIGCONT => {
                suspension::resume();
                take();
            }
            _ if self.wish(Instant::now()).is_some_and(|since| since > ONE_WISH) => self.end_at_once(),
            _ => {}
        }
    }

    /// Notes a wish; how long ago the first one was, where there was one.
    fn wish(&self, now: Instant) -> Option<Duration> {
        let mut wished = self.0.wished.lock().unwrap_or_else(PoisonError::into_inner);
        let since = wished.map(|first| now.saturating_duration_since(first));
        wished.get_or_insert(now);
        self.ask();
        since
    }

    fn end_at_once(&self) {
        if let Some([leave, _]) = *self.0.terminal.lock().unwrap_or_else(PoisonError::into_inner) {
            leave();
        }
        output::last_words("ended at once; ");
        std::process::exit(i32::from(Error::Interrupted.exit_code()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_are_one_wish() {
        let (stop, now) = (Stop::default(), Instant::now());
        assert!(!stop.wanted() && stop.wish(now).is_none() && stop.wanted());
        let again = [0, 30, 999].map(|ms| stop.wish(now + Duration::from_millis(ms)).unwrap());
        assert!(again.iter().all(|since| *since <= ONE_WISH), "{again:?}");
        assert!(stop.wish(now + Duration::from_millis(1001)).unwrap() > ONE_WISH);
    }
}
