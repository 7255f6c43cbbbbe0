//! What the figures show of a made-up run, and that each can be drawn.

mod suites;

use super::*;
use crate::record::Trial;
use crate::record::synthetic::{Bend, Synthetic};
use crate::report::draw;
use crate::vocabulary::Pattern;

fn stepped() -> Recording {
    let (pattern, rung) = (Pattern::PingPong, "network.tcp");
    let step = Bend { rung, pattern, at_bytes: 1 << 17, step_ns: 3e6, slope_ns: 0.0 };
    Synthetic { bends: vec![step], passes: 7, ..Synthetic::default() }.recording()
}

fn named<'f>(figures: &'f [Figure], id: &str) -> &'f Figure {
    figures.iter().find(|figure| figure.id == id).unwrap()
}

#[test]
fn each_figure_is_drawn_as_svg_and_as_png() {
    let recording = stepped();
    let figures = figures(&[Sheet::new(&recording, "")]);
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    for id in ["ladder", "waterfall", "throughput", "half-round-trip", "efficiency", "distribution", "drift"]
    {
        assert!(ids.contains(&id), "{id} of {ids:?}");
    }
    let drawn = draw::svg(&figures).unwrap();
    assert_eq!(drawn.len(), figures.len());
    for (figure, svg) in figures.iter().zip(&drawn) {
        assert!(svg.starts_with("<svg") && svg.contains(&figure.x.name), "{}", figure.id);
        for series in figure.series.iter().filter(|series| series.shown && figure.series.len() > 1) {
            let name = series.name.replace('>', "&gt;");
            assert!(svg.contains(&name), "{} {name}", figure.id);
        }
    }
    let png = draw::png(&drawn[0]).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{} bytes", png.len());
}

#[test]
fn points_are_the_reports_amid_their_passes() {
    let recording = stepped();
    let sheet = Sheet::new(&recording, "");
    let entry = sheet.report.ladder.iter().find(|entry| entry.id == "network.tcp").unwrap().clone();
    let figures = figures(&[sheet]);
    let throughput = named(&figures, "throughput");
    let series = throughput.series.iter().find(|series| series.name == "network.tcp a>b").unwrap();
    let point = series.points.iter().find(|point| point.x == entry.message_bytes as f64).unwrap();
    let estimate = entry.throughput_bps.unwrap();
    assert!((point.y / estimate.median - 1.0).abs() < 1e-9, "{point:?} {estimate:?}");
    let passes: Vec<f64> = series.raw.iter().filter(|raw| raw[0] == point.x).map(|raw| raw[1]).collect();
    assert_eq!(passes.len(), 7);
    let (low, high) = (point.low.unwrap(), point.high.unwrap());
    assert!(passes.iter().any(|bps| *bps <= low) && passes.iter().any(|bps| *bps >= high), "{passes:?}");
}

#[test]
fn a_line_ends_at_a_marked_break() {
    let recording = stepped();
    let figures = figures(&[Sheet::new(&recording, "")]);
    let figure = named(&figures, "half-round-trip");
    let series = figure.series.iter().find(|series| series.name == "network.tcp a>b, sleeping").unwrap();
    assert!(series.lines.len() > 1 && series.dashed);
    let over = |line: &[[f64; 2]]| line[0][0] < 131_072.0 && line[line.len() - 1][0] >= 131_072.0;
    assert!(!series.lines.iter().any(|line| over(line)), "no line crosses the break");
    let mark = figure.marks.iter().find(|mark| mark.series.as_ref() == Some(&series.name)).unwrap();
    assert_eq!((mark.x, mark.label.as_str()), (131_072.0, "unexplained"));
    assert!(mark.text.contains("+3.00 ms from 128 KiB on"), "{}", mark.text);
}

/// Where the outlined symbols of a figure stand along x, in its own units.
fn outlined(figure: &Figure, series: Vec<Series>) -> Vec<String> {
    let figure = Figure { series, panels: Vec::new(), marks: Vec::new(), ..figure.clone() };
    let svg = draw::svg(&[figure]).unwrap().remove(0);
    let is_symbol = |path: &&str| {
        ["matrix(", "fill=\"#ffffff\"", "ecmeta_ssr_type=\"chart\""].iter().all(|part| path.contains(part))
    };
    let place = |path: &str| path.split("matrix(").nth(1)?.split(',').nth(4).map(String::from);
    svg.split("<path ").filter(is_symbol).filter_map(place).collect()
}

#[test]
fn a_stated_value_stands_where_it_is_stated() {
    let recording = stepped();
    let figures = figures(&[Sheet::new(&recording, "")]);
    let figure = named(&figures, "half-round-trip");
    let measured = figure.series.iter().find(|series| series.shown && series.points.len() > 3).unwrap();
    let bare = |point: &Point| Point { low: None, high: None, ..point.clone() };
    let plain = Series { raw: Vec::new(), lines: Vec::new(), dashed: false, open: false, ..measured.clone() };
    let points = measured.points.iter().map(bare).collect();
    let stated = Series { name: "stated".into(), open: true, points, ..plain.clone() };
    let ends = [measured.points.first().unwrap().clone(), measured.points.last().unwrap().clone()];
    let short = |name: &str| Series { name: name.into(), points: ends.to_vec(), ..plain.clone() };
    let alone = outlined(figure, vec![stated.clone()]);
    assert_eq!(alone.len(), stated.points.len());
    // Intervals of two points each step aside for each other.
    assert_eq!(outlined(figure, vec![short("one"), short("two"), short("three"), stated]), alone);
}

#[test]
fn two_recordings_hide_published_values() {
    let (a, b) = (stepped(), Synthetic { passes: 7, ..Synthetic::default() }.recording());
    let figures = figures(&[Sheet::new(&a, "A"), Sheet::new(&b, "B")]);
    let throughput = named(&figures, "throughput");
    let names: Vec<&str> = throughput.series.iter().map(|series| series.name.as_str()).collect();
    let series = |name: &str| throughput.series.iter().find(|series| series.name == name).unwrap();
    let (ours, theirs) = (series("A · network.tcp a>b"), series("B · network.tcp a>b"));
    assert!(ours.colour != theirs.colour && ours.symbol == theirs.symbol);
    let below = series("A · in-host.tcp a");
    assert!(ours.colour == below.colour && ours.symbol != below.symbol, "{names:?}");
    let published = throughput.series.iter().filter(|series| series.name.starts_with("published"));
    assert!(published.clone().count() >= 4);
    assert!(
        published.clone().all(|series| !series.shown && series.points.iter().all(|it| !it.note.is_empty()))
    );
    assert_eq!(named(&figures, "ladder").y.categories[0], "A · memory.copy a");
}

/// What the network carries and takes stands in its place among the best that is stated of others, which have no interval
/// and say where they stand.
#[test]
fn the_network_stands_among_the_published_ones() {
    let recording = stepped();
    let sheet = Sheet::new(&recording, "");
    let entry = sheet.report.ladder.iter().find(|entry| entry.id == "network.tcp").unwrap().clone();
    let figures = figures(&[sheet]);
    let half_ns = entry.half_round_trip_ns.polling.or(entry.half_round_trip_ns.sleeping);
    for (id, own, rises) in [
        ("perspective-throughput", entry.throughput_bps, false),
        ("perspective-half-round-trip", half_ns, true),
    ] {
        let figure = named(&figures, id);
        let [here, there] = &figure.series[..] else { panic!("{id}: {} series", figure.series.len()) };
        assert!(here.points.iter().any(|point| point.x == own.unwrap().median), "{id}");
        assert!(there.points.len() >= 8, "{id}: {} networks", there.points.len());
        assert!(there.points.iter().all(|one| one.n == 0 && one.low.is_none() && one.note.contains(';')));
        let mut all: Vec<(f64, f64)> =
            here.points.iter().chain(&there.points).map(|it| (it.y, it.x)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(all.is_sorted_by(|a, b| if rises { a.1 <= b.1 } else { a.1 >= b.1 }), "{id}: {all:?}");
        let names = &figure.y.categories;
        assert_eq!(names.len(), all.len());
        assert!(names.iter().any(|name| name.starts_with("Myrinet: ")), "{id}: {names:?}");
    }
}

/// A rung beside the chain is hidden where the chain is drawn, and drawn where it is all there is.
#[test]
fn no_figure_of_what_was_measured_is_empty() {
    let is_drawn = |recording: &Recording, id: &str| {
        let figures = figures(&[Sheet::new(recording, "")]);
        let of_rung = |series: &&Series| series.name.starts_with("network.udp");
        named(&figures, id).series.iter().filter(of_rung).any(|series| series.shown)
    };
    let mut recording = stepped();
    let udp = |trials: &[Trial]| {
        let tcp = trials.iter().filter(|trial| trial.case.rung == "network.tcp").cloned();
        let moved = tcp.map(|mut trial| {
            trial.case.rung = "network.udp".into();
            trial
        });
        moved.collect::<Vec<_>>()
    };
    let beside = udp(&recording.trials);
    recording.trials.extend(beside.clone());
    assert!(!is_drawn(&recording, "throughput") && !is_drawn(&recording, "half-round-trip"));
    recording.trials = beside;
    assert!(is_drawn(&recording, "throughput") && is_drawn(&recording, "half-round-trip"));
}
