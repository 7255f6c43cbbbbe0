//! Races: whether one way is ahead of another, as good as it, or behind it, from pairs taken block by block.
//!
//! A race has a ratio a block, above 1 where ours is the better one. On its logarithms three questions are asked, each
//! by a one-sided signed-rank test at 2.5 %, which is what an end of a 95 % interval is: does the ratio lie above 1,
//! above [`NOT_BEHIND`], below [`NOT_BEHIND`]? Of many races some would answer by luck, so the answers to a question
//! are adjusted for all races together, as Holm does.
//!
//! Who looks at the races several times, and goes on with those that are not decided yet, has several chances of luck: so
//! each p is multiplied by the number of looks that were planned, as Bonferroni does.

use super::signed_rank::{one_sided, signed_rank};
use super::{CONFIDENCE, holm};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who is not proved to be above this share of the other is not proved to be as good: the margin of non-inferiority.
pub const NOT_BEHIND: f64 = 0.98;

/// How far an end of the interval may lie from the ratio, as a share of it, where two are called equal.
pub const WIDEST: f64 = 0.015;

/// The share of luck at one end of an interval.
const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// How a race ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The ratio is above 1, also with all other races in view.
    Ahead,
    /// It is above [`NOT_BEHIND`], with all others in view, and known to [`WIDEST`].
    Equal,
    /// It is below [`NOT_BEHIND`], with all others in view.
    Behind,
    /// None of these is proved. Who wants to be as good has not shown it.
    CannotTell,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Ahead => "ahead",
            Verdict::Equal => "equal",
            Verdict::Behind => "behind",
            Verdict::CannotTell => "cannot tell",
        })
    }
}

/// What the pairs of one race say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Raced {
    /// The centre of the ratios: of their logarithms the median of the averages of all pairs.
    pub ratio: f64,
    /// The lower end of its own 95 % interval; none where too few blocks were run for one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The number of blocks.
    pub n: u32,
    /// How it ended.
    pub verdict: Verdict,
}

impl Raced {
    /// The larger distance from the ratio to an end, as a share of the ratio.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.ratio).max(self.ratio - self.low?) / self.ratio)
    }
}

/// The probabilities of what one race showed if its ratio were the one that a question denies.
#[derive(Clone, Copy)]
struct Luck {
    ahead: f64,
    not_behind: f64,
    behind: f64,
}

/// Judges races together, at one of so many looks; none of one without a block. A ratio that is not finite and above nothing
/// is no observation. A race that is run on no more after a look keeps its p, and is judged again with all others.
pub fn races(ratios: &[Vec<f64>], looks: u32) -> Vec<Option<Raced>> {
    let logarithms: Vec<Vec<f64>> = ratios.iter().map(|of_race| logarithms(of_race)).collect();
    let luck: Vec<Option<Luck>> = logarithms.iter().map(|differences| luck(differences, looks)).collect();
    // What is no test is no number, which Holm leaves out.
    let adjusted = |of: fn(&Luck) -> f64| -> Vec<f64> {
        holm(&luck.iter().map(|luck| luck.as_ref().map_or(f64::NAN, of)).collect::<Vec<f64>>())
    };
    let ahead = adjusted(|luck| luck.ahead);
    let not_behind = adjusted(|luck| luck.not_behind);
    let behind = adjusted(|luck| luck.behind);
    let each = logarithms.iter().enumerate().map(|(race, differences)| {
        let mut raced = centre(differences)?;
        let luck = Luck { ahead: ahead[race], not_behind: not_behind[race], behind: behind[race] };
        raced.verdict = verdict(&raced, luck);
        Some(raced)
    });
    each.collect()
}

/// The least blocks by which one of so many races can be decided at one of so many looks: no test of `n` blocks has a p
/// below 1 in 2 to the `n`.
pub fn least_blocks(races: usize, looks: u32) -> u32 {
    (races.max(1) as f64 * f64::from(looks.max(1)) / TAIL).log2().floor() as u32 + 1
}

fn logarithms(ratios: &[f64]) -> Vec<f64> {
    ratios.iter().filter(|ratio| ratio.is_finite() && **ratio > 0.0).map(|ratio| ratio.ln()).collect()
}

fn luck(differences: &[f64], looks: u32) -> Option<Luck> {
    let margin = one_sided(differences, NOT_BEHIND.ln())?;
    let ahead = one_sided(differences, 0.0)?.up;
    let of_all = |p: f64| (p * f64::from(looks.max(1))).min(1.0);
    Some(Luck { ahead: of_all(ahead), not_behind: of_all(margin.up), behind: of_all(margin.down) })
}

fn centre(differences: &[f64]) -> Option<Raced> {
    let effect = signed_rank(differences, CONFIDENCE)?;
    Some(Raced {
        ratio: effect.estimate.exp(),
        low: effect.low.map(f64::exp),
        high: effect.high.map(f64::exp),
        n: effect.n,
        verdict: Verdict::CannotTell,
    })
}

/// The verdict by what was adjusted for all races. Whoever is ahead or behind is so however wide the interval is: its
/// end lies beyond the border. For being equal the width decides, or few blocks would prove it of a wide race.
fn verdict(raced: &Raced, adjusted: Luck) -> Verdict {
    let is_narrow = raced.half_width().is_some_and(|width| width <= WIDEST);
    if adjusted.ahead < TAIL {
        Verdict::Ahead
    } else if adjusted.behind < TAIL {
        Verdict::Behind
    } else if adjusted.not_behind < TAIL && is_narrow {
        Verdict::Equal
    } else {
        Verdict::CannotTell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    /// As many blocks around a ratio, each off by up to `spread` to either side, none twice.
    fn blocks(ratio: f64, spread: f64, n: u32) -> Vec<f64> {
        let place = |block: u32| f64::from(2 * block + 1) / f64::from(n) - 1.0;
        (0..n).map(|block| ratio * (1.0 + spread * place(block))).collect()
    }

    fn verdict_of(ratios: Vec<f64>) -> Verdict {
        races(&[ratios], 1)[0].unwrap().verdict
    }

    #[test]
    fn each_verdict_is_given_where_it_holds() {
        assert_eq!(verdict_of(blocks(1.10, 0.02, 12)), Verdict::Ahead);
        assert_eq!(verdict_of(blocks(1.0, 0.01, 12)), Verdict::Equal);
        assert_eq!(verdict_of(blocks(0.99, 0.005, 12)), Verdict::Equal);
        assert_eq!(verdict_of(blocks(0.95, 0.01, 12)), Verdict::Behind);
        // At the margin itself nothing is proved.
        assert_eq!(verdict_of(blocks(0.98, 0.01, 12)), Verdict::CannotTell);
    }

    #[test]
    fn only_being_equal_takes_a_narrow_interval() {
        let wide = races(&[blocks(1.03, 0.12, 12)], 1)[0].unwrap();
        assert!(wide.half_width().unwrap() > WIDEST && wide.low.unwrap() < 1.0, "{wide:?}");
        assert_eq!(wide.verdict, Verdict::CannotTell);
        let far = races(&[blocks(2.0, 0.2, 12)], 1)[0].unwrap();
        assert!(far.half_width().unwrap() > WIDEST, "{far:?}");
        assert_eq!(far.verdict, Verdict::Ahead);
    }

    #[test]
    fn a_few_blocks_say_nothing() {
        let few = races(&[blocks(2.0, 0.01, 5)], 1)[0].unwrap();
        assert_eq!((few.low, few.high, few.n, few.verdict), (None, None, 5, Verdict::CannotTell));
        assert_eq!(races(&[blocks(2.0, 0.01, 6)], 1)[0].unwrap().verdict, Verdict::Ahead);
        assert_eq!(races(&[Vec::new(), vec![f64::NAN, 0.0, -1.0]], 1), [None, None]);
        assert!(races(&[], 1).is_empty());
    }

    /// Six blocks of one sign have p = 1/64 on one side: enough for one race, not for two.
    #[test]
    fn other_races_make_a_verdict_harder() {
        let six = blocks(1.5, 0.01, 6);
        let undecided = blocks(1.0, 0.3, 6);
        let both = races(&[six.clone(), undecided], 1);
        assert_eq!(verdict_of(six.clone()), Verdict::Ahead);
        assert_eq!(both[0].unwrap().verdict, Verdict::CannotTell);
        // The interval is the race's own.
        assert_eq!(both[0].unwrap().low, races(&[six], 1)[0].unwrap().low);
        // A race that was not run is no test.
        let empty = races(&[blocks(1.5, 0.01, 6), Vec::new()], 1);
        assert_eq!(empty[0].unwrap().verdict, Verdict::Ahead);
    }

    #[test]
    fn one_block_too_few_decides_nothing() {
        for (count, looks) in [(1, 1), (2, 1), (10, 1), (37, 1), (37, 5)] {
            let decided = |n| {
                let all: Vec<Vec<f64>> = (0..count).map(|_| blocks(2.0, 0.01, n)).collect();
                races(&all, looks)[0].unwrap().verdict
            };
            let least = least_blocks(count, looks);
            assert_eq!(
                (decided(least), decided(least - 1)),
                (Verdict::Ahead, Verdict::CannotTell),
                "{count} at {looks} looks"
            );
        }
    }

    #[test]
    fn the_centre_is_the_geometric_one() {
        let raced = races(&[vec![0.5, 2.0, 0.25, 4.0, 1.0, 1.0]], 1)[0].unwrap();
        assert!((raced.ratio - 1.0).abs() < 1e-12, "{raced:?}");
    }

    /// Of equal ways that scatter by 2 %, twenty races at a time, hardly ever is one called ahead or behind.
    #[test]
    fn luck_is_rare_over_all_races() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        let runs = 400;
        let lucky = (0..runs).filter(|_| {
            let race = |_| (0..14).map(|_| 0.98 + 0.04 * random.random::<f64>()).collect::<Vec<f64>>();
            let all: Vec<Vec<f64>> = (0..20).map(race).collect();
            let is_wrong = |raced: Option<Raced>| {
                matches!(raced.map(|raced| raced.verdict), Some(Verdict::Ahead | Verdict::Behind))
            };
            races(&all, 1).into_iter().any(is_wrong)
        });
        // 2.5 % for the one and next to nothing for the other; of 400 runs 20 would be five standard errors above.
        assert!(lucky.count() <= 20);
    }

    /// Equal ways, looked at after 12, 24 and 48 blocks: whoever stops at the first verdict calls one ahead or behind in a
    /// twentieth of the runs at most, and in more where he does not say how often he looks.
    #[test]
    fn several_looks_give_luck_no_more_chances() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        let runs = 1000;
        let mut lucky = [0, 0];
        for _ in 0..runs {
            let race: Vec<f64> = (0..48).map(|_| 0.94 + 0.12 * random.random::<f64>()).collect();
            for (count, looks) in lucky.iter_mut().zip([3, 1]) {
                let is_lucky = |n: &usize| {
                    let verdict = races(&[race[..*n].to_vec()], looks)[0].map(|raced| raced.verdict);
                    matches!(verdict, Some(Verdict::Ahead | Verdict::Behind))
                };
                *count += usize::from([12, 24, 48].iter().any(is_lucky));
            }
        }
        // 2.5 % for being ahead, next to nothing for being behind; 40 is three standard errors above.
        assert!(lucky[0] <= 40 && lucky[1] > lucky[0], "{lucky:?}");
    }

    proptest! {
        #[test]
        fn a_verdict_needs_an_end_beyond_a_border(
            ratios in prop::collection::vec(prop::collection::vec(0.8..1.25f64, 6..20), 1..6)
        ) {
            for raced in races(&ratios, 1).into_iter().flatten() {
                let (low, high) = (raced.low.unwrap(), raced.high.unwrap());
                match raced.verdict {
                    Verdict::Ahead => prop_assert!(low > 1.0),
                    Verdict::Behind => prop_assert!(high < NOT_BEHIND),
                    Verdict::Equal => prop_assert!(low >= NOT_BEHIND && raced.half_width().unwrap() <= WIDEST),
                    Verdict::CannotTell => {}
                }
            }
        }

        #[test]
        fn odd_numbers_never_break_it(
            ratios in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 0..10), 0..4)
        ) {
            races(&ratios, 1);
        }
    }
}
