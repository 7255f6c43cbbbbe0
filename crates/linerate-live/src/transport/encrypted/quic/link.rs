//! A flow, and how a thread drives it: by itself, or in turns with the thread of the other direction.

use super::machine::{Machine, until};
use crate::pattern::{Link, poll};
use crate::transport::Spec;
use crate::transport::connection::channel::send_all;
use crate::transport::encrypted::certificate::Identity;
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What an end says on the stream beside when it has done its part.
const DONE: &[u8] = &[1];

/// Asks after which a polling end looks whether the other one is still there.
const ASKS_A_LOOK: u32 = 1 << 12;

/// How long one of two threads sleeps at most: what it waits for may have come to the other one.
const TURN: Duration = Duration::from_micros(50);

/// A connection, with the stream beside it.
pub struct Flow {
    pub port: UdpSocket,
    /// Where the other end tells that it is done, and where it is seen to be gone.
    pub beside: TcpStream,
    machine: Mutex<Machine>,
    patience: Duration,
    /// Whether the other end has done its part of this trial.
    done: bool,
}

impl Flow {
    /// Over a port that is connected.
    pub fn new(
        port: UdpSocket,
        beside: TcpStream,
        spec: &Spec,
        identity: Option<&Identity>,
        fingerprint: Option<&str>,
    ) -> Result<Flow> {
        let machine = Mutex::new(Machine::new(&port, spec, identity, fingerprint)?);
        let patience = spec.patience();
        beside.set_write_timeout(Some(patience)).map_err(|e| Error::io("setsockopt", "stream", e))?;
        Ok(Flow { port, beside, machine, patience, done: false })
    }

    /// Shakes hands, and opens the stream with a byte each way: it is there when its first byte is.
    pub fn shake_hands(&mut self, passive: bool) -> io::Result<()> {
        let until = Instant::now() + self.patience;
        // The connecting end says the first word.
        let Flow { port, machine, .. } = &mut *self;
        machine.get_mut().map_err(|_| poisoned())?.drive(port)?;
        let mut own = ExclusiveFlow::<false>::new(self);
        while !own.machine()?.is_connected() {
            own.turn(until)?;
        }
        let mut byte = [0];
        for pulls in [passive, !passive] {
            while 0 == if pulls { own.pull(&mut byte)? } else { own.push(&byte)? } {}
        }
        Ok(())
    }

    /// Tells the other end that this one has done its part, and has it answer what it owes.
    pub fn tell_done(&mut self) -> io::Result<()> {
        let Flow { port, beside, machine, .. } = self;
        machine.get_mut().map_err(|_| poisoned())?.nudge(port)?;
        send_all(beside, DONE)
    }

    /// Drives it once; whether the other end has told the same, and whether all is quiet.
    pub fn drive_to_rest(&mut self) -> io::Result<(bool, bool)> {
        if !self.done {
            self.done = has_heard_done(&self.beside)?;
        }
        let Flow { port, machine, done, .. } = self;
        let machine = machine.get_mut().map_err(|_| poisoned())?;
        match machine.drive(port) {
            // It is gone after it had done its part.
            Err(error) if !*done => Err(error),
            _ => Ok((*done, machine.is_quiet())),
        }
    }

    /// Readies it for the next trial.
    pub fn begin(&mut self) {
        self.done = false;
    }

    fn own(&mut self) -> io::Result<&mut Machine> {
        self.machine.get_mut().map_err(|_| poisoned())
    }

    fn lock(&self) -> io::Result<MutexGuard<'_, Machine>> {
        self.machine.lock().map_err(|_| poisoned())
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        let Flow { port, machine, .. } = self;
        if let Ok(machine) = machine.get_mut() {
            machine.close(port);
        }
    }
}

fn poisoned() -> io::Error {
    io::Error::other("a thread panicked")
}

/// Whether the other end has told that it is done; the end of the stream is an error.
fn has_heard_done(beside: &TcpStream) -> io::Result<bool> {
    match socket::receive_now(beside, &mut [0])? {
        Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        came => Ok(came.is_some()),
    }
}

/// One thread drives the connection alone.
pub struct ExclusiveFlow<'s, const POLLS: bool> {
    flow: &'s mut Flow,
    asks: u32,
}

impl<'s, const POLLS: bool> ExclusiveFlow<'s, POLLS> {
    /// Drives this flow.
    pub fn new(flow: &'s mut Flow) -> Self {
        ExclusiveFlow { flow, asks: 0 }
    }

    fn machine(&mut self) -> io::Result<&mut Machine> {
        self.flow.own()
    }

    /// Sleeps until something may have changed, then drives.
    fn turn(&mut self, limit: Instant) -> io::Result<()> {
        let left = limit.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let Flow { port, beside, machine, done, .. } = &mut *self.flow;
        let machine = machine.get_mut().map_err(|_| poisoned())?;
        let sleep = until(machine.due(), left);
        // A stream that has said all it will say in this trial is looked at no more.
        let watched = (!*done).then_some(&*beside);
        if socket::wait_for(port, machine.is_held(), watched, sleep)? {
            *done = has_heard_done(beside)?;
        }
        machine.drive(port)
    }

    fn ask(
        &mut self,
        mut move_now: impl FnMut(&mut Machine, &UdpSocket) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if POLLS {
            return self.ask_again(move_now);
        }
        let Flow { port, machine, .. } = &mut *self.flow;
        let moved = move_now(machine.get_mut().map_err(|_| poisoned())?, port)?;
        if moved > 0 {
            return Ok(moved);
        }
        let limit = Instant::now() + self.flow.patience;
        loop {
            self.turn(limit)?;
            let Flow { port, machine, .. } = &mut *self.flow;
            let moved = move_now(machine.get_mut().map_err(|_| poisoned())?, port)?;
            if moved > 0 {
                return Ok(moved);
            }
        }
    }

    fn ask_again(
        &mut self,
        mut move_now: impl FnMut(&mut Machine, &UdpSocket) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let ExclusiveFlow { flow, asks } = self;
        let Flow { port, beside, machine, done, patience } = &mut **flow;
        let machine = machine.get_mut().map_err(|_| poisoned())?;
        poll(*patience, || {
            *asks += 1;
            if *asks >= ASKS_A_LOOK && !*done {
                *asks = 0;
                *done = has_heard_done(beside)?;
            }
            move_now(machine, port)
        })
    }
}

impl<const POLLS: bool> Link for ExclusiveFlow<'_, POLLS> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ask(|machine, port| machine.push_now(port, bytes))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.ask(|machine, port| machine.pull_now(port, bytes))
    }

    /// Until all has been acknowledged: what was lost is sent again by nobody else.
    fn finish(&mut self) -> io::Result<()> {
        let until = Instant::now() + super::QUIET;
        while !self.machine()?.is_quiet() && Instant::now() < until {
            match self.turn(until) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                answer => answer?,
            }
        }
        Ok(())
    }
}

/// Two threads drive the connection in turns, one for each direction.
pub struct Shared<'s, const POLLS: bool>(pub &'s Flow);

impl<const POLLS: bool> Shared<'_, POLLS> {
    fn ask(
        &mut self,
        mut move_now: impl FnMut(&mut Machine, &UdpSocket) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let flow = self.0;
        let nobody: Option<&TcpStream> = None;
        let begun = Instant::now();
        loop {
            let mut machine = flow.lock()?;
            let moved = move_now(&mut machine, &flow.port)?;
            if moved > 0 {
                return Ok(moved);
            }
            let (sleep, held) = (until(machine.due(), TURN), machine.is_held());
            drop(machine);
            if begun.elapsed() > flow.patience {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if !POLLS {
                socket::wait_for(&flow.port, held, nobody, sleep)?;
            }
        }
    }
}

impl<const POLLS: bool> Link for Shared<'_, POLLS> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ask(|machine, port| machine.push_now(port, bytes))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.ask(|machine, port| machine.pull_now(port, bytes))
    }
}
