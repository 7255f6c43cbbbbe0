//! Whether a rate is all that is to be had: what the slowest link of a lab carries, or what somebody expects.

use super::Compared;
use crate::plan::{self, Arm, FIRST_LOOK, Plan, View};
use crate::statistic::{Effect, Estimate};
use crate::unit::BitRate;
use crate::vocabulary::{Cause, Place, Rung};
use std::collections::BTreeSet;

/// A rate is all that is to be had from this share on.
const FULL: f64 = 0.97;

/// Of each packet of 1500 bytes 1448 are payload (RFC 9293, RFC 7323), and a frame has 14 more.
const PAYLOAD: f64 = 1448.0 / 1514.0;

/// A rate to pace at is tried where it is so many times the rate: what is below it gains nothing, and shows whether losses come of
/// bursts, also where a policer leaves TCP all of its rate; and a policer leaves TCP half of its rate or more (Flach et al.,
/// SIGCOMM 2016).
const PACED: [f64; 2] = [0.65, 2.2];

/// The knob of that.
const PACING: &str = "tcp.pacing-rate";

/// Whether a rate fills the slowest link of a lab; of other paths nothing is known.
pub fn is_link_full(plan: &Plan, value: Option<Estimate>) -> bool {
    let of_rate = plan.tuning().is_some_and(|tuning| tuning.comparison.metric == plan::Metric::Throughput);
    of_rate && payload_bps(plan).zip(value).is_some_and(|(most, value)| value.median >= FULL * most)
}

/// The payload of a lab's slowest link.
fn payload_bps(plan: &Plan) -> Option<f64> {
    let plan::Target::Lab(topology) = &plan.target else { return None };
    topology.shape.rate.map(|rate| rate.0 * PAYLOAD)
}

/// The rate that a diagnosis is to explain: what somebody expects, or what a lab's slowest link carries.
pub fn expected_bps(plan: &Plan) -> Option<f64> {
    let View::Comparison { design, .. } = &plan.view else { return None };
    let is_of_network = || {
        let rung = plan.view.rungs().first().and_then(|id| Rung::named(id));
        rung.is_some_and(|rung| rung.place == Place::Network)
    };
    design.against_bps.or_else(|| payload_bps(plan).filter(|_| is_of_network()))
}

impl Compared {
    /// What of all that is expected the plan as it stands has, where nothing is left to explain. What no change could better is
    /// told whether or not the comparison's controls hold.
    pub fn all_there(&self) -> Option<f64> {
        let share = self.base?.median / self.expected_bps?;
        (share >= FULL && self.blocks >= FIRST_LOOK).then_some(share)
    }
}

/// The experiments with which the rate is all that is expected, so that nothing is left for others to explain.
pub fn reaching(plan: &Plan, compared: &Compared) -> BTreeSet<u32> {
    let Some(expected) = expected_bps(plan).filter(|_| compared.all_there().is_none()) else {
        return BTreeSet::new();
    };
    let reaches = |one: &&super::Candidate| {
        // Of fewer blocks there is no interval: where rates scatter, one in three reaches it by chance.
        let has_gained = |change: Effect| change.won >= 1.0 && change.low > Some(compared.margin);
        one.change.is_some_and(has_gained) && one.value.is_some_and(|value| value.median >= FULL * expected)
    };
    compared.candidates.iter().filter(reaches).map(|one| one.arm).collect()
}

/// Whether an experiment that paces does so near the rate; all others do.
pub fn is_near(arm: &Arm, bps: f64) -> bool {
    let undoes = arm.cause.as_deref().and_then(Cause::named).is_some_and(|cause| cause.undoes);
    undoes || paced_bps(arm).is_none_or(|rate| (PACED[0]..=PACED[1]).contains(&(rate / bps)))
}

/// The rate that an experiment paces at; none where it does not.
pub(super) fn paced_bps(arm: &Arm) -> Option<f64> {
    let setting = arm.settings.iter().find(|setting| setting.knob == PACING)?;
    setting.value.parse::<BitRate>().ok().map(|rate| rate.0)
}
