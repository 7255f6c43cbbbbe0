//! Signals of connections that rest between messages, and of what they begin again with; of ends that are put behind others.

use super::super::bound::of_ends;
use super::super::facts::foreign_ns;
use super::{Shown, kib, percent};
use crate::plan::HostId;
use crate::record::{SocketRecord, StepRecord};
use crate::unit::Nanoseconds;
use crate::vocabulary::Does;
use serde_json::Value;

/// Whether a host lets the window shrink while a connection rests, and its routes, as its environment has them.
const RESTARTS: &str = "net.ipv4.tcp_slow_start_after_idle";
const ROUTES: &str = "routes";

/// A window that begins better takes away, at most, the time in which data is outstanding: so much of all, or it is not worth a try.
const OUTSTANDING: f64 = 0.05;

/// How a route's initial window is written there, and the segments that are usual (RFC 6928).
const INITIAL: &str = "InitCwnd(";
const USUAL_SEGMENTS: u64 = 10;

/// What puts the receiver behind all others.
const PRIORITY: (&str, &str) = ("shim.receiver-priority", "idle");

/// What came and found no memory, and the times that TCP was short of it.
const DROPPED: &str = "tcp.TCPRcvQDrop";
const PRESSURES: &str = "tcp.TCPMemoryPressures";

/// What says that other work had a CPU of the measuring threads, and for how much of their time where it may be what binds: what a
/// tick or an interrupt takes now and then is on every host.
const PUT_OFF: [&str; 2] = ["foreign-cpu", "preempted"];
const WAITED: f64 = 0.05;

/// The wire of a lab is the program's own: others had the CPUs for this share of what was waited at least.
const OTHERS: f64 = 0.5;

impl Shown<'_> {
    /// That the threads of an end waited for their CPU, of which no limit and no other end is the reason.
    pub(super) fn waits_for_cpu(&self) -> Option<String> {
        self.findings.iter().find(|finding| PUT_OFF.contains(&finding.code))?;
        let share = self.waited(true).max(self.waited(false));
        let is_others = self.others_of_lab().is_none_or(|others| others >= OTHERS * share);
        (share >= WAITED && is_others)
            .then(|| format!("the threads of an end waited for their CPU {} of the time", percent(share)))
    }

    /// For how much of its time an end waited for its CPU.
    pub(super) fn waited(&self, receives: bool) -> f64 {
        let roles =
            self.trials().flat_map(|trial| &trial.roles).filter(|role| role.does.receives() == receives);
        let times = roles.flat_map(|role| &role.flows).filter_map(|flow| {
            let waited = flow.put_off_ns()?;
            Some((waited as f64, waited.max(flow.duration_ns) as f64))
        });
        let (waited, all) = times.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if all > 0.0 { waited / all } else { 0.0 }
    }

    /// What others than its programs and its wire had of the CPUs of a lab's machine, in parts of one CPU; none where no wire tells what
    /// it took.
    fn others_of_lab(&self) -> Option<f64> {
        let of_step = |step: &&StepRecord| {
            let wire_ns = step.wire.as_ref()?.cpu_ns as f64;
            let wall_ns = step.hosts.iter().map(|host| host.wall_ns).max()? as f64;
            Some((foreign_ns(step.hosts.iter()) - wire_ns, wall_ns))
        };
        let steps = self.steps.iter().filter_map(of_step);
        let (others, wall) = steps.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (wall > 0.0).then(|| others / wall)
    }

    /// Rests between messages that outlast the congestion window.
    pub(super) fn restarts(&self) -> Option<String> {
        let host = self.layer.from.as_ref()?.single()?;
        let is_on = self.fact(host, RESTARTS).and_then(Value::as_u64) == Some(1);
        let (rested_ns, watched_ns) = (self.rested_ns()?, self.watched_ns()?);
        let each_ns = rested_ns / self.messages()?;
        let timeout_ns = 1e3 * self.last("rto")?;
        let is_worth = watched_ns - rested_ns >= OUTSTANDING * watched_ns;
        (is_on && is_worth && each_ns > timeout_ns).then(|| {
            format!(
                "between messages {} without data outstanding, where the congestion window of {} shrinks after {}",
                Nanoseconds(each_ns).rounded(2),
                kib(self.last("snd_cwnd").unwrap_or(0.0) * self.last("snd_mss").unwrap_or(0.0)),
                Nanoseconds(timeout_ns).rounded(2)
            )
        })
    }

    /// For how long connections were watched, all that stood in their send buffers included.
    pub(super) fn watched_ns(&self) -> Option<f64> {
        let drained_us = |socket: &SocketRecord| socket.drained.get("busy_time").copied().unwrap_or(0);
        let of_socket = |socket: &SocketRecord| socket.watched_ns as f64 + 1e3 * drained_us(socket) as f64;
        let known = self.senders().filter(|socket| socket.watched_ns > 0);
        let sum: f64 = known.map(of_socket).sum();
        (sum > 0.0).then_some(sum)
    }

    /// For how much of that no data was outstanding.
    pub(super) fn rested_ns(&self) -> Option<f64> {
        Some(self.watched_ns()? - 1e3 * self.moved("busy_time"))
    }

    /// Messages that came meanwhile.
    fn messages(&self) -> Option<f64> {
        let message_bytes = self.trials().map(|trial| trial.block.message_bytes).max()?;
        let receivers = self.steps.iter().flat_map(|step| of_ends(step, Does::Receives));
        let bytes: u64 = receivers.filter_map(|socket| socket.moved.get("bytes_received")).sum();
        (bytes > 0).then(|| bytes as f64 / message_bytes.max(1) as f64)
    }

    /// A route of the sender that lets connections begin with little.
    pub(super) fn small_initial_window(&self) -> Option<String> {
        let host = self.layer.from.as_ref()?.single()?;
        let lines = self.fact(host, ROUTES)?.as_object()?.values().filter_map(Value::as_array).flatten();
        let of_line = |line: &str| {
            let (_, rest) = line.split_once(INITIAL)?;
            let segments: u64 = rest.split(')').next()?.parse().ok()?;
            Some((segments, line.split(' ').next().unwrap_or_default().to_owned()))
        };
        let (segments, route) = lines.filter_map(Value::as_str).filter_map(of_line).min()?;
        (1..USUAL_SEGMENTS).contains(&segments).then(|| {
            let few = if segments == 1 { "1 segment".to_owned() } else { format!("{segments} segments") };
            format!("the route {route} of {host} lets connections begin with {few}")
        })
    }

    /// What the receiving host dropped for want of memory.
    pub(super) fn socket_memory(&self) -> Option<String> {
        let host = self.layer.to.as_ref()?.single()?;
        let deltas = || self.steps.iter().flat_map(|step| &step.hosts).filter(|delta| delta.host == host);
        let moved = |name: &str| -> u64 { deltas().filter_map(|delta| delta.counters.get(name)).sum() };
        match (moved(DROPPED), moved(PRESSURES)) {
            (0, 0) => None,
            (0, times) => Some(format!("TCP of {host} was short of memory {times} times")),
            (dropped, _) => Some(format!("{host} dropped {dropped} segments for want of memory")),
        }
    }

    /// A receiver that the run put behind all others.
    pub(super) fn low_priority(&self) -> Option<String> {
        let plan = self.recording.plan()?;
        let rung = plan.view.rungs().first()?;
        let is_idle = plan.value_for(rung, 0, PRIORITY.0) == Some(PRIORITY.1);
        is_idle.then(|| "the receiver gets a CPU only when nothing else wants it".to_owned())
    }

    fn fact(&self, host: HostId, name: &str) -> Option<&Value> {
        super::super::facts::host(self.recording, host)?.environment.stack.get(name)
    }
}
