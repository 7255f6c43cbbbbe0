//! One HTML file that needs nothing else: the answer, the figures with their tables, the findings, the
//! hosts, the commands that repeat it, and the data.
//!
//! Every text is escaped by `maud`, whatever a recording holds, and the page's own policy forbids it to load
//! anything. Without scripts the figures are pictures and everything else is there.

mod claims;
mod data;
mod environment;
mod findings;
mod imported;
mod matrix;
mod papers;
mod plot;
mod stage_graph;
mod suite_tables;
mod tables;

use super::draw::{self, CHARTS, LIBRARY};
use super::figure::{Figure, Sheet, figures};
use super::note::whole_numbers;
use super::shape::Shows;
use super::text::heading;
use crate::Result;
use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeSet;

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// Nothing is loaded, from nowhere.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

/// Family, weight, style and file of each font.
const FONTS: [(&str, u32, &str, &[u8]); 5] = [
    ("Source Serif 4", 400, "normal", include_bytes!("../../assets/source-serif-4-400.woff2")),
    ("Source Serif 4", 400, "italic", include_bytes!("../../assets/source-serif-4-400-italic.woff2")),
    ("Source Serif 4", 600, "normal", include_bytes!("../../assets/source-serif-4-600.woff2")),
    ("Source Sans 3", 400, "normal", include_bytes!("../../assets/source-sans-3-400.woff2")),
    ("Source Sans 3", 600, "normal", include_bytes!("../../assets/source-sans-3-600.woff2")),
];

/// The page of some recordings.
pub(super) fn page(sheets: &[Sheet]) -> Result<String> {
    let figures = figures(sheets);
    let pictures = draw::svg(&figures)?;
    let title = sheets.iter().map(|sheet| sheet.report.run.target.as_str()).collect::<Vec<_>>().join(", ");
    let body = html! {
        a.skip href="#content" { "To the content" }
        (header(sheets))
        main id="content" {
            @for sheet in sheets { (answer(sheet)) }
            (contents(sheets, &figures))
            (ladder(sheets, &figures, &pictures))
            @for group in plot::GROUPS { (plot::group(group, &figures, &pictures)) }
            (matrix::section(sheets))
            (imported::section(sheets))
            (suite_tables::section(sheets))
            (claims::section(sheets))
            (findings::section(sheets))
            (environment::section(sheets))
            (papers::section(sheets))
            (environment::commands(sheets))
            (data::section(sheets))
        }
        footer { "Made by linerate " (env!("CARGO_PKG_VERSION")) ". Every number here is computed from the recording." }
        (data::figures(&figures))
        script { (PreEscaped(LIBRARY)) }
        script { (PreEscaped(CHARTS)) }
        script { (PreEscaped(SCRIPT)) }
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "linerate: " (title) }
                style { (PreEscaped(faces())) (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    Ok(page.into_string())
}

fn faces() -> String {
    let face = |(family, weight, style, bytes): &(&str, u32, &str, &[u8])| {
        let data = STANDARD.encode(bytes);
        format!(
            "@font-face{{font-family:\"{family}\";font-weight:{weight};font-style:{style};\
             src:url(data:font/woff2;base64,{data}) format(\"woff2\")}}\n"
        )
    };
    FONTS.iter().map(face).collect()
}

fn header(sheets: &[Sheet]) -> Markup {
    html! {
        header.top {
            p.brand { "linerate" }
            h1 { (headline(sheets)) }
            @for sheet in sheets {
                p.meta {
                    @if !sheet.label.is_empty() { span.label { (sheet.label) } " " }
                    (heading(&sheet.report, None)) " · "
                    @if sheet.report.imported.is_none() { "profile " (sheet.report.run.profile) " · " }
                    @if sheet.report.imported.is_some() { "read on " }
                    time datetime=(sheet.report.run.utc) { (sheet.report.run.utc.replace('T', " ").replace('Z', " UTC")) }
                }
            }
        }
    }
}

/// What was asked: by a ladder where the rate goes, by suites what each is about.
fn headline(sheets: &[Sheet]) -> String {
    if !sheets.iter().all(has_no_ladder) {
        return first_section(sheets).0.into();
    }
    if sheets.iter().all(|sheet| sheet.report.imported.is_some()) {
        return "What other tools measured".into();
    }
    if matrix::are_any(sheets) {
        return "Which host, link or group is slow".into();
    }
    let suites = sheets.iter().flat_map(|sheet| &sheet.report.suites);
    let about: BTreeSet<&str> = suites.map(|suite| suite.about.as_str()).collect();
    match about.iter().next() {
        Some(only) if about.len() == 1 && !only.is_empty() => (*only).into(),
        _ => "What was measured of these suites".into(),
    }
}

fn answer(sheet: &Sheet) -> Markup {
    html! {
        p.answer {
            @if !sheet.label.is_empty() { span.label { (sheet.label) } " " }
            (whole_numbers(&sheet.report.sentence))
        }
    }
}

/// The sections, for readers who look for one.
fn contents(sheets: &[Sheet], figures: &[Figure]) -> Markup {
    let groups = plot::GROUPS.iter().filter(|group| plot::is_in(group, figures));
    html! {
        nav.contents aria-label="Sections" {
            ul {
                @if !sheets.iter().all(has_no_ladder) { li { a href="#ladder-section" { (first_section(sheets).1) } } }
                @for group in groups { li { a href={ "#" (group.id) } { (group.title) } } }
                @if matrix::are_any(sheets) { li { a href="#matrix" { "Each host with the others" } } }
                @if imported::are_any(sheets) { li { a href="#imported" { "Other tools" } } }
                @if suite_tables::are_any(sheets) { li { a href="#tables" { "Beside each other" } } }
                @if claims::are_any(sheets) { li { a href="#claims" { "Conclusions" } } }
                li { a href="#findings" { "What was found" } }
                li { a href="#hosts" { "The hosts" } }
                li { a href="#papers" { "Published values" } }
                li { a href="#repeat" { "To repeat it" } }
                li { a href="#data" { "The data" } }
            }
        }
    }
}

/// Of a suite there are figures of its own, and of another tool its table.
fn has_no_ladder(sheet: &Sheet) -> bool {
    sheet.report.ladder.is_empty()
        && matches!(sheet.report.shows(), Shows::Suites(_) | Shows::Imported(_) | Shows::Matrix(_))
}

/// What pages of the ladder's rungs ask, and what their first section is called; those of several kinds show the ladder.
fn first_section(sheets: &[Sheet]) -> (&'static str, &'static str) {
    const LADDER: (&str, &str) = ("Where the rate goes between memory and the network", "The ladder");
    let of = |sheet: &Sheet| match sheet.report.shows() {
        Shows::Comparison(_) => ("What a change makes", "The comparison"),
        Shows::Diagnosis(..) => ("What holds the rate back", "The experiments"),
        Shows::Tuning(_) => ("Which settings gain, and how much", "The search"),
        Shows::Ladder | Shows::Suites(_) | Shows::Matrix(_) | Shows::Imported(_) => LADDER,
    };
    let all: BTreeSet<_> = sheets.iter().filter(|sheet| !has_no_ladder(sheet)).map(of).collect();
    match all.into_iter().collect::<Vec<_>>()[..] {
        [only] => only,
        _ => LADDER,
    }
}

fn ladder(sheets: &[Sheet], figures: &[Figure], pictures: &[String]) -> Markup {
    let here = figures.iter().zip(pictures).filter(|(figure, _)| plot::is_first(&figure.id));
    if sheets.iter().all(has_no_ladder) {
        return html! {};
    }
    html! {
        section id="ladder-section" aria-labelledby="ladder-title" {
            h2 id="ladder-title" { (first_section(sheets).1) }
            @for (figure, picture) in here { (plot::figure(figure, picture)) }
            @for sheet in sheets.iter().filter(|sheet| !sheet.report.ladder.is_empty()) { (tables::ladder(sheet)) }
            @if sheets.len() > 1 { (tables::beside(sheets)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn a_recordings_text_is_never_markup() {
        let mut recording =
            Synthetic { passes: 2, sizes: vec![64, 1 << 20], ..Synthetic::default() }.recording();
        let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
        for host in &mut recording.hosts {
            host.environment.host.insert(evil.into(), evil.into());
            host.version = evil.into();
        }
        for trial in &mut recording.trials {
            trial.case.rung = trial.case.rung.replace("network.tcp", evil);
        }
        if let Some(header) = &mut recording.header {
            header.command.push(evil.into());
            header.utc = evil.into();
        }
        let page = page(&[Sheet::new(&recording, "")]).unwrap();
        assert!(!page.contains("<script>alert") && !page.contains("<img src=x"));
        assert!(page.contains("&lt;img src=x"));
    }

    #[test]
    fn an_empty_recordings_page_is_self_contained() {
        let empty = crate::record::Recording::default();
        let text = page(&[Sheet::new(&empty, "")]).unwrap();
        assert!(text.contains("<!DOCTYPE html>") && text.len() < 8 << 20);
        let loads = [" src=\"http", " href=\"http", "url(http", "@import"];
        let own = text.replace(LIBRARY, "");
        assert!(loads.iter().all(|load| !own.contains(load)));
    }
}
