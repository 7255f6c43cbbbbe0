//! A traced stream as a page: what was sampled of both hosts, all on one axis of time, and the table. It needs nothing else, and has
//! no script.

use super::plain_page::plain_page;
use super::size;
use super::stream::{StreamReport, heads, lines, rows, what};
use crate::analysis::{STREAM_FIGURES, StreamLine, StreamLines};
use crate::record::StreamTrace;
use crate::unit::{BitRate, Nanoseconds, percent, significant};
use crate::vocabulary::metric::sampled::{self, SampledMetric};
use maud::{Markup, html};

/// A panel's size, in its own units, and the room for numbers beside and above.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 8.0;

/// Room for the times beneath the last panel.
const TIMES: f64 = 22.0;

/// A panel: its title, how its numbers are told, and its lines: whether of the sender, and what.
type Panel = (&'static str, fn(f64) -> String, &'static [(bool, &'static SampledMetric)]);

const PANELS: &[Panel] = &[
    (
        "rate",
        |bps| BitRate(bps).rounded(2),
        &[(false, &sampled::TCP_RECEIVED_BPS), (true, &sampled::TCP_ACKNOWLEDGED_BPS)],
    ),
    (
        "CPU of the threads",
        percent,
        &[
            (true, &sampled::THREAD_BUSY),
            (false, &sampled::THREAD_BUSY),
            (true, &sampled::THREAD_WAITING),
            (false, &sampled::THREAD_WAITING),
        ],
    ),
    (
        "held by the receiver\u{2019}s window, by the send buffer",
        percent,
        &[(true, &sampled::TCP_RECEIVE_WINDOW_LIMITED), (true, &sampled::TCP_SEND_BUFFER_LIMITED)],
    ),
    (
        "windows",
        bytes,
        &[(true, &sampled::TCP_PEER_WINDOW_BYTES), (false, &sampled::TCP_RECEIVE_WINDOW_BYTES)],
    ),
    ("segments", segments, &[(true, &sampled::TCP_CONGESTION_WINDOW), (true, &sampled::TCP_IN_FLIGHT)]),
    (
        "queues",
        bytes,
        &[
            (true, &sampled::TCP_NOT_SENT_BYTES),
            (true, &sampled::QUEUE_BACKLOG_BYTES),
            (false, &sampled::QUEUE_BACKLOG_BYTES),
        ],
    ),
    (
        "sent again, out of order",
        segments,
        &[(true, &sampled::TCP_RETRANSMITS), (false, &sampled::TCP_OUT_OF_ORDER)],
    ),
];

/// Colours that can be told apart in grey and on both papers, and dashes that can without.
const COLOURS: [&str; 4] = ["hsl(210 75% 45%)", "hsl(30 85% 50%)", "hsl(150 60% 35%)", "hsl(330 60% 45%)"];
const DASHES: [&str; 4] = ["none", "7 4", "2 3", "10 3 2 3"];

/// The page.
pub fn stream_page(trace: &StreamTrace) -> String {
    let report = StreamReport::new(trace);
    let analysis = &report.analysis;
    let shown = html! {
        h1 { "Where a stream waits" }
        p.meta { (trace.target) @for said in what(trace) { " \u{b7} " (said) } }
        dl { @for (name, told) in lines(analysis) { dt { (name) } dd { (told) } } }
        h2 { "Over time, one traced block after the other" }
        div.scroll tabindex="0" role="region" aria-label="Time line" { (time_line(&analysis.lines)) }
        h2 { "Both hosts" }
        div.scroll tabindex="0" role="region" aria-label="Figures of both hosts" {
            table {
                thead { tr {
                    @for (at, head) in heads(&analysis.ends).iter().enumerate() { th.left[at == 0] scope="col" { (head) } }
                    th.left scope="col" { "what it is" }
                } }
                tbody {
                    @for row in rows(&analysis.ends) {
                        tr {
                            th scope="row" { (row[0]) }
                            @for cell in &row[1..] { td { (cell) } }
                            td.left { (about(&row[0])) }
                        }
                    }
                }
            }
        }
    };
    plain_page(&format!("where a stream waits, {}", trace.target), &shown, &report.notes)
}

fn about(name: &str) -> &'static str {
    STREAM_FIGURES.iter().find(|figure| figure.name == name).map_or("", |figure| figure.about)
}

fn bytes(bytes: f64) -> String {
    size(bytes.round() as u64)
}

fn segments(count: f64) -> String {
    significant(count, 2)
}

/// The panels that have something to show, beneath each other on one axis.
fn time_line(all: &StreamLines) -> Markup {
    let of = |(sends, metric): &(bool, &'static SampledMetric)| {
        let is_it = |line: &&StreamLine| {
            line.sends == *sends && line.metric == metric.name && !line.values.is_empty()
        };
        all.lines.iter().find(is_it)
    };
    let panels = PANELS
        .iter()
        .map(|(title, print, lines)| (*title, *print, lines.iter().filter_map(of).collect::<Vec<_>>()));
    let panels: Vec<_> = panels.filter(|(.., lines)| !lines.is_empty()).collect();
    if panels.is_empty() {
        return html! { p { "No sample is on record: a block took less time than lies between two samples." } };
    }
    let height = panels.len() as f64 * HEIGHT + TIMES;
    let x = |ns: u64| LEFT + (WIDTH - LEFT) * ns as f64 / all.end_ns.max(1) as f64;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
            aria-label="Rate, CPU, windows and queues of both hosts over the time of the traced blocks" {
            @for block in &all.blocks_ns {
                line x1=(x(*block)) x2=(x(*block)) y1="0" y2=(height - TIMES) stroke="var(--line)" {}
            }
            @for (at, (title, print, lines)) in panels.iter().enumerate() {
                g transform=(format!("translate(0 {})", at as f64 * HEIGHT)) { (panel(title, *print, lines, &x)) }
            }
            @for part in 0..=4_u64 {
                @let ns = all.end_ns / 4 * part;
                text x=(x(ns)) y=(height - 6.0) text-anchor=(if part == 4 { "end" } else { "start" }) { (Nanoseconds(ns as f64).rounded(2)) }
            }
        }
    }
}

fn panel(title: &str, print: fn(f64) -> String, lines: &[&StreamLine], x: &dyn Fn(u64) -> f64) -> Markup {
    let top = lines.iter().flat_map(|line| &line.values).copied().fold(0.0, f64::max);
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - if top > 0.0 { value / top } else { 0.0 });
    html! {
        text x=(LEFT) y="16" {
            (title) ": "
            @for (line, (colour, dash)) in lines.iter().zip(COLOURS.iter().zip(DASHES)) {
                tspan fill=(colour) { (mark(dash)) " " (line.host) " " (line.metric) "  " }
            }
        }
        @for value in [0.0, top] {
            line x1=(LEFT) x2=(WIDTH) y1=(y(value)) y2=(y(value)) stroke="var(--line)" {}
            @if value > 0.0 || top == 0.0 { text x=(LEFT - 6.0) y=(y(value) + 4.0) text-anchor="end" { (print(value)) } }
        }
        @for (line, (colour, dash)) in lines.iter().zip(COLOURS.iter().zip(DASHES)) {
            path d=(path(line, x, &y)) fill="none" stroke=(colour) stroke-width="1.5" stroke-dasharray=(dash) {}
        }
    }
}

/// A line is named by the look of it, too.
fn mark(dash: &str) -> &'static str {
    const MARKS: [&str; 4] = ["\u{2014}", "- -", "\u{b7}\u{b7}\u{b7}", "-\u{b7}-"];
    DASHES.iter().position(|one| *one == dash).map_or("", |at| MARKS[at])
}

fn path(line: &StreamLine, x: &dyn Fn(u64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    for (at, value) in line.at_ns.iter().zip(&line.values) {
        let begin = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{begin}{:.1} {:.1}", x(*at), y(*value));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HostId;

    #[test]
    fn a_page_of_nothing_says_so_and_names_are_no_markup() {
        let page = stream_page(&StreamTrace { target: "<script>".into(), ..StreamTrace::default() });
        assert!(page.contains("No sample is on record") && !page.contains("<script"), "{page}");
    }

    #[test]
    fn all_lines_are_on_one_axis() {
        let line = |sends: bool, metric: &SampledMetric, top: f64| StreamLine {
            host: HostId(u16::from(!sends)),
            sends,
            metric: metric.name.into(),
            at_ns: vec![0, 500, 1000],
            values: vec![0.0, top, top / 2.0],
        };
        let lines = vec![
            line(false, &sampled::TCP_RECEIVED_BPS, 2e9),
            line(true, &sampled::THREAD_BUSY, 0.5),
            line(true, &sampled::TCP_PACING_RATE, 1.0),
        ];
        let picture = time_line(&StreamLines { blocks_ns: vec![0, 500], end_ns: 1000, lines }).into_string();
        // Two panels, and what no panel shows is not there.
        assert_eq!((picture.matches("<path").count(), picture.matches("<g ").count()), (2, 2), "{picture}");
        assert_eq!(picture.matches("M90.0 122.0L545.0 24.0L1000.0 73.0").count(), 2, "{picture}");
        assert!(
            picture.contains("2.0 Gb/s") && picture.contains("50 %") && picture.contains("1.0 \u{b5}s"),
            "{picture}"
        );
    }
}
