//! A host's counters at one moment, and what they did between two moments.
//!
//! The CPUs' times are counted in ticks of 10 ms, so a share over 100 ms comes in steps of a tenth. The
//! interfaces and TCP's counters are those of the calling thread's network namespace; CPUs and `softnet`
//! are the machine's. A counter that cannot be read is zero; one that went backwards did not move.

use super::{Observer, Seen, Watched};
use crate::Result;
use crate::plan::HostId;
use crate::record::{HostDelta, InterfaceDelta};
use linerate_sys::clock;
use linerate_sys::cpu_time;
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Room for `/proc/stat` of a small machine; larger ones make it grow once.
const ROOM: usize = 16 << 10;

/// The files that are read. `thread-self` leads to the calling thread's network namespace.
const FILES: [&str; 5] = [
    "/proc/stat",
    "/proc/thread-self/net/dev",
    "/proc/net/softnet_stat",
    "/proc/thread-self/net/snmp",
    "/proc/thread-self/net/snmp6",
];

/// The files, kept open, and a buffer: to read again costs half of opening again.
#[derive(Debug)]
pub(super) struct Reader {
    files: [Option<File>; FILES.len()],
    buffer: Vec<u8>,
}

/// A host's counters at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    at_ns: u64,
    busy_ns: Vec<(u32, u64)>,
    steal_ns: u64,
    context_switches: u64,
    own_ns: Vec<(u32, u64)>,
    interfaces: Vec<InterfaceDelta>,
    softnet: Softnet,
    tcp_retransmitted_segments: u64,
    reassembly_failures: u64,
}

/// Sums over the CPUs' receive queues; the kernel's counters are 32 bits wide and so are the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Softnet {
    processed: u32,
    dropped: u32,
    squeezed: u32,
}

/// Reads the counters, with the busy times of `cpus` and the CPU time of this process and `own_pids`.
pub fn snapshot(cpus: &[u32], own_pids: &[u32]) -> Snapshot {
    Snapshot::read(cpus, own_pids, &mut Reader::open())
}

/// The host's counters as an observer.
struct Counters(Snapshot);

/// Begins.
pub(super) fn begin(watched: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    Ok(Some(Box::new(Counters(snapshot(watched.cpus, watched.processes)))))
}

impl Observer for Counters {
    fn end(&mut self, watched: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        let counters = std::mem::take(&mut seen.host.counters);
        let delta = self.0.delta(&snapshot(watched.cpus, watched.processes));
        seen.host = HostDelta { counters, ..delta };
        Ok(())
    }
}

impl Reader {
    /// Opens the files, for the namespace of the calling thread.
    pub(super) fn open() -> Reader {
        Reader { files: FILES.map(|path| File::open(path).ok()), buffer: vec![0; ROOM] }
    }

    /// A file's text, from its beginning. What cannot be read is empty.
    fn text(&mut self, index: usize) -> Cow<'_, str> {
        let mut length = 0;
        if let Some(file) = &self.files[index] {
            // What was read before an error is as good as a file that was cut off.
            while let Ok(count @ 1..) = file.read_at(&mut self.buffer[length..], length as u64) {
                length += count;
                if length == self.buffer.len() {
                    self.buffer.resize(length * 2, 0);
                }
            }
        }
        String::from_utf8_lossy(&self.buffer[..length])
    }
}

impl Snapshot {
    /// Reads the counters from files that are open already.
    pub(super) fn read(cpus: &[u32], own_pids: &[u32], reader: &mut Reader) -> Snapshot {
        let this = std::process::id();
        let others = own_pids.iter().copied().filter(|pid| *pid != this);
        let own = [this].into_iter().chain(others);
        let mut snapshot = Snapshot { at_ns: clock::monotonic_ns(), ..Snapshot::default() };
        snapshot.take_stat(&reader.text(0), cpus, cpu_time::tick_ns());
        snapshot.own_ns = own.filter_map(|pid| Some((pid, cpu_time::process_ns(pid).ok()?))).collect();
        snapshot.interfaces = interfaces(&reader.text(1));
        snapshot.softnet = softnet(&reader.text(2));
        let snmp = reader.text(3);
        snapshot.tcp_retransmitted_segments = of_snmp(&snmp, "Tcp:", "RetransSegs");
        snapshot.reassembly_failures = of_snmp(&snmp, "Ip:", "ReasmFails");
        snapshot.reassembly_failures += of_snmp6(&reader.text(4), "Ip6ReasmFails");
        snapshot
    }

    /// When it was taken, by the monotonic clock.
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// What the counters did until a later reading of the same host, which does not know its name in the run.
    pub fn delta(&self, later: &Snapshot) -> HostDelta {
        let interfaces = later.interfaces.iter().map(|after| {
            let before = self.interfaces.iter().find(|before| before.name == after.name);
            before.map_or_else(|| after.clone(), |before| moved(before, after))
        });
        HostDelta {
            host: HostId::default(),
            wall_ns: later.at_ns.saturating_sub(self.at_ns),
            busy_ns: gains(&self.busy_ns, &later.busy_ns).filter(|(_, ns)| *ns > 0).collect(),
            steal_ns: later.steal_ns.saturating_sub(self.steal_ns),
            own_ns: gains(&self.own_ns, &later.own_ns).map(|(_, ns)| ns).sum(),
            context_switches: later.context_switches.saturating_sub(self.context_switches),
            interfaces: interfaces.filter(has_moved).collect(),
            softnet_processed: wrapped(self.softnet.processed, later.softnet.processed),
            softnet_dropped: wrapped(self.softnet.dropped, later.softnet.dropped),
            softnet_squeezed: wrapped(self.softnet.squeezed, later.softnet.squeezed),
            tcp_retransmitted_segments: later
                .tcp_retransmitted_segments
                .saturating_sub(self.tcp_retransmitted_segments),
            reassembly_failures: later.reassembly_failures.saturating_sub(self.reassembly_failures),
            ..HostDelta::default()
        }
    }

    /// Takes the CPUs' times and the context switches from `/proc/stat` (proc_stat(5)): after a CPU's name
    /// user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user and nice.
    fn take_stat(&mut self, text: &str, cpus: &[u32], tick_ns: u64) {
        for line in text.lines() {
            let (name, numbers) = line.split_once(' ').unwrap_or((line, ""));
            match (name, name.strip_prefix("cpu").map(str::parse)) {
                ("ctxt", _) => self.context_switches = number(numbers.trim()),
                (_, Some(cpu)) => {
                    let mut ticks = [0u64; 8];
                    let read = numbers.split_ascii_whitespace().map(number);
                    ticks.iter_mut().zip(read).for_each(|(tick, number)| *tick = number);
                    let [user, nice, system, _idle, _iowait, irq, softirq, steal] = ticks;
                    match cpu {
                        Ok(cpu) if cpus.contains(&cpu) => {
                            let busy =
                                [nice, system, irq, softirq].iter().fold(user, |a, b| a.saturating_add(*b));
                            self.busy_ns.push((cpu, busy.saturating_mul(tick_ns)));
                        }
                        Ok(_) => {}
                        Err(_) => self.steal_ns = steal.saturating_mul(tick_ns),
                    }
                }
                _ => {}
            }
        }
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

/// What each key gained; one that is new began at zero.
fn gains<'s>(before: &'s [(u32, u64)], after: &'s [(u32, u64)]) -> impl Iterator<Item = (u32, u64)> + 's {
    after.iter().map(|(key, later)| {
        let earlier = before.iter().find(|(known, _)| known == key).map_or(0, |(_, value)| *value);
        (*key, later.saturating_sub(earlier))
    })
}

/// The way from one 32-bit reading to the next. More than half way round is backwards: a CPU's counters
/// went with the CPU.
pub(super) fn wrapped(before: u32, after: u32) -> u64 {
    let moved = after.wrapping_sub(before);
    if moved > u32::MAX / 2 { 0 } else { u64::from(moved) }
}

fn moved(before: &InterfaceDelta, after: &InterfaceDelta) -> InterfaceDelta {
    InterfaceDelta {
        name: after.name.clone(),
        rx_bytes: after.rx_bytes.saturating_sub(before.rx_bytes),
        tx_bytes: after.tx_bytes.saturating_sub(before.tx_bytes),
        rx_packets: after.rx_packets.saturating_sub(before.rx_packets),
        tx_packets: after.tx_packets.saturating_sub(before.tx_packets),
        drops: after.drops.saturating_sub(before.drops),
    }
}

fn has_moved(delta: &InterfaceDelta) -> bool {
    [delta.rx_bytes, delta.tx_bytes, delta.rx_packets, delta.tx_packets, delta.drops].iter().any(|n| *n > 0)
}

/// The interfaces of `/proc/net/dev` (`dev_seq_printf_stats` in the kernel's net/core/net-procfs.c): eight
/// numbers received (bytes, packets, errors, dropped, ...) and eight sent. The other kinds of error are
/// parts of those two.
fn interfaces(text: &str) -> Vec<InterfaceDelta> {
    let interface = |line: &str| {
        // A name may contain a colon, the numbers do not.
        let (name, numbers) = line.rsplit_once(':')?;
        let mut fields = [0u64; 12];
        let mut read = numbers.split_ascii_whitespace().map(str::parse);
        for field in &mut fields {
            *field = read.next()?.ok()?;
        }
        let [
            rx_bytes,
            rx_packets,
            rx_errors,
            rx_drops,
            _,
            _,
            _,
            _,
            tx_bytes,
            tx_packets,
            tx_errors,
            tx_drops,
        ] = fields;
        let drops = [rx_drops, tx_errors, tx_drops].iter().fold(rx_errors, |a, b| a.saturating_add(*b));
        Some(InterfaceDelta { name: name.trim().into(), rx_bytes, tx_bytes, rx_packets, tx_packets, drops })
    };
    text.lines().filter_map(interface).collect()
}

/// `/proc/net/softnet_stat`: a line a CPU, hexadecimal: processed, dropped, times squeezed.
fn softnet(text: &str) -> Softnet {
    let mut sum = Softnet::default();
    for line in text.lines() {
        let mut read = line.split_ascii_whitespace().map(|hex| u32::from_str_radix(hex, 16).unwrap_or(0));
        for counter in [&mut sum.processed, &mut sum.dropped, &mut sum.squeezed] {
            *counter = counter.wrapping_add(read.next().unwrap_or(0));
        }
    }
    sum
}

/// A counter of `/proc/net/snmp`: a line of names and a line of numbers, both after the protocol's.
fn of_snmp(text: &str, protocol: &str, wanted: &str) -> u64 {
    let mut rows = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, numbers) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
    let mut pairs = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
    pairs.find(|(name, _)| *name == wanted).map_or(0, |(_, value)| number(value))
}

/// A counter of `/proc/net/snmp6`: a line each.
fn of_snmp6(text: &str, wanted: &str) -> u64 {
    let value = |line: &str| line.strip_prefix(wanted)?.trim().parse().ok();
    text.lines().find_map(value).unwrap_or(0)
}

#[cfg(test)]
mod tests;
