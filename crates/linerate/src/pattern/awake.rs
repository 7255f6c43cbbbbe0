//! Keeps CPUs awake while an end sleeps, so that a wake-up costs the kernel's time and not the CPU's.
//!
//! An idle virtual CPU is halted, and the interrupt that wakes it costs tens of microseconds: it is a
//! property of the power state, not of the transport. The spinners have idle priority: whatever can
//! run takes the CPU from them at once.

use linerate_sys::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Spinners that stop when dropped.
#[derive(Debug)]
pub struct Awake {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Keeps these CPUs awake; none when idle priority is not to be had.
    pub fn keep(cpus: &[u32]) -> Option<Awake> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        let mut awake = Awake { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        let (tell, told) = std::sync::mpsc::channel();
        for cpu in &cpus {
            let (stop, tell, cpu) = (awake.stop.clone(), tell.clone(), *cpu);
            awake.threads.push(std::thread::spawn(move || spin(cpu, &stop, &tell)));
        }
        // Were the spinners of normal priority they would take the CPU from the measurement.
        let ready = cpus.iter().all(|_| told.recv() == Ok(true));
        (ready && !cpus.is_empty()).then_some(awake)
    }
}

fn spin(cpu: u32, stop: &AtomicBool, tell: &std::sync::mpsc::Sender<bool>) {
    let ready = thread::pin(&[cpu]).is_ok() && thread::run_when_idle().is_ok();
    let _ = tell.send(ready);
    while ready && !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A spinner cannot panic; were it to, the CPU merely slept.
            let _ = thread.join();
        }
    }
}
