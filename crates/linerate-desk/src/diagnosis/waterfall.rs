//! Where the time of a message goes: the wire's own time, then what each layer adds to the one below.
//!
//! Times of ping-pongs add along a chain of layers; each gap is taken within a pass, and only passes
//! that measured the whole chain count, so that in each pass the gaps sum to the total.

use super::wire::wire;
use crate::analysis::{Analysis, Layer, below};
use crate::record::Recording;
use crate::statistic::Estimate;
use crate::vocabulary::{Place, RUNGS, Wait};
use std::collections::BTreeMap;

/// The time of one message at the topmost layer, in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Waterfall {
    /// How the ends waited.
    pub wait: Wait,
    /// The message size.
    pub message_bytes: u64,
    /// Half of the topmost layer's round trip.
    pub total_ns: Estimate,
    /// What the wire alone takes; none where its rate is not known.
    pub ideal_ns: Option<f64>,
    /// What each layer adds, from the bottom up; the wire's time is taken out.
    pub gaps: Vec<Gap>,
}

/// What one layer adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The layer, by its place in the analysis.
    pub layer: usize,
    /// The time over the layer below; may be negative.
    pub ns: Estimate,
    /// Its share of all that is not the wire's time.
    pub share: f64,
}

/// The waterfalls of both wait modes, at the latency's size and at the ladder's.
pub(super) fn waterfalls(recording: &Recording, analysis: &Analysis) -> Vec<Waterfall> {
    let mut sizes = vec![analysis.latency_bytes, analysis.ladder_bytes];
    sizes.dedup();
    let modes = [Wait::Polling, Wait::Sleeping].into_iter();
    let all = modes.flat_map(|wait| sizes.iter().map(move |bytes| (wait, *bytes)));
    all.filter_map(|(wait, bytes)| waterfall(recording, analysis, wait, bytes)).collect()
}

/// Half round trips of one layer at one size, by pass.
fn times(analysis: &Analysis, layer: &Layer, wait: Wait, bytes: u64) -> Option<BTreeMap<u32, f64>> {
    let point = layer.ping_pong(&analysis.curves, wait)?.at(bytes)?;
    let passes = point.passes.iter().filter_map(|(pass, values)| Some((*pass, values.half_round_trip_ns?)));
    Some(passes.collect()).filter(|times: &BTreeMap<u32, f64>| !times.is_empty())
}

fn waterfall(recording: &Recording, analysis: &Analysis, wait: Wait, bytes: u64) -> Option<Waterfall> {
    let layers = &analysis.layers;
    let times = |layer: &Layer| times(analysis, layer, wait, bytes);
    let mut chain: Vec<(&Layer, BTreeMap<u32, f64>)> = Vec::new();
    // The highest rung of the chain, of which it is the whole time; else the highest that stands beside it.
    let on_chain = |layer: &&Layer| RUNGS.iter().any(|rung| rung.id == layer.rung && !rung.sibling);
    let measured = || layers.iter().rev().filter(|layer| times(layer).is_some());
    let highest = measured().find(on_chain).or_else(|| measured().next()).map(|layer| &layer.rung)?;
    // Of it the first direction.
    let mut next = layers.iter().find(|layer| layer.rung == *highest && times(layer).is_some());
    while let Some(layer) = next {
        let Some(measured) = times(layer) else { break };
        chain.push((layer, measured));
        next = below(layer, layers);
    }
    chain.reverse();
    let whole: Vec<u32> = chain.last()?.1.keys().copied().collect();
    let whole = whole.into_iter().filter(|pass| chain.iter().all(|(_, times)| times.contains_key(pass)));
    let whole: Vec<u32> = whole.collect();
    let total_ns = Estimate::from_values(whole.iter().map(|pass| chain[chain.len() - 1].1[pass]))?;
    // The lowest layer between hosts is the one that holds the wire.
    let wired = chain.iter().position(|(layer, _)| layer.place == Place::Network);
    let ideal_ns = wired.and_then(|at| wire(recording, chain[at].0).ideal_ns(bytes as f64));
    let gap = |at: usize| {
        let of_wire = ideal_ns.filter(|_| wired == Some(at)).unwrap_or(0.0);
        let under = |pass: &u32| if at == 0 { 0.0 } else { chain[at - 1].1[pass] };
        let ns = Estimate::from_values(whole.iter().map(|pass| chain[at].1[pass] - under(pass) - of_wire))?;
        let layer = layers.iter().position(|layer| std::ptr::eq(layer, chain[at].0))?;
        Some(Gap { layer, ns, share: ns.median / (total_ns.median - ideal_ns.unwrap_or(0.0)) })
    };
    let gaps = (0..chain.len()).filter_map(gap).collect();
    Some(Waterfall { wait, message_bytes: bytes, total_ns, ideal_ns, gaps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::record::synthetic::Synthetic;
    use serde_json::json;

    fn made_up() -> Recording {
        let sizes = vec![1, 64, 1 << 10, 1 << 16, 1 << 20];
        Synthetic { noise: 0.001, drift: 0.3, sizes, ..Synthetic::default() }.recording()
    }

    #[test]
    fn gaps_come_back_from_a_drifting_machine() {
        let recording = made_up();
        let analysis = analyse(&recording);
        let all = waterfalls(&recording, &analysis);
        let kinds: Vec<_> = all.iter().map(|one| (one.wait, one.message_bytes)).collect();
        let (small, large) = (64, 1 << 20);
        let modes = [Wait::Polling, Wait::Sleeping];
        assert_eq!(kinds, modes.map(|wait| [(wait, small), (wait, large)]).concat());
        let names: Vec<_> = all[0].gaps.iter().map(|gap| analysis.layers[gap.layer].name()).collect();
        assert_eq!(names, ["in-host.shared-memory a", "in-host.tcp a", "network.tcp a>b"]);
        // Half round trips of 64 B: 160 + 7, 2600 + 11 and 2800 + 13 ns.
        for (gap, truth) in all[0].gaps.iter().zip([167.0, 2444.0, 202.0]) {
            let off = (gap.ns.median - truth).abs();
            assert!(off < 0.15 * truth, "{gap:?} {truth}");
        }
        let shares: f64 = all[0].gaps.iter().map(|gap| gap.share).sum();
        assert!((shares - 1.0).abs() < 0.1, "{shares}");
        assert_eq!(all[0].ideal_ns, None, "nothing is known of the wire");
    }

    #[test]
    fn a_known_line_is_taken_from_the_layer_over_it() {
        let mut recording = made_up();
        let before = waterfalls(&recording, &analyse(&recording));
        recording.header.as_mut().unwrap().plan.target = "ssh://a,ssh://b".parse().unwrap();
        for host in &mut recording.hosts {
            let facts = [("speed_mbps", json!(10_000)), ("mtu", json!(1500)), ("driver", json!("ixgbe"))];
            let facts = facts.map(|(name, value)| (name.to_owned(), value));
            host.environment.interfaces.insert("eth0".into(), facts.into());
        }
        let after = waterfalls(&recording, &analyse(&recording));
        // 64 B of payload, 52 of headers and 38 around them.
        let ideal = after[0].ideal_ns.unwrap();
        assert!((ideal - 8.0 * 154.0 / 10.0).abs() < 1e-6, "{ideal}");
        let top = |all: &[Waterfall]| all[0].gaps.last().unwrap().ns.median;
        assert!((top(&before) - top(&after) - ideal).abs() < 1e-6);
        assert_eq!(before[0].gaps[1].ns, after[0].gaps[1].ns);
    }

    #[test]
    fn the_labs_wire_takes_what_it_was_built_for() {
        let mut recording = made_up();
        let mut ideal = |target: &str| {
            recording.header.as_mut().unwrap().plan.target = target.parse().unwrap();
            waterfalls(&recording, &analyse(&recording))[0].ideal_ns
        };
        // 64 B of payload, 52 of headers and 14 of Ethernet's.
        let frame_ns = 8.0 * 130.0 / 1e8 * 1e9;
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-6;
        assert!(near(ideal("lab:rate=100Mb/s,delay=1us"), frame_ns + 1e3));
        assert!(near(ideal("lab:rate=100Mb/s,hops=2"), 3.0 * frame_ns));
        let header_ns = 64.0 * 80.0;
        assert!(near(ideal("lab:rate=100Mb/s,hops=2,switch=cut-through"), frame_ns + 2.0 * header_ns));
        assert!(near(ideal("lab:a-b.delay=1us,b-a.delay=2us"), 1500.0));
        assert_eq!(ideal("lab:rate=100Mb/s,wire=tbf"), None);
        assert_eq!(ideal("lab"), None);
    }

    #[test]
    fn nothing_measured_has_no_waterfall() {
        let empty = Recording::default();
        assert!(waterfalls(&empty, &analyse(&empty)).is_empty());
    }
}
