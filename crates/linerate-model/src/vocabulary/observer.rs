//! What watches a host or a session around each step.

/// What an observer may need of its process that not every user has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// To run programs at the kernel's tracepoints.
    Tracing,
}

/// An observer in the listing.
#[derive(Debug)]
pub struct ObserverEntry {
    /// The name.
    pub name: &'static str,
    /// What it sees.
    pub about: &'static str,
    /// What it needs of the host; without it there is nothing of this observer on record.
    pub needs: &'static str,
    /// What it needs of its process; none where every user has it.
    pub privilege: Option<Privilege>,
    /// What it costs, and when.
    pub cost: &'static str,
    /// Where its numbers are defined.
    pub source: &'static str,
    /// How to see it.
    pub hint: &'static str,
}

/// Every observer, in the order in which they begin; they end in the opposite one.
pub const OBSERVERS: &[ObserverEntry] = &[
    ObserverEntry {
        name: "host-series",
        about: "time lines of the CPUs, the interfaces and the receive queues during a long stream",
        needs: "nothing",
        privilege: None,
        cost: "a thread that reads five files of /proc ten times a second",
        source: "proc_stat(5); /proc/net/dev; /proc/net/softnet_stat",
        hint: "linerate list sampled",
    },
    ObserverEntry {
        name: "queueing-disciplines",
        about: "what the queueing disciplines at the roots of the host's interfaces passed on, dropped, put back and held",
        needs: "nothing",
        privilege: None,
        cost: "two readings by netlink, before a step's first block and after its last",
        source: "tc(8), tc -s qdisc; include/uapi/linux/gen_stats.h",
        hint: "linerate explain queue-drops",
    },
    ObserverEntry {
        name: "cpu-quotas",
        about: "in how many periods a control group around the host's processes had used up its CPU time, and they were stopped",
        needs: "control groups with a quota of CPU time",
        privilege: None,
        cost: "two readings of cpu.stat of each such group, before a step's first block and after its last",
        source: "cgroups(7), cpu.stat; Documentation/scheduler/sched-bwc.rst",
        hint: "linerate explain throttled",
    },
    ObserverEntry {
        name: "socket-memory",
        about: "segments that a host dropped for want of memory, and how often TCP was short of it",
        needs: "nothing",
        privilege: None,
        cost: "two readings of /proc/net/netstat",
        source: "Documentation/networking/snmp_counter.rst; tcp(7), tcp_mem",
        hint: "ss -tm says what each socket holds; memory.max of a control group bounds it",
    },
    ObserverEntry {
        name: "clock",
        about: "whether a host's time of day was set, or the host slept",
        needs: "nothing",
        privilege: None,
        cost: "nine pairs of readings of two clocks, once when the agent begins and at the end of each step",
        source: "clock_gettime(2), CLOCK_REALTIME and CLOCK_MONOTONIC",
        hint: "linerate explain clock-set",
    },
    ObserverEntry {
        name: "host-counters",
        about: "CPU time, context switches, interfaces, receive queues and the counters of TCP and IP",
        needs: "nothing",
        privilege: None,
        cost: "two readings of five files of /proc, before a step's first block and after its last",
        source: "proc_stat(5); /proc/net/dev; /proc/net/softnet_stat; /proc/net/snmp",
        hint: "linerate explain softnet-drops",
    },
    ObserverEntry {
        name: "socket-series",
        about: "time lines of each TCP connection during a long stream",
        needs: "nothing",
        privilege: None,
        cost: "a thread that asks each connection ten times a second",
        source: "TCP_INFO, tcp(7); include/uapi/linux/tcp.h",
        hint: "linerate list sampled",
    },
    ObserverEntry {
        name: "sockets",
        about: "which counters of each TCP connection moved until it had sent the last, which until that was acknowledged, and its state in between",
        needs: "nothing",
        privilege: None,
        cost: "three calls a connection, before its first block and after its last, and one a millisecond while what it sent is on its way",
        source: "TCP_INFO, tcp(7); include/uapi/linux/tcp.h",
        hint: "linerate explain retransmits",
    },
];
