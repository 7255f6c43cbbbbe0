//! How far equal runs lie apart, layer by layer.

use crate::record::{Medians, RunSpread, SpreadOf, SpreadSource};
use crate::statistic::run_spread;
use std::collections::BTreeSet;

/// The spread of every figure that enough runs have.
pub fn spreads(runs: &[Medians], source: SpreadSource) -> Vec<RunSpread> {
    let layers: BTreeSet<&String> = runs.iter().flat_map(|run| run.keys()).collect();
    let of_layer = |layer: &String| {
        let of_figure = |of: SpreadOf| {
            let medians: Vec<f64> = runs.iter().filter_map(|run| run.get(layer)?.median(of)).collect();
            let spread = run_spread(&medians)?;
            Some(RunSpread {
                layer: layer.clone(),
                of,
                share: spread.share,
                centre: geometric_mean(&medians),
                runs: spread.runs,
                source,
            })
        };
        SpreadOf::ALL.into_iter().filter_map(of_figure).collect::<Vec<_>>()
    };
    layers.into_iter().flat_map(of_layer).collect()
}

/// The centre of numbers of which none is zero or below.
fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
