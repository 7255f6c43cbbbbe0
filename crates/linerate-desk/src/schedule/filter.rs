//! What is asked of a packet filter, held against where its rules would stand: a lab's hosts have one, others do not.

use super::link::Wrong;
use crate::plan::{Case, FilterPlace, Fits, Plan, Setting, Target, Tracking, router};
use crate::record::Reason;
use crate::vocabulary::ReasonKind::Unable;
use crate::vocabulary::{FILTER_RULES, Family, FilterKind, Had, Knob, Place, Rung};

const UNCHANGED: &str = "rules stand in a lab's own network namespaces alone: run it on `lab`";

/// Why a packet filter is not to be had on a target.
pub(super) fn lacking(plan: &Plan, setting: &Setting) -> Option<Wrong> {
    let what = format!("{}={}: the packet filters of hosts are not changed", setting.knob, setting.value);
    match &plan.target {
        Target::Ssh(_) | Target::Launched(_) => Some((what, UNCHANGED.into())),
        Target::Lab(_) | Target::Simulated(_) => None,
    }
}

/// Why a case is not measured for the filter that it asks for: it would be called by rules that none of its packets meets.
pub(super) fn of_case(plan: &Plan, rung: &Rung, case: &Case) -> Option<Reason> {
    let arm = (case.arm as usize).checked_sub(1).and_then(|at| plan.arms.get(at));
    let of_arm = arm.is_some_and(|arm| arm.settings.iter().any(is_of_filter));
    let unable = |why: String, hint: &str| Some(Reason::new(Unable, why, hint));
    // What is set for the whole run is meant for the rungs that it concerns.
    if of_arm && rung.place == Place::InHost {
        return unable("a packet filter: within a host no packet meets it".into(), "a rung of the network");
    }
    if of_arm && rung.family == Family::V6 {
        return unable(
            "a packet filter: its rules are of IPv4".into(),
            "network.tcp in place of network.tcp6",
        );
    }
    let Some(filter) = plan.filter_for(rung.id, case.arm) else { return without_rules(plan, rung, case) };
    if filter.at == FilterPlace::Router && router(&case.pairs, &plan.host_ids()).is_none() {
        return unable(
            "filter.at=router: no host is left to stand between these".into(),
            "a lab with one more, and a plan file or suite: lab:hosts=3",
        );
    }
    let kind = FilterKind::named(&filter.kind);
    if kind.is_some_and(|kind| !kind.hooked) {
        let beyond = [
            (filter.at == FilterPlace::Sender, "filter.at=sender", "filter.at=receiver"),
            (filter.tracking != Tracking::None, "filter.state", "filter.state=stateless"),
        ];
        if let Some((_, what, hint)) = beyond.into_iter().find(|(is_asked, ..)| *is_asked) {
            let why = format!(
                "{what}: {} meets packets where they come in, before connections are tracked",
                filter.kind
            );
            return unable(why, hint);
        }
    }
    if filter.fits == Fits::None {
        return None;
    }
    if filter.rules == 0 {
        return unable("filter.match: of no rules none fits".into(), "filter.rules=1 or more");
    }
    let is_ordered = kind.is_some_and(|kind| kind.ordered);
    (!is_ordered).then(|| {
        let why = format!("filter.match: {} is looked up at once, and has no first rule", filter.kind);
        Reason::new(Unable, why, "filter.kind=nft-list, iptables-nft or iptables-legacy")
    })
}

fn is_of_filter(setting: &Setting) -> bool {
    let had = Knob::named(&setting.knob).map(|knob| knob.had);
    matches!(had, Some(Had::Filter | Had::FilterTried))
}

/// Settings of a filter that is not asked for.
fn without_rules(plan: &Plan, rung: &Rung, case: &Case) -> Option<Reason> {
    let meets = rung.place == Place::Network && rung.family == Family::V4;
    let setting = plan.settings_for(rung.id, case.arm).find(|setting| is_of_filter(setting) && meets)?;
    let why = format!("{}={} says nothing without {}", setting.knob, setting.value, FILTER_RULES.name);
    Some(Reason::new(Unable, why, "say how many: filter.rules=1000"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arm, HostId, Pairs, PlannedHost};
    use crate::record::synthetic::Synthetic;

    /// Why a case with these settings is not measured; none where it is.
    fn refused_text(hosts: u32, rung: &str, set: &[&str]) -> Option<String> {
        let mut plan = Synthetic::default().recording().plan().unwrap().clone();
        plan.hosts = PlannedHost::first(hosts);
        plan.arms = vec![Arm::candidate(set.iter().map(|text| text.parse().unwrap()).collect())];
        let pairs = Pairs::single(HostId(0), HostId(1));
        let case = Case { rung: rung.into(), arm: 1, pairs, ..Case::default() };
        of_case(&plan, Rung::named(rung).unwrap(), &case).map(|reason| reason.why)
    }

    #[test]
    fn a_filter_that_no_packet_meets_is_not_measured() {
        let (tcp, five) = ("network.tcp", "filter.rules=5");
        assert_eq!(refused_text(2, tcp, &[five, "filter.kind=nft-set"]), None);
        assert_eq!(refused_text(2, tcp, &["tcp.mss=536"]), None);
        assert_eq!(refused_text(3, tcp, &[five, "filter.at=router"]), None);
        let bpf = "filter.kind=tc-bpf";
        assert_eq!(refused_text(2, tcp, &[five, bpf, "filter.match=last"]), None);
        let cases: [(&str, &[&str], &str); 9] = [
            (tcp, &[five, bpf, "filter.at=sender"], "where they come in"),
            (tcp, &[five, bpf, "filter.state=state-last"], "before connections are tracked"),
            ("in-host.tcp", &[five], "within a host"),
            ("network.tcp6", &[five], "of IPv4"),
            (tcp, &["filter.kind=ipset"], "says nothing without filter.rules"),
            (tcp, &[five, "filter.at=router"], "no host is left"),
            (tcp, &["filter.rules=0", "filter.match=last"], "of no rules none fits"),
            (tcp, &[five, "filter.match=last", "filter.kind=nft-map"], "has no first rule"),
            (tcp, &[five, "filter.match=first", "filter.kind=ipset"], "has no first rule"),
        ];
        for (rung, set, why) in cases {
            let told = refused_text(2, rung, set).unwrap_or_default();
            assert!(told.contains(why), "{rung} {set:?}: {told}");
        }
    }

    #[test]
    fn real_hosts_keep_their_packet_filters() {
        let mut plan = Synthetic::default().recording().plan().unwrap().clone();
        let setting: Setting = "filter.rules=5".parse().unwrap();
        for (target, is_refused) in [("ssh://x,ssh://y", true), ("lab", false), ("simulated", false)] {
            plan.target = target.parse().unwrap();
            assert_eq!(lacking(&plan, &setting).is_some(), is_refused, "{target}");
        }
    }
}
