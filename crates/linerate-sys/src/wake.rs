//! One thread wakes another: the kernel's cheapest way, `eventfd`.

use crate::{Error, Result};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};
use std::os::fd::OwnedFd;

/// Rung by one thread, waited for by another.
#[derive(Debug)]
pub struct Bell {
    counter: OwnedFd,
}

impl Bell {
    /// A bell that has not been rung.
    pub fn new() -> Result<Bell> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC).map_err(|e| Error::new("eventfd", "counter", e))?;
        Ok(Bell { counter })
    }

    /// Rings it; whoever waits is woken.
    pub fn ring(&self) -> Result<()> {
        loop {
            match write(&self.counter, &1u64.to_ne_bytes()) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Error::new("write", "eventfd", error)),
            }
        }
    }

    /// Sleeps in the kernel until it was rung since the last wait.
    pub fn wait(&self) -> Result<()> {
        loop {
            match read(&self.counter, &mut [0u8; 8]) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Error::new("read", "eventfd", error)),
            }
        }
    }
}

/// A system call that does nothing but enter and leave the kernel: `getppid`.
#[inline]
pub fn enter_kernel() {
    std::hint::black_box(rustix::process::getppid());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_thread_is_woken_as_often_as_it_waits() {
        let (there, back) = (Bell::new().unwrap(), Bell::new().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10 {
                    there.wait().unwrap();
                    back.ring().unwrap();
                }
            });
            for _ in 0..10 {
                there.ring().unwrap();
                back.wait().unwrap();
            }
        });
    }
}
