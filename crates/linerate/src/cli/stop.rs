//! The user's wish to stop: the first signal ends the run in good order, the second one at once.

use crate::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a signal came.
#[derive(Debug, Clone)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for signals from now on.
    pub fn listen() -> Result<Stop> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: a signal that finds the flag up ends the process, the first one puts it up.
            let ends = signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone());
            let raises = signal_hook::flag::register(signal, flag.clone());
            ends.and(raises).map_err(|e| Error::io("sigaction", format!("signal {signal}"), e))?;
        }
        Ok(Stop(flag))
    }

    /// Whether one came.
    pub fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
