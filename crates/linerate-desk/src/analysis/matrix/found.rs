//! Groups of hosts that nobody named, found from the cells of a screening: those between which more passes than their rows and
//! columns tell, as within a rack whose way out is narrow; and hosts that are slow by the same.
//!
//! Clusters are built by average linkage (Sokal and Michener, *University of Kansas Science Bulletin* 38, 1958) of cells that are
//! far above what rows and columns leave. Noise has clusters too, the best of very many: one is told where chance would have so
//! many of its cells that high with a probability below one in a thousand, by Chernoff's bound times the number of sets of as
//! many hosts.

use super::effects::Effects;
use super::metric::CellMetric;
use super::shot::Shot;
use super::suspect::{LEAST_PARTNERS, MOST_PART, cells, host_threshold};
use crate::plan::{HostId, HostSet, Screening};
use crate::statistic::median;
use std::collections::BTreeMap;

/// A cell is high that is so many standard deviations above what its row and its column leave.
const HIGH: f64 = 3.0;

/// So large a part of what was measured between two clusters must be high to make them one, and of what is within one at the end.
const JOINED: f64 = 0.5;
const WITHIN: f64 = 0.75;

/// How often chance may have made a group.
const BY_CHANCE: f64 = 0.001;

/// Fewer are no group.
const LEAST_MEMBERS: usize = 3;

/// Looks at each host whether it belongs elsewhere.
const SWEEPS: usize = 3;

/// Of more hosts none are looked for: names or a file tell.
const MOST_HOSTS: usize = 2_048;

/// Hosts are slow by the same where they are within so many standard errors of their middle.
const ALIKE_ERRORS: f64 = 3.5;

/// The screening with the groups that its cells show, where neither names nor a file gave any.
pub fn grouped(metric: CellMetric, screening: &Screening, hosts: usize, shots: &[Shot]) -> Screening {
    if !screening.groups.is_empty() || hosts > MOST_HOSTS {
        return screening.clone();
    }
    let cells = cells(metric, shots);
    let effects = Effects::new(hosts, &cells);
    if effects.partners(LEAST_PARTNERS) < LEAST_PARTNERS {
        return screening.clone();
    }
    let mut sets = blocks(metric, hosts, &effects, &cells);
    // Of round trips a group is what is near, and no other.
    let sides = [(&effects.sends, &effects.sent_to), (&effects.receives, &effects.had_from)];
    for (slow, partners) in sides.into_iter().filter(|_| !metric.is_of_both_ways()) {
        sets.extend(alike(metric, &effects, slow, partners, &sets));
    }
    let named = (1..).zip(sets).map(|(number, hosts)| HostSet { name: format!("found-{number}"), hosts });
    let groups: Vec<HostSet> = named.collect();
    Screening { found: !groups.is_empty(), groups, ..screening.clone() }
}

/// What was measured between two clusters.
#[derive(Debug, Clone, Copy, Default)]
struct Between {
    cells: u32,
    high: u32,
    sum: f64,
}

impl Between {
    fn share(self) -> f64 {
        f64::from(self.high) / f64::from(self.cells.max(1))
    }

    fn mean(self) -> f64 {
        self.sum / f64::from(self.cells.max(1))
    }

    fn plus(self, other: Between) -> Between {
        Between { cells: self.cells + other.cells, high: self.high + other.high, sum: self.sum + other.sum }
    }
}

/// Two hosts or clusters, the lower number first.
fn key(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

type Table = BTreeMap<(usize, usize), Between>;

/// Sets of hosts between which more passes than rows and columns tell.
fn blocks(metric: CellMetric, hosts: usize, effects: &Effects, cells: &[Shot]) -> Vec<Vec<HostId>> {
    let high = metric.least().max(HIGH * effects.noise);
    let mut table: Table = BTreeMap::new();
    // Of both ways a cell is there twice.
    for cell in cells.iter().filter(|cell| !metric.is_of_both_ways() || cell.pair.from < cell.pair.to) {
        let rest = effects.rest(cell);
        let one = Between { cells: 1, high: u32::from(rest > high), sum: rest };
        let place = table.entry(key(cell.pair.from.0.into(), cell.pair.to.0.into())).or_default();
        *place = place.plus(one);
    }
    let clusters = swept(clusters(hosts, table.clone()), &table);
    let mut sets: BTreeMap<usize, Vec<HostId>> = BTreeMap::new();
    for (host, cluster) in clusters.iter().enumerate() {
        sets.entry(*cluster).or_default().push(HostId(host as u16));
    }
    let inner = |one: usize, other: usize| clusters[one] == clusters[other];
    let outside = table.iter().filter(|((one, other), _)| !inner(*one, *other));
    let outside = outside.fold(Between::default(), |sum, (_, between)| sum.plus(*between));
    // Never none: what did not happen may happen.
    let chance = f64::from(outside.high + 1) / f64::from(outside.cells + 1);
    let is_told = |set: &Vec<HostId>| {
        set.len() >= LEAST_MEMBERS && set.len() < hosts && {
            let has = |host: usize| set.binary_search(&HostId(host as u16)).is_ok();
            let own = table.iter().filter(|((one, other), _)| has(*one) && has(*other));
            let own = own.fold(Between::default(), |sum, (_, between)| sum.plus(*between));
            own.share() >= WITHIN && ln_chance(own, chance) + ln_sets(hosts, set.len()) < BY_CHANCE.ln()
        }
    };
    sets.into_values().filter(is_told).collect()
}

/// The cluster of each host: the two whose cells are highest become one, as long as half of what is between them is high.
fn clusters(hosts: usize, mut table: Table) -> Vec<usize> {
    let mut of_host: Vec<usize> = (0..hosts).collect();
    loop {
        let candidates =
            table.iter().filter(|((one, other), between)| one != other && between.share() >= JOINED);
        let best = candidates.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()));
        let Some((&(kept, gone), _)) = best.filter(|(_, between)| between.high > 0) else { return of_host };
        of_host.iter_mut().filter(|cluster| **cluster == gone).for_each(|cluster| *cluster = kept);
        let of_gone: Vec<(usize, usize)> =
            table.keys().filter(|(one, other)| *one == gone || *other == gone).copied().collect();
        for pair in of_gone {
            let between = table.remove(&pair).unwrap_or_default();
            let other = if pair.0 == gone { pair.1 } else { pair.0 };
            let place = table.entry(key(kept, other)).or_default();
            *place = place.plus(between);
        }
        table.remove(&(kept, kept));
    }
}

/// Each host where most of what it has with others is high: a cell of noise may have begun a cluster.
fn swept(mut of_host: Vec<usize>, table: &Table) -> Vec<usize> {
    let hosts = of_host.len();
    let mut partners: Vec<Vec<(usize, Between)>> = vec![Vec::new(); hosts];
    for (&(one, other), between) in table.iter().filter(|((one, other), _)| one.max(other) < &hosts) {
        partners[one].push((other, *between));
        partners[other].push((one, *between));
    }
    for _ in 0..SWEEPS {
        for host in 0..hosts {
            let mut with: BTreeMap<usize, Between> = BTreeMap::new();
            for (other, between) in &partners[host] {
                let place = with.entry(of_host[*other]).or_default();
                *place = place.plus(*between);
            }
            let joined = with.into_iter().filter(|(_, between)| between.share() >= JOINED);
            let best = joined.max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()));
            // A cluster of its own has a number that no other one has.
            of_host[host] = best.map_or(hosts + host, |(cluster, _)| cluster);
        }
    }
    of_host
}

/// The logarithm of a bound on the probability of so many high cells or more (Chernoff, *Annals of Mathematical Statistics* 23,
/// 1952).
fn ln_chance(own: Between, chance: f64) -> f64 {
    let share = own.share();
    if own.cells == 0 || share <= chance {
        return 0.0;
    }
    let term = |share: f64, chance: f64| if share > 0.0 { share * (share / chance).ln() } else { 0.0 };
    -f64::from(own.cells) * (term(share, chance) + term(1.0 - share, 1.0 - chance))
}

/// The logarithm of the number of sets of so many of all hosts.
fn ln_sets(hosts: usize, members: usize) -> f64 {
    (0..members).map(|at| ((hosts - at) as f64 / (at + 1) as f64).ln()).sum()
}

/// Hosts that are slow by the same, of those in no set yet: a switch or an adapter that they have in common.
fn alike(
    metric: CellMetric,
    effects: &Effects,
    slow: &[Option<f64>],
    partners: &[u32],
    sets: &[Vec<HostId>],
) -> Option<Vec<HostId>> {
    let is_slow = |effect: f64, partners: u32| {
        partners >= LEAST_PARTNERS && effect < -host_threshold(metric, effects, partners)
    };
    let all = slow.iter().zip(partners).enumerate().filter_map(|(host, (effect, partners))| {
        let id = HostId(host as u16);
        let effect = effect.filter(|effect| is_slow(*effect, *partners))?;
        (!sets.iter().any(|set| set.contains(&id))).then_some((id, effect, *partners))
    });
    let all: Vec<(HostId, f64, u32)> = all.collect();
    let middle = median(all.iter().map(|(_, effect, _)| *effect))?;
    let is_alike = |(_, effect, partners): &(HostId, f64, u32)| {
        (effect - middle).abs() < metric.least().max(ALIKE_ERRORS * effects.error(*partners))
    };
    let members: Vec<HostId> = all.iter().filter(|one| is_alike(one)).map(|(host, ..)| *host).collect();
    let are_some = members.len() >= LEAST_MEMBERS && MOST_PART * members.len() <= slow.len();
    are_some.then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::matrix::Stage;
    use crate::plan::HostPair;

    /// Each with each; what is within a rack of four is as `within` has it, all else as `across` has it.
    fn racks(hosts: u16, within: f64, across: impl Fn(u16, u16) -> f64) -> Vec<String> {
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        let shot = |(from, to): (u16, u16)| {
            // Some scatter, the same each time.
            let noise = f64::from((from * 7 + to * 13) % 11) / 500.0;
            let share = if from / 4 == to / 4 { within } else { across(from, to) };
            let pair = HostPair { from: HostId(from), to: HostId(to) };
            Shot { stage: Stage::Screen, pair, log: f64::ln(share) + noise }
        };
        let shots: Vec<Shot> = pairs.filter(|(from, to)| from != to).map(shot).collect();
        let hosts = usize::from(hosts);
        let screening = Screening::of_rounds(hosts as u32 - 1, hosts as u32);
        let groups = grouped(CellMetric::Throughput, &screening, hosts, &shots).groups;
        groups
            .iter()
            .map(|set| set.hosts.iter().map(HostId::to_string).collect::<Vec<_>>().join(""))
            .collect()
    }

    #[test]
    fn racks_with_narrow_ways_out_are_found() {
        assert_eq!(racks(16, 1.0, |_, _| 0.6), ["abcd", "efgh", "ijkl", "mnop"]);
        assert_eq!(racks(16, 1.0, |from, _| if from < 4 { 0.6 } else { 1.0 }), ["abcd"]);
        assert!(racks(16, 1.0, |_, _| 1.0).is_empty());
    }

    #[test]
    fn hosts_that_are_slow_by_the_same_are_found() {
        let slow = |from: u16| if from.is_multiple_of(5) { 0.7 } else { 1.0 };
        assert_eq!(racks(17, 1.0, |from, _| slow(from)), ["afkp"]);
    }

    #[test]
    fn chance_has_many_sets_to_choose_from() {
        let own = Between { cells: 2, high: 2, sum: 0.5 };
        assert!(ln_chance(own, 0.0013) + ln_sets(64, 3) > BY_CHANCE.ln());
        let own = Between { cells: 14, high: 14, sum: 0.5 };
        assert!(ln_chance(own, 0.0013) + ln_sets(64, 8) < BY_CHANCE.ln());
    }
}
