//! The stages of a running program's messages as a page: a bar, from one arrival to the next, and the table. It needs nothing else,
//! and has no script.

use super::plain_page::plain_page;
use super::running_trace::{RunningTraceReport, lines};
use super::trace::time;
use super::trace_page::{bar, stage_table};
use crate::record::RunningTrace;
use maud::html;

/// The page.
pub fn running_trace_page(trace: &RunningTrace) -> String {
    let report = RunningTraceReport::new(trace);
    let shown = html! {
        h1 { "Where a message waits" }
        p.meta { (report.name) " \u{b7} " (report.local) " from " (report.remote) }
        @match &report.analysis {
            Some(of) => {
                p { (time(of.sum_ns)) " from one arrival to the next" }
                (bar("The middle message", &of.stages, of.sum_ns))
                dl { @for (name, said) in lines(of) { dt { (name) } dd { (said) } } }
                (stage_table("Stages", &of.stages))
            }
            None => p { "No message that came was followed by one that went out." },
        }
    };
    plain_page(&format!("where a message waits, {}", trace.name), &shown, &report.notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_nothing_says_so_and_names_are_no_markup() {
        let address = "127.0.0.1:1".parse().unwrap();
        let trace = RunningTrace {
            name: "<script>".into(),
            process: None,
            local: address,
            remote: address,
            level: 1,
            refused: Vec::new(),
            missing: Vec::new(),
            rounds: Vec::new(),
        };
        let page = running_trace_page(&trace);
        assert!(page.contains("No message that came") && !page.contains("<script"), "{page}");
    }
}
