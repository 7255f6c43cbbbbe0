//! What was found, with its evidence, and what makes a number doubtful.

use crate::report::curve::{break_sentence, of_suites};
use crate::report::figure::Sheet;
use crate::report::note::{name, sentence};
use crate::report::{BreakEntry, CurveEntry, LadderEntry, WarningEntry};
use crate::unit::{BitRate, Bytes, percent, signed_percent};
use crate::vocabulary::{BREAKS, WARNINGS, Warning};
use maud::{Markup, html};

/// The breaks that are shown at once; the others unfold.
const FIRST: usize = 12;

/// The findings and warnings of every recording.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    html! {
        section id="findings" aria-labelledby="findings-title" {
            h2 id="findings-title" { "What was found" }
            @for sheet in sheets {
                @if !sheet.label.is_empty() { h3 { "Recording " (sheet.label) } }
                (bounds(sheet))
                (breaks(sheet))
                (oddities(sheet))
                (doubts(sheet))
                (left_out(sheet))
            }
        }
    }
}

/// The name of a region, told from the same one of other recordings.
fn region(sheet: &Sheet, name: &str) -> String {
    if sheet.label.is_empty() { name.into() } else { format!("{name} of recording {}", sheet.label) }
}

/// What binds each layer, and what would bind next.
fn bounds(sheet: &Sheet) -> Markup {
    let bound: Vec<&LadderEntry> =
        sheet.report.ladder.iter().filter(|entry| !entry.bounds.is_empty()).collect();
    html! {
        @if !bound.is_empty() {
            h3 { "What cannot be passed" }
            div.scroll tabindex="0" role="region" aria-label=(region(sheet, "Bounds")) {
                table {
                    caption { "The bounds of each layer. In bold what explains the measured rate." }
                    thead { tr {
                        th scope="col" { "layer" } th.number scope="col" { "measured" } th scope="col" { "bound" }
                        th.number scope="col" { "cannot pass" } th scope="col" { "evidence" }
                    } }
                    tbody {
                        @for entry in bound {
                            @for (nth, one) in entry.bounds.iter().enumerate() {
                                tr.first[nth == 0] {
                                    th scope="row" { @if nth == 0 { (name(entry)) } @else { span.visually-hidden { (name(entry)) } } }
                                    td.number { @if nth == 0 { (entry.throughput_bps.map_or("-".into(), |rate| BitRate(rate.median).to_string())) } }
                                    td { @if one.explains { b { (one.name) } } @else { (one.name) } }
                                    td.number { (BitRate(one.bps)) }
                                    td { (one.evidence) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The breaks of all curves: confirmed ones first, then the larger ones.
fn breaks(sheet: &Sheet) -> Markup {
    let curves = sheet.report.curves.iter();
    let mut found: Vec<(&CurveEntry, &BreakEntry)> =
        curves.flat_map(|curve| curve.breaks.iter().map(move |found| (curve, found))).collect();
    let share = |found: &BreakEntry| found.share.map_or(0.0, f64::abs);
    found.sort_by(|(_, a), (_, b)| {
        let order = |found: &BreakEntry| (!found.sure, found.confirmed.is_none());
        order(a).cmp(&order(b)).then(share(b).total_cmp(&share(a)))
    });
    let (first, more) = found.split_at(found.len().min(FIRST));
    let of_suites = of_suites(&sheet.report);
    html! {
        @if !(found.is_empty() && of_suites.is_empty()) {
            h3 { "Breaks in the curves" }
            ul.breaks {
                @for (curve, one) in first { (one_break(curve, one)) }
                @for one in &of_suites { li { b { (one.text) } } }
            }
            @if !more.is_empty() {
                details { summary { (more.len()) " more breaks" } ul.breaks { @for (curve, one) in more { (one_break(curve, one)) } } }
            }
        }
    }
}

fn one_break(curve: &CurveEntry, found: &BreakEntry) -> Markup {
    let class = BREAKS.iter().find(|class| class.name == found.class);
    html! {
        li {
            b { (break_sentence(curve, found)) }
            @if !found.sure { " Not beyond doubt." }
            @if let Some(class) = class { " " (sentence(class.meaning)) "." }
            @if !found.evidence.is_empty() { " Evidence: " (found.evidence) "." }
            @if !found.hint.is_empty() { " " (sentence(&found.hint)) "." }
        }
    }
}

/// Parts of curves that have a name, sizes that are better sent otherwise, and drift.
fn oddities(sheet: &Sheet) -> Markup {
    let lines: Vec<String> = sheet.report.curves.iter().flat_map(odd).chain(drifts(sheet)).collect();
    let (first, more) = lines.split_at(lines.len().min(FIRST));
    html! {
        @if !lines.is_empty() {
            h3 { "Also seen" }
            ul { @for line in first { li { (line) } } }
            @if !more.is_empty() { details { summary { (more.len()) " more" } ul { @for line in more { li { (line) } } } } }
        }
    }
}

fn odd(curve: &CurveEntry) -> Vec<String> {
    let place =
        if curve.from == curve.to { curve.from.to_string() } else { format!("{}>{}", curve.from, curve.to) };
    let case = format!("{} {} {} {place}", curve.id, curve.pattern, curve.wait);
    let forms = curve.forms.iter().filter(|form| form.below_peak > 0.0).map(|form| {
        let (from, to) = (Bytes(form.from_bytes), Bytes(form.to_bytes));
        let below = percent(form.below_peak);
        format!(
            "{case}: {} from {from} to {to}, {below} below the peak at {}",
            form.name,
            BitRate(form.throughput_bps)
        )
    });
    let splits = curve.splits.iter().map(|split| {
        let saved = percent(split.saved.median);
        format!(
            "{case}: {} sent as {} messages takes {saved} less time",
            Bytes(split.message_bytes),
            split.parts
        )
    });
    let unaligned = curve.unaligned.iter().map(|one| {
        format!(
            "{case}: three bytes beside {} cost {}",
            Bytes(one.message_bytes),
            signed_percent(one.cost.median)
        )
    });
    forms.chain(splits).chain(unaligned).collect()
}

fn drifts(sheet: &Sheet) -> Vec<String> {
    let told = |drift: &crate::analysis::Drift| {
        let change = signed_percent(drift.change);
        format!(
            "{} {}: times moved by {change} during the run (p = {:.3})",
            drift.pattern, drift.wait, drift.p
        )
    };
    sheet.report.drifts.iter().filter(|drift| drift.is_drift).map(told).collect()
}

/// The warnings by code, each with its meaning, its rule, and how much of it there was on each layer.
fn doubts(sheet: &Sheet) -> Markup {
    let report = &sheet.report;
    let of = |code: &str| -> Vec<(String, &WarningEntry)> {
        let layers =
            report.ladder.iter().flat_map(|entry| entry.warnings.iter().map(move |one| (name(entry), one)));
        let whole = report.warnings.iter().map(|one| ("the whole run".to_owned(), one));
        let suites = report.suites.iter().flat_map(|suite| &suite.warnings);
        let suites = suites.map(|one| (one.case.clone(), &one.warning));
        layers.chain(suites).chain(whole).filter(|(_, one)| one.code == code).collect()
    };
    let found =
        WARNINGS.iter().map(|warning| (warning, of(warning.code))).filter(|(_, found)| !found.is_empty());
    html! {
        h3 { "What makes numbers doubtful" }
        @let found = weightiest_first(found.collect());
        @if found.is_empty() { p { "Nothing that linerate looks for." } }
        dl.warnings {
            @for (warning, layers) in found {
                dt { (warning.code) }
                dd {
                    (sentence(warning.meaning)) ". " @if let Some((_, first)) = layers.first() { i { (sentence(&first.hint)) "." } }
                    details {
                        summary { (layers.len()) @if layers.len() == 1 { " time" } @else { " times" } }
                        @if layers.iter().any(|(layer, one)| !layer.is_empty() || !one.detail.is_empty()) {
                            ul { @for (layer, one) in &layers { li { b { (layer) } @if !one.detail.is_empty() { ": " (one.detail) } } } }
                        }
                        p.rule { "Given when " (warning.rule) ". Read from " (warning.source) "." }
                    }
                }
            }
        }
    }
}

fn weightiest_first<T>(mut found: Vec<(&'static Warning, T)>) -> Vec<(&'static Warning, T)> {
    found.sort_by_key(|(warning, _)| warning.weight.place());
    found
}

fn left_out(sheet: &Sheet) -> Markup {
    let entries = sheet.report.ladder.iter();
    let parts = entries
        .clone()
        .flat_map(|entry| entry.not_measured.iter().map(move |left| (name(entry), left.reason.sentence())));
    let suites = sheet.report.suites.iter().flat_map(|suite| &suite.left_out);
    let suites = suites.map(|one| (one.what(), one.reason.sentence()));
    let lines: Vec<(String, String)> = parts.chain(suites).collect();
    html! {
        @if !lines.is_empty() {
            h3 { "What was left out" }
            ul { @for (layer, why) in lines { li { b { (layer) } ": " (why) } } }
        }
    }
}
