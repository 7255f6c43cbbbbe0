//! The user's wish to stop: the first signal ends the run in good order, the second one at once.

use crate::{Error, Result};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a signal came.
#[derive(Debug, Clone)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    second: Vec<SigId>,
}

impl Stop {
    /// Listens for signals from now on.
    pub fn listen() -> Result<Stop> {
        let flag = Arc::new(AtomicBool::new(false));
        let mut second = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: a signal that finds the flag up ends the process, the first one puts it up.
            let ends = signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone());
            let raises = signal_hook::flag::register(signal, flag.clone());
            let failed = |e| Error::io("sigaction", format!("signal {signal}"), e);
            second.push(ends.map_err(failed)?);
            raises.map_err(failed)?;
        }
        Ok(Stop { flag, second })
    }

    /// Asks as a first signal does.
    pub fn ask(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// From now on the second signal ends nothing: another one listens, who has to tidy up first.
    pub fn leave_second(&self) {
        self.second.iter().for_each(|id| _ = signal_hook::low_level::unregister(*id));
    }

    /// Whether one came.
    pub fn wanted(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}
