//! The ladder: each layer's figures at the stated sizes, and what it costs over the layer below.
//!
//! Layers are compared only at equal size, wait and number of flows, and within one pass. A rung with
//! one end (memory) does not wait, so any wait may stand on it; it carries no message across, so
//! only its time per byte can be taken from the layer above: the constant stays unsaid.

use super::model::worth_opening;
use super::{Curve, Values, height, nearest_stated, not_measured, stated_bytes};
use crate::plan::{Case, HostGroup, HostId, Pairs, Role, View};
use crate::record::{NotMeasured, Reason, Recording, StepRecord};
use crate::statistic::{Estimate, Line, median};
use crate::vocabulary::{Pattern, Place, ReasonKind, Rung, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One line of the ladder: a rung in one direction, with one number of flows.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The rung's name.
    pub rung: String,
    /// The case of a suite that it stands for; empty on the ladder.
    pub suite: String,
    /// The rung below.
    pub below: Option<&'static str>,
    /// The host whose layer below is compared, where there is one.
    pub below_host: Option<HostId>,
    /// Where its ends stand.
    pub place: Place,
    /// The host that sends, or works alone; none where nothing was measured.
    pub from: Option<HostGroup>,
    /// The host that receives.
    pub to: Option<HostGroup>,
    /// Whether both ends send at once.
    pub both_ways: bool,
    /// Parallel connections.
    pub flows: u32,
    /// How the ends of the stream wait.
    pub wait: Option<Wait>,
    /// The CPUs of the sending end, then of the receiving end.
    pub placement: Vec<u32>,
    /// The message size of its throughput.
    pub ladder_bytes: u64,
    /// Throughput at that size.
    pub throughput_bps: Option<Estimate>,
    /// The share of that stream's datagrams that did not arrive; none where none can be lost.
    pub lost_share: Option<Estimate>,
    /// Half a round trip at the latency's size, polling.
    pub polling_ns: Option<Estimate>,
    /// Half a round trip at the latency's size, sleeping.
    pub sleeping_ns: Option<Estimate>,
    /// Throughput as a share of the layer below.
    pub kept_of_below: Option<Estimate>,
    /// What it adds to the layer below.
    pub cost: Option<Cost>,
    /// The CPU time of its stream.
    pub cpu: Option<CpuTime>,
    /// The engine that was chosen for it by proof; none where its engine is what is set.
    pub chosen: Option<String>,
    /// Segments sent again during its streams; none where no socket was read.
    pub retransmits: Option<u64>,
    /// Why nothing was measured; none where something was.
    pub unavailable: Option<NotMeasured>,
    /// What was left out of it.
    pub not_measured: Vec<NotMeasured>,
}

/// The difference between two layers' half round trips, as a line over message size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// How the ends waited.
    pub wait: Wait,
    /// What each message pays; none over a layer that carries no message.
    pub constant_ns: Option<Estimate>,
    /// What each byte pays.
    pub ns_per_byte: Estimate,
    /// Whether that is much against the layer below.
    pub worth_opening: bool,
}

/// CPU time for each byte of a stream, and how busy it kept its busiest CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTime {
    /// Of all sending threads, in ns a byte.
    pub sender: Option<f64>,
    /// Of all receiving threads, in ns a byte.
    pub receiver: Option<f64>,
}

/// What tells layers apart, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'r> {
    height: usize,
    rung: &'r str,
    both_ways: bool,
    flows: u32,
    pairs: &'r Pairs,
}

impl Layer {
    /// Whether a case belongs to this layer; long streams do.
    pub fn owns(&self, case: &Case) -> bool {
        if !self.suite.is_empty() {
            return case.id == self.suite && !case.beside;
        }
        case.is_base()
            && case.is_of_ladder()
            && self.rung == case.rung
            && self.flows == case.flows
            && self.both_ways == (case.pattern == Pattern::Bidirectional)
            && self.from == Some(case.pairs.senders())
            && self.to == Some(case.pairs.receivers())
    }

    /// The host of a layer in a host; none between hosts, and where nothing was measured.
    pub fn host(&self) -> Option<HostId> {
        self.from.as_ref().filter(|_| self.place == Place::InHost)?.single()
    }

    /// The name for a reader: `network.tcp x 4 a>b`.
    pub fn name(&self) -> String {
        if !self.suite.is_empty() {
            return self.suite.clone();
        }
        let flows = if self.flows > 1 { format!(" x {}", self.flows) } else { String::new() };
        let place = match self.place {
            Place::Network => self.direction(),
            Place::InHost => self.host().map(String::from),
        };
        let place = place.map_or(String::new(), |place| format!(" {place}"));
        format!("{}{flows}{place}", self.rung)
    }

    /// `a>b`, or `a<>b` for both ways; none in host and where nothing was measured.
    pub fn direction(&self) -> Option<String> {
        let sign = if self.both_ways { "<>" } else { ">" };
        (self.place == Place::Network).then_some(())?;
        Some(format!("{}{sign}{}", self.from.as_ref()?, self.to.as_ref()?))
    }

    /// The curve of this layer's stream; a sleeping one before a polling one.
    pub fn stream<'c>(&self, curves: &'c [Curve]) -> Option<&'c Curve> {
        let wanted = |wait| self.curve(curves, |case| case.pattern != Pattern::PingPong && case.wait == wait);
        wanted(Wait::Sleeping).or_else(|| wanted(Wait::Polling))
    }

    /// The curve of this layer's ping-pong.
    pub fn ping_pong<'c>(&self, curves: &'c [Curve], wait: Wait) -> Option<&'c Curve> {
        self.curve(curves, |case| case.pattern == Pattern::PingPong && case.wait == wait)
    }

    fn curve<'c>(&self, curves: &'c [Curve], wanted: impl Fn(&Case) -> bool) -> Option<&'c Curve> {
        curves.iter().find(|curve| self.owns(&curve.case) && wanted(&curve.case))
    }
}

/// All layers, from the bottom up, with what could not be measured.
pub(super) fn layers(recording: &Recording, curves: &[Curve], latency_bytes: u64) -> Vec<Layer> {
    let planned = match recording.plan().map(|plan| &plan.view) {
        // An application is none of a rung's streams and round trips.
        Some(View::Suites(_) | View::Matrix { .. } | View::Comparison { application: Some(_), .. }) => {
            return Vec::new();
        }
        Some(View::Ladder(rungs) | View::Comparison { rungs, .. } | View::Tuning { rungs, .. }) => {
            &rungs.ids[..]
        }
        None => &[],
    };
    let keys: BTreeSet<Key> = curves.iter().map(|curve| Key::of_case(&curve.case)).collect();
    let mut layers: Vec<Layer> = keys.into_iter().map(bare).collect();
    for layer in &mut layers {
        layer.ladder_bytes = nearest_stated(curves, layer.ladder_bytes);
        figures(layer, curves, latency_bytes);
        layer.chosen = layer
            .stream(curves)
            .filter(|curve| curve.case.arm > 0)
            .and_then(|curve| recording.plan()?.arm_name(curve.case.arm));
        observed(layer, recording);
    }
    for index in 0..layers.len() {
        over_below(index, &mut layers, curves);
    }
    for unavailable in &not_measured(recording) {
        leave_out(&mut layers, unavailable);
    }
    for rung in
        planned.iter().filter(|rung| !layers.iter().any(|layer| layer.rung == **rung)).collect::<Vec<_>>()
    {
        let reason = Reason::new(ReasonKind::Unfinished, "no trial was completed", "");
        layers.push(Layer {
            unavailable: Some(NotMeasured { rung: rung.clone(), reason, ..NotMeasured::default() }),
            ..bare(Key::of_one_flow(rung, false, &Pairs::default()))
        });
    }
    layers.sort_by_key(|layer| height(&layer.rung));
    layers
}

/// A layer for each case of a suite, without numbers: what its trials and steps show is told of it.
pub(super) fn of_suites(recording: &Recording) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for case in recording.steps.iter().map(|step| &step.case).filter(|case| !case.is_of_ladder()) {
        if !layers.iter().any(|layer| layer.suite == case.id) {
            layers.push(Layer { suite: case.id.clone(), ..bare(Key::of_case(case)) });
        }
    }
    layers.sort_by(|a, b| a.suite.cmp(&b.suite));
    layers
}

impl<'r> Key<'r> {
    fn of_case(case: &'r Case) -> Key<'r> {
        let both_ways = case.pattern == Pattern::Bidirectional;
        Key { flows: case.flows, ..Key::of_one_flow(&case.rung, both_ways, &case.pairs) }
    }

    fn of_one_flow(rung: &'r str, both_ways: bool, pairs: &'r Pairs) -> Key<'r> {
        Key { height: height(rung), rung, both_ways, flows: 1, pairs }
    }
}

/// Whether both ends of this rung are one thread, which never waits.
fn is_one_ended(id: &str) -> bool {
    Rung::named(id).is_some_and(|rung| rung.transport.ends == 1)
}

/// A layer without numbers.
fn bare(Key { rung: id, both_ways, flows, pairs, .. }: Key) -> Layer {
    let known = Rung::named(id);
    let known_hosts = |hosts: HostGroup| Some(hosts).filter(|hosts| !hosts.is_empty());
    Layer {
        rung: id.to_owned(),
        suite: String::new(),
        below: known.and_then(|rung| rung.below),
        below_host: None,
        place: known
            .map_or(if pairs.is_within_host() { Place::InHost } else { Place::Network }, |rung| rung.place),
        from: known_hosts(pairs.senders()),
        to: known_hosts(pairs.receivers()),
        both_ways,
        flows,
        wait: None,
        placement: Vec::new(),
        ladder_bytes: stated_bytes(id),
        throughput_bps: None,
        lost_share: None,
        polling_ns: None,
        sleeping_ns: None,
        kept_of_below: None,
        cost: None,
        cpu: None,
        chosen: None,
        retransmits: None,
        unavailable: None,
        not_measured: Vec::new(),
    }
}

/// Fills in what the curves say at the stated sizes.
fn figures(layer: &mut Layer, curves: &[Curve], latency_bytes: u64) {
    let half_round_trip = |wait| {
        let point = layer.ping_pong(curves, wait)?.at(latency_bytes)?;
        point.estimate(|values| values.half_round_trip_ns)
    };
    let polling_ns = half_round_trip(Wait::Polling);
    let sleeping_ns = half_round_trip(Wait::Sleeping);
    let stream = layer.stream(curves);
    let wait = stream.map(|curve| curve.case.wait).filter(|_| !is_one_ended(&layer.rung));
    let point = stream.and_then(|curve| curve.at(layer.ladder_bytes));
    let middle = |number: fn(&Values) -> Option<f64>| Some(point?.estimate(number)?.median);
    let sender = middle(|values| Some(values.sender?.cpu_ns_per_byte));
    let receiver = middle(|values| Some(values.receiver?.cpu_ns_per_byte));
    let throughput_bps = point.and_then(|point| point.estimate(|values| values.throughput_bps));
    let lost_share = point.and_then(|point| point.estimate(|values| values.lost_share));
    let cpu = (sender.is_some() || receiver.is_some()).then_some(CpuTime { sender, receiver });
    let mut not_measured = layer.not_measured.clone();
    if let Some(curve) = stream.filter(|_| throughput_bps.is_none() && layer.flows > 1) {
        let why = "its flows were never all under way at once";
        not_measured.push(NotMeasured {
            rung: layer.rung.clone(),
            pattern: Some(curve.case.pattern),
            reason: Reason::new(ReasonKind::TooLittle, why, "longer trials: a larger profile"),
            ..NotMeasured::default()
        });
    }
    let cells = Layer { wait, throughput_bps, lost_share, polling_ns, sleeping_ns, cpu, ..layer.clone() };
    *layer = Layer { not_measured, ..cells };
}

/// Fills in what was observed around the steps: placement and segments sent again.
fn observed(layer: &mut Layer, recording: &Recording) {
    let steps: Vec<&StepRecord> = recording.steps.iter().filter(|step| layer.owns(&step.case)).collect();
    layer.placement = steps.first().map_or(Vec::new(), |step| placement(step));
    let streams = steps.iter().filter(|step| step.pass > 0 && step.case.pattern != Pattern::PingPong);
    for socket in streams.flat_map(|step| &step.sockets) {
        let again = socket.moved.get("total_retrans").copied().unwrap_or(0);
        layer.retransmits = Some(layer.retransmits.unwrap_or(0).saturating_add(again));
    }
}

/// Each end's CPUs, none twice, the sending end first.
fn placement(step: &StepRecord) -> Vec<u32> {
    let pattern = step.case.pattern.entry();
    let [from, to] = pattern.ends;
    let is_first = |role: &&Role| match from == to {
        true => role.host == step.case.pairs.first().from,
        false => from.contains(&role.does) || pattern.alone == Some(role.does),
    };
    let (first, second): (Vec<&Role>, Vec<&Role>) = step.roles.iter().partition(is_first);
    // A role lists the CPUs that it may use; each flow takes the next one.
    let used = |role: &&Role| role.cpus.clone().into_iter().take(step.case.flows as usize);
    let cpus = |roles: Vec<&Role>| roles.iter().flat_map(used).collect::<BTreeSet<u32>>();
    cpus(first).into_iter().chain(cpus(second)).collect()
}

/// Compares a layer with the one below.
fn over_below(index: usize, layers: &mut [Layer], curves: &[Curve]) {
    let layer = &layers[index];
    let Some(below) = below(layer, layers) else { return };
    let kept = share_kept(layer, below, curves);
    let cost = [Wait::Polling, Wait::Sleeping].iter().find_map(|wait| cost(layer, below, curves, *wait));
    let below_host = below.host();
    let layer = &mut layers[index];
    layer.kept_of_below = kept;
    layer.cost = cost;
    layer.below_host = below_host;
}

/// The layer below: in host on the sending host, else (over the network only) wherever it was measured.
pub fn below<'l>(layer: &Layer, layers: &'l [Layer]) -> Option<&'l Layer> {
    let here = |other: &&Layer| match other.place {
        Place::InHost => other.from == layer.from,
        Place::Network => other.from == layer.from && other.to == layer.to,
    };
    let mut candidates = layers.iter().filter(|other| {
        Some(other.rung.as_str()) == layer.below
            && other.flows == layer.flows
            && other.both_ways == layer.both_ways
    });
    let anywhere = candidates
        .clone()
        .next()
        .filter(|other| layer.place == Place::Network && other.place == Place::InHost);
    candidates.find(here).or(anywhere)
}

/// The share of the throughput below, at this layer's size, where both measured that.
fn share_kept(layer: &Layer, below: &Layer, curves: &[Curve]) -> Option<Estimate> {
    Estimate::from_values(shares(layer, below, curves, layer.ladder_bytes)?)
}

/// Each pass's throughput as a share of the throughput below, at one size; none between unlike waits.
pub(super) fn shares(layer: &Layer, below: &Layer, curves: &[Curve], bytes: u64) -> Option<Vec<f64>> {
    let (upper, lower) = (layer.stream(curves)?, below.stream(curves)?);
    if upper.case.wait != lower.case.wait && !is_one_ended(&below.rung) {
        return None;
    }
    let (upper, lower) = (upper.at(bytes)?, lower.at(bytes)?);
    let ratio = |(pass, values): (&u32, &Values)| {
        Some(values.throughput_bps? / lower.passes.get(pass)?.throughput_bps?)
    };
    Some(upper.passes.iter().filter_map(ratio).collect())
}

/// Lines through both layers' times over the sizes that both measured, pass by pass.
fn cost(layer: &Layer, below: &Layer, curves: &[Curve], wait: Wait) -> Option<Cost> {
    let upper = layer.ping_pong(curves, wait)?;
    let one_ended = is_one_ended(&below.rung);
    let lower = if one_ended { below.stream(curves)? } else { below.ping_pong(curves, wait)? };
    let lines = upper.passes().into_iter().filter_map(|pass| {
        let above = upper.line(pass, |size| lower.holds(pass, size))?;
        let under = lower.line(pass, |size| upper.holds(pass, size))?;
        Some((above, under))
    });
    let lines: Vec<(Line, Line)> = lines.collect();
    let added =
        |part: fn(&Line) -> f64| Estimate::from_values(lines.iter().map(|(a, under)| part(a) - part(under)));
    let under = |part: fn(&Line) -> f64| median(lines.iter().map(|(_, under)| part(under)));
    let constant_ns = added(|line| line.constant).filter(|_| !one_ended);
    let ns_per_byte = added(|line| line.slope)?;
    let constant = constant_ns.map(|added| added.median).zip(under(|line| line.constant));
    let worth_opening = worth_opening(constant, (ns_per_byte.median, under(|line| line.slope)?));
    Some(Cost { wait, constant_ns, ns_per_byte, worth_opening })
}

/// Says it of the layer of a case that failed, which it gets where it has none.
fn leave_out_case(layers: &mut Vec<Layer>, case: &Case, failed: &NotMeasured) {
    if let Some(layer) = layers.iter_mut().find(|layer| layer.owns(case)) {
        layer.not_measured.push(failed.clone());
    } else if case.is_base() && case.is_of_ladder() {
        layers.push(Layer { unavailable: Some(failed.clone()), ..bare(Key::of_case(case)) });
    }
}

/// Says of the layers concerned what could not be measured; a rung without any layer gets one for it.
fn leave_out(layers: &mut Vec<Layer>, unavailable: &NotMeasured) {
    if let Some(case) = &unavailable.case {
        return leave_out_case(layers, case, unavailable);
    }
    let host = unavailable.host.map(HostGroup::from);
    let concerned = |layer: &&mut Layer| {
        let both_ways = unavailable.pattern.is_none_or(|p| layer.both_ways == (p == Pattern::Bidirectional));
        let here = host.is_none() || layer.from == host;
        layer.rung == unavailable.rung && here && (both_ways || layer.unavailable.is_some())
    };
    // A round trip is measured once, in the first layer of its rung that it could belong to.
    let most = if unavailable.pattern == Some(Pattern::PingPong) { 1 } else { usize::MAX };
    let mut any = false;
    for layer in layers.iter_mut().filter(concerned).take(most) {
        any = true;
        if !layer.not_measured.iter().chain(&layer.unavailable).any(|not| not.repeats(unavailable)) {
            layer.not_measured.push(unavailable.clone());
        }
    }
    if !any {
        let id = unavailable.rung.as_str();
        let both_ways = unavailable.pattern == Some(Pattern::Bidirectional);
        let pairs = unavailable.host.map_or_else(Pairs::default, |host| Pairs::single(host, host));
        let layer = bare(Key::of_one_flow(id, both_ways, &pairs));
        layers.push(Layer { unavailable: Some(unavailable.clone()), ..layer });
    }
}
