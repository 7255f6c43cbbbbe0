//! A program that takes its time before it answers, whatever is stamped beside it.

use super::probe::Probe;
use crate::record::TraceSide;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Sees what another one does, of a program that takes its time before it answers: a fault that is put in by hand.
pub struct Slow<'p, P> {
    probe: &'p mut P,
    pause: Duration,
}

impl<'p, P> Slow<'p, P> {
    /// Waits so long before each answer.
    pub fn new(probe: &'p mut P, pause: Duration) -> Self {
        Slow { probe, pause }
    }
}

impl<P: Probe> Probe for Slow<'_, P> {
    fn begin(&mut self, exchange: usize) {
        self.probe.begin(exchange);
    }

    fn now(&self) -> u64 {
        self.probe.now()
    }

    fn between(&mut self, exchange: usize) -> (u64, u64) {
        let (returned, _) = self.probe.between(exchange);
        std::thread::sleep(self.pause);
        (returned, self.probe.between(exchange).1)
    }

    fn send(&mut self, socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        self.probe.send(socket, bytes)
    }

    fn receive(&mut self, socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize> {
        self.probe.receive(socket, room, waits)
    }

    fn asked(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.probe.asked(exchange, sent, returned)
    }

    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()> {
        self.probe.answered(exchange, returned, sent)
    }

    fn lost(&mut self, exchange: usize, was_sent: bool) -> io::Result<()> {
        self.probe.lost(exchange, was_sent)
    }

    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>> {
        self.probe.end(warm_up, side)
    }
}
