//! Whether a conclusion holds: a number of each pass, the median's interval over the passes, and a limit.

use super::applies;
use super::compare::{Scene, against};
use crate::plan::{Claim, Plan, Suite};
use crate::record::Recording;
use crate::statistic::{Estimate, next_look};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What would take more observations than this is not worth a word: the half-width of an interval shrinks with the root
/// of their number.
const MOST_NEEDED: f64 = 10_000.0;

/// Whether it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The whole interval is on the right side of the limit.
    Yes,
    /// The whole interval is on the other side.
    No,
    /// The limit is within the interval, or there is none.
    CannotTell,
    /// What it is of was not measured.
    NotMeasured,
    /// It says nothing of these hosts or this path.
    NotApplicable,
}

/// A conclusion and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimOutcome {
    /// What was to be tested.
    pub claim: Claim,
    /// The number.
    pub value: Option<Estimate>,
    /// Whether it holds.
    pub holds: Holds,
    /// Where it does not apply, why.
    pub condition: Option<String>,
}

impl ClaimOutcome {
    /// So many observations would decide what cannot be told, as its interval is now; none where it is decided, or where
    /// the number lies at its limit.
    pub fn needs(&self) -> Option<u32> {
        let (value, limit) = (self.value?, self.claim.above.or(self.claim.below)?);
        if self.holds != Holds::CannotTell {
            return None;
        }
        let (Some(low), Some(high)) = (value.low, value.high) else { return next_look(value.n) };
        let reach = if limit < value.median { value.median - low } else { high - value.median };
        let needed = f64::from(value.n) * (reach / (value.median - limit)).powi(2);
        (needed < MOST_NEEDED).then(|| (needed.ceil() as u32).max(value.n + 1))
    }

    /// The same as passes that are still to be made, in two digits.
    pub fn further_passes(&self) -> Option<u32> {
        let further = self.needs()? - self.value?.n;
        let unit = 10u32.pow(further.ilog10().saturating_sub(1));
        Some(further.div_ceil(unit) * unit)
    }
}

/// Tests a conclusion.
pub(super) fn outcome(recording: &Recording, plan: &Plan, suite: &Suite, claim: &Claim) -> ClaimOutcome {
    let scene = Scene { recording, plan, suite, y: &claim.y };
    let with = against(claim.over.clone(), claim.minus.clone());
    let numbers = match (claim.exponent, claim.slope) {
        (Some(factor), _) => scene.exponents(&claim.of, factor),
        (None, Some(factor)) => scene.slopes(&claim.of, factor),
        (None, None) => scene.compared(&claim.of, with.as_ref()),
    };
    let value = Estimate::from_values(numbers.into_values());
    let refused = || applies::refused(&scene, claim).filter(|_| value.is_none());
    let condition = applies::unmet(&scene, claim).or_else(refused);
    let holds = if condition.is_some() { Holds::NotApplicable } else { holds(claim, value) };
    ClaimOutcome { claim: claim.clone(), value, holds, condition }
}

fn holds(claim: &Claim, value: Option<Estimate>) -> Holds {
    let Some(value) = value else { return Holds::NotMeasured };
    let (Some(low), Some(high)) = (value.low, value.high) else { return Holds::CannotTell };
    match (claim.above, claim.below) {
        (Some(limit), _) if low > limit => Holds::Yes,
        (Some(limit), _) if high <= limit => Holds::No,
        (None, Some(limit)) if high < limit => Holds::Yes,
        (None, Some(limit)) if low >= limit => Holds::No,
        _ => Holds::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn claim(above: Option<f64>, below: Option<f64>) -> Claim {
        let (says, place, y) = (String::new(), String::new(), "throughput".to_owned());
        let (of, applies) = (BTreeMap::new(), None);
        Claim {
            says,
            place,
            y,
            of,
            over: None,
            minus: None,
            exponent: None,
            slope: None,
            above,
            below,
            applies,
        }
    }

    #[test]
    fn a_claim_holds_where_its_whole_interval_does() {
        let value = |low, high| Some(Estimate { median: 1.0, low, high, n: 10 });
        let (above, below) = (claim(Some(0.9), None), claim(None, Some(0.9)));
        let cases = [
            (value(Some(0.95), Some(1.1)), Holds::Yes, Holds::No),
            (value(Some(0.8), Some(0.89)), Holds::No, Holds::Yes),
            (value(Some(0.8), Some(1.1)), Holds::CannotTell, Holds::CannotTell),
            (value(None, None), Holds::CannotTell, Holds::CannotTell),
            (None, Holds::NotMeasured, Holds::NotMeasured),
        ];
        for (value, is_above, is_below) in cases {
            assert_eq!((holds(&above, value), holds(&below, value)), (is_above, is_below), "{value:?}");
        }
    }
}
