//! Stages that work one after the other on each byte.

use crate::analysis::Layer;

/// An added constant above this share of the one below is worth a look.
const CONSTANT: f64 = 0.20;
/// The same of the time a byte.
const PER_BYTE: f64 = 0.10;

/// The rate of the stage that, before or after the layer below and never beside it, makes this rate
/// of that one: `1/top - 1/below = 1/stage`. None where the top is no slower.
pub fn stage_bps(top_bps: f64, below_bps: f64) -> Option<f64> {
    let rest = 1.0 / top_bps - 1.0 / below_bps;
    (rest > 0.0 && rest.is_finite()).then(|| 1.0 / rest)
}

impl Layer {
    /// The rate of the stage that this layer adds, if it works in sequence with the layer below; none
    /// where it is not clearly slower than that.
    pub fn stage_bps(&self) -> Option<f64> {
        let (top, kept) = (self.throughput_bps?, self.kept_of_below?);
        kept.high.filter(|high| *high < 1.0)?;
        stage_bps(top.median, top.median / kept.median)
    }
}

/// The time a byte that remains when all bounds work one after the other; none where they already take
/// as long as was measured.
pub fn serial_rest_ns_per_byte(measured_bps: f64, bounds_bps: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut any = false;
    let spent: f64 = bounds_bps.into_iter().inspect(|_| any = true).map(|bps| 8e9 / bps).sum();
    let rest = 8e9 / measured_bps - spent;
    (any && rest > 0.0 && rest.is_finite()).then_some(rest)
}

/// Whether what a layer adds to the one below is worth a look: more than a fifth of its constant, or more
/// than a tenth of its time a byte. Each pair is what is added, and what is below.
pub fn worth_opening(constant: Option<(f64, f64)>, per_byte: (f64, f64)) -> bool {
    let above = |(added, below): (f64, f64), share| added > share * below.max(0.0) && added > 0.0;
    constant.is_some_and(|pair| above(pair, CONSTANT)) || above(per_byte, PER_BYTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D. Turner, X. Chen: *Protocol-Dependent Message-Passing Performance on Linux Clusters*, CLUSTER 2002:
    /// MPICH over TCP, which copies once more.
    #[test]
    fn a_copy_in_a_library_is_found_again() {
        let copy = stage_bps(400e6, 550e6).unwrap();
        assert!((copy / 1.47e9 - 1.0).abs() < 0.01, "{copy}");
        let cipher = stage_bps(728.8e6, 1018.4e6).unwrap();
        assert!((cipher / 2.56e9 - 1.0).abs() < 0.01, "{cipher}");
        assert_eq!(stage_bps(5.0, 5.0), None);
        assert_eq!(stage_bps(6.0, 5.0), None);
    }

    #[test]
    fn what_the_bounds_leave_is_the_rest() {
        let rest = serial_rest_ns_per_byte(8e9, [16e9, 32e9]).unwrap();
        assert!((rest - 0.25).abs() < 1e-12);
        assert_eq!(serial_rest_ns_per_byte(8e9, [8e9, 8e9]), None);
        assert_eq!(serial_rest_ns_per_byte(8e9, []), None, "nothing is known");
    }

    #[test]
    fn only_clear_gaps_are_worth_a_look() {
        let cases = [
            (Some((21.0, 100.0)), (0.0, 1.0), true),
            (Some((19.0, 100.0)), (0.0, 1.0), false),
            (None, (0.11, 1.0), true),
            (Some((-5.0, 100.0)), (0.09, 1.0), false),
            (Some((5.0, 0.0)), (0.0, 0.0), true),
            (None, (-0.1, 0.0), false),
        ];
        for (constant, per_byte, worth) in cases {
            assert_eq!(worth_opening(constant, per_byte), worth, "{constant:?} {per_byte:?}");
        }
    }
}
