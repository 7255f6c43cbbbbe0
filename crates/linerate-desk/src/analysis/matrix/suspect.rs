//! Who stands apart in a screening: groups, then hosts, then single cells, each with what the ones before explain taken out.

use super::effects::Effects;
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

/// Who is looked at again, the worst first; the others stay suspects.
pub const MOST_HOSTS: usize = 8;
pub const MOST_LINKS: usize = 8;
const MOST_GROUPS: usize = 2;

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

/// What may be slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What leaves a group.
    GroupSends(usize),
    /// What comes into one.
    GroupReceives(usize),
    /// What a host sends.
    Sends(HostId),
    /// What it receives.
    Receives(HostId),
    /// What goes from one host to another.
    Link(HostPair),
}

/// Parts that share the risk of a false name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Budget {
    /// Of groups.
    Groups,
    /// Of hosts.
    Hosts,
    /// Of links.
    Links,
}

impl Part {
    /// Whether a pair shows it.
    pub fn is_shown_by(self, pair: HostPair, screening: &Screening) -> bool {
        let crosses = || screening.group_of(pair.from) != screening.group_of(pair.to);
        match self {
            Part::GroupSends(group) => screening.group_of(pair.from) == Some(group) && crosses(),
            Part::GroupReceives(group) => screening.group_of(pair.to) == Some(group) && crosses(),
            Part::Sends(host) => pair.from == host,
            Part::Receives(host) => pair.to == host,
            Part::Link(link) => pair == link,
        }
    }

    /// Whether it is a group, and a pair is within it.
    pub fn holds_both(self, pair: HostPair, screening: &Screening) -> bool {
        let is_in =
            |group: usize| [pair.from, pair.to].iter().all(|host| screening.group_of(*host) == Some(group));
        match self {
            Part::GroupSends(group) | Part::GroupReceives(group) => is_in(group),
            Part::Sends(_) | Part::Receives(_) | Part::Link(_) => false,
        }
    }

    /// How much slower it must be to be named, as a logarithm: a link is two hosts and itself, and each may have a little.
    pub fn margin_log(self) -> f64 {
        if self.budget() == Budget::Links { 2.0 * MARGIN_LOG } else { MARGIN_LOG }
    }

    /// Whose risk it is.
    pub fn budget(self) -> Budget {
        match self {
            Part::GroupSends(_) | Part::GroupReceives(_) => Budget::Groups,
            Part::Sends(_) | Part::Receives(_) => Budget::Hosts,
            Part::Link(_) => Budget::Links,
        }
    }
}

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
}

/// What the stages so far say of these hosts.
pub fn screened(screening: &Screening, hosts: usize, shots: &[Shot]) -> Screened {
    let mut cells = medians(shots, Stage::Screen);
    let level = median(cells.iter().map(|cell| cell.log)).unwrap_or(0.0);
    let plain = Effects::new(hosts, &cells);
    let mut groups = Vec::new();
    // The worst first: what enters one group leaves another, and is told of that.
    while let Some(group) = worst(slow_groups(screening, &cells, level, &plain), 1).pop() {
        groups.push(explained(group, screening, &mut cells, level));
        if groups.len() == MOST_GROUPS {
            break;
        }
    }
    let effects = if groups.is_empty() { plain } else { Effects::new(hosts, &cells) };
    if effects.partners(LEAST_PARTNERS) < LEAST_PARTNERS {
        return Screened { effects, ..Screened::default() };
    }
    let mut all_hosts = slow_hosts(&effects);
    all_hosts.sort_by(|a, b| a.effect.total_cmp(&b.effect));
    let threshold = MARGIN_LOG.max(CELL_ERRORS * effects.noise);
    let of_cell = |cell: &Shot| {
        let effect = effects.rest(cell);
        (effect < -threshold).then_some(Suspect {
            part: Part::Link(cell.pair),
            effect,
            threshold,
            within: false,
        })
    };
    let links: Vec<Suspect> = cells.iter().filter_map(of_cell).collect();
    let recheck = worst(links, RECHECKED_PER_HOST * hosts.max(1));
    let (links, unseen) = still_slow(&recheck, &effects, &groups, screening, shots);
    let beyond = all_hosts.len().saturating_sub(MOST_HOSTS) + links.len().saturating_sub(MOST_LINKS);
    let suspects = [groups, worst(all_hosts, MOST_HOSTS), worst(links, MOST_LINKS)].concat();
    Screened { effects, suspects, unseen, beyond }
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

/// Less than this is nobody's fault: 3 %, as a logarithm.
pub const MARGIN_LOG: f64 = 0.030_459_207_484_708_574;

/// How slow a host may be without standing apart, as a logarithm, where it has so many partners.
pub fn host_threshold(effects: &Effects, partners: u32) -> f64 {
    MARGIN_LOG.max(HOST_ERRORS * effects.error(partners))
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

/// Cells that are slow in every further look too, what groups explain taken out as in the screening; and those that were not looked
/// at as often as that takes, and were slow as far as they were.
fn still_slow(
    recheck: &[Suspect],
    effects: &Effects,
    groups: &[Suspect],
    screening: &Screening,
    shots: &[Shot],
) -> (Vec<Suspect>, Vec<Suspect>) {
    let (mut links, mut unseen) = (Vec::new(), Vec::new());
    for suspect in recheck {
        let Part::Link(pair) = suspect.part else { continue };
        let of_groups: f64 =
            groups.iter().filter(|group| group.explains(pair, screening)).map(|group| group.effect).sum();
        let is_slow = |look: &Shot| effects.rest(look) - of_groups < -LET_GO * suspect.threshold;
        let looks = || shots.iter().filter(|shot| shot.stage == Stage::Recheck && shot.pair == pair);
        match looks().all(is_slow) {
            true if looks().count() >= LOOKS => links.push(*suspect),
            true => unseen.push(*suspect),
            false => {}
        }
    }
    (links, unseen)
}

fn slow_hosts(effects: &Effects) -> Vec<Suspect> {
    let slow = |sides: &[Option<f64>], partners: &[u32], part: fn(HostId) -> Part| {
        let of_host = |(host, (effect, partners)): (usize, (&Option<f64>, &u32))| {
            let threshold = host_threshold(effects, *partners);
            let effect = (*effect).filter(|effect| *effect < -threshold && *partners >= LEAST_PARTNERS)?;
            Some(Suspect { part: part(HostId(host as u16)), effect, threshold, within: false })
        };
        sides.iter().zip(partners).enumerate().filter_map(of_host).collect::<Vec<_>>()
    };
    let mut all = slow(&effects.sends, &effects.sent_to, Part::Sends);
    all.extend(slow(&effects.receives, &effects.had_from, Part::Receives));
    all
}

/// Groups of which most members are slow with all others.
fn slow_groups(screening: &Screening, cells: &[Shot], level: f64, plain: &Effects) -> Vec<Suspect> {
    if screening.groups.len() < LEAST_GROUPS && !screening.found {
        return Vec::new();
    }
    // Found ones are not all that there are: one of a third of the hosts stands apart, one of half of them does not.
    let hosts = plain.sends.len();
    let is_small =
        |group: &usize| !screening.found || MOST_PART * screening.groups[*group].hosts.len() <= hosts;
    let all = (0..screening.groups.len())
        .filter(is_small)
        .flat_map(|group| [(Part::GroupSends(group), true), (Part::GroupReceives(group), false)]);
    let of_part = |(part, sends): (Part, bool)| {
        let mut by_member: BTreeMap<HostId, Vec<f64>> = BTreeMap::new();
        for cell in cells.iter().filter(|cell| part.is_shown_by(cell.pair, screening)) {
            let member = if sends { cell.pair.from } else { cell.pair.to };
            by_member.entry(member).or_default().push(cell.log - level);
        }
        let count = by_member.values().map(Vec::len).sum::<usize>() as u32;
        let effect = median(by_member.values().flatten().copied())?;
        let threshold = host_threshold(plain, count);
        let is_slow = |logs: &Vec<f64>| median(logs.iter().copied()).is_some_and(|own| own < effect / 2.0);
        let slow = by_member.values().filter(|logs| is_slow(logs)).count();
        let holds = effect < -threshold
            && by_member.len() >= LEAST_MEMBERS
            && slow as f64 >= MEMBERS * by_member.len() as f64;
        holds.then_some(Suspect { part, effect, threshold, within: false })
    };
    all.filter_map(of_part).collect()
}
