//! Events that the kernel counts or samples: perf_event_open(2).

use crate::{Error, Result};
use std::os::fd::{FromRawFd, OwnedFd};

const CALL: &str = "perf_event_open";

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// include/uapi/linux/perf_event.h: `struct perf_event_attr` as far as the clock (`PERF_ATTR_SIZE_VER3`). An older kernel takes
/// what it does not know where it is 0.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Attributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup: u32,
    pub breakpoint: u32,
    pub config1: u64,
    pub config2: u64,
    pub branch: u64,
    pub registers: u64,
    pub stack: u32,
    pub clock: i32,
}

/// Of a thread, 0 for this one and -1 for every one, on a CPU, -1 for any.
pub(crate) fn open(attributes: Attributes, thread: i32, cpu: i32, object: &str) -> Result<OwnedFd> {
    let attributes = Attributes { size: size_of::<Attributes>() as u32, ..attributes };
    let no_group = -1;
    // SAFETY: the structure begins like perf_event_attr, tells its own size, and lives through the call.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &attributes, thread, cpu, no_group, CLOSE_ON_EXEC)
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just given this descriptor to us, and nothing else uses it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Error::last(CALL, object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_has_the_size_of_its_third_version() {
        assert_eq!(size_of::<Attributes>(), 96);
    }
}
