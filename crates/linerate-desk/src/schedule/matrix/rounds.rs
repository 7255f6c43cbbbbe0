//! Rounds in which no host is twice: cyclic shifts, cut into disjoint pairs; and pairs at random around those that must be.
//!
//! Where both directions are measured at once, shift d is also that of n-d: the lower half of the shifts is all pairs.
//!
//! In the round of shift d each host sends to the one d places on: n-1 shifts are all ordered pairs of any n, and on a fat
//! tree with routing by destination they do not meet (Moody, LLNL-TR-418522). So that a host does one thing at a time the
//! cycles of a shift are cut at every second host, into two steps, or three where a cycle has an odd number of hosts.

use crate::plan::HostId;
use crate::plan::HostPair;
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::BTreeSet;

/// So many of the shifts, in an order at random.
pub fn shifts(hosts: u32, rounds: u32, random: &mut impl Rng) -> Vec<u32> {
    let mut all: Vec<u32> = (1..hosts).collect();
    all.shuffle(random);
    all.truncate(rounds as usize);
    all
}

/// The same where both directions are at once: of the lower half, until each host has so many partners.
pub fn half_shifts(hosts: u32, partners: u32, random: &mut impl Rng) -> Vec<u32> {
    let mut all: Vec<u32> = (1..=hosts / 2).collect();
    all.shuffle(random);
    let mut met = 0;
    all.retain(|shift| {
        let is_wanted = met < partners;
        met += if is_wanted { partners_of(hosts, *shift) } else { 0 };
        is_wanted
    });
    all
}

/// Partners that a shift gives each host where both directions are at once: the one so many places on, and the one before.
fn partners_of(hosts: u32, shift: u32) -> u32 {
    if 2 * shift == hosts { 1 } else { 2 }
}

/// The steps of a shift where both directions are at once: each two hosts once.
pub fn half_steps(hosts: u32, shift: u32) -> Vec<Vec<HostPair>> {
    let mut steps = steps(hosts, shift);
    if partners_of(hosts, shift) == 1 {
        // The second step is the first one, backwards.
        steps.truncate(1);
    }
    steps
}

/// The steps of a shift: disjoint pairs each, all of them together every host to the one so many places on.
pub fn steps(hosts: u32, shift: u32) -> Vec<Vec<HostPair>> {
    let shift = shift % hosts.max(1);
    if shift == 0 {
        return Vec::new();
    }
    let cycles = gcd(hosts, shift);
    let length = hosts / cycles;
    let pair = |start: u32, place: u32| {
        let host = |place: u32| {
            HostId(((u64::from(start) + u64::from(place) * u64::from(shift)) % u64::from(hosts)) as u16)
        };
        HostPair { from: host(place), to: host(place + 1) }
    };
    let mut steps = vec![Vec::new(); if length.is_multiple_of(2) { 2 } else { 3 }];
    for start in 0..cycles {
        for place in 0..length {
            let is_left_over = !length.is_multiple_of(2) && place == length - 1;
            let step = if is_left_over { 2 } else { (place % 2) as usize };
            steps[step].push(pair(start, place));
        }
    }
    steps
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A round at random of all these hosts, around pairs that must be in it and are disjoint.
pub fn around(must: Vec<HostPair>, hosts: &[HostId], random: &mut impl Rng) -> Vec<HostPair> {
    let taken: BTreeSet<HostId> = must.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    let mut left: Vec<HostId> = hosts.iter().copied().filter(|host| !taken.contains(host)).collect();
    left.shuffle(random);
    let others = left.chunks_exact(2).map(|two| HostPair { from: two[0], to: two[1] });
    must.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn are_disjoint(pairs: &[HostPair]) -> bool {
        let ends: BTreeSet<HostId> = pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
        ends.len() == 2 * pairs.len()
    }

    #[test]
    fn all_shifts_are_all_pairs_once() {
        for hosts in [2, 3, 5, 6, 7, 8, 12, 15, 64] {
            let mut met = BTreeSet::new();
            for shift in 1..hosts {
                let steps = steps(hosts, shift);
                assert!(steps.len() <= 3 && steps.iter().all(|step| are_disjoint(step)), "{hosts} {shift}");
                let of_shift: Vec<HostPair> = steps.concat();
                let [from, to]: [BTreeSet<HostId>; 2] =
                    [|pair: &HostPair| pair.from, |pair: &HostPair| pair.to]
                        .map(|end| of_shift.iter().map(end).collect());
                assert_eq!(
                    (from.len(), to.len(), of_shift.len()),
                    (hosts as usize, hosts as usize, hosts as usize)
                );
                met.extend(of_shift);
            }
            assert_eq!(met.len(), (hosts * (hosts - 1)) as usize);
        }
        assert!(steps(4, 0).is_empty() && steps(1, 1).is_empty() && steps(0, 3).is_empty());
    }

    #[test]
    fn both_ways_half_of_the_shifts_are_all_pairs() {
        for hosts in [2u32, 3, 5, 6, 7, 8, 12, 15, 64] {
            let shifts = half_shifts(hosts, hosts - 1, &mut ChaCha8Rng::seed_from_u64(1));
            let met: Vec<HostPair> =
                shifts.iter().flat_map(|shift| half_steps(hosts, *shift)).flatten().collect();
            let pairs: BTreeSet<[HostId; 2]> =
                met.iter().map(|pair| [pair.from.min(pair.to), pair.from.max(pair.to)]).collect();
            assert_eq!((met.len(), pairs.len()), ((hosts * (hosts - 1) / 2) as usize, met.len()), "{hosts}");
        }
        let some = half_shifts(64, 16, &mut ChaCha8Rng::seed_from_u64(1));
        assert!((8..=9).contains(&some.len()), "{some:?}");
    }

    #[test]
    fn a_round_at_random_has_who_must_be_in_it() {
        let hosts: Vec<HostId> = (0..9).map(HostId).collect();
        let must = HostPair { from: HostId(3), to: HostId(4) };
        let round = around(vec![must], &hosts, &mut ChaCha8Rng::seed_from_u64(1));
        assert!(round.len() == 4 && round.contains(&must) && are_disjoint(&round), "{round:?}");
    }

    #[test]
    fn shifts_are_some_of_all_and_as_the_seed_has_it() {
        let of = |seed| shifts(64, 16, &mut ChaCha8Rng::seed_from_u64(seed));
        assert!(of(1) == of(1) && of(1) != of(2));
        assert_eq!(of(1).iter().collect::<BTreeSet<_>>().len(), 16);
        assert!(of(1).iter().all(|shift| (1..64).contains(shift)));
    }
}
