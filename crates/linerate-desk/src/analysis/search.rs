//! What a search for a rate found.

use super::trial::positive;
use crate::record::{SubInterval, Trial};
use crate::vocabulary::{FEEDBACK_NS, Family, Pattern, Rung};

/// The headers of IP (RFC 791, RFC 8200).
const IPV4: u64 = 20;
const IPV6: u64 = 40;

/// By how much the rate of type B rises in each interval that nothing holds, below the first rate and from there on
/// (RFC 9097, section 8.1).
const HIGH_BPS: f64 = 1e9;
const RISES_BPS: [f64; 2] = [10e6, 100e6];

/// A search rises still where its rate rose by this part of what nothing held would have.
const STILL: f64 = 0.5;

/// What came follows what was ordered where it is at least this part of it.
const FOLLOWS: f64 = 0.95;

/// A search for the rate without a loss has come to its end where the largest clean rate is this part of the least lossy
/// one.
const MET: f64 = 0.95;

/// Whether a search of type B has come to its end: in its last sub-interval its rate rose no longer as it does where
/// nothing is lost and nothing queues, or what came followed it no longer.
fn has_turned(all: &[SubInterval], message_bytes: u64) -> bool {
    let Some((last, before)) = all.split_last() else { return false };
    let Some(most) = before.iter().map(|sub| sub.offered_bps).reduce(f64::max) else { return false };
    let intervals = last.duration_ns as f64 / FEEDBACK_NS as f64;
    let rise = intervals * RISES_BPS[usize::from(most >= HIGH_BPS)];
    last.offered_bps - most < STILL * rise || last.bps(message_bytes) < FOLLOWS * most
}

/// What a search of type B found at least, headers left out, where it has not come to its end.
pub(super) fn unfinished_bps(trial: &Trial) -> Option<f64> {
    let all = of_pattern(trial, Pattern::Capacity)?;
    let bytes = trial.block.message_bytes;
    let most = all.iter().map(|sub| sub.bps(bytes)).reduce(f64::max)?;
    (!has_turned(all, bytes)).then_some(most)
}

/// The sub-interval with the largest rate (RFC 9097, section 6.3); of one flow alone, for several are not in step. None
/// where the search had not come to its end: how far it came in its time is nobody's capacity.
fn best(trial: &Trial) -> Option<&SubInterval> {
    let all = of_pattern(trial, Pattern::Capacity)?;
    if !has_turned(all, trial.block.message_bytes) {
        return None;
    }
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

/// Messages a second in the quickest trial that lost none, and none above it lost less; none where the bounds have not met.
pub(super) fn zero_loss_rate(trial: &Trial) -> Option<f64> {
    let all = of_pattern(trial, Pattern::ZeroLoss)?;
    let least_lossy =
        all.iter().filter(|sub| sub.lost > 0).map(|sub| sub.offered_bps).fold(f64::INFINITY, f64::min);
    let clean = || all.iter().filter(|sub| sub.lost == 0 && sub.offered_bps < least_lossy);
    let most_clean = clean().map(|sub| sub.offered_bps).reduce(f64::max)?;
    if least_lossy.is_finite() && most_clean < MET * least_lossy {
        return None;
    }
    clean()
        .map(|sub| 1e9 * sub.messages as f64 / sub.duration_ns.max(1) as f64)
        .reduce(f64::max)
        .and_then(positive)
}

#[cfg(test)]
mod tests {
    use crate::analysis::measures::measure;
    use crate::analysis::not_measured;
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
    fn a_search_that_still_rises_tells_no_capacity() {
        let rising = |seconds: u64, limit: f64| -> Vec<(u64, u64, f64)> {
            let offered = |second: u64| {
                let slow = 200e6 * second as f64;
                if slow <= 1e9 { slow } else { 1e9 + (slow - 1e9) * 10.0 }
            };
            // Behind the limit a row more and a row less.
            let sub = |second: u64| {
                let wanted = offered(second).min(limit * if second.is_multiple_of(2) { 1.06 } else { 1.0 });
                let came = (offered(second - 1) / 2.0 + offered(second) / 2.0).min(limit);
                ((came / 8.0 / 1222.0) as u64, u64::from(offered(second) > limit), wanted)
            };
            (1..=seconds).map(sub).collect()
        };
        let capacity = |seconds, limit| {
            let trial = trial(Pattern::Capacity, &rising(seconds, limit));
            (value(&trial, "ip-capacity"), super::unfinished_bps(&trial))
        };
        let (none, least) = capacity(5, 1.77e9);
        assert!(none.is_none() && (0.85e9..0.95e9).contains(&least.unwrap()), "{none:?} {least:?}");
        let trials = vec![trial(Pattern::Capacity, &rising(5, 1.77e9))];
        let told = not_measured(&Recording { trials, ..Recording::default() });
        assert!(told.len() == 1 && told[0].reason.why.contains("at least 9"), "{told:?}");
        let trials = vec![trial(Pattern::Capacity, &rising(10, 1.77e9))];
        assert_eq!(not_measured(&Recording { trials, ..Recording::default() }), []);
        for (seconds, limit) in [(10, 1.77e9), (9, 1.77e9), (5, 400e6), (4, 97e6), (10, 8e6)] {
            let (found, unfinished) = capacity(seconds, limit);
            let share = found.unwrap_or(0.0) / (limit * 1250.0 / 1222.0);
            assert!((share - 1.0).abs() < 0.01 && unfinished.is_none(), "{seconds} s, {limit}: {share}");
        }
        // Of a rate that the sender cannot reach the bits that came count.
        let kept: Vec<_> =
            rising(10, 9e9).into_iter().map(|(came, _, wanted)| (came.min(40_000), 0, wanted)).collect();
        assert!(value(&trial(Pattern::Capacity, &kept), "ip-capacity").is_some());
    }

    #[test]
    fn bounds_that_have_not_met_tell_no_lossless_rate() {
        let apart = trial(Pattern::ZeroLoss, &[(9000, 900, 9e7), (4000, 0, 4e7)]);
        assert_eq!(value(&apart, "zero-loss-rate"), None);
        let unlimited = trial(Pattern::ZeroLoss, &[(9000, 0, 9e7)]);
        assert_eq!(value(&unlimited, "zero-loss-rate"), Some(9000.0));
    }

    #[test]
    fn the_lossless_rate_is_below_every_lossy_one() {
        let found = trial(
            Pattern::ZeroLoss,
            &[(9000, 900, 9e7), (4000, 0, 4e7), (5200, 1, 5.2e7), (6500, 0, 6.5e7), (5000, 0, 5e7)],
        );
        assert_eq!(value(&found, "zero-loss-rate"), Some(5000.0));
        assert_eq!(value(&trial(Pattern::ZeroLoss, &[(1, 1, 1e6)]), "zero-loss-rate"), None);
        assert_eq!(value(&found, "ip-capacity"), None);
    }
}
