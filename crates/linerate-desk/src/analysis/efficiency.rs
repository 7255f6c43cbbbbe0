//! What a layer keeps of the throughput of the layer below, size by size.

use super::ladder::shares;
use super::{Analysis, Layer, below};
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The size.
    pub message_bytes: u64,
    /// Throughput as a share of the layer below's, paired within passes.
    pub kept_of_below: Estimate,
    /// Each pass's own share.
    #[serde(skip)]
    pub passes: Vec<f64>,
}

/// Throughput as a share of the layer below's at the same size, paired within passes: the median, and each
/// pass's own share. Sizes that either layer was not measured at are left out.
pub fn efficiency(analysis: &Analysis, layer: &Layer) -> Vec<Kept> {
    let (Some(lower), Some(stream)) = (below(layer, &analysis.layers), layer.stream(&analysis.curves)) else {
        return Vec::new();
    };
    let at = |message_bytes: u64| {
        let passes = shares(layer, lower, &analysis.curves, message_bytes)?;
        let kept_of_below = Estimate::from_values(passes.iter().copied())?;
        Some(Kept { message_bytes, kept_of_below, passes })
    };
    stream.points.iter().filter_map(|point| at(point.message_bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn it_agrees_with_the_ladder_at_its_size() {
        let analysis = analyse(&Synthetic { passes: 7, ..Synthetic::default() }.recording());
        let mut compared = 0;
        for layer in &analysis.layers {
            let Some(kept) = layer.kept_of_below else { continue };
            let found = efficiency(&analysis, layer);
            let one = found.iter().find(|one| one.message_bytes == layer.ladder_bytes).unwrap();
            assert_eq!(one.kept_of_below, kept, "{}", layer.name());
            assert_eq!(one.passes.len(), 7);
            compared += 1;
        }
        assert!(compared > 1);
    }
}
