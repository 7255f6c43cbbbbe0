//! Values of knobs that a host has not: known before anything is measured, by what its agent said of itself.

use crate::plan::{Arm, Placement, Plan, Setting, Suite};
use crate::record::{HostFacts, KnobRefused, Reason, Recording};
use crate::vocabulary::ReasonKind::Lacking;
use crate::vocabulary::{Had, Knob, Rung};

/// What is wrong, and what to try.
type Wrong = (String, String);

/// What the user asks for by hand and a host has not; none where each has all. Cases of suites are left out one by one.
pub fn unusable_knob(plan: &Plan, recording: &Recording) -> Option<Wrong> {
    let arms = plan.arms.iter().filter(|arm| plan.view.suites().is_empty() && arm.cause.is_none());
    let asked = plan.settings.iter().chain(arms.flat_map(|arm| &arm.settings));
    let of_suites = plan.view.suites().iter().flat_map(Suite::rungs);
    let rungs: Vec<&Rung> =
        plan.view.rungs().iter().chain(of_suites).filter_map(|id| Rung::named(id)).collect();
    let is_used = |setting: &&Setting| rungs.iter().any(|rung| concerns(setting, rung));
    asked.filter(is_used).find_map(|setting| lacking(setting, &recording.hosts))
}

/// The experiments for a cause that a host does not allow, with their arms. What a user asks for by hand is refused
/// before.
pub(super) fn refused_experiments(plan: &Plan, recording: &Recording) -> Vec<(u32, Reason)> {
    let refusal = |arm: &Arm| {
        let mut settings = arm.settings.iter().filter(|_| arm.cause.is_some());
        let (why, hint) = settings.find_map(|setting| lacking(setting, &recording.hosts))?;
        Some(Reason::new(Lacking, why, hint))
    };
    (1..).zip(&plan.arms).filter_map(|(number, arm)| Some((number, refusal(arm)?))).collect()
}

/// Why a suite's case is not measured, where it sets what one of its hosts has not.
pub(super) fn of_case(plan: &Plan, recording: &Recording, rung: &Rung, arm: u32) -> Option<Reason> {
    let arm = plan.arms.get((arm as usize).checked_sub(1)?)?;
    let is_left_out = |setting: &&Setting| {
        concerns(setting, rung) && Knob::named(&setting.knob).is_some_and(|knob| knob.had != Had::Clipped)
    };
    let (why, hint) =
        arm.settings.iter().filter(is_left_out).find_map(|setting| lacking(setting, &recording.hosts))?;
    Some(Reason::new(Lacking, why, hint))
}

/// Whether a setting does something to a rung.
fn concerns(setting: &Setting, rung: &Rung) -> bool {
    let serves = |knob: &Knob| knob.transports.is_empty() || knob.transports.contains(&rung.transport.name);
    setting.applies_to(rung.id) && Knob::named(&setting.knob).is_some_and(serves)
}

/// The first host that has not what is asked for.
fn lacking(setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    match Knob::named(&setting.knob)?.had {
        Had::Always => None,
        Had::Cpus => lacking_cpu(setting, hosts),
        Had::Tried | Had::Clipped => hosts.iter().find_map(|host| {
            let is_it = |one: &&KnobRefused| is_refused(one, setting);
            let refused = host.refused.iter().find(is_it)?;
            Some((said(setting, host, &refused.why), refused.hint.clone()))
        }),
    }
}

fn is_refused(refused: &KnobRefused, setting: &Setting) -> bool {
    (&refused.knob, &refused.value) == (&setting.knob, &setting.value)
}

fn said(setting: &Setting, host: &HostFacts, why: &str) -> String {
    format!("{}={}: host {}: {why}", setting.knob, setting.value, host.host)
}

/// The first CPUs are of the first host, the second ones of the other; of one host both are.
fn lacking_cpu(setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    let Ok(Placement::Pinned(first, second)) = setting.value.parse() else { return None };
    [first, second].iter().enumerate().find_map(|(nth, cpus)| {
        let host = hosts.get(nth).or(hosts.last())?;
        let missing = cpus.iter().find(|cpu| !host.cpus.contains(cpu))?;
        let has: Vec<String> = host.cpus.iter().map(ToString::to_string).collect();
        let what =
            format!("{}={}: host {} may not use CPU {missing}", setting.knob, setting.value, host.host);
        Some((what, format!("it has {}", has.join(", "))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arm, Rungs, View};
    use crate::record::synthetic::Synthetic;

    /// A recording whose second host refuses this, and its plan with these settings.
    fn asked(refused: &str, rung: &str, set: &[&str]) -> (Plan, Recording) {
        let mut recording = Synthetic::default().recording();
        let mut plan = recording.plan().unwrap().clone();
        plan.settings = set.iter().map(|text| text.parse().unwrap()).collect();
        plan.view = View::Ladder(Rungs::named([rung]));
        let (knob, value) = refused.split_once('=').unwrap();
        let (why, hint) = ("has it not".into(), "it has reno".into());
        recording.hosts[1].refused = vec![KnobRefused { knob: knob.into(), value: value.into(), why, hint }];
        (plan, recording)
    }

    #[test]
    fn what_a_host_refuses_ends_a_run_of_a_rung_that_uses_it() {
        let told = |rung: &str, set: &[&str]| {
            let (plan, recording) = asked("tcp.congestion-control=bbr3", rung, set);
            unusable_knob(&plan, &recording)
        };
        let said = ("tcp.congestion-control=bbr3: host b: has it not".to_owned(), "it has reno".to_owned());
        assert_eq!(told("network.tcp", &["tcp.congestion-control=bbr3"]), Some(said.clone()));
        assert_eq!(told("network.tcp", &["network:tcp.congestion-control=bbr3"]), Some(said));
        assert_eq!(told("network.tcp", &["in-host:tcp.congestion-control=bbr3"]), None);
        assert_eq!(told("network.udp", &["tcp.congestion-control=bbr3"]), None);
        assert_eq!(told("network.tcp", &["tcp.congestion-control=reno"]), None);
        let (what, hint) = told("network.tcp", &["cpu.placement=0/7"]).unwrap();
        assert_eq!((&*what, &*hint), ("cpu.placement=0/7: host b may not use CPU 7", "it has 0, 1"));
    }

    #[test]
    fn a_candidate_is_held_against_the_hosts_too() {
        let (mut plan, recording) = asked("tcp.send-engine=io-uring", "network.tcp", &[]);
        plan.arms = vec![Arm::candidate(vec!["tcp.send-engine=io-uring".parse().unwrap()])];
        assert!(unusable_knob(&plan, &recording).is_some());
    }

    #[test]
    fn a_case_of_a_suite_is_left_out_and_a_smaller_buffer_is_not() {
        let rung = Rung::named("network.tcp").unwrap();
        for (set, is_left_out) in [("tcp.congestion-control=bbr3", true), ("socket.send-buffer=1GiB", false)]
        {
            let (mut plan, recording) = asked(set, "network.tcp", &[]);
            plan.arms = vec![Arm::candidate(vec![set.parse().unwrap()])];
            assert_eq!(of_case(&plan, &recording, rung, 1).is_some(), is_left_out, "{set}");
            assert_eq!(of_case(&plan, &recording, rung, 0), None);
        }
    }
}
