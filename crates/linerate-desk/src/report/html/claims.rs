//! The conclusions of the papers, and whether they hold here.

use crate::analysis::Holds;
use crate::report::Sheet;
use crate::report::shape::ClaimEntry;
use crate::report::suite::{evidence, verdict_word};
use maud::{Markup, html};

/// Whether there are any.
pub(super) fn are_any(sheets: &[Sheet]) -> bool {
    sheets.iter().flat_map(|sheet| &sheet.report.suites).any(|suite| !suite.claims.is_empty())
}

/// The conclusions of all suites; nothing where there is none.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    if !are_any(sheets) {
        return html! {};
    }
    html! {
        section id="claims" aria-labelledby="claims-title" {
            h2 id="claims-title" { "Conclusions, tested here" }
            p {
                "Each is a number of every pass. It holds where the whole 95 % interval of the median is on the right "
                "side of its limit, and does not where it is on the other side; else it cannot be told. Where these "
                "hosts or this path are none of which it says something, it does not apply."
            }
            div.scroll tabindex="0" role="region" aria-label="Conclusions" {
                table {
                    thead { tr {
                        th scope="col" { "suite" }
                        th scope="col" { "conclusion" }
                        th scope="col" { "here" }
                        th scope="col" { "number" }
                        th scope="col" { "in the paper" }
                    } }
                    tbody {
                        @for sheet in sheets {
                            @for suite in &sheet.report.suites {
                                @for claim in &suite.claims { (row(&sheet.named(&suite.name), claim)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn row(suite: &str, claim: &ClaimEntry) -> Markup {
    html! {
        tr {
            td { (suite) }
            td { (claim.says) }
            td { @if claim.holds == Holds::Yes { (verdict_word(claim.holds)) } @else { strong { (verdict_word(claim.holds)) } } }
            td { (evidence(claim)) }
            td { (claim.place) }
        }
    }
}
