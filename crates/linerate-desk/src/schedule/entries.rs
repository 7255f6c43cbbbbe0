//! What a pass visits: the rungs of the plan, on these hosts, with what each can do.

use super::blocks;
use super::far::Far;
use super::placement::{ends, share_machine};
use super::road::Road;
use super::suite;
use crate::plan::{Carrier, Case, HostId, LoadOf, Pairs, Plan, Target};
use crate::record::{HostFacts, Lack, Recording, Unavailable};
use crate::unit::BitRate;
use crate::vocabulary::{
    Family, LATENCY_BYTES, Pattern, Place, RUNGS, Rung, TRANSPORTS, TransportEntry, Wait,
};
use std::collections::BTreeSet;

/// On a link with a token bucket a trial is true only when it outlasts the burst by far.
const BUCKET_TRIAL_NS: u64 = 2_000_000_000;

/// A stream of one size has paid for its warm-up with nothing else: it lasts this many trials.
const SINGLE_TRIALS: u64 = 5;

/// Within a host there is no bucket to empty and no path to probe: a window grows in microseconds.
const IN_HOST_WARM_UP_NS: u64 = 50_000_000;

/// What fills caches and finds its CPU takes no longer.
const CACHES_WARM_UP_NS: u64 = 10_000_000;

/// How long a load runs alone before what is measured under it: longer than a window takes to grow.
pub(super) const LOAD_LEAD_NS: u64 = 500_000_000;

/// Two ends that poll, and the wire between them.
const CPUS_WITH_WIRE: usize = 3;

/// What the controller, the agents and the threads cost a step, in one machine; a stream's threads set up
/// much more memory.
const STEP_NS: u64 = 5_000_000;
const STREAM_STEP_NS: u64 = 20_000_000;

/// What a step costs beside its blocks.
pub(super) fn step_ns(pattern: Pattern) -> u64 {
    if pattern.is_exchange() { STEP_NS } else { STREAM_STEP_NS }
}

/// One case of a pass: its sizes run in one step when they are a stream's, else there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What is measured.
    pub case: Case,
    /// Where its ends stand.
    pub place: Place,
    /// How many ends it has.
    pub ends: u32,
    /// The rung.
    pub rung: &'static str,
    /// The message sizes of its blocks.
    pub sizes: Vec<u64>,
    /// How long each block lasts.
    pub trial_ns: u64,
    /// How long the flow runs before the first block.
    pub warm_up_ns: u64,
    /// How long one visit should take.
    pub nominal_ns: u64,
    /// What is known of the way between its hosts.
    pub(super) road: Road,
    /// What runs beside it.
    pub(super) load: Option<LoadOf>,
}

impl Entry {
    /// The same entry with other sizes: some of its own, or sizes between them.
    pub(super) fn with_sizes(&self, sizes: Vec<u64>) -> Entry {
        Entry { sizes, ..self.clone() }.priced()
    }

    /// With what it should take: what its blocks last, and on a long way the round trips that it takes to
    /// connect, and to agree on each block.
    pub(super) fn priced(mut self) -> Entry {
        let round_trip_ns = self.road.round_trip_ns as u64;
        let block = |size: &u64| self.trial_ns.max(self.least_ns(*size)) + round_trip_ns;
        let blocks: u64 = self.sizes.iter().map(block).sum();
        self.nominal_ns = step_ns(self.case.pattern) + 2 * round_trip_ns + self.warm_up_ns + blocks;
        self.nominal_ns += self.load.as_ref().map_or(0, |_| LOAD_LEAD_NS);
        self
    }

    /// What the fewest messages of a block take at least.
    fn least_ns(&self, size: u64) -> u64 {
        let ns = self.road.message_ns(self.case.pattern, size);
        (ns * blocks::least_messages(self, ns) as f64) as u64
    }

    /// Whether several pairs of hosts take part. They begin tens of milliseconds apart, each after a warm-up of its
    /// own: what a short block of theirs tells of a rate is that of those that were alone.
    pub(super) fn has_pairs(&self) -> bool {
        self.case.pairs.len() > 1
    }

    /// Leaves out those of its parts that failed; whether something is left.
    pub(super) fn leave_out(&mut self, not: &Unavailable) -> bool {
        let left = self.case.without(|pairs| not.lost(&Case { pairs: pairs.clone(), ..self.case.clone() }));
        self.case = left.unwrap_or_default();
        !self.case.pairs.is_empty()
    }

    /// What it should take to find its rates.
    pub(super) fn probe_ns(&self) -> u64 {
        let round_trip_ns = self.road.round_trip_ns as u64;
        let first = match self.case.pattern {
            // What is sent at once while the window is small takes twice its time.
            _ if !self.road.is_long() => blocks::PROBE_NS / 2,
            Pattern::PingPong => self.nominal_ns,
            _ => 10 * round_trip_ns,
        };
        let trials_ns = self.nominal_ns - self.warm_up_ns;
        first + if self.has_pairs() { trials_ns } else { trials_ns / 3 }
    }
}

/// Every entry of a pass, and what cannot be measured. Between the hosts `far` says what is left out.
pub(super) fn entries(plan: &Plan, recording: &Recording, far: &Far) -> (Vec<Entry>, Vec<Unavailable>) {
    if !plan.suites.is_empty() {
        return suite::entries(plan, recording);
    }
    let mut found = (Vec::new(), Vec::new());
    let wanted = |rung: &&Rung| plan.rungs.iter().any(|id| id == rung.id) && far.has(plan, rung);
    for rung in RUNGS.iter().filter(wanted) {
        for (from, to) in directions(rung, recording) {
            for pattern in rung.patterns {
                visit((plan, far), recording, rung, *pattern, (from, to), &mut found);
            }
        }
    }
    found
}

/// From and to: each machine by itself, or across in both directions.
fn directions(rung: &Rung, recording: &Recording) -> Vec<(HostId, HostId)> {
    let hosts: Vec<HostId> = recording.host_ids().collect();
    match (rung.place, hosts.as_slice()) {
        (Place::Network, [a, b, ..]) => vec![(*a, *b), (*b, *a)],
        (Place::Network, _) => Vec::new(),
        (Place::InHost, _) => {
            let machines = if share_machine(&recording.hosts) { 1 } else { hosts.len() };
            hosts.into_iter().take(machines).map(|host| (host, host)).collect()
        }
    }
}

fn visit(
    (plan, far): (&Plan, &Far),
    recording: &Recording,
    rung: &'static Rung,
    pattern: Pattern,
    (from, to): (HostId, HostId),
    (entries, unavailable): &mut (Vec<Entry>, Vec<Unavailable>),
) {
    let profile = &plan.profile;
    let forward_only = profile.forward_only || (rung.place == Place::Network && far.forward_only);
    if forward_only && (from > to || pattern == Pattern::Bidirectional) {
        return;
    }
    // Both directions of a round trip, or of a stream both ways, are one measurement.
    if pattern != Pattern::Stream && from > to {
        return;
    }
    let waits: &[Wait] = match (only_wait(plan, rung, 0), pattern.is_exchange()) {
        (Some(Wait::Polling), _) => &[Wait::Polling],
        (None, true) => &[Wait::Polling, Wait::Sleeping],
        (Some(Wait::Sleeping), _) | (None, false) => &[Wait::Sleeping],
    };
    // Parallel connections are a question to streams in one direction.
    let flows = if pattern == Pattern::Stream { rung.flows } else { &rung.flows[..1] };
    let reverse = from > to;
    if reverse && !is_whole(plan, rung) {
        return;
    }
    for wait in waits {
        let wanted =
            |flows: &&u32| **flows == 1 || (!forward_only && (!reverse || profile.parallel_both_ways));
        for flows in flows.iter().filter(wanted) {
            let case = Case {
                rung: rung.id.into(),
                pattern,
                wait: *wait,
                flows: *flows,
                pairs: Pairs::one(from, to),
                timeline: false,
                arm: 0,
                ..Case::default()
            };
            match refused(plan, recording, rung, &case) {
                Some((why, hint)) => unavailable.push(Unavailable {
                    rung: rung.id.into(),
                    pattern: Some(pattern),
                    wait: Some(*wait),
                    host: (rung.place == Place::InHost).then(|| from.to_string()),
                    why,
                    hint,
                    ..Unavailable::default()
                }),
                None => entries.extend(of_case(plan, far, rung, case)),
            }
        }
    }
}

/// The only way in which the ends of a rung can wait in an arm; none where they can wait either way.
pub(super) fn only_wait(plan: &Plan, rung: &Rung, arm: u32) -> Option<Wait> {
    let entry = TRANSPORTS.iter().find(|entry| entry.name == rung.transport)?;
    entry.only_wait(rung.place, |knob| plan.value_for(rung.id, arm, knob))
}

/// Why a case cannot be measured truly on these hosts, and what to try.
pub(super) fn refused(
    plan: &Plan,
    recording: &Recording,
    rung: &Rung,
    case: &Case,
) -> Option<(String, String)> {
    if let Some(lack) = lacking(recording, rung, case) {
        return Some((lack.why.clone(), lack.hint.clone()));
    }
    if case.pattern.is_exchange() && rung.place == Place::Network && bucket(plan).is_some() {
        let why = "unavailable: token bucket (it passes a burst at line rate, so a round trip over it would read too fast)";
        return Some((why.into(), "measure latency on a lab without rate".into()));
    }
    if let Some(refusal) = without_ipv6(recording, rung, case) {
        return Some(refusal);
    }
    let same_machine = rung.place == Place::InHost || share_machine(&recording.hosts);
    if case.wait == Wait::Polling && rung.place == Place::Network && !has_cpu_for_wire(plan, recording) {
        let why = "polling needs a third CPU: the wire needs a CPU of its own, and would wait for the ends'";
        return Some((
            why.into(),
            "give the run three CPUs, or take the kernel's wire: lab:wire=netem".into(),
        ));
    }
    if case.wait == Wait::Polling && !ends(plan, recording, case).are_apart(same_machine) {
        let why =
            "polling needs a CPU for each end: on one CPU the ends would wait for each other's time slice";
        return Some((why.into(), "give the run two CPUs, or set cpu.placement=0/1".into()));
    }
    None
}

/// What one of the case's hosts said that it has not.
fn lacking<'r>(recording: &'r Recording, rung: &Rung, case: &Case) -> Option<&'r Lack> {
    let ends = recording.hosts.iter().filter(|host| host.host.parse().is_ok_and(|host| case.pairs.has(host)));
    ends.flat_map(|host| &host.lacks).find(|lack| lack.transport == rung.transport)
}

/// Whether the program's own wire, where there is one, has a CPU beside those of two ends that poll.
fn has_cpu_for_wire(plan: &Plan, recording: &Recording) -> bool {
    let cpus: BTreeSet<u32> = recording.hosts.iter().flat_map(|host| &host.cpus).copied().collect();
    !plan.target.has_own_wire() || cpus.len() >= CPUS_WITH_WIRE
}

/// A rung of IPv6 needs an address on both hosts, or on the loopback interface.
fn without_ipv6(recording: &Recording, rung: &Rung, case: &Case) -> Option<(String, String)> {
    if rung.family != Family::V6 || !TRANSPORTS.iter().any(|t| t.name == rung.transport && t.crosses_hosts) {
        return None;
    }
    let ends = recording.hosts.iter().filter(|host| host.host.parse().is_ok_and(|host| case.pairs.has(host)));
    let lacks = |host: &&HostFacts| match rung.place {
        Place::InHost => !host.loopback6,
        Place::Network => host.address6.is_none(),
    };
    let host = &ends.into_iter().find(lacks)?.host;
    Some(match rung.place {
        Place::InHost => {
            (format!("no IPv6 address is on the loopback interface of host {host}"), String::new())
        }
        Place::Network => (
            format!("no IPv6 address is known for host {host}"),
            format!("say both: --address {host}=192.0.2.1 --address {host}=2001:db8::1"),
        ),
    })
}

/// The rate of the lab's token bucket.
fn bucket(plan: &Plan) -> Option<BitRate> {
    match &plan.target {
        Target::Lab(topology) => topology.shape.rate.filter(|_| topology.carrier() == Carrier::TokenBucket),
        Target::Ssh(_) | Target::Simulated(_) => None,
    }
}

/// Whether a case's sizes are visited apart, in the pass's shuffled order: exchanges are. A stream's follow each other
/// in one flow, but where what crossed is audited, each by itself: a size that took another way could hide.
pub(super) fn are_apart(case: &Case, rung: &Rung, transport: &TransportEntry) -> bool {
    let is_audited = transport.foreign && rung.place == Place::Network;
    case.pattern.is_exchange() || case.pattern.connects_anew() || case.pattern.searches() || is_audited
}

/// The entries of one case.
fn of_case(plan: &Plan, far: &Far, rung: &'static Rung, case: Case) -> Vec<Entry> {
    let Some(transport) = TRANSPORTS.iter().find(|transport| transport.name == rung.transport) else {
        return Vec::new();
    };
    let network_bucket = bucket(plan).filter(|_| rung.place == Place::Network);
    let road = match rung.place {
        Place::Network => Road::between(plan, case.pairs.first()),
        Place::InHost => Road::default(),
    };
    let sizes = sizes(plan, (far, &road), rung, transport, &case, network_bucket.is_some());
    let entry = |case: Case, sizes: Vec<u64>, trial_ns: u64, warm_up_ns: u64| {
        let (place, ends, rung) = (rung.place, transport.ends, rung.id);
        let nominal_ns = 0;
        Entry { case, place, ends, rung, sizes, trial_ns, warm_up_ns, nominal_ns, road, load: None }.priced()
    };
    let warm_up_ns = warm_up_ns(plan, rung, transport, &case, &road);
    let trial_ns = match sizes.len() {
        _ if network_bucket.is_some() => BUCKET_TRIAL_NS,
        _ if case.pattern.is_exchange() => road.exchange_trial_ns(plan.profile.trial_ns),
        _ if road.is_long() || !is_whole(plan, rung) => road.stream_trial_ns(plan.profile.trial_ns),
        1 if !are_apart(&case, rung, transport) => SINGLE_TRIALS * plan.profile.trial_ns,
        _ => plan.profile.trial_ns,
    };
    if are_apart(&case, rung, transport) {
        return sizes.into_iter().map(|size| entry(case.clone(), vec![size], trial_ns, warm_up_ns)).collect();
    }
    let mut entries = vec![entry(case.clone(), sizes, trial_ns, warm_up_ns)];
    if has_timeline(plan, rung, &case) {
        let long = Case { timeline: true, ..case };
        // It shows how a new connection begins, so nothing warms it up.
        let timeline_ns = road.stream_trial_ns(plan.profile.timeline_ns);
        entries.push(entry(long, vec![rung.ladder_bytes], timeline_ns, 0));
    }
    entries
}

/// How long a stream runs before its first trial.
pub(super) fn warm_up_ns(
    plan: &Plan,
    rung: &Rung,
    transport: &TransportEntry,
    case: &Case,
    road: &Road,
) -> u64 {
    let warm_up_ns = plan.profile.warm_up_ns;
    match (case.pattern, transport.ends, rung.place) {
        (pattern, ..) if pattern.is_exchange() || pattern.connects_anew() || pattern.searches() => 0,
        (_, 1, _) => 0,
        // Without a window there is nothing that grows, and a sibling is only looked at.
        _ if !transport.has_window && !is_whole(plan, rung) => warm_up_ns.min(CACHES_WARM_UP_NS),
        (.., Place::InHost) => warm_up_ns.min(IN_HOST_WARM_UP_NS),
        // The sizes share their connections, whose windows an idle moment closes and the path opens again.
        (.., Place::Network) if transport.foreign => road.warm_up_ns(warm_up_ns.min(IN_HOST_WARM_UP_NS)),
        (.., Place::Network) if transport.has_window => road.warm_up_ns(warm_up_ns),
        (.., Place::Network) => warm_up_ns,
    }
}

/// One long stream a network rung.
fn has_timeline(plan: &Plan, rung: &Rung, case: &Case) -> bool {
    rung.place == Place::Network
        && !rung.sibling
        && case.pattern == Pattern::Stream
        && case.pairs.is_forward()
        && case.flows == rung.flows[0]
        && plan.profile.timeline_ns > 0
}

/// Whether a rung is measured at every size and in every direction.
fn is_whole(plan: &Plan, rung: &Rung) -> bool {
    !rung.sibling || plan.named || plan.profile.whole_siblings
}

/// The whole ladder of sizes where a curve is drawn, else the size at which rungs are compared.
fn sizes(
    plan: &Plan,
    (far, road): (&Far, &Road),
    rung: &Rung,
    transport: &TransportEntry,
    case: &Case,
    bucket: bool,
) -> Vec<u64> {
    let curve =
        case.flows == rung.flows[0] && case.pattern != Pattern::Bidirectional && case.pairs.is_forward();
    if bucket || !curve || (!is_whole(plan, rung) && case.pattern != Pattern::PingPong) {
        return vec![rung.ladder_bytes];
    }
    if !is_whole(plan, rung) {
        return vec![LATENCY_BYTES];
    }
    let carries =
        |size: &u64| (transport.least_bytes..=transport.most_bytes.unwrap_or(u64::MAX)).contains(size);
    if !rung.sizes.is_empty() {
        // A round trip is compared with the other rungs' at one size more.
        let more = (case.pattern == Pattern::PingPong).then_some(LATENCY_BYTES);
        return rung.sizes.iter().copied().chain(more).collect();
    }
    let compared = if case.pattern == Pattern::PingPong { LATENCY_BYTES } else { rung.ladder_bytes };
    let is_kept = |size: &u64| *size == compared || far.keeps(*size, rung, road);
    let sizes: Vec<u64> = plan.profile.sizes.iter().copied().filter(carries).filter(is_kept).collect();
    // The few sizes of a short budget may be none that the transport carries.
    if sizes.is_empty() { vec![compared] } else { sizes }
}
