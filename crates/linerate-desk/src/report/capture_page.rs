//! A capture as a page: what was in flight and what was advertised over time, and what the packets say. It needs nothing else, and
//! has no script.

use super::capture::{CaptureReport, lines};
use super::plain_page::plain_page;
use super::size;
use crate::analysis::FlightPoint;
use crate::record::Capture;
use crate::unit::Nanoseconds;
use maud::{Markup, html};

/// The picture, in its own units, and the room for the numbers beside it.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 90.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 24.0;

/// The lines: colours that can be told apart in grey and on both papers.
const FLIGHT: &str = "hsl(210 75% 45%)";
const ADVERTISED: &str = "hsl(30 85% 50%)";

/// The page.
pub fn capture_page(capture: &Capture, file: &str) -> String {
    let report = CaptureReport::new(capture, file);
    let shown = html! {
        h1 { "Packets of a stream" }
        p.meta {
            (capture.target) " · packets in " (file)
            @for knob in &capture.knobs { " · " (knob) }
        }
        div.scroll tabindex="0" role="region" aria-label="In flight and advertised" { (picture(&report.analysis.series)) }
        dl { @for (name, said) in lines(capture, &report.analysis) { dt { (name) } dd { (said) } } }
    };
    plain_page(&format!("packets of a stream, {}", capture.target), &shown, &report.notes)
}

/// Both lines over time. The window may be far above what is in flight: then its line lies at the upper edge, and is named so.
fn picture(series: &[FlightPoint]) -> Markup {
    let Some(last_ns) = series.last().map(|last| last.at_ns.max(1)) else {
        return html! { p { "No packet is on record." } };
    };
    let flight = series.iter().map(|point| point.in_flight).max().unwrap_or_default();
    let advertised = series.iter().filter_map(|point| point.advertised).max().unwrap_or_default();
    // What is in flight takes at least a third of the height.
    let top = advertised.min(3 * flight).max(flight).max(1);
    let x = |ns: u64| LEFT + (WIDTH - LEFT) * ns as f64 / last_ns as f64;
    let y = |bytes: u64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - bytes.min(top) as f64 / top as f64);
    let path = |value: &dyn Fn(&FlightPoint) -> Option<u64>| stairs(series, value, &x, &y);
    let beyond = if advertised > top {
        format!(" (up to {}, above the picture)", size(advertised))
    } else {
        String::new()
    };
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img"
            aria-label="Bytes in flight and the window that the receiver advertised, over the time of the stream" {
            text x=(LEFT) y="14" fill=(FLIGHT) { "\u{2014} in flight, dashed: advertised" (beyond) }
            @for part in 0..=4_u64 {
                @let bytes = top * part / 4;
                line x1=(LEFT) x2=(WIDTH) y1=(y(bytes)) y2=(y(bytes)) stroke="var(--line)" {}
                text x=(LEFT - 6.0) y=(y(bytes) + 4.0) text-anchor="end" { (size(bytes)) }
                @let ns = last_ns / 4 * part;
                text x=(x(ns)) y=(HEIGHT - 8.0) text-anchor=(if part == 4 { "end" } else { "start" }) { (Nanoseconds(ns as f64).rounded(2)) }
            }
            path d=(path(&|point| point.advertised)) fill="none" stroke=(ADVERTISED) stroke-width="2" stroke-dasharray="6 4" {}
            path d=(path(&|point| Some(point.in_flight))) fill="none" stroke=(FLIGHT) stroke-width="1.5" {}
        }
    }
}

/// A value holds until the next one is known.
fn stairs(
    series: &[FlightPoint],
    value: &dyn Fn(&FlightPoint) -> Option<u64>,
    x: &dyn Fn(u64) -> f64,
    y: &dyn Fn(u64) -> f64,
) -> String {
    let known = series.iter().filter_map(|point| Some((x(point.at_ns), y(value(point)?))));
    let mut path = String::new();
    for (x, y) in known {
        path += &match path.is_empty() {
            true => format!("M{x:.1} {y:.1}"),
            false => format!("H{x:.1}V{y:.1}"),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_nothing_says_so_and_names_are_no_markup() {
        let page = capture_page(&Capture { target: "<script>".into(), ..Capture::default() }, "x");
        assert!(page.contains("No packet is on record") && !page.contains("<script"), "{page}");
    }

    #[test]
    fn a_window_far_above_is_named_and_not_drawn_to_scale() {
        let point = |at_ns, in_flight| FlightPoint { at_ns, in_flight, advertised: Some(1 << 30) };
        let picture = picture(&[point(0, 0), point(50, 1000), point(100, 500)]).into_string();
        assert!(
            picture.contains("up to 1.00 GiB") && picture.contains("M90.0 270.0H545.0V188.0"),
            "{picture}"
        );
    }
}
