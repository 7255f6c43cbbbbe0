//! A screening of many hosts: every host with several others in rounds of disjoint pairs, and what is done with suspects.

use super::{HostId, Plan, View};
use crate::vocabulary::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most groups of a plan.
pub const MOST_GROUPS: usize = 4096;

fn is_not(flag: &bool) -> bool {
    !flag
}

/// How many hosts are screened, and for what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    /// Partners that each host sends to and receives from: a round each where directions take turns, a round two of them
    /// where both are at once. All others are met in one fewer than there are hosts.
    pub rounds: u32,
    /// Both directions between two hosts at once; else one at a time.
    #[serde(default, skip_serializing_if = "is_not")]
    pub bidirectional: bool,
    /// Hosts that have something in common, a rack or a switch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<HostSet>,
    /// Whether the groups were found from what was measured: no plan says so.
    #[serde(skip)]
    pub found: bool,
    /// What the hosts are called by who uses them, in their order; empty where their letters do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Hosts with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSet {
    /// What they are called together.
    pub name: String,
    /// The hosts.
    pub hosts: Vec<HostId>,
}

impl Screening {
    /// So many rounds, or as many as there are other hosts.
    pub fn of_rounds(rounds: u32, hosts: u32) -> Screening {
        Screening { rounds: rounds.clamp(1, hosts.saturating_sub(1).max(1)), ..Screening::default() }
    }

    /// What two hosts that meet send.
    pub fn stream(&self) -> Pattern {
        if self.bidirectional { Pattern::Bidirectional } else { Pattern::Stream }
    }

    /// Which group a host is in; none of most.
    pub fn group_of(&self, host: HostId) -> Option<usize> {
        self.groups.iter().position(|group| group.hosts.contains(&host))
    }

    /// What a host is called.
    pub fn name_of(&self, host: HostId) -> String {
        self.names.get(usize::from(host.0)).cloned().unwrap_or_else(|| host.to_string())
    }

    /// What makes it one that cannot be carried out with so many hosts.
    pub(super) fn check(&self, hosts: u32) -> Result<(), String> {
        if self.groups.len() > MOST_GROUPS {
            return Err(format!("{} groups of hosts, and at most {MOST_GROUPS} can be", self.groups.len()));
        }
        if self.names.len() > hosts as usize {
            return Err(format!("{} names of {hosts} hosts", self.names.len()));
        }
        let mut all: Vec<HostId> = self.groups.iter().flat_map(|group| group.hosts.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        match all.len() == count {
            true => Ok(()),
            false => Err("a host is in one group of hosts at most".into()),
        }
    }
}

impl Plan {
    /// The screening that it asks for; none of other plans.
    pub fn screening(&self) -> Option<&Screening> {
        match &self.view {
            View::Matrix { design, .. } => Some(design),
            View::Ladder(_) | View::Suites(_) | View::Comparison { .. } | View::Tuning { .. } => None,
        }
    }

    /// Whether one host that is not reached, or gone for good, is a line and not the end: where it is measured between
    /// more than two, and not each of them is needed for all.
    pub fn may_lose_hosts(&self) -> bool {
        match &self.view {
            View::Matrix { .. } => true,
            View::Suites(_) => self.hosts.len() > 2,
            View::Ladder(_) | View::Comparison { .. } | View::Tuning { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_rounds_than_other_hosts() {
        let rounds = |rounds, hosts| Screening::of_rounds(rounds, hosts).rounds;
        assert_eq!([rounds(16, 8), rounds(16, 64), rounds(0, 64), rounds(9, 1)], [7, 16, 1, 1]);
    }

    #[test]
    fn a_host_is_in_one_group() {
        let group = |name: &str, hosts: &[u16]| HostSet {
            name: name.into(),
            hosts: hosts.iter().map(|host| HostId(*host)).collect(),
        };
        let groups = vec![group("r1", &[0, 1]), group("r2", &[2])];
        let mut screening = Screening { groups, ..Screening::of_rounds(2, 4) };
        assert!(screening.check(4).is_ok());
        assert_eq!((screening.group_of(HostId(2)), screening.group_of(HostId(3))), (Some(1), None));
        screening.groups.push(group("r3", &[1]));
        assert!(screening.check(4).unwrap_err().contains("one group"));
    }
}
