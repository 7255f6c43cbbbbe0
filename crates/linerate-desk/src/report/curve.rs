//! A curve and its breaks: for the JSON form, and as lines of text.

use super::note::Note;
use super::shape::*;
use crate::analysis::{Break, Curve, Point};
use crate::plan::Profile;
use crate::unit::{Bytes, Nanoseconds};
use crate::vocabulary::{BREAKS, Pattern, Rung, Weight};
use std::cmp::Ordering;

/// A step below this share of the time is left to the JSON form, unless pairs confirmed it.
const LEAST_SHARE: f64 = 0.05;

/// The entry of a curve.
pub(super) fn curve(curve: &Curve, profile: Option<&Profile>) -> CurveEntry {
    let points = curve.points.iter().map(|point| PointEntry {
        message_bytes: point.message_bytes,
        cache: point.cache,
        half_round_trip_ns: point.estimate(|values| values.half_round_trip_ns),
        throughput_bps: point.estimate(|values| values.throughput_bps),
        met: profile.and_then(|profile| met(curve, point, profile)),
        abnormal: point.abnormal(),
        modes: modes(point),
    });
    let segments = curve.segments.iter().map(|segment| SegmentEntry {
        from_bytes: segment.from_bytes,
        to_bytes: segment.to_bytes,
        alpha_ns: segment.line.constant,
        ns_per_byte: segment.line.slope,
        relative_residual: segment.relative_residual,
        n: segment.n,
    });
    CurveEntry {
        id: curve.case.rung.clone(),
        pattern: curve.case.pattern,
        wait: curve.case.wait,
        flows: curve.case.flows,
        from: curve.case.pairs.senders(),
        to: curve.case.pairs.receivers(),
        points: points.collect(),
        segments: segments.collect(),
        breaks: curve.breaks.iter().map(entry).collect(),
        summary: curve.summary,
        forms: curve.forms.clone(),
        slower: curve.slower.clone(),
        splits: curve.splits.clone(),
        unaligned: curve.unaligned.clone(),
        anomalies: curve.anomalies.clone(),
    }
}

/// The entry of a break.
pub(super) fn entry(found: &Break) -> BreakEntry {
    let class = BREAKS.iter().find(|class| class.name == found.class);
    BreakEntry {
        at_bytes: found.at_bytes,
        from_bytes: found.from_bytes,
        jump_ns: found.jump_ns,
        share: found.share,
        ns_per_byte_before: found.slope_before,
        ns_per_byte_after: found.slope_after,
        class: found.class.into(),
        evidence: found.evidence.clone(),
        hint: class.map_or(String::new(), |class| class.hint.into()),
        sure: found.is_sure(),
        confirmed: found.confirmed,
        best_threshold_bytes: found.best_threshold,
    }
}

/// The breaks that are beyond doubt and large enough to matter, confirmed ones first, then the larger
/// ones.
pub(super) fn notes(report: &Report) -> Vec<Note> {
    let of_curve = |curve| move |found| (curve, found);
    let mut found: Vec<(&CurveEntry, &BreakEntry)> = report
        .curves
        .iter()
        .flat_map(|curve| curve.breaks.iter().map(of_curve(curve)))
        .filter(|(curve, found)| found.sure && (found.confirmed.is_some() || is_clear(curve, found)))
        .collect();
    found.sort_by(|(_, a), (_, b)| order(a, b));
    let note =
        |(curve, found)| Note::new("break", format!("{}.", break_sentence(curve, found)), Weight::Seen);
    found.into_iter().map(note).chain(of_suites(report)).collect()
}

/// Confirmed ones first, then the larger ones.
fn order(a: &BreakEntry, b: &BreakEntry) -> Ordering {
    let sooner = b.confirmed.is_some().cmp(&a.confirmed.is_some());
    sooner.then(share(b).total_cmp(&share(a)))
}

/// The same of the figures of suites: what pairs confirmed, each once though several figures show it.
pub(super) fn of_suites(report: &Report) -> Vec<Note> {
    let figures = report.suites.iter().flat_map(|suite| &suite.figures);
    let series = figures.flat_map(|figure| figure.series.iter().map(move |series| (figure, series)));
    let mut found: Vec<(String, &BreakEntry)> = Vec::new();
    for (figure, series) in series {
        let label = if series.label.is_empty() { &figure.title } else { &series.label };
        let largest = series.points.iter().filter_map(|point| point.x).fold(0.0, f64::max);
        for one in series.breaks.iter().filter(|one| one.sure && one.confirmed.is_some()) {
            if !found.iter().any(|(_, known)| *known == one) {
                found.push((format!("{label} ({}): {}", figure.id, change(one, largest)), one));
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| order(a, b));
    found.into_iter().map(|(text, _)| Note::new("break", format!("{text}."), Weight::Seen)).collect()
}

/// Whether a break is worth a word though no pairs confirmed it. A stream's time a message also moves with
/// how often its ends wake each other, so its steps are left to the other forms.
fn is_clear(curve: &CurveEntry, found: &BreakEntry) -> bool {
    let is_step_up = found.jump_ns.is_some_and(|jump| jump.median > 0.0);
    let is_latency = curve.pattern == Pattern::PingPong;
    share(found) >= LEAST_SHARE && is_step_up && is_latency
}

fn share(found: &BreakEntry) -> f64 {
    found.share.map_or(0.0, f64::abs)
}

/// A size that was computed: to whole units of which there are a few.
fn rounded(bytes: f64) -> Bytes {
    let unit = [1u64 << 20, 1 << 10, 1].into_iter().find(|unit| bytes >= 8.0 * *unit as f64).unwrap_or(1);
    Bytes((bytes / unit as f64).round() as u64 * unit)
}

/// Whether a rung has an end that waits for another one.
fn waits(id: &str) -> bool {
    Rung::named(id).is_some_and(|rung| rung.transport.ends > 1)
}

/// `network.tcp sleeping ping-pong a>b: +3.00 ms from 128 KiB on (protocol-switch; confirmed, 10 of 10
/// pairs)`.
pub(super) fn break_sentence(curve: &CurveEntry, found: &BreakEntry) -> String {
    let flows = if curve.flows > 1 { format!(" x {}", curve.flows) } else { String::new() };
    let place =
        if curve.from == curve.to { curve.from.to_string() } else { format!("{}>{}", curve.from, curve.to) };
    let largest = curve.points.last().map_or(0.0, |point| point.message_bytes as f64);
    let wait = if waits(&curve.id) { format!(" {}", curve.wait) } else { String::new() };
    format!("{}{flows}{wait} {} {place}: {}", curve.id, curve.pattern, change(found, largest))
}

/// `+3.00 ms from 128 KiB on (protocol-switch; confirmed, 10 of 10 pairs)`, of a curve whose largest size is this.
fn change(found: &BreakEntry, largest: f64) -> String {
    let change = match found.jump_ns {
        Some(jump) => {
            format!("{}{}", if jump.median < 0.0 { "-" } else { "+" }, Nanoseconds(jump.median.abs()))
        }
        // The lines meet: only what a byte takes changes.
        None => format!(
            "{} instead of {} a byte",
            Nanoseconds(found.ns_per_byte_after).rounded(2),
            Nanoseconds(found.ns_per_byte_before).rounded(2)
        ),
    };
    // Far beyond the measured sizes two lines meet by chance.
    let pays = found.best_threshold_bytes.filter(|bytes| *bytes <= 2.0 * largest);
    let pays = pays.map(|bytes| format!("; would pay from {} on", rounded(bytes)));
    let confirmed = match &found.confirmed {
        Some(confirmed) => format!("; confirmed, {} of {} pairs", confirmed.agree, confirmed.pairs),
        None => String::new(),
    };
    format!(
        "{change} from {} on ({}{confirmed}{})",
        Bytes(found.at_bytes),
        found.class,
        pays.unwrap_or_default(),
    )
}

/// Whether a point's interval is as narrow as the profile aims at.
fn met(curve: &Curve, point: &Point, profile: &Profile) -> Option<bool> {
    let is_latency = curve.case.pattern == Pattern::PingPong;
    let estimate = match is_latency {
        true => point.estimate(|values| values.half_round_trip_ns)?,
        false => point.estimate(|values| values.throughput_bps)?,
    };
    Some(estimate.relative_half_width()? <= profile.target(is_latency))
}

/// None where there is one level only.
fn modes(point: &Point) -> Vec<ModeEntry> {
    let modes = point.modes();
    let entry = |mode: &crate::statistic::Mode| ModeEntry { message_ns: mode.centre, share: mode.share };
    if modes.len() < 2 { Vec::new() } else { modes.iter().map(entry).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::{Bend, Synthetic};
    use crate::statistic::Estimate;

    #[test]
    fn confirmed_steps_first_and_no_doubtful_ones() {
        let bend =
            |rung, step_ns| Bend { rung, pattern: Pattern::PingPong, at_bytes: 4096, step_ns, slope_ns: 0.0 };
        let bends = vec![bend("network.tcp", 60_000.0), bend("in-host.tcp", 400_000.0)];
        let mut report =
            Report::from_recording(&Synthetic { bends, passes: 7, ..Synthetic::default() }.recording());
        let told: Vec<String> = notes(&report).into_iter().map(|note| note.text).collect();
        assert!(told.len() == 6 && told[0].starts_with("in-host.tcp polling"), "{told:#?}");

        let network = report.curves.iter_mut().filter(|curve| curve.id == "network.tcp");
        let mut breaks: Vec<&mut BreakEntry> = network.flat_map(|curve| &mut curve.breaks).collect();
        let difference_ns = Estimate { median: 6e4, low: Some(5e4), high: Some(7e4), n: 10 };
        breaks[0].confirmed =
            Some(crate::analysis::Confirmation { pairs: 10, agree: 9, difference_ns, holds: true });
        breaks[1].sure = false;
        breaks[2].share = Some(0.01);
        let told: Vec<String> = notes(&report).into_iter().map(|note| note.text).collect();
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(
            told[0].starts_with("network.tcp") && told[0].contains("; confirmed, 9 of 10 pairs"),
            "{told:#?}"
        );
    }

    #[test]
    fn computed_sizes_are_rounded_to_their_unit() {
        let cases = [(30_464_872.0, "29 MiB"), (246_913.0, "241 KiB"), (1448.3, "1448 B"), (0.4, "0 B")];
        for (bytes, shown) in cases {
            assert_eq!(rounded(bytes).to_string(), shown);
        }
    }
}
