//! Whether this kernel, these privileges and this CPU allow something: tried, on a thread or socket that
//! is thrown away.

use crate::perf_event::{self, Attributes};
use crate::{Error, Result, thread};
use socket2::{Domain, Protocol, Socket, Type};

/// Runs a probe on a thread of its own, so that what it changes ends with it.
fn on_a_thread<T: Send + 'static>(probe: fn() -> Result<T>) -> Result<T> {
    thread::start("probe", probe)?
        .join()
        .unwrap_or_else(|_| Err(Error::new("pthread_join", "a probe", std::io::ErrorKind::Other)))
}

/// The timer slack of a new thread, and the one that it has after asking for 1 ns.
pub fn timer_slack_ns() -> Result<(u64, u64)> {
    fn slack() -> Result<u64> {
        // SAFETY: PR_GET_TIMERSLACK takes no pointer.
        let answer = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0u64, 0u64, 0u64, 0u64) };
        u64::try_from(answer).map_err(|_| Error::last("prctl(PR_GET_TIMERSLACK)", "this thread"))
    }
    on_a_thread(|| {
        let before = slack()?;
        // SAFETY: PR_SET_TIMERSLACK takes a number and no pointer.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
        Ok((before, slack()?))
    })
}

/// Whether a thread may give itself the idle priority.
pub fn idle_priority() -> Result<()> {
    on_a_thread(|| {
        let parameters = libc::sched_param { sched_priority: 0 };
        // SAFETY: the structure lives through the call; 0 is the calling thread.
        match unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) } {
            0 => Ok(()),
            _ => Err(Error::last("sched_setscheduler(SCHED_IDLE)", "a thread")),
        }
    })
}

/// Whether a TCP socket may use this congestion control.
///
/// A privileged caller makes the kernel load the module of that name, so ask only for what may be loaded.
pub fn congestion_control(name: &str) -> Result<()> {
    let fail = |call, source| Error::new(call, name, source);
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
    let socket = socket.map_err(|e| fail("socket", e))?;
    socket.set_tcp_congestion(name.as_bytes()).map_err(|e| fail("setsockopt(TCP_CONGESTION)", e))
}

/// Whether raw frames may be sent and received (`CAP_NET_RAW`). The socket is bound to no protocol, so
/// nothing is received.
pub fn raw_frames() -> Result<()> {
    let socket = Socket::new(Domain::PACKET, Type::RAW, None);
    socket.map(drop).map_err(|e| Error::new("socket(AF_PACKET)", "raw frames", e))
}

/// Whether the process acts as the superuser, of its user namespace at least.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the CPU's cycles can be counted in user code (`perf_event_open`).
pub fn cycle_counter() -> Result<()> {
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    // Type 0 is hardware and its configuration 0 is CPU cycles.
    let cycles = Attributes { flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR, ..Attributes::default() };
    let (this_thread, any_cpu) = (0, -1);
    perf_event::open(cycles, this_thread, any_cpu, "CPU cycles").map(drop)
}

/// The fields of `union bpf_attr` for `BPF_PROG_LOAD`, as far as every kernel that has it knows them.
#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
}

/// Whether a program may be loaded that runs at the kernel's tracepoints: bpf(2) asks for `CAP_BPF` and `CAP_PERFMON`, both
/// in the machine's own user namespace. It is the shortest one, and runs nowhere.
pub fn tracing() -> Result<()> {
    // include/uapi/linux/bpf.h: BPF_PROG_LOAD, BPF_PROG_TYPE_TRACEPOINT.
    const LOAD: libc::c_long = 5;
    const TRACEPOINT: u32 = 5;
    // Register 0 becomes 0, and that is returned.
    const CODE: [[u8; 8]; 2] = [[0xb7, 0, 0, 0, 0, 0, 0, 0], [0x95, 0, 0, 0, 0, 0, 0, 0]];
    let program = ProgramLoad {
        kind: TRACEPOINT,
        instructions: CODE.len() as u32,
        code: CODE.as_ptr() as u64,
        license: c"GPL".as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
    };
    // SAFETY: the structure begins like bpf_attr and its size is told; it lives through the call, as do code and licence.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, LOAD, &program, size_of::<ProgramLoad>()) };
    match i32::try_from(fd) {
        Ok(fd) if fd >= 0 => {
            // SAFETY: the kernel has just given this descriptor to us, and nothing else uses it.
            unsafe { libc::close(fd) };
            Ok(())
        }
        _ => Err(Error::last("bpf(BPF_PROG_LOAD)", "a program at a tracepoint")),
    }
}

/// The hypervisor's signature (`KVMKVMKVM`, `VMwareVMware`, `Microsoft Hv`), where the CPU has one to tell.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const PRESENT: u32 = 1 << 31;
    const SIGNATURE: u32 = 0x4000_0000;
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 CPU has the instruction, and leaf 1; the other leaf is there when leaf 1 says so.
    let (features, leaf) = unsafe { (__cpuid(1), __cpuid(SIGNATURE)) };
    if features.ecx & PRESENT == 0 {
        return None;
    }
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned())
}

/// The hypervisor's signature: only x86 has an instruction for it.
#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_leaves_the_caller_as_it_was() {
        let (first, lowered) = timer_slack_ns().unwrap();
        assert!(lowered <= first);
        assert_eq!(timer_slack_ns().unwrap().0, first, "the next thread inherits from the caller");
    }

    #[test]
    fn who_may_not_trace_is_told_by_the_call() {
        if let Err(error) = tracing() {
            assert_eq!(
                (error.call, error.source.kind()),
                ("bpf(BPF_PROG_LOAD)", std::io::ErrorKind::PermissionDenied)
            );
        }
    }

    #[test]
    fn reno_is_always_there_and_nonsense_is_refused() {
        congestion_control("reno").unwrap();
        let error = congestion_control("none-such").unwrap_err();
        assert!(error.to_string().contains("none-such"), "{error}");
    }
}
