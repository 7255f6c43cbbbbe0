//! Which experiments are begun first: time may be left for some of them only.

use crate::plan::Arm;
use crate::vocabulary::Cause;
use std::collections::BTreeSet;

/// The first experiment of each cause, then the others, each in their order: those of faults before those of what the work
/// costs, which decides nothing.
pub(super) fn first_of_each(asked: &[(u32, &Arm)]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let (first, further): (Vec<_>, Vec<_>) = asked.iter().partition(|(_, arm)| seen.insert(&arm.cause));
    let is_of_fault = |(_, arm): &(u32, &Arm)| {
        arm.cause.as_deref().and_then(Cause::named).is_some_and(|cause| cause.is_fault)
    };
    let ordered = [first, further].into_iter().flat_map(|of| {
        let (faults, costs): (Vec<_>, Vec<_>) = of.into_iter().partition(is_of_fault);
        faults.into_iter().chain(costs)
    });
    ordered.map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time may be left for the first ones only.
    #[test]
    fn faults_are_begun_before_what_the_work_costs() {
        let of = |cause: &str| Arm { cause: Some(cause.into()), ..Arm::default() };
        let arms = ["receiver-copies", "small-buffers", "receiver-copies", "small-buffers"].map(of);
        let asked: Vec<(u32, &Arm)> = (1..).zip(&arms).collect();
        assert_eq!(first_of_each(&asked), [2, 1, 4, 3]);
    }
}
