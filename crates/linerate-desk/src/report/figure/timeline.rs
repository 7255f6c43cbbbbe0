//! The long streams against time: their rate, and what was sampled meanwhile on both hosts.

use super::super::note::sentence;
use super::{Axis, Figure, INTERVAL, Kind, Mark, Point, Scale, Series, Sheet, Unit, style};
use crate::analysis::{Sampled, Timeline};
use crate::statistic::Estimate;
use crate::unit::BitRate;
use crate::vocabulary::metric::sampled::{self, SampledMetric};

/// One quantity of the samples, over time.
struct Panel {
    id: &'static str,
    title: &'static str,
    metric: &'static SampledMetric,
    unit: Unit,
    /// What a sample is multiplied by.
    factor: f64,
    /// Whether only the sending end's connection has it to show.
    sender_only: bool,
    /// Samples are averaged over at least so many seconds.
    window_s: f64,
    /// What to know of it.
    remark: &'static str,
}

const PANELS: &[Panel] = &[
    Panel {
        id: "timeline-cpu",
        title: "CPUs of both hosts during the long streams",
        metric: &sampled::CPU_BUSY,
        unit: Unit::Share,
        factor: 1.0,
        sender_only: false,
        // The kernel counts in ticks of 10 ms: over a tenth of a second that would be 10 % off.
        window_s: 0.5,
        remark: "Means over half a second, which the kernel's ticks of 10 ms make good to 2 %.",
    },
    Panel {
        id: "timeline-window",
        title: "Congestion window during the long streams",
        metric: &sampled::TCP_CONGESTION_WINDOW,
        unit: Unit::Count,
        factor: 1.0,
        sender_only: true,
        window_s: 0.0,
        remark: "",
    },
    Panel {
        id: "timeline-round-trip",
        title: "Round trip as TCP sees it during the long streams",
        metric: &sampled::TCP_ROUND_TRIP_US,
        unit: Unit::Nanoseconds,
        factor: 1e3,
        sender_only: true,
        window_s: 0.0,
        remark: "",
    },
    Panel {
        id: "timeline-retransmits",
        title: "Segments sent again during the long streams",
        metric: &sampled::TCP_RETRANSMITS,
        unit: Unit::Count,
        factor: 1.0,
        sender_only: true,
        window_s: 0.0,
        remark: "",
    },
];

/// The rate, then a figure for each panel.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let panels = PANELS.iter().map(|panel| sampled(sheets, panel));
    std::iter::once(rate(sheets)).chain(panels).collect()
}

fn figure(id: &str, title: &str, caption: String, y: Axis) -> Figure {
    Figure {
        id: id.into(),
        title: title.into(),
        caption,
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new("since the stream began", Unit::Seconds, Scale::Linear),
        y,
        series: Vec::new(),
        panels: Vec::new(),
        marks: Vec::new(),
    }
}

fn rate(sheets: &[Sheet]) -> Figure {
    let caption = "The receiver's bytes of each slice over its time. A mark is where the stream had warmed up: \
                   from there on the rest is steadiest (MSER-5).";
    let y = Axis::new("throughput", Unit::BitsPerSecond, Scale::Linear);
    let mut figure = figure("timeline", "The long streams against time", caption.into(), y);
    for sheet in sheets {
        for timeline in &sheet.analysis.timelines {
            let name = sheet.named(&name(timeline));
            let slices = timeline.at_s.iter().zip(&timeline.throughput_bps);
            let values: Vec<(f64, f64)> = slices.filter_map(|(at, bps)| Some((*at, (*bps)?))).collect();
            let series = joined(name.clone(), figure.series.len(), &values);
            if let (true, Some(steady)) = (timeline.steady_from_s > 0.0, timeline.steady_bps) {
                figure.marks.push(Mark {
                    series: Some(name.clone()),
                    x: timeline.steady_from_s,
                    y: Some(steady),
                    label: "steady".into(),
                    text: format!("{name}: steady from here on, at {}", BitRate(steady)),
                });
            }
            figure.series.push(series);
        }
    }
    figure
}

fn sampled(sheets: &[Sheet], panel: &Panel) -> Figure {
    let caption = sentence(&format!("{}. {}", panel.metric.about, panel.remark));
    let y = Axis::new(axis_name(panel), panel.unit, Scale::Linear);
    let mut figure = figure(panel.id, panel.title, caption, y);
    for sheet in sheets {
        for timeline in &sheet.analysis.timelines {
            for sampled in timeline.sampled.iter().filter(|sampled| belongs(panel, timeline, sampled)) {
                for (metric, values) in
                    sampled.values.iter().filter(|(metric, _)| panel.metric.which(metric).is_some())
                {
                    let name = sheet.named(&sample_name(panel, timeline, sampled, metric));
                    let values =
                        sampled.at_s.iter().copied().zip(values.iter().map(|value| value * panel.factor));
                    let values = averaged(values, panel.window_s);
                    if values.iter().any(|(_, value)| *value != 0.0) {
                        figure.series.push(joined(name, figure.series.len(), &values));
                    }
                }
            }
        }
    }
    figure
}

fn belongs(panel: &Panel, timeline: &Timeline, sampled: &Sampled) -> bool {
    let of_connection = sampled.flow.is_some();
    if panel.sender_only {
        of_connection && sampled.host == timeline.case.pairs.first().from
    } else {
        !of_connection
    }
}

fn axis_name(panel: &Panel) -> &'static str {
    match panel.unit {
        Unit::Share => "busy",
        Unit::Nanoseconds => "smoothed round trip",
        _ => "segments",
    }
}

/// `network.tcp stream a>b`.
fn name(timeline: &Timeline) -> String {
    let case = &timeline.case;
    let flows = if case.flows > 1 { format!(" x {}", case.flows) } else { String::new() };
    format!("{}{flows} {} {}", case.rung, case.pattern, case.pairs)
}

/// `network.tcp stream a>b: a, CPU 0`.
fn sample_name(panel: &Panel, timeline: &Timeline, sampled: &Sampled, metric: &str) -> String {
    let part = panel.metric.which(metric).unwrap_or_default();
    let part = if part.is_empty() { String::new() } else { format!(", CPU {part}") };
    let flow = sampled
        .flow
        .filter(|_| timeline.case.flows > 1)
        .map_or(String::new(), |flow| format!(", flow {flow}"));
    format!("{}: {}{flow}{part}", name(timeline), sampled.host)
}

/// Means over windows of at least this length, each at its end; the samples themselves without one. A sample
/// stands for the time since the one before it, so the first of them only says where the time begins.
fn averaged(mut samples: impl Iterator<Item = (f64, f64)>, window_s: f64) -> Vec<(f64, f64)> {
    if window_s == 0.0 {
        return samples.collect();
    }
    let Some((mut begun, _)) = samples.next() else { return Vec::new() };
    let (mut found, mut last, mut sum) = (Vec::new(), begun, 0.0);
    for (at, value) in samples {
        sum += value * (at - last);
        last = at;
        if at - begun >= window_s && at > begun {
            found.push((at, sum / (at - begun)));
            (begun, sum) = (at, 0.0);
        }
    }
    found
}

fn joined(name: String, nth: usize, values: &[(f64, f64)]) -> Series {
    let single = |value: f64| Estimate { median: value, low: None, high: None, n: 1 };
    Series {
        points: values.iter().map(|(at, value)| Point::new(*at, single(*value))).collect(),
        lines: vec![values.iter().map(|(at, value)| [*at, *value]).collect()],
        ..style::nth(name, nth)
    }
}

#[cfg(test)]
mod tests {
    use super::averaged;

    #[test]
    fn a_window_holds_what_its_samples_hold() {
        let samples = [(-0.1, 9.0), (0.1, 1.0), (0.2, 0.8), (0.5, 1.2), (0.6, 0.0), (1.1, 1.0)];
        let found = averaged(samples.into_iter(), 0.5);
        assert_eq!(found.len(), 2);
        assert!((found[0].1 - (0.2 + 0.08 + 0.36) / 0.6).abs() < 1e-12, "{found:?}");
        assert!((found[1].1 - 0.5 / 0.6).abs() < 1e-12, "{found:?}");
        assert_eq!(averaged(samples.into_iter(), 0.0), samples);
    }
}
