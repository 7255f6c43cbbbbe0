//! A trial of several pairs of hosts as one: its ends that keep time are put together.
//!
//! Ends on one host share its clock. Those on different hosts begin together, within what it takes to tell them
//! to, so their times are counted from each host's own beginning.

use crate::plan::HostId;
use crate::record::{RoleRecord, Trial, encode_merged, merge_histograms};
use std::collections::BTreeMap;

/// The ends that keep time as one; none where there is one pair of hosts.
pub(super) fn together(trial: &Trial) -> Option<RoleRecord> {
    let keeping: Vec<&RoleRecord> = trial.roles.iter().filter(|role| role.does.keeps_time()).collect();
    let first = *keeping.first()?;
    keeping.iter().any(|role| role.pair != first.pair).then_some(())?;
    let mut begun: BTreeMap<HostId, u64> = BTreeMap::new();
    for role in &keeping {
        let start = role.flows.iter().map(|flow| flow.start_ns).min()?;
        begun.entry(role.host).and_modify(|first| *first = start.min(*first)).or_insert(start);
    }
    let flows = keeping.iter().flat_map(|role| {
        let origin = begun.get(&role.host).copied().unwrap_or(0);
        let rebased = |flow: &crate::record::Flow| {
            let mut flow = flow.clone();
            flow.start_ns = flow.start_ns.saturating_sub(origin);
            flow
        };
        role.flows.iter().map(rebased).collect::<Vec<_>>()
    });
    Some(RoleRecord { flows: flows.collect(), histogram: histogram(&keeping), ..first.clone() })
}

/// All samples of all histograms; none where an end has none.
fn histogram(roles: &[&RoleRecord]) -> Option<String> {
    let texts: Option<Vec<&str>> = roles.iter().map(|role| role.histogram.as_deref()).collect();
    encode_merged(&merge_histograms(texts?.into_iter())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{half_round_trip_ns, throughput_bps};
    use crate::plan::{Block, Case};
    use crate::record::{Flow, encode_histogram};
    use crate::vocabulary::{Does, Pattern};

    fn trial(does: Does, roles: Vec<(u32, u16, Flow, Option<String>)>) -> Trial {
        let role = |(pair, host, flow, histogram): (u32, u16, Flow, Option<String>)| RoleRecord {
            host: HostId(host),
            does,
            flows: vec![flow],
            histogram,
            pair,
            samples: Default::default(),
        };
        let pattern = if does == Does::Pings { Pattern::PingPong } else { Pattern::Stream };
        let case = Case { rung: "network.tcp".into(), pattern, ..Case::default() };
        let block = Block { message_bytes: 100, messages: 1, slices: 10, ..Block::default() };
        let roles = roles.into_iter().map(role).collect();
        Trial { step: 0, pass: 1, why: Default::default(), case, block, roles }
    }

    #[test]
    fn each_receiver_counts_by_its_own_clock() {
        let flow =
            |start_ns, slice| Flow { start_ns, slices_ns: vec![slice; 10], bytes: 1000, ..Flow::default() };
        // By 1000 ns, when the first one ends, 1000 B have come at b and 500 B at c.
        let out =
            trial(Does::Receives, vec![(0, 1, flow(5_000_000, 100), None), (1, 2, flow(77, 200), None)]);
        assert_eq!(throughput_bps(&out), Some(8e9 * 1500.0 / 1000.0));
        // Two at one host, one of which began 1000 ns later: they share a clock.
        let fan_in = trial(Does::Receives, vec![(0, 0, flow(100, 200), None), (1, 0, flow(1100, 200), None)]);
        assert_eq!(throughput_bps(&fan_in), Some(8e9 * 1500.0 / 2000.0));
    }

    #[test]
    fn clients_of_several_hosts_have_one_median() {
        let samples = |ns: u64| encode_histogram(std::iter::repeat_n(ns, 100)).ok();
        let flow = || Flow { duration_ns: 1, ..Flow::default() };
        let hot = trial(
            Does::Pings,
            vec![(0, 1, flow(), samples(2000)), (1, 2, flow(), samples(4000)), (2, 3, flow(), samples(4000))],
        );
        let half = half_round_trip_ns(&hot).unwrap();
        assert!((half / 2000.0 - 1.0).abs() < 0.001, "{half}");
    }
}
