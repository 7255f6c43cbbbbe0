//! What a pass visits: the cases of the plan on these hosts, with what each can do.

use super::coverage::Coverage;
use super::network_path::NetworkPath;
use super::wanted::{Wanted, are_apart};
use super::{ladder, refusal, suite};
use crate::plan::{Case, LoadOf, Pairs, Plan, View};
use crate::record::{NotMeasured, Reason, Recording};
use crate::vocabulary::{Pattern, Place, Rung};

/// Within a host there is no bucket to empty and no path to probe: a window grows in microseconds.
const IN_HOST_WARM_UP_NS: u64 = 50_000_000;

/// What fills caches and finds its CPU takes no longer.
const CACHES_WARM_UP_NS: u64 = 10_000_000;

/// How long a load runs alone before what is measured under it: longer than a window takes to grow.
pub(super) const LOAD_LEAD_NS: u64 = 500_000_000;

/// What a probing visit should take about.
pub(super) const PROBE_NS: u64 = 10_000_000;

/// The fewest samples of a ping-pong that is short enough for several, and slices of a stream's block.
pub(super) const LEAST_SAMPLES: u64 = 3;

/// Nothing that is predicted to take longer than this is sent more than once in a slice.
const LONGEST_MESSAGE_NS: f64 = 1e9;
/// In a search every visit counts, and many must fit: what takes longer than this is sent once in one.
pub(super) const LONG_IN_SEARCH_NS: f64 = 250e6;

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
    /// The rung that it is measured on.
    pub rung: &'static Rung,
    /// The message sizes of its blocks.
    pub sizes: Vec<u64>,
    /// How long each block lasts.
    pub trial_ns: u64,
    /// How long the flow runs before the first block.
    pub warm_up_ns: u64,
    /// How long one visit should take.
    pub nominal_ns: u64,
    /// What is known of the path between its hosts.
    pub(super) path: NetworkPath,
    /// What runs beside it.
    pub(super) load: Option<LoadOf>,
    /// Whether its blocks last as long as it says, however long the way is.
    pub(super) bounded: bool,
}

impl Entry {
    /// The same entry with other sizes: some of its own, or sizes between them.
    pub(super) fn with_sizes(&self, sizes: Vec<u64>) -> Entry {
        Entry { sizes, ..self.clone() }.priced()
    }

    /// With what it should take: what its blocks last, and on a long way the round trips that it takes to
    /// connect, and to agree on each block.
    pub(super) fn priced(mut self) -> Entry {
        let round_trip_ns = self.path.round_trip_ns as u64;
        let block = |size: &u64| self.trial_ns.max(self.least_ns(*size)) + round_trip_ns;
        let blocks: u64 = self.sizes.iter().map(block).sum();
        self.nominal_ns = step_ns(self.case.pattern) + 2 * round_trip_ns + self.warm_up_ns + blocks;
        self.nominal_ns += self.load.as_ref().map_or(0, |_| LOAD_LEAD_NS);
        self
    }

    /// The fewest messages of a block, at so many nanoseconds each.
    pub(super) fn least_messages(&self, ns: f64) -> u64 {
        let is_ping_pong = self.case.pattern.is_exchange();
        let longest_ns = if self.bounded { LONG_IN_SEARCH_NS } else { LONGEST_MESSAGE_NS };
        match ns > longest_ns || (is_ping_pong && self.path.is_long()) {
            // One is enough to say so.
            true => 1,
            false => LEAST_SAMPLES + u64::from(is_ping_pong),
        }
    }

    /// What the fewest messages of a block take at least.
    fn least_ns(&self, size: u64) -> u64 {
        let ns = self.path.message_ns(self.case.pattern, size);
        (ns * self.least_messages(ns) as f64) as u64
    }

    /// Whether several pairs of hosts take part. They begin tens of milliseconds apart, each after a warm-up of its
    /// own: what a short block of theirs tells of a rate is that of those that were alone.
    pub(super) fn has_pairs(&self) -> bool {
        self.case.pairs.len() > 1
    }

    /// Leaves out those of its parts that failed, or where it has one part the sizes from the one on that failed: what
    /// does not pass is hardly the smaller. Whether something is left.
    pub(super) fn leave_out(&mut self, not: &NotMeasured) -> bool {
        let is_concerned = |pairs: &Pairs| not.concerns(&Case { pairs: pairs.clone(), ..self.case.clone() });
        let is_of_load = |host| self.load.as_ref().is_some_and(|load| load.has(host));
        if not.lost_host().is_some_and(is_of_load) {
            return false;
        }
        if !not.message_bytes.is_empty() && is_concerned(&self.case.pairs) {
            self.sizes.retain(|size| not.message_bytes.iter().all(|failed| size < failed));
            return !self.sizes.is_empty();
        }
        self.case = self.case.without(is_concerned).unwrap_or_default();
        !self.case.pairs.is_empty()
    }

    /// What it should take to find its rates.
    pub(super) fn probe_ns(&self) -> u64 {
        let round_trip_ns = self.path.round_trip_ns as u64;
        let first = match self.case.pattern {
            // What is sent at once while the window is small takes twice its time.
            _ if !self.path.is_long() => PROBE_NS / 2,
            Pattern::PingPong => self.nominal_ns,
            _ => 10 * round_trip_ns,
        };
        let trials_ns = self.nominal_ns - self.warm_up_ns;
        first + if self.has_pairs() { trials_ns } else { trials_ns / 3 }
    }
}

/// Every entry of a pass, and what cannot be measured. Between the hosts `coverage` says what is left out.
pub(super) fn entries(
    plan: &Plan,
    recording: &Recording,
    coverage: &Coverage,
) -> (Vec<Entry>, Vec<NotMeasured>) {
    let wanted = match &plan.view {
        View::Comparison { application: Some(application), .. } => suite::of_arms(plan, application),
        View::Ladder(_) | View::Comparison { .. } | View::Tuning { .. } | View::Matrix { .. } => {
            ladder::wanted(plan, recording, coverage)
        }
        View::Suites(suites) => suite::wanted(plan, suites),
    };
    let (mut entries, mut unavailable) = (Vec::new(), Vec::new());
    // Who is lost later is left out from there on: a run that is gone on with plans what it planned.
    let lost = recording.unreached_hosts();
    for mut one in wanted {
        let Some(rung) = Rung::named(&one.case.rung) else { continue };
        let needed = one.without(&lost).map(refusal::of_lost);
        let refused = needed.or_else(|| refusal::of_case(plan, recording, rung, &one));
        let left_out = refused.clone().or_else(|| refusal::of_sizes(rung, &one));
        let left_out = left_out.map(|reason| not_measured(plan, rung, &one.case, reason));
        unavailable.extend(left_out.filter(|not| !unavailable.contains(not)));
        if refused.is_none() {
            entries.extend(of_case(plan, rung, one));
        }
    }
    (entries, unavailable)
}

fn not_measured(plan: &Plan, rung: &Rung, case: &Case, reason: Reason) -> NotMeasured {
    // Each arm of an application may be carried by a rung of its own.
    let is_of_arm = plan.view.application().is_some() && case.arm > 0;
    NotMeasured {
        arm: is_of_arm.then_some(case.arm),
        rung: rung.id.into(),
        pattern: Some(case.pattern),
        wait: Some(case.wait),
        host: (rung.place == Place::InHost).then(|| case.pairs.first().from),
        reason,
        ..NotMeasured::default()
    }
}

/// The entries of one case: one, or one a size.
fn of_case(plan: &Plan, rung: &'static Rung, wanted: Wanted) -> Vec<Entry> {
    let Wanted { case, sizes, trial_ns, load } = wanted;
    let path = NetworkPath::for_case(plan, rung, &case.pairs);
    let sizes: Vec<u64> =
        sizes.into_iter().filter(|size| refusal::is_carried(rung, case.pattern, *size)).collect();
    // A long stream shows how a new connection begins, so nothing warms it up.
    let warm_up_ns = if case.timeline { 0 } else { warm_up_ns(plan, rung, &case, &path) };
    let trial_ns = match case.pattern.is_exchange() {
        true => path.exchange_trial_ns(trial_ns),
        false => path.stream_trial_ns(trial_ns),
    };
    let is_apart = are_apart(&case, rung);
    let entry = |sizes: Vec<u64>| {
        let (case, load) = (case.clone(), load.clone());
        Entry { case, rung, sizes, trial_ns, warm_up_ns, nominal_ns: 0, path, load, bounded: false }.priced()
    };
    match sizes.is_empty() {
        true => Vec::new(),
        false if is_apart => sizes.into_iter().map(|size| entry(vec![size])).collect(),
        false => vec![entry(sizes)],
    }
}

/// How long a stream runs before its first trial.
fn warm_up_ns(plan: &Plan, rung: &Rung, case: &Case, path: &NetworkPath) -> u64 {
    let warm_up_ns = plan.profile.warm_up_ns;
    match (case.pattern, rung.transport.ends, rung.place) {
        (pattern, ..) if pattern.is_exchange() || pattern.connects_anew() || pattern.searches() => 0,
        (_, 1, _) => 0,
        // Without a window there is nothing that grows, and a sibling is only looked at.
        _ if !rung.transport.has_window && !ladder::is_whole(plan, rung) => warm_up_ns.min(CACHES_WARM_UP_NS),
        (.., Place::InHost) => warm_up_ns.min(IN_HOST_WARM_UP_NS),
        // The sizes share their connections, whose windows an idle moment closes and the path opens again.
        (.., Place::Network) if rung.transport.foreign => path.warm_up_ns(warm_up_ns.min(IN_HOST_WARM_UP_NS)),
        (.., Place::Network) if rung.transport.has_window => path.warm_up_ns(warm_up_ns),
        (.., Place::Network) => warm_up_ns,
    }
}
