//! What is stamped beside exchanges whose tracepoints are seen (levels 1 and 2): the program's own times.

use super::probe::{Probe, received};
use super::sample::Sample;
use crate::record::TraceSide;
use linerate_sys::clock::monotonic_ns;
use linerate_sys::tracer::Ways;
use std::io;
use std::os::fd::AsFd;

/// Level 1: the program's own stamps, by the clock of the tracepoints, which see the rest meanwhile.
/// The others of a sample are left out there: their tracepoints are passed with a look at one word.
pub struct Timed<S> {
    sent: Vec<u64>,
    returned: Vec<u64>,
    asks: bool,
    sample: Sample,
    /// Has the programs stamp what goes these ways from now on; none where all are stamped.
    switch: Option<S>,
    ways: Ways,
}

impl<S: FnMut(Ways)> Timed<S> {
    /// Room for so many, of an end that asks or answers.
    pub fn new(exchanges: usize, asks: bool, sample: Sample, switch: Option<S>) -> Timed<S> {
        let switch = switch.filter(|_| sample.leaves_out());
        let room = || Vec::with_capacity(exchanges);
        Timed { sent: room(), returned: room(), asks, sample, switch, ways: Ways::BOTH }
    }

    #[inline]
    fn stamp(&mut self, ways: Ways) {
        if let Some(switch) = self.switch.as_mut().filter(|_| ways != self.ways) {
            switch(ways);
            self.ways = ways;
        }
    }

    /// This way, if the exchange is stamped.
    #[inline]
    fn ways_of(&self, exchange: usize, ways: Ways) -> Ways {
        if self.sample.has(exchange) { ways } else { Ways::NONE }
    }

    /// When each exchange's message was sent, and when what was received had come; 0 of one that was lost.
    pub fn own(&self) -> (&[u64], &[u64]) {
        (&self.sent, &self.returned)
    }
}

impl<S: FnMut(Ways)> Probe for Timed<S> {
    #[inline]
    fn begin(&mut self, exchange: usize) {
        // Who answers has said what of the next one is stamped before the one before was answered: it cannot come sooner.
        if self.asks || exchange == 0 {
            self.stamp(self.ways_of(exchange, if self.asks { Ways::BOTH } else { Ways::IN }));
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn between(&mut self, exchange: usize) -> (u64, u64) {
        let returned = monotonic_ns();
        // What goes out may do so when send() has returned, so the way out is open until the next one has come.
        self.stamp(self.ways_of(exchange, Ways::OUT).with(self.ways_of(exchange + 1, Ways::IN)));
        (returned, monotonic_ns())
    }

    #[inline]
    fn receive(&mut self, socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize> {
        received(socket, room, waits)
    }

    #[inline]
    fn asked(&mut self, _: usize, sent: u64, returned: u64) -> io::Result<()> {
        if self.asks {
            self.stamp(Ways::NONE);
        }
        self.sent.push(sent);
        self.returned.push(returned);
        Ok(())
    }

    #[inline]
    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()> {
        self.asked(exchange, sent, returned)
    }

    fn lost(&mut self, _: usize, _: bool) -> io::Result<()> {
        self.sent.push(0);
        self.returned.push(0);
        Ok(())
    }

    fn end(&mut self, warm_up: usize, _: &mut TraceSide) -> io::Result<Vec<u64>> {
        let times = self.sent.iter().zip(&self.returned).skip(warm_up);
        Ok(times.map(|(sent, returned)| returned.saturating_sub(*sent)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways that were stamped, one after the other, of so many exchanges of which these are lost before they come here.
    fn ways(asks: bool, every: u32, exchanges: usize, lost: &[usize]) -> Vec<Ways> {
        let mut ways = Vec::new();
        let mut timed = Timed::new(exchanges, asks, Sample::new(every), Some(|way| ways.push(way)));
        let mut next = 0;
        for exchange in 0..exchanges {
            timed.begin(if asks { exchange } else { next });
            match (lost.contains(&exchange), asks) {
                (true, true) => timed.lost(exchange, true).unwrap(),
                (true, false) => {}
                (false, true) => timed.asked(exchange, 1, 2).unwrap(),
                (false, false) => {
                    timed.between(exchange);
                    timed.answered(exchange, 1, 2).unwrap();
                    next = exchange + 1;
                }
            }
        }
        drop(timed);
        ways
    }

    /// Of two the second one is stamped, of three the second, fifth and so on, for the last one of the warm-up is.
    #[test]
    fn who_asks_stamps_both_ways_while_a_stamped_one_is_under_way() {
        let [none, both] = [Ways::NONE, Ways::BOTH];
        assert_eq!(ways(true, 2, 4, &[]), [none, both, none, both, none]);
        assert_eq!(ways(true, 3, 6, &[]), [none, both, none, both, none]);
        // One that is lost ends with the begin of the next one.
        assert_eq!(ways(true, 2, 5, &[1, 2]), [none, both, none, both, none]);
        assert!(ways(true, 1, 5, &[1, 2]).is_empty(), "as the programs begin");
    }

    #[test]
    fn the_way_in_opens_before_the_one_before_is_answered() {
        let [none, come, out] = [Ways::NONE, Ways::IN, Ways::OUT];
        assert_eq!(ways(false, 2, 4, &[]), [none, come, out, come, out]);
        // The way out stays open until the next one has come, for what was sent may go later.
        assert_eq!(ways(false, 3, 6, &[]), [none, come, out, none, come, out, none]);
        // Behind a lost one nobody opened the way in.
        assert_eq!(ways(false, 2, 4, &[2]), [none, come, out]);
        // A stamped one that is lost leaves it open.
        assert_eq!(ways(false, 2, 4, &[1]), [none, come, out]);
    }
}
