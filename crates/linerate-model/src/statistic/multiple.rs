//! Many tests at once: the p of each, adjusted for the others.

/// Holm's adjustment, in the order given: rejecting below a level errs anywhere at most so often.
///
/// Holm, Scandinavian Journal of Statistics 6, 1979. What is not a number is no test and stays so.
pub fn holm(ps: &[f64]) -> Vec<f64> {
    let order = ascending(ps);
    let mut adjusted = vec![f64::NAN; ps.len()];
    let mut reached: f64 = 0.0;
    for (rank, index) in order.iter().enumerate() {
        reached = reached.max(ps[*index] * (order.len() - rank) as f64).min(1.0);
        adjusted[*index] = reached;
    }
    adjusted
}

/// The adjustment of Benjamini and Hochberg, in the order given: of what is rejected below a level, at
/// most that share is expected to be wrong.
///
/// Journal of the Royal Statistical Society B 57, 1995. What is not a number is no test and stays so.
pub fn benjamini_hochberg(ps: &[f64]) -> Vec<f64> {
    let order = ascending(ps);
    let mut adjusted = vec![f64::NAN; ps.len()];
    let mut reached: f64 = 1.0;
    for (rank, index) in order.iter().enumerate().rev() {
        reached = reached.min(ps[*index] * (order.len() as f64 / (rank + 1) as f64));
        adjusted[*index] = reached;
    }
    adjusted
}

/// The places of the tests, the smallest p first.
fn ascending(ps: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ps.len()).filter(|index| ps[*index].is_finite()).collect();
    order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "{found:?}");
        }
    }

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` and `"BH"`.
    #[test]
    fn the_adjustments_are_those_of_r() {
        let ps = [0.01, 0.04, 0.03, 0.005];
        close(&holm(&ps), &[0.03, 0.06, 0.06, 0.02]);
        close(&benjamini_hochberg(&ps), &[0.02, 0.04, 0.04, 0.02]);
        close(&holm(&[0.5, 0.9]), &[1.0, 1.0]);
    }

    /// Table 1 of Benjamini and Hochberg (1995): 15 tests, of which Holm rejects 3 and theirs 4.
    #[test]
    fn the_published_example_is_decided_as_published() {
        let ps = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        assert_eq!(holm(&ps).iter().filter(|p| **p <= 0.05).count(), 3);
        assert_eq!(benjamini_hochberg(&ps).iter().filter(|p| **p <= 0.05).count(), 4);
    }

    #[test]
    fn what_is_no_test_counts_for_none() {
        let adjusted = holm(&[0.02, f64::NAN, 0.03]);
        assert!((adjusted[0] - 0.04).abs() < 1e-12 && adjusted[1].is_nan());
        assert!(benjamini_hochberg(&[f64::NAN])[0].is_nan() && holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn no_adjustment_makes_a_test_surer(ps in prop::collection::vec(0.0..=1.0f64, 1..30)) {
            for ((p, strict), lenient) in ps.iter().zip(holm(&ps)).zip(benjamini_hochberg(&ps)) {
                prop_assert!(*p <= lenient && lenient <= strict + 1e-15 && strict <= 1.0);
            }
        }
    }
}
