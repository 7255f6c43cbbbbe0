//! Counts of what a stream of one connection makes the kernel do: packets and their sizes, who held the socket, drops by the kernel's
//! reason, time in softirqs.

use super::{Ebpf, WATCHED, Watched, absent, encoded, failed, own_network, program, reasons};
use crate::Result;
use aya::maps::{Array, PerCpuArray, PerCpuValues};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::{Btf, EbpfLoader, include_bytes_aligned};
use std::collections::BTreeMap;

pub(super) static OBJECT: &[u8] = include_bytes_aligned!("../../bpf/stream.bpf.o");

/// A program of the object, and the tracepoint that it runs at.
const PROGRAMS: &[(&str, &str)] = &[
    ("queued", "net_dev_queue"),
    ("taken", "tcp_probe"),
    ("retransmitted", "tcp_retransmit_skb"),
    ("dropped", "kfree_skb"),
    ("entered", "softirq_entry"),
    ("left", "softirq_exit"),
];

/// The tracepoint of drops, and what all of them together are called.
const OF_DROPS: &str = "kfree_skb";
const DROPPED: &str = "dropped";

/// And those that were freed: by who gave no reason, or for another one than a drop. Some drivers free so what they have sent.
const FREED: &str = "freed";
const NO_REASON: &str = "NOT_SPECIFIED";

/// The numbers in the order of the source, each with the tracepoint without which nothing counts it.
const NUMBERS: &[(&str, &str)] = &[
    ("out-packets", "net_dev_queue"),
    ("out-bytes", "net_dev_queue"),
    ("in-packets", "tcp_probe"),
    ("in-bytes", "tcp_probe"),
    ("taken", "tcp_probe"),
    ("taken-held", "tcp_probe"),
    ("retransmitted", "tcp_retransmit_skb"),
    ("softirq-in-thread-ns", "softirq_exit"),
    ("softirq-beside-ns", "softirq_exit"),
    ("softirq-elsewhere-ns", "softirq_exit"),
];

/// As the source declares them.
/// Those that are told by the thread.
const OF_THREAD: [&str; 2] = ["softirq-in-thread-ns", "softirq-beside-ns"];

const LANES: usize = 4;
const AHEAD: usize = 16;
const SIZES: usize = 24;
const REASONS: usize = 256;
const WORDS: usize = AHEAD + 2 * SIZES + REASONS;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// By name; what nothing counts on this kernel is not there.
    pub numbers: BTreeMap<&'static str, u64>,
    /// Packets with data that went out, by the power of two of their bytes.
    pub out_sizes: Vec<u64>,
    /// The same of those that came in.
    pub in_sizes: Vec<u64>,
    /// Packets with data that were dropped, by the kernel's reason; what was freed without one is no drop.
    pub drops: BTreeMap<String, u64>,
}

impl Counted {
    /// One of the numbers.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }
}

/// The programs, loaded, and tied to their tracepoints while something is watched.
pub struct Counting {
    programs: Ebpf,
    missing: Vec<&'static str>,
    reasons: BTreeMap<u32, String>,
    tied: Vec<(&'static str, BtfTracePointLinkId)>,
}

impl Counting {
    /// Loads them. Those whose tracepoint this kernel has not, or has without what they read (the reason of kfree_skb came with
    /// Linux 5.17), are left out, and those at the tracepoints `hidden`.
    pub fn load(hidden: &[&str]) -> Result<Counting> {
        let btf = Btf::from_sys_fs().map_err(|e| failed("read", "/sys/kernel/btf/vmlinux", &e))?;
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            .load(OBJECT)
            .map_err(|e| failed("bpf(BPF_MAP_CREATE)", "programs at tracepoints", &e))?;
        let (mut missing, mut refused) = (Vec::new(), None);
        for (name, tracepoint) in PROGRAMS {
            if hidden.contains(tracepoint) {
                missing.push(*tracepoint);
            } else if let Err(error) = program(&mut programs, name)?.load(tracepoint, &btf) {
                missing.push(*tracepoint);
                refused = Some(failed("bpf(BPF_PROG_LOAD)", tracepoint, &error));
            }
        }
        match refused {
            Some(error) if missing.len() == PROGRAMS.len() => Err(error),
            _ => Ok(Counting {
                programs,
                missing,
                reasons: reasons::names().unwrap_or_default(),
                tied: Vec::new(),
            }),
        }
    }

    /// The tracepoints without a program.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    /// Begins to count what is of this connection, and of this thread on this CPU.
    pub fn begin(&mut self, watched: Watched, cpu: u32) -> Result<()> {
        self.cease()?;
        self.set_lanes([0; WORDS])?;
        self.forget_softirqs()?;
        let network = watched.network.map_or_else(own_network, Ok)?;
        self.watch(encoded(network, watched, cpu))?;
        for (name, tracepoint) in PROGRAMS.iter().filter(|(_, at)| !self.missing.contains(at)) {
            let link = program(&mut self.programs, name)?.attach();
            let link = link.map_err(|e| failed("bpf(BPF_RAW_TRACEPOINT_OPEN)", tracepoint, &e))?;
            self.tied.push((name, link));
        }
        Ok(())
    }

    /// Ends counting.
    pub fn end(&mut self) -> Result<Counted> {
        self.cease()?;
        let map = self.programs.map("lanes").ok_or_else(|| absent("lanes"))?;
        let map: Array<_, [u64; WORDS]> =
            Array::try_from(map).map_err(|e| failed("bpf(BPF_MAP_LOOKUP_ELEM)", "lanes", &e))?;
        let mut sum = [0_u64; WORDS];
        for lane in 0..LANES {
            let words = map.get(&(lane as u32), 0);
            let words = words.map_err(|e| failed("bpf(BPF_MAP_LOOKUP_ELEM)", "lanes", &e))?;
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum += word);
        }
        Ok(self.counted(&sum))
    }

    fn counted(&self, words: &[u64; WORDS]) -> Counted {
        let is_there = |tracepoint: &str| !self.missing.contains(&tracepoint);
        // By a number of another namespace no thread is known.
        let knows = super::has_first_process_ids();
        let is_known = |name: &str| knows || !OF_THREAD.contains(&name);
        let numbers = NUMBERS
            .iter()
            .zip(words)
            .filter(|((name, tracepoint), _)| is_there(tracepoint) && is_known(name));
        let (sizes, drops) = words[AHEAD..].split_at(2 * SIZES);
        let all: Vec<(u64, u32)> = drops.iter().copied().zip(0..).collect();
        let sum = |is_drop: bool| {
            all.iter()
                .filter(|(_, reason)| self.is_drop(*reason) == is_drop)
                .map(|(count, _)| count)
                .sum::<u64>()
        };
        let freed = [(DROPPED, sum(true)), (FREED, sum(false))];
        let drops =
            all.iter().filter(|(count, reason)| *count > 0 && self.is_drop(*reason) && is_there(OF_DROPS));
        let called =
            |reason: u32| self.reasons.get(&reason).cloned().unwrap_or_else(|| format!("reason {reason}"));
        let numbers = numbers.map(|((name, _), word)| (*name, *word));
        Counted {
            numbers: numbers.chain(freed.into_iter().filter(|_| is_there(OF_DROPS))).collect(),
            out_sizes: sizes[..SIZES].to_vec(),
            in_sizes: sizes[SIZES..].to_vec(),
            drops: drops.map(|(count, reason)| (called(*reason), *count)).collect(),
        }
    }

    /// Whether a packet that was freed for this was dropped: what the core of the kernel has no name for is what was consumed or not
    /// dropped yet, and the last one stands for those of its parts. Where no name is known, all are taken for drops.
    fn is_drop(&self, reason: u32) -> bool {
        let name = self.reasons.get(&reason);
        self.reasons.is_empty()
            || reason as usize >= REASONS - 1
            || name.is_some_and(|name| name != NO_REASON)
    }

    fn cease(&mut self) -> Result<()> {
        for (name, link) in std::mem::take(&mut self.tied) {
            program(&mut self.programs, name)?.detach(link).map_err(|e| failed("close", name, &e))?;
        }
        self.watch([0; WATCHED])
    }

    /// Tells the programs what is watched.
    fn watch(&mut self, value: [u8; WATCHED]) -> Result<()> {
        let map = self.programs.map_mut("watched").ok_or_else(|| absent("watched"))?;
        let mut map: Array<_, [u8; WATCHED]> =
            Array::try_from(map).map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "watched", &e))?;
        map.set(0, value, 0).map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "watched", &e))
    }

    /// One that went on while the programs were taken off has not ended for them.
    fn forget_softirqs(&mut self) -> Result<()> {
        let map = self.programs.map_mut("softirqs").ok_or_else(|| absent("softirqs"))?;
        let mut map: PerCpuArray<_, u64> =
            PerCpuArray::try_from(map).map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "softirqs", &e))?;
        let cpus = aya::util::nr_cpus().map_err(|(_, e)| failed("read", "CPUs", &e))?;
        let none = PerCpuValues::try_from(vec![0_u64; cpus]);
        let none = none.map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "softirqs", &e))?;
        map.set(0, none, 0).map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "softirqs", &e))
    }

    fn set_lanes(&mut self, words: [u64; WORDS]) -> Result<()> {
        let map = self.programs.map_mut("lanes").ok_or_else(|| absent("lanes"))?;
        let mut map: Array<_, [u64; WORDS]> =
            Array::try_from(map).map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "lanes", &e))?;
        for lane in 0..LANES {
            let set = map.set(lane as u32, words, 0);
            set.map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "lanes", &e))?;
        }
        Ok(())
    }
}
