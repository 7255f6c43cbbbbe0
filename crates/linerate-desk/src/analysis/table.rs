//! What the trials of the curves tell of any metric, by case and message size: asked for when it is shown, so that what is
//! not shown costs nothing.

use super::curve;
use super::measures::Measure;
use crate::plan::Case;
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
use std::collections::BTreeMap;

/// The trials of the curves.
pub struct Table<'r> {
    recording: &'r Recording,
    rows: BTreeMap<(&'r Case, u64), Vec<&'r Trial>>,
}

impl<'r> Table<'r> {
    /// All of a recording's.
    pub fn from_recording(recording: &'r Recording) -> Table<'r> {
        let mut rows: BTreeMap<(&Case, u64), Vec<&Trial>> = BTreeMap::new();
        for trial in curve::trials(recording) {
            rows.entry((&trial.case, trial.block.message_bytes)).or_default().push(trial);
        }
        Table { recording, rows }
    }

    /// The median and interval over the passes of the first of these numbers that a trial tells.
    pub fn estimate(&self, case: &Case, message_bytes: u64, measures: &[Measure]) -> Option<Estimate> {
        let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for trial in self.rows.get(&(case, message_bytes)).into_iter().flatten() {
            let value = measures.iter().find_map(|measure| measure.value(self.recording, trial));
            passes.entry(trial.pass).or_default().extend(value);
        }
        Estimate::from_values(passes.into_values().filter_map(median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::measure;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn a_row_tells_what_the_curve_has_at_its_size() {
        let recording = Synthetic::default().recording();
        let (analysis, table) = (analyse(&recording), Table::from_recording(&recording));
        let measures =
            |names: &[&str]| -> Vec<Measure> { names.iter().filter_map(|name| measure(name)).collect() };
        let rate = measures(&["throughput", "ping-pong-throughput"]);
        for curve in &analysis.curves {
            for point in &curve.points {
                let told = |metrics: &[Measure]| table.estimate(&curve.case, point.message_bytes, metrics);
                assert_eq!(told(&rate), point.estimate(|values| values.throughput_bps));
                let half = point.estimate(|values| values.half_round_trip_ns);
                assert_eq!(told(&measures(&["half-round-trip"])), half);
                let cpu = point.estimate(|values| Some(values.sender?.cpu_ns_per_byte));
                assert_eq!(told(&measures(&["cpu.sender"])), cpu);
            }
        }
        assert_eq!(table.estimate(&Case::default(), 1, &rate), None);
    }
}
