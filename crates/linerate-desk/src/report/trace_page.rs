//! A trace as a page: a bar of each way of waiting cut into its stages, the tables, and what the slowest do differently. It
//! needs nothing else, and has no script.

use super::plain_page::plain_page;
use super::trace::{HEADS, TraceReport, cells, lines, place, time, what};
use crate::analysis::{StageTime, TraceOf};
use crate::record::Trace;
use crate::unit::percent;
use crate::vocabulary::STAGES;
use maud::{Markup, html};

/// The bars' width and height, and the room beside them, in the units of the picture.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 44.0;
const ROW: f64 = 92.0;
const TOP: f64 = 26.0;

/// A share of the bar less than this has no room for its name.
const NAMED: f64 = 0.075;

/// The page.
pub fn trace_page(trace: &Trace) -> String {
    let report = TraceReport::new(trace);
    let waits = &report.analysis.waits;
    let longest = waits.iter().map(|of| of.sum_ns).fold(0.0, f64::max);
    let shown = html! {
        h1 { "Where a message waits" }
        p.meta { (trace.target) @for said in what(trace) { " · " (said) } }
        (bars(waits, longest))
        @for of in waits { (section(of)) }
    };
    plain_page(&format!("where a message waits, {}", trace.target), &shown, &report.notes)
}

/// The bars beneath each other, on one scale.
fn bars(waits: &[TraceOf], longest: f64) -> Markup {
    let height = ROW * waits.len() as f64 + 4.0;
    let label = "The middle round trip of each way of waiting, cut into its stages in the order of the way";
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(label) {
            @for (row, of) in waits.iter().enumerate() {
                @let y = ROW * row as f64 + TOP;
                text x="0" y=(y - 8.0) {
                    (of.wait.to_string()) ": " (time(of.sum_ns)) " from the call that asks to the return of the answer"
                }
                @for (stage, x) in of.stages.iter().zip(starts(&of.stages)) {
                    @let width = WIDTH * stage.middle_ns / longest.max(1.0);
                    rect x=(x * WIDTH / longest.max(1.0)) y=(y) width=(width) height=(HEIGHT)
                        fill=(colour(stage.key.stage)) stroke="var(--paper)" stroke-width="1" {
                        title { (place(&stage.key)) " " (stage.key.stage) ": " (time(stage.middle_ns)) ", " (percent(stage.share)) }
                    }
                    @if width > NAMED * WIDTH {
                        text.in x=(x * WIDTH / longest.max(1.0) + 5.0) y=(y + 18.0) { (stage.key.stage) }
                        text.in x=(x * WIDTH / longest.max(1.0) + 5.0) y=(y + 35.0) { (place(&stage.key)) " " (time(stage.middle_ns)) }
                    }
                }
            }
        }
    }
}

/// Where each stage begins.
fn starts(stages: &[StageTime]) -> Vec<f64> {
    let begin = |at: &mut f64, stage: &StageTime| {
        let begun = *at;
        *at += stage.middle_ns;
        Some(begun)
    };
    stages.iter().scan(0.0, begin).collect()
}

/// A stage has its colour wherever it is: neighbours in the table are far apart on the wheel, and white can be read on each.
fn colour(stage: &str) -> String {
    const STEP: usize = 137;
    let place = STAGES.iter().position(|one| one.name == stage).unwrap_or_default();
    format!("hsl({} 55% 34%)", (210 + place * STEP) % 360)
}

fn section(of: &TraceOf) -> Markup {
    let said = lines(of);
    html! {
        h2 { (of.wait.to_string()) }
        dl { @for (name, told) in &said { dt { (name) } dd { (told) } } }
        div.scroll tabindex="0" role="region" aria-label=(format!("Stages, {}", of.wait)) {
            table {
                thead { tr {
                    @for (at, head) in HEADS.iter().enumerate() { th.left[at < 2] scope="col" { (head) } }
                } }
                tbody {
                    @for stage in &of.stages {
                        @let all = cells(stage);
                        tr {
                            th scope="row" { (all[0]) }
                            td.left { span.swatch style=(format!("background:{}", colour(stage.key.stage))) {} (all[1]) }
                            @for cell in &all[2..] { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::STAGES;

    #[test]
    fn what_a_target_is_called_is_no_markup() {
        let page = trace_page(&Trace { target: "<script>".into(), ..Trace::default() });
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
        assert!(STAGES.iter().all(|stage| colour(stage.name).starts_with("hsl(")));
    }
}
