//! Whether the process at the other end still answers: one that hangs, or stands still, closes no connection.
//!
//! Who waits longer than expected asks whether it is there. The answer is given by whoever reads the requests, whatever
//! else is under way; so one that gives none does not go on at all.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What asks whether a process is there; who serves answers it without being told how.
pub const ALIVE: &str = "alive";

/// The number of that request: no call has it.
pub const OF_ALIVE: u64 = 0;

/// After so long without a word the other end is asked whether it is there.
const ASKED_AFTER: Duration = Duration::from_secs(5);

/// And after so long without an answer to that it is not, as a rule: ten times what a crowded host takes to run a process.
pub const ANSWERED_IN: Duration = Duration::from_secs(10);

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub(super) most: Duration,
    /// How long nobody is asked whether it is there.
    pub(super) expected: Duration,
}

impl Limit {
    /// So long at most; whether the other end is there is not asked before `expected` is over.
    pub const fn expected(most: Duration, expected: Duration) -> Limit {
        Limit { most, expected }
    }

    /// How long it is waited for at most.
    pub fn most(self) -> Duration {
        self.most
    }
}

impl From<Duration> for Limit {
    /// So long, of what is answered at once as a rule.
    fn from(most: Duration) -> Limit {
        Limit { most, expected: Duration::ZERO }
    }
}

/// What is to be done about an end that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// Nothing.
    Wait,
    /// It is to be asked whether it is there.
    Ask,
    /// It is not.
    Silent,
}

/// How long one end has said nothing while it was waited for.
#[derive(Debug)]
pub struct Pulse {
    heard: Arc<AtomicBool>,
    silence: Duration,
    is_asked: bool,
    answered_in: Duration,
}

impl Default for Pulse {
    fn default() -> Self {
        let (heard, silence, is_asked) = (Arc::default(), Duration::ZERO, false);
        Pulse { heard, silence, is_asked, answered_in: ANSWERED_IN }
    }
}

impl Pulse {
    /// The same of an end that may take so long to say that it is there.
    pub fn answering_in(self, answered_in: Duration) -> Pulse {
        Pulse { answered_in, ..self }
    }

    /// After so long without a word it is not there.
    fn longest(&self) -> Duration {
        ASKED_AFTER + self.answered_in
    }

    /// A stream that tells of what comes on it.
    pub fn listening<R: Read>(&self, stream: R) -> Heard<R> {
        Heard { stream, heard: self.heard.clone() }
    }

    /// What is to be done after so long a time more in which it was waited for.
    pub fn after(&mut self, waited: Duration) -> Beat {
        self.hear();
        self.silence += waited;
        match self.is_asked {
            true if self.silence >= self.longest() => Beat::Silent,
            false if self.silence >= ASKED_AFTER => {
                self.is_asked = true;
                Beat::Ask
            }
            _ => Beat::Wait,
        }
    }

    /// It takes no request any more.
    pub fn stop(&mut self) {
        self.is_asked = true;
        self.silence = self.silence.max(self.longest());
    }

    /// How long it has been silent, where it was found so and has said nothing since.
    pub fn silence(&mut self) -> Option<Duration> {
        self.hear();
        (self.is_asked && self.silence >= self.longest()).then_some(self.silence)
    }

    fn hear(&mut self) {
        if self.heard.swap(false, Ordering::Relaxed) {
            (self.silence, self.is_asked) = (Duration::ZERO, false);
        }
    }
}

/// A stream of which every byte that comes is a sign of life.
pub struct Heard<R> {
    stream: R,
    heard: Arc<AtomicBool>,
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(room)?;
        self.heard.store(true, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn beats(pulse: &mut Pulse, seconds: u32) -> Vec<Beat> {
        (0..seconds).map(|_| pulse.after(SECOND)).collect()
    }

    #[test]
    fn who_says_nothing_is_asked_once_and_then_silent() {
        let mut pulse = Pulse::default();
        let beats = beats(&mut pulse, 15);
        let asked: Vec<usize> = (0..15).filter(|at| beats[*at] == Beat::Ask).collect();
        assert_eq!((asked, beats[13], beats[14]), (vec![4], Beat::Wait, Beat::Silent));
        assert_eq!(pulse.silence(), Some(15 * SECOND));
    }

    #[test]
    fn who_may_take_longer_is_silent_later() {
        let mut pulse = Pulse::default().answering_in(55 * SECOND);
        let beats = beats(&mut pulse, 60);
        let other: Vec<usize> = (0..60).filter(|at| beats[*at] != Beat::Wait).collect();
        assert_eq!((other, beats[4], beats[59]), (vec![4, 59], Beat::Ask, Beat::Silent));
    }

    #[test]
    fn a_byte_is_a_sign_of_life() {
        let mut pulse = Pulse::default();
        let mut stream = pulse.listening(&b"abc"[..]);
        assert_eq!(beats(&mut pulse, 14).last(), Some(&Beat::Wait));
        stream.read_exact(&mut [0]).unwrap();
        assert_eq!(beats(&mut pulse, 14).last(), Some(&Beat::Wait));
        assert_eq!((pulse.after(SECOND), pulse.silence().is_some()), (Beat::Silent, true));
        // It went on after all.
        stream.read_exact(&mut [0]).unwrap();
        assert_eq!((pulse.silence(), pulse.after(SECOND)), (None, Beat::Wait));
    }
}
