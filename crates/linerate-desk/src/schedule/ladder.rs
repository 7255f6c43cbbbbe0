//! The cases of the ladder: the rungs of the plan from the bottom up, with what each is measured at.

use super::coverage::Coverage;
use super::network_path::NetworkPath;
use super::placement::share_machine;
use super::refusal::{bucket, is_carried, only_wait};
use super::wanted::{Wanted, are_apart};
use crate::plan::{Case, Pairs, Plan, View};
use crate::record::Recording;
use crate::vocabulary::{LATENCY_BYTES, Pattern, Place, RUNGS, Rung, Wait};

/// On a link with a token bucket a trial is true only when it outlasts the burst by far.
const BUCKET_TRIAL_NS: u64 = 2_000_000_000;

/// A stream of one size has paid for its warm-up with nothing else: it lasts this many trials.
const SINGLE_TRIALS: u64 = 5;

/// Every case, in the order of the rungs.
pub(super) fn wanted(plan: &Plan, recording: &Recording, coverage: &Coverage) -> Vec<Wanted> {
    let is_wanted =
        |rung: &&Rung| plan.view.rungs().iter().any(|id| id == rung.id) && coverage.has(plan, rung);
    let of_rung = |rung: &'static Rung| {
        let directions = directions(rung, plan, recording).into_iter();
        directions
            .flat_map(move |pairs| rung.patterns.iter().map(move |pattern| (rung, pairs.clone(), *pattern)))
    };
    let visits = RUNGS.iter().filter(is_wanted).flat_map(of_rung);
    visits.flat_map(|(rung, pairs, pattern)| of_pattern(plan, coverage, rung, pattern, &pairs)).collect()
}

/// From and to: each machine by itself, or across in both directions.
fn directions(rung: &Rung, plan: &Plan, recording: &Recording) -> Vec<Pairs> {
    let hosts = plan.host_ids();
    match (rung.place, hosts.as_slice()) {
        (Place::Network, [a, b, ..]) => vec![Pairs::single(*a, *b), Pairs::single(*b, *a)],
        (Place::Network, _) => Vec::new(),
        (Place::InHost, _) => {
            let machines = if share_machine(&recording.hosts) { 1 } else { hosts.len() };
            hosts.into_iter().take(machines).map(|host| Pairs::single(host, host)).collect()
        }
    }
}

/// How the ends wait and how many flows there are, of one pattern in one direction.
fn of_pattern(
    plan: &Plan,
    coverage: &Coverage,
    rung: &'static Rung,
    pattern: Pattern,
    pairs: &Pairs,
) -> Vec<Wanted> {
    let profile = &plan.profile;
    let reverse = !pairs.is_forward();
    let forward_only = profile.forward_only || (rung.place == Place::Network && coverage.forward_only);
    let is_left_out = forward_only && (reverse || pattern == Pattern::Bidirectional);
    // Both directions of a round trip, or of a stream both ways, are one measurement.
    let is_same = reverse && pattern != Pattern::Stream;
    if is_left_out || is_same || (reverse && !is_whole(plan, rung)) {
        return Vec::new();
    }
    let waits: &[Wait] = match (only_wait(plan, rung, 0), pattern.is_exchange()) {
        (Some(Wait::Polling), _) => &[Wait::Polling],
        (None, true) => &[Wait::Polling, Wait::Sleeping],
        (Some(Wait::Sleeping), _) | (None, false) => &[Wait::Sleeping],
    };
    // Parallel connections are a question to streams in one direction.
    let flows = if pattern == Pattern::Stream { rung.flows } else { &rung.flows[..1] };
    let is_wanted =
        |flows: &&u32| **flows == 1 || (!forward_only && (!reverse || profile.parallel_both_ways));
    let case = |wait: &Wait, flows: &u32| {
        let (rung, pairs) = (rung.id.into(), pairs.clone());
        Case { rung, pattern, wait: *wait, flows: *flows, pairs, ..Case::default() }
    };
    let cases =
        waits.iter().flat_map(|wait| flows.iter().filter(is_wanted).map(move |flows| case(wait, flows)));
    cases.flat_map(|case| of_case(plan, coverage, rung, case)).collect()
}

/// One case, and the long stream that begins as it does.
fn of_case(plan: &Plan, coverage: &Coverage, rung: &'static Rung, case: Case) -> Vec<Wanted> {
    let has_bucket = rung.place == Place::Network && bucket(plan).is_some();
    let path = NetworkPath::for_case(plan, rung, &case.pairs);
    let sizes = sizes(plan, (coverage, &path), rung, &case, has_bucket);
    let is_short = !path.is_long() && is_whole(plan, rung);
    let trial_ns = match sizes.len() {
        _ if has_bucket => BUCKET_TRIAL_NS,
        1 if is_short && !are_apart(&case, rung) => SINGLE_TRIALS * plan.profile.trial_ns,
        _ => plan.profile.trial_ns,
    };
    let long = has_timeline(plan, rung, &case).then(|| Wanted {
        case: Case { timeline: true, ..case.clone() },
        sizes: vec![rung.ladder_bytes],
        trial_ns: plan.profile.timeline_ns,
        load: None,
    });
    std::iter::once(Wanted { case, sizes, trial_ns, load: None }).chain(long).collect()
}

/// One long stream a network rung.
fn has_timeline(plan: &Plan, rung: &Rung, case: &Case) -> bool {
    rung.place == Place::Network
        && !are_apart(case, rung)
        && !rung.sibling
        && case.pattern == Pattern::Stream
        && case.pairs.is_forward()
        && case.flows == rung.flows[0]
        && plan.profile.timeline_ns > 0
}

/// Whether a rung is measured at every size and in every direction.
pub(super) fn is_whole(plan: &Plan, rung: &Rung) -> bool {
    // The engine was chosen for one size and one direction.
    !rung.chooses_engine() && (!rung.sibling || plan.view.is_named() || plan.profile.whole_siblings)
}

/// The whole ladder of sizes where a curve is drawn, else the size at which rungs are compared.
fn sizes(
    plan: &Plan,
    (coverage, path): (&Coverage, &NetworkPath),
    rung: &Rung,
    case: &Case,
    bucket: bool,
) -> Vec<u64> {
    let curve =
        case.flows == rung.flows[0] && case.pattern != Pattern::Bidirectional && case.pairs.is_forward();
    // A comparison has one size of its own, whatever a trial costs.
    let is_compared = matches!(plan.view, View::Comparison { .. } | View::Tuning { .. });
    if (bucket && !is_compared) || !curve || (!is_whole(plan, rung) && case.pattern != Pattern::PingPong) {
        return vec![rung.ladder_bytes];
    }
    if !is_whole(plan, rung) {
        return vec![LATENCY_BYTES];
    }
    let carries = |size: &u64| is_carried(rung, case.pattern, *size);
    if !rung.sizes.is_empty() {
        // A round trip is compared with the other rungs' at one size more.
        let more = (case.pattern == Pattern::PingPong).then_some(LATENCY_BYTES);
        return rung.sizes.iter().copied().chain(more).collect();
    }
    let compared = if case.pattern == Pattern::PingPong { LATENCY_BYTES } else { rung.ladder_bytes };
    let is_kept = |size: &u64| *size == compared || coverage.keeps(*size, rung, path);
    let sizes: Vec<u64> = plan.profile.sizes.iter().copied().filter(carries).filter(is_kept).collect();
    // The few sizes of a short budget may be none that the transport carries.
    if sizes.is_empty() { vec![compared] } else { sizes }
}
