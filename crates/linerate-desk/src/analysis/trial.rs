//! The numbers of one trial.

use super::several;
use crate::plan::{Block, HostId};
use crate::record::{Flow, Recording, RoleRecord, Trial, WireAudit, decode_histogram};
use crate::statistic::median;
use crate::vocabulary::{Does, Rung};
use std::collections::{BTreeMap, BTreeSet};

/// What one trial, or one pass, gave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Values {
    /// Bits a second: the receivers' bytes over the receivers' clocks, the lead left out.
    pub throughput_bps: Option<f64>,
    /// Half of the median round trip.
    pub half_round_trip_ns: Option<f64>,
    /// The share of the datagrams that did not arrive, the lead included; none where none can be lost.
    pub lost_share: Option<f64>,
    /// The sending threads.
    pub sender: Option<Load>,
    /// The receiving threads.
    pub receiver: Option<Load>,
    /// Whether another process had a thread's CPU, or a thread moved to another one, meanwhile.
    pub disturbed: bool,
}

/// What one side's threads cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// CPU time of all its threads for each byte that was received. Work that the kernel does in
    /// interrupts on another CPU is not in it.
    pub cpu_ns_per_byte: f64,
    /// How busy its busiest CPU was with measuring threads, as a share of the time.
    pub busy: f64,
    /// The number of CPUs its threads were on.
    pub cpus: f64,
}

impl Values {
    /// The median of each number over several trials.
    pub(super) fn middle(trials: &[Values]) -> Values {
        let load = |side: fn(&Values) -> Option<Load>| {
            let over = |number: fn(&Load) -> f64| {
                median(trials.iter().filter_map(|values| side(values).as_ref().map(number)))
            };
            Some(Load {
                cpu_ns_per_byte: over(|load| load.cpu_ns_per_byte)?,
                busy: over(|load| load.busy)?,
                cpus: over(|load| load.cpus)?,
            })
        };
        Values {
            throughput_bps: median(trials.iter().filter_map(|values| values.throughput_bps)),
            half_round_trip_ns: median(trials.iter().filter_map(|values| values.half_round_trip_ns)),
            lost_share: median(trials.iter().filter_map(|values| values.lost_share)),
            sender: load(|values| values.sender),
            receiver: load(|values| values.receiver),
            disturbed: trials.iter().any(|values| values.disturbed),
        }
    }
}

/// Which hosts share their CPUs.
pub(super) struct Machines<'r> {
    recording: &'r Recording,
    of_hosts: BTreeMap<HostId, &'r str>,
}

impl<'r> Machines<'r> {
    pub(super) fn from_recording(recording: &'r Recording) -> Self {
        let of_hosts = recording.hosts.iter().map(|host| (host.host, host.machine.as_str())).collect();
        Machines { recording, of_hosts }
    }

    fn cpu(&self, role: &RoleRecord, flow: &Flow) -> Option<(String, u32)> {
        let machine =
            self.of_hosts.get(&role.host).map_or(role.host.to_string(), |machine| (*machine).into());
        Some((machine, flow.cpu?))
    }
}

/// The numbers of a trial.
pub(super) fn values(trial: &Trial, machines: &Machines) -> Values {
    let half_round_trip_ns = half_round_trip_ns(trial);
    let throughput_bps = throughput_bps(trial)
        .or_else(|| positive(8e9 * trial.block.message_bytes as f64 / half_round_trip_ns?));
    Values {
        throughput_bps,
        half_round_trip_ns,
        lost_share: lost_share(trial),
        sender: load(trial, Does::Sends, machines),
        receiver: load(trial, Does::Receives, machines),
        disturbed: trial.roles.iter().flat_map(|role| &role.flows).any(|flow| is_disturbed(trial, flow))
            || wire_lateness(machines.recording, trial).is_some_and(|late| late > 1.0)
            || wire_dropped(machines.recording, trial),
    }
}

/// The share of a trial that another process may take from a thread.
const FOREIGN: f64 = 0.05;

/// What a wire may add to a round trip, so many nanoseconds or such a share, or to the time of a stream.
const WIRE_NS: f64 = 25e3;
const WIRE_SHARE: f64 = 0.01;

/// How much the lateness of the lab's own wire added to a trial, over what is tolerated: both ways together to
/// half of the round trips, or the last packets' to a stream's time. None where there is no such wire.
pub fn wire_lateness(recording: &Recording, trial: &Trial) -> Option<f64> {
    let late_ns = wire_audit(recording, trial)?.late_ns?.p50 as f64;
    if let Some(half_ns) = half_round_trip_ns(trial) {
        return Some(2.0 * late_ns / WIRE_NS.max(WIRE_SHARE * 2.0 * half_ns));
    }
    let receivers = trial.roles.iter().filter(|role| role.does == Does::Receives);
    let longest_ns = receivers.flat_map(|role| &role.flows).map(|flow| flow.duration_ns).max()?;
    Some(late_ns / (WIRE_SHARE * longest_ns.max(1) as f64))
}

/// Whether the lab's own wire had no time to read a frame, or could not hand one on.
fn wire_dropped(recording: &Recording, trial: &Trial) -> bool {
    wire_audit(recording, trial).is_some_and(|audit| audit.unread + audit.refused > 0)
}

/// Steps are recorded in their order.
fn wire_audit<'r>(recording: &'r Recording, trial: &Trial) -> Option<&'r WireAudit> {
    let at = recording.steps.binary_search_by_key(&trial.step, |step| step.step).ok()?;
    recording.steps[at].wire.as_ref()
}

/// Whether a thread was put off its CPU for long, not by a process of its own transport, or moved.
fn is_disturbed(trial: &Trial, flow: &Flow) -> bool {
    let has_helpers = Rung::named(&trial.case.rung).is_some_and(|rung| rung.transport.has_helpers);
    let put_off = flow.put_off_ns().unwrap_or(0) as f64 > FOREIGN * flow.duration_ns as f64;
    flow.migrated || (put_off && flow.involuntary_switches > 0 && !has_helpers)
}

/// CPU time of one side's threads for each byte that was received.
pub(super) fn cpu_ns_per_byte(trial: &Trial, does: Does) -> Option<f64> {
    let of =
        |does: Does| trial.roles.iter().filter(move |role| role.does == does).flat_map(|role| &role.flows);
    let bytes: f64 = of(Does::Receives).map(|flow| flow.bytes as f64).sum();
    positive(of(does).map(|flow| flow.cpu_ns as f64).sum::<f64>() / bytes)
}

/// A number that can be a time or a rate.
pub(super) fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// What the ends that keep time missed, of all that was sent to them. A search loses on purpose.
pub fn lost_share(trial: &Trial) -> Option<f64> {
    if trial.case.pattern.searches() {
        return None;
    }
    let roles = trial.roles.iter().filter(|role| role.does.keeps_time());
    let counts = roles
        .flat_map(|role| &role.flows)
        .filter_map(|flow| Some((flow.messages? as f64, flow.lost? as f64)));
    let (came, lost) = counts.reduce(|a, b| (a.0 + b.0, a.1 + b.1))?;
    let share = lost / (came + lost);
    share.is_finite().then_some(share)
}

/// The sum over all ends that receive (or copy), each by its own clock. What is no stream has none.
pub fn throughput_bps(trial: &Trial) -> Option<f64> {
    if !trial.case.pattern.has_rate() {
        return None;
    }
    if let Some(together) = several::combined_role(trial).filter(|role| role.does != Does::Pings) {
        return role_bps(trial, &together);
    }
    let rates = trial.roles.iter().filter(|role| role.does.keeps_time() && role.does != Does::Pings);
    let rates: Option<Vec<f64>> = rates.map(|role| role_bps(trial, role)).collect();
    positive(rates?.iter().sum())
}

/// What one host received in a trial of both directions, by its own clock.
pub fn received_bps(trial: &Trial, host: HostId) -> Option<f64> {
    let here = trial.roles.iter().filter(|role| role.host == host && role.does.receives());
    let rates: Option<Vec<f64>> = here.map(|role| role_bps(trial, role)).collect();
    positive(rates?.iter().sum())
}

/// The share of a block by which flows end at the same time: paced ones do, and their last slices count.
const JUST_ENDED: f64 = 0.05;

fn role_bps(trial: &Trial, role: &RoleRecord) -> Option<f64> {
    let lead = trial.block.lead as usize;
    if role.flows.iter().any(|flow| flow.slices_ns.is_empty()) {
        return unsliced_bps(trial, role);
    }
    let origin = role.flows.iter().map(|flow| flow.start_ns).min()?;
    let stamps: Option<Vec<Stamps>> =
        role.flows.iter().map(|flow| Stamps::from_flow(flow, &trial.block, lead, origin)).collect();
    let stamps = stamps?;
    // From the first flow's start, not the last one's: what a late receiver finds waiting in its buffers
    // came since then.
    let from = stamps.iter().map(Stamps::first).fold(f64::INFINITY, f64::min);
    let all_begun = stamps.iter().map(Stamps::first).fold(f64::NEG_INFINITY, f64::max);
    let mut ends: Vec<f64> = stamps.iter().map(Stamps::last).collect();
    ends.sort_by(f64::total_cmp);
    if ends.first().is_none_or(|first| *first <= all_begun) {
        return None;
    }
    // At the end of a flow, slices of the others are under way that do not count yet: so to the end that gives
    // most, as long as half of the flows are under way or have just ended, for fewer may be quicker. Nothing is
    // drawn between two stamps: of flows that take turns on a link most bytes come just before the stamp, and a
    // line would count them before they came.
    let half = ends[ends.len().div_ceil(2) - 1];
    ends.retain(|end| *end <= half + JUST_ENDED * (half - from));
    let to_end = |to: f64| {
        let bytes: f64 = stamps.iter().map(|flow| flow.received_by(to)).sum();
        8e9 * bytes / (to - from)
    };
    positive(ends.into_iter().map(to_end).fold(0.0, f64::max))
}

/// Without stamps: the median of the histogram's samples, or the whole block where all of it counts.
fn unsliced_bps(trial: &Trial, role: &RoleRecord) -> Option<f64> {
    let bytes: f64 = role.flows.iter().map(|flow| flow.bytes as f64).sum();
    if let Some(sample_ns) = histogram_median(role) {
        return positive(8e9 * bytes / f64::from(trial.block.slices) / sample_ns);
    }
    let longest = role.flows.iter().map(|flow| flow.duration_ns).max()? as f64;
    if trial.block.lead == 0 { positive(8e9 * bytes / longest) } else { None }
}

/// The stamps of one flow, the lead left out: nanoseconds since a common origin, and bytes by then.
pub(super) struct Stamps {
    at_ns: Vec<f64>,
    slice_bytes: f64,
    /// Of the last slice, in which datagrams may be missing.
    last_bytes: f64,
}

impl Stamps {
    /// None where nothing is left after the lead.
    pub(super) fn from_flow(flow: &Flow, block: &Block, lead: usize, origin_ns: u64) -> Option<Stamps> {
        if flow.slices_ns.len() <= lead {
            return None;
        }
        let mut time = flow.start_ns.saturating_sub(origin_ns) as f64;
        let mut at_ns = Vec::with_capacity(flow.slices_ns.len() + 1);
        at_ns.push(time);
        for slice in &flow.slices_ns {
            time += *slice as f64;
            at_ns.push(time);
        }
        at_ns.drain(..lead);
        let slice_bytes = block.message_bytes as f64 * block.messages as f64;
        let last_bytes = flow.bytes as f64 - slice_bytes * (flow.slices_ns.len() - 1) as f64;
        Some(Stamps { at_ns, slice_bytes, last_bytes })
    }

    pub(super) fn first(&self) -> f64 {
        self.at_ns.first().copied().unwrap_or(0.0)
    }

    pub(super) fn last(&self) -> f64 {
        self.at_ns.last().copied().unwrap_or(0.0)
    }

    /// The times of the stamps.
    pub(super) fn times(&self) -> &[f64] {
        &self.at_ns
    }

    /// Bytes of the slices that had come by then.
    pub(super) fn received_by(&self, time: f64) -> f64 {
        let slices = self.at_ns.partition_point(|stamp| *stamp <= time).saturating_sub(1);
        let all = self.at_ns.len() - 1;
        if slices == all { self.all_bytes() } else { slices as f64 * self.slice_bytes }
    }

    fn all_bytes(&self) -> f64 {
        (self.at_ns.len() as f64 - 2.0) * self.slice_bytes + self.last_bytes
    }

    /// Bytes since the first stamp, a straight line between two stamps: for a picture over time.
    pub(super) fn bytes_at(&self, time: f64) -> f64 {
        let after = self.at_ns.partition_point(|stamp| *stamp <= time);
        if after == 0 {
            return 0.0;
        }
        let (before, last) = (after - 1, self.at_ns.len() - 1);
        let Some(next) = self.at_ns.get(after) else {
            return self.all_bytes();
        };
        let within = (time - self.at_ns[before]) / (next - self.at_ns[before]);
        let bytes = if after == last { self.last_bytes } else { self.slice_bytes };
        before as f64 * self.slice_bytes + within * bytes
    }
}

/// Half of the median round trip of a trial.
pub fn half_round_trip_ns(trial: &Trial) -> Option<f64> {
    let together = several::combined_role(trial);
    let role = together.as_ref().or_else(|| trial.roles.iter().find(|role| role.does == Does::Pings))?;
    (role.does == Does::Pings).then_some(())?;
    let lead = trial.block.lead as usize;
    let slices = role.flows.iter().flat_map(|flow| flow.slices_ns.iter().skip(lead));
    let sample_ns = median(slices.map(|slice| *slice as f64)).or_else(|| histogram_median(role))?;
    positive(sample_ns / trial.block.messages as f64 / 2.0)
}

/// The middle of the bucket that holds the median sample.
fn histogram_median(role: &RoleRecord) -> Option<f64> {
    let histogram = decode_histogram(role.histogram.as_deref()?)?;
    if histogram.is_empty() {
        return None;
    }
    let bucket = histogram.value_at_quantile(0.5);
    let (low, high) = (histogram.lowest_equivalent(bucket), histogram.highest_equivalent(bucket));
    Some((low as f64 + high as f64) / 2.0)
}

/// What the threads that do this cost, against the bytes that were received.
fn load(trial: &Trial, does: Does, machines: &Machines) -> Option<Load> {
    let flows = |wanted: Option<Does>| {
        let roles = trial.roles.iter().filter(move |role| wanted.is_none_or(|does| role.does == does));
        roles.flat_map(|role| role.flows.iter().map(move |flow| (role, flow)))
    };
    let cpu_ns_per_byte = cpu_ns_per_byte(trial, does)?;
    // A CPU's threads need not end together: its time is that of the one that took longest.
    let mut on_cpu: BTreeMap<(String, u32), (f64, f64)> = BTreeMap::new();
    for (role, flow) in flows(None) {
        if let Some(cpu) = machines.cpu(role, flow) {
            let (spent, time) = on_cpu.entry(cpu).or_default();
            *spent += flow.cpu_ns as f64;
            *time = time.max(flow.duration_ns as f64);
        }
    }
    let mut cpus = BTreeSet::new();
    let (mut busy, mut threads) = (0.0f64, 0u32);
    for (role, flow) in flows(Some(does)) {
        let cpu = machines.cpu(role, flow);
        let alone = (flow.cpu_ns as f64, flow.duration_ns as f64);
        let (here, time) = cpu.as_ref().and_then(|cpu| on_cpu.get(cpu)).copied().unwrap_or(alone);
        busy = busy.max(positive(here / time).unwrap_or(0.0));
        threads += 1;
        cpus.extend(cpu);
    }
    let count = if cpus.is_empty() { f64::from(threads) } else { cpus.len() as f64 };
    Some(Load { cpu_ns_per_byte, busy, cpus: count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Cache;

    fn stamps(start_ns: u64, slices_ns: &[u64], lead: usize, origin_ns: u64) -> Option<Stamps> {
        // Half of the last slice is missing.
        let bytes = (100 * slices_ns.len() as u64).saturating_sub(50);
        let flow = Flow { start_ns, slices_ns: slices_ns.to_vec(), bytes, ..Flow::default() };
        let block = Block {
            message_bytes: 10,
            messages: 10,
            slices: 4,
            lead: 0,
            cache: Cache::Hot,
            ..Block::default()
        };
        Stamps::from_flow(&flow, &block, lead, origin_ns)
    }

    #[test]
    fn bytes_are_interpolated_between_stamps() {
        let stamps = stamps(50, &[10, 10, 20, 20], 1, 50).unwrap();
        assert_eq!((stamps.first(), stamps.last()), (10.0, 60.0));
        let cases = [
            (0.0, 0.0, 0.0),
            (10.0, 0.0, 0.0),
            (15.0, 50.0, 0.0),
            (20.0, 100.0, 100.0),
            (30.0, 150.0, 100.0),
            (50.0, 225.0, 200.0),
            (60.0, 250.0, 250.0),
            (1e9, 250.0, 250.0),
        ];
        for (time, bytes, received) in cases {
            assert_eq!((stamps.bytes_at(time), stamps.received_by(time)), (bytes, received), "{time}");
        }
    }

    #[test]
    fn a_flow_of_nothing_but_lead_has_no_stamps() {
        assert!(stamps(0, &[5, 5], 2, 0).is_none());
        assert!(stamps(0, &[], 0, 0).is_none());
    }

    #[test]
    fn slices_of_no_time_do_not_divide_by_zero() {
        let stamps = stamps(0, &[0, 0, 10], 0, 0).unwrap();
        assert_eq!(stamps.bytes_at(0.0), 200.0);
        assert_eq!(stamps.bytes_at(5.0), 225.0);
    }
}
