//! Further connections of a session for what is no pattern of blocks: an application makes and takes them as it likes.

use super::channel::Channel;
use super::factory::{ConnectionFactory, FactoryEnd};
use crate::pattern::{ConnectionEnd, GREETING};
use crate::transport::{Called, Caller};
use linerate_sys::socket;
use std::io;
use std::time::Duration;

/// By such a part of it a wait may be longer than its limit.
const NEAR: u32 = 16;

/// Makes and takes connections by a factory; its ends sleep.
pub struct FactoryCaller<'s, C> {
    pub factory: &'s dyn ConnectionFactory<C>,
}

impl<'s, C> FactoryCaller<'s, C> {
    fn end(&self, patience: Duration) -> FactoryEnd<'s, C, false> {
        FactoryEnd { factory: self.factory, patience }
    }
}

impl<C: Channel> Caller for FactoryCaller<'_, C> {
    fn call(&self, limit: Duration) -> io::Result<Box<dyn Called + '_>> {
        let mut end = self.end(limit);
        let connection = end.connect()?;
        Ok(Box::new(Open { end, connection }))
    }

    fn take(&self, limit: Duration) -> io::Result<Option<Box<dyn Called + '_>>> {
        let mut end = self.end(limit);
        let mut greeting = [0; GREETING];
        let connection = match end.accept(&mut greeting) {
            Ok(Some(connection)) if greeting == end.greeting() => connection,
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Box::new(Open { end, connection })))
    }

    fn greeting(&self) -> [u8; GREETING] {
        self.end(Duration::ZERO).greeting()
    }
}

/// A connection.
struct Open<'s, C> {
    end: FactoryEnd<'s, C, false>,
    connection: C,
}

impl<C: Channel> Called for Open<'_, C> {
    fn push_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.end.push_all(&self.connection, bytes)
    }

    fn pull(&mut self, bytes: &mut [u8], limit: Duration) -> io::Result<usize> {
        // Two calls into the kernel are left out where the limit is nearly the one in force.
        if limit < self.end.patience - self.end.patience / NEAR {
            // A wait of nothing would be one without end.
            self.end.patience = limit.max(Duration::from_micros(1));
            socket::limit_waits(&self.connection, self.end.once()).map_err(|error| error.source)?;
        }
        self.end.pull(&self.connection, bytes)
    }
}
