//! The papers whose values can be shown beside one's own, with what is ambiguous in each, and which values no figure has.

use crate::published::{Paper, papers, stated};
use crate::report::figure::{Sheet, drawn_of};
use crate::report::note::sentence;
use crate::unit::counted;
use maud::{Markup, html};

/// Why a value that has a panel is in none here.
const NOT_HERE: &str = "its panel was not measured here, or its size is beyond the axis";

/// Every paper; the values themselves are series of the figures.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    html! {
        section id="papers" aria-labelledby="papers-title" {
            h2 id="papers-title" { "Published values" }
            p {
                "The figures of suites show what their paper states at the same numbers; those against message size can show "
                "what all of them state, each as a series that is hidden at first. They were measured on other hosts, other "
                "networks and in other years: they say where a network stands, not what it should reach."
            }
            dl.papers {
                @for paper in papers() {
                    dt { (paper.short) }
                    dd {
                        (paper.authors) ": " i { (paper.title) } ". " (paper.venue) ", " (paper.year) "."
                        details.long {
                            summary { "Its hosts, and what is ambiguous in it" }
                            ul { @for bed in paper.testbeds { li { (bed.hosts) "; " (bed.network) "; " (bed.software) "." } } }
                            ul { @for doubt in paper.doubts { li { (sentence(doubt)) "." } } }
                        }
                        (left_out(sheets, paper))
                    }
                }
            }
        }
    }
}

/// The values of a paper that no figure of a suite has, by the reason; nothing where no suite of it was run.
fn left_out(sheets: &[Sheet], paper: &Paper) -> Markup {
    let suites = || sheets.iter().flat_map(|sheet| &sheet.analysis.suites);
    if !suites().any(|suite| suite.paper.as_deref() == Some(paper.id)) {
        return html! {};
    }
    let drawn = drawn_of(sheets);
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for one in stated().iter().filter(|one| one.paper.id == paper.id) {
        let why = match &one.shown {
            Err(why) => why,
            Ok(_) if drawn.iter().any(|known| std::ptr::eq(*known, one)) => continue,
            Ok(_) => NOT_HERE,
        };
        let said = format!("{} {}", one.label, one.printed);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, values)) => values.push(said),
            None => reasons.push((why, vec![said])),
        }
    }
    let count: usize = reasons.iter().map(|(_, values)| values.len()).sum();
    html! {
        @if count > 0 {
            details.long {
                summary { (counted(count, "value")) " that no figure here shows, and why" }
                ul { @for (why, values) in &reasons { li { (sentence(why)) ": " (values.join("; ")) "." } } }
            }
        }
    }
}
