//! What single trials show: other work on the CPUs, threads that moved, bytes that do not agree.

use super::{Check, Context, percent, quota};
use crate::analysis::{lost_share, polls_missed, sent_late, wire_lateness};
use crate::plan::{HostId, HostPair};
use crate::record::{Flow, RoleRecord, Trial};
use crate::unit::significant;
use crate::vocabulary::{Pattern, Rung};
use std::collections::BTreeMap;

/// The share of a trial that another process may take (method 2.6, O2).
const FOREIGN: f64 = 0.05;
/// The share of a trial that the kernel's own threads may take.
const PUT_OFF: f64 = 0.01;
/// The share of a trial's messages that may go late: of more the 99th percentile is the sender's.
const LATE: f64 = 0.01;
/// The share of trials that may be interrupted (method 2.6, O4).
const MANY: f64 = 0.1;

/// The share of calls that may be copied: a few are where a message's end shares its packet.
const COPIED_CALLS: f64 = 0.01;
/// The share of bytes that may be copied: the ends of messages fill no page.
const COPIED_BYTES: f64 = 0.05;

pub(super) const CHECKS: &[Check<Trial>] = &[
    Check {
        code: "foreign-cpu",
        limit: FOREIGN,
        tolerated: 0.0,
        measure: |context, _, trial| {
            let shares = alone(context, trial).filter_map(run_delay).reduce(f64::max);
            shares.filter(|_| !is_throttled(context, trial))
        },
        worst: "run_delay_share",
        say: |share| format!("{} of the time", percent(share)),
    },
    Check {
        code: "migrated",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, trial| flows(trial).map(|flow| f64::from(u8::from(flow.migrated))).reduce(f64::max),
        worst: "",
        say: |_| String::new(),
    },
    Check {
        code: "preempted",
        limit: PUT_OFF,
        tolerated: MANY,
        measure: |context, _, trial| {
            let shares = alone(context, trial).filter_map(put_off).reduce(f64::max);
            shares.filter(|_| !is_throttled(context, trial))
        },
        worst: "run_delay_share",
        say: |share| format!("{} of the time", percent(share)),
    },
    Check {
        code: "byte-mismatch",
        limit: 0.0,
        tolerated: 0.0,
        measure: byte_mismatch,
        worst: "difference_share",
        say: |share| format!("{} of the received bytes apart", percent(share)),
    },
    Check {
        code: "polls-missed",
        limit: 0.0,
        tolerated: 0.0,
        measure: |_, _, trial| polls_missed(trial),
        worst: "missed_share",
        say: |share| format!("{} of the polls", percent(share)),
    },
    Check {
        code: "wire-late",
        limit: 1.0,
        tolerated: MANY,
        measure: |context, _, trial| wire_lateness(context.recording, trial),
        worst: "over_tolerated",
        say: |ratio| format!("{} times what is tolerated", significant(ratio, 2)),
    },
    Check {
        code: "zero-copy-copied",
        limit: COPIED_CALLS,
        tolerated: 0.0,
        measure: |_, _, trial| told_share(trial, "zero-copy.copied", "zero-copy.heard"),
        worst: "copied_share",
        say: |share| format!("{} of the calls", percent(share)),
    },
    Check {
        code: "zero-copy-not-mapped",
        limit: COPIED_BYTES,
        tolerated: 0.0,
        measure: |_, _, trial| {
            let mapped = kernel_count(trial, "zero-copy.mapped-bytes")?;
            let copied = kernel_count(trial, "zero-copy.copied-bytes")?;
            (mapped + copied > 0.0).then(|| copied / (mapped + copied))
        },
        worst: "copied_share",
        say: |share| format!("{} of the bytes", percent(share)),
    },
    Check {
        code: "loss",
        limit: 0.0,
        tolerated: 0.0,
        // Where nothing at all came, that is why there is no number.
        measure: |_, _, trial| lost_share(trial).filter(|share| *share < 1.0),
        worst: "lost_share",
        say: |share| format!("{} of the datagrams", percent(share)),
    },
    Check {
        code: "generator-saturated",
        limit: LATE,
        tolerated: 0.0,
        measure: |_, _, trial| sent_late(trial),
        worst: "sent_late",
        say: |share| format!("{} of what was due", percent(share)),
    },
];

/// Whether the quota of a host put threads off their CPUs: then nobody else need have.
fn is_throttled(context: &Context, trial: &Trial) -> bool {
    if context.is_throttled {
        return true;
    }
    // Steps are recorded in their order.
    let at = context.recording.steps.binary_search_by_key(&trial.step, |step| step.step);
    at.is_ok_and(|at| quota::is_throttled(&context.recording.steps[at]))
}

/// What the kernel told of all flows under this name; none where no engine tells it.
fn kernel_count(trial: &Trial, name: &str) -> Option<f64> {
    flows(trial).filter_map(|flow| flow.kernel.get(name)).map(|count| *count as f64).reduce(|a, b| a + b)
}

fn told_share(trial: &Trial, part: &str, whole: &str) -> Option<f64> {
    let (part, whole) = (kernel_count(trial, part)?, kernel_count(trial, whole)?);
    (whole > 0.0).then(|| part / whole)
}

fn flows(trial: &Trial) -> impl Iterator<Item = &Flow> {
    trial.roles.iter().flat_map(|role| &role.flows)
}

/// Flows that share their CPU with no other flow of the trial, nor with a process of their transport: only these can be
/// sure that whatever kept them waiting was foreign.
fn alone<'t>(context: &Context, trial: &'t Trial) -> impl Iterator<Item = &'t Flow> {
    // Hosts of one machine have its CPUs in common.
    let machine = |id: HostId| {
        let known = context.recording.hosts.iter().find(|host| host.host == id);
        known.map_or(id.to_string(), |host| host.machine.clone())
    };
    let machines: BTreeMap<HostId, String> =
        trial.roles.iter().map(|role| (role.host, machine(role.host))).collect();
    let has_helpers = Rung::named(&trial.case.rung).is_some_and(|rung| rung.transport.has_helpers);
    let place = move |role: &RoleRecord, flow: &Flow| Some((machines.get(&role.host).cloned()?, flow.cpu?));
    let all = trial.roles.iter().flat_map(|role| role.flows.iter().map(move |flow| (role, flow)));
    let mut threads = BTreeMap::new();
    all.clone().for_each(|(role, flow)| *threads.entry(place(role, flow)).or_insert(0u32) += 1);
    all.filter(move |(role, flow)| !has_helpers && threads.get(&place(role, flow)) == Some(&1))
        .map(|(_, flow)| flow)
}

/// The share of its block for which a thread could have run and another one did. The kernel counts a
/// wait when it ends, so that one may be longer than the block that it ended in.
fn run_delay(flow: &Flow) -> Option<f64> {
    let delay = flow.put_off_ns()?;
    let share = delay as f64 / delay.max(flow.duration_ns) as f64;
    share.is_finite().then_some(share)
}

/// The same, of a thread that had to leave its CPU.
fn put_off(flow: &Flow) -> Option<f64> {
    if flow.involuntary_switches > 0 { run_delay(flow) } else { Some(0.0) }
}

/// How far senders and receivers are apart, in the worse direction, as a share of what was received.
fn byte_mismatch(_: &Context, _: usize, trial: &Trial) -> Option<f64> {
    let flows = |receives: bool, here: &dyn Fn(HostId) -> bool| {
        let of = |role: &&RoleRecord| role.does.receives() == receives && here(role.host);
        trial.roles.iter().filter(of).flat_map(|role| &role.flows).collect::<Vec<_>>()
    };
    let sum = |receives: bool, here: &dyn Fn(HostId) -> bool| -> f64 {
        flows(receives, here).into_iter().map(|flow| flow.bytes as f64).sum()
    };
    let apart = |sent: f64, received: f64| {
        let share = (sent - received).abs() / received;
        share.is_finite().then_some(share)
    };
    // A search loses on purpose, and where both ends receive what they count there are no two counts of the same bytes.
    if trial.case.pattern.searches() || trial.roles.iter().all(|role| role.does.receives()) {
        return None;
    }
    // An application compares contents itself, and its servers count what is asked for besides.
    if trial.case.pattern.entry().application {
        return None;
    }
    if trial.case.pattern != Pattern::Bidirectional {
        let lost: u64 = flows(true, &|_| true).into_iter().filter_map(|flow| flow.lost).sum();
        let accounted = sum(true, &|_| true) + lost as f64 * trial.block.message_bytes as f64;
        return apart(sum(false, &|_| true), accounted);
    }
    let HostPair { from, to } = trial.case.pairs.first();
    let directions = [from, to]
        .into_iter()
        .filter_map(|sender| apart(sum(false, &|host| host == sender), sum(true, &|host| host != sender)));
    directions.reduce(f64::max)
}
