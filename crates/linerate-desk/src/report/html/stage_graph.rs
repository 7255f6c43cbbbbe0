//! A pipeline as a picture: a bar for each stage from the first to the last, and an arrow for each stream.
//!
//! It is as wide as a telephone's page, so that its words are read there, and grows with the page to some width.

use crate::report::shape::{GraphStageEntry, GraphStreamEntry, StageGraphEntry};
use crate::unit::percent;
use maud::{Markup, html};

/// The picture's width in its own units; its height follows from the stages.
const WIDTH: f64 = 360.0;
/// Of a stage: its words, its bar, and the arrow behind it.
const WORDS: f64 = 16.0;
const BAR: f64 = 16.0;
const ARROW: f64 = 30.0;
/// A name that is longer than this would run into what stands to the right.
const LONGEST: usize = 34;

/// What each part of a bar is filled with, in the order of [`GraphStageEntry::shares`].
const FILLS: [&str; 3] = ["var(--accent)", "var(--line)", "var(--warn)"];

/// The picture with its key.
pub(super) fn drawn(title: &str, graph: &StageGraphEntry) -> Markup {
    let step = WORDS + BAR + ARROW;
    let height = step * graph.stages.len() as f64 - ARROW + 2.0;
    let label = format!("{title}: the stages and what each does; the table has the same numbers");
    let at = |nth: usize| step * nth as f64;
    html! {
        figure.graph {
            figcaption { p.keys {
                @for (nth, (what, _)) in graph.stages.iter().flat_map(GraphStageEntry::shares).take(3).enumerate() {
                    span.key { svg width="14" height="14" aria-hidden="true" { rect width="14" height="14" style=(fill(nth)) {} } " " (what) }
                }
            } }
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(label) {
                @for (nth, stage) in graph.stages.iter().enumerate() { (of_stage(stage, at(nth))) }
                @for (nth, stream) in graph.streams.iter().enumerate() { (of_stream(stream, at(nth) + WORDS + BAR, nth == 0)) }
            }
        }
    }
}

fn fill(nth: usize) -> String {
    format!("fill:{}", FILLS[nth])
}

fn of_stage(stage: &GraphStageEntry, y: f64) -> Markup {
    let ends = stage.shares().into_iter().scan(0.0, |end, (what, share)| {
        let from: f64 = *end;
        *end = (from + share).min(1.0);
        Some((what, share, from * WIDTH, (*end - from) * WIDTH))
    });
    let name: String = stage.called().chars().take(LONGEST).collect();
    let works = format!("works {}", percent(stage.works.median));
    html! {
        text.binds[stage.binds] x="0" y=(y + WORDS - 5.0) { (name) @if stage.binds { " binds" } }
        text.binds[stage.binds] x=(WIDTH) y=(y + WORDS - 5.0) text-anchor="end" { (works) }
        @for (nth, (what, share, x, width)) in ends.enumerate() {
            rect x=(x) y=(y + WORDS) width=(width) height=(BAR) style=(fill(nth)) {
                title { (stage.name) " " (what) ": " (percent(share)) }
            }
        }
        rect.edge.binds[stage.binds] x="0.5" y=(y + WORDS) width=(WIDTH - 1.0) height=(BAR) {}
    }
}

fn of_stream(stream: &GraphStreamEntry, y: f64, is_first: bool) -> Markup {
    let (from, to) = (y + 3.0, y + ARROW - 3.0);
    let said = format!("{} waited for by both ends", percent(stream.waited_for.median));
    let short = percent(stream.waited_for.median);
    html! {
        g.stream.binds[stream.binds] {
            title { "from " (stream.from) " to " (stream.to) ": " (said) }
            path d=(format!("M18 {from}V{to}M14 {}L18 {to}L22 {}", to - 5.0, to - 5.0)) {}
            text.binds[stream.binds] x="32" y=(y + ARROW / 2.0 + 4.0) {
                @if is_first { (said) } @else { (short) }
                @if stream.binds { ": it binds" }
            }
        }
    }
}
