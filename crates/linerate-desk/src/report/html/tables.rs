//! The ladder as tables.

use crate::report::figure::Sheet;
use crate::report::ladder::{Columns, columns};
use crate::report::{HalfRoundTrip, LadderEntry};
use crate::statistic::Estimate;
use crate::unit::{BitRate, Nanoseconds, percent};
use maud::{Markup, html};

/// The ladder of one recording: what the terminal shows, in one table.
pub(super) fn ladder(sheet: &Sheet) -> Markup {
    let Columns { names, blocks, missing } = columns(&sheet.report);
    let label = if sheet.label.is_empty() { String::new() } else { format!("{}: ", sheet.label) };
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (label) "the ladder as a table" } {
            table.ladder {
                caption {
                    (label) "Each rung contains the cost of the rung below it. ± is the 95 % interval of the median over "
                    "the passes; a tilde stands before a share that may be off by more than a tenth of itself."
                }
                thead {
                    tr {
                        th rowspan="2" scope="col" { "rung" }
                        @for block in &blocks {
                            @if block.title.is_empty() { td colspan=(block.heads.len()) {} }
                            @else { th.group colspan=(block.heads.len()) scope="colgroup" { (block.title) } }
                        }
                    }
                    tr { @for head in blocks.iter().flat_map(|block| &block.heads) { th.number scope="col" { (head) } } }
                }
                tbody {
                    @for (row, name) in names.iter().enumerate() {
                        tr {
                            th scope="row" { (name) }
                            @for cell in blocks.iter().flat_map(|block| &block.rows[row]) { td.number { (cell) } }
                        }
                    }
                    @for (name, why) in &missing {
                        tr.missing { th scope="row" { (name) } td colspan="20" { (why) } }
                    }
                }
            }
        }
    }
}

/// The same layers of all recordings beside each other.
pub(super) fn beside(sheets: &[Sheet]) -> Markup {
    let Some((first, others)) = sheets.split_first() else { return html! {} };
    let rows = first.report.ladder.iter().filter(|entry| entry.throughput_bps.is_some());
    let same = |sheet: &Sheet, entry: &LadderEntry| {
        let is_same = |other: &&LadderEntry| {
            other.id == entry.id
                && other.flows == entry.flows
                && (other.message_bytes, other.latency_bytes) == (entry.message_bytes, entry.latency_bytes)
                && (&other.host, &other.direction) == (&entry.host, &entry.direction)
        };
        sheet.report.ladder.iter().find(is_same).cloned()
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="The recordings beside each other" {
            table {
                caption {
                    "The recordings beside each other. A ratio of two runs is no proof of a difference: equal runs "
                    "lie apart too. " code { "linerate compare" } " and " code { "linerate ab" } " say what can be told."
                }
                thead { tr {
                    th scope="col" { "rung" }
                    @for sheet in sheets { th.number scope="col" { (sheet.label) ", throughput" } }
                    @for sheet in others { th.number scope="col" { (sheet.label) " over " (first.label) } }
                    @for sheet in sheets { th.number scope="col" { (sheet.label) ", half round trip" } }
                    @for sheet in others { th.number scope="col" { (sheet.label) " over " (first.label) } }
                } }
                tbody {
                    @for entry in rows {
                        @let all: Vec<_> = sheets.iter().map(|sheet| same(sheet, entry)).collect();
                        @let rates: Vec<Option<f64>> = all.iter().map(|one| Some(one.as_ref()?.throughput_bps?.median)).collect();
                        @let times = latencies(&all);
                        tr {
                            th scope="row" { (crate::report::note::name(entry)) }
                            @for rate in &rates { td.number { (rate.map_or("-".into(), |bps| BitRate(bps).to_string())) } }
                            @for rate in &rates[1..] { td.number { (ratio(*rate, rates[0])) } }
                            @for time in &times { td.number { (time.map_or("-".into(), |ns| Nanoseconds(ns).to_string())) } }
                            @for time in &times[1..] { td.number { (ratio(*time, times[0])) } }
                        }
                    }
                }
            }
        }
    }
}

/// Half round trips, of the ends that wait alike in all recordings: polling if they all have it, else sleeping.
fn latencies(all: &[Option<LadderEntry>]) -> Vec<Option<f64>> {
    let of = |time: fn(&HalfRoundTrip) -> Option<Estimate>| -> Vec<Option<f64>> {
        all.iter().map(|one| Some(time(&one.as_ref()?.half_round_trip_ns)?.median)).collect()
    };
    let polling = of(|times| times.polling);
    if polling.iter().all(Option::is_some) { polling } else { of(|times| times.sleeping) }
}

fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    match (value, base) {
        (Some(value), Some(base)) if base > 0.0 => percent(value / base),
        _ => "-".into(),
    }
}
