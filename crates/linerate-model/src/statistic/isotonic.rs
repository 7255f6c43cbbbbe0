//! The nearest curve that never falls.

/// The weighted least-squares fit of values (value, weight) that never falls: pool adjacent violators.
/// Barlow, Bartholomew, Bremner and Brunk, Statistical Inference under Order Restrictions, section 1.2.
pub fn isotonic(values: &[(f64, f64)]) -> Vec<f64> {
    // Blocks of equal fit: mean, weight, members.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (value, weight) in values {
        let mut block = (*value, *weight, 1);
        while let Some((mean, before, members)) = blocks.last().copied().filter(|last| last.0 > block.0) {
            blocks.pop();
            let total = before + block.1;
            block = ((mean * before + block.0 * block.1) / total, total, members + block.2);
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|(mean, _, members)| std::iter::repeat_n(*mean, *members)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_falls_is_pooled() {
        type Values = &'static [(f64, f64)];
        let cases: [(Values, &[f64]); 5] = [
            (&[], &[]),
            (&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)], &[1.0, 2.0, 3.0]),
            (&[(1.0, 1.0), (3.0, 1.0), (2.0, 1.0), (4.0, 1.0)], &[1.0, 2.5, 2.5, 4.0]),
            (&[(3.0, 3.0), (1.0, 1.0)], &[2.5, 2.5]),
            (&[(4.0, 1.0), (3.0, 1.0), (2.0, 1.0)], &[3.0, 3.0, 3.0]),
        ];
        for (values, expected) in cases {
            assert_eq!(isotonic(values), expected, "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn it_never_falls_and_keeps_the_mean(values in prop::collection::vec((1.0..1e6f64, 0.1..10.0f64), 0..60)) {
            let fit = isotonic(&values);
            prop_assert_eq!(fit.len(), values.len());
            prop_assert!(fit.is_sorted());
            let sum: f64 = values.iter().map(|(value, weight)| value * weight).sum();
            let fitted: f64 = fit.iter().zip(&values).map(|(fit, (_, weight))| fit * weight).sum();
            prop_assert!((sum - fitted).abs() <= 1e-9 * sum.abs());
        }

        #[test]
        fn odd_numbers_never_break_it(values in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..30)) {
            prop_assert_eq!(isotonic(&values).len(), values.len());
        }
    }
}
