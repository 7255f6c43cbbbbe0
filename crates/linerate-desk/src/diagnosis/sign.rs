//! What a path shows that speaks of a cause: bounds near the rate, signals of its connections and hosts, warnings.

mod ends;
mod rest;

use super::bound::{Bound, MOSTLY, NEAR, senders, stream_steps};
use super::doubt::Finding;
use super::facts::{busiest_interface, carried, interface_fact};
use super::wire::wire;
use crate::analysis::{Layer, SHORT};
use crate::plan::{HostId, View};
use crate::record::{Recording, SocketRecord, StepRecord, Trial};
use crate::statistic::median;
use crate::unit::{BitRate, Bytes, Nanoseconds, percent, significant};
use crate::vocabulary::{Cause, NOTHING_PASSES, Sign};
use serde_json::Value;

/// A bound is a sign where the rate is more than this share of it: a wait of less of the time is no sign of what binds.
const LEAST_SHARE: f64 = 0.3;

/// Of the congestion window no counter says that it was waited for. Where it binds it is full: the mean of a window that is
/// halved and grows again is 0.75 of the most that it becomes.
const CONGESTION_WINDOW: &str = "congestion-window";
const LEAST_IN_FLIGHT: f64 = 0.6;

/// That of a window that the receiver opens.
const RECEIVE_WINDOW: &str = "receive-window";

/// The bounds of threads that have a CPU each.
const SENDER_CPU: &str = "sender-cpu";
const RECEIVER_CPU: &str = "receiver-cpu";

/// Of the segments that carry data so many are lost, or out of order, where a path is to be blamed for it.
pub(super) const LOST: f64 = 1e-4;
const DISORDERED: f64 = 1e-3;

/// The factor of the rate that losses leave which come each for itself; bursts of eight leave the root of that times as much, and
/// Cubic half as much again: more than that is no loss by chance.
const MATHIS: f64 = 1.22;
const TOO_MUCH: f64 = 5.5;

/// What is a sign only where a measuring thread does the work, and what a tunnel takes, which may be such work.
const CPU_BUSY: &str = "cpu-busy";
const TUNNEL_COST: &str = "tunnel-cost";

/// Data is outstanding in less than this share of the time where the sender has often nothing to send.
pub(super) const BUSY: f64 = 0.8;

/// A packet is one of its own and no super-packet up to so many times the MTU.
const SUPER: f64 = 1.5;

/// A segment is small where it is less than this share of what the path takes; headers of IPv4 and TCP with timestamps.
const SMALL: f64 = 0.8;
const HEADERS: f64 = 52.0;

/// So many packet filter rules are many, and so many packets that a host drops.
const MANY_RULES: u64 = 256;
const DROPPED: f64 = 1e-5;

/// What counts the rules of a host.
const FILTERS: [&str; 2] = ["netfilter.nftables_rules", "netfilter.iptables_entries"];

/// The MTU that nobody set, and a round trip that a queue makes long: so many times the least one, and longer by so much.
const STANDARD_MTU: u64 = 1500;
pub(super) const TIMES_THE_LEAST: f64 = 3.0;
pub(super) const LONGER_US: f64 = 5e3;

/// A send buffer is full with so much of it in flight: the kernel counts what surrounds the payload, too.
pub(super) const FULL: f64 = 0.5;

/// The knob of that buffer, and the setting that bounds it where nobody sets it: least, usual, most.
const SEND_BUFFER: &str = "socket.send-buffer";
const SEND_BUFFERS: &str = "net.ipv4.tcp_wmem";

/// Options that the ends agreed on, in `tcpi_options` (include/uapi/linux/tcp.h).
pub(super) const SACK: u64 = 2;
pub(super) const WINDOW_SCALING: u64 = 4;

/// A rate that no limit is set to: the kernel's own word for none is all ones.
pub(super) const NO_LIMIT: f64 = 1e18;

/// How each signal is read; one for each entry of the vocabulary's table, in its order.
const READ: &[(&str, Reading)] = &[
    ("acks-lost", |path| path.lost_acks()),
    ("congestion", |path| {
        let of_full =
            [Sign::Bound(CONGESTION_WINDOW), Sign::Signal("segments-lost"), Sign::Signal("standing-queue")];
        of_full.into_iter().find_map(|sign| path.evidence(sign))
    }),
    ("cpu-busy", |path| {
        let busy = path.bounds.iter().filter(|bound| [SENDER_CPU, RECEIVER_CPU].contains(&bound.name));
        busy.filter(|bound| path.is_near(bound)).map(|bound| bound.evidence.clone()).next()
    }),
    ("cpu-wait", |path| path.waits_for_cpu()),
    ("ends-share-cpu", |path| path.shared_cpu()),
    ("filter-rules", |path| {
        let (host, rules) = path.filter_rules().find(|(_, rules)| *rules >= MANY_RULES)?;
        Some(format!("{rules} packet filter rules on {host}"))
    }),
    ("host-drops", |path| {
        let (dropped, packets) = path.dropped()?;
        (dropped / packets >= DROPPED)
            .then(|| format!("{} of the packets were dropped by a host", percent(dropped / packets)))
    }),
    ("idle-restarts", |path| path.restarts()),
    ("idle-sender", |path| {
        let share = 1.0 - path.rested_ns()? / path.watched_ns()?;
        (share < BUSY).then(|| format!("data was outstanding in {} of the time", percent(share)))
    }),
    ("late-acks", |path| path.late_acks()),
    ("less-than-expected", |path| {
        let expected = path.expected?;
        let is_less = path.measured < SHORT * expected;
        is_less.then(|| format!("{} where {} is expected", BitRate(path.measured), BitRate(expected)))
    }),
    ("low-priority", |path| path.low_priority()),
    ("mtus-differ", |path| path.unequal_mtus()),
    ("no-selective-acks", |path| path.lacks(SACK, "no selective acknowledgements were agreed on")),
    ("no-window-scaling", |path| path.lacks(WINDOW_SCALING, "no window scaling was agreed on")),
    (NOTHING_PASSES, |path| path.failure()),
    ("offloads-off", |path| {
        let (host, interface) = path.interfaces().find(|(host, interface)| path.is_bare(*host, interface))?;
        Some(format!("TSO, GSO and GRO are off on {interface} of {host}"))
    }),
    ("out-of-order", |path| {
        let of_all = |name: &str| path.all().filter_map(|socket| socket.moved.get(name)).sum::<u64>() as f64;
        let share = of_all("rcv_ooopack") / path.moved("data_segs_out");
        // Without selective acknowledgements a sender takes what a loss leaves behind it for the same.
        let tells = path.lacks(SACK, "").is_none();
        let is_seen = tells && share >= DISORDERED && path.moved("reord_seen") > 0.0;
        is_seen.then(|| format!("{} of the segments came out of order", percent(share)))
    }),
    ("paced", |path| {
        let bps = 8.0 * path.last("max_pacing_rate").filter(|rate| *rate < NO_LIMIT)?;
        let is_near = (path.measured / bps - 1.0).abs() <= NEAR;
        is_near.then(|| format!("the socket sends at most {}", BitRate(bps)))
    }),
    ("receive-offload-off", |path| {
        let (host, interface) = path.interfaces().last()?;
        let is_it = path.is_off(host, interface, &["gro"]) && !path.is_bare(host, interface);
        is_it.then(|| format!("GRO is off on {interface} of {host}"))
    }),
    ("segmentation-off", |path| {
        let (host, interface) = path.interfaces().next()?;
        let is_it = path.is_off(host, interface, &["tso", "gso"]) && !path.is_bare(host, interface);
        is_it.then(|| format!("TSO and GSO are off on {interface} of {host}"))
    }),
    ("segments-lost", |path| {
        let share = path.moved("total_retrans") / path.moved("data_segs_out");
        (share >= LOST).then(|| format!("{} of the segments were sent again", percent(share)))
    }),
    ("send-buffer-full", |path| {
        let flying = path.measured / 8e9 * 1e3 * path.last("rtt")?;
        let buffer = path.send_buffer()?;
        let is_full = flying >= FULL * buffer;
        is_full.then(|| format!("{} in flight, of a send buffer of {}", kib(flying), kib(buffer)))
    }),
    ("small-initial-window", |path| path.small_initial_window()),
    ("small-packets", |path| {
        let mtu = wire(path.recording, path.layer).mtu? as f64;
        let (bytes, packets) = path.received()?;
        let each = bytes / packets;
        (each <= SUPER * mtu).then(|| format!("packets of {} B crossed one by one", significant(each, 2)))
    }),
    ("small-segments", |path| {
        let (segment, path_mtu) = (path.last("snd_mss")?, path.last("pmtu")?);
        let is_small = segment < SMALL * (path_mtu - HEADERS);
        is_small.then(|| format!("segments of {segment} B on a path of {path_mtu} B"))
    }),
    ("socket-memory", |path| path.socket_memory()),
    ("standard-mtu", |path| {
        let mtu = wire(path.recording, path.layer).mtu?;
        (mtu <= STANDARD_MTU).then(|| format!("packets of {mtu} B at most"))
    }),
    ("standing-queue", |path| {
        let (loaded, least) = (path.last("rtt")?, path.last("min_rtt")?);
        let is_long = loaded >= TIMES_THE_LEAST * least && loaded - least >= LONGER_US;
        let told = |us: f64| Nanoseconds(1e3 * us);
        is_long
            .then(|| format!("a round trip takes {} under load, and {} at least", told(loaded), told(least)))
    }),
    ("tunnel", |path| path.tunnel()),
    (TUNNEL_COST, |path| path.tunnel_cost()),
    ("unread-data", |path| path.unread()),
];

pub(super) fn kib(bytes: f64) -> String {
    Bytes((bytes / 1024.0).round() as u64 * 1024).to_string()
}

type Reading = fn(&Shown) -> Option<String>;

/// What the path shows as it stands.
pub(super) struct Shown<'r> {
    recording: &'r Recording,
    layer: &'r Layer,
    bounds: &'r [Bound],
    findings: Vec<&'r Finding>,
    /// The rate at the ladder's size.
    measured: f64,
    /// The rate that somebody expects.
    expected: Option<f64>,
    steps: Vec<&'r StepRecord>,
}

impl<'r> Shown<'r> {
    /// What a layer shows, by its place in the analysis.
    pub fn of_layer(
        recording: &'r Recording,
        (at, layer): (usize, &'r Layer),
        bounds: &'r [Bound],
        findings: &'r [Finding],
    ) -> Option<Shown<'r>> {
        let measured = layer.throughput_bps?.median;
        let of_layer = |finding: &&Finding| finding.layer.is_none_or(|layer| layer == at);
        let findings = findings.iter().filter(of_layer).collect();
        let expected = recording.plan().and_then(|plan| match &plan.view {
            View::Comparison { design, .. } => design.against_bps,
            _ => None,
        });
        let steps = stream_steps(recording, layer);
        Some(Shown { recording, layer, bounds, findings, measured, expected, steps })
    }

    /// What is seen of a sign; none where it is not there.
    pub fn evidence(&self, sign: Sign) -> Option<String> {
        match sign {
            Sign::Bound(name) => {
                let bound = self.bounds.iter().find(|bound| bound.name == name)?;
                self.is_near(bound).then(|| bound.evidence.clone())
            }
            Sign::Signal(name) => {
                READ.iter().find(|(known, _)| *known == name).and_then(|(_, read)| read(self))
            }
            Sign::Warning(code) => {
                let finding = self.findings.iter().find(|finding| finding.code == code)?;
                Some(finding.text())
            }
        }
    }

    /// Whether a sign says by itself that it explains the rate.
    pub fn explains(&self, sign: Sign) -> bool {
        let explains = |bound: &&Bound| bound.name == sign.name() && bound.explains;
        matches!(sign, Sign::Bound(_)) && self.bounds.iter().any(|bound| explains(&bound))
    }

    /// Whether the connections told nothing, so that the lack of a sign says nothing either.
    pub fn is_blind(&self) -> bool {
        self.all().next().is_none()
    }

    /// Whether a cause is worth an experiment, or to be named without one.
    pub fn is_suspect(&self, cause: &Cause) -> bool {
        // Where this is asked something has passed.
        if cause.stops_all() {
            return false;
        }
        let is_seen = |sign: &Sign| self.evidence(*sign).is_some();
        if cause.experiments.is_empty() {
            return cause.signs.iter().all(is_seen);
        }
        let is_blind = self.is_blind();
        !cause.against.iter().any(is_seen) && (is_blind || cause.signs.iter().any(is_seen))
    }

    /// Whether all that speaks of a fault is there but for a busy CPU of the ends, where nothing could be changed: the work may
    /// be another thread's than those that are watched.
    pub fn is_half_told(&self, cause: &Cause) -> bool {
        let elsewhere = || cause.signs.iter().filter(|sign| ![CPU_BUSY, TUNNEL_COST].contains(&sign.name()));
        let is_of_cpu = elsewhere().count() < cause.signs.len();
        cause.is_fault
            && cause.experiments.is_empty()
            && is_of_cpu
            && elsewhere().all(|sign| self.evidence(*sign).is_some())
    }

    /// What says that losses do not come each for itself: then the rate could not be so much, by M. Mathis et al., Computer
    /// Communication Review 27 (1997).
    pub fn losses_in_bursts(&self) -> Option<String> {
        // The law is of those that give way at each loss.
        let is_other = |one: &SocketRecord| {
            one.congestion_control.as_deref().is_some_and(|name| name.starts_with("bbr"))
        };
        // What is overtaken is sent again too, and was not lost.
        let is_overtaken = self.evidence(Sign::Signal("out-of-order")).is_some();
        if is_overtaken || self.senders().any(is_other) {
            return None;
        }
        let share = self.moved("total_retrans") / self.moved("data_segs_out");
        let (segment, least_us) = (self.last("snd_mss")?, self.last("min_rtt")?);
        let alone = MATHIS * 8e6 * segment / (least_us * share.sqrt());
        let is_it = share >= LOST && alone.is_finite() && self.measured >= TOO_MUCH * alone;
        is_it.then(|| {
            format!(
                "{} of the segments sent again, each for itself, would leave {}",
                percent(share),
                BitRate(alone).rounded(2)
            )
        })
    }

    fn is_near(&self, bound: &Bound) -> bool {
        // Of a CPU that others have, too, what is left binds.
        let least = match bound.name {
            CONGESTION_WINDOW => LEAST_IN_FLIGHT,
            SENDER_CPU => LEAST_SHARE * (1.0 - self.waited(false)),
            RECEIVER_CPU => LEAST_SHARE * (1.0 - self.waited(true)),
            RECEIVE_WINDOW if !self.waits_for_window() => return false,
            _ => LEAST_SHARE,
        };
        self.measured >= least * bound.bps
    }

    /// Whether the receive window was waited for, where a counter says: a window that is never waited for holds nothing back, and one
    /// behind a busy receiver is what that leaves of it, unless it was waited for most of the time.
    fn waits_for_window(&self) -> bool {
        let is_full = |bound: &Bound| bound.name == RECEIVER_CPU && self.measured >= BUSY * bound.bps;
        let least = if self.bounds.iter().any(is_full) { MOSTLY } else { LEAST_SHARE };
        let busy = self.moved("busy_time");
        busy <= 0.0 || self.moved("rwnd_limited") >= least * busy
    }

    fn all(&self) -> impl Iterator<Item = &'r SocketRecord> {
        self.steps.iter().flat_map(|step| &step.sockets)
    }

    fn senders(&self) -> impl Iterator<Item = &'r SocketRecord> {
        self.steps.iter().flat_map(|step| senders(step))
    }

    /// How far a counter of the sending connections moved until all was acknowledged.
    fn moved(&self, name: &str) -> f64 {
        self.senders().map(|socket| socket.until_acknowledged(name) as f64).sum()
    }

    /// The median over the sending connections of what each had at the end.
    fn last(&self, name: &str) -> Option<f64> {
        median(self.senders().filter_map(|socket| socket.last.get(name)).map(|value| *value as f64))
    }

    /// The most that the sender's buffer may become: what was set of it, or else what its host allows.
    fn send_buffer(&self) -> Option<f64> {
        let host = self.layer.from.as_ref()?.single()?;
        let of_base =
            self.recording.sessions.iter().filter(|session| session.arm == 0 && session.host == host);
        let granted =
            of_base.flat_map(|session| &session.granted).filter(|granted| granted.knob == SEND_BUFFER);
        let set =
            granted.filter(|granted| granted.asked.is_some()).find_map(|granted| granted.granted.as_deref());
        if let Some(bytes) = set.and_then(|text| text.parse::<f64>().ok()) {
            return Some(bytes);
        }
        super::facts::host(self.recording, host)?.environment.stack.get(SEND_BUFFERS)?.get(2)?.as_f64()
    }

    fn lacks(&self, option: u64, told: &str) -> Option<String> {
        let mut agreed = self.senders().filter_map(|socket| socket.last.get("options")).peekable();
        agreed.peek()?;
        agreed.all(|options| options & option == 0).then(|| told.to_owned())
    }

    /// Those of the path as it stands that count.
    fn trials(&self) -> impl Iterator<Item = &'r Trial> {
        self.recording.trials.iter().filter(|trial| trial.pass > 0 && self.layer.owns(&trial.case))
    }

    /// The interfaces that carried most, at both ends.
    fn interfaces(&self) -> impl Iterator<Item = (HostId, &'r str)> {
        let ends = [&self.layer.from, &self.layer.to].into_iter().flatten();
        ends.filter_map(|group| {
            let host = group.single()?;
            Some((host, busiest_interface(self.steps.iter().copied(), host)?))
        })
    }

    fn is_bare(&self, host: HostId, interface: &str) -> bool {
        self.is_off(host, interface, &["tso", "gso", "gro"])
    }

    /// Whether these offloads are all off.
    fn is_off(&self, host: HostId, interface: &str, names: &[&str]) -> bool {
        let offloads = interface_fact(self.recording, host, interface, "offloads");
        let is_off =
            |name: &str| offloads.and_then(|all| all.get(name)).and_then(Value::as_bool) == Some(false);
        names.iter().all(|name| is_off(name))
    }

    /// How many packet filter rules each end has.
    fn filter_rules(&self) -> impl Iterator<Item = (HostId, u64)> {
        let ends = [&self.layer.from, &self.layer.to].into_iter().flatten();
        ends.filter_map(|group| {
            let host = group.single()?;
            let stack = &super::facts::host(self.recording, host)?.environment.stack;
            let counts = FILTERS.iter().filter_map(|name| stack.get(*name).and_then(Value::as_u64));
            Some((host, counts.max()?))
        })
    }

    /// Packets that the ends dropped, and those that came in.
    fn dropped(&self) -> Option<(f64, f64)> {
        // The backlog's count is the machine's, which hosts of a lab share; and what it drops its interface counts too.
        let of_step = |step: &&StepRecord| {
            step.hosts.iter().map(|delta| delta.softnet_dropped as f64).fold(0.0, f64::max)
        };
        let of_backlog: f64 = self.steps.iter().map(of_step).sum();
        let of_interfaces = self.interfaces().map(|(host, name)| {
            let of_host = self.steps.iter().flat_map(|step| &step.hosts).filter(|delta| delta.host == host);
            let deltas = of_host.flat_map(|delta| &delta.interfaces).filter(|delta| delta.name == name);
            deltas.map(|delta| delta.drops as f64).sum::<f64>()
        });
        let dropped = of_backlog.max(of_interfaces.sum::<f64>());
        Some((dropped, self.received()?.1))
    }

    /// What failed of the path as it stands.
    fn failure(&self) -> Option<String> {
        super::facts::failed_as_it_stands(self.recording).map(|not| not.reason.why.clone())
    }

    /// Bytes and packets that came in at the receiving end.
    fn received(&self) -> Option<(f64, f64)> {
        let (host, interface) = self.interfaces().last()?;
        let of_host = self.steps.iter().flat_map(|step| &step.hosts).filter(|delta| delta.host == host);
        let deltas = of_host.flat_map(|delta| &delta.interfaces).filter(|delta| delta.name == interface);
        let (bytes, packets) = deltas.fold((0.0, 0.0), |(bytes, packets), delta| {
            (bytes + delta.rx_bytes as f64, packets + delta.rx_packets as f64)
        });
        (packets > 0.0).then_some((bytes, packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::SIGNALS;

    #[test]
    fn every_signal_is_read() {
        let known: Vec<&str> = SIGNALS.iter().map(|signal| signal.name).collect();
        let read: Vec<&str> = READ.iter().map(|(name, _)| *name).collect();
        assert_eq!(known, read);
    }
}
