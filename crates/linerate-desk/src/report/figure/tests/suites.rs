//! What every figure of every shipped suite must be: few series a panel, colours that do not return, words for names,
//! numbers that nothing strikes through, and each published value where it belongs.

use super::super::panels::MOST;
use super::super::stated;
use super::*;
use crate::plan::{HostId, Suite, SuiteCase, SuiteFigure, View};
use crate::published::{self, Layer, Stated};
use crate::record::RoleRecord;
use crate::report::html;
use crate::vocabulary::{Does, SUITES};
use std::sync::OnceLock;

/// Every shipped suite with made-up trials of each of its cases, by its name.
fn recordings() -> &'static [(&'static str, Recording)] {
    static MADE: OnceLock<Vec<(&str, Recording)>> = OnceLock::new();
    let of = |name: &'static str| (name, recorded(Suite::shipped(name).unwrap()));
    MADE.get_or_init(|| SUITES.iter().map(|entry| of(entry.name)).collect())
}

/// Trials of TCP under the names of the suite's cases: what they are of is told, and not how they differ.
fn recorded(suite: Suite) -> Recording {
    let mut recording = Synthetic { passes: 6, ..Synthetic::default() }.recording();
    let mut header = recording.header.take().unwrap();
    (header.plan.arms, header.plan.view) = (suite.arms(), View::Suites(vec![suite.clone()]));
    header.plan_hash = header.plan.hash();
    let made = std::mem::take(&mut recording.trials);
    let of_tcp = |pattern: Pattern| {
        let is_like = move |one: &&Trial| one.case.rung == "network.tcp" && one.case.pattern == pattern;
        made.iter().filter(|one| one.pass > 0 && one.why.counts()).filter(is_like)
    };
    for one in suite.expand(&header.plan, &[HostId(0), HostId(1)]) {
        let alike = if one.case.pattern == Pattern::PingPong { Pattern::PingPong } else { Pattern::Stream };
        let like = of_tcp(alike).next().unwrap();
        let passes = (1..=6).flat_map(|pass| one.sizes.iter().map(move |size| (pass, *size)));
        recording.trials.extend(passes.map(|(pass, size)| {
            let mut trial = Trial { case: one.case.clone(), pass, ..like.clone() };
            trial.block.message_bytes = size;
            let bytes = trial.block.bytes();
            trial.roles.iter_mut().flat_map(|role| &mut role.flows).for_each(|flow| flow.bytes = bytes);
            if one.case.pattern == Pattern::File {
                let does =
                    |role: &RoleRecord| [Does::Takes, Does::Moves][usize::from(role.does.keeps_time())];
                trial.roles.iter_mut().for_each(|role| role.does = does(role));
            }
            trial
        }));
    }
    recording.header = Some(header);
    recording
}

/// Every figure of every suite, and of a ladder.
fn all() -> Vec<Figure> {
    let suites = recordings().iter().map(|(_, recording)| recording.clone());
    suites.chain([stepped()]).flat_map(|recording| figures(&[Sheet::new(&recording, "")])).collect()
}

/// The series of each panel that are shown at first.
fn panels(figure: &Figure) -> Vec<Vec<&Series>> {
    let here = |at: usize| figure.series.iter().filter(move |one| one.panel == at && one.shown).collect();
    (0..figure.panels.len().max(1)).map(here).collect()
}

#[test]
fn no_panel_has_too_many_series_or_a_colour_twice() {
    let figures = all();
    assert!(figures.len() > 25, "{} figures", figures.len());
    for figure in figures.iter().filter(|figure| figure.kind == Kind::Points) {
        for series in panels(figure) {
            let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
            assert!((1..=MOST).contains(&series.len()), "{}: {names:?}", figure.id);
            for (at, one) in series.iter().enumerate() {
                let is_pair =
                    |other: &Series| other.base == one.base && !one.base.is_empty() && other.open != one.open;
                let alike = |other: &&&Series| other.colour == one.colour && !is_pair(other);
                assert_eq!(series[..at].iter().find(alike), None, "{}: {}", figure.id, one.name);
                assert!(!names[..at].contains(&&*one.name), "{}: {} twice", figure.id, one.name);
            }
        }
    }
    assert!(figures.iter().any(|figure| figure.panels.iter().any(|panel| panel.again)), "ratios");
}

#[test]
fn legends_and_rows_hold_words_and_no_settings() {
    for figure in all().iter().filter(|figure| figure.id.starts_with("suite-")) {
        let names = figure.series.iter().map(|one| &one.name).chain(&figure.y.categories);
        for name in names {
            let is_internal =
                name.contains('=') || name.contains("as it stands") || name.contains("network.");
            assert!(!is_internal && !name.is_empty() && name.len() < 90, "{}: {name}", figure.id);
        }
    }
}

#[test]
fn as_shipped_and_tuned_are_open_and_full_of_a_colour() {
    let figures = all();
    let tuned = named(&figures, "suite-001-T");
    let series = |name: &str| tuned.series.iter().find(|one| one.name == name).unwrap();
    let (shipped, tuned) = (series("Open MPI"), series("Open MPI, socket buffer 1 MiB"));
    assert_eq!((shipped.colour, shipped.open, tuned.open), (tuned.colour, true, false));
}

/// The ratio that is put in comes out, within each pass.
#[test]
fn ratios_are_of_the_first_series_of_the_panel() {
    let figures = all();
    let figure = named(&figures, "suite-001-F1");
    let at = figure.panels.iter().position(|panel| panel.again).unwrap();
    let point = |panel: usize, name: &str, x: f64| {
        let series = figure.series.iter().find(|one| one.panel == panel && one.name == name).unwrap();
        series.points.iter().find(|point| point.x == x).unwrap().y
    };
    let (library, tcp) =
        (point(at - 1, "Open MPI, polling", 65536.0), point(at - 1, "TCP, polling", 65536.0));
    let ratio = point(at, "Open MPI, polling", 65536.0);
    assert!((ratio / (library / tcp) - 1.0).abs() < 0.1, "{ratio}, {library} of {tcp}");
    assert_eq!(figure.panels[at].title, "over TCP, polling");
}

#[test]
fn axes_are_called_by_what_stands_along_them() {
    let figures = all();
    let axes = |id: &str| {
        let figure = figures.iter().find(|figure| figure.id == format!("suite-{id}"));
        let figure = figure
            .unwrap_or_else(|| panic!("{id} of {:?}", figures.iter().map(|one| &one.id).collect::<Vec<_>>()));
        (figure.x.name.as_str(), figure.y.name.as_str())
    };
    assert_eq!(axes("002-5.4"), ("receive buffer", "rate"));
    assert_eq!(axes("004-F7-share"), ("message size", "share"));
    assert_eq!(axes("002-6-adapters"), ("adapters", "throughput"));
    assert_eq!(axes("001-F1-ping-pong"), ("message size", "ping-pong throughput"));
}

#[test]
fn no_interval_runs_through_a_number() {
    let figures = all();
    let rows: Vec<&Figure> = figures.iter().filter(|figure| figure.kind.is_of_rows()).collect();
    assert!(
        rows.iter().any(|one| one.kind == Kind::Intervals) && rows.iter().any(|one| one.kind == Kind::Bars)
    );
    for figure in rows {
        for width in [draw::WIDTH, 390] {
            for [label, whisker] in draw::numbers(figure, width).unwrap() {
                let Some((from, to)) = label else { continue };
                assert!(to <= f64::from(width), "{} at {width}: a number ends at {to}", figure.id);
                let Some((low, high)) = whisker else { continue };
                assert!(to < low || from > high, "{} at {width}: {from} to {to}, {low} to {high}", figure.id);
            }
        }
    }
}

#[test]
fn every_figure_of_the_page_has_its_table() {
    for (name, recording) in recordings().iter().filter(|(name, _)| *name == "sockets") {
        let sheets = [Sheet::new(recording, "")];
        let page = html::page(&sheets).unwrap();
        let figures = figures(&sheets);
        assert_eq!(page.matches("<details class=\"data\"").count(), figures.len(), "{name}");
        for figure in figures {
            let table = page.split_once(&format!("data-chart=\"{}\"", figure.id)).unwrap().1;
            let table = table.split_once("</table>").unwrap().0;
            let rows: usize = figure.series.iter().map(|one| one.points.len()).sum();
            assert!(table.matches("<tr>").count() > rows.min(100), "{}", figure.id);
        }
    }
}

/// The values that the figures of a suite have, where all of it is measured.
fn planned(suite: &Suite) -> Vec<(&str, Vec<&'static Stated>)> {
    let of_figure = |figure: &'_ SuiteFigure| {
        let is_here = |case: &&SuiteCase| figure.cases.contains(&case.id) && !case.takes_all_hosts();
        let cases: Vec<_> = suite.cases.iter().filter(is_here).collect();
        let is_plain = |case: &SuiteCase| {
            let values = case.vary.get(stated::PLAIN.0);
            values.is_some_and(|values| values.iter().any(|value| value == stated::PLAIN.1))
        };
        let layers = |case: &&SuiteCase| {
            case.rung.iter().flat_map(|rung| stated::layers_of(rung, is_plain(case))).collect::<Vec<_>>()
        };
        let patterns: Vec<Pattern> = cases.iter().map(|case| case.pattern).collect();
        let layers: Vec<Layer> = cases.iter().flat_map(layers).collect();
        stated::in_figure(suite.paper.as_ref().unwrap(), figure, &patterns, &layers)
    };
    suite.figures.iter().map(|figure| (figure.id.as_str(), of_figure(figure))).collect()
}

/// Each value is in every panel of its number, pattern and layer, and in no other; the rest have a reason.
#[test]
fn each_published_value_is_drawn_where_it_belongs() {
    let suites: Vec<Suite> = SUITES.iter().map(|entry| Suite::shipped(entry.name).unwrap()).collect();
    let planned: Vec<_> = suites.iter().flat_map(planned).collect();
    let of = |id: &str| -> Vec<&str> {
        let (_, values) = planned.iter().find(|(known, _)| *known == id).unwrap();
        values.iter().map(|one| one.printed.as_str()).collect()
    };
    for (id, printed) in [
        ("004-F4-throughput", "9637.04 Mb/s"),
        ("004-F5", "9820.12 Mb/s"),
        ("003-C", "~60 µs"),
        ("000-F3-two-way", "~3.7 Gb/s"),
        ("000-F3-round-trips", "~20000 1/s"),
        ("002-6-frames", "88400 pkt/s"),
    ] {
        assert!(
            of(id).iter().any(|known| known.trim_start_matches('~') == printed.trim_start_matches('~')),
            "{id}: {:?}",
            of(id)
        );
    }
    assert!(!of("004-F2").contains(&"9820.12 Mb/s") && of("003-F5a").iter().all(|one| one.contains("to")));
    assert_eq!(of("003-F6a"), [""; 0], "several hosts are not several streams");
    for one in published::stated() {
        let places = planned.iter().filter(|(_, here)| here.iter().any(|known| std::ptr::eq(*known, one)));
        match &one.shown {
            Err(why) => assert!(places.count() == 0 && !why.is_empty(), "{one:?}"),
            Ok(_) => assert!(places.count() > 0 || one.row.test == ONLY_OF_LADDERS, "{one:?}"),
        }
    }
}

/// The suite of its paper has no round trips: the figure of a ladder has it.
const ONLY_OF_LADDERS: &str = "NetPIPE 1 byte";

/// What is drawn is what belongs there; it has no interval of ours, and says where it stands and what is doubtful.
#[test]
fn what_a_paper_states_is_told_with_its_place() {
    for (name, recording) in recordings() {
        let sheets = [Sheet::new(recording, "")];
        assert!(!drawn_of(&sheets).is_empty(), "{name} shows nothing of its paper");
        let figures = figures(&sheets);
        let series = figures.iter().flat_map(|figure| &figure.series).filter(|one| one.everywhere);
        for point in series.flat_map(|one| &one.points) {
            assert!(point.n == 0 && point.low.is_none() && point.note.contains(';'), "{point:?}");
        }
    }
}

#[test]
fn a_panel_shows_the_values_of_its_own_number() {
    let recording = &recordings().iter().find(|(name, _)| *name == "san").unwrap().1;
    let figures = figures(&[Sheet::new(recording, "")]);
    let values = |id: &str| -> Vec<f64> {
        let series = named(&figures, id).series.iter().find(|one| one.everywhere);
        series.map_or_else(Vec::new, |one| one.points.iter().map(|point| point.y).collect())
    };
    assert_eq!(values("suite-000-F2-stream"), [3.0e9, 5.8e9], "no ping-pong");
    assert_eq!(values("suite-000-F2-ping-pong").len(), 8);
}
