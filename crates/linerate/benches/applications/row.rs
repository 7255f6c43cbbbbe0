//! A row: two sides that do the same work, a block each by turns, and what follows from the ratios.

use linerate::statistic::Estimate;
use linerate::unit::significant;

/// What a side gave of a block: bigger is better.
pub type Play = Box<dyn FnMut(Side) -> Result<f64, String>>;

/// Which side plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ours,
    Other,
}

/// What is compared.
pub struct Row {
    pub name: String,
    /// What ours is held against.
    pub against: &'static str,
    /// The unit of a block's number.
    pub unit: &'static str,
    /// The least ratio that is wanted.
    pub aim: Option<f64>,
    /// Plays so many pairs.
    pub measure: Measure,
}

/// What plays so many pairs.
pub type Measure = Box<dyn Fn(usize) -> Result<Told, String>>;

/// A block a side by turns, where both sides are opened in this process.
pub fn by_turns(open: impl Fn() -> Result<Play, String> + 'static) -> Measure {
    Box::new(move |pairs| measured(&mut open()?, pairs))
}

/// Three digits.
fn told(value: f64) -> String {
    let steps = [(1e9, " G"), (1e6, " M"), (1e3, " k"), (0.0, " ")];
    let (step, prefix) = *steps.iter().find(|(step, _)| value >= *step).unwrap_or(&(0.0, " "));
    format!("{}{prefix}", significant(value / if step > 0.0 { step } else { 1.0 }, 3))
}

/// What came of it.
pub struct Told {
    pub ratio: Estimate,
    /// Medians.
    pub ours: f64,
    pub other: f64,
}

/// Plays the pairs; the first one finds its way.
fn measured(play: &mut Play, pairs: usize) -> Result<Told, String> {
    let mut blocks = Vec::new();
    for pair in 0..=pairs {
        // Whichever goes first has the caches of the other one: both do in turn.
        let order = if pair % 2 == 0 { [Side::Ours, Side::Other] } else { [Side::Other, Side::Ours] };
        let mut found = [0.0; 2];
        for side in order {
            found[usize::from(side == Side::Other)] = play(side)?;
        }
        if pair > 0 {
            blocks.push(found);
        }
    }
    Told::of_pairs(&blocks)
}

impl Told {
    /// What follows from pairs of blocks: ours, and the other's.
    pub fn of_pairs(pairs: &[[f64; 2]]) -> Result<Told, String> {
        let none = || "no block was played".to_owned();
        let median = |side: usize| {
            let values = Estimate::from_values(pairs.iter().map(|pair| pair[side]));
            values.map_or(f64::NAN, |one| one.median)
        };
        let ratios = pairs.iter().map(|[ours, other]| ours / other);
        let ratio = Estimate::from_values(ratios).ok_or_else(none)?;
        Ok(Told { ratio, ours: median(0), other: median(1) })
    }

    /// Whether the aim is met.
    pub fn verdict(&self, aim: Option<f64>) -> &'static str {
        match (aim, self.ratio.low, self.ratio.high) {
            (None, ..) => "no aim",
            (Some(aim), Some(low), _) if low >= aim => "met",
            (Some(aim), _, Some(high)) if high < aim => "not met",
            _ => "cannot tell",
        }
    }

    /// The rest of a line.
    pub fn line(&self, row: &Row) -> String {
        let Estimate { median, low, high, n } = self.ratio;
        let [low, high] = [low, high].map(|end| end.map_or("?".into(), |end| format!("{end:.3}")));
        let aim = row.aim.map_or(String::new(), |aim| format!("at least {aim:.2}: "));
        let aim = format!("{aim}{}", self.verdict(row.aim));
        let ratio = format!("{median:.3} [{low}, {high}]");
        let (ours, other, unit) = (self.ours, self.other, row.unit);
        let [ours, other] = [ours, other].map(told);
        format!("{ratio:>22}  {n:>4}  {aim:28}  {ours}{unit} against {other}{unit} of {}", row.against)
    }
}
