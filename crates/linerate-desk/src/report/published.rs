//! The papers as names that can be explained: who, where, on what, and what they state.

use super::note;
use crate::published::{Axis, Change, Kind as Basis, Layer, PAPERS, Paper, Published, changes, values};
use crate::vocabulary::{Explanation, Kind};

/// A layer with more values than this is told by its smallest and largest.
const MANY: usize = 20;

/// The kind of name that a paper is.
pub(super) const PUBLISHED: Kind = Kind {
    name: "paper",
    plural: "published",
    about: "What five papers state of their networks, to stand beside a run.",
    page: "published.md",
    collect: papers,
};

fn papers() -> Vec<Explanation> {
    PAPERS.iter().map(paper).collect()
}

fn paper(paper: &'static Paper) -> Explanation {
    let hosts = paper.testbeds.iter().map(|bed| format!("{}: {}; {}", bed.id, bed.hosts, bed.network));
    let changed = changes().iter().filter(|change| change.paper == paper.id).map(change_text);
    Explanation {
        name: paper.id,
        definition: paper.title.into(),
        facts: vec![
            ("hosts", sentences(hosts)),
            ("throughput", stated(paper, Axis::Throughput)),
            ("half round trip", stated(paper, Axis::HalfRoundTrip)),
            ("changes", sentences(changed)),
            ("doubtful", sentences(paper.doubts.iter().map(ToString::to_string))),
        ],
        source: format!("{}: {} ({})", paper.authors, paper.venue, paper.year),
        ..Explanation::default()
    }
}

fn sentences(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| note::sentence(&text)).collect::<Vec<_>>().join(". ")
}

/// A change and what it gave.
fn change_text(change: &Change) -> String {
    let gain = Some(change.gain.as_str()).filter(|gain| !["", "-"].contains(gain));
    let gain = gain.map_or(String::new(), |gain| format!(" ({gain})"));
    let from_to = Some(change.from_to.as_str()).filter(|text| *text != "-");
    let from_to = from_to.map_or(String::new(), |text| format!(" {text}"));
    format!("{}{from_to}: {}, {}{gain}", change.knob, change.metric, change.before_after)
}

/// What a paper states on an axis, layer by layer.
fn stated(paper: &Paper, axis: Axis) -> String {
    let values = || values().iter().filter(|one| one.paper.id == paper.id && one.axis == axis);
    let mut layers: Vec<Layer> = values().map(|one| one.layer).collect();
    layers.sort();
    layers.dedup();
    let of = |layer: Layer| {
        let of_layer: Vec<&Published> = values().filter(|one| one.layer == layer).collect();
        format!("{}: {}", layer.title(), listed(of_layer))
    };
    sentences(layers.into_iter().map(of))
}

fn listed(mut values: Vec<&Published>) -> String {
    if values.len() <= MANY {
        return values.into_iter().map(value).collect::<Vec<_>>().join("; ");
    }
    values.sort_by(|a, b| a.value.total_cmp(&b.value));
    let ends = values.first().zip(values.last());
    ends.map_or(String::new(), |(least, most)| {
        format!("{} values, from {} to {}", values.len(), value(least), value(most))
    })
}

fn value(one: &Published) -> String {
    let basis = match one.kind {
        Basis::Measured => "",
        Basis::Prior => " (quoted)",
        Basis::Theoretical => " (specified)",
        Basis::Projected => " (expected)",
        _ => " (derived)",
    };
    format!("{} {}{basis}", one.label, one.printed)
}
