//! A receiver that sleeps by a timer while more and more comes, as a NIC coalesces its interrupts.
//!
//! Whoever sleeps in recv(2) is woken by the sender of what comes next, in that sender's time. Nobody has to wake a
//! receiver that a timer wakes.

use super::lossy::{Port, Sleep};
use std::io;
use std::thread;
use std::time::Duration;

/// How long such a sleep is. In it come 18 datagrams of 1400 B at 10 Gb/s, and 250 KB at 100 Gb/s: the usual buffers of
/// 208 KiB of datagrams, counted with what the kernel needs for each, and of 6 MiB of a stream hold several such sleeps.
const NAP: Duration = Duration::from_micros(20);

/// By a timer after two calls or more that found something, by what comes next otherwise: a ping-pong never waits for
/// the timer, nor does a slow stream.
#[derive(Default)]
pub struct Coalescing {
    /// Calls that found something since the sleep before.
    in_a_row: u32,
}

impl Coalescing {
    /// Receives from `source`: `now` takes what is there, `waiting` sleeps until something is.
    #[inline]
    pub fn receive<S: ?Sized>(
        &mut self,
        source: &mut S,
        room: &mut [u8],
        now: impl Fn(&mut S, &mut [u8]) -> io::Result<Option<usize>>,
        waiting: impl Fn(&mut S, &mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<Option<usize>> {
        let came = now(source, room)?;
        if came.is_some() {
            self.in_a_row = self.in_a_row.saturating_add(1);
            return Ok(came);
        }
        let came = if std::mem::replace(&mut self.in_a_row, 1) > 1 {
            thread::sleep(NAP);
            now(source, room)?
        } else {
            None
        };
        if came.is_some() { Ok(came) } else { waiting(source, room) }
    }
}

impl Sleep for Coalescing {
    #[inline]
    fn receive<P: Port>(&mut self, port: &mut P, room: &mut [u8]) -> io::Result<Option<usize>> {
        Coalescing::receive(self, port, room, P::receive_now, P::receive_waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Instant;

    /// How often was asked for what is there, and waited, where something is there for so many calls.
    fn asked_and_waited(calls: u32) -> (u32, u32) {
        let (asked, waited) = (Cell::new(0), Cell::new(0));
        let now = |_: &mut (), _: &mut [u8]| {
            asked.set(asked.get() + 1);
            Ok((asked.get() <= calls).then_some(1))
        };
        let waiting = |_: &mut (), _: &mut [u8]| {
            waited.set(waited.get() + 1);
            Ok(Some(1))
        };
        let mut coalescing = Coalescing::default();
        for _ in 0..=calls {
            assert_eq!(coalescing.receive(&mut (), &mut [0], now, waiting).unwrap(), Some(1));
        }
        (asked.get(), waited.get())
    }

    #[test]
    fn only_who_was_kept_busy_naps() {
        for calls in [0, 1] {
            assert_eq!(asked_and_waited(calls), (calls + 1, 1));
        }
        for calls in [2, 5] {
            let begun = Instant::now();
            assert_eq!(asked_and_waited(calls), (calls + 2, 1));
            assert!(begun.elapsed() >= NAP, "{calls}");
        }
    }

    #[test]
    fn one_message_after_a_wait_asks_for_no_nap() {
        let (asked, mut coalescing) = (Cell::new(0), Coalescing::default());
        let now = |_: &mut (), _: &mut [u8]| {
            asked.set(asked.get() + 1);
            Ok(None)
        };
        for _ in 0..10 {
            coalescing.receive(&mut (), &mut [0], now, |_, _| Ok(Some(1))).unwrap();
        }
        assert_eq!(asked.get(), 10);
    }
}
