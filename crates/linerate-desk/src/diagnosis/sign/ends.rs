//! Signals that are read by setting the two ends of a path side by side.

use super::super::bound::of_ends;
use super::super::wire::wire;
use super::{CPU_BUSY, LONGER_US, Shown, TIMES_THE_LEAST, carried, interface_fact, percent};
use crate::analysis::expected_bps;
use crate::plan::HostId;
use crate::record::{SocketRecord, StepRecord};
use crate::unit::Nanoseconds;
use crate::vocabulary::{Does, Sign};
use serde_json::Value;
use std::collections::BTreeSet;

/// Of the acknowledgements so many are lost where the way back is to be blamed, and as many of them at least: some are always
/// on their way when the ends are read.
const ACKS_LOST: f64 = 0.02;
const LEAST_ACKS: f64 = 50.0;

/// Nothing comes any more for so much of the time that it takes to read, where a reader keeps up by its buffer alone.
const UNREAD: f64 = 0.2;

/// With less than so many segments in flight no queue makes a round trip long.
const FEW_SEGMENTS: f64 = 2.0;

/// MTUs are alike above this share of each other.
const ALIKE: f64 = 0.95;

/// Kinds of interfaces that wrap a packet in another one, as rtnetlink(7) has them in IFLA_INFO_KIND.
const TUNNELS: &[&str] = &[
    "bareudp",
    "erspan",
    "geneve",
    "gre",
    "gretap",
    "ip6erspan",
    "ip6gre",
    "ip6gretap",
    "ip6tnl",
    "ipip",
    "sit",
    "tun",
    "vti",
    "vti6",
    "vxlan",
    "wireguard",
    "xfrm",
];

/// So near is a rate of which headers alone are missing.
const ALL_BUT_HEADERS: f64 = 0.01;

/// A tunnel carries the bytes that an interface below it does: so much of them at least.
const CARRIES: f64 = 0.5;

impl Shown<'_> {
    /// That the receiver reads on when nothing comes any more: the buffers of both ends held it. Both by its own clock; the buffers
    /// of one block hold what was sent in the one before it, so that when the sender was done says nothing of it.
    pub(super) fn unread(&self) -> Option<String> {
        let of_step = |step: &&StepRecord| {
            let last_came = |socket: &SocketRecord| socket.last.get("last_data_recv").copied();
            let since_ms = of_ends(step, Does::Receives).filter_map(last_came).min()?;
            let trial = self.trials().filter(|trial| trial.step == step.step).last()?;
            let reading = trial.roles.iter().filter(|role| role.does == Does::Receives);
            let took_ns = reading.flat_map(|role| &role.flows).map(|flow| flow.duration_ns).max()?;
            Some((1e6 * since_ms as f64, took_ns as f64))
        };
        let all = self.steps.iter().filter_map(of_step);
        let (since, took) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let share = since / took;
        (share >= UNREAD)
            .then(|| format!("for {} of the time that it took to read nothing came any more", percent(share)))
    }

    /// Segments that the receiving connections sent, most of which are acknowledgements, and that did not come in.
    pub(super) fn lost_acks(&self) -> Option<String> {
        let receiver = self.layer.to.as_ref()?.single()?;
        // Within a host both ends are of the receiver's.
        let is_sender = |socket: &SocketRecord| self.senders().any(|one| std::ptr::eq(one, socket));
        let is_its = |socket: &&SocketRecord| socket.host == receiver && !socket.beside && !is_sender(socket);
        let of_receiver = self.all().filter(is_its);
        let sent = of_receiver.filter_map(|socket| socket.moved.get("segs_out")).sum::<u64>() as f64;
        let came = self.moved("segs_in");
        let lost = sent - came;
        let is_it = came > 0.0 && lost >= LEAST_ACKS && lost >= ACKS_LOST * sent;
        is_it.then(|| format!("{} of the acknowledgements did not come back", percent(lost / sent)))
    }

    /// A round trip that is long with next to nothing on its way.
    pub(super) fn late_acks(&self) -> Option<String> {
        let (taken, least) = (self.last("rtt")?, self.last("min_rtt")?);
        let flying = self.measured / 8e6 * taken;
        let is_few = flying < FEW_SEGMENTS * self.last("snd_mss")?;
        let is_it = is_few && taken >= TIMES_THE_LEAST * least && taken - least >= LONGER_US;
        let told = |us: f64| Nanoseconds(1e3 * us);
        is_it.then(|| {
            let (taken, least) = (told(taken), told(least));
            format!(
                "an acknowledgement takes {taken} with less than two segments in flight, and {least} at least"
            )
        })
    }

    /// The CPU on which both ends were put.
    pub(super) fn shared_cpu(&self) -> Option<String> {
        let machine = |host: HostId| super::super::facts::host(self.recording, host).map(|one| &one.machine);
        let shared = |step: &&StepRecord| {
            let of = |does: Does| step.roles.iter().find(|role| role.does == does);
            let (sender, receiver) = (of(Does::Sends)?, of(Does::Receives)?);
            let cpus: BTreeSet<u32> = sender.cpus.iter().chain(&receiver.cpus).copied().collect();
            let are_pinned = !sender.cpus.is_empty() && !receiver.cpus.is_empty() && cpus.len() == 1;
            let is_one = machine(sender.host)? == machine(receiver.host)?;
            cpus.first().copied().filter(|_| are_pinned && is_one)
        };
        let cpu = self.steps.iter().find_map(shared)?;
        Some(format!("both ends run on CPU {cpu}"))
    }

    /// An interface of an end that wraps what the busiest one carries.
    pub(super) fn tunnel(&self) -> Option<String> {
        self.interfaces().find_map(|(host, busiest)| {
            let carried = carried(self.steps.iter().copied(), host);
            let least = CARRIES * *carried.get(busiest)? as f64;
            let kind = |interface: &str| {
                let kind = interface_fact(self.recording, host, interface, "kind").and_then(Value::as_str);
                kind.filter(|kind| TUNNELS.contains(kind))
            };
            let mut all = carried.iter().filter(|(_, bytes)| **bytes as f64 >= least);
            let (name, kind) = all.find_map(|(name, _)| Some((name, kind(name)?)))?;
            let below = if *name == busiest { String::new() } else { format!(" over {busiest}") };
            Some(format!("{name} of {host} is a tunnel ({kind}){below}"))
        })
    }

    /// What a tunnel takes: time of a busy CPU, or its headers, where they leave just that of what is expected.
    pub(super) fn tunnel_cost(&self) -> Option<String> {
        let of_headers = || {
            let segment = self.last("snd_mss")?;
            let below = wire(self.recording, self.layer).mtu? as f64 - (self.last("pmtu")? - segment);
            let left = segment / below;
            let expected = left * expected_bps(self.recording.plan()?)?;
            let is_it = left < 1.0 && (self.measured / expected - 1.0).abs() <= ALL_BUT_HEADERS;
            is_it.then(|| {
                format!("the rate is what segments of {segment} B leave of what those of {below} B carry")
            })
        };
        self.evidence(Sign::Signal(CPU_BUSY)).or_else(of_headers)
    }

    /// The MTUs of the ends, where they are not alike.
    pub(super) fn unequal_mtus(&self) -> Option<String> {
        let mtu = |(host, interface): (HostId, &str)| {
            interface_fact(self.recording, host, interface, "mtu").and_then(Value::as_u64)
        };
        let mut ends = self.interfaces().map(mtu);
        let (from, to) = (ends.next()??, ends.next()??);
        let are_unlike = (from.min(to) as f64) < ALIKE * from.max(to) as f64;
        are_unlike.then(|| format!("an MTU of {from} B at the sender and of {to} B at the receiver"))
    }
}
