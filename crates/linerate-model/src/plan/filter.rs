//! The packet filter that a case asks for: what rules it has, how they are kept, and on which hosts they stand.

use super::{HostId, Pairs, Plan};
use crate::vocabulary::{
    FILTER_AT, FILTER_KIND, FILTER_MATCH, FILTER_RULES, FILTER_STATE, Family, NFT_LIST, Place, Rung,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A packet filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterSettings {
    /// How many rules it has, besides one for states.
    pub rules: u32,
    /// How they are kept: a name of the vocabulary.
    pub kind: String,
    /// Which of them fits the packets of the lab.
    pub fits: Fits,
    /// Whether connections are tracked.
    pub tracking: Tracking,
    /// Where it stands.
    pub at: FilterPlace,
}

/// Which rule fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fits {
    /// None of them.
    #[default]
    None,
    /// The first.
    First,
    /// The one in the middle.
    Middle,
    /// The last.
    Last,
}

/// Whether connections are tracked, and where the rule is that accepts what belongs to one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tracking {
    /// They are not.
    #[default]
    #[serde(rename = "stateless")]
    None,
    /// Before the others.
    #[serde(rename = "state-first")]
    First,
    /// Behind the others.
    #[serde(rename = "state-last")]
    Last,
}

/// Where the rules stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterPlace {
    /// Where data comes in.
    #[default]
    Receiver,
    /// Where it goes out.
    Sender,
    /// On a host that forwards it.
    Router,
}

/// Which packets of its host a filter meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// Those for a process of the host.
    Input,
    /// Those of a process of the host.
    Output,
    /// Those that are forwarded.
    Forward,
}

/// What one host has to do with a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterDuty {
    /// Where the rules stand on it; none where it has none.
    pub hook: Option<Hook>,
    /// Hosts that it reaches by way of another one, and that one.
    pub routes: Vec<(HostId, HostId)>,
}

impl Fits {
    /// The place of the rule that fits among so many, from 0; none where none does.
    pub fn place(self, rules: u32) -> Option<u32> {
        let last = rules.checked_sub(1)?;
        match self {
            Fits::None => None,
            Fits::First => Some(0),
            Fits::Middle => Some(last / 2),
            Fits::Last => Some(last),
        }
    }
}

impl FilterSettings {
    /// What a host has to do with it while these pairs are measured; `all` are the hosts of the run. A router is the first
    /// of them that is in no pair.
    pub fn duty(&self, pairs: &Pairs, all: &[HostId], host: HostId) -> FilterDuty {
        let at = |hook: Hook, stands: bool| FilterDuty { hook: stands.then_some(hook), routes: Vec::new() };
        match self.at {
            FilterPlace::Receiver => at(Hook::Input, pairs.receivers().has(host)),
            FilterPlace::Sender => at(Hook::Output, pairs.senders().has(host)),
            FilterPlace::Router => {
                let Some(router) = router(pairs, all) else { return FilterDuty::default() };
                let far = |pair: super::HostPair| match (pair.from == host, pair.to == host) {
                    (true, _) => Some((pair.to, router)),
                    (_, true) => Some((pair.from, router)),
                    _ => None,
                };
                let mut routes: Vec<(HostId, HostId)> = pairs.iter().filter_map(far).collect();
                routes.sort_unstable();
                routes.dedup();
                FilterDuty { hook: (host == router).then_some(Hook::Forward), routes }
            }
        }
    }
}

/// The first host that is in no pair.
pub fn router(pairs: &Pairs, all: &[HostId]) -> Option<HostId> {
    all.iter().copied().find(|host| !pairs.has(*host))
}

impl Plan {
    /// The packet filter that a rung asks for in one arm; none where it asks for none, or where its packets meet none: within
    /// a host, and over IPv6.
    pub fn filter_for(&self, rung: &str, arm: u32) -> Option<FilterSettings> {
        let met = |rung: &Rung| rung.place == Place::Network && rung.family == Family::V4;
        if !Rung::named(rung).is_some_and(met) {
            return None;
        }
        let value = |knob: &str| self.value_for(rung, arm, knob);
        Some(FilterSettings {
            rules: value(FILTER_RULES.name)?.parse().ok()?,
            kind: value(FILTER_KIND.name).unwrap_or(NFT_LIST).into(),
            fits: word_or_default(value(FILTER_MATCH.name)),
            tracking: word_or_default(value(FILTER_STATE.name)),
            at: word_or_default(value(FILTER_AT.name)),
        })
    }
}

/// A word as the knob has it, which was checked when it was read; what holds where nothing is said.
fn word_or_default<T: DeserializeOwned + Default>(word: Option<&str>) -> T {
    word.and_then(|word| serde_json::from_value(word.into()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arm, HostPair, PlannedHost, Profile, Rungs, View};
    use crate::vocabulary::{Knob, KnobKind};

    fn plan(set: &[&str]) -> Plan {
        Plan {
            target: "lab:hosts=3".parse().unwrap(),
            hosts: PlannedHost::first(3),
            profile: Profile::named("quick").unwrap(),
            view: View::Ladder(Rungs::named(["network.tcp"])),
            settings: Vec::new(),
            arms: vec![Arm::candidate(set.iter().map(|text| text.parse().unwrap()).collect())],
            seed: 1,
            budget_ns: None,
        }
    }

    fn filter(set: &[&str]) -> FilterSettings {
        plan(set).filter_for("network.tcp", 1).unwrap()
    }

    #[test]
    fn a_filter_is_what_the_knobs_say() {
        let usual = FilterSettings {
            rules: 5,
            kind: "nft-list".into(),
            fits: Fits::None,
            tracking: Tracking::None,
            at: FilterPlace::Receiver,
        };
        assert_eq!(filter(&["filter.rules=5"]), usual);
        let all = ["filter.rules=9", "filter.kind=ipset", "filter.match=last", "filter.state=state-first"];
        let said = filter(&[&all[..], &["filter.at=router"]].concat());
        assert_eq!((said.kind.as_str(), said.fits, said.tracking), ("ipset", Fits::Last, Tracking::First));
        assert_eq!((said.rules, said.at), (9, FilterPlace::Router));
        let asked = plan(&["filter.rules=5"]);
        for (rung, arm) in [("network.tcp", 0), ("network.tcp6", 1), ("in-host.tcp", 1), ("none", 1)] {
            assert_eq!(asked.filter_for(rung, arm), None, "{rung} {arm}");
        }
        assert_eq!(plan(&["filter.kind=ipset"]).filter_for("network.tcp", 1), None, "it has no rules");
    }

    /// A word that is not read would be taken for the default.
    #[test]
    fn every_word_of_a_filters_knobs_is_read() {
        fn is_read<T: DeserializeOwned>(word: &str) -> bool {
            serde_json::from_value::<T>(word.into()).is_ok()
        }
        type Read = fn(&str) -> bool;
        let reads: [(&Knob, Read); 3] = [
            (&FILTER_MATCH, is_read::<Fits>),
            (&FILTER_STATE, is_read::<Tracking>),
            (&FILTER_AT, is_read::<FilterPlace>),
        ];
        for (knob, read) in reads {
            let KnobKind::OneOf(words) = knob.kind else { panic!("{}", knob.name) };
            assert!(words.iter().all(|word| read(word)), "{}", knob.name);
        }
    }

    #[test]
    fn rules_stand_where_packets_pass() {
        let [a, b, c] = [0, 1, 2].map(HostId);
        let duty = |at: &str, host: HostId| {
            let filter = filter(&["filter.rules=5", &format!("filter.at={at}")]);
            filter.duty(&Pairs::single(a, b), &[a, b, c], host)
        };
        let hooks = |at: &str| [a, b, c].map(|host| duty(at, host).hook);
        assert_eq!(hooks("receiver"), [None, Some(Hook::Input), None]);
        assert_eq!(hooks("sender"), [Some(Hook::Output), None, None]);
        assert_eq!(hooks("router"), [None, None, Some(Hook::Forward)]);
        let routes = [a, b, c].map(|host| duty("router", host).routes);
        assert_eq!(routes, [vec![(b, c)], vec![(a, c)], Vec::new()]);
        let both: Pairs = [HostPair { from: a, to: b }, HostPair { from: b, to: c }].into_iter().collect();
        let none = filter(&["filter.rules=5", "filter.at=router"]).duty(&both, &[a, b, c], c);
        assert_eq!(none, FilterDuty::default(), "nobody is between");
    }

    #[test]
    fn the_rule_that_fits_is_one_of_them() {
        let places = |rules: u32| [Fits::First, Fits::Middle, Fits::Last].map(|fits| fits.place(rules));
        assert_eq!(places(0), [None; 3]);
        assert_eq!(places(1), [Some(0); 3]);
        assert_eq!(places(5000), [Some(0), Some(2499), Some(4999)]);
        assert_eq!(Fits::None.place(5000), None);
    }
}
