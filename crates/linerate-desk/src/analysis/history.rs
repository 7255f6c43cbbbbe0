//! The medians of earlier runs in the order of time: levels, and where one changed.
//!
//! A run's median is one observation. Whether a figure changed at all is told by ranks, whatever its distribution: at the best
//! of all places the runs before are held against those after (Mann and Whitney), and that p counts once for each place and
//! each figure (Bonferroni), so that the share of errors is that of a whole history. Where it changed is told by
//! [`change_points`], on logarithms: alone it would find changes in three times as many histories as it says, because the test
//! in it is far out in its tails there. A level has the median of its runs with a distribution-free interval, from six runs on.

use crate::record::{Medians, SpreadOf};
use crate::statistic::{CONFIDENCE, Estimate, change_points, rank_sum};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Of histories without any change at most this share shows one.
pub const FALSE_CHANGES: f64 = 0.01;

/// The fewest runs of a level.
pub const LEAST_OF_LEVEL: usize = 4;

/// The latest runs that are looked at: an old machine room is another one.
const MOST_RUNS: usize = 200;

/// A completed run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastRun {
    /// Its start.
    pub utc: String,
    /// The kind of target and the machines.
    pub key: String,
    /// What was measured, the seed apart.
    pub plan_hash: String,
    /// The target as it is printed; none in what older versions kept.
    pub target: Option<String>,
    /// The program's version.
    pub version: String,
    /// Its medians, by layer.
    pub medians: Medians,
}

/// The runs of one plan on the same hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The target as it is printed, or the key of its hosts.
    pub target: String,
    /// The kind of target and the machines.
    pub hosts: String,
    /// What was measured, the seed apart.
    pub plan: String,
    /// The start of each run, the oldest first.
    pub runs: Vec<String>,
    /// The program's version at each.
    pub versions: Vec<String>,
    /// Of histories without any change at most this share shows one.
    pub false_changes: f64,
    /// A figure of a layer each.
    pub figures: Vec<FigureOverRuns>,
}

/// One figure of one layer over the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureOverRuns {
    /// The layer's name: `network.tcp a>b`.
    pub layer: String,
    /// Which figure.
    pub of: SpreadOf,
    /// Bits a second, or nanoseconds; null where a run has none.
    pub medians: Vec<Option<f64>>,
    /// From change to change; one where nothing changed.
    pub levels: Vec<Level>,
}

/// Runs between two changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Its first run, counted from 0.
    pub from: usize,
    /// The runs that have the figure.
    pub n: u32,
    /// Their median.
    pub median: f64,
    /// The ends of its interval of 95 %; null with fewer than six runs.
    pub low: Option<f64>,
    /// See above.
    pub high: Option<f64>,
    /// Against the level before, as a share; null of the first one.
    pub change: Option<f64>,
}

/// What these runs tell, a history for each plan and its hosts, in the order of their first runs.
pub fn histories(runs: &[PastRun]) -> Vec<History> {
    let mut groups: Vec<((&str, &str), Vec<&PastRun>)> = Vec::new();
    for run in runs {
        let key = (run.key.as_str(), run.plan_hash.as_str());
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    let latest = |members: &[&PastRun]| history(&members[members.len().saturating_sub(MOST_RUNS)..]);
    groups.iter().map(|(_, members)| latest(members)).collect()
}

fn history(runs: &[&PastRun]) -> History {
    let latest = runs.iter().rev().find_map(|run| run.target.clone());
    let (key, plan) = runs.first().map(|run| (run.key.clone(), run.plan_hash.clone())).unwrap_or_default();
    let layers: BTreeSet<&String> = runs.iter().flat_map(|run| run.medians.keys()).collect();
    let of_all = layers.iter().flat_map(|layer| SpreadOf::ALL.map(|of| (*layer, of)));
    let mut values: BTreeMap<(&String, SpreadOf), Vec<Option<f64>>> = BTreeMap::new();
    for (layer, of) in of_all {
        let one = |run: &&PastRun| run.medians.get(layer)?.median(of).filter(|median| *median > 0.0);
        let medians: Vec<Option<f64>> = runs.iter().map(one).collect();
        if medians.iter().any(Option::is_some) {
            values.insert((layer, of), medians);
        }
    }
    let p = FALSE_CHANGES / values.len().max(1) as f64;
    let figures = values.into_iter().map(|((layer, of), medians)| FigureOverRuns {
        layer: layer.clone(),
        of,
        levels: levels(&medians, p),
        medians,
    });
    History {
        target: latest.unwrap_or_else(|| key.clone()),
        hosts: key,
        plan,
        runs: runs.iter().map(|run| run.utc.clone()).collect(),
        versions: runs.iter().map(|run| run.version.clone()).collect(),
        false_changes: FALSE_CHANGES,
        figures: figures.collect(),
    }
}

/// Whether a series is not all of one level: of series that are, at most a share `p` seems not to be.
fn has_changed(logs: &[f64], p: f64) -> bool {
    let logs: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    let places = LEAST_OF_LEVEL..=logs.len().saturating_sub(LEAST_OF_LEVEL);
    let count = places.clone().count() as f64;
    let differs =
        |at: usize| rank_sum(&logs[..at], &logs[at..], CONFIDENCE).is_some_and(|it| it.p * count < p);
    places.into_iter().any(differs)
}

/// The levels of one series.
fn levels(medians: &[Option<f64>], p: f64) -> Vec<Level> {
    let logs: Vec<f64> = medians.iter().map(|median| median.map_or(f64::NAN, f64::ln)).collect();
    let mut bounds = vec![0];
    if has_changed(&logs, p) {
        bounds.extend(change_points(&logs, p, LEAST_OF_LEVEL));
    }
    bounds.push(medians.len());
    let mut levels: Vec<Level> = Vec::new();
    for part in bounds.windows(2) {
        let Some(estimate) = Estimate::from_values(medians[part[0]..part[1]].iter().copied().flatten())
        else {
            continue;
        };
        let Estimate { median, low, high, n } = estimate;
        let change = levels.last().map(|before| median / before.median - 1.0);
        levels.push(Level { from: part[0], n, median, low, high, change });
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::LayerMedians;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Runs of three layers with noise of this share, each figure a series; `level` is of each run.
    fn runs(seed: u64, count: usize, noise: f64, level: impl Fn(usize) -> f64) -> Vec<PastRun> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || {
            let sum: f64 = (0..12).map(|_| random.random::<f64>()).sum();
            (noise * (sum - 6.0)).exp()
        };
        let run = |nth: usize| {
            let mut medians = Medians::new();
            for layer in ["network.tcp a>b", "network.tcp b>a", "in-host.tcp a"] {
                let of_layer = LayerMedians {
                    throughput_bps: Some(1e10 * level(nth) * draw()),
                    polling_ns: Some(5e3 * draw()),
                    sleeping_ns: None,
                };
                medians.insert(layer.into(), of_layer);
            }
            let utc = format!("2026-11-{:02}T00:00:00Z", nth + 1);
            PastRun { utc, key: "lab-1".into(), plan_hash: "2".into(), medians, ..PastRun::default() }
        };
        (0..count).map(run).collect()
    }

    fn has_change(history: &History) -> bool {
        history.figures.iter().any(|figure| figure.levels.len() > 1)
    }

    #[test]
    fn a_level_without_a_change_shows_one_as_seldom_as_said() {
        let shows = |seed: &u64| has_change(&histories(&runs(*seed, 30, 0.05, |_| 1.0))[0]);
        let found = (0..400).filter(shows).count();
        println!("{found} of 400");
        // 4 are expected at most; of ten and more is a chance of 1 in 100.
        assert!(found <= 9, "{found}");
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let changed = |nth: usize| if nth < 18 { 1.0 } else { 0.85 };
        let mut found = 0;
        for seed in 0..100 {
            let history = &histories(&runs(seed, 30, 0.03, changed))[0];
            let tcp = &history.figures[2];
            assert_eq!((tcp.layer.as_str(), tcp.of), ("network.tcp a>b", SpreadOf::Throughput));
            if let [before, after] = &tcp.levels[..]
                && after.from.abs_diff(18) <= 1
            {
                let change = after.change.unwrap();
                assert!((change + 0.15).abs() < 0.07 && before.n + after.n == 30, "{change}");
                assert!(after.low.unwrap() <= after.median && after.median <= after.high.unwrap());
                found += 1;
            }
        }
        assert!(found >= 95, "{found} of 100");
    }

    #[test]
    fn runs_of_another_plan_or_hosts_are_another_history() {
        let mut all = runs(1, 4, 0.01, |_| 1.0);
        all[2].plan_hash = "other".into();
        all[3].key = "lab-other".into();
        all[1].medians.remove("in-host.tcp a");
        let histories = histories(&all);
        let counts: Vec<usize> = histories.iter().map(|history| history.runs.len()).collect();
        assert_eq!((counts, histories[0].target.as_str()), (vec![2, 1, 1], "lab-1"));
        let in_host = &histories[0].figures[0];
        assert_eq!((in_host.medians[1], in_host.levels[0].n), (None, 1));
        assert_eq!(in_host.levels[0].low, None, "one run has no interval");
    }
}
