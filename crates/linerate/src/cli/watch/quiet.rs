//! Shows nothing; a warning is still said.

use super::{Watcher, warn};
use crate::Result;
use crate::plan::Step;
use crate::record::{Event, Recording};
use crate::schedule::Schedule;
use std::path::Path;

/// Looks away.
pub struct Quiet;

impl Watcher for Quiet {
    fn announce(&mut self, _: &str) {}

    fn warned(&mut self, what: &str) {
        warn(what);
    }

    fn planned(&mut self, _: &dyn Schedule, _: &Path) {}

    fn step(&mut self, _: &Step, _: &dyn Schedule, _: &Recording) {}

    fn written(&mut self, _: &Event, _: &[u8]) {}

    fn ended(&mut self) -> Result<()> {
        Ok(())
    }
}
