//! The ladder so far, as far as it fits: the line that is measured is always among those shown.

use super::super::row::{Row, SoFar};
use super::super::scene::Scene;
use super::{BOLD, DIM, RATE, section};
use crate::statistic::Estimate;
use crate::unit::{BitRate, Bytes, Nanoseconds, percent, supported_digits};
use crate::vocabulary::{LADDER_BYTES, LATENCY_BYTES};
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row as Cells, Table};
use std::ops::RangeFrom;

/// The heights of a sparkline.
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A column of figures.
struct Column {
    head: &'static str,
    width: u16,
    /// How wide the page is.
    page: RangeFrom<u16>,
    style: Style,
    cell: fn(&Row) -> String,
}

const PLAIN: Style = Style::new();

const COLUMNS: &[Column] = &[
    Column { head: "throughput", width: 10, page: 0.., style: PLAIN, cell: |row| rate(&row.throughput_bps) },
    Column { head: "±", width: 7, page: 100.., style: DIM, cell: |row| interval(&row.throughput_bps) },
    Column { head: "recent", width: 12, page: 70.., style: RATE, cell: sparkline },
    Column { head: "polling", width: 8, page: 60.., style: PLAIN, cell: |row| time(&row.polling_ns) },
    Column { head: "sleeping", width: 8, page: 60.., style: PLAIN, cell: |row| time(&row.sleeping_ns) },
    Column { head: "n", width: 3, page: 0.., style: DIM, cell: |row| row.passes().to_string() },
];

/// Draws as many lines as there is room for.
pub fn draw(scene: &Scene, frame: &mut Frame, area: Rect) {
    let columns = || COLUMNS.iter().filter(|column| column.page.contains(&area.width));
    let room = usize::from(area.height.saturating_sub(2));
    let current = scene.current();
    let (first, last) = window(scene.rows.len(), current, room);
    let hidden = scene.rows.len() - (last - first);
    let lines = scene.rows.iter().enumerate().take(last).skip(first).map(|(index, row)| {
        let is_current = current == Some(index);
        let name = format!("{} {}", if is_current { "▸" } else { " " }, row.name);
        let figures = columns().map(|column| {
            Cell::from(Line::from(Span::styled((column.cell)(row), column.style)).right_aligned())
        });
        let style = if is_current { BOLD } else { PLAIN };
        Cells::new([Cell::from(name)].into_iter().chain(figures)).style(style)
    });
    let heads = columns().map(|column| Cell::from(Line::from(column.head).right_aligned()));
    let head = Cells::new([Cell::from("  rung")].into_iter().chain(heads)).style(DIM);
    let widths = [Constraint::Fill(1)].into_iter().chain(columns().map(|c| Constraint::Length(c.width)));
    let title = title(hidden, area.width);
    let table = Table::new(lines, widths).header(head).column_spacing(1).block(section(&title));
    frame.render_widget(table, area);
}

fn title(hidden: usize, width: u16) -> String {
    let more = if hidden > 0 { format!("; {hidden} more") } else { String::new() };
    if width < 70 {
        return format!(" so far{more} ");
    }
    let (ladder, latency) = (Bytes(LADDER_BYTES), Bytes(LATENCY_BYTES));
    format!(" medians so far: throughput at {ladder}, half round trip at {latency}{more} ")
}

/// The lines to show: the current one in the middle where there are too many.
fn window(lines: usize, current: Option<usize>, room: usize) -> (usize, usize) {
    let first = current.unwrap_or(0).saturating_sub(room / 2).min(lines.saturating_sub(room));
    (first, lines.min(first + room))
}

/// A figure with the digits that its interval supports.
fn rounded(figure: &SoFar, say: impl Fn(f64, i32) -> String) -> String {
    let said = |it: Estimate| say(it.median, supported_digits(it.median, it.half_width()));
    figure.estimate().map_or("-".into(), said)
}

fn rate(figure: &SoFar) -> String {
    rounded(figure, |bps, digits| BitRate(bps).rounded(digits))
}

fn time(figure: &SoFar) -> String {
    rounded(figure, |ns, digits| Nanoseconds(ns).rounded(digits))
}

fn interval(figure: &SoFar) -> String {
    let share = figure.estimate().and_then(|estimate| estimate.relative_half_width());
    share.map_or(String::new(), |share| format!("±{}", percent(share)))
}

fn sparkline(row: &Row) -> String {
    let most = row.recent.iter().copied().fold(0.0, f64::max);
    let spark = |bps: &f64| SPARKS[((bps / most * 8.0).ceil() as usize).clamp(1, 8) - 1];
    row.recent.iter().map(spark).collect()
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn the_line_that_is_measured_is_always_shown() {
        for room in 1..12 {
            for current in 0..10 {
                let (first, last) = window(10, Some(current), room);
                assert!((first..last).contains(&current), "{room} {current}");
                assert_eq!(last - first, room.min(10));
            }
        }
        assert_eq!(window(0, None, 5), (0, 0));
    }
}
