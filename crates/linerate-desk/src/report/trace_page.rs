//! A trace as a page: a bar of each way of waiting cut into its stages, the tables, and what the slowest do differently. It
//! needs nothing else, and has no script.

use super::trace::{HEADS, TraceReport, cells, lines, place, time};
use crate::analysis::{StageTime, TraceOf};
use crate::record::Trace;
use crate::unit::percent;
use crate::vocabulary::STAGES;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The bars' width and height, and the room beside them, in the units of the picture.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 44.0;
const ROW: f64 = 92.0;
const TOP: f64 = 26.0;

/// A share of the bar less than this has no room for its name.
const NAMED: f64 = 0.075;

pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1c1c;--faint:#5c5c5c;--paper:#fff;--line:#d5d5d5}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--faint:#a8a8a8;--paper:#161616;--line:#3a3a3a}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:68rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .3rem}p{margin:.3rem 0}.meta{color:var(--faint)}\
svg{width:100%;height:auto;display:block;margin:1rem 0}svg text{font:13px system-ui,sans-serif;fill:var(--ink)}\
svg text.in{fill:#fff;font-size:12px}.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}\
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\
th[scope=row],td.left,th.left{text-align:left;font-weight:normal}\
dt{float:left;clear:left;width:6rem;color:var(--faint)}dd{margin-left:6rem}\
.swatch{display:inline-block;width:.8em;height:.8em;margin-right:.5em;border-radius:2px}";

/// The page.
pub fn trace_page(trace: &Trace) -> String {
    let report = TraceReport::new(trace);
    let waits = &report.analysis.waits;
    let longest = waits.iter().map(|of| of.sum_ns).fold(0.0, f64::max);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "linerate: where a message waits, " (trace.target) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "Where a message waits" }
                    p.meta { (trace.target) " · " (trace.message_bytes) " B each way" }
                    (bars(waits, longest))
                    @for of in waits { (section(of)) }
                    @if !report.notes.is_empty() {
                        h2 { "What to know beside the numbers" }
                        ul { @for note in &report.notes { li { (note) } } }
                    }
                }
            }
        }
    };
    page.into_string()
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
