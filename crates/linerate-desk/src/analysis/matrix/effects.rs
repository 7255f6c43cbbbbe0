//! What of a matrix is its rows', what its columns': medians on logarithms, so that a tenth of the cells may be anything.
//!
//! A rate is the least of what sender, receiver and link allow, not a sum; the median of a host's cells is then its own limit
//! as long as most of its partners and links allow more. Medians of rows and columns in turns are Tukey's median polish
//! (Exploratory Data Analysis, 1977, chapter 10).

use super::shot::Shot;
use crate::statistic::median;

/// Turns of rows and columns; after four nothing moves that matters here.
const TURNS: usize = 4;

/// Turns of means over rows and columns.
const MEAN_TURNS: usize = 8;

/// So many spreads of the middle, a cell is no noise: about three standard deviations.
const FAR: f64 = 4.0;

/// What makes a standard deviation of the median of distances, where they are normal.
const OF_MEDIAN: f64 = 1.4826;

/// The standard error of a median is this much larger than that of a mean, where values are normal.
const MEDIAN_ERROR: f64 = 1.2533;

/// Noise is never taken for less: a clock and a scheduler see to that.
const LEAST_NOISE: f64 = 0.005;

/// The parts of a matrix; all logarithms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// The usual cell.
    pub level: f64,
    /// What each host's sending is above it, by its number; none where it sent nothing.
    pub sends: Vec<Option<f64>>,
    /// The same of its receiving.
    pub receives: Vec<Option<f64>>,
    /// The partners that each host sent to.
    pub sent_to: Vec<u32>,
    /// The partners that each had from.
    pub had_from: Vec<u32>,
    /// The noise of a cell: a standard deviation.
    pub noise: f64,
}

impl Effects {
    /// The parts of these cells between so many hosts.
    pub fn new(hosts: usize, cells: &[Shot]) -> Effects {
        // A recording may name hosts that its plan has not.
        let cells: Vec<Shot> =
            cells.iter().filter(|cell| from(cell).max(to(cell)) < hosts).copied().collect();
        let cells = cells.as_slice();
        let rows = by_host(hosts, cells, |cell| cell.pair.from.0);
        let columns = by_host(hosts, cells, |cell| cell.pair.to.0);
        let mut level = median(cells.iter().map(|cell| cell.log)).unwrap_or(0.0);
        let mut sends = vec![0.0; hosts];
        let mut receives = vec![0.0; hosts];
        for _ in 0..TURNS {
            for (host, row) in rows.iter().enumerate() {
                let rest = row.iter().map(|at| cells[*at].log - level - receives[to(&cells[*at])]);
                sends[host] = median(rest).unwrap_or(0.0);
            }
            level += centred(&mut sends, &rows);
            for (host, column) in columns.iter().enumerate() {
                let rest = column.iter().map(|at| cells[*at].log - level - sends[from(&cells[*at])]);
                receives[host] = median(rest).unwrap_or(0.0);
            }
            level += centred(&mut receives, &columns);
        }
        let counts = |lists: &[Vec<usize>]| lists.iter().map(|list| list.len() as u32).collect::<Vec<_>>();
        let known = |effects: &[f64], lists: &[Vec<usize>]| {
            effects.iter().zip(lists).map(|(effect, list)| (!list.is_empty()).then_some(*effect)).collect()
        };
        let mut effects = Effects {
            level,
            sends: known(&sends, &rows),
            receives: known(&receives, &columns),
            sent_to: counts(&rows),
            had_from: counts(&columns),
            noise: 0.0,
        };
        effects.noise = effects.noise_of(cells);
        effects
    }

    /// What a cell has beyond its row and its column.
    pub fn rest(&self, cell: &Shot) -> f64 {
        let of = |effects: &[Option<f64>], host: usize| effects.get(host).copied().flatten().unwrap_or(0.0);
        cell.log - self.level - of(&self.sends, from(cell)) - of(&self.receives, to(cell))
    }

    /// The partners of the host that has the fewest, of those that have so many at least; of the one that has most, where none
    /// has. A host that was lost on the way has few, and says nothing of the others.
    pub fn partners(&self, least: u32) -> u32 {
        let all = || self.sent_to.iter().chain(&self.had_from).copied();
        all().filter(|partners| *partners >= least).min().or(all().max()).unwrap_or(0)
    }

    /// How far the median of so many cells is off by noise: one standard error.
    pub fn error(&self, cells: u32) -> f64 {
        MEDIAN_ERROR * self.noise / f64::from(cells.max(1)).sqrt()
    }

    /// The standard deviation of what rows and columns leave, by means: medians fit so many cells exactly that the middle of
    /// what they leave is too small by a quarter or more. Cells far out are no noise and left out.
    fn noise_of(&self, cells: &[Shot]) -> f64 {
        let spread = OF_MEDIAN * median(cells.iter().map(|cell| self.rest(cell).abs())).unwrap_or(0.0);
        let far = FAR * spread.max(LEAST_NOISE);
        let near: Vec<Shot> = cells.iter().filter(|cell| self.rest(cell).abs() < far).copied().collect();
        let hosts = self.sends.len();
        let [rows, columns] =
            [by_host(hosts, &near, |cell| cell.pair.from.0), by_host(hosts, &near, |cell| cell.pair.to.0)];
        let mut rests: Vec<f64> = near.iter().map(|cell| self.rest(cell)).collect();
        for list in std::iter::repeat_n([&rows, &columns], MEAN_TURNS).flatten().flatten() {
            let mean = list.iter().map(|at| rests[*at]).sum::<f64>() / list.len().max(1) as f64;
            list.iter().for_each(|at| rests[*at] -= mean);
        }
        let fitted = rows.iter().chain(&columns).filter(|list| !list.is_empty()).count().saturating_sub(1);
        let free = near.len().saturating_sub(fitted);
        let sum: f64 = rests.iter().map(|rest| rest * rest).sum();
        // With nothing left over there is nothing to tell it by.
        if free == 0 { spread.max(LEAST_NOISE) } else { (sum / free as f64).sqrt().max(LEAST_NOISE) }
    }
}

fn from(cell: &Shot) -> usize {
    usize::from(cell.pair.from.0)
}

fn to(cell: &Shot) -> usize {
    usize::from(cell.pair.to.0)
}

/// The places of each host's cells.
fn by_host(hosts: usize, cells: &[Shot], host: impl Fn(&Shot) -> u16) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); hosts];
    for (at, cell) in cells.iter().enumerate() {
        if let Some(list) = lists.get_mut(usize::from(host(cell))) {
            list.push(at);
        }
    }
    lists
}

/// Takes the middle of the effects out of them.
fn centred(effects: &mut [f64], lists: &[Vec<usize>]) -> f64 {
    let measured = effects.iter().zip(lists).filter(|(_, list)| !list.is_empty());
    let middle = median(measured.map(|(effect, _)| *effect)).unwrap_or(0.0);
    effects.iter_mut().for_each(|effect| *effect -= middle);
    middle
}
