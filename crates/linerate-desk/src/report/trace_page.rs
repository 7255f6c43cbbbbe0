//! A trace as a page: a bar of each way of waiting cut into its stages, the tables, and what the slowest do differently. It
//! needs nothing else, and has no script.

use super::plain_page::plain_page;
use super::trace::{HEADS, TraceReport, cells, lines, place, time, what};
use crate::analysis::{StageTime, TraceOf};
use crate::record::Trace;
use crate::unit::percent;
use crate::vocabulary::STAGES;
use maud::{Markup, html};

/// The bars' width, in the units of the picture: it is drawn as wide as the page is, and as high as its style says.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 10.0;

/// A share of the bar less than this is named in the table alone.
const NAMED: f64 = 0.04;

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

/// The bars beneath each other, on one scale. Words stand beneath and not in them: there they would shrink with the page.
fn bars(waits: &[TraceOf], longest: f64) -> Markup {
    html! {
        @for of in waits {
            p { (of.wait.to_string()) ": " (time(of.sum_ns)) " from the call that asks to the return of the answer" }
            (bar(&format!("The middle round trip, {}", of.wait), &of.stages, longest))
        }
    }
}

/// A bar cut into stages, and which of them are long enough to be named.
pub(super) fn bar(of: &str, stages: &[StageTime], longest: f64) -> Markup {
    let label = format!("{of}, cut into its stages in the order of the way");
    let scale = WIDTH / longest.max(1.0);
    html! {
        svg.bar viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (stage, x) in stages.iter().zip(starts(stages)) {
                rect x=(x * scale) y="0" width=(stage.middle_ns * scale) height=(HEIGHT) fill=(colour(stage.key.stage))
                    stroke="var(--paper)" stroke-width="1" vector-effect="non-scaling-stroke" {
                    title { (place(&stage.key)) " " (stage.key.stage) ": " (time(stage.middle_ns)) ", " (percent(stage.share)) }
                }
            }
        }
        ul.legend {
            @for stage in stages.iter().filter(|stage| stage.share >= NAMED) {
                li {
                    span.swatch style=(format!("background:{}", colour(stage.key.stage))) {}
                    (stage.key.stage) " " (place(&stage.key)) " " (time(stage.middle_ns))
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
        (stage_table(&format!("Stages, {}", of.wait), &of.stages))
    }
}

/// The stages and their numbers.
pub(super) fn stage_table(label: &str, stages: &[StageTime]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    @for (at, head) in HEADS.iter().enumerate() { th.left[at < 2] scope="col" { (head) } }
                } }
                tbody {
                    @for stage in stages {
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
