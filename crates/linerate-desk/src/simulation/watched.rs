//! What the made-up machine's connections and interfaces tell, and the signs of the causes that were put in.

use super::machine::Machine;
use crate::plan::{Case, HostId, Plan};
use crate::record::{HostDelta, HostFacts, InterfaceDelta, SocketRecord, StepRecord};
use crate::vocabulary::{Cause, Does, Sign};
use serde_json::json;

/// The interface of each host.
const INTERFACE: &str = "eth0";

/// Its MTU, a full segment, and the super-packets that cross as one.
const MTU: u64 = 1500;
const SEGMENT: u64 = 1448;
const SUPER_PACKET: u64 = 60_000;

/// What a packet takes there and back besides the delay.
const ROUND_TRIP_US: u64 = 100;

/// A window that does not bind is so many times what is in flight.
const AMPLE: u64 = 5;

/// The share of the time that is waited for what binds, in per cent; and of segments that are lost, one in so many.
const WAITED: u64 = 80;
const ONE_IN: u64 = 100;

/// Acknowledgements of a step.
const ACKS: u64 = 1000;

/// The MTU of the receiver, where it is another one.
const OTHER_MTU: u64 = 1000;

/// What a queue adds to a round trip at least.
const QUEUE_US: u64 = 6000;

/// Packet filter rules that are many.
const RULES: u64 = 1000;

/// Timestamps, selective acknowledgements and window scaling, as in `tcpi_options`.
const OPTIONS: u64 = 7;

/// What a step's stream moved.
pub struct Moved {
    /// In timed blocks.
    pub bytes: u64,
    /// Their time.
    pub ns: u64,
    /// With the warm-up.
    pub all_bytes: u64,
}

/// What the signs are put into.
struct Seen<'r> {
    sender: SocketRecord,
    receiver: SocketRecord,
    hosts: &'r mut [HostDelta],
    /// Bytes in flight.
    window: u64,
}

type Put = fn(&mut Seen);

/// How each sign shows; one that is not listed is always there, as busy CPUs, or is a fact of the hosts.
const SIGNS: &[(&str, Put)] = &[
    ("send-buffer", |seen| seen.waits("sndbuf_limited")),
    ("receive-window", |seen| {
        seen.waits("rwnd_limited");
        seen.last("snd_wnd", seen.window);
    }),
    ("congestion-window", |seen| seen.last("snd_cwnd", seen.window.div_ceil(SEGMENT))),
    ("congestion", |seen| seen.last("snd_cwnd", seen.window.div_ceil(SEGMENT))),
    ("segments-lost", |seen| {
        let lost = seen.sender.moved["data_segs_out"].div_ceil(ONE_IN);
        seen.sender.moved.insert("total_retrans".into(), lost);
    }),
    ("out-of-order", |seen| {
        seen.sender.moved.insert("reord_seen".into(), 5);
        let late = seen.sender.moved["data_segs_out"].div_ceil(ONE_IN);
        seen.receiver.moved.insert("rcv_ooopack".into(), late);
    }),
    ("no-selective-acks", |seen| seen.last("options", OPTIONS & !2)),
    ("no-window-scaling", |seen| seen.last("options", OPTIONS & !4)),
    ("paced", |seen| {
        let rate = seen.window * 1_000_000 / seen.sender.last["rtt"];
        seen.last("max_pacing_rate", rate);
    }),
    ("small-segments", |seen| seen.last("snd_mss", 500)),
    ("acks-lost", |seen| {
        seen.sender.moved.insert("segs_in".into(), ACKS / 2);
        seen.receiver.moved.insert("segs_out".into(), ACKS);
    }),
    ("late-acks", |seen| {
        let late = 4 * seen.sender.last["rtt"] + QUEUE_US;
        // So fast a machine has little in flight only of huge segments.
        seen.last("snd_mss", seen.window * late / seen.sender.last["rtt"].max(1));
        seen.last("rtt", late);
    }),
    ("idle-sender", |seen| {
        let busy = seen.sender.moved["busy_time"] / 10;
        seen.sender.moved.insert("busy_time".into(), busy);
    }),
    ("idle-restarts", |seen| {
        let busy = seen.sender.moved["busy_time"] / 10;
        seen.sender.moved.insert("busy_time".into(), busy);
        // A made-up message takes microseconds.
        seen.last("rto", 1);
    }),
    ("unread-data", |seen| {
        let half_ms = seen.sender.watched_ns / 2_000_000;
        seen.receiver.last.insert("last_data_recv".into(), half_ms);
    }),
    ("foreign-bytes", |seen| {
        // As much again for somebody else.
        let interfaces = seen.hosts.iter_mut().flat_map(|host| &mut host.interfaces);
        interfaces.for_each(|interface| {
            interface.rx_bytes *= 2;
            interface.rx_packets *= 2;
        });
    }),
    ("socket-memory", |seen| {
        for host in &mut *seen.hosts {
            host.counters.insert("tcp.TCPRcvQDrop".into(), 5);
        }
    }),
    ("small-packets", |seen| {
        let interfaces = seen.hosts.iter_mut().flat_map(|host| &mut host.interfaces);
        interfaces.for_each(|interface| interface.rx_packets = interface.rx_bytes.div_ceil(MTU));
    }),
    ("host-drops", |seen| {
        let interfaces = seen.hosts.iter_mut().flat_map(|host| &mut host.interfaces);
        interfaces.for_each(|interface| interface.drops = interface.rx_packets.div_ceil(ONE_IN));
    }),
    ("standing-queue", |seen| {
        let (idle, rtt) = (seen.sender.last["rtt"], 4 * seen.sender.last["rtt"] + QUEUE_US);
        seen.last("rtt", rtt);
        // What stands in the queue is in flight, too.
        seen.window = seen.window * rtt / idle.max(1);
    }),
    ("throttled", |seen| {
        for host in &mut *seen.hosts {
            host.counters.insert("quota.user.slice.throttled".into(), 5);
            host.counters.insert("quota.user.slice.periods".into(), 10);
        }
    }),
];

/// The share of a trial for which another thread has the CPU, where that is a sign.
const DISTURBED: f64 = 0.3;

impl Seen<'_> {
    fn waits(&mut self, counter: &str) {
        let waited = self.sender.moved["busy_time"] * WAITED / 100;
        self.sender.moved.insert(counter.into(), waited);
    }

    fn last(&mut self, name: &str, value: u64) {
        self.sender.last.insert(name.into(), value);
    }
}

/// Adds what the connection and the interfaces tell.
pub fn add(record: &mut StepRecord, moved: &Moved, machine: &Machine, plan: &Plan) {
    let case = record.case.clone();
    let host =
        |does: Does| record.roles.iter().find(|role| role.does == does).map(|role| (role.host, role.worker));
    let (Some(from), Some(to)) = (host(Does::Sends), host(Does::Receives)) else { return };
    let rtt_us = ROUND_TRIP_US + (machine.round_trip_ns(&case) / 1e3) as u64;
    let window = (moved.bytes as f64 * 1e3 * rtt_us as f64 / moved.ns.max(1) as f64).max(1.0) as u64;
    for delta in &mut record.hosts {
        let (rx_bytes, tx_bytes) =
            if delta.host == to.0 { (moved.all_bytes, 0) } else { (0, moved.all_bytes) };
        delta.interfaces.push(InterfaceDelta {
            name: INTERFACE.into(),
            rx_bytes,
            tx_bytes,
            rx_packets: rx_bytes.div_ceil(SUPER_PACKET),
            tx_packets: tx_bytes.div_ceil(SUPER_PACKET),
            ..InterfaceDelta::default()
        });
    }
    let mut seen = Seen {
        sender: sender(from, moved, (rtt_us, window)),
        receiver: SocketRecord { host: to.0, worker: to.1, ..SocketRecord::default() },
        hosts: &mut record.hosts,
        window,
    };
    seen.receiver.moved.insert("bytes_received".into(), moved.all_bytes);
    for put in signs(machine, plan, &case).filter_map(|sign| of_sign(&sign)) {
        put(&mut seen);
    }
    let (sender, receiver) = (seen.sender, seen.receiver);
    record.sockets.extend([sender, receiver]);
}

/// A connection of which nothing binds.
fn sender((host, worker): (HostId, u32), moved: &Moved, (rtt_us, window): (u64, u64)) -> SocketRecord {
    let counters = [
        ("busy_time", moved.ns / 1000),
        ("data_segs_out", moved.all_bytes.div_ceil(SEGMENT)),
        ("bytes_sent", moved.all_bytes),
    ];
    let levels = [
        ("options", OPTIONS),
        ("snd_mss", SEGMENT),
        ("pmtu", MTU),
        ("rtt", rtt_us),
        ("min_rtt", rtt_us),
        ("snd_cwnd", (AMPLE * window).div_ceil(SEGMENT)),
        ("snd_wnd", AMPLE * window),
        ("max_pacing_rate", u64::MAX),
    ];
    let named = |all: &[(&str, u64)]| all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    SocketRecord {
        host,
        worker,
        watched_ns: moved.ns,
        moved: named(&counters),
        last: named(&levels),
        ..SocketRecord::default()
    }
}

/// The signs of the causes that hold a case back.
fn signs<'m>(machine: &'m Machine, plan: &'m Plan, case: &'m Case) -> impl Iterator<Item = Sign> + 'm {
    let holding = machine.holding(plan, case);
    holding.filter_map(|one| Cause::named(&one.cause)).flat_map(|cause| cause.signs).copied()
}

/// The share of a trial for which another thread has its CPU.
pub fn disturbed(machine: &Machine, plan: &Plan, case: &Case) -> f64 {
    let is_put_off = signs(machine, plan, case).any(|sign| sign == Sign::Signal("cpu-wait"));
    if is_put_off { DISTURBED } else { 0.0 }
}

fn of_sign(sign: &Sign) -> Option<Put> {
    SIGNS.iter().find(|(name, _)| *name == sign.name()).map(|(_, put)| *put)
}

/// The interface of a host, and its offloads.
pub fn wire(host: &mut HostFacts, machine: &Machine, plan: &Plan) {
    let case = Case::default();
    let shows = |name: &'static str| signs(machine, plan, &case).any(|sign| sign == Sign::Signal(name));
    let is_bare = shows("offloads-off");
    let (sends, receives) = (shows("segmentation-off"), shows("receive-offload-off"));
    let offloads =
        json!({ "tso": !is_bare && !sends, "gso": !is_bare && !sends, "gro": !is_bare && !receives });
    let is_other = shows("mtus-differ") && plan.hosts.first().is_some_and(|first| first.id != host.host);
    let mtu = if is_other { OTHER_MTU } else { MTU };
    let kind = if shows("tunnel") { json!("vxlan") } else { json!(null) };
    let facts = [("kind", kind), ("mtu", json!(mtu)), ("offloads", offloads)];
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    host.environment.interfaces.insert(INTERFACE.into(), facts);
    let most = if shows("send-buffer-full") { 4096_u64 } else { 1 << 40 };
    let rules = if shows("filter-rules") { RULES } else { 0 };
    host.environment.stack.insert("netfilter.nftables_rules".into(), json!(rules));
    host.environment.stack.insert("net.ipv4.tcp_slow_start_after_idle".into(), json!(1));
    let first = if shows("small-initial-window") { vec!["10.0.0.0/8 dev eth0 InitCwnd(2)"] } else { vec![] };
    host.environment.stack.insert("routes".into(), json!({ "with_metrics": first }));
    host.environment.stack.insert("net.ipv4.tcp_wmem".into(), json!([4096, 4096, most]));
}
