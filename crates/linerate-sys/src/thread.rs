//! Threads: how they are started; of the calling one its CPU, its priority, its timers and what the scheduler did to it.

use crate::{Error, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle, scope};
use std::{fs, io};

/// What the scheduler did to a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// Time on a CPU.
    pub cpu_ns: u64,
    /// Time during which it could run and another thread had the CPU; none where the kernel keeps no count.
    pub run_delay_ns: Option<u64>,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because another thread was given the CPU.
    pub involuntary_switches: u64,
}

/// Starts a thread; the standard library's own call panics where the host allows no more of them.
pub fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(work).map_err(|e| not_started(name, e))
}

/// The same within a scope.
pub fn start_within<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name.into()).spawn_scoped(scope, work).map_err(|e| not_started(name, e))
}

/// What became of each of several threads: what it gave, or its panic.
pub type Joined<T> = Vec<std::thread::Result<T>>;

/// Does all of this at once, a thread each, and waits for it. Where one of the threads cannot be started nothing is done:
/// the others might wait for it.
pub fn together<T: Send>(
    name: &str,
    works: impl IntoIterator<Item = impl FnOnce() -> T + Send>,
) -> Result<Joined<T>> {
    let all_started: OnceLock<bool> = OnceLock::new();
    scope(|scope| {
        let mut threads = Vec::new();
        for work in works {
            let may_begin = || *all_started.wait();
            match start_within(scope, name, move || may_begin().then(work)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let _ = all_started.set(false);
                    return Err(error);
                }
            }
        }
        let _ = all_started.set(true);
        let lost = || -> Box<dyn std::any::Any + Send> { Box::new("it did not begin") };
        Ok(threads.into_iter().map(|thread| thread.join().and_then(|done| done.ok_or_else(lost))).collect())
    })
}

fn not_started(name: &str, error: io::Error) -> Error {
    Error::new("pthread_create", format!("{name} thread"), error)
}

/// The CPUs that the calling thread may use, ascending.
pub fn allowed_cpus() -> Result<Vec<u32>> {
    let set = sched_getaffinity(None).map_err(|e| Error::new("sched_getaffinity", "this thread", e))?;
    Ok((0..CpuSet::MAX_CPU as u32).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

/// Binds the calling thread to these CPUs.
pub fn pin(cpus: &[u32]) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|e| Error::new("sched_setaffinity", format!("CPUs {cpus:?}"), e))
}

/// The CPU on which the calling thread runs.
pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

/// Lowers the calling thread's timer slack from 50 µs to 1 ns, so that timed waits end in time.
pub fn lower_timer_slack() -> Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    let answer = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
    if answer == 0 { Ok(()) } else { Err(Error::last("prctl(PR_SET_TIMERSLACK)", "this thread")) }
}

/// A thread of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(i32);

impl ThreadId {
    /// The number by which the kernel knows it, in this process's own namespace of numbers.
    pub fn number(self) -> u32 {
        self.0.cast_unsigned()
    }
}

/// The calling thread.
pub fn current() -> ThreadId {
    ThreadId(rustix::thread::gettid().as_raw_nonzero().get())
}

/// Gives a thread a CPU only when nothing else wants it.
pub fn run_when_idle(thread: ThreadId) -> Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives through the call.
    let answer = unsafe { libc::sched_setscheduler(thread.0, libc::SCHED_IDLE, &parameters) };
    if answer == 0 { Ok(()) } else { Err(Error::last("sched_setscheduler(SCHED_IDLE)", "a thread")) }
}

/// Takes that back from the calling thread, where its user may (`RLIMIT_NICE`, sched(7)).
pub fn run_as_others() -> Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the structure lives through the call; 0 means the calling thread.
    let answer = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &parameters) };
    if answer == 0 { Ok(()) } else { Err(Error::last("sched_setscheduler(SCHED_OTHER)", "this thread")) }
}

/// Gives the calling thread a CPU whenever it wants one, before all threads that are not of real time
/// (`SCHED_FIFO`). It must wait often: nothing ordinary runs beside it.
pub fn run_first() -> Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure lives through the call; 0 means the calling thread.
    let answer = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) };
    if answer == 0 { Ok(()) } else { Err(Error::last("sched_setscheduler(SCHED_FIFO)", "this thread")) }
}

/// `struct sched_attr` in its first version (linux/sched/types.h).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Asks for short turns on the CPU, so that the calling thread gets the next one sooner when it wakes up,
/// for the same share of the time: EEVDF takes `sched_runtime` for the length of a turn from Linux 6.12 on
/// (Documentation/scheduler/sched-eevdf.rst). Older kernels take it and do nothing.
pub fn take_short_turns(turn_ns: u64) -> Result<()> {
    // SAFETY: it takes numbers only, and reads this thread's own nice value.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        nice,
        runtime_ns: turn_ns,
        ..Attributes::default()
    };
    // SAFETY: the structure lives through the call and tells its size; 0 means the calling thread.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if answer == 0 { Ok(()) } else { Err(Error::last("sched_setattr", "this thread")) }
}

/// What the scheduler did to the calling thread since it began.
pub fn scheduling() -> Scheduling {
    let usage = thread_usage();
    Scheduling {
        cpu_ns: crate::clock::thread_cpu_ns(),
        run_delay_ns: run_delay_ns().ok(),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

fn thread_usage() -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call; RUSAGE_THREAD cannot fail with a valid pointer.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage
}

/// The second number of `schedstat` (Documentation/scheduler/sched-stats.rst).
fn run_delay_ns() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let delay = text.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok());
    delay.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_cpu() {
        std::thread::spawn(|| {
            let last = *allowed_cpus().unwrap().last().unwrap();
            pin(&[last]).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
            assert_eq!(current_cpu(), last);
            assert!(pin(&[]).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn anybody_may_take_short_turns() {
        std::thread::spawn(|| take_short_turns(100_000).unwrap()).join().unwrap();
    }

    #[test]
    fn work_is_counted_as_cpu_time() {
        let before = scheduling();
        while scheduling().cpu_ns - before.cpu_ns < 1_000_000 {}
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(scheduling().voluntary_switches > before.voluntary_switches);
    }
}
