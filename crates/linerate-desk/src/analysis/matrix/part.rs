//! What may be slow: a host, one direction of it, what is between two hosts, a group.

use crate::plan::{HostId, HostPair, Screening};

/// What may be slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What leaves a group.
    GroupSends(usize),
    /// What comes into one.
    GroupReceives(usize),
    /// What goes between a group and the others, there and back.
    GroupExchanges(usize),
    /// What a host sends.
    Sends(HostId),
    /// What it receives.
    Receives(HostId),
    /// What it has with others, there and back.
    Exchanges(HostId),
    /// What goes from one host to another.
    Link(HostPair),
    /// What goes between two hosts, there and back.
    Path(HostPair),
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

/// The same two hosts, the other way.
pub fn reversed(pair: HostPair) -> HostPair {
    HostPair { from: pair.to, to: pair.from }
}

impl Part {
    /// Whether a pair shows it.
    pub fn is_shown_by(self, pair: HostPair, screening: &Screening) -> bool {
        // Only of groups is it looked up who is in one.
        let is_in = |host: HostId, group: usize| screening.group_of(host) == Some(group);
        match self {
            Part::GroupSends(group) => is_in(pair.from, group) && !is_in(pair.to, group),
            Part::GroupReceives(group) => is_in(pair.to, group) && !is_in(pair.from, group),
            Part::GroupExchanges(group) => is_in(pair.from, group) != is_in(pair.to, group),
            Part::Sends(host) => pair.from == host,
            Part::Receives(host) => pair.to == host,
            Part::Exchanges(host) => pair.from == host || pair.to == host,
            Part::Link(link) => pair == link,
            Part::Path(path) => pair == path || pair == reversed(path),
        }
    }

    /// Whether it is a group, and a pair is within it.
    pub fn holds_both(self, pair: HostPair, screening: &Screening) -> bool {
        self.group().is_some_and(|group| {
            [pair.from, pair.to].iter().all(|host| screening.group_of(*host) == Some(group))
        })
    }

    /// The group that it is of.
    pub fn group(self) -> Option<usize> {
        match self {
            Part::GroupSends(group) | Part::GroupReceives(group) | Part::GroupExchanges(group) => Some(group),
            Part::Sends(_) | Part::Receives(_) | Part::Exchanges(_) | Part::Link(_) | Part::Path(_) => None,
        }
    }

    /// The two hosts that it is between.
    pub fn ends(self) -> Option<HostPair> {
        match self {
            Part::Link(pair) | Part::Path(pair) => Some(pair),
            _ => None,
        }
    }

    /// Whether it is this host, or something between it and another one.
    pub fn is_of(self, host: HostId) -> bool {
        match self {
            Part::Sends(own) | Part::Receives(own) | Part::Exchanges(own) => own == host,
            Part::Link(pair) | Part::Path(pair) => pair.from == host || pair.to == host,
            Part::GroupSends(_) | Part::GroupReceives(_) | Part::GroupExchanges(_) => false,
        }
    }

    /// Whether either end may ask.
    pub fn is_of_both_ways(self) -> bool {
        matches!(self, Part::GroupExchanges(_) | Part::Exchanges(_) | Part::Path(_))
    }

    /// Whose risk it is.
    pub fn budget(self) -> Budget {
        match self {
            Part::GroupSends(_) | Part::GroupReceives(_) | Part::GroupExchanges(_) => Budget::Groups,
            Part::Sends(_) | Part::Receives(_) | Part::Exchanges(_) => Budget::Hosts,
            Part::Link(_) | Part::Path(_) => Budget::Links,
        }
    }

    /// The hosts of a part, in the order in which they are told.
    pub fn hosts(self, screening: &Screening) -> Vec<HostId> {
        match self {
            Part::Sends(host) | Part::Receives(host) | Part::Exchanges(host) => vec![host],
            Part::Link(pair) | Part::Path(pair) => vec![pair.from, pair.to],
            Part::GroupSends(group) | Part::GroupReceives(group) | Part::GroupExchanges(group) => {
                screening.groups.get(group).map_or(Vec::new(), |group| group.hosts.clone())
            }
        }
    }

    /// Who a pair's partner is to it: each partner is counted once, of a group each pair.
    pub fn partner(self, pair: HostPair) -> (HostId, HostId) {
        match self {
            Part::Sends(_) => (pair.to, pair.to),
            Part::Receives(_) => (pair.from, pair.from),
            Part::Exchanges(host) if pair.from == host => (pair.to, pair.to),
            Part::Exchanges(_) => (pair.from, pair.from),
            _ => (pair.from, pair.to),
        }
    }
}
