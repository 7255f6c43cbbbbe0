//! Keeps CPUs awake while an end sleeps, so that a wake-up costs the kernel's time and not the CPU's.
//!
//! An idle virtual CPU is halted, and the interrupt that wakes it costs tens of microseconds: it is a
//! property of the power state, not of the transport. The spinners have idle priority: whatever can
//! run takes the CPU from them at once.

use linerate_sys::thread::{self, ThreadId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// How often a spinner spins before it offers its CPU to others, tens to hundreds of microseconds: a wake-up that finds it
/// in that call takes some microseconds longer, so it is rare.
const SPINS: u32 = 4096;

/// Spinners that stop when dropped.
#[derive(Debug)]
pub struct Awake {
    stop: Arc<AtomicBool>,
}

impl Awake {
    /// Keeps these CPUs awake; none when idle priority is not to be had.
    ///
    /// A thread of idle priority is never waited for: on a CPU that others keep busy it would not run for long,
    /// and what waited for it would begin late.
    pub fn keep(cpus: &[u32]) -> Option<Awake> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        let awake = Awake { stop: Arc::new(AtomicBool::new(false)) };
        let ready = cpus.iter().all(|cpu| awake.spinner(*cpu).is_some());
        (ready && !cpus.is_empty()).then_some(awake)
    }

    /// Starts one. Were it of normal priority it would take the CPU from the measurement, so it only begins to spin
    /// when it is not.
    fn spinner(&self, cpu: u32) -> Option<()> {
        let ((tell, told), (allow, allowed)) = (channel(), channel());
        let stop = self.stop.clone();
        thread::start("awake", move || spin(cpu, &stop, &tell, &allowed)).ok()?;
        thread::run_when_idle(told.recv().ok()?).ok()?;
        allow.send(()).ok()
    }
}

fn spin(cpu: u32, stop: &AtomicBool, tell: &Sender<ThreadId>, allowed: &Receiver<()>) {
    if thread::pin(&[cpu]).is_err() || tell.send(thread::current()).is_err() || allowed.recv().is_err() {
        return;
    }
    while !stop.load(Ordering::Relaxed) {
        (0..SPINS).for_each(|_| std::hint::spin_loop());
        // Else it would be given a whole tick now and then, 4 ms in which what is measured waits.
        std::thread::yield_now();
    }
    // The end of a thread takes locks that others need; who may not do this is only a little slower.
    let _ = thread::run_as_others();
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn nobody_waits_for_a_spinner_on_a_busy_cpu() {
        let cpu = thread::allowed_cpus().unwrap()[0];
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                thread::pin(&[cpu]).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let begun = Instant::now();
            let kept: Vec<Option<Awake>> = (0..20).map(|_| Awake::keep(&[cpu])).collect();
            drop(kept);
            let took = begun.elapsed();
            stop.store(true, Ordering::Relaxed);
            // An idle thread is given a CPU now and then only: waiting for twenty of them took seconds.
            assert!(took < Duration::from_secs(1), "{took:?}");
        });
    }

    /// What runs on a CPU that is kept awake is hardly more often put off it than on one that is not: others may take
    /// the CPU too.
    #[test]
    fn a_spinner_takes_no_tick_from_what_is_measured() {
        let cpu = thread::allowed_cpus().unwrap()[0];
        let put_off = |is_kept: bool| {
            let awake = is_kept.then(|| Awake::keep(&[cpu]).unwrap());
            let measured = std::thread::spawn(move || {
                thread::pin(&[cpu]).unwrap();
                let (begun, before) = (Instant::now(), thread::scheduling().run_delay_ns.unwrap());
                while begun.elapsed() < Duration::from_millis(10) {}
                thread::scheduling().run_delay_ns.unwrap() - before
            });
            let put_off_ns = measured.join().unwrap();
            drop(awake);
            std::thread::sleep(Duration::from_millis(5));
            put_off_ns
        };
        // One in ten lost 4 ms. In turns, so that what else happens on the machine happens to both.
        let takes_a_tick = |_| {
            let (mut kept, mut alone): (Vec<u64>, Vec<u64>) =
                (0..60).map(|_| (put_off(true), put_off(false))).unzip();
            kept.sort_unstable();
            alone.sort_unstable();
            kept[54] > alone[54] + 3_000_000
        };
        assert!(!(0..3).all(takes_a_tick));
    }
}
