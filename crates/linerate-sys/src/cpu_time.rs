//! CPU time of any process, and the ticks in which the kernel counts.

use crate::suspension::descendants;
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

/// CPU time of all children of this process that it has waited for, with those that they had waited for.
pub fn waited_children_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure lives through the call, which cannot fail with a valid pointer; it is plain numbers, for which all
    // zeroes is a value.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// CPU time of all that a process has started and not waited for, with what those have started; not of the process itself.
pub fn descendants_ns(pid: u32) -> u64 {
    let with_waited = |one: u32| Some(process_ns(one).ok()? + waited_by_ns(one).unwrap_or(0));
    descendants(pid).into_iter().filter(|one| *one != pid).filter_map(with_waited).sum()
}

/// What those took that another process has waited for: `cutime` and `cstime` of proc_pid_stat(5), in ticks.
fn waited_by_ns(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; the fields behind it begin with the third.
    let fields = stat.rsplit(") ").next()?.split_ascii_whitespace().skip(13).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(ticks * tick_ns())
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
    fn what_children_took_is_counted_once_they_were_waited_for() {
        let busy = "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done";
        let mut shell = std::process::Command::new("sh")
            .args(["-c", &format!("(sh -c '{busy}'; exec sleep 60) & read it; kill $!; wait")])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The busy one has ended, and was waited for by one that goes on.
        let tick_ns = tick_ns();
        while descendants_ns(shell.id()) < 2 * tick_ns || descendants(shell.id()).len() > 1 {
            std::thread::yield_now();
        }
        let before = waited_children_ns();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(waited_children_ns() >= before + 2 * tick_ns);
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
