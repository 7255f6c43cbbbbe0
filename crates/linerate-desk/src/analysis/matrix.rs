//! Many hosts as a matrix of cells: who is slow, by fresh trials, or nobody, or it cannot be told.
//!
//! A screening lets each host meet several others; who stands apart in it is a suspect, and is measured anew. Everything that
//! is decided is decided here from the numbers on record, so that a schedule and a report decide alike.

mod effects;
mod found;
mod inventory;
mod judge;
mod metric;
mod of_recording;
mod part;
mod resent;
mod shot;
mod suspect;
mod verdict;

pub use effects::Effects;
pub use inventory::{Difference, differences};
pub use judge::{Confirmed, FRESH, Judged, Outcome};
pub use metric::{Carries, CellMetric};
pub use of_recording::{Cell, Matrix, matrix, numbers, round_trips};
pub use part::Part;
pub use resent::Segments;
pub use shot::{Shot, Shots, Stage};
pub use suspect::{LOOKS, Screened, Suspect, screened};
pub use verdict::{Ending, Kind, Named, Told, grouped_by, verdict_on};
