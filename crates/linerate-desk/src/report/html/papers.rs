//! The papers whose values can be shown beside one's own, with what is ambiguous in each.

use crate::published::papers;
use crate::report::note::sentence;
use maud::{Markup, html};

/// Every paper; the values themselves are series of the figures against message size.
pub(super) fn section() -> Markup {
    html! {
        section id="papers" aria-labelledby="papers-title" {
            h2 id="papers-title" { "Published values" }
            p {
                "The figures against message size can show what these papers state, each as a series that is hidden at "
                "first. They were measured on other hosts, other networks and in other years: they say where a "
                "network stands, not what it should reach."
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
                    }
                }
            }
        }
    }
}
