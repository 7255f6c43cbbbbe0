//! Straight lines that describe a curve of times against size, and where one gives way to the next.
//!
//! The borders are those of least total cost: the weighted squares of the residuals plus a price for
//! each further piece. A dynamic programme over the borders finds the exact optimum in O(n²); see
//! Jackson et al., An algorithm for optimal partitioning of data on an interval, IEEE Signal
//! Processing Letters 12(2), 2005.

use super::{Estimate, Line};

/// One size's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The size.
    pub size: f64,
    /// The time; positive.
    pub time: f64,
    /// The standard error of the time, as a share of it; positive.
    pub sigma: f64,
}

/// A standard error is taken as no smaller than this share: no line is truer to a curve.
const LEAST_SIGMA: f64 = 0.005;
/// The quantile of the normal distribution at [`super::CONFIDENCE`].
const NORMAL: f64 = 1.96;
/// An interval this many times as wide as its neighbours' is believed; what is beyond is a slow pass or
/// two, which move an end of the interval but hardly the median.
const TRUSTED: f64 = 2.0;
/// Sizes on each side whose intervals are looked at together.
const NEIGHBOURS: usize = 2;

/// The medians of ascending sizes with their standard errors; none where a median has no interval.
///
/// The interval of a few passes is itself a matter of luck: from six passes it varies by half. So a
/// size counts as no surer than the median of its neighbours does, and as half as sure at the least.
pub fn samples(medians: &[(f64, Estimate)]) -> Option<Vec<Sample>> {
    let usable = |estimate: &Estimate| estimate.median > 0.0 && estimate.median.is_finite();
    let sigma = |(_, estimate): &(f64, Estimate)| {
        let width = estimate.relative_half_width().filter(|_| usable(estimate))?;
        Some((width / NORMAL).max(LEAST_SIGMA))
    };
    let own: Vec<f64> = medians.iter().map(sigma).collect::<Option<_>>()?;
    let sample = |(index, (size, estimate)): (usize, &(f64, Estimate))| {
        let near = index.saturating_sub(NEIGHBOURS)..(index + NEIGHBOURS + 1).min(own.len());
        let pooled = super::median(own[near].iter().copied())?;
        Some(Sample { size: *size, time: estimate.median, sigma: own[index].clamp(pooled, TRUSTED * pooled) })
    };
    medians.iter().enumerate().map(sample).collect()
}

/// The price of a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    /// What each piece costs, in squared standard errors.
    pub per_segment: f64,
    /// The samples that an ordinary piece has at least.
    pub least: usize,
    /// What a piece of fewer samples costs on top; half of it for a single one, which has no slope of
    /// its own. It lets a step be seen that leaves a size or two on its far side, and nothing smaller.
    pub short: f64,
}

/// Prices of a piece by the number of sizes: up to, factor of ln n, least sizes.
///
/// From `cargo bench --bench thresholds`, 1000 curves each, their standard errors estimated from six
/// passes with 3 % noise; in brackets where 5 % of the passes are slower by up to a half. Breaks seen in
/// smooth curves, a step of 2 alpha and one of a tenth of the time seen within one size, in per cent:
///
/// | sizes | factor, least | smooth    | 2 alpha     | T/10        |
/// |-------|---------------|-----------|-------------|-------------|
/// | 24    | 2, 4          | 0.5 (0.4) | 100 (99.9)  | 92.5 (66.3) |
/// | 24    | **2.5, 4**    | 0.2 (0.3) | 100 (99.8)  | 84.4 (55.0) |
/// | 24    | 3, 4          | 0.1 (0.3) | 100 (99.6)  | 74.0 (45.1) |
/// | 124   | 2, 6          | 0.1 (0.0) | 100 (99.9)  | 100 (99.7)  |
/// | 124   | **3, 6**      | 0.0 (0.0) | 100 (99.9)  | 100 (98.2)  |
///
/// With ten passes a tenth of the time is seen in 98.9 (94.3) % at 24 sizes. A slope that grows by 1.44
/// at 512 KiB is always seen, within one of 24 sizes; of 124 within one in 70 %. A curve whose slope
/// grows by a tenth in all is cut in two in 74 % of all cases at 1 % noise and in 1 % at 3 %: it is not
/// a line. The cuts are bends, not steps.
const PRICES: &[(usize, f64, usize)] = &[(40, 2.5, 4), (usize::MAX, 3.0, 6)];
/// The price of a short piece on top, as a factor of ln n.
const SHORT: f64 = 4.0;

impl Penalty {
    /// The prices for so many sizes.
    pub fn for_sizes(n: usize) -> Penalty {
        let row = PRICES.iter().find(|(most, ..)| n <= *most).copied();
        let (_, factor, least) = row.unwrap_or(PRICES[PRICES.len() - 1]);
        let unit = (n.max(2) as f64).ln();
        Penalty { per_segment: factor * unit, least, short: SHORT * unit }
    }

    /// What a piece of so many samples costs.
    fn of(&self, samples: usize) -> f64 {
        let short = match samples {
            1 => self.short / 2.0,
            _ => self.short,
        };
        self.per_segment + if samples < self.least { short } else { 0.0 }
    }
}

/// A run of samples that one line describes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// The index of the first sample.
    pub first: usize,
    /// The index of the last sample.
    pub last: usize,
    /// The line; a single sample has the slope of its longer neighbour.
    pub line: Line,
    /// The weighted squares of the residuals.
    pub cost: f64,
    sums: Sums,
}

impl Piece {
    /// The number of samples.
    pub fn count(&self) -> usize {
        self.last - self.first + 1
    }

    /// The standard error of the line at this size, as the samples' own say.
    fn error(&self, size: f64) -> f64 {
        let lever = (size - self.sums.size).powi(2);
        let tilt = if self.sums.sizes > 0.0 { lever / self.sums.sizes } else { 0.0 };
        (1.0 / self.sums.weight + tilt).sqrt()
    }

    /// What lies between this piece and the next one.
    pub fn border(&self, next: &Piece, samples: &[Sample]) -> Border {
        let (from, to) = (samples[self.last].size, samples[next.first].size);
        let difference = |size: f64| next.line.at(size) - self.line.at(size);
        let sureness = |size: f64| difference(size) / self.misfit(size).hypot(next.misfit(size));
        let ends = [sureness(from), sureness(to)];
        let mut sums = Sums::default();
        samples[self.first..=next.last].iter().for_each(|sample| sums.add(sample));
        Border {
            jump: difference((from + to) / 2.0),
            sureness: if ends[0] * ends[1] > 0.0 { ends[0].abs().min(ends[1].abs()) } else { 0.0 },
            gain: (sums.cost() - self.cost - next.cost).max(0.0),
        }
    }

    /// The standard error of the line, larger where the samples lie farther off than theirs: a curve
    /// that bends all the way must not look like a stair.
    fn misfit(&self, size: f64) -> f64 {
        let free = self.count().saturating_sub(2).max(1) as f64;
        self.error(size) * (self.cost / free).max(1.0).sqrt()
    }
}

/// What lies between two pieces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Border {
    /// The difference of the lines midway between the two sizes.
    pub jump: f64,
    /// The standard errors that the lines are apart at the least, from one size to the other; 0 where
    /// they meet between the two.
    pub sureness: f64,
    /// The squared standard errors that one line for both would cost more.
    pub gain: f64,
}

/// Weighted means and squares about them, one sample after the other: no difference of large sums is
/// taken, though sizes go from 1 B to 8 MiB. West, Updating mean and variance estimates: an improved
/// method, Communications of the ACM 22(9), 1979.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    weight: f64,
    size: f64,
    time: f64,
    sizes: f64,
    products: f64,
    times: f64,
}

impl Sums {
    fn add(&mut self, sample: &Sample) {
        let weight = (sample.sigma * sample.time).powi(-2);
        self.weight += weight;
        let share = weight / self.weight;
        let (size, time) = (sample.size - self.size, sample.time - self.time);
        self.size += share * size;
        self.time += share * time;
        self.sizes += weight * size * (sample.size - self.size);
        self.products += weight * size * (sample.time - self.time);
        self.times += weight * time * (sample.time - self.time);
    }

    fn slope(&self) -> f64 {
        if self.sizes > 0.0 { (self.products / self.sizes).max(0.0) } else { 0.0 }
    }

    fn cost(&self) -> f64 {
        let explained = self.slope() * self.products;
        (self.times - explained).max(0.0)
    }

    fn line(&self) -> Line {
        let slope = self.slope();
        Line { constant: self.time - slope * self.size, slope }
    }
}

/// The lines of least cost through samples of ascending size. What is no observation must be left out
/// before; nothing of nothing.
pub fn piecewise(samples: &[Sample], penalty: Penalty) -> Vec<Piece> {
    // For each end: the least cost up to there, and where its last piece begins.
    let mut best = vec![(0.0, 0); samples.len() + 1];
    best.iter_mut().skip(1).for_each(|end| end.0 = f64::INFINITY);
    for first in 0..samples.len() {
        let mut sums = Sums::default();
        for (last, sample) in samples.iter().enumerate().skip(first) {
            sums.add(sample);
            let cost = best[first].0 + sums.cost() + penalty.of(last + 1 - first);
            if cost < best[last + 1].0 {
                best[last + 1] = (cost, first);
            }
        }
    }
    let mut pieces = Vec::new();
    let mut end = samples.len();
    while end > 0 && best[end].0.is_finite() {
        let first = best[end].1;
        let mut sums = Sums::default();
        samples[first..end].iter().for_each(|sample| sums.add(sample));
        pieces.push(Piece { first, last: end - 1, line: sums.line(), cost: sums.cost(), sums });
        end = first;
    }
    pieces.reverse();
    lend_slopes(&mut pieces);
    pieces
}

/// Gives a piece of one sample the slope of the longer of its neighbours.
fn lend_slopes(pieces: &mut [Piece]) {
    for index in 0..pieces.len() {
        if pieces[index].count() > 1 {
            continue;
        }
        let before = index.checked_sub(1).map(|before| pieces[before]);
        let neighbours = before.into_iter().chain(pieces.get(index + 1).copied());
        if let Some(longer) = neighbours.filter(|piece| piece.count() > 1).max_by_key(Piece::count) {
            let Sums { size, time, .. } = pieces[index].sums;
            let slope = longer.line.slope;
            pieces[index].line = Line { constant: time - slope * size, slope };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const ALPHA: f64 = 20_000.0;
    const BETA: f64 = 0.9;

    fn smooth(size: f64) -> f64 {
        ALPHA + BETA * size
    }

    /// So many sizes from 1 B to 8 MiB.
    fn sizes(count: u32) -> Vec<f64> {
        (0..count).map(|index| f64::from(index * 23) / f64::from(count - 1)).map(f64::exp2).collect()
    }

    /// Medians of so many passes with 3 % noise, as the analysis gets them.
    fn noisy(sizes: &[f64], passes: u32, seed: u64, time: impl Fn(f64) -> f64) -> Vec<Sample> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || {
            let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let mut median = |size: &f64| {
            let size = *size;
            let times = (0..passes).map(|_| time(size) * (1.0 + 0.03 * normal()));
            (size, Estimate::from_values(times.collect::<Vec<_>>()).unwrap())
        };
        samples(&sizes.iter().map(&mut median).collect::<Vec<_>>()).unwrap()
    }

    fn fit(samples: &[Sample]) -> Vec<Piece> {
        piecewise(samples, Penalty::for_sizes(samples.len()))
    }

    #[test]
    fn smooth_curves_hardly_ever_break() {
        for (sizes, passes) in [(sizes(24), 6), (sizes(24), 10), (sizes(124), 6), (sizes(124), 10)] {
            let broken = (0..300).filter(|seed| fit(&noisy(&sizes, passes, *seed, smooth)).len() > 1);
            assert!(broken.count() <= 3, "{} sizes, {passes} passes", sizes.len());
        }
    }

    #[test]
    fn a_step_of_two_alpha_is_found_within_one_size() {
        for (sizes, passes) in [(sizes(24), 6), (sizes(124), 6)] {
            let hit = |seed: &u64| {
                let at = (2u64 << (seed % 17)) as f64;
                let step = |size: f64| smooth(size) + if size >= at { 2.0 * ALPHA } else { 0.0 };
                let samples = noisy(&sizes, passes, *seed, step);
                let truth = samples.iter().position(|sample| sample.size >= at).unwrap();
                fit(&samples).iter().skip(1).any(|piece| piece.first.abs_diff(truth) <= 1)
            };
            let hits = (0..300).filter(hit).count();
            assert!(hits >= 294, "{} sizes: {hits}", sizes.len());
        }
    }

    #[test]
    fn one_size_behind_a_step_is_a_piece() {
        let sizes = sizes(24);
        for (edge, count) in [(1, 1), (sizes.len() - 1, sizes.len() - 1)] {
            let at = sizes[edge];
            let step = |size: f64| smooth(size) + if size >= at { 2e7 } else { 0.0 };
            let samples = noisy(&sizes, 10, 3, step);
            let pieces = fit(&samples);
            assert_eq!((pieces.len(), pieces[1].first), (2, count), "{pieces:#?}");
            assert!(pieces.iter().all(|piece| piece.line.slope > 0.0), "{pieces:#?}");
            let border = pieces[0].border(&pieces[1], &samples);
            assert!(border.sureness > 10.0 && (border.jump / 2e7 - 1.0).abs() < 0.1, "{border:?}");
        }
    }

    #[test]
    fn lines_that_meet_have_no_step_between_them() {
        let bent = |size: f64| smooth(size) + 0.44 * BETA * (size - 524_288.0).max(0.0);
        let samples = noisy(&sizes(24), 10, 1, bent);
        let pieces = fit(&samples);
        assert_eq!(pieces.len(), 2, "{pieces:#?}");
        let border = pieces[0].border(&pieces[1], &samples);
        assert!(border.sureness < 3.0 && border.gain > 100.0, "{border:?}");
    }

    #[test]
    fn medians_without_an_interval_are_no_samples() {
        let few = Estimate::from_values([1.0, 2.0, 3.0]).unwrap();
        let enough = Estimate::from_values([1.0, 1.1, 1.0, 1.2, 1.0, 1.1]).unwrap();
        assert_eq!(samples(&[(1.0, enough), (2.0, few)]), None);
        let zero = Estimate::from_values([0.0; 6]).unwrap();
        assert_eq!(samples(&[(1.0, zero)]), None);
        let sure = Estimate::from_values([1.0; 6]).unwrap();
        assert_eq!(samples(&[(1.0, sure)]).unwrap()[0].sigma, LEAST_SIGMA);
    }

    proptest! {
        #[test]
        fn a_line_is_one_piece(constant in 1.0..1e6f64, slope in 0.0..10.0f64) {
            let truth = Line { constant, slope };
            let sample = |size: f64| Sample { size, time: truth.at(size), sigma: 0.01 };
            let samples: Vec<Sample> = sizes(124).into_iter().map(sample).collect();
            let pieces = fit(&samples);
            prop_assert_eq!(pieces.len(), 1);
            prop_assert!((pieces[0].line.constant / constant - 1.0).abs() < 1e-6, "{:?}", pieces);
            prop_assert!(pieces[0].cost < 1e-6);
        }

        #[test]
        fn pieces_cover_every_sample_once(
            times in prop::collection::vec(1.0..1e9f64, 1..60), per_segment in 0.1..30.0f64, least in 1..7usize
        ) {
            let sample = |(index, time): (usize, &f64)| Sample { size: (index * index) as f64, time: *time, sigma: 0.02 };
            let samples: Vec<Sample> = times.iter().enumerate().map(sample).collect();
            let pieces = piecewise(&samples, Penalty { per_segment, least, short: per_segment });
            let mut next = 0;
            for piece in &pieces {
                prop_assert_eq!(piece.first, next);
                prop_assert!(piece.line.slope >= 0.0);
                next = piece.last + 1;
            }
            prop_assert_eq!(next, samples.len());
        }

        #[test]
        fn odd_numbers_never_break_it(
            values in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY, prop::num::f64::ANY), 0..30)
        ) {
            let sample = |(size, time, sigma): &(f64, f64, f64)| Sample { size: *size, time: *time, sigma: *sigma };
            let samples: Vec<Sample> = values.iter().map(sample).collect();
            let pieces = fit(&samples);
            pieces.windows(2).for_each(|pair| { pair[0].border(&pair[1], &samples); });
        }
    }
}
