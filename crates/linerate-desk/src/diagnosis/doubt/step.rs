//! What the observers saw around a step.

use super::crossing::{bytes_not_crossed, foreign_bytes, super_packets};
use super::{Check, Context, count, percent, quota};
use crate::diagnosis::facts::{busiest_interface, foreign_ns, host, interface_fact};
use crate::record::{HostDelta, StepRecord};
use crate::unit::{Nanoseconds, significant};
use crate::vocabulary::{Place, Rung, Wait};
use serde_json::Value;
use std::collections::BTreeMap;

/// The share of a machine that other processes may take (method 2.6, O2).
const FOREIGN: f64 = 0.05;
/// The share of a machine that its hypervisor may take.
const STOLEN: f64 = 0.01;
/// Busy and stolen time comes in ticks of 10 ms; less than two of them a CPU is no evidence.
const TWO_TICKS_NS: f64 = 20e6;
/// Packets this much larger than the MTU are not what the wire carries.
const SUPER: f64 = 1.5;

const SILENT: fn(f64) -> String = |_| String::new();

pub(super) const CHECKS: &[Check<StepRecord>] = &[
    Check {
        code: "foreign-cpu",
        limit: FOREIGN,
        tolerated: 0.0,
        measure: foreign_cpu,
        worst: "machine_share",
        say: |share| format!("{} of the machine", percent(share)),
    },
    Check {
        code: "steal",
        limit: STOLEN,
        tolerated: 0.0,
        measure: steal,
        worst: "stolen_share",
        say: |share| format!("{} of the machine", percent(share)),
    },
    Check {
        code: "unpinned",
        limit: 0.0,
        tolerated: 0.0,
        measure: |context, _, step| {
            let unpinned = step.roles.iter().any(|role| role.cpus.is_empty());
            yes(unpinned && !is_by_queue(context, step))
        },
        worst: "",
        say: SILENT,
    },
    Check {
        code: "bytes-not-crossed",
        limit: 0.1,
        tolerated: 0.0,
        measure: bytes_not_crossed,
        worst: "missing_share",
        say: |share| format!("{} missing", percent(share)),
    },
    Check {
        code: "foreign-bytes",
        limit: 0.05,
        tolerated: 0.0,
        measure: foreign_bytes,
        worst: "foreign_share",
        say: |share| format!("{} more than the connections received", percent(share)),
    },
    Check {
        code: "congestion-control",
        limit: 0.0,
        tolerated: 0.0,
        measure: unpaced_bbr,
        worst: "",
        say: SILENT,
    },
    Check {
        code: "super-packets",
        limit: SUPER,
        tolerated: 0.0,
        measure: super_packets,
        worst: "packet_per_mtu",
        say: |ratio| format!("{} times the MTU", significant(ratio, 2)),
    },
    Check {
        code: "reassembly-failed",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| step.hosts.iter().map(|host| host.reassembly_failures as f64).reduce(f64::max),
        worst: "failures",
        say: |failures| format!("{} failure{}", count(failures), if failures == 1.0 { "" } else { "s" }),
    },
    Check {
        code: "softnet-drops",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| step.hosts.iter().map(|host| host.softnet_dropped as f64).reduce(f64::max),
        worst: "dropped_packets",
        say: |packets| format!("{} packet{}", count(packets), if packets == 1.0 { "" } else { "s" }),
    },
    Check {
        code: "queue-drops",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| {
            step.hosts.iter().map(|host| host.counted("queue.", ".drops") as f64).reduce(f64::max)
        },
        worst: "dropped_packets",
        say: |packets| format!("{} packet{}", count(packets), if packets == 1.0 { "" } else { "s" }),
    },
    Check {
        code: "wire-drops",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| step.wire.as_ref().map(|wire| (wire.unread + wire.refused) as f64),
        worst: "dropped_packets",
        say: |packets| format!("{} packet{}", count(packets), if packets == 1.0 { "" } else { "s" }),
    },
    Check {
        code: "timer-slack",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| yes(!step.timer_slack_lowered),
        worst: "",
        say: SILENT,
    },
    Check {
        code: "suspended",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, step| Some(step.suspended_ns as f64),
        worst: "suspended_ns",
        say: |ns| Nanoseconds(ns).to_string(),
    },
    Check {
        code: "not-kept-awake",
        limit: 0.0,
        tolerated: 0.0,
        measure: not_kept_awake,
        worst: "",
        say: SILENT,
    },
];

fn yes(is: bool) -> Option<f64> {
    Some(f64::from(u8::from(is)))
}

/// Where the step's rung stands.
fn place(step: &StepRecord) -> Option<Place> {
    Rung::named(&step.case.rung).map(|rung| rung.place)
}

/// Only ends that meet wait: a thread alone on memory does not sleep.
fn not_kept_awake(_: &Context, _: usize, step: &StepRecord) -> Option<f64> {
    if step.case.wait != Wait::Sleeping || step.roles.len() < 2 {
        return None;
    }
    yes(!step.kept_awake)
}

/// The readings of each machine: hosts that share one see the same CPUs.
fn machines<'r>(context: &Context<'r>, step: &'r StepRecord) -> BTreeMap<String, Vec<&'r HostDelta>> {
    let mut machines: BTreeMap<String, Vec<&HostDelta>> = BTreeMap::new();
    for delta in &step.hosts {
        let known = host(context.recording, delta.host);
        let machine = known.map_or(delta.host.to_string(), |host| host.machine.clone());
        machines.entry(machine).or_default().push(delta);
    }
    machines
}

/// A time of one machine as a share of all its CPUs' time; zero below two ticks a CPU.
fn machine_share(deltas: &[&HostDelta], ns: f64) -> Option<f64> {
    let cpus = deltas.iter().map(|delta| delta.busy_ns.len()).max()?.max(1) as f64;
    let wall = deltas.iter().map(|delta| delta.wall_ns).max()? as f64;
    let share = ns / (wall * cpus);
    share.is_finite().then_some(if ns > TWO_TICKS_NS * cpus { share } else { 0.0 })
}

/// Busy time that is not ours. Only in host: over a network the kernel's own work for the connection
/// runs in interrupts, which belong to no process.
fn foreign_cpu(context: &Context, _: usize, step: &StepRecord) -> Option<f64> {
    if place(step) != Some(Place::InHost) || context.is_throttled || quota::is_throttled(step) {
        return None;
    }
    let shares = machines(context, step)
        .into_values()
        .filter_map(|deltas| machine_share(&deltas, foreign_ns(deltas.iter().copied())));
    shares.reduce(f64::max)
}

fn steal(context: &Context, _: usize, step: &StepRecord) -> Option<f64> {
    let shares = machines(context, step).into_values().filter_map(|deltas| {
        let stolen = deltas.iter().map(|delta| delta.steal_ns).max()? as f64;
        machine_share(&deltas, stolen)
    });
    shares.reduce(f64::max)
}

/// BBR whose packets no fq queue paces; where the queue is not known, it is taken for another one.
fn unpaced_bbr(context: &Context, _: usize, step: &StepRecord) -> Option<f64> {
    let mut sockets = step.sockets.iter().filter(|socket| socket.congestion_control.is_some()).peekable();
    sockets.peek()?;
    let unpaced = sockets.any(|socket| {
        let bbr = socket.congestion_control.as_deref().is_some_and(|name| name.starts_with("bbr"));
        let interface = busiest_interface(std::iter::once(step), socket.host);
        let queue = interface.and_then(|name| interface_fact(context.recording, socket.host, name, "qdisc"));
        bbr && queue.and_then(Value::as_str) != Some("fq")
    });
    yes(unpaced)
}

/// Whether each flow has the CPU of its receive queue: so say both ends of its session.
fn is_by_queue(context: &Context, step: &StepRecord) -> bool {
    let case = &step.case;
    let sessions =
        context.recording.sessions.iter().filter(|session| {
            (&session.rung, session.flows, session.arm) == (&case.rung, case.flows, case.arm)
        });
    let granted = sessions.flat_map(|session| &session.granted).filter(|one| one.knob == "cpu.placement");
    let mut granted = granted.peekable();
    granted.peek().is_some() && granted.all(|one| one.granted.as_deref() == Some("queue"))
}
