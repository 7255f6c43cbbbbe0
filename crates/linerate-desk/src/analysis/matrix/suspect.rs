//! Who stands apart in a screening: groups, then hosts, then single cells, each with what the ones before explain taken out.

use super::effects::Effects;
use super::metric::CellMetric;
use super::part::Part;
use super::shot::{Shot, Stage};
use crate::plan::{HostId, HostPair, Screening};
use crate::statistic::median;
use std::collections::BTreeMap;

/// So many standard errors below all others makes a host or a group a suspect, so many standard deviations a cell. They are
/// no tests: what is told of a suspect comes from fresh trials. They only say for whom those are worth their time.
const HOST_ERRORS: f64 = 3.5;
const CELL_ERRORS: f64 = 3.0;

/// Of a found group of more than this part of all hosts it cannot be told who stands apart.
pub const MOST_PART: usize = 3;

/// Fewer partners tell nothing of a host: with three, two bad links are a bad host.
pub const LEAST_PARTNERS: u32 = 4;

/// Further looks at a cell that stands apart.
pub const LOOKS: usize = 2;

/// Cells that are looked at once more, for each host: 3 % of all cells are disturbed by something that passes.
const RECHECKED_PER_HOST: usize = 4;

/// A cell that was slow by chance is not so again: one that is no slower than this share of its threshold is let go.
const LET_GO: f64 = 0.6;

/// A group's members must be slow themselves: so large a part of them, and so many.
const MEMBERS: f64 = 0.75;
const LEAST_MEMBERS: usize = 3;

/// With two groups it cannot be told whose fault it is.
const LEAST_GROUPS: usize = 3;

/// Who stands apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspect {
    /// What is slow.
    pub part: Part,
    /// By how much it seems to be: a logarithm.
    pub effect: f64,
    /// From where on it is a suspect.
    pub threshold: f64,
    /// Of a group whether its hosts are as slow to each other.
    pub within: bool,
}

impl Suspect {
    /// Whether what a pair has is explained by it.
    pub fn explains(&self, pair: HostPair, screening: &Screening) -> bool {
        self.part.is_shown_by(pair, screening) || self.within && self.part.holds_both(pair, screening)
    }
}

/// A screening, and who stands apart in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Screened {
    /// Rows and columns, without what groups explain.
    pub effects: Effects,
    /// Who is looked at again, cells after one more look.
    pub suspects: Vec<Suspect>,
    /// Cells that are to be looked at once more before they are suspects, or to be let go.
    pub unseen: Vec<Suspect>,
    /// Those that stand apart beyond the number that is looked at.
    pub beyond: usize,
    /// How much shorter ways are that are near.
    pub near: Near,
    /// Groups that are far from the others by round trips: that is no fault.
    pub far: Vec<Suspect>,
}

impl Screened {
    /// What a way has for where its hosts are, on the scale of cells: that is taken out of whatever is judged.
    pub fn distance(&self, pair: HostPair, screening: &Screening) -> f64 {
        let far = self.far.iter().filter(|group| group.explains(pair, screening));
        self.near.shortening(pair, screening) + far.map(|group| group.effect).sum::<f64>()
    }
}

/// How much shorter ways are within a group, and between hosts in none where groups were found, on the scale of cells.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Near([f64; 2]);

impl Near {
    /// How much shorter the way of a pair is. Those in no found group may be a rack together, or each in one of its own.
    pub fn shortening(self, pair: HostPair, screening: &Screening) -> f64 {
        match [pair.from, pair.to].map(|host| screening.group_of(host)) {
            [Some(one), Some(other)] if one == other => self.0[0],
            [None, None] if screening.found => self.0[1],
            _ => 0.0,
        }
    }
}

/// What the stages so far say of these hosts by one metric.
pub fn screened(metric: CellMetric, screening: &Screening, hosts: usize, shots: &[Shot]) -> Screened {
    let mut cells = cells(metric, shots);
    let near = nearness(metric, screening, &cells);
    cells.iter_mut().for_each(|cell| cell.log -= near.shortening(cell.pair, screening));
    let level = median(cells.iter().map(|cell| cell.log)).unwrap_or(0.0);
    let plain = Effects::new(hosts, &cells);
    let [most_hosts, most_links, most_groups] = metric.most();
    let mut groups = Vec::new();
    // The worst first: what enters one group leaves another, and is told of that.
    while let Some(group) = worst(slow_groups(metric, screening, &cells, level, &plain), 1).pop() {
        groups.push(explained(group, screening, &mut cells, level));
        if groups.len() == most_groups {
            break;
        }
    }
    // A way is long or slow: round trips do not tell which.
    let (far, groups) = if metric.is_of_both_ways() { (groups, Vec::new()) } else { (Vec::new(), groups) };
    let effects = if far.is_empty() && groups.is_empty() { plain } else { Effects::new(hosts, &cells) };
    if effects.partners(LEAST_PARTNERS) < LEAST_PARTNERS {
        return Screened { effects, near, far, ..Screened::default() };
    }
    let places = Screened { near, far, ..Screened::default() };
    let mut all_hosts = slow_hosts(metric, &effects);
    all_hosts.sort_by(|a, b| a.effect.total_cmp(&b.effect));
    let links = slow_cells(metric, &effects, &cells);
    let recheck = worst(links, RECHECKED_PER_HOST * hosts.max(1));
    let own = |shot: &Shot| {
        let of_groups = groups.iter().filter(|group| group.explains(shot.pair, screening));
        let of_groups: f64 = of_groups.map(|group| group.effect).sum();
        effects.rest(shot) - of_groups - places.distance(shot.pair, screening)
    };
    let (links, unseen) = still_slow(&recheck, own, screening, shots);
    let beyond = all_hosts.len().saturating_sub(most_hosts) + links.len().saturating_sub(most_links);
    let suspects = [groups, worst(all_hosts, most_hosts), worst(links, most_links)].concat();
    Screened { effects, suspects, unseen, beyond, ..places }
}

/// Cells that are far below their row and their column. Of both ways a cell is told once.
fn slow_cells(metric: CellMetric, effects: &Effects, cells: &[Shot]) -> Vec<Suspect> {
    let threshold = metric.least().max(CELL_ERRORS * effects.noise);
    let part = if metric.is_of_both_ways() { Part::Path } else { Part::Link };
    let is_told = |cell: &&Shot| !metric.is_of_both_ways() || cell.pair.from < cell.pair.to;
    let of_cell = |cell: &Shot| {
        let effect = effects.rest(cell);
        (effect < -threshold).then_some(Suspect { part: part(cell.pair), effect, threshold, within: false })
    };
    cells.iter().filter(is_told).filter_map(of_cell).collect()
}

/// The cells of a screening: the middle of what each pair has. A round trip is of both directions.
pub fn cells(metric: CellMetric, shots: &[Shot]) -> Vec<Shot> {
    if !metric.is_of_both_ways() {
        return medians(shots, Stage::Screen);
    }
    let upwards = |shot: &Shot| match shot.pair.from < shot.pair.to {
        true => *shot,
        false => shot.reversed(),
    };
    let one_way: Vec<Shot> = shots.iter().map(upwards).collect();
    let cells = medians(&one_way, Stage::Screen);
    let back: Vec<Shot> = cells.iter().map(|cell| cell.reversed()).collect();
    [cells, back].concat()
}

/// How much shorter a way is within a group than between two: a round trip has fewer switches there, and hosts of a small group
/// would stand apart for having few others near. It is the usual group's, so that a slow one has no part in it. Hosts that are in
/// none of the groups that were found have what they show, and no more than a group.
fn nearness(metric: CellMetric, screening: &Screening, cells: &[Shot]) -> Near {
    if !metric.is_of_both_ways() || screening.groups.is_empty() {
        return Near::default();
    }
    let (mut within, mut rest, mut between) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    for cell in cells {
        let [from, to] = [cell.pair.from, cell.pair.to].map(|host| screening.group_of(host));
        match (from, to) {
            (None, None) if screening.found => rest.push(cell.log),
            _ if from.is_some() && from == to => within.entry(from).or_insert_with(Vec::new).push(cell.log),
            _ => between.entry(from).or_insert_with(Vec::new).push(cell.log),
        }
    }
    let usual = |of: BTreeMap<Option<usize>, Vec<f64>>| median(of.into_values().filter_map(median));
    let Some(far) = usual(between) else { return Near::default() };
    let groups = usual(within).map_or(0.0, |near| (near - far).max(0.0));
    let rest = median(rest).map_or(0.0, |near| (near - far).clamp(0.0, groups));
    Near([groups, rest])
}

/// Takes what a group explains out of the cells that show it, and out of those within it where these are as slow.
fn explained(group: Suspect, screening: &Screening, cells: &mut [Shot], level: f64) -> Suspect {
    let inner = cells.iter().filter(|cell| group.part.holds_both(cell.pair, screening));
    let inner = median(inner.map(|cell| cell.log - level));
    let group = Suspect { within: inner.is_some_and(|own| own < group.effect / 2.0), ..group };
    for cell in cells.iter_mut().filter(|cell| group.explains(cell.pair, screening)) {
        cell.log -= group.effect;
    }
    group
}

/// How slow a host may be without standing apart, on the scale of cells, where it has so many partners.
pub fn host_threshold(metric: CellMetric, effects: &Effects, partners: u32) -> f64 {
    metric.least().max(HOST_ERRORS * effects.error(partners))
}

/// The middle of what each pair has at a stage.
pub fn medians(shots: &[Shot], stage: Stage) -> Vec<Shot> {
    let mut by_pair: BTreeMap<HostPair, Vec<f64>> = BTreeMap::new();
    for shot in shots.iter().filter(|shot| shot.stage == stage) {
        by_pair.entry(shot.pair).or_default().push(shot.log);
    }
    let cell = |(pair, logs): (HostPair, Vec<f64>)| Some(Shot { stage, pair, log: median(logs)? });
    by_pair.into_iter().filter_map(cell).collect()
}

fn worst(mut suspects: Vec<Suspect>, most: usize) -> Vec<Suspect> {
    suspects.sort_by(|a, b| a.effect.total_cmp(&b.effect));
    suspects.truncate(most);
    suspects
}

/// Cells that are slow in every further look too, by what is their own; and those that were not looked at as often as that takes,
/// and were slow as far as they were.
fn still_slow(
    recheck: &[Suspect],
    own: impl Fn(&Shot) -> f64,
    screening: &Screening,
    shots: &[Shot],
) -> (Vec<Suspect>, Vec<Suspect>) {
    let (mut links, mut unseen) = (Vec::new(), Vec::new());
    for suspect in recheck {
        let is_slow = |look: &Shot| own(look) < -LET_GO * suspect.threshold;
        let is_look =
            |shot: &&Shot| shot.stage == Stage::Recheck && suspect.part.is_shown_by(shot.pair, screening);
        let looks = || shots.iter().filter(is_look);
        // The screening's own trial is the worst of thousands: by it who was unlucky once comes before who is ill.
        let effect = median(looks().map(&own)).unwrap_or(suspect.effect);
        match looks().all(is_slow) {
            true if looks().count() >= LOOKS => links.push(Suspect { effect, ..*suspect }),
            true => unseen.push(*suspect),
            false => {}
        }
    }
    (links, unseen)
}

fn slow_hosts(metric: CellMetric, effects: &Effects) -> Vec<Suspect> {
    let slow = |sides: &[Option<f64>], partners: &[u32], part: fn(HostId) -> Part| {
        let of_host = |(host, (effect, partners)): (usize, (&Option<f64>, &u32))| {
            let threshold = host_threshold(metric, effects, *partners);
            let effect = (*effect).filter(|effect| *effect < -threshold && *partners >= LEAST_PARTNERS)?;
            Some(Suspect { part: part(HostId(host as u16)), effect, threshold, within: false })
        };
        sides.iter().zip(partners).enumerate().filter_map(of_host).collect::<Vec<_>>()
    };
    if metric.is_of_both_ways() {
        return slow(&effects.sends, &effects.sent_to, Part::Exchanges);
    }
    let mut all = slow(&effects.sends, &effects.sent_to, Part::Sends);
    all.extend(slow(&effects.receives, &effects.had_from, Part::Receives));
    all
}

/// Groups of which most members are slow with all others.
fn slow_groups(
    metric: CellMetric,
    screening: &Screening,
    cells: &[Shot],
    level: f64,
    plain: &Effects,
) -> Vec<Suspect> {
    // Where round trips alone tell groups apart, they are what is near.
    let are_enough = screening.groups.len() >= LEAST_GROUPS || screening.found;
    if !are_enough || screening.found && metric.is_of_both_ways() {
        return Vec::new();
    }
    // Found ones are not all that there are: one of a third of the hosts stands apart, one of half of them does not.
    let hosts = plain.sends.len();
    let is_small =
        |group: &usize| !screening.found || MOST_PART * screening.groups[*group].hosts.len() <= hosts;
    let parts = |group: usize| match metric.is_of_both_ways() {
        true => vec![Part::GroupExchanges(group)],
        false => vec![Part::GroupSends(group), Part::GroupReceives(group)],
    };
    let all = (0..screening.groups.len()).filter(is_small).flat_map(parts);
    let of_part = |part: Part| {
        let mut by_member: BTreeMap<HostId, Vec<f64>> = BTreeMap::new();
        // Of both ways a cell is there twice.
        let is_told = |cell: &&Shot| !metric.is_of_both_ways() || cell.pair.from < cell.pair.to;
        for cell in cells.iter().filter(|cell| part.is_shown_by(cell.pair, screening)).filter(is_told) {
            let is_own = |host: HostId| screening.group_of(host) == part.group();
            let member = if is_own(cell.pair.from) { cell.pair.from } else { cell.pair.to };
            by_member.entry(member).or_default().push(cell.log - level);
        }
        let count = by_member.values().map(Vec::len).sum::<usize>() as u32;
        let effect = median(by_member.values().flatten().copied())?;
        let threshold = host_threshold(metric, plain, count);
        let is_slow = |logs: &Vec<f64>| median(logs.iter().copied()).is_some_and(|own| own < effect / 2.0);
        let slow = by_member.values().filter(|logs| is_slow(logs)).count();
        let holds = effect < -threshold
            && by_member.len() >= LEAST_MEMBERS
            && slow as f64 >= MEMBERS * by_member.len() as f64;
        holds.then_some(Suspect { part, effect, threshold, within: false })
    };
    all.filter_map(of_part).collect()
}
