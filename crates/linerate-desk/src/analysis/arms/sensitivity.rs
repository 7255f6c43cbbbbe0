//! What the rate is sensitive to: by how much it falls where something known is added.

use super::figures::share;
use super::judgement::is_missed;
use super::{Look, Verdict, not_granted};
use crate::plan::ArmKind;
use crate::statistic::{Effect, Estimate, equivalent, holm};
use crate::vocabulary::{HINDRANCES, Hindrance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What costs less than this is no sensitivity: the least of the hindrances costs five times as much where nothing but it binds.
const LEAST: f64 = 0.03;

/// One hindrance against the plan as it stands, in blocks of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sensitivity {
    /// Which of the plan's arms.
    pub arm: u32,
    /// Its name in the vocabulary.
    pub hindrance: String,
    /// What was set.
    pub name: String,
    /// The metric.
    pub value: Option<Estimate>,
    /// The change of the metric: a share; null where it was not made, for want of time or of a value near what is in flight.
    pub change: Option<Effect>,
    /// The p of the change, adjusted for the number of hindrances.
    pub p_adjusted: Option<f64>,
    /// The share of the rate that it costs at most, where nothing but this binds; null where that is not known.
    pub at_most: Option<f64>,
    /// Different: the rate is sensitive to it; the same: it changes by less than 3 %, or than the margin where that is more.
    pub verdict: Verdict,
}

impl Sensitivity {
    /// The margin of hindrances, by that of candidates.
    pub fn margin(of_candidates: f64) -> f64 {
        of_candidates.max(LEAST)
    }

    /// The share of the rate that it is proved to cost.
    pub fn cost(&self) -> Option<f64> {
        let change = self.change.filter(|_| self.verdict == Verdict::Different)?;
        Some(-change.estimate).filter(|cost| *cost > 0.0)
    }
}

impl Look<'_> {
    /// Of each hindrance of the plan, in the order of their table; one that was not made has no change.
    pub(super) fn sensitivities(&self, margin: f64, doubts: &[String]) -> Vec<Sensitivity> {
        // Of those with several values the one that was made.
        let of = |hindrance: &Hindrance| {
            let mut all = self.arms(ArmKind::Hindered).filter(|(_, arm)| hindrance.is_made_by(&arm.name));
            let first = all.next()?;
            let made = std::iter::once(first).chain(all).find(|(arm, _)| self.hindered.has(*arm));
            let (arm, added) = made.unwrap_or(first);
            Some(Sensitivity {
                arm,
                hindrance: hindrance.name.into(),
                name: added.name.clone(),
                value: self.hindered.estimate(arm, self.metric),
                change: share(&self.hindered.ratios(arm, self.metric), 1.0 - self.alpha),
                p_adjusted: None,
                at_most: hindrance.at_most,
                verdict: Verdict::CannotTell,
            })
        };
        let mut found: Vec<Sensitivity> = HINDRANCES.iter().filter_map(of).collect();
        let ps: Vec<f64> = found.iter().map(|one| one.change.map_or(f64::NAN, |change| change.p)).collect();
        for (one, p) in found.iter_mut().zip(holm(&ps)) {
            one.p_adjusted = Some(p).filter(|p| p.is_finite());
            one.verdict = self.sensitive(one, margin, doubts);
        }
        found
    }

    fn sensitive(&self, one: &Sensitivity, margin: f64, doubts: &[String]) -> Verdict {
        let is_granted = |arm: u32| {
            let added = self.plan.arms.get((arm as usize).wrapping_sub(1));
            added.is_some_and(|added| not_granted(self.recording, arm, added).is_empty())
        };
        let ratios = self.hindered.ratios(one.arm, self.metric);
        let is_same =
            equivalent(&ratios, Sensitivity::margin(margin).ln_1p()).is_some_and(|p| p < self.alpha);
        let is_different = one.p_adjusted.is_some_and(|p| p < self.alpha);
        match () {
            // Where a slower sender is not seen, what does not show may yet be there.
            () if is_same && doubts.is_empty() && is_granted(one.arm) => Verdict::Same,
            () if !is_same && is_different && doubts.iter().all(|doubt| is_missed(doubt)) => {
                Verdict::Different
            }
            () => Verdict::CannotTell,
        }
    }
}
