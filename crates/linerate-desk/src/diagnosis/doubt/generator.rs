//! Rates at which the sending side itself was at its limit.

use super::{Context, Finding, percent};
use crate::analysis::{Curve, Layer};
use crate::record::{Calibration, Ceiling};
use crate::unit::{Bytes, significant};
use crate::vocabulary::{Does, Pattern, Rung};
use serde_json::json;

/// A rate of this share of the generator's own may be the generator's.
const NEAR: f64 = 0.9;

/// A rate beyond this share shows that the generator was calibrated on a busier host: it says nothing.
const BEYOND: f64 = 1.1;

/// A size at which a layer came near the generator's own rate.
struct Near {
    message_bytes: u64,
    messages_per_s: f64,
    ceiling: f64,
}

impl Near {
    fn share(&self) -> f64 {
        self.messages_per_s / self.ceiling
    }
}

/// One finding for all sizes of a layer.
pub(super) fn finding(context: &Context, index: usize) -> Option<Finding> {
    let calibration = context.recording.calibration.as_ref()?;
    let layer = &context.layers[index];
    let curves = context.curves.iter().filter(|curve| layer.owns(&curve.case) && !curve.case.timeline);
    let near: Vec<Near> = curves.flat_map(|curve| near(calibration, layer, curve)).collect();
    let worst = near.iter().max_by(|a, b| a.share().total_cmp(&b.share()))?;
    let detail = format!(
        "{} of the {} messages/s that it can make at {}",
        percent(worst.share()),
        significant(worst.ceiling, 2),
        Bytes(worst.message_bytes),
    );
    let evidence = near.iter().map(|near| {
        json!({
            "message_bytes": near.message_bytes,
            "messages_per_s": near.messages_per_s,
            "generator_messages_per_s": near.ceiling,
        })
    });
    Some(Finding::new("generator-limited", Some(index), detail, evidence.collect()))
}

fn near(calibration: &Calibration, layer: &Layer, curve: &Curve) -> Vec<Near> {
    let at_point = |point: &crate::analysis::Point| {
        // Each flow has a thread of its own; both ways, each end sends half of the sum.
        let threads = f64::from(curve.case.flows) * if layer.both_ways { 2.0 } else { 1.0 };
        let per_thread = |bps: f64| bps / 8.0 / point.message_bytes.max(1) as f64 / threads;
        let messages_per_s = match curve.case.pattern {
            Pattern::PingPong => 0.5e9 / point.estimate(|values| values.half_round_trip_ns)?.median,
            _ => per_thread(point.estimate(|values| values.throughput_bps)?.median),
        };
        let ceiling = ceiling(calibration, curve, point.message_bytes)?;
        let near = Near { message_bytes: point.message_bytes, messages_per_s, ceiling };
        (NEAR..=BEYOND).contains(&near.share()).then_some(near)
    };
    curve.points.iter().filter_map(at_point).collect()
}

/// The least that the sending host's generators can do at most at this size: the engine's, or the bare loop's.
fn ceiling(calibration: &Calibration, curve: &Curve, message_bytes: u64) -> Option<f64> {
    let host = calibration.hosts.iter().find(|host| host.host == curve.case.pairs.first().from)?;
    let transport = Rung::named(&curve.case.rung).map(|rung| rung.transport.name);
    let does = if curve.case.pattern == Pattern::PingPong { Does::Pings } else { Does::Sends };
    let binds = |ceiling: &&Ceiling| {
        let engine = ceiling.transport.as_deref() == transport && ceiling.wait == Some(curve.case.wait);
        ceiling.does == does
            && ceiling.message_bytes == message_bytes
            && (ceiling.transport.is_none() || engine)
    };
    // The upper end, because what disturbed the calibration can only have slowed it.
    let most = |ceiling: &Ceiling| ceiling.messages_per_s.high.unwrap_or(ceiling.messages_per_s.value);
    let rates = host.ceilings.iter().filter(binds).map(most);
    rates.reduce(f64::min).filter(|rate| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use crate::plan::HostId;
    use crate::record::synthetic::Synthetic;
    use crate::record::{Calibration, Ceiling, Figure, HostCalibration};
    use crate::vocabulary::{Does, Rung, Wait};

    /// The layers that are found limited when host a's engine can make so many messages of 64 B.
    fn limited(messages_per_s: f64, is_bare: bool) -> Vec<String> {
        let mut recording =
            Synthetic { noise: 0.001, sizes: vec![1, 64, 1 << 20], ..Synthetic::default() }.recording();
        let tcp = Rung::named("network.tcp").unwrap().transport.name;
        let ceiling = Ceiling {
            transport: (!is_bare).then(|| tcp.into()),
            does: Does::Sends,
            wait: (!is_bare).then_some(Wait::Sleeping),
            message_bytes: 64,
            messages_per_s: Figure {
                value: 0.9 * messages_per_s,
                low: None,
                high: Some(messages_per_s),
                n: 11,
            },
        };
        let host = HostCalibration { host: HostId(0), ceilings: vec![ceiling], ..HostCalibration::default() };
        recording.calibration = Some(Calibration { hosts: vec![host], ..Calibration::default() });
        let analysis = crate::analysis::analyse(&recording);
        let findings = crate::diagnosis::diagnose(&recording, &analysis).findings;
        let limited = findings.iter().filter(|finding| finding.code == "generator-limited");
        limited.map(|finding| analysis.layers[finding.layer.unwrap()].name()).collect()
    }

    /// The made-up hosts send 64 B over loopback 1.10 million times a second, across 0.99 million times,
    /// both ways at once as often each way.
    #[test]
    fn a_rate_near_the_generators_own_is_said() {
        assert_eq!(limited(1.09e6, false), ["in-host.tcp a", "network.tcp a>b", "network.tcp a<>b"]);
        assert_eq!(limited(1.15e6, false), ["in-host.tcp a"]);
        assert!(limited(2e6, false).is_empty());
    }

    #[test]
    fn a_ceiling_that_a_layer_passes_by_far_is_none() {
        assert!(limited(0.5e6, false).is_empty());
    }

    #[test]
    fn the_bare_loop_bounds_every_transport() {
        let limited = limited(1.09e6, true);
        assert!(limited.contains(&"network.tcp a>b".to_owned()), "{limited:?}");
    }
}
