//! The user's wish to stop: the first signal ends the run in good order, a later one at once.
//!
//! A terminal signals a whole group, `timeout` its child and then the group, and an impatient user presses twice: signals
//! within a second are one wish.

use super::output::tell;
use crate::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals that come so soon after the first say nothing new.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Whether the run is to stop, and who asks.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    wished: Mutex<Option<Instant>>,
    /// What is said last where it ends at once, and what is done before.
    last_words: Mutex<String>,
    before_end: Mutex<Option<fn()>>,
}

impl Stop {
    /// Listens for signals from now on.
    pub fn listen() -> Result<Stop> {
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
        let mut signals = signals.map_err(|e| Error::io("sigaction", "signals", e))?;
        let stop = Stop::default();
        let own = stop.clone();
        let listen = move || signals.forever().for_each(|_| own.signalled(Instant::now()));
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

    /// Where the recording is, for who ends it at once.
    pub fn records_in(&self, path: &Path) {
        let words = format!("ended at once; what was measured is in {}", path.display());
        *self.0.last_words.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// What has to be done before it ends at once.
    pub fn before_end(&self, tidy: fn()) {
        *self.0.before_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(tidy);
    }

    /// A key was pressed: the second one is a wish of its own.
    pub fn pressed(&self) {
        if self.wish(Instant::now()).is_some() {
            self.end_at_once();
        }
    }

    fn signalled(&self, now: Instant) {
        if self.wish(now).is_some_and(|since| since > ONE_WISH) {
            self.end_at_once();
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
        if let Some(tidy) = *self.0.before_end.lock().unwrap_or_else(PoisonError::into_inner) {
            tidy();
        }
        let words = self.0.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if !words.is_empty() {
            tell(&words);
        }
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
