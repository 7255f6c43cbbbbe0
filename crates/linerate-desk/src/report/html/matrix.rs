//! A matrix of hosts on the page: who is named, the heat maps, the hosts as a table.

use crate::report::Sheet;
use crate::report::matrix::{groups_found, named_text, sent_again};
use crate::report::note::whole_numbers;
use crate::report::shape::{CellEntry, MatrixHostEntry, MatrixReport};
use crate::unit::{BitRate, Nanoseconds, percent};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A heat map's cell in pixels, of few hosts and of many, and how few.
const CELLS: [usize; 2] = [32, 18];
const FEW: usize = 16;

/// What a letter of a name takes.
const LETTER: usize = 7;

/// Names are drawn beside each row up to so many hosts.
const MOST_NAMED: usize = 128;

/// Colours from slow to usual: of ColorBrewer's YlOrRd, turned round, which those who see no red tell by lightness.
const COLOURS: &[(f64, &str, &str)] = &[
    (0.5, "#800026", "below half"),
    (0.7, "#e31a1c", "50 to 70 %"),
    (0.85, "#fd8d3c", "70 to 85 %"),
    (0.95, "#fed976", "85 to 95 %"),
    (f64::INFINITY, "#e7f0e4", "95 % and more"),
];

/// The same colours, of what is sent again: little is good.
const AGAIN: &[(f64, &str, &str)] = &[
    (0.0001, "#e7f0e4", "below 0.01 %"),
    (0.001, "#fed976", "0.01 to 0.1 %"),
    (0.01, "#fd8d3c", "0.1 to 1 %"),
    (0.05, "#e31a1c", "1 to 5 %"),
    (f64::INFINITY, "#800026", "5 % and more"),
];

/// What a map shows.
struct Map {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    /// Whether the stream's pattern decides what a cell is.
    is_of_rates: bool,
    colours: &'static [(f64, &'static str, &'static str)],
    /// What the colour is of: how good a cell is against the usual, or how much was sent again; and how it is written.
    share: fn(&MatrixReport, &CellEntry) -> Option<f64>,
    text: fn(&CellEntry) -> Option<String>,
    /// What the colour's number is called.
    is: &'static str,
}

const MAPS: &[Map] = &[
    Map {
        id: "matrix-rate",
        title: "Rate of each pair",
        caption: "A row sends, a column receives. The colour is the rate over the median of all pairs; what was not measured \
                  is blank.",
        is_of_rates: true,
        share: |matrix, cell| Some(cell.throughput_bps? / matrix.usual_bps?),
        colours: COLOURS,
        text: |cell| cell.throughput_bps.map(|bps| BitRate(bps).to_string()),
        is: "of the usual",
    },
    Map {
        id: "matrix-round-trip",
        title: "Round trip of each pair",
        caption: "A row asks, a column answers. The colour is the median round trip of all pairs over that of the pair: less \
                  is slower.",
        is_of_rates: false,
        share: |matrix, cell| Some(matrix.usual_round_trip_ns? / cell.round_trip_ns?),
        colours: COLOURS,
        text: |cell| cell.round_trip_ns.map(|ns| Nanoseconds(ns).to_string()),
        is: "of the usual",
    },
    Map {
        id: "matrix-sent-again",
        title: "Segments sent again of each pair",
        caption: "A row sends, a column receives. The colour is the part of the segments that the sender's kernel sent again in the \
                  screening.",
        is_of_rates: true,
        share: |_, cell| cell.sent_again,
        colours: AGAIN,
        text: |cell| cell.sent_again.map(|_| "segments".to_owned()),
        is: "sent again",
    },
];

/// Whether a recording is of many hosts.
pub(super) fn are_any(sheets: &[Sheet]) -> bool {
    sheets.iter().any(|sheet| sheet.report.matrix.is_some())
}

/// Everything of the matrices.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    if !are_any(sheets) {
        return html! {};
    }
    html! {
        section id="matrix" aria-labelledby="matrix-title" {
            h2 id="matrix-title" { "Each host with the others" }
            @for sheet in sheets {
                @if let Some(matrix) = &sheet.report.matrix {
                    (named(matrix))
                    @for map in MAPS { (heat_map(&sheet.named(map.title), map, matrix)) }
                    (hosts(&sheet.named("Rows and columns"), matrix))
                    (inventory(matrix))
                }
            }
        }
    }
}

fn named(matrix: &MatrixReport) -> Markup {
    html! {
        @if !matrix.named.is_empty() {
            ul.named {
                @for one in &matrix.named {
                    li { (whole_numbers(&named_text(one))) @if !one.likely.is_empty() { " It has what most others have not, which may be why and is no proof: " (one.likely.join("; ")) "." } }
                }
            }
        }
        @if let Some(found) = groups_found(matrix) { p { (found) } }
        @if let Some(again) = sent_again(matrix) { p { (whole_numbers(&again)) } }
        @for one in &matrix.failed { p { (one.from) " to " (one.to) " passed nothing: " (one.why) "." } }
        @if let Some(doubt) = &matrix.doubt { p { "What it would take: " (doubt.takes) "." } }
    }
}

/// Hosts of a group beside each other, the groups in the order of their first host; within one the slowest sender first.
fn order(matrix: &MatrixReport) -> Vec<&MatrixHostEntry> {
    let mut first: BTreeMap<&Option<String>, usize> = BTreeMap::new();
    for (at, host) in matrix.hosts.iter().enumerate() {
        first.entry(&host.group).or_insert(at);
    }
    let mut hosts: Vec<&MatrixHostEntry> = matrix.hosts.iter().collect();
    let worst = |host: &MatrixHostEntry| host.sends.unwrap_or(1.0).min(host.receives.unwrap_or(1.0));
    hosts.sort_by(|a, b| first[&a.group].cmp(&first[&b.group]).then(worst(a).total_cmp(&worst(b))));
    hosts
}

fn heat_map(title: &str, map: &Map, matrix: &MatrixReport) -> Markup {
    let hosts = order(matrix);
    let place: BTreeMap<_, usize> = hosts.iter().enumerate().map(|(at, host)| (host.host, at)).collect();
    let name_of: BTreeMap<_, &str> = hosts.iter().map(|host| (host.host, host.name.as_str())).collect();
    let cells: Vec<(usize, usize, &str, String)> = matrix
        .cells
        .iter()
        .filter_map(|cell| {
            let share = (map.share)(matrix, cell)?;
            let (_, colour, _) = map.colours.iter().find(|(below, ..)| share < *below)?;
            let names = format!("{} to {}", name_of.get(&cell.from)?, name_of.get(&cell.to)?);
            let text = format!("{names}: {}, {} {}", (map.text)(cell)?, percent(share), map.is);
            Some((*place.get(&cell.from)?, *place.get(&cell.to)?, *colour, text))
        })
        .collect();
    if cells.is_empty() {
        return html! {};
    }
    let cell = CELLS[usize::from(hosts.len() > FEW)];
    let longest = hosts.iter().map(|host| short(&host.name).chars().count()).max().unwrap_or(0);
    let names = 12 + LETTER * longest;
    let side = names + cell * hosts.len();
    let view = format!("0 0 {side} {side}");
    let is_named = hosts.len() <= MOST_NAMED;
    html! {
        figure.heat id=(map.id) {
            figcaption {
                h3 { (title) }
                p { (map.caption) @if map.is_of_rates && matrix.bidirectional { " Both directions of a pair were sending at once." } }
            }
            p.keys {
                @for (_, colour, text) in map.colours {
                    span.key { svg width="14" height="14" aria-hidden="true" { rect width="14" height="14" fill=(colour) stroke="#777" {} } " " (text) }
                }
            }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                svg.map viewBox=(view) width=(side.min(1000)) role="img" aria-label=(format!("{title}; the table of the data has the same numbers")) {
                    @for (at, host) in hosts.iter().enumerate().filter(|_| is_named) {
                        text x=(names - 5) y=(names + cell * at + cell / 2 + 4) text-anchor="end" { (short(&host.name)) }
                        @if longest * LETTER <= cell {
                            text x=(names + cell * at + cell / 2) y=(names - 5) text-anchor="middle" { (short(&host.name)) }
                        } @else {
                            text transform=(format!("translate({} {}) rotate(-90)", names + cell * at + cell / 2 + 4, names - 5)) { (short(&host.name)) }
                        }
                    }
                    @for (from, to, colour, text) in &cells {
                        rect x=(names + cell * to) y=(names + cell * from) width=(cell - 1) height=(cell - 1) fill=(colour) { title { (text) } }
                    }
                }
            }
        }
    }
}

/// As much of a name as there is room for: its end tells hosts apart.
fn short(name: &str) -> String {
    const MOST: usize = 12;
    let length = name.chars().count();
    if length <= MOST {
        name.into()
    } else {
        format!("…{}", name.chars().skip(length - MOST + 1).collect::<String>())
    }
}

fn hosts(title: &str, matrix: &MatrixReport) -> Markup {
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.0} %", 100.0 * share));
    let has_groups = matrix.hosts.iter().any(|host| host.group.is_some());
    let has_lost = matrix.hosts.iter().any(|host| host.failed.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) ". Shares are of the usual: the median of a host's row or column, without what its partners do. Of round trips more is slower." }
                thead { tr {
                    th scope="col" { "Host" } @if has_groups { th scope="col" { "Group" } } th.number scope="col" { "Sends" } th.number scope="col" { "Receives" }
                    th.number scope="col" { "Round trips" } th.number scope="col" { "Sent to" } th.number scope="col" { "Had from" } @if has_lost { th scope="col" { "Left out" } }
                } }
                tbody { @for host in order(matrix) {
                    tr {
                        th scope="row" { (host.name) } @if has_groups { td { (host.group.as_deref().unwrap_or("")) } }
                        td.number { (share(host.sends)) } td.number { (share(host.receives)) } td.number { (share(host.round_trips)) }
                        td.number { (host.sent_to) } td.number { (host.had_from) } @if has_lost { td { (host.failed.as_deref().unwrap_or("")) } }
                    }
                } }
            }
        }
    }
}

fn inventory(matrix: &MatrixReport) -> Markup {
    html! {
        @if !matrix.inventory.is_empty() {
            h3 { "What a host has that most others have not" }
            p { "A likely cause at most, and no proof." }
            div.scroll tabindex="0" role="region" aria-label="What sets hosts apart" {
                table {
                    thead { tr { th scope="col" { "Host" } th scope="col" { "What" } th scope="col" { "It has" } th scope="col" { "Others have" } th.number scope="col" { "Others" } } }
                    tbody { @for one in &matrix.inventory {
                        tr { th scope="row" { (one.host) } td { (one.what) } td { (one.value) } td { (one.usual) } td.number { (one.others) } }
                    } }
                }
            }
        }
    }
}
