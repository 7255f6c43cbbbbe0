//! For how long a thread could run and another one had the CPU: `schedstat` (Documentation/scheduler/sched-stats.rst), read
//! again and again without allocating.

use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Three numbers of at most 20 digits, two blanks and a line's end.
const ROOM: usize = 64;

/// The count of the thread that opened it.
#[derive(Debug)]
pub struct RunDelay(File);

impl RunDelay {
    /// Opens that of the calling thread.
    pub fn open() -> Result<RunDelay> {
        const PATH: &str = "/proc/thread-self/schedstat";
        File::open(PATH).map(RunDelay).map_err(|e| Error::new("open", PATH, e))
    }

    /// Nanoseconds since the thread began; none where the kernel counts none.
    #[inline]
    pub fn read(&self) -> Option<u64> {
        let mut room = [0; ROOM];
        let length = self.0.read_at(&mut room, 0).ok()?;
        second_number(&room[..length])
    }
}

/// The second of numbers with blanks between them.
fn second_number(text: &[u8]) -> Option<u64> {
    let mut words = text.split(|byte| byte.is_ascii_whitespace());
    let digits = words.nth(1).filter(|digits| !digits.is_empty() && digits.len() < 20)?;
    digits.iter().try_fold(0_u64, |number, digit| {
        digit.is_ascii_digit().then(|| 10 * number + u64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_delay() {
        assert_eq!(second_number(b"123456 789 42\n"), Some(789));
        for text in [&b""[..], b"12", b"12 x 3", b"1  2 3", b"1 99999999999999999999999 3"] {
            assert_eq!(second_number(text), None, "{text:?}");
        }
    }

    #[test]
    fn it_grows_while_others_run() {
        let delay = RunDelay::open().unwrap();
        let first = delay.read().unwrap();
        let crowd = 2 * std::thread::available_parallelism().unwrap().get();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let is_over = || stop.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            (0..crowd).for_each(|_| drop(scope.spawn(|| while !is_over() {})));
            let begun = std::time::Instant::now();
            while delay.read().unwrap() == first && begun.elapsed().as_secs() < 10 {}
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(delay.read().unwrap() > first);
    }
}
