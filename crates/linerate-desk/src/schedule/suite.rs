//! The cases of suites on these hosts.

use super::refusal::is_carried;
use super::wanted::{Wanted, are_apart};
use crate::plan::{Expanded, Plan, Suite};
use crate::vocabulary::Rung;

/// How long a search lasts where nothing else is said (RFC 9097, section 8.1).
const SEARCH_NS: u64 = 10_000_000_000;

/// A stream of one size has paid for its warm-up with nothing else: it lasts this many trials.
const SINGLE_TRIALS: u64 = 3;

/// Every case, in the order of the suites.
pub(super) fn wanted(plan: &Plan, suites: &[Suite]) -> Vec<Wanted> {
    let hosts = plan.host_ids();
    suites.iter().flat_map(|suite| suite.expand(plan, &hosts)).filter_map(|one| priced(plan, one)).collect()
}

/// The case of an application in each of the plan's arms.
pub(super) fn of_arms(plan: &Plan, application: &Suite) -> Vec<Wanted> {
    let arms: Vec<u32> = (0..=plan.arms.len() as u32).collect();
    let all = application.expand_arms(&arms, plan, &plan.host_ids());
    all.into_iter().filter_map(|one| priced(plan, one)).collect()
}

fn priced(plan: &Plan, one: Expanded) -> Option<Wanted> {
    let trial_ns = one.trial_ns.or_else(|| usual_ns(plan, &one))?;
    let Expanded { case, sizes, load, .. } = one;
    Some(Wanted { case, sizes, trial_ns, load })
}

/// How long a trial lasts where nothing else is said; none of a rung that this version has not.
fn usual_ns(plan: &Plan, one: &Expanded) -> Option<u64> {
    let (case, profile, rung) = (&one.case, &plan.profile, Rung::named(&one.case.rung)?);
    let sizes = one.sizes.iter().filter(|size| is_carried(rung, case.pattern, **size)).count();
    Some(match sizes {
        _ if case.pattern.searches() => SEARCH_NS,
        _ if case.timeline => profile.timeline_ns.max(SINGLE_TRIALS * profile.trial_ns),
        1 if !are_apart(case, rung) => SINGLE_TRIALS * profile.trial_ns,
        _ => profile.trial_ns,
    })
}
