//! Records that tracepoints write into a ring of memory, a ring a CPU: perf_event_open(2). It asks for no BTF and no bpf(2).
//!
//! Events and rings are held by descriptors and mappings: the kernel removes them with the process, however it ends.

use crate::perf_event::{self, Attributes};
use crate::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;
const DUMMY: u64 = 9;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_RAW: u64 = 1 << 10;
const DISABLED: u64 = 1;
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK: u64 = 1 << 25;

const ENABLE: u64 = 0x2400;
const DISABLE: u64 = 0x2401;
const RESET: u64 = 0x2403;
const SET_OUTPUT: u64 = 0x2405;
const SET_FILTER: u64 = 0x4008_2406;

const RECORD_SAMPLE: u32 = 9;

/// `struct perf_event_mmap_page`: where the kernel has written to, and where it has been read to.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// A record's header; behind it the time, and the length of what the tracepoint wrote.
const HEADER: usize = 8;
const AHEAD: usize = HEADER + 8 + 4;

/// The ring of one CPU, and the tracepoints that write into it there.
pub struct Ring {
    cpu: u32,
    /// What the ring belongs to: an event that never happens.
    owner: OwnedFd,
    start: NonNull<u8>,
    bytes: usize,
    events: Vec<OwnedFd>,
}

// SAFETY: the mapping belongs to this value and is reached by it alone; who writes beside us is the kernel.
unsafe impl Send for Ring {}

impl Ring {
    /// With room for so many bytes: a power of two, at least a page.
    pub fn open(cpu: u32, bytes: usize) -> Result<Ring> {
        let bytes = bytes.next_power_of_two().max(page_size());
        let owner = open(cpu, SOFTWARE, DUMMY)?;
        let whole = page_size() + bytes;
        // SAFETY: a new shared mapping at an address of the kernel's choice aliases nothing of ours; it has this length or fails.
        let start = unsafe {
            mmap(std::ptr::null_mut(), whole, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &owner, 0)
        };
        let object = || format!("a ring of {bytes} B");
        let start = start.map_err(|e| Error::new("mmap", object(), e))?;
        let null = || Error::new("mmap", object(), io::Error::from(io::ErrorKind::InvalidData));
        let start = NonNull::new(start.cast()).ok_or_else(null)?;
        Ok(Ring { cpu, owner, start, bytes, events: Vec::new() })
    }

    /// Has a tracepoint write into it, where its fields are as `filter` says (Documentation/trace/events.rst); an empty one says nothing.
    pub fn add(&mut self, tracepoint: u64, filter: &str) -> Result<()> {
        let event = open(self.cpu, TRACEPOINT, tracepoint)?;
        let text = CString::new(filter)
            .map_err(|_| Error::new("ioctl", filter, io::Error::from(io::ErrorKind::InvalidInput)))?;
        if !filter.is_empty() {
            asked(&event, SET_FILTER, text.as_ptr() as u64, filter)?;
        }
        asked(&event, SET_OUTPUT, self.owner.as_raw_fd() as u64, "a ring")?;
        self.events.push(event);
        Ok(())
    }

    /// The tracepoints write from now on.
    pub fn begin(&self) -> Result<()> {
        self.each(RESET)?;
        self.each(ENABLE)
    }

    /// They write no more.
    pub fn cease(&self) -> Result<()> {
        self.each(DISABLE)
    }

    fn each(&self, request: u64) -> Result<()> {
        self.events.iter().try_for_each(|event| asked(event, request, 0, "a tracepoint"))
    }

    /// Whether three quarters of it are written and not taken.
    pub fn is_nearly_full(&self) -> bool {
        let [head, tail] = [HEAD, TAIL].map(|at| self.position(at).load(Ordering::Relaxed));
        head.wrapping_sub(tail) > self.bytes as u64 / 4 * 3
    }

    /// How often the tracepoints were passed, whether there was room for it or not.
    fn passed(&self) -> Result<u64> {
        let mut all = 0_u64;
        for event in &self.events {
            let mut count = [0; 8];
            rustix::io::read(event, &mut count).map_err(|e| Error::new("read", "a tracepoint's count", e))?;
            all = all.saturating_add(u64::from_ne_bytes(count));
        }
        Ok(all)
    }

    /// Each record: its time, and what the tracepoint wrote. Answers how many there was no room for.
    pub fn take(&mut self, mut told: impl FnMut(u64, &[u8])) -> Result<u64> {
        let (head, tail) = (self.position(HEAD), self.position(TAIL));
        let end = head.load(Ordering::Acquire);
        let (mut at, mut record, mut samples) = (tail.load(Ordering::Relaxed), Vec::new(), 0_u64);
        while at < end {
            let mut header = [0; HEADER];
            self.copy(at, &mut header);
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let size = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            if size < HEADER {
                break;
            }
            record.resize(size, 0);
            self.copy(at, &mut record);
            if let (RECORD_SAMPLE, Some((ns, raw))) = (kind, sample(&record)) {
                samples += 1;
                told(ns, raw);
            }
            at += size as u64;
        }
        tail.store(end, Ordering::Release);
        Ok(self.passed()?.saturating_sub(samples))
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the first page of the mapping has these words, aligned, and lives as long as `self`.
        unsafe { &*self.start.as_ptr().add(at).cast::<AtomicU64>() }
    }

    /// What lies there in the ring, which goes on at its begin.
    fn copy(&self, from: u64, to: &mut [u8]) {
        for (byte, at) in to.iter_mut().zip(from..) {
            let place = page_size() + (at % self.bytes as u64) as usize;
            // SAFETY: the place is within the mapping, and the kernel does not write before its tail, which is not moved meanwhile.
            *byte = unsafe { self.start.as_ptr().add(place).read_volatile() };
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference outlives its owner. A failure would leak the mapping, which ends
        // with the process.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), page_size() + self.bytes) };
    }
}

/// A sample's time, and what the tracepoint wrote.
fn sample(record: &[u8]) -> Option<(u64, &[u8])> {
    let time = u64::from_ne_bytes(record.get(HEADER..HEADER + 8)?.try_into().ok()?);
    let length = u32::from_ne_bytes(record.get(AHEAD - 4..AHEAD)?.try_into().ok()?);
    Some((time, record.get(AHEAD..AHEAD + length as usize)?))
}

fn open(cpu: u32, kind: u32, config: u64) -> Result<OwnedFd> {
    let attributes = Attributes {
        kind,
        config,
        sample_period: 1,
        sample_type: SAMPLE_TIME | SAMPLE_RAW,
        // Nobody waits for a part of it.
        flags: DISABLED | WATERMARK | USE_CLOCK,
        wakeup: u32::MAX,
        clock: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    };
    const EVERY_THREAD: i32 = -1;
    perf_event::open(attributes, EVERY_THREAD, cpu as i32, &format!("tracepoint {config} of CPU {cpu}"))
}

fn asked(event: &OwnedFd, request: u64, argument: u64, object: &str) -> Result<()> {
    // SAFETY: these requests take a number, a descriptor, or a text that ends with 0 and lives through the call.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } {
        0 => Ok(()),
        _ => Err(Error::last("ioctl(PERF_EVENT_IOC)", object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;
    use crate::tracefs::Tracefs;

    #[test]
    fn what_finds_no_room_is_counted() {
        const NAME: &str = "what_finds_no_room_is_counted";
        let Ok(tracefs) = Tracefs::open() else { return println!("SKIP: {NAME}: not root") };
        let format = tracefs.format("signal/signal_generate").unwrap().unwrap();
        let cpu = *thread::allowed_cpus().unwrap().first().unwrap();
        thread::pin(&[cpu]).unwrap();
        let mut ring = Ring::open(cpu, 1).unwrap();
        ring.add(format.id, &format!("common_pid == {}", thread::current().number())).unwrap();
        let (at, _) = format.fields["common_pid"];
        let mut send = |times: u32| {
            ring.begin().unwrap();
            for _ in 0..times {
                // Nobody listens for a broken window.
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH)
                    .unwrap();
            }
            ring.cease().unwrap();
            let mut seen = Vec::new();
            let lost = ring.take(|ns, raw| seen.push((ns, raw[at..at + 4].to_vec()))).unwrap();
            (seen, lost)
        };
        let (few, lost) = send(3);
        let own = thread::current().number().to_ne_bytes();
        assert_eq!((few.len(), lost), (3, 0));
        assert!(few.iter().all(|(ns, pid)| *ns > 0 && *pid == own), "{few:?}");
        let (many, lost) = send(1000);
        assert!(!many.is_empty() && many.len() < 200 && many.len() as u64 + lost == 1000, "{}", many.len());
        assert_eq!(send(2).0.len(), 2, "there is room again");
    }

    #[test]
    fn short_records_are_no_samples() {
        assert_eq!((sample(&[0; 19]), sample(&[255; 24])), (None, None));
        let mut record = vec![0; 24];
        record[8] = 5;
        record[16] = 4;
        assert_eq!(sample(&record), Some((5, &[0, 0, 0, 0][..])));
    }
}
