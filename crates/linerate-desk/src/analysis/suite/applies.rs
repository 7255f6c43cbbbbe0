//! Whether a conclusion says something of these hosts and this path.

use super::compare::Scene;
use crate::analysis::half_round_trip_ns;
use crate::plan::{Applies, Claim, Levels, SuiteCase};
use crate::record::{NotMeasured, Recording};
use crate::statistic::median;
use crate::unit::{Bytes, Nanoseconds, counted};
use crate::vocabulary::{Pattern, Place, ReasonKind, Rung, Wait};

/// A product is told in whole KiB.
const KIB: f64 = 1024.0;

/// The condition of a conclusion that is not met here, in words; none where it applies, and where nothing that was
/// measured tells it.
pub(super) fn unmet(scene: &Scene, claim: &Claim) -> Option<String> {
    let applies = claim.applies.as_ref()?;
    [few_cpus, short_round_trip, small_product].into_iter().find_map(|unmet| unmet(scene, claim, applies))
}

fn few_cpus(scene: &Scene, _: &Claim, applies: &Applies) -> Option<String> {
    let (least, cpus) =
        (applies.cpus? as usize, scene.recording.hosts.iter().map(|host| host.cpus.len()).min()?);
    (cpus < least).then(|| format!("it needs {} a host, and there are {cpus}", counted(least, "CPU")))
}

fn short_round_trip(scene: &Scene, _: &Claim, applies: &Applies) -> Option<String> {
    let (least, round_trip) = (applies.least_round_trip()?, round_trip_ns(scene.recording)?);
    let here = Nanoseconds(round_trip);
    (round_trip < least.0).then(|| format!("it needs a round trip of {least}, and one takes {here} here"))
}

fn small_product(scene: &Scene, claim: &Claim, applies: &Applies) -> Option<String> {
    let (least, round_trip) = (applies.least_product()?, round_trip_ns(scene.recording)?);
    let rate = |levels: &Levels| median(scene.numbers(levels).into_values());
    let bps = std::iter::once(&claim.of).chain(&claim.over).filter_map(rate).reduce(f64::max)?;
    let product = bps / 8e9 * round_trip;
    let here = Bytes(((product / KIB).round().max(1.0) * KIB) as u64);
    (product < least.0 as f64).then(|| {
        format!("it needs a path whose product of rate and round trip is {least}, and here it is {here}")
    })
}

/// The shortest round trip between hosts, as RFC 6349 asks for.
fn round_trip_ns(recording: &Recording) -> Option<f64> {
    let between_hosts = |rung: &str| Rung::named(rung).is_some_and(|rung| rung.place == Place::Network);
    let exchanges = recording.trials.iter().filter(|trial| {
        trial.pass > 0 && trial.case.pattern == Pattern::PingPong && between_hosts(&trial.case.rung)
    });
    exchanges.filter_map(half_round_trip_ns).reduce(f64::min).map(|half| 2.0 * half)
}

/// Why a part of a conclusion cannot be measured truly here; none where it can, and where something is merely not there.
pub(super) fn refused(scene: &Scene, claim: &Claim) -> Option<String> {
    let parts = std::iter::once(&claim.of).chain(&claim.over).chain(&claim.minus);
    let cases = parts.filter_map(|levels| Some((levels, case_of(scene, levels)?)));
    let of_case = |(levels, case): (&Levels, &SuiteCase)| {
        let mut all = scene.recording.unavailable.iter();
        let refused = all.find(|not| not.reason.kind == ReasonKind::Untrue && concerns(not, levels, case));
        refused.map(|not| not.reason.why.clone())
    };
    cases.into_iter().find_map(of_case)
}

fn case_of<'s>(scene: &Scene<'s>, levels: &Levels) -> Option<&'s SuiteCase> {
    let id = levels.get("case")?;
    scene.suite.cases.iter().find(|case| case.id == *id)
}

fn concerns(not: &NotMeasured, levels: &Levels, case: &SuiteCase) -> bool {
    let asks = |wait: Wait| match levels.get("wait") {
        Some(name) => *name == wait.to_string(),
        None => case.wait.contains(&wait),
    };
    case.rung.contains(&not.rung)
        && not.pattern.is_none_or(|pattern| pattern == case.pattern)
        && not.wait.is_none_or(asks)
}
