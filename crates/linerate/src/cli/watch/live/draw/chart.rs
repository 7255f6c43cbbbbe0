//! The throughputs of the last trials on a logarithmic axis: a sign of life, not a result.

use super::super::scene::{Rate, Scene};
use super::{DIM, RATE, section};
use crate::unit::BitRate;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Chart, Dataset};

/// Draws the points, the newest at the right.
pub fn draw(scene: &Scene, frame: &mut Frame, area: Rect) {
    let title = " rate of the last trials, at their sizes: • streams, + ping-pong ";
    let points = |ping_pong: bool| -> Vec<(f64, f64)> {
        let of_kind = |(_, rate): &(usize, &Rate)| rate.ping_pong == ping_pong;
        let recent = scene.recent.iter().enumerate().filter(of_kind);
        recent.map(|(index, rate)| (index as f64, rate.bps.log10())).collect()
    };
    let (streams, ping_pongs) = (points(false), points(true));
    let decades = || streams.iter().chain(&ping_pongs).map(|(_, decade)| *decade);
    let least = decades().fold(f64::INFINITY, f64::min).floor();
    let most = decades().fold(f64::NEG_INFINITY, f64::max).ceil();
    if !(least.is_finite() && most.is_finite()) {
        return frame.render_widget(section(title), area);
    }
    let most = most.max(least + 1.0);
    let dataset = |data, marker, style| Dataset::default().data(data).marker(marker).style(style);
    let sets = vec![
        dataset(&streams, Marker::Dot, RATE),
        dataset(&ping_pongs, Marker::Custom('+'), Style::new().fg(Color::Magenta)),
    ];
    let label = |decade: f64| BitRate(10f64.powf(decade)).rounded(1);
    // Labels stand at equal distances: one in the middle is said where it is a whole decade.
    let middle = Some((least + most) / 2.0).filter(|decade| decade.fract() == 0.0);
    let labels: Vec<String> = [Some(least), middle, Some(most)].into_iter().flatten().map(label).collect();
    let last = scene.recent.len().max(2) as f64 - 1.0;
    let chart = Chart::new(sets)
        .block(section(title))
        .x_axis(Axis::default().bounds([0.0, last]).style(DIM))
        .y_axis(Axis::default().bounds([least, most]).labels(labels).style(DIM));
    frame.render_widget(chart, area);
}
