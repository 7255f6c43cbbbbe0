//! Values of knobs that a host has not: known before anything is measured, by what its agent said of itself.

use super::filter;
use super::link::{self, Wrong};
use crate::plan::{Arm, Case, Placement, Plan, Setting, Suite, View};
use crate::record::{HostFacts, KnobRefused, Reason, Recording};
use crate::unit::Bytes;
use crate::vocabulary::ReasonKind::Lacking;
use crate::vocabulary::{Had, HostKnob, HostPlace, Knob, Rung, SysctlValue};

/// What the user asks for by hand and a host has not; none where each has all. Cases of suites are left out one by one.
pub fn unusable_knob(plan: &Plan, recording: &Recording) -> Option<Wrong> {
    let are_asked_for = plan.view.suites().is_empty() && plan.tuning().is_none();
    let are_chosen = plan.view.rungs().iter().filter_map(|id| Rung::named(id)).any(Rung::chooses_engine);
    let arms = plan.arms.iter().filter(|arm| are_asked_for && !are_chosen && !arm.is_of_search());
    let asked = plan.settings.iter().chain(arms.flat_map(|arm| &arm.settings));
    let of_suites = plan.view.suites().iter().flat_map(Suite::rungs);
    let rungs: Vec<&Rung> =
        plan.view.rungs().iter().chain(of_suites).filter_map(|id| Rung::named(id)).collect();
    let is_used = |setting: &&Setting| rungs.iter().any(|rung| setting.acts_on(rung));
    asked.filter(is_used).find_map(|setting| lacking(plan, setting, &recording.hosts))
}

/// The experiments for a cause that a host does not allow, candidates of a search, or engines of a ladder, with their arms. What a user asks
/// for by hand is refused before.
pub(super) fn refused_experiments(plan: &Plan, recording: &Recording) -> Vec<(u32, Reason)> {
    let refusal = |arm: &Arm| {
        let is_tried = arm.is_of_search() || plan.tuning().is_some() || matches!(plan.view, View::Ladder(_));
        let mut settings = arm.settings.iter().filter(|_| is_tried);
        let is_search = plan.tuning().is_some();
        let (why, hint) = settings.find_map(|setting| {
            let hosts = &recording.hosts;
            lacking(plan, setting, hosts).or_else(|| lowering(setting, hosts).filter(|_| is_search))
        })?;
        Some(Reason::new(Lacking, why, hint))
    };
    (1..).zip(&plan.arms).filter_map(|(number, arm)| Some((number, refusal(arm)?))).collect()
}

/// Why a suite's case is not measured, where it sets what one of its hosts has not.
pub(super) fn of_case(plan: &Plan, recording: &Recording, rung: &Rung, case: &Case) -> Option<Reason> {
    if let Some(reason) = link::of_case(plan, recording, rung, case) {
        return Some(reason);
    }
    let arm = plan.arms.get((case.arm as usize).checked_sub(1)?)?;
    let is_left_out = |setting: &&Setting| {
        setting.acts_on(rung) && Knob::named(&setting.knob).is_some_and(|knob| knob.had != Had::Clipped)
    };
    let (why, hint) = arm
        .settings
        .iter()
        .filter(is_left_out)
        .find_map(|setting| lacking(plan, setting, &recording.hosts))?;
    Some(Reason::new(Lacking, why, hint))
}

/// The first host that has not what is asked for.
fn lacking(plan: &Plan, setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    match Knob::named(&setting.knob)?.had {
        Had::Always => None,
        Had::Cpus => lacking_cpu(setting, hosts),
        Had::Links => link::lacking(plan, setting, hosts),
        Had::Filter => filter::lacking(plan, setting),
        Had::FilterTried => filter::lacking(plan, setting).or_else(|| tried(setting, hosts)),
        Had::Host => link::unchanged(plan, setting),
        Had::Tried | Had::Clipped => tried(setting, hosts),
    }
}

/// The first host whose limit a search would lower: its levels are those of limits that are too low.
fn lowering(setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    let HostPlace::Sysctl(path, SysctlValue::ThirdOf(_)) = HostKnob::named(&setting.knob)?.place else {
        return None;
    };
    let asked = setting.value.parse::<Bytes>().ok()?;
    let name = path.replace('/', ".");
    hosts.iter().find_map(|host| {
        let limit = host.environment.stack.get(&name)?.as_array()?.last()?.as_u64()?;
        let why = format!("{name} goes up to {} there, which is more", Bytes(limit));
        (limit > asked.0).then(|| (refusal(setting, host, &why), String::new()))
    })
}

/// The first host that tried the value and has it not.
fn tried(setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    hosts.iter().find_map(|host| {
        let is_it = |one: &&KnobRefused| is_refused(one, setting);
        let refused = host.refused.iter().find(is_it)?;
        Some((refusal(setting, host, &refused.why), refused.hint.clone()))
    })
}

fn is_refused(refused: &KnobRefused, setting: &Setting) -> bool {
    (&refused.knob, &refused.value) == (&setting.knob, &setting.value)
}

fn refusal(setting: &Setting, host: &HostFacts, why: &str) -> String {
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
    use crate::plan::{Arm, Comparison, Metric, Rungs, Tuning};
    use crate::record::synthetic::Synthetic;
    use serde_json::json;

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
        let refused_on_b = |rung: &str, set: &[&str]| {
            let (plan, recording) = asked("tcp.congestion-control=bbr3", rung, set);
            unusable_knob(&plan, &recording)
        };
        let said = ("tcp.congestion-control=bbr3: host b: has it not".to_owned(), "it has reno".to_owned());
        assert_eq!(refused_on_b("network.tcp", &["tcp.congestion-control=bbr3"]), Some(said.clone()));
        assert_eq!(refused_on_b("network.tcp", &["network:tcp.congestion-control=bbr3"]), Some(said));
        assert_eq!(refused_on_b("network.tcp", &["in-host:tcp.congestion-control=bbr3"]), None);
        assert_eq!(refused_on_b("network.udp", &["tcp.congestion-control=bbr3"]), None);
        assert_eq!(refused_on_b("network.tcp", &["tcp.congestion-control=reno"]), None);
        let (what, hint) = refused_on_b("network.tcp", &["cpu.placement=0/7"]).unwrap();
        assert_eq!((&*what, &*hint), ("cpu.placement=0/7: host b may not use CPU 7", "it has 0, 1"));
    }

    #[test]
    fn a_candidate_is_held_against_the_hosts_too() {
        let (mut plan, recording) = asked("tcp.send-engine=io-uring", "network.tcp", &[]);
        plan.arms = vec![Arm::candidate(vec!["tcp.send-engine=io-uring".parse().unwrap()])];
        assert!(unusable_knob(&plan, &recording).is_some());
    }

    #[test]
    fn a_search_lowers_no_limit_of_a_host() {
        let (mut plan, mut recording) = asked("tcp.send-engine=io-uring", "network.tcp", &[]);
        let levels = ["16MiB", "64MiB"].map(|size| format!("host.tcp-receive-buffer={size}"));
        plan.arms = levels.iter().map(|level| Arm::candidate(vec![level.parse().unwrap()])).collect();
        let comparison = Comparison {
            metric: Metric::Throughput,
            blocks: 12,
            extend: false,
            margin: 0.01,
            connections: 1,
            adaptive: false,
            against_bps: None,
            hosts: false,
        };
        let design = Tuning { comparison, screening: 5, hosts: true };
        plan.view = View::Tuning { rungs: Rungs::named(["network.tcp"]), design };
        recording.hosts[1]
            .environment
            .stack
            .insert("net.ipv4.tcp_rmem".into(), json!([4096, 131_072, 32 << 20]));
        let refused = refused_experiments(&plan, &recording);
        let reasons: Vec<(u32, &str)> = refused.iter().map(|(arm, reason)| (*arm, &*reason.why)).collect();
        let why =
            "host.tcp-receive-buffer=16MiB: host b: net.ipv4.tcp_rmem goes up to 32 MiB there, which is more";
        assert_eq!(reasons, [(1, why)]);
        recording.hosts[1].environment.stack.clear();
        assert_eq!(refused_experiments(&plan, &recording), []);
    }

    #[test]
    fn a_case_of_a_suite_is_left_out_and_a_smaller_buffer_is_not() {
        let rung = Rung::named("network.tcp").unwrap();
        for (set, is_left_out) in [("tcp.congestion-control=bbr3", true), ("socket.send-buffer=1GiB", false)]
        {
            let (mut plan, recording) = asked(set, "network.tcp", &[]);
            plan.arms = vec![Arm::candidate(vec![set.parse().unwrap()])];
            assert_eq!(of_case(&plan, &recording, rung, &in_arm(1)).is_some(), is_left_out, "{set}");
            assert_eq!(of_case(&plan, &recording, rung, &in_arm(0)), None);
        }
    }

    fn in_arm(arm: u32) -> Case {
        Case { arm, flows: 2, ..Case::default() }
    }

    /// Why a case with these settings is not measured on a target; none where it is.
    fn refused_text(target: &str, rung: &str, set: &[&str]) -> Option<String> {
        let mut recording = Synthetic::default().recording();
        let mut plan = recording.plan().unwrap().clone();
        plan.target = target.parse().unwrap();
        let settings = set.iter().map(|text| text.parse().unwrap()).collect();
        plan.arms = vec![Arm::candidate(settings)];
        for host in &mut recording.hosts {
            host.address = Some("192.0.2.1".into());
            let facts = [("mtu", json!(1500)), ("addresses", json!(["192.0.2.1/24"]))];
            let facts = facts.map(|(name, fact)| (name.to_owned(), fact));
            host.environment.interfaces = [("eth0".to_owned(), facts.into())].into();
        }
        of_case(&plan, &recording, Rung::named(rung).unwrap(), &in_arm(1)).map(|reason| reason.why)
    }

    #[test]
    fn links_are_set_in_a_lab_and_nowhere_else() {
        let tcp = "network.tcp";
        for set in ["link.mtu=9000", "link.offload=off", "link.coalesce=64us"] {
            let by_ssh = refused_text("ssh://x,ssh://y", tcp, &[set]).unwrap();
            assert!(by_ssh.starts_with(&format!("{set}: host settings are not changed")), "{by_ssh}");
            assert_eq!(refused_text("lab:wire=user", tcp, &[set]), None);
            assert!(
                refused_text("lab:wire=user", "in-host.tcp", &[set]).unwrap().contains("no link"),
                "{set}"
            );
        }
        let large = refused_text("ssh://x,ssh://y", tcp, &["link.mtu=9000"]).unwrap();
        assert!(large.ends_with("and the MTU of eth0 of host a is 1500"), "{large}");
        assert_eq!(refused_text("ssh://x,ssh://y", tcp, &["link.mtu=1500"]), None, "it is so already");
        assert_eq!(refused_text("lab", tcp, &["link.mtu=9000"]), None);
        assert!(refused_text("lab", tcp, &["link.coalesce=64us"]).unwrap().contains("holds none back"));
        let frames = refused_text("lab:wire=user", tcp, &["link.coalesce-frames=8"]);
        assert!(frames.unwrap().contains("says nothing without"));
        assert_eq!(refused_text("lab:coalesce=1ms", tcp, &["link.coalesce-frames=8"]), None);
    }

    #[test]
    fn adapters_are_of_a_labs_hosts_and_want_a_connection_each() {
        let (tcp, two) = ("network.tcp", ["link.adapters=2"]);
        assert_eq!(refused_text("lab", tcp, &two), None);
        assert_eq!(refused_text("lab:rate=1Gb/s,wire=tbf", tcp, &two), None);
        assert!(refused_text("lab:rate=1Gb/s", tcp, &two).unwrap().contains("own wire has one port a host"));
        assert!(refused_text("lab:fault=sack-off", tcp, &two).unwrap().contains("first adapter alone"));
        assert!(refused_text("ssh://x,ssh://y", tcp, &two).unwrap().contains("measured at one address"));
        assert_eq!(refused_text("ssh://x,ssh://y", tcp, &["link.adapters=1"]), None, "it is so already");
        let few = refused_text("lab", tcp, &["link.adapters=3"]).unwrap();
        assert_eq!(few, "link.adapters=3: 2 connections by 3 adapters");
        assert!(refused_text("lab", "network.tcp6", &two).unwrap().contains("IPv4"));
        assert!(refused_text("lab", "in-host.tcp", &two).unwrap().contains("no link"));
    }

    #[test]
    fn segments_that_no_link_carries_are_not_measured() {
        for target in ["lab", "ssh://x,ssh://y"] {
            let large = refused_text(target, "network.tcp", &["tcp.mss=8948"]).unwrap();
            assert_eq!(large, "tcp.mss=8948: the MTU of eth0 of host a is 1500, which leaves 1460 B");
            assert_eq!(refused_text(target, "network.tcp", &["tcp.mss=1460"]), None);
            assert!(refused_text(target, "network.tcp6", &["tcp.mss=1460"]).is_some());
            assert_eq!(refused_text(target, "in-host.tcp", &["tcp.mss=8948"]), None);
            // The last word holds.
            assert_eq!(refused_text(target, "network.tcp", &["tcp.mss=8948", "tcp.mss=536"]), None);
        }
        assert_eq!(refused_text("lab", "network.tcp", &["link.mtu=9000", "tcp.mss=8948"]), None);
        assert!(refused_text("lab", "network.tcp", &["link.mtu=4000", "tcp.mss=8948"]).is_some());
    }
}
