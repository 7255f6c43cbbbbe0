//! Where a series has warmed up.

/// The observations of a batch.
const BATCH: usize = 5;
/// The fewest batches of which a start is cut.
const LEAST_BATCHES: usize = 4;

/// The place of the first steady observation: what comes before it moves the mean more than its loss
/// makes it unsure. At most half of the series is cut; of a short one, nothing.
///
/// MSER-5: White, Simulation 69, 1997, and White, Cobb and Spratt, Winter Simulation Conference 2000.
/// A value that is not finite is left out of its batch.
pub fn steady_from(series: &[f64]) -> usize {
    let batches: Vec<(usize, f64)> = series
        .chunks_exact(BATCH)
        .enumerate()
        .filter_map(|(index, batch)| Some((index * BATCH, mean(batch)?)))
        .collect();
    if batches.len() < LEAST_BATCHES {
        return 0;
    }
    let cuts = (0..=batches.len() / 2).filter(|cut| batches[*cut].0 <= series.len() / 2);
    let error = |cut: &usize| marginal_error(&batches[*cut..]);
    cuts.min_by(|a, b| error(a).total_cmp(&error(b))).map_or(0, |cut| batches[cut].0)
}

fn mean(values: &[f64]) -> Option<f64> {
    let finite = || values.iter().filter(|value| value.is_finite());
    let mean = finite().sum::<f64>() / finite().count() as f64;
    mean.is_finite().then_some(mean)
}

/// The squared standard error of the mean of what is kept.
fn marginal_error(kept: &[(usize, f64)]) -> f64 {
    let n = kept.len() as f64;
    let mean = kept.iter().map(|(_, value)| value).sum::<f64>() / n;
    kept.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>() / (n * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    #[test]
    fn a_ramp_is_cut_and_no_more() {
        let mut random = noise(5);
        for ramp in [10, 20, 40] {
            let series: Vec<f64> = (0..200)
                .map(|i| 100.0 * (f64::from(i + 1) / f64::from(ramp)).min(1.0) + random.normal())
                .collect();
            let steady = steady_from(&series) as i32;
            assert!((ramp - 5..=ramp + 20).contains(&steady), "{ramp}: {steady}");
        }
    }

    #[test]
    fn a_level_series_keeps_nearly_all() {
        assert_eq!((steady_from(&[7.0; 60]), steady_from(&[]), steady_from(&[f64::NAN; 60])), (0, 0, 0));
        let mut random = noise(6);
        let cuts: usize = (0..500).map(|_| steady_from(&random.alike(100, 0.0))).sum();
        assert!(cuts / 500 <= 15, "{}", cuts / 500);
    }

    #[test]
    fn an_unsettled_series_keeps_its_second_half() {
        let series: Vec<f64> = (0..103).map(f64::from).collect();
        assert_eq!(steady_from(&series), 50);
    }

    proptest! {
        #[test]
        fn at_most_half_is_cut(values in prop::collection::vec(prop::num::f64::ANY, 0..120)) {
            prop_assert!(steady_from(&values) <= values.len() / 2);
        }
    }
}
