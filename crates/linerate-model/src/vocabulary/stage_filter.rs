//! What the stages of a pipeline can do: filters, each from one kind of data to another.

/// What crosses a stream of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageData {
    /// Bytes that follow from a unit's number.
    Bytes,
    /// Buffers with whatever they had.
    Blank,
    /// Rows of tiles of a slide.
    Tiles,
    /// Parts of rows that lie within the update.
    Rows,
    /// Sums of neighbouring pixels.
    Sums,
    /// Blocks of a volume's samples.
    Bricks,
    /// Triangles of a surface.
    Triangles,
    /// Points of a surface as they are seen, with their depths.
    Fragments,
}

/// A filter.
#[derive(Debug)]
pub struct StageFilter {
    /// Its name: `slide.clip`.
    pub name: &'static str,
    /// What comes to it; nothing to one that a pipeline begins with.
    pub takes: Option<StageData>,
    /// What it makes; nothing where a pipeline ends.
    pub gives: Option<StageData>,
    /// One line.
    pub about: &'static str,
}

use StageData::{Blank, Bricks, Bytes, Fragments, Rows, Sums, Tiles, Triangles};

const fn filter(
    name: &'static str,
    takes: Option<StageData>,
    gives: Option<StageData>,
    about: &'static str,
) -> StageFilter {
    StageFilter { name, takes, gives, about }
}

/// Every filter.
pub const STAGE_FILTERS: &[StageFilter] = &[
    filter("bytes.make", None, Some(Bytes), "makes bytes that follow from the unit's number"),
    filter("bytes.pass", Some(Bytes), Some(Bytes), "hands on what comes as it is"),
    filter("bytes.check", Some(Bytes), None, "counts what comes and compares it with what was made"),
    filter(
        "blank.give",
        None,
        Some(Blank),
        "gives buffers with whatever they had: handing them on is what is left",
    ),
    filter("blank.count", Some(Blank), None, "counts the bytes that come, and looks at none"),
    filter(
        "slide.read",
        None,
        Some(Tiles),
        "reads the tiles of a slide of 4096 x 4096 pixels that an update touches",
    ),
    filter("slide.clip", Some(Tiles), Some(Rows), "cuts off what of the tiles lies beyond the update"),
    filter("slide.subsample", Some(Rows), Some(Sums), "adds up pixels that become one: 4 x 4"),
    filter(
        "slide.view",
        Some(Sums),
        None,
        "puts the image together, which is what one process makes of the slide",
    ),
    filter(
        "volume.read",
        None,
        Some(Bricks),
        "reads bricks of a volume of 256 x 256 x 256 samples that an update touches",
    ),
    filter(
        "volume.extract",
        Some(Bricks),
        Some(Triangles),
        "finds the triangles where the samples cross the value",
    ),
    filter("volume.raster", Some(Triangles), Some(Fragments), "draws triangles, the nearest at each point"),
    filter(
        "volume.merge",
        Some(Fragments),
        None,
        "puts the image together, which is what one process makes of the volume",
    ),
];

impl StageFilter {
    /// The filter with this name.
    pub fn named(name: &str) -> Option<&'static StageFilter> {
        STAGE_FILTERS.iter().find(|filter| filter.name == name)
    }
}
