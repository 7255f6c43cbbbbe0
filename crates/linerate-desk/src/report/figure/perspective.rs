//! The user's network among those that the papers state: what it carries, and how long a small message takes.

use super::{Axis, Figure, Kind, Point, Scale, Series, Sheet, Unit, bars, style};
use crate::published::{self, Kind as Basis, Layer, Published};
use crate::report::LadderEntry;
use crate::statistic::Estimate;
use crate::vocabulary::{Place, Rung, readable_rung};

/// One of the two figures.
struct View {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    axis: (&'static str, Unit),
    of: published::Axis,
    /// What of a layer is shown.
    own: fn(&LadderEntry) -> Option<Estimate>,
    /// Whether more is better.
    most: bool,
}

const VIEWS: &[View] = &[
    View {
        id: "perspective-throughput",
        title: "In perspective: what the network carries",
        caption: "Large messages over this network, with their 95 % interval, among the best that the papers state of \
                  other networks, each with the layer that it was measured at. Those are of other hosts and other \
                  years: they say where a network stands, not what it should reach.",
        axis: ("throughput", Unit::BitsPerSecond),
        of: published::Axis::Throughput,
        own: |entry| entry.throughput_bps,
        most: true,
    },
    View {
        id: "perspective-half-round-trip",
        title: "In perspective: how long a small message takes",
        caption: "Half round trips of small messages over this network, with their 95 % interval, polling where that \
                  was measured, among the shortest that the papers state of other networks.",
        axis: ("half round trip", Unit::Nanoseconds),
        of: published::Axis::HalfRoundTrip,
        own: |entry| entry.half_round_trip_ns.polling.or(entry.half_round_trip_ns.sleeping),
        most: false,
    },
];

/// What a network of the files is called, by what its name begins with.
const NETWORKS: &[(&str, &str)] = &[
    ("10GbE WAN", "10 Gigabit Ethernet, long distance"),
    ("10GbE Myri-10G WAN", "10 Gigabit Ethernet, long distance"),
    ("10GbE", "10 Gigabit Ethernet"),
    ("GbE WAN", "Gigabit Ethernet, long distance"),
    ("GbE", "Gigabit Ethernet"),
    ("M-VIA", "Gigabit Ethernet, M-VIA"),
    ("Myrinet", "Myrinet"),
    ("QsNet", "QsNet"),
    ("InfiniBand", "InfiniBand"),
    ("Giganet", "Giganet"),
];

/// The layers whose values are of two ends that exchange messages.
const LAYERS: &[Layer] = &[Layer::Native, Layer::Tcp, Layer::Offload, Layer::Mpi];

/// Both figures; none of a run without a network.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    VIEWS.iter().filter_map(|view| figure(sheets, view)).collect()
}

fn figure(sheets: &[Sheet], view: &View) -> Option<Figure> {
    let own: Vec<(String, Estimate)> = sheets.iter().flat_map(|sheet| own(sheet, view)).collect();
    if own.is_empty() {
        return None;
    }
    let others = others(view);
    let mut rows: Vec<(f64, Row)> = own.iter().map(|one| (one.1.median, Row::Own(one))).collect();
    rows.extend(others.iter().map(|one| (one.value, Row::Other(one))));
    rows.sort_by(|a, b| if view.most { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
    let names = rows.iter().map(|(_, row)| row.name()).collect();
    let mut figure = bars::figure(view.id, view.title, view.caption, view.axis, names);
    figure.kind = Kind::Intervals;
    figure.x = Axis::new(view.axis.0, view.axis.1, Scale::Log10);
    let mut here = style::nth("this network".into(), 0);
    let mut there =
        Series { open: true, everywhere: true, symbol: "diamond", ..style::nth("published".into(), 5) };
    for (at, (_, row)) in rows.iter().enumerate() {
        match row {
            Row::Own((_, value)) => here.points.push(Point::bar(at, *value)),
            Row::Other(one) => there.points.push(stated(at, one)),
        }
    }
    figure.series = vec![here, there];
    Some(figure)
}

enum Row<'r> {
    Own(&'r (String, Estimate)),
    Other(&'r Published),
}

impl Row<'_> {
    fn name(&self) -> String {
        match self {
            Row::Own((name, _)) => name.clone(),
            Row::Other(one) => {
                let basis = if one.kind == Basis::Projected { ", expected" } else { "" };
                format!("{}: {}{basis}", network(one).unwrap_or_default(), one.layer.title())
            }
        }
    }
}

fn stated(at: usize, one: &Published) -> Point {
    let value = Estimate { median: one.value, low: None, high: None, n: 0 };
    let parts = [one.paper.short, &one.label, &one.printed, &one.place, &one.note];
    let note = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    Point::bar(at, value).noted(note)
}

/// The network's layers one way, each once: of several connections the one.
fn own(sheet: &Sheet, view: &View) -> Vec<(String, Estimate)> {
    let mut found: Vec<(String, Estimate)> = Vec::new();
    for entry in &sheet.report.ladder {
        let is_of_network = Rung::named(&entry.id).is_some_and(|rung| rung.place == Place::Network);
        let name = sheet.named(&format!("here: {}", readable_rung(&entry.id)));
        let is_known = found.iter().any(|(known, _)| *known == name);
        if let (true, false, 1, Some(value)) = (is_of_network, is_known, entry.flows, (view.own)(entry)) {
            found.push((name, value));
        }
    }
    found
}

/// Of each network and layer the best that is stated.
fn others(view: &View) -> Vec<&'static Published> {
    let mut best: Vec<&Published> = Vec::new();
    let is_here =
        |one: &&Published| one.axis == view.of && LAYERS.contains(&one.layer) && network(one).is_some();
    for one in published::values().iter().filter(is_here) {
        let is_same = |known: &&mut &Published| known.layer == one.layer && network(known) == network(one);
        let better = |known: &Published| (one.value > known.value) == view.most;
        match best.iter_mut().find(is_same) {
            Some(known) if better(known) => *known = one,
            Some(_) => {}
            None => best.push(one),
        }
    }
    best
}

fn network(one: &Published) -> Option<&'static str> {
    NETWORKS.iter().find(|(begin, _)| one.network.starts_with(begin)).map(|(_, name)| *name)
}
