//! What the trials of the curves tell of any metric, by case and message size: asked for when it is shown, so that what is
//! not shown costs nothing.

use super::curve;
use super::measures::Measure;
use crate::plan::Case;
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
use crate::vocabulary::Metric;
use std::collections::BTreeMap;

/// The trials of the curves.
pub struct Table<'r> {
    recording: &'r Recording,
    rows: BTreeMap<(&'r Case, u64), Vec<&'r Trial>>,
}

impl<'r> Table<'r> {
    /// All of a recording's.
    pub fn of(recording: &'r Recording) -> Table<'r> {
        let mut rows: BTreeMap<(&Case, u64), Vec<&Trial>> = BTreeMap::new();
        for trial in curve::trials(recording) {
            rows.entry((&trial.case, trial.block.message_bytes)).or_default().push(trial);
        }
        Table { recording, rows }
    }

    /// The median and interval over the passes of the first of these metrics that a trial tells.
    pub fn estimate(&self, case: &Case, message_bytes: u64, metrics: &[&'static Metric]) -> Option<Estimate> {
        let measures: Vec<Measure> = metrics.iter().filter_map(|metric| Measure::whole(metric)).collect();
        let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for trial in self.rows.get(&(case, message_bytes)).into_iter().flatten() {
            let value = measures.iter().find_map(|measure| measure.of(self.recording, trial));
            passes.entry(trial.pass).or_default().extend(value);
        }
        Estimate::of(passes.into_values().filter_map(median))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::record::synthetic::Synthetic;
    use crate::vocabulary::metric;

    #[test]
    fn a_row_tells_what_the_curve_has_at_its_size() {
        let recording = Synthetic::default().recording();
        let (analysis, table) = (analyse(&recording), Table::of(&recording));
        let rate = [&metric::THROUGHPUT, &metric::PING_PONG_THROUGHPUT];
        for curve in &analysis.curves {
            for point in &curve.points {
                let told =
                    |metrics: &[&'static Metric]| table.estimate(&curve.case, point.message_bytes, metrics);
                assert_eq!(told(&rate), point.estimate(|values| values.throughput_bps));
                let half = point.estimate(|values| values.half_round_trip_ns);
                assert_eq!(told(&[&metric::HALF_ROUND_TRIP]), half);
                let cpu = point.estimate(|values| Some(values.sender?.cpu_ns_per_byte));
                assert_eq!(told(&[&metric::CPU_SENDER]), cpu);
            }
        }
        assert_eq!(table.estimate(&Case::default(), 1, &rate), None);
    }
}
