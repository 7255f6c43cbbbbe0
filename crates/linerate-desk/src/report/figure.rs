//! What a figure shows, apart from how it is drawn: axes, series of points with intervals, lines, marks.
//!
//! A [`Figure`] is a value. The page draws it in the browser and [`super::draw`] without one, both with the
//! same script (`assets/charts.js`), so that a figure in a paper is the figure of the page.

mod arms;
mod bars;
mod distribution;
mod drift;
mod efficiency;
mod imported;
mod ladder;
mod lanes;
mod panels;
mod perspective;
mod published;
mod short;
mod sizes;
mod stated;
mod style;
mod suite;
mod timeline;
mod tuning;
mod waterfall;

pub use stated::drawn_of;

use super::shape::Report;
use crate::analysis::{Analysis, analyse};
use crate::record::Recording;
use crate::statistic::Estimate;
use serde::Serialize;

/// A recording with all that was computed from it.
#[derive(Debug)]
pub struct Sheet<'r> {
    /// What tells it from the others of a page: `A`, `B`; empty where it is alone.
    pub label: String,
    /// The recording.
    pub recording: &'r Recording,
    /// Its numbers.
    pub analysis: Analysis,
    /// Its report.
    pub report: Report,
}

/// The intervals of most figures.
const INTERVAL: &str = "95 % interval";

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Names it in the page and as a file: `throughput`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// What the intervals of its points are: `95 % interval`.
    pub interval: String,
    /// How its points are drawn.
    pub kind: Kind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Its panels where it has several, side by side over the same horizontal axis.
    pub panels: Vec<Panel>,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// Places that are worth a word.
    pub marks: Vec<Mark>,
}

/// One of several panels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// What its series have in common; empty where a figure's own title says it.
    pub title: String,
    /// Its vertical axis.
    pub y: Axis,
    /// Whether it shows the series of the panel before it again, over the first of them.
    pub again: bool,
}

/// How points are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Symbols and lines.
    Points,
    /// Horizontal bars, one after the other where several series share a category.
    Bars,
    /// A symbol in its interval for each category, with its number.
    Intervals,
    /// A lane for each category: rectangles along time, as high as their share of the moment.
    Lanes,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// What it measures.
    pub name: String,
    /// How its numbers are written.
    pub unit: Unit,
    /// How it is divided.
    pub scale: Scale,
    /// The names on it, where it has no numbers.
    pub categories: Vec<String>,
}

/// How numbers of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes, in binary units.
    Bytes,
    /// Bits a second, in decimal units.
    BitsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// A share of one, in per cent.
    Share,
    /// A ratio, around one.
    Ratio,
    /// Seconds.
    Seconds,
    /// A number of things.
    Count,
    /// Things a second, in decimal units.
    PerSecond,
    /// One over the share that lies above: 100 is the 99th percentile.
    Tail,
    /// A name.
    Category,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By powers of two.
    Log2,
    /// By powers of ten.
    Log10,
    /// Evenly.
    Linear,
    /// By names.
    Category,
}

/// One set of points under one name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The panel that it stands in.
    pub panel: usize,
    /// What its panel's series have in common, where there are too many for one.
    #[serde(skip)]
    pub group: String,
    /// What is the same of it as shipped and tuned: then they have one colour.
    #[serde(skip)]
    pub base: String,
    /// Whether it stands in every panel: what others published.
    #[serde(skip)]
    pub everywhere: bool,
    /// The value of each pass, so that two series can be compared within one; empty where that says nothing.
    #[serde(skip)]
    pub passes: Vec<OfPass>,
    /// The colour's place in the palette.
    pub colour: usize,
    /// The symbol, so that the colour does not carry meaning alone.
    pub symbol: &'static str,
    /// Whether its lines are broken.
    pub dashed: bool,
    /// Whether its symbols are outlines.
    pub open: bool,
    /// Whether it is shown at first.
    pub shown: bool,
    /// Whether it is what is missing: drawn as an outline.
    pub ghost: bool,
    /// Medians with their intervals.
    pub points: Vec<Point>,
    /// The values that the medians are of.
    #[serde(serialize_with = "short::serialize")]
    pub raw: Vec<[f64; 2]>,
    /// Lines, each by itself.
    #[serde(serialize_with = "short::serialize_all")]
    pub lines: Vec<Vec<[f64; 2]>>,
}

/// What a pass gave at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfPass {
    /// The place along x.
    pub x: f64,
    /// The pass.
    pub pass: u32,
    /// The place along y.
    pub y: f64,
}

/// A point with its interval: along y, or along x of bars.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The place along x.
    pub x: f64,
    /// The place along y.
    pub y: f64,
    /// The lower end of the 95 % interval; none where too few values were measured for one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The number of values; 0 where it is none of values.
    pub n: u32,
    /// What to say of it; empty for most.
    pub note: String,
}

/// A place that is worth a word.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The series that it belongs to; none for the figure.
    pub series: Option<String>,
    /// The place along x.
    pub x: f64,
    /// The place along y; none for a line over the whole height.
    pub y: Option<f64>,
    /// A word or two.
    pub label: String,
    /// A sentence.
    pub text: String,
}

impl Sheet<'_> {
    /// Analyses a recording.
    pub fn new(recording: &Recording, label: impl Into<String>) -> Sheet<'_> {
        let analysis = analyse(recording);
        let report = Report::with(recording, &analysis);
        Sheet { label: label.into(), recording, analysis, report }
    }

    /// Its place among several recordings; none where it is alone.
    fn place(&self) -> Option<usize> {
        let letter = self.label.chars().next()?;
        Some((letter as usize).saturating_sub('A' as usize))
    }

    /// A name, told from the same one in other recordings.
    pub(super) fn named(&self, name: &str) -> String {
        if self.label.is_empty() { name.into() } else { format!("{} · {name}", self.label) }
    }
}

/// Makes one figure; none where nothing that it would show was measured.
type Maker = fn(&[Sheet]) -> Vec<Figure>;

/// Every figure, in the order of the page.
const MAKERS: &[Maker] = &[
    arms::figures,
    tuning::figures,
    suite::figures,
    lanes::figures,
    ladder::figures,
    waterfall::figures,
    sizes::throughput,
    sizes::half_round_trip,
    perspective::figures,
    efficiency::figures,
    distribution::figures,
    timeline::figures,
    drift::figures,
];

/// The figures of some recordings.
pub fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let made = MAKERS.iter().flat_map(|make| make(sheets)).filter(|figure| !figure.is_empty());
    made.map(|one| panels::arranged(one, sheets.len() < 2)).map(Figure::thinned).collect()
}

/// The most single values that a figure shows: more are a cloud to the eye and a burden to the page.
const MOST_RAW: usize = 30_000;

impl Figure {
    fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty() && series.lines.is_empty())
    }

    /// The figure without the values that its medians are of.
    pub fn without_raw(&self) -> Figure {
        let mut figure = self.clone();
        figure.series.iter_mut().for_each(|series| series.raw.clear());
        figure
    }

    /// With every so-manieth single value, where there are too many; the caption says so.
    fn thinned(mut self) -> Figure {
        let all: usize = self.series.iter().map(|series| series.raw.len()).sum();
        let every = all.div_ceil(MOST_RAW);
        if every > 1 {
            for series in &mut self.series {
                series.raw = series.raw.iter().copied().step_by(every).collect();
            }
            self.caption += &format!(" Of {all} single values one in {every} is drawn.");
        }
        self
    }
}

impl Kind {
    /// Whether its rows have names and its values lie along x.
    pub fn is_of_rows(self) -> bool {
        self != Kind::Points
    }
}

impl Axis {
    fn new(name: &str, unit: Unit, scale: Scale) -> Axis {
        Axis { name: name.into(), unit, scale, categories: Vec::new() }
    }

    fn of_names(categories: Vec<String>) -> Axis {
        Axis { name: String::new(), unit: Unit::Category, scale: Scale::Category, categories }
    }
}

impl Point {
    fn new(x: f64, estimate: Estimate) -> Point {
        let Estimate { median, low, high, n } = estimate;
        Point { x, y: median, low, high, n, note: String::new() }
    }

    /// The end of a bar in a category.
    fn bar(category: usize, estimate: Estimate) -> Point {
        let Estimate { median, low, high, n } = estimate;
        Point { x: median, y: category as f64, low, high, n, note: String::new() }
    }

    fn noted(self, note: impl Into<String>) -> Point {
        Point { note: note.into(), ..self }
    }
}

#[cfg(test)]
mod tests;
