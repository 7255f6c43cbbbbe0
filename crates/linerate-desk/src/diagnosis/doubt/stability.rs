//! Numbers that do not stand still: two levels, anomalies that come again, drift, likeness of passes.

use super::{Context, Finding, percent};
use crate::analysis::{Anomaly, Curve, Layer, Point};
use crate::statistic::effective_n;
use crate::unit::{BitRate, Bytes, Nanoseconds, counted, significant};
use crate::vocabulary::{Pattern, Wait};
use serde_json::{Value, json};

/// From this likeness on passes are no longer independent observations.
const ALIKE: f64 = 0.2;

/// Numbers of several levels that are named; a case of a suite may have many.
const MOST_SAID: usize = 3;

/// Of one layer.
pub(super) fn of_layer(context: &Context, index: usize) -> Vec<Finding> {
    let layer = &context.layers[index];
    [modes(context, layer), anomalies(context, layer)]
        .into_iter()
        .flatten()
        .map(|(code, detail, evidence)| Finding::new(code, Some(index), detail, evidence))
        .collect()
}

/// Of the whole run.
pub(super) fn of_run(context: &Context) -> Vec<Finding> {
    [drift(context), autocorrelated(context)].into_iter().flatten().collect()
}

type Found = (&'static str, String, Value);

/// The points whose numbers the ladder shows, or the figures of a suite's case.
fn shown<'c>(context: &'c Context, layer: &Layer) -> Vec<(String, &'c Curve, &'c Point)> {
    let curves = &context.curves;
    if !layer.suite.is_empty() {
        let of_curve = |curve: &'c Curve| {
            let name = |point: &Point| format!("{} at {}", curve.case.wait, Bytes(point.message_bytes));
            curve.points.iter().map(move |point| (name(point), curve, point))
        };
        return curves.iter().filter(|curve| layer.owns(&curve.case)).flat_map(of_curve).collect();
    }
    let (ladder, latency) = (context.ladder_bytes, context.latency_bytes);
    let shown = [
        ("throughput", layer.stream(curves), ladder),
        ("polling", layer.ping_pong(curves, Wait::Polling), latency),
        ("sleeping", layer.ping_pong(curves, Wait::Sleeping), latency),
    ];
    let point = |(name, curve, bytes): (&str, Option<&'c Curve>, u64)| {
        Some((name.to_owned(), curve?, curve?.at(bytes)?))
    };
    shown.into_iter().filter_map(point).collect()
}

fn modes(context: &Context, layer: &Layer) -> Option<Found> {
    let mut said = Vec::new();
    let mut evidence = Vec::new();
    for (name, curve, point) in shown(context, layer) {
        let modes = point.modes();
        if modes.len() < 2 {
            continue;
        }
        let level = |ns: f64| match curve.case.pattern {
            Pattern::PingPong => Nanoseconds(ns).rounded(2),
            _ => BitRate(8e9 * point.message_bytes as f64 / ns).rounded(2),
        };
        let shares = modes.iter().map(|mode| format!("{} in {}", level(mode.centre), percent(mode.share)));
        said.push(format!("{name} {}", shares.collect::<Vec<_>>().join(", ")));
        evidence.extend(
            modes.iter().map(|mode| json!({ "of": name, "message_ns": mode.centre, "share": mode.share })),
        );
    }
    let more = said.len().saturating_sub(MOST_SAID);
    said.truncate(MOST_SAID);
    said.extend((more > 0).then(|| format!("and {}", counted(more, "further number"))));
    (!said.is_empty()).then(|| ("modes", said.join("; "), json!(evidence)))
}

fn anomalies(context: &Context, layer: &Layer) -> Option<Found> {
    let curves = context.curves.iter().filter(|curve| layer.owns(&curve.case));
    let recurring = curves.flat_map(|curve| {
        let recurs = curve.anomalies.iter().filter(|anomaly| anomaly.recurs);
        recurs.map(move |anomaly| (curve, anomaly))
    });
    let (mut said, mut evidence) = (Vec::new(), Vec::new());
    for (curve, anomaly) in recurring {
        said.push(format!(
            "{} at {}: {}",
            curve.case.wait,
            Bytes(anomaly.message_bytes),
            deviations(anomaly)
        ));
        evidence.push(json!({
            "wait": curve.case.wait,
            "message_bytes": anomaly.message_bytes,
            "deviations": anomaly.deviations,
        }));
    }
    (!said.is_empty()).then(|| ("abnormal", said.join("; "), json!(evidence)))
}

/// `+12 %, again +11 %, +13 %`.
fn deviations(anomaly: &Anomaly) -> String {
    let sign = |share: f64| if share < 0.0 { "-" } else { "+" };
    let each: Vec<String> =
        anomaly.deviations.iter().map(|share| format!("{}{}", sign(*share), percent(share.abs()))).collect();
    match each.split_first() {
        Some((first, rest)) if !rest.is_empty() => format!("{first}, again {}", rest.join(", ")),
        _ => each.join(""),
    }
}

fn drift(context: &Context) -> Option<Finding> {
    let drifts: Vec<_> = context.drifts.iter().filter(|drift| drift.is_drift).collect();
    let said = drifts.iter().map(|drift| {
        let way = if drift.change > 0.0 { "more" } else { "less" };
        let kind = match drift.pattern {
            Pattern::PingPong => format!("{} {}", drift.wait, drift.pattern),
            _ => drift.pattern.to_string(),
        };
        format!("{kind} messages took {} {way} time at the end", percent(drift.change.abs()))
    });
    let said = said.collect::<Vec<_>>().join("; ");
    let evidence = drifts.iter().map(
        |drift| json!({ "pattern": drift.pattern, "wait": drift.wait, "change": drift.change, "p": drift.p }),
    );
    let evidence = json!(evidence.collect::<Vec<_>>());
    (!drifts.is_empty()).then(|| Finding::new("drift", None, said, evidence))
}

/// The kind whose passes are most alike.
fn autocorrelated(context: &Context) -> Option<Finding> {
    let likeness = context.drifts.iter().filter_map(|drift| Some((drift, drift.autocorrelation?)));
    let (drift, rho) = likeness.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, rho)| *rho > ALIKE)?;
    let passes = context.curves.iter().flat_map(|curve| &curve.points).map(|p| p.passes.len()).max()?;
    let passes = u32::try_from(passes).unwrap_or(u32::MAX);
    let worth = effective_n(passes, rho);
    let detail = format!(
        "{} {}: {} between one pass and the next, so {passes} passes are worth {}",
        drift.pattern,
        drift.wait,
        significant(rho, 1),
        significant(worth, 2)
    );
    let evidence = json!({ "autocorrelation": rho, "passes": passes, "effective": worth });
    Some(Finding::new("autocorrelated", None, detail, evidence))
}
