//! Knobs of a host's own settings, one a file: what it is, what a search tries of it, where the host has it, and how it is kept.
//!
//! `linerate tune --allow host` sets them for a case, and puts back what was there. `KNOBS`, `TUNABLES`, the places that a
//! journal may name and the files that keep a setting for good read this table, and nothing else says it again.

mod busy_read;
mod governor;
mod interrupt_delay;
mod metrics_save;
mod mtu;
mod mtu_probing;
mod offload;
mod queueing;
mod queues;
mod receive_buffer_limit;
mod receive_packet_steering;
mod ring_size;
mod selective_acks;
mod send_buffer_limit;
mod slow_start_after_idle;
mod tcp_receive_buffer;
mod tcp_send_buffer;
mod window_scaling;

use super::{Had, Knob, KnobKind, Scope, Tunable};

/// One setting of a host.
#[derive(Debug, Clone, Copy)]
pub struct HostKnob {
    /// How it is set, and what it means.
    pub knob: Knob,
    /// What a search tries of it; none of what is tried along with another.
    pub tried: Option<Tunable>,
    /// Where a host has it.
    pub place: HostPlace,
    /// How it is kept for good, beyond what its place says.
    pub kept: &'static [KeptLine],
}

/// Where a host has a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPlace {
    /// A file below `/proc/sys`, and what is written there. The same is a line of `sysctl.d`.
    Sysctl(&'static str, SysctlValue),
    /// The largest packet of the interface.
    Mtu,
    /// All that the stack does for the packets of an interface.
    Offloads,
    /// The queueing discipline at the root of the interface, where it has the kernel's default.
    Queueing,
    /// Numbers of the adapter.
    Adapter(AdapterPlace),
    /// A file of each CPU.
    EachCpu(CpuPlace),
    /// A file of each of the interface's receive queues, below the queue's folder in sysfs: a mask of CPUs. On is all of them.
    EachReceiveQueue(&'static str),
}

/// What is written for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysctlValue {
    /// The value as it is.
    Same,
    /// A size, in bytes.
    Bytes,
    /// A size as the third of three numbers, which the first two do not exceed; these are the kernel's own, of 64-bit hosts.
    ThirdOf(&'static str),
    /// 1 for on.
    Switch,
    /// 1 for off.
    Inverted,
}

/// Numbers that an adapter's driver keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdapterPlace {
    /// How they are called where they are told of, and in the journal.
    pub name: &'static str,
    /// Of which of the driver's groups they are.
    pub numbers: AdapterNumbers,
    /// The ways in which adapters have them; the first that an adapter has is its own.
    pub ways: &'static [&'static [AdapterField]],
}

/// A number of an adapter, and its value; none is the one that is asked for.
pub type AdapterField = (&'static str, Option<u32>);

/// A group of numbers that ethtool(8) sets together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterNumbers {
    /// Descriptors of each queue.
    Rings,
    /// How long a packet may wait for its interrupt.
    Coalescing,
    /// Queues in use.
    Channels,
}

/// A file that each CPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuPlace {
    /// How it is called where it is told of, and in the journal.
    pub name: &'static str,
    /// The file, below the CPU's folder in sysfs.
    pub file: &'static str,
}

/// A file in which something is kept for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptIn {
    /// A part of `sysctl.d`.
    Sysctl,
    /// A `.link` of systemd.
    Link,
    /// A `.network` of systemd.
    Network,
    /// `/etc/network/interfaces`.
    Ifupdown,
    /// A connection of NetworkManager.
    NetworkManager,
    /// A part of `tmpfiles.d`.
    Tmpfiles,
}

/// What keeps a setting in one file.
#[derive(Debug, Clone, Copy)]
pub struct KeptLine {
    /// The file.
    pub file: KeptIn,
    /// What is written there: `{}` is the value.
    pub text: &'static str,
    /// How the file says each value; empty where it says them as we do.
    pub words: &'static [(&'static str, &'static str)],
}

/// Every setting of a host. Where two gain alike elsewhere, a search tries the first of them first.
pub const HOST_KNOBS: &[HostKnob] = &[
    mtu::MTU,
    offload::OFFLOAD,
    tcp_receive_buffer::TCP_RECEIVE_BUFFER,
    tcp_send_buffer::TCP_SEND_BUFFER,
    receive_buffer_limit::RECEIVE_BUFFER_LIMIT,
    send_buffer_limit::SEND_BUFFER_LIMIT,
    window_scaling::WINDOW_SCALING,
    selective_acks::SELECTIVE_ACKS,
    slow_start_after_idle::SLOW_START_AFTER_IDLE,
    metrics_save::METRICS_SAVE,
    mtu_probing::MTU_PROBING,
    queueing::QUEUEING,
    queues::QUEUES,
    receive_packet_steering::RECEIVE_PACKET_STEERING,
    ring_size::RING_SIZE,
    interrupt_delay::INTERRUPT_DELAY,
    governor::GOVERNOR,
    busy_read::BUSY_READ,
];

/// `link.mtu`, which is of a lab's links too.
pub const LINK_MTU: Knob = mtu::MTU.knob;
/// `link.offload`, which is of a lab's links too.
pub const LINK_OFFLOAD: Knob = offload::OFFLOAD.knob;

/// What the kernel keeps of a buffer's size in an int, net/ipv4/sysctl_net_ipv4.c; it takes no smaller least buffer: tcp(7), tcp_rmem.
const BUFFER: KnobKind = KnobKind::Bytes(4096, (1 << 31) - 1);

/// What a knob of a host has in common with the others.
const BASE: Knob = Knob {
    name: "",
    kind: KnobKind::Switch,
    transports: &[],
    default: "what the host has",
    harmless: None,
    had: Had::Host,
    about: "",
    source: "Documentation/networking/ip-sysctl.rst",
    hint: "linerate tune --allow host tries it, beside the host as it stands, and puts it back",
};

/// What has in common what is tried of them.
const TRIED: Tunable = Tunable { scope: Scope::Host, ..Tunable::BASE };

impl HostKnob {
    /// The knobs of all.
    pub(super) const KNOBS: [Knob; HOST_KNOBS.len()] = {
        let mut all = [BASE; HOST_KNOBS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = HOST_KNOBS[at].knob;
            at += 1;
        }
        all
    };

    /// What a search tries of them.
    pub(super) const TRIED: [Tunable; tried()] = {
        let mut all = [TRIED; tried()];
        let (mut at, mut next) = (0, 0);
        while at < HOST_KNOBS.len() {
            if let Some(tried) = HOST_KNOBS[at].tried {
                all[next] = tried;
                next += 1;
            }
            at += 1;
        }
        all
    };

    /// The setting behind a knob; none where it is none of a host's own.
    pub fn named(knob: &str) -> Option<&'static HostKnob> {
        HOST_KNOBS.iter().find(|one| one.knob.name == knob)
    }
}

const fn tried() -> usize {
    let (mut at, mut count) = (0, 0);
    while at < HOST_KNOBS.len() {
        count += HOST_KNOBS[at].tried.is_some() as usize;
        at += 1;
    }
    count
}

impl KeptIn {
    /// How the file is called beside a recording.
    pub const fn file(self) -> &'static str {
        match self {
            KeptIn::Sysctl => "90-linerate.conf",
            KeptIn::Link => "10-linerate.link",
            KeptIn::Network => "10-linerate.network",
            KeptIn::Ifupdown => "interfaces",
            KeptIn::NetworkManager => "linerate.nmconnection",
            KeptIn::Tmpfiles => "90-linerate-tmpfiles.conf",
        }
    }
}

impl KeptLine {
    /// In this file, values as we say them.
    const fn new(file: KeptIn, text: &'static str) -> KeptLine {
        KeptLine { file, text, words: &[] }
    }

    /// What keeps this value; none of one that the file has no word for.
    pub fn of_value(&self, value: &str) -> Option<String> {
        let word = match self.words {
            [] => Some(value),
            words => words.iter().find(|(known, _)| *known == value).map(|(_, word)| *word),
        };
        word.map(|word| self.text.replace("{}", word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_of_one_knob() {
        let places: Vec<String> = HOST_KNOBS.iter().map(|one| format!("{:?}", one.place)).collect();
        for (at, place) in places.iter().enumerate() {
            assert!(!places[..at].contains(place), "{}: {place} is another's too", HOST_KNOBS[at].knob.name);
        }
    }

    #[test]
    fn what_a_place_keeps_by_itself_has_no_line() {
        for one in HOST_KNOBS {
            let by_itself = matches!(one.place, HostPlace::Sysctl(..));
            assert_eq!(one.kept.is_empty(), by_itself, "{}", one.knob.name);
            assert!(one.kept.iter().all(|line| line.text.contains("{}")), "{}", one.knob.name);
            let tried = one.tried.map(|tried| tried.knobs());
            assert!(tried.is_none_or(|knobs| knobs.contains(&one.knob.name)), "{}", one.knob.name);
        }
    }
}
