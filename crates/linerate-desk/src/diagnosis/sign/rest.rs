//! Signals of connections that rest between messages, and of what they begin again with; of ends that are put behind others.

use super::{Shown, kib, percent};
use crate::plan::HostId;
use crate::record::Trial;
use crate::unit::Nanoseconds;
use serde_json::Value;

/// Whether a host lets the window shrink while a connection rests, and its routes, as its environment has them.
const RESTARTS: &str = "net.ipv4.tcp_slow_start_after_idle";
const ROUTES: &str = "routes";

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

impl Shown<'_> {
    /// That the threads of an end waited for their CPU, of which no limit and no other end is the reason.
    pub(super) fn waits_for_cpu(&self) -> Option<String> {
        self.findings.iter().find(|finding| PUT_OFF.contains(&finding.code))?;
        let share_of = |receives: bool| {
            let roles =
                self.trials().flat_map(|trial| &trial.roles).filter(|role| role.does.receives() == receives);
            let times = roles.flat_map(|role| &role.flows).filter_map(|flow| {
                let waited = flow.put_off_ns()?;
                Some((waited as f64, waited.max(flow.duration_ns) as f64))
            });
            let (waited, all) = times.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            waited / all
        };
        let share =
            [true, false].map(share_of).into_iter().filter(|share| share.is_finite()).fold(0.0, f64::max);
        (share >= WAITED)
            .then(|| format!("the threads of an end waited for their CPU {} of the time", percent(share)))
    }

    /// Rests between messages that outlast the congestion window.
    pub(super) fn restarts(&self) -> Option<String> {
        let host = self.layer.from.as_ref()?.single()?;
        let is_on = self.fact(host, RESTARTS).and_then(Value::as_u64) == Some(1);
        let rested_ns = self.timed_ns()? - 1e3 * self.moved("busy_time");
        let each_ns = rested_ns / self.messages()?;
        let timeout_ns = 1e3 * self.last("rto")?;
        (is_on && each_ns > timeout_ns).then(|| {
            format!(
                "between messages {} without data outstanding, where the congestion window of {} shrinks after {}",
                Nanoseconds(each_ns).rounded(2),
                kib(self.last("snd_cwnd").unwrap_or(0.0) * self.last("snd_mss").unwrap_or(0.0)),
                Nanoseconds(timeout_ns).rounded(2)
            )
        })
    }

    /// Messages of the timed blocks.
    fn messages(&self) -> Option<f64> {
        let of_trial = |trial: &Trial| {
            let keeping = trial.roles.iter().filter(|role| role.does.keeps_time());
            let bytes: u64 = keeping.flat_map(|role| &role.flows).map(|flow| flow.bytes).sum();
            bytes as f64 / trial.block.message_bytes.max(1) as f64
        };
        let sum: f64 = self.trials().map(of_trial).sum();
        (sum > 0.0).then_some(sum)
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
