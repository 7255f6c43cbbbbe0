//! The programs of the other end of a connection, where that is on the same kernel: each tracepoint of it enters one program and not two,
//! and a lab of two hosts on one machine pays for a trace what two machines would.

use super::watch::{MapIds, Watch};
use super::{Point, Stamp, Stamping, Switch, Tracer, Watched};
use crate::Result;

/// What another process's programs stamp at this end. They run while that process watches its own end.
pub struct Beside {
    watch: Watch,
    missing: Vec<&'static str>,
}

impl Beside {
    /// By the maps of programs at the same tracepoints as `own`, which are needed no more. Maps are found by number by who has
    /// CAP_SYS_ADMIN.
    pub fn open(ids: MapIds, own: &dyn Stamping) -> Result<Beside> {
        Ok(Beside { watch: Watch::of_maps(ids)?, missing: own.missing() })
    }
}

impl Stamping for Beside {
    fn lacks(&self, point: Point) -> bool {
        Tracer::lacks_without(&self.missing, point)
    }

    fn missing(&self) -> Vec<&'static str> {
        self.missing.clone()
    }

    fn is_nearly_full(&self) -> bool {
        self.watch.is_nearly_full()
    }

    fn begin(&mut self, watched: Watched) -> Result<()> {
        self.watch.begin(watched)
    }

    fn end(&mut self) -> Result<(Vec<Stamp>, u64)> {
        self.watch.cease()?;
        Ok(self.watch.take())
    }

    fn switch(&self) -> Option<Switch> {
        Some(self.watch.switch())
    }
}
