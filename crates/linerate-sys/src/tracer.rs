//! Small programs at the kernel's tracepoints that stamp the packets of one connection and the thread that receives them:
//! bpf(2), by way of BTF.
//!
//! The object is built from `bpf/stages.bpf.c` and committed. Nothing is pinned: programs, maps and what ties them to the
//! tracepoints are held by descriptors, and the kernel removes them with the process, however it ends.

use crate::{Error, Result};
use aya::programs::BtfTracePoint;
use aya::programs::ProgramError;
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::{Btf, BtfError, Ebpf, EbpfLoader, include_bytes_aligned};
use std::io;
use std::os::linux::fs::MetadataExt;
use watch::Watch;

mod beside;
mod counting;
mod lanes;
mod reasons;
mod rings;
mod switch;
mod watch;

pub use beside::Beside;
pub use counting::{Counted, Counting};
pub use rings::Rings;
pub use switch::{Switch, Ways};
pub use watch::MapIds;

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/stages.bpf.o");

/// A program of the object: its function, the tracepoint that it runs at, and which point it stamps, as the source numbers
/// them.
const PROGRAMS: &[(&str, &str, Point)] = &[
    ("locked", "tcp_sendmsg_locked", Point::Locked),
    ("queued", "net_dev_queue", Point::Queued),
    ("transmitted", "net_dev_start_xmit", Point::Transmitted),
    ("arrived", "netif_rx", Point::Arrived),
    ("arrived_by_napi", "napi_gro_receive_entry", Point::Arrived),
    ("received", "netif_receive_skb", Point::Received),
    ("probed", "tcp_probe", Point::Probed),
    ("ready", "sk_data_ready", Point::Ready),
    ("waking", "sched_waking", Point::Waking),
    ("woken", "sched_wakeup", Point::Woken),
    ("running", "sched_switch", Point::Running),
];

/// Where a stamp was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// The socket was locked for sending.
    Locked,
    /// The queueing discipline was given the packet.
    Queued,
    /// The driver was.
    Transmitted,
    /// The packet came from the driver.
    Arrived,
    /// IP was given it.
    Received,
    /// TCP was, for its socket.
    Probed,
    /// It is in the socket's queue.
    Ready,
    /// The receiving thread is about to be woken.
    Waking,
    /// It may run.
    Woken,
    /// It has a CPU.
    Running,
}

impl Point {
    const ALL: [Point; 10] = [
        Point::Locked,
        Point::Queued,
        Point::Transmitted,
        Point::Arrived,
        Point::Received,
        Point::Probed,
        Point::Ready,
        Point::Waking,
        Point::Woken,
        Point::Running,
    ];
}

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// The thread that receives, by the kernel's number.
    pub thread: u32,
    /// In its place all threads of this process; 0 is none.
    pub process: u32,
    /// The network namespace, by the number of its inode; without one it is the calling thread's.
    pub network: Option<u32>,
    /// The connection's port here.
    pub local_port: u16,
    /// Its port at the other end.
    pub remote_port: u16,
    /// The number by which the kernel knows its socket; 0 where that is not known. By it rings tell it from one of the same ports.
    pub cookie: u64,
    /// Whether it is of datagrams (UDP) and no connection of TCP.
    pub datagrams: bool,
    /// The bytes of its packets with data at least, of those that go out and of those that come, headers of IP and TCP included: by
    /// these rings tell them from acknowledgements.
    pub least_bytes: [u32; 2],
}

/// A stamp: `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When.
    pub ns: u64,
    /// Where.
    pub point: Point,
}

/// What stamps the messages of a connection.
pub trait Stamping: Send {
    /// Whether nothing stamps this point.
    fn lacks(&self, point: Point) -> bool;
    /// The tracepoints that this kernel has not, or whose threads are not known here.
    fn missing(&self) -> Vec<&'static str>;
    /// Whether there is hardly any room left.
    fn is_nearly_full(&self) -> bool;
    /// Begins to watch.
    fn begin(&mut self, watched: Watched) -> Result<()>;
    /// Ends watching: the stamps in the order of their times, and how many there was no room for.
    fn end(&mut self) -> Result<(Vec<Stamp>, u64)>;
    /// What leaves messages out while it watches, where that costs less than to stamp them.
    fn switch(&self) -> Option<Switch> {
        None
    }

    /// Where what stamps here has room for the other end of the connection, on the same kernel.
    fn maps(&self) -> Option<MapIds> {
        None
    }
}

impl Stamping for Tracer {
    fn lacks(&self, point: Point) -> bool {
        Tracer::lacks(self, point)
    }

    fn missing(&self) -> Vec<&'static str> {
        self.missing.clone()
    }

    fn is_nearly_full(&self) -> bool {
        self.watch.is_nearly_full()
    }

    fn begin(&mut self, watched: Watched) -> Result<()> {
        Tracer::begin(self, watched)
    }

    fn end(&mut self) -> Result<(Vec<Stamp>, u64)> {
        Tracer::end(self)
    }

    fn switch(&self) -> Option<Switch> {
        Some(self.watch.switch())
    }

    fn maps(&self) -> Option<MapIds> {
        Some(self.watch.ids())
    }
}

impl Stamping for Rings {
    fn lacks(&self, point: Point) -> bool {
        Rings::lacks(self, point)
    }

    fn missing(&self) -> Vec<&'static str> {
        Rings::missing(self)
    }

    fn is_nearly_full(&self) -> bool {
        Rings::is_nearly_full(self)
    }

    fn begin(&mut self, watched: Watched) -> Result<()> {
        Rings::begin(self, watched)
    }

    fn end(&mut self) -> Result<(Vec<Stamp>, u64)> {
        Rings::end(self)
    }
}

/// The programs, loaded, and tied to their tracepoints while something is watched.
pub struct Tracer {
    programs: Ebpf,
    watch: Watch,
    missing: Vec<&'static str>,
    tied: Vec<(&'static str, BtfTracePointLinkId)>,
}

impl Tracer {
    /// Loads them. Those whose tracepoint this kernel has not are left out, those at the tracepoints `hidden`, and those of threads
    /// where this program knows its own threads by other numbers than the kernel's first ones.
    pub fn load(hidden: &[&str]) -> Result<Tracer> {
        let btf = Btf::from_sys_fs().map_err(|e| failed("read", "/sys/kernel/btf/vmlinux", &e))?;
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            .load(OBJECT)
            .map_err(|e| failed("bpf(BPF_MAP_CREATE)", "programs at tracepoints", &e))?;
        let mut missing = Vec::new();
        let knows_threads = has_first_process_ids();
        for (name, tracepoint, point) in PROGRAMS {
            if hidden.contains(tracepoint) || !knows_threads && *point >= Point::Waking {
                missing.push(*tracepoint);
                continue;
            }
            match program(&mut programs, name)?.load(tracepoint, &btf) {
                Ok(()) => {}
                Err(ProgramError::Btf(BtfError::UnknownBtfTypeName { .. })) => missing.push(tracepoint),
                Err(error) => return Err(failed("bpf(BPF_PROG_LOAD)", tracepoint, &error)),
            }
        }
        // To load a program takes its maps' descriptors.
        let watch = Watch::of_programs(&mut programs)?;
        Ok(Tracer { programs, watch, missing, tied: Vec::new() })
    }

    /// Whether nothing stamps this point.
    pub fn lacks(&self, point: Point) -> bool {
        Tracer::lacks_without(&self.missing, point)
    }

    fn lacks_without(missing: &[&str], point: Point) -> bool {
        let mut of_point = PROGRAMS.iter().filter(|(_, _, stamped)| *stamped == point);
        of_point.all(|(_, tracepoint, _)| missing.contains(tracepoint))
    }

    /// Begins to watch.
    pub fn begin(&mut self, watched: Watched) -> Result<()> {
        self.cease()?;
        self.watch.begin(watched)?;
        for (name, tracepoint, _) in PROGRAMS {
            if self.missing.contains(tracepoint) {
                continue;
            }
            let link = program(&mut self.programs, name)?.attach();
            let link = link.map_err(|e| failed("bpf(BPF_RAW_TRACEPOINT_OPEN)", tracepoint, &e))?;
            self.tied.push((name, link));
        }
        Ok(())
    }

    /// Ends watching: the stamps in the order of their times, and how many there was no room for.
    pub fn end(&mut self) -> Result<(Vec<Stamp>, u64)> {
        self.cease()?;
        Ok(self.watch.take())
    }

    fn cease(&mut self) -> Result<()> {
        for (name, link) in std::mem::take(&mut self.tied) {
            program(&mut self.programs, name)?.detach(link).map_err(|e| failed("close", name, &e))?;
        }
        self.watch.cease()
    }
}

/// Bytes of `struct watched`.
const WATCHED: usize = 28;

/// IP's numbers of TCP and of UDP.
const TCP: u32 = 6;
const UDP: u32 = 17;

/// `struct watched` as the source declares it: two words, two ports, the protocol, a process, a CPU, and both ways.
fn encoded(network: u32, watched: Watched, cpu: u32) -> [u8; WATCHED] {
    let mut bytes = [0; WATCHED];
    bytes[0..4].copy_from_slice(&network.to_ne_bytes());
    bytes[4..8].copy_from_slice(&watched.thread.to_ne_bytes());
    bytes[8..10].copy_from_slice(&watched.local_port.to_ne_bytes());
    bytes[10..12].copy_from_slice(&watched.remote_port.to_ne_bytes());
    let protocol = if watched.datagrams { UDP } else { TCP };
    bytes[12..16].copy_from_slice(&protocol.to_ne_bytes());
    bytes[16..20].copy_from_slice(&watched.process.to_ne_bytes());
    bytes[20..24].copy_from_slice(&cpu.to_ne_bytes());
    bytes[24..28].copy_from_slice(&Ways::BOTH.word().to_ne_bytes());
    bytes
}

/// Whether threads have the same numbers here as in the namespace that every other one is in, by which the programs know them:
/// `PROC_PID_INIT_INO` of include/linux/proc_ns.h.
fn has_first_process_ids() -> bool {
    const FIRST: u64 = 0xEFFF_FFFC;
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|found| found.st_ino() == FIRST)
}

/// The number by which the kernel knows the calling thread's network namespace.
pub fn own_network() -> Result<u32> {
    const PATH: &str = "/proc/thread-self/ns/net";
    let found = std::fs::metadata(PATH).map_err(|e| Error::new("stat", PATH, e))?;
    Ok(found.st_ino() as u32)
}

fn program<'p>(programs: &'p mut Ebpf, name: &str) -> Result<&'p mut BtfTracePoint> {
    let found = programs.program_mut(name).ok_or_else(|| absent(name))?;
    found.try_into().map_err(|e| failed("bpf(BPF_PROG_LOAD)", name, &e))
}

fn absent(name: &str) -> Error {
    Error::new("bpf", name, io::Error::from(io::ErrorKind::NotFound))
}

/// The kernel's answer where there is one, else the words of who asked it.
fn failed(call: &'static str, object: &str, error: &(dyn std::error::Error + 'static)) -> Error {
    let mut at = Some(error);
    while let Some(cause) = at {
        let number = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        if let Some(number) = number {
            return Error::new(call, object, io::Error::from_raw_os_error(number));
        }
        at = cause.source();
    }
    let mut said = error.to_string();
    if let Some(source) = error.source() {
        said += &format!(": {source}");
    }
    Error::new(call, object, io::Error::other(said))
}

#[cfg(test)]
mod tests;
