//! The CPUs of both ends, and one that works for the connection without a measuring thread.

use super::memory::rung_and_transport;
use super::{Inputs, Limit};
use crate::analysis::model::Side;
use crate::analysis::{Load, Values};
use crate::plan::HostId;
use crate::statistic::median;
use crate::unit::significant;
use crate::vocabulary::Wait;

/// A CPU that no measuring thread was on is told only when it was busier than this: other processes use it, too.
const BUSY: f64 = 0.9;

pub(super) fn sender(inputs: &Inputs) -> Option<Limit> {
    threads(inputs, Side::Sender, "sender")
}

pub(super) fn receiver(inputs: &Inputs) -> Option<Limit> {
    threads(inputs, Side::Receiver, "receiver")
}

/// Threads that sleep while they wait spend CPU time only on work, so a busy CPU is at its limit. Of
/// threads that poll nothing can be said.
fn threads(inputs: &Inputs, side: Side, name: &str) -> Option<Limit> {
    let (layer, analysis) = (inputs.layer, inputs.analysis);
    let curve = layer.stream(&analysis.curves)?;
    if curve.case.wait != Wait::Sleeping {
        return None;
    }
    let point = curve.at(analysis.ladder_bytes)?;
    let middle = |number: fn(&Load) -> f64| {
        median(point.passes.values().filter_map(|values| side.load(values)).map(|load| number(&load)))
    };
    let (cost, busy) = (middle(|load| load.cpu_ns_per_byte)?, middle(|load| load.busy)?);
    // Both ways, a CPU may serve a sender and a receiver: then only its busy share says how far it goes.
    let full_bps = |values: &Values| {
        let load = side.load(values)?;
        let of_all = || Some(values.throughput_bps? / load.busy);
        if layer.both_ways { of_all() } else { Some(load.cpus * 8e9 / load.cpu_ns_per_byte) }
    };
    let evidence = format!(
        "the {name} spends {} ns on a byte and its CPU was {} % busy",
        significant(cost, 2),
        significant(100.0 * busy.min(1.0), 2),
    );
    Some(Limit::new(point.estimate(full_bps)?, evidence))
}

/// Work that the kernel does for the connection on a CPU of its own, such as taking interrupts.
pub(super) fn interrupts(inputs: &Inputs) -> Option<Limit> {
    let layer = inputs.layer;
    // Where the kernel carries nothing, another CPU's work is another's.
    rung_and_transport(&layer.rung).filter(|(_, transport)| transport.crosses_hosts)?;
    let mut worst: Option<(f64, u32, HostId)> = None;
    for delta in inputs.steps.iter().flat_map(|step| &step.hosts) {
        for (cpu, busy_ns) in delta.busy_ns.iter().filter(|(cpu, _)| !layer.placement.contains(cpu)) {
            let busy = *busy_ns as f64 / delta.wall_ns as f64;
            if busy.is_finite() && worst.is_none_or(|(most, ..)| busy > most) {
                worst = Some((busy, *cpu, delta.host));
            }
        }
    }
    let (busy, cpu, host) = worst.filter(|(busy, ..)| *busy >= BUSY && !layer.placement.is_empty())?;
    let busy = busy.min(1.0);
    let share = significant(100.0 * busy, 2);
    let evidence = format!("CPU {cpu} of {host} ran no measuring thread and was {share} % busy");
    Some(Limit::exact(inputs.measured / busy, evidence))
}
