//! What a layer's own numbers show.

use super::{Context, Finding, percent};
use crate::analysis::{Layer, ShownNumber};
use crate::diagnosis::bound::Bound;
use crate::diagnosis::planted::faults;
use crate::record::NotMeasured;
use crate::record::StepRecord;
use crate::statistic::{CONFIDENCE, Estimate, interval_ranks};
use crate::unit::{BitRate, Bytes, counted, significant};
use crate::vocabulary::{Pattern, ReasonKind, Wait};
use serde_json::json;

/// Below this share of segments sent again a link of a host or a room is as good as without loss.
const LOSSY: f64 = 1e-5;
/// A rate may beat a bound by this share before the bound is called broken.
const TOLERANCE: f64 = 0.02;

pub(super) fn findings(
    context: &Context,
    index: usize,
    steps: &[&StepRecord],
    bounds: &[Bound],
) -> Vec<Finding> {
    let layer = &context.layers[index];
    let found = [
        few_passes(layer),
        interval_wide(context, layer).or_else(|| figures_wide(context, layer)),
        retransmits(layer, steps),
        above_bound(layer, bounds),
        shim(context, layer),
        polling_refused(layer),
    ];
    let of_layer = |(code, detail, evidence)| Finding::new(code, Some(index), detail, evidence);
    found.into_iter().flatten().map(of_layer).collect()
}

type Found = (&'static str, String, serde_json::Value);

/// A layer's estimates with their names and whether they are latencies.
fn estimates(layer: &Layer) -> impl Iterator<Item = (&'static str, bool, Estimate)> {
    let all = [
        ("throughput", false, layer.throughput_bps),
        ("polling half round trip", true, layer.polling_ns),
        ("sleeping half round trip", true, layer.sleeping_ns),
    ];
    all.into_iter().filter_map(|(name, latency, estimate)| Some((name, latency, estimate?)))
}

fn few_passes(layer: &Layer) -> Option<Found> {
    let passes = estimates(layer).map(|(_, _, estimate)| estimate.n).min()?;
    let is_few = interval_ranks(passes as usize, CONFIDENCE).is_none();
    let noun = if passes == 1 { "pass" } else { "passes" };
    is_few.then(|| ("few-passes", format!("{passes} {noun}"), json!({ "passes": passes })))
}

fn interval_wide(context: &Context, layer: &Layer) -> Option<Found> {
    let profile = &context.recording.plan()?.profile;
    let wide: Vec<(&str, f64, f64)> = estimates(layer)
        .filter_map(|(name, is_latency, estimate)| {
            let target = profile.target(is_latency);
            let width = estimate.relative_half_width()?;
            (width > target).then_some((name, width, target))
        })
        .collect();
    let said = wide.iter().map(|(name, width, target)| {
        format!("{name} ±{}, aimed at {} %", percent(*width), significant(100.0 * target, 1))
    });
    let evidence = wide
        .iter()
        .map(|(name, width, target)| json!({ "of": name, "relative_half_width": width, "target": target }));
    let (said, evidence): (Vec<String>, Vec<_>) = (said.collect(), evidence.collect());
    (!wide.is_empty()).then(|| ("interval-wide", said.join("; "), json!(evidence)))
}

/// The same of the numbers that figures show of a suite's case: the widest in words.
fn figures_wide(context: &Context, layer: &Layer) -> Option<Found> {
    let profile = &context.recording.plan()?.profile;
    let all = || context.numbers.iter().filter(|number| layer.owns(&number.case));
    let mut wide: Vec<(&ShownNumber, f64, f64)> = all()
        .filter_map(|number| number.width(profile).map(|(width, target)| (number, width, target)))
        .filter(|(_, width, target)| width > target)
        .collect();
    wide.sort_by(|a, b| (b.1 / b.2).total_cmp(&(a.1 / a.2)));
    let (worst, width, target) = wide.first()?;
    let said = format!(
        "{} of {}, at worst {} at {} ±{}, aimed at {} %",
        wide.len(),
        counted(all().count(), "number"),
        worst.name,
        Bytes(worst.message_bytes),
        percent(*width),
        significant(100.0 * target, 1)
    );
    let evidence = wide.iter().map(|(number, width, target)| {
        json!({
            "of": number.name,
            "message_bytes": number.message_bytes,
            "relative_half_width": width,
            "target": target,
        })
    });
    Some(("interval-wide", said, json!(evidence.collect::<Vec<_>>())))
}

/// Segments sent again; the few that no rate would show are left to the other forms.
fn retransmits(layer: &Layer, steps: &[&StepRecord]) -> Option<Found> {
    let again = layer.retransmits.filter(|again| *again > 0)?;
    let streams = steps.iter().filter(|step| step.case.pattern != Pattern::PingPong);
    let segments = streams.flat_map(|step| &step.sockets).filter_map(|s| s.moved.get("data_segs_out"));
    let segments = segments.fold(0u64, |sum, count| sum.saturating_add(*count));
    if (again as f64) < LOSSY * segments as f64 {
        return None;
    }
    let detail = match segments {
        0 => counted(again, "segment"),
        _ => format!("{again} of {segments} segments ({})", percent(again as f64 / segments as f64)),
    };
    Some(("retransmits", detail, json!({ "retransmitted": again, "segments": segments })))
}

/// Only a ceiling is a bound that nothing can beat: the others move with what is measured.
fn above_bound(layer: &Layer, bounds: &[Bound]) -> Option<Found> {
    let estimate = layer.throughput_bps?;
    let least = estimate.low.unwrap_or(estimate.median);
    let is_above = |bound: &&Bound| bound.ceiling_bps.is_some_and(|most| least > most * (1.0 + TOLERANCE));
    let broken = bounds.iter().find(is_above)?;
    let detail = format!("{} although {}", BitRate(estimate.median), broken.evidence);
    let evidence =
        json!({ "throughput_bps": estimate.median, "bound": broken.name, "bound_bps": broken.bps });
    Some(("above-bound", detail, evidence))
}

fn shim(context: &Context, layer: &Layer) -> Option<Found> {
    let faults = faults(context.recording.plan(), &layer.rung);
    (!faults.is_empty()).then(|| ("shim", faults.clone(), json!({ "settings": faults })))
}

/// Polling was left out where sleeping was not: then the reason is polling's own.
fn polling_refused(layer: &Layer) -> Option<Found> {
    let left_out = |wait| move |not: &&NotMeasured| not.wait == Some(wait);
    let all = || layer.not_measured.iter().chain(&layer.unavailable);
    // What failed on the way was not refused.
    let is_refused =
        |not: &&NotMeasured| left_out(Wait::Polling)(not) && not.reason.kind != ReasonKind::Failed;
    let refused = all().find(is_refused)?;
    let sleeping_too = all().filter(left_out(Wait::Sleeping)).any(|not| not.pattern == refused.pattern);
    (!sleeping_too)
        .then(|| ("polling-refused", refused.reason.why.clone(), json!({ "why": refused.reason.why })))
}
