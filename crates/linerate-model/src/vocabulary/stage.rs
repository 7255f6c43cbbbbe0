//! Where a message is on its way from the call that sends it to the return of the call that receives it: the points at
//! which it is stamped, and the stages between them.

/// A point of the way at which a host takes a time.
#[derive(Debug)]
pub struct Point {
    /// The name in recordings.
    pub name: &'static str,
    /// Where the stamp is taken.
    pub taken: &'static str,
    /// Whether a message may pass without it: a receiver that does not sleep is not woken.
    pub is_optional: bool,
}

const fn point(name: &'static str, taken: &'static str) -> Point {
    Point { name, taken, is_optional: false }
}

/// The program calls send().
pub const SEND: Point = point("send", "by the program, before send(2)");
/// The socket is locked.
pub const LOCKED: Point = point("locked", "tracepoint tcp_sendmsg_locked (Linux 6.18)");
/// TCP and IP are done with it.
pub const QUEUED: Point = point("queued", "SO_TIMESTAMPING, TX_SCHED; tracepoint net_dev_queue");
/// The driver has it.
pub const TRANSMITTED: Point =
    point("transmitted", "SO_TIMESTAMPING, TX_SOFTWARE; tracepoint net_dev_start_xmit");
/// It has come to the other host.
pub const ARRIVED: Point =
    point("arrived", "SO_TIMESTAMPING, RX_SOFTWARE; tracepoints netif_rx and napi_gro_receive_entry");
/// Its softirq gives it to IP.
pub const RECEIVED: Point = point("received", "tracepoint netif_receive_skb");
/// IP has found its socket.
pub const PROBED: Point = point("probed", "tracepoint tcp_probe");
/// It is in the socket's queue.
pub const READY: Point = point("ready", "tracepoint sk_data_ready (Linux 6.3)");
/// The receiver is about to be woken.
pub const WAKING: Point =
    Point { is_optional: true, ..point("waking", "tracepoint sched_waking of the receiving thread") };
/// It may run.
pub const WOKEN: Point =
    Point { is_optional: true, ..point("woken", "tracepoint sched_wakeup of the receiving thread") };
/// It has the CPU.
pub const RUNNING: Point =
    Point { is_optional: true, ..point("running", "tracepoint sched_switch to the receiving thread") };
/// The program has it.
pub const RETURNED: Point = point("returned", "by the program, after recv(2)");

/// The points of a message on its way out, in their order.
pub const OUT: &[&Point] = &[&SEND, &LOCKED, &QUEUED, &TRANSMITTED];

/// The points of a message on its way in, in their order.
pub const IN: &[&Point] = &[&ARRIVED, &RECEIVED, &PROBED, &READY, &WAKING, &WOKEN, &RUNNING, &RETURNED];

/// How much of the way is seen.
#[derive(Debug)]
pub struct TraceLevel {
    /// Its number.
    pub number: u8,
    /// What is read, and what that asks for.
    pub reads: &'static str,
    /// What it cannot see, and why.
    pub blind: &'static str,
    /// What is read of a stream.
    pub reads_of_streams: &'static str,
    /// What cannot be seen of a stream, and why.
    pub blind_to_streams: &'static str,
}

/// Every level, the one that any user has first.
pub const TRACE_LEVELS: &[TraceLevel] = &[
    TraceLevel {
        number: 0,
        reads: "the program's stamps, SO_TIMESTAMPING and schedstat, which any user may",
        blind: "where within send-call and within receive time goes: no socket option stamps the lock, TCP, IP or the wake-up; between two \
                hosts of one machine the arrival is stamped behind the packet filters of input, which then are in wire",
        reads_of_streams: "tcp_info, schedstat, the interface's and the queue's counters, which any user may",
        blind_to_streams: "who holds the socket, sizes of packets, reasons of drops and softirqs: no counter that any user may read tells them",
    },
    TraceLevel {
        number: 1,
        reads: "the program's stamps, and programs at the kernel's tracepoints, which asks for CAP_BPF and CAP_PERFMON",
        blind: "what within a stage takes the time: no function is traced, and an interrupt is part of the stage that it falls into",
        reads_of_streams: "what any user may, and programs that count at the kernel's tracepoints, which asks for CAP_BPF and CAP_PERFMON",
        blind_to_streams: "what within a call takes the CPU: no function is sampled",
    },
    TraceLevel {
        number: 2,
        reads: "the program's stamps, and records of the kernel's tracepoints in rings of perf_event_open(2), which asks for root and \
                tracefs, and for no BTF",
        blind: "what level 1 does not see; datagrams, and messages that go out when the sending thread is not on its CPU: a record names \
                no port but that of tcp_probe; below a VLAN or a bond, what its device does",
        reads_of_streams: "nothing: level 1 counts streams",
        blind_to_streams: "a stream: its packets are too many for records of each",
    },
];

/// A part of the way.
#[derive(Debug)]
pub struct Stage {
    /// The name in tables and JSON.
    pub name: &'static str,
    /// What goes on there.
    pub about: &'static str,
    /// The point at which it begins; none where any before it will do.
    pub from: Option<&'static Point>,
    /// The point at which it ends; none of what is no time between two points of a host.
    pub to: Option<&'static Point>,
    /// How it is told where `from` and `to` do not say it.
    pub formula: &'static str,
    /// The least level at which it is seen.
    pub level: u8,
    /// What lies there where it is long.
    pub hint: &'static str,
}

/// What the program of the other host takes.
pub const APPLICATION: &Stage = &Stage {
    name: "application",
    about: "the answering program between its recv() and its send()",
    from: Some(&RETURNED),
    to: Some(&SEND),
    formula: "",
    level: 0,
    hint: "it holds what the trace itself does there: beside 1 µs see the program",
};

/// What is left between the hosts.
pub const WIRE: &Stage = &Stage {
    name: "wire",
    about: "between the driver of one host and the arrival at the other, there and back: drivers, adapters, links, switches",
    from: None,
    to: None,
    formula: "the time from transmitted to arrived at the asking host, less that from arrived to transmitted at the other: no \
              clock of one host is held against that of the other",
    level: 0,
    hint: "linerate explain coalescing; see delay and switches of the path",
};

/// What is not this host's, of a program that is traced from outside.
pub const BEYOND: &Stage = &Stage {
    name: "beyond",
    about: "from the driver to the next arrival, of a running program (trace --pid): the network, the other host and its program",
    from: Some(&TRANSMITTED),
    to: Some(&ARRIVED),
    formula: "",
    level: 1,
    hint: "trace a connection of linerate between the same hosts: it tells the wire from the other host",
};

/// The receiver could run and did not.
pub const RUN_QUEUE: &Stage = &Stage {
    name: "run-queue",
    about: "the receiving thread could run, and another one had the CPU",
    from: None,
    to: Some(&RUNNING),
    formula: "level 0: what /proc/thread-self/schedstat counted meanwhile, at most the stage that it is taken out of",
    level: 0,
    hint: "another process is on the receiver's CPU: linerate explain foreign-cpu",
};

/// Every stage in the order of the way; of one point to the next the first that fits is the name.
pub const STAGES: &[&Stage] = &[
    &Stage {
        name: "send-call",
        about: "from the call of send() to the queueing discipline: system call, socket lock, copy, TCP or UDP, and IP out",
        from: Some(&SEND),
        to: Some(&QUEUED),
        formula: "",
        level: 0,
        hint: "a message that TCP holds back waits here: --set tcp.no-delay=on; a full send buffer too",
    },
    &Stage {
        name: "socket-lock",
        about: "system call and the lock of the socket",
        from: Some(&SEND),
        to: Some(&LOCKED),
        formula: "",
        level: 1,
        hint: "who else uses this socket, or receives on it in a softirq?",
    },
    &Stage {
        name: "protocol-out",
        about: "copy from the program, TCP and IP out",
        from: None,
        to: Some(&QUEUED),
        formula: "",
        level: 1,
        hint: "a message that TCP holds back waits here: --set tcp.no-delay=on; packet filters of output too",
    },
    &Stage {
        name: "queue",
        about: "queueing discipline, until the driver takes it",
        from: None,
        to: Some(&TRANSMITTED),
        formula: "",
        level: 0,
        hint: "tc -s qdisc; linerate explain queue-drops",
    },
    WIRE,
    &Stage {
        name: "receive",
        about: "from the packet's arrival to the return of recv(): softirq, IP and TCP in, wake-up, switch, copy",
        from: Some(&ARRIVED),
        to: Some(&RETURNED),
        formula: "less run-queue",
        level: 0,
        hint: "waking a sleeping CPU is most of it as a rule: compare sleeping and polling; packet filters of input are here too",
    },
    &Stage {
        name: "softirq",
        about: "from the packet's arrival until its softirq gives it to IP",
        from: Some(&ARRIVED),
        to: Some(&RECEIVED),
        formula: "",
        level: 1,
        hint: "is the CPU of that softirq busy? linerate explain softnet-drops",
    },
    &Stage {
        name: "ip-in",
        about: "IP, packet filters of input, and the search for the socket",
        from: None,
        to: Some(&PROBED),
        formula: "",
        level: 1,
        hint: "how many rules does a packet meet? docs/method/packet-filter.md",
    },
    &Stage {
        name: "protocol-in",
        about: "TCP in, until it is in the socket's queue; of datagrams IP, packet filters of input and UDP in",
        from: None,
        to: Some(&READY),
        formula: "",
        level: 1,
        hint: "a socket that its program holds locked takes it later",
    },
    &Stage {
        name: "wake-call",
        about: "from the socket's queue to the call that wakes the receiver",
        from: None,
        to: Some(&WAKING),
        formula: "",
        level: 1,
        hint: "many that wait on one socket are all looked at",
    },
    &Stage {
        name: "wake-up",
        about: "the receiver's CPU is told, wakes up and takes the thread into its queue",
        from: None,
        to: Some(&WOKEN),
        formula: "",
        level: 1,
        hint: "an idle CPU sleeps deeply: compare polling, see the idle states (cpuidle)",
    },
    RUN_QUEUE,
    &Stage {
        name: "return",
        about: "switch to the receiver, copy to the program, return of recv()",
        from: None,
        to: Some(&RETURNED),
        formula: "",
        level: 1,
        hint: "cold caches after a sleep: compare polling",
    },
    APPLICATION,
    BEYOND,
];

/// The stage between two points.
pub fn stage_between(from: &str, to: &str) -> Option<&'static Stage> {
    let is = |point: Option<&Point>, name: &str| point.is_some_and(|point| point.name == name);
    let exact = |stage: &&&Stage| is(stage.from, from) && is(stage.to, to);
    let by_end = |stage: &&&Stage| stage.from.is_none() && is(stage.to, to);
    STAGES.iter().find(exact).or_else(|| STAGES.iter().find(by_end)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_way_has_a_stage() {
        for way in [OUT, IN] {
            for (place, to) in way.iter().enumerate().skip(1) {
                for from in &way[..place] {
                    assert!(stage_between(from.name, to.name).is_some(), "{} to {}", from.name, to.name);
                }
            }
        }
        let named = |from: &str, to: &str| stage_between(from, to).map(|stage| stage.name);
        assert_eq!(named("send", "queued"), Some("send-call"));
        assert_eq!(named("locked", "queued"), Some("protocol-out"));
        assert_eq!(
            (named("arrived", "returned"), named("running", "returned")),
            (Some("receive"), Some("return"))
        );
        assert_eq!(named("returned", "send"), Some("application"));
    }
}
