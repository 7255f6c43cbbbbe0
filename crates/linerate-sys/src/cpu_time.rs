//! CPU time of any process, and the ticks in which the kernel counts.

use crate::{Error, Result};
use rustix::time::{ClockId, clock_getres};
use std::mem::MaybeUninit;

/// CPU time of a process since it began, all its threads together, those that ended included.
///
/// Nanoseconds; a thread that runs at this moment is counted up to its last scheduler tick. Needs no
/// privilege. `/proc/PID/schedstat` would count the first thread only.
pub fn process_ns(pid: u32) -> Result<u64> {
    let fail = |call, source| Error::new(call, format!("process {pid}"), source);
    let mut clock = MaybeUninit::<libc::clockid_t>::uninit();
    // SAFETY: the pointer is to a clockid_t that lives through the call.
    let answer = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, clock.as_mut_ptr()) };
    if answer != 0 {
        return Err(fail("clock_getcpuclockid", std::io::Error::from_raw_os_error(answer)));
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_getcpuclockid wrote the identifier; `time` lives through the call.
    if unsafe { libc::clock_gettime(clock.assume_init(), &mut time) } != 0 {
        return Err(fail("clock_gettime", std::io::Error::last_os_error()));
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The length of the ticks in which `/proc/stat` counts: 10 ms nearly everywhere.
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// Ticks of the scheduler a second (`CONFIG_HZ`): the coarse clock advances once a tick.
pub fn scheduler_hz() -> u64 {
    let tick = clock_getres(ClockId::MonotonicCoarse);
    1_000_000_000 / (tick.tv_nsec as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_every_thread_is_counted() {
        let before = process_ns(std::process::id()).unwrap();
        let work = move || while process_ns(std::process::id()).unwrap() < before + 2_000_000 {};
        std::thread::spawn(work).join().unwrap();
        assert!(process_ns(std::process::id()).unwrap() >= before + 2_000_000);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(process_ns(child.id()).is_err());
    }

    #[test]
    fn ticks_are_plausible() {
        assert!((1_000_000..=10_000_000).contains(&tick_ns()), "{}", tick_ns());
        assert!((24..=1200).contains(&scheduler_hz()), "{}", scheduler_hz());
    }
}
