//! The middle of some numbers.

/// The median of the finite values, the mean of the middle two for an even number; none of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    of_sorted(&sorted(values))
}

/// The mean of the middle half of the finite values; none of nothing. A disturbed value moves it as little
/// as it does the median, and of values that scatter without one it is the surer.
///
/// J. W. Tukey, Exploratory Data Analysis, 1977.
pub fn midmean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = sorted(values);
    let cut = sorted.len() / 4;
    let middle = &sorted[cut..sorted.len() - cut];
    (!middle.is_empty()).then(|| middle.iter().sum::<f64>() / middle.len() as f64)
}

/// The finite values in ascending order.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of ascending values.
pub(super) fn of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[sorted.len() / 2 - 1];
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_midmean_is_of_the_middle_half() {
        assert_eq!(midmean([]), None);
        assert_eq!(midmean([3.0, f64::NAN]), Some(3.0));
        assert_eq!(midmean([1.0, 2.0, 3.0, 1000.0]), Some(2.5));
        assert_eq!(midmean([9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -50.0]), Some(3.5));
    }

    #[test]
    fn the_middle_is_found() {
        let cases: [(&[f64], Option<f64>); 5] = [
            (&[], None),
            (&[f64::NAN, f64::INFINITY], None),
            (&[3.0], Some(3.0)),
            (&[9.0, 1.0, f64::NAN, 5.0], Some(5.0)),
            (&[4.0, 1.0, 2.0, 100.0], Some(3.0)),
        ];
        for (values, middle) in cases {
            assert_eq!(median(values.iter().copied()), middle, "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn half_of_the_values_lie_on_each_side(values in prop::collection::vec(-1e9..1e9f64, 1..60)) {
            let middle = median(values.iter().copied()).unwrap();
            let below = values.iter().filter(|value| **value <= middle).count();
            let above = values.iter().filter(|value| **value >= middle).count();
            prop_assert!(2 * below >= values.len() && 2 * above >= values.len());
        }

        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(-1e9..1e9f64, 1..60)) {
            let forward = median(values.iter().copied());
            values.reverse();
            prop_assert_eq!(forward, median(values));
        }
    }
}
