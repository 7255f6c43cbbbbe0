//! Many hosts as a matrix of cells: who is slow, by fresh trials, or nobody, or it cannot be told.
//!
//! A screening lets each host meet several others; who stands apart in it is a suspect, and is measured anew. Everything that
//! is decided is decided here from the numbers on record, so that a schedule and a report decide alike.

mod effects;
mod found;
mod inventory;
mod judge;
mod of_recording;
mod resent;
mod shot;
mod suspect;
mod verdict;

pub use effects::Effects;
pub use found::grouped;
pub use inventory::{Difference, differences};
pub use judge::{Confirmed, FRESH, Judged, Outcome};
pub use of_recording::{Cell, Matrix, matrix, rates, round_trips};
pub use resent::Segments;
pub use shot::{Shot, Stage};
pub use suspect::{LOOKS, Part, Screened, Suspect, screened};
pub use verdict::{Kind, Named, Told, told};
