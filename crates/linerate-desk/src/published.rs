//! What five papers state of their networks: values with their place in the paper and what is doubtful of them.
//!
//! The values are the CSV files of `data/published`, parsed once. [`rows`] gives them as they were printed;
//! [`stated`] says of each in which panel it belongs; [`values`] gives those that can stand on an axis of ours,
//! converted to bits a second and nanoseconds; [`overlays`] gives these and the two-parameter [`Curve`]s as lines and points that are ready to be drawn.

mod curve;
mod doubt;
mod overlay;
mod paper;
mod row;
mod said;
mod shown;
mod value;

pub use curve::Curve;
pub use overlay::{Overlay, Shape};
pub use paper::{PAPERS, Paper, Testbed};
pub use row::{Change, Kind, Layer, Qualifier, Quantity, Row, Size, Unit};
pub use shown::{Along, PanelOf, Shown, Stated};
pub use value::{Axis, Published};

use serde::de::DeserializeOwned;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

const MEASUREMENTS: &str = include_str!("../data/published/measurements.csv");
const CHANGES: &str = include_str!("../data/published/knobs.csv");
const CURVES: &str = include_str!("../data/published/models.csv");

/// Every paper.
pub fn papers() -> &'static [Paper] {
    PAPERS
}

/// Every value as it was printed, in the order of the papers.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| parsed(MEASUREMENTS))
}

/// What the papers changed, and what it gave.
pub fn changes() -> &'static [Change] {
    static ROWS: OnceLock<Vec<Change>> = OnceLock::new();
    ROWS.get_or_init(|| parsed(CHANGES))
}

/// The curves against message size that follow from a stated half round trip and a stated rate.
pub fn curves() -> &'static [Curve] {
    static ROWS: OnceLock<Vec<Curve>> = OnceLock::new();
    ROWS.get_or_init(|| parsed::<curve::Line>(CURVES).into_iter().filter_map(Curve::from_line).collect())
}

/// Every value with the panel that it belongs in, or the reason why it belongs in none.
pub fn stated() -> &'static [Stated] {
    static ROWS: OnceLock<Vec<Stated>> = OnceLock::new();
    ROWS.get_or_init(|| rows().iter().filter_map(Stated::of_row).collect())
}

/// Every value that can stand on an axis of ours.
pub fn values() -> &'static [Published] {
    static ROWS: OnceLock<Vec<Published>> = OnceLock::new();
    ROWS.get_or_init(|| rows().iter().filter_map(Published::from_row).collect())
}

/// The values and curves of some layers, drawn over a range of message sizes.
pub fn overlays(layers: &[Layer], axis: Axis, sizes: RangeInclusive<u64>) -> Vec<Overlay> {
    let is_here = |one: &&Published| layers.contains(&one.layer) && one.axis == axis && one.is_of_ladder();
    let values = values().iter().filter(is_here);
    let curves = curves().iter().filter(|curve| layers.contains(&curve.layer));
    let values = values.filter_map(|one| Overlay::of_value(one, &sizes));
    values.chain(curves.map(|curve| Overlay::of_curve(curve, axis, &sizes))).collect()
}

/// The lines of a file that can be read; a test sees to it that these are all.
fn parsed<T: DeserializeOwned>(text: &str) -> Vec<T> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a line of a file cannot be read.
    fn unread<T: DeserializeOwned>(text: &str) -> Vec<String> {
        let read = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<T>();
        read.filter_map(Result::err).map(|error| error.to_string()).collect()
    }

    #[test]
    fn every_line_can_be_read() {
        assert_eq!(unread::<Row>(MEASUREMENTS), [""; 0]);
        assert_eq!(unread::<Change>(CHANGES), [""; 0]);
        assert_eq!(unread::<curve::Line>(CURVES), [""; 0]);
        assert_eq!((rows().len(), changes().len(), curves().len()), (358, 36, 29));
    }

    #[test]
    fn every_line_is_of_a_paper_and_a_testbed() {
        let paper = |id: &str| PAPERS.iter().find(|paper| paper.id == id);
        for row in rows() {
            let known = paper(&row.paper).unwrap_or_else(|| panic!("{row:?}"));
            let elsewhere = ["", "other"].contains(&row.testbed.as_str());
            assert!(elsewhere || known.testbeds.iter().any(|bed| bed.id == row.testbed), "{row:?}");
            assert!(!row.place.is_empty(), "{row:?} has no place in the paper");
        }
        assert!(changes().iter().all(|change| paper(&change.paper).is_some() && !change.place.is_empty()));
        assert!(PAPERS.iter().all(|paper| curves().iter().any(|curve| curve.paper.id == paper.id)));
    }

    #[test]
    fn what_has_no_number_says_why() {
        let silent =
            |row: &&Row| row.value.or(row.low).is_none() && row.bytes.is_none() && row.note.is_empty();
        assert_eq!(rows().iter().find(silent), None);
    }
}
