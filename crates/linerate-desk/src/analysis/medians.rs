//! What a run leaves behind for later ones: the median of each figure of each layer.

use super::Analysis;
use crate::record::{LayerMedians, Medians};

impl Analysis {
    /// The medians at the stated sizes, by the layers' names; a layer without any is left out.
    pub fn medians(&self) -> Medians {
        let of_layer = self.layers.iter().map(|layer| {
            let medians = LayerMedians {
                throughput_bps: layer.throughput_bps.map(|estimate| estimate.median),
                polling_ns: layer.polling_ns.map(|estimate| estimate.median),
                sleeping_ns: layer.sleeping_ns.map(|estimate| estimate.median),
            };
            (layer.name(), medians)
        });
        of_layer.filter(|(_, medians)| *medians != LayerMedians::default()).collect()
    }
}
