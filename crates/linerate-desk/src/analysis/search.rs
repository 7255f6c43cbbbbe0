//! What a search for a rate found.

use super::trial::positive;
use crate::record::{SubInterval, Trial};
use crate::vocabulary::{Family, Pattern, Rung};

/// The headers of IP (RFC 791, RFC 8200).
const IPV4: u64 = 20;
const IPV6: u64 = 40;

/// The sub-interval with the largest rate (RFC 9097, section 6.3); of one flow alone, for several are not in step.
fn best(trial: &Trial) -> Option<&SubInterval> {
    let all = of_pattern(trial, Pattern::Capacity)?;
    let rate = |sub: &&SubInterval| sub.messages as f64 / sub.duration_ns.max(1) as f64;
    all.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).filter(|sub| sub.messages > 0)
}

fn of_pattern(trial: &Trial, pattern: Pattern) -> Option<&[SubInterval]> {
    let mut searches =
        trial.roles.iter().flat_map(|role| &role.flows).filter_map(|flow| flow.tally.as_deref());
    let one = searches.find(|tally| !tally.search.is_empty())?;
    (trial.case.pattern == pattern && trial.case.flows == 1).then_some(&one.search)
}

/// Bits of IP packets in the best second; of what has no IP, of its messages.
pub(super) fn capacity_bps(trial: &Trial) -> Option<f64> {
    let rung = Rung::named(&trial.case.rung)?;
    let headers = match (rung.transport.header_bytes, rung.family) {
        (0, _) => 0,
        (own, Family::V4) => own + IPV4,
        (own, Family::V6) => own + IPV6,
    };
    positive(best(trial)?.bps(trial.block.message_bytes + headers))
}

/// The share that was lost in that second.
pub(super) fn capacity_loss(trial: &Trial) -> Option<f64> {
    best(trial).map(|sub| sub.lost as f64 / (sub.messages + sub.lost) as f64)
}

/// How far delays lay above the least one in that second.
pub(super) fn capacity_variation_ns(trial: &Trial) -> Option<f64> {
    best(trial).map(|sub| sub.variation_ns as f64)
}

/// Messages a second in the quickest trial that lost none, and none above it lost less.
pub(super) fn zero_loss_rate(trial: &Trial) -> Option<f64> {
    let all = of_pattern(trial, Pattern::ZeroLoss)?;
    let least_lossy =
        all.iter().filter(|sub| sub.lost > 0).map(|sub| sub.offered_bps).fold(f64::INFINITY, f64::min);
    let clean = all.iter().filter(|sub| sub.lost == 0 && sub.offered_bps < least_lossy);
    clean
        .map(|sub| 1e9 * sub.messages as f64 / sub.duration_ns.max(1) as f64)
        .reduce(f64::max)
        .and_then(positive)
}

#[cfg(test)]
mod tests {
    use crate::analysis::measures::measure;
    use crate::plan::{Block, Case, HostId};
    use crate::record::{Flow, Recording, RoleRecord, SubInterval, Tally, Trial};
    use crate::vocabulary::{Does, Pattern};

    const SECOND: u64 = 1_000_000_000;

    fn trial(pattern: Pattern, found: &[(u64, u64, f64)]) -> Trial {
        let sub = |(messages, lost, offered_bps): &(u64, u64, f64)| SubInterval {
            duration_ns: SECOND,
            offered_bps: *offered_bps,
            messages: *messages,
            lost: *lost,
            variation_ns: 7000,
            most_variation_ns: 9000,
        };
        let tally = Tally { search: found.iter().map(sub).collect(), ..Tally::default() };
        let flow = Flow { tally: Some(Box::new(tally)), messages: Some(1), ..Flow::default() };
        let role = RoleRecord {
            host: HostId(1),
            does: Does::FindsCapacity,
            flows: vec![flow],
            histogram: None,
            samples: Default::default(),
            pair: 0,
        };
        let case = Case { rung: "network.udp".into(), pattern, flows: 1, ..Case::default() };
        let block = Block { message_bytes: 1222, messages: 20, slices: 3, ..Block::default() };
        Trial { step: 0, pass: 1, why: Default::default(), case, block, roles: vec![role] }
    }

    fn value(trial: &Trial, name: &str) -> Option<f64> {
        measure(name).unwrap().value(&Recording::default(), trial)
    }

    #[test]
    fn capacity_is_the_best_second_with_headers() {
        let found = trial(Pattern::Capacity, &[(100, 0, 1e6), (9900, 100, 1e8), (9000, 0, 9e7)]);
        assert_eq!(value(&found, "ip-capacity"), Some(8.0 * 9900.0 * 1250.0));
        assert_eq!(value(&found, "capacity-loss"), Some(0.01));
        assert_eq!(value(&found, "capacity-delay-variation"), Some(7000.0));
        assert_eq!(value(&found, "zero-loss-rate"), None);
        // A search loses on purpose, and its mean is nobody's rate.
        assert_eq!((value(&found, "throughput"), value(&found, "loss")), (None, None));
    }

    #[test]
    fn the_lossless_rate_is_below_every_lossy_one() {
        let found = trial(
            Pattern::ZeroLoss,
            &[(9000, 900, 9e7), (4000, 0, 4e7), (6000, 1, 6e7), (6500, 0, 6.5e7), (5000, 0, 5e7)],
        );
        assert_eq!(value(&found, "zero-loss-rate"), Some(5000.0));
        assert_eq!(value(&trial(Pattern::ZeroLoss, &[(1, 1, 1e6)]), "zero-loss-rate"), None);
        assert_eq!(value(&found, "ip-capacity"), None);
    }
}
