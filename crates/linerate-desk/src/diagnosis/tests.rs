//! What was put into a recording is found, and nothing else.

mod asked;
mod bounds;
mod bursts;
mod failures;

use super::*;
use crate::analysis::analyse;
use crate::plan::HostId;
use crate::record::synthetic::Synthetic;
use crate::record::{End, Event, Flow, Granted, InterfaceDelta, NotMeasured, Reason, SessionRecord};
use crate::unit::BitRate;
use crate::vocabulary::{Does, KNOBS, KnobKind, Pattern, ReasonKind, WARNINGS, Wait};
use serde_json::json;

fn quiet() -> Recording {
    Synthetic { noise: 0.001, sizes: vec![1, 64, 1 << 10, 1 << 16, 1 << 20], ..Synthetic::default() }
        .recording()
}

fn of(recording: &Recording) -> (Analysis, Diagnosis) {
    let analysis = analyse(recording);
    let diagnosis = diagnose(recording, &analysis);
    (analysis, diagnosis)
}

/// The codes found, and the names of the layers that have them.
fn found(recording: &Recording) -> Vec<(&'static str, String)> {
    let (analysis, diagnosis) = of(recording);
    let name = |finding: &Finding| finding.layer.map_or("run".into(), |layer| analysis.layers[layer].name());
    diagnosis.findings.iter().map(|finding| (finding.code, name(finding))).collect()
}

/// What `edit` adds to the findings of a quiet run.
fn added(edit: impl FnOnce(&mut Recording)) -> Vec<(&'static str, String)> {
    let mut recording = quiet();
    let before = found(&recording);
    edit(&mut recording);
    found(&recording).into_iter().filter(|finding| !before.contains(finding)).collect()
}

fn network_only(code: &'static str) -> Vec<(&'static str, String)> {
    vec![(code, "network.tcp a>b".into())]
}

/// Whether a step or trial is the one-flow stream from a to b.
fn is_plain(case: &crate::plan::Case) -> bool {
    case.rung == "network.tcp"
        && case.flows == 1
        && case.pairs.first().from == "a"
        && case.pattern == Pattern::Stream
}

#[test]
fn a_quiet_run_on_one_machine_has_one_warning() {
    assert_eq!(found(&quiet()), [("shared-cpus", "run".to_owned())]);
}

#[test]
fn every_finding_has_its_entry_in_the_vocabulary() {
    let mut recording = quiet();
    recording.end = None;
    recording.trials.retain(|trial| trial.pass < 4);
    recording.steps.iter_mut().for_each(|step| {
        step.kept_awake = false;
        step.timer_slack_lowered = false;
        for host in &mut step.hosts {
            host.softnet_dropped = 3;
            host.counters.insert("queue.eth0.fq_codel.drops".into(), 3);
        }
    });
    let (_, diagnosis) = of(&recording);
    for finding in &diagnosis.findings {
        assert!(WARNINGS.iter().any(|warning| warning.code == finding.code), "{}", finding.code);
        assert!(!finding.text().is_empty() && !finding.hint.is_empty());
    }
    let codes = |code| diagnosis.findings.iter().filter(|finding| finding.code == code).count();
    assert_eq!(codes("few-passes"), 9);
    assert_eq!(codes("interrupted"), 1);
    assert_eq!(codes("softnet-drops"), 9);
    assert_eq!(codes("queue-drops"), 9);
    assert_eq!(codes("not-kept-awake"), 8, "memory alone does not sleep");
}

/// What the kernel told of the flows of one layer's streams.
fn told(recording: &mut Recording, counts: &[(&str, u64)]) {
    for trial in recording.trials.iter_mut().filter(|trial| is_plain(&trial.case)) {
        let kernel = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        trial.roles[0].flows[0].kernel = kernel;
    }
}

#[test]
fn many_copied_zero_copies_are_told() {
    let sends =
        |copied| vec![("zero-copy.sends", 200), ("zero-copy.heard", 200), ("zero-copy.copied", copied)];
    assert_eq!(added(|recording| told(recording, &sends(3))), network_only("zero-copy-copied"));
    assert_eq!(added(|recording| told(recording, &sends(2))), []);
    let bytes = |copied| vec![("zero-copy.mapped-bytes", 100 - copied), ("zero-copy.copied-bytes", copied)];
    assert_eq!(added(|recording| told(recording, &bytes(6))), network_only("zero-copy-not-mapped"));
    assert_eq!(added(|recording| told(recording, &bytes(5))), []);
}

#[test]
fn ends_that_share_the_only_cpu_disturb_each_other() {
    let found = added(|recording| {
        recording.hosts.iter_mut().for_each(|host| host.cpus = vec![1]);
        for trial in &mut recording.trials {
            for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
                (flow.cpu, flow.run_delay_ns) = (Some(1), Some(flow.duration_ns / 2));
            }
        }
    });
    assert!(found.contains(&("one-cpu", "run".into())), "{found:?}");
    // Who is alone on memory is disturbed by somebody else.
    let is_blamed = |code, layer: &str| found.contains(&(code, layer.to_owned()));
    assert!(
        !is_blamed("foreign-cpu", "network.tcp a>b") && is_blamed("foreign-cpu", "memory.copy a"),
        "{found:?}"
    );
}

#[test]
fn another_process_is_counted_once_a_layer() {
    let mut recording = quiet();
    let trials = recording.trials.iter_mut().filter(|trial| is_plain(&trial.case));
    for trial in trials.skip(5).step_by(5) {
        let flow = &mut trial.roles[0].flows[0];
        flow.run_delay_ns = Some(flow.duration_ns / 5);
    }
    let (_, diagnosis) = of(&recording);
    let foreign: Vec<_> = diagnosis.findings.iter().filter(|finding| finding.code == "foreign-cpu").collect();
    assert_eq!(foreign.len(), 1);
    assert!(
        foreign[0].detail.contains("10 of 150 trials, at worst 20 % of the time"),
        "{}",
        foreign[0].detail
    );
    assert_eq!(foreign[0].evidence["trials"], 10);
}

#[test]
fn moves_interruptions_and_false_counts_show() {
    let all = |recording: &mut Recording, edit: &dyn Fn(&mut crate::record::RoleRecord)| {
        let trials = recording.trials.iter_mut().filter(|trial| is_plain(&trial.case));
        trials.for_each(|trial| trial.roles.iter_mut().for_each(edit));
    };
    let moved = added(|recording| all(recording, &|role| role.flows[0].migrated = true));
    assert_eq!(moved, network_only("migrated"));
    let preempted = added(|recording| all(recording, &|role| put_off(&mut role.flows[0])));
    assert_eq!(preempted, network_only("preempted"));
    let claimed = added(|recording| {
        all(recording, &|role| {
            let factor = if role.does == Does::Sends { 2 } else { 1 };
            role.flows[0].bytes *= factor;
        });
    });
    assert_eq!(claimed, network_only("byte-mismatch"));
}

/// A fiftieth of the block on the run queue: more than ticks cost, less than what is foreign.
fn put_off(flow: &mut Flow) {
    flow.involuntary_switches = 1;
    flow.run_delay_ns = Some(flow.duration_ns / 50);
}

#[test]
fn the_wake_ups_of_a_sleeping_end_are_its_own() {
    let after_wake_ups = |ns_each: u64| {
        added(|recording| {
            for trial in recording.trials.iter_mut().filter(|trial| is_plain(&trial.case)) {
                let flow = &mut trial.roles[0].flows[0];
                (flow.involuntary_switches, flow.voluntary_switches) = (1, flow.duration_ns / 50_000);
                flow.run_delay_ns = Some(flow.voluntary_switches * ns_each);
            }
        })
    };
    assert_eq!(after_wake_ups(4_000), []);
    assert!(after_wake_ups(20_000).contains(&network_only("foreign-cpu")[0]));
}

#[test]
fn few_interruptions_are_passed_over() {
    let some = added(|recording| {
        let mut trials = recording.trials.iter_mut().filter(|trial| trial.pass > 0 && is_plain(&trial.case));
        put_off(&mut trials.next().unwrap().roles[0].flows[0]);
    });
    assert_eq!(some, []);
    let many = added(|recording| {
        let trials = recording.trials.iter_mut().filter(|trial| trial.case.rung == "in-host.tcp");
        trials.for_each(|trial| put_off(&mut trial.roles[0].flows[0]));
    });
    assert_eq!(many, [("preempted", "in-host.tcp a".to_owned())]);
}

#[test]
fn interfaces_show_detours_and_other_traffic() {
    let edit = |edit: fn(&mut InterfaceDelta)| {
        added(move |recording| {
            let steps = recording.steps.iter_mut().filter(|step| is_plain(&step.case));
            steps.for_each(|step| step.hosts.iter_mut().flat_map(|host| &mut host.interfaces).for_each(edit));
        })
    };
    assert_eq!(edit(|interface| interface.rx_bytes /= 2), network_only("bytes-not-crossed"));
    assert_eq!(
        edit(|interface| (interface.rx_bytes, interface.rx_packets) =
            (2 * interface.rx_bytes, 2 * interface.rx_packets)),
        network_only("foreign-bytes")
    );
    assert_eq!(edit(|interface| interface.rx_packets /= 20), network_only("super-packets"));
    let through_loopback = edit(|interface| interface.name = "lo".into());
    assert_eq!(through_loopback, network_only("bytes-not-crossed"));
}

#[test]
fn many_retransmissions_are_named() {
    let again = |count: u64| {
        added(move |recording| {
            let steps = recording.steps.iter_mut().filter(|step| step.pass == 1 && is_plain(&step.case));
            steps.for_each(|step| {
                step.sockets[0].moved.insert("total_retrans".into(), count);
            });
        })
    };
    assert_eq!(again(100), network_only("retransmits"));
    assert_eq!(again(1), []);
}

#[test]
fn machines_show_steal_and_strangers() {
    let stolen = added(|recording| {
        let steps = recording.steps.iter_mut().filter(|step| step.case.rung == "memory.copy");
        steps.for_each(|step| step.hosts[0].steal_ns = 100_000_000);
    });
    assert_eq!(stolen, [("steal", "memory.copy a".to_owned())]);
    let strangers = added(|recording| {
        recording.steps.iter_mut().for_each(|step| step.hosts.iter_mut().for_each(|host| host.own_ns /= 2));
    });
    let in_host = ["memory.copy a", "in-host.shared-memory a", "in-host.tcp a"];
    assert_eq!(strangers, in_host.map(|name| ("foreign-cpu", name.to_owned())));
}

/// A session to which a knob was not granted as asked.
fn not_granted(flows: u32, arm: u32) -> Event {
    let granted = Granted {
        knob: "socket.send-buffer".into(),
        asked: Some("64MiB".into()),
        granted: Some("425984".into()),
    };
    session(flows, arm, granted)
}

fn session(flows: u32, arm: u32, granted: Granted) -> Event {
    Event::Session(SessionRecord { flows, arm, granted: vec![granted], ..plain_session() })
}

/// One connection between the hosts, of which nothing was asked.
fn plain_session() -> SessionRecord {
    SessionRecord {
        pass: 1,
        rung: "network.tcp".into(),
        flows: 1,
        arm: 0,
        host: HostId(0),
        worker: 0,
        granted: Vec::new(),
        endpoints: Vec::new(),
    }
}

#[test]
fn knobs_faults_and_unpinned_threads_are_named() {
    let knob = added(|recording| recording.push(not_granted(4, 0)));
    let four = ["network.tcp x 4 a>b", "network.tcp x 4 b>a", "network.tcp x 4 a<>b"];
    assert_eq!(knob, four.map(|name| ("knob-not-granted", name.to_owned())));
    let shim = added(|recording| {
        let settings = &mut recording.header.as_mut().unwrap().plan.settings;
        settings.push("shim.spin=5us".parse().unwrap());
        settings.push("network:shim.spin=0ns".parse().unwrap());
    });
    let faulty = ["in-host.shared-memory a", "in-host.tcp a"];
    assert_eq!(shim, faulty.map(|name| ("shim", name.to_owned())), "memory has no link");
    let unpinned = added(|recording| {
        let steps = recording.steps.iter_mut().filter(|step| is_plain(&step.case));
        steps.for_each(|step| step.roles[0].cpus.clear());
    });
    assert_eq!(unpinned, network_only("unpinned"));
    let placed = |granted: [&str; 2]| {
        added(|recording| {
            let steps = recording.steps.iter_mut().filter(|step| is_plain(&step.case));
            steps.for_each(|step| step.roles[0].cpus.clear());
            let queue = |value: &str| Granted {
                knob: "cpu.placement".into(),
                asked: Some("queue".into()),
                granted: Some(value.into()),
            };
            granted.iter().for_each(|value| recording.push(session(1, 0, queue(value))));
        })
    };
    assert_eq!(placed(["queue", "queue"]), [], "each flow has looked for its CPU itself");
    let refused = placed(["queue", "none"]);
    assert!(refused.iter().any(|(code, _)| *code == "unpinned"), "{refused:?}");
}

#[test]
fn every_knob_that_plants_a_fault_is_named() {
    let planting = KNOBS.iter().filter(|knob| knob.harmless.is_some());
    for knob in planting {
        let value = match knob.kind {
            KnobKind::Duration => "5us",
            KnobKind::Rate => "100Mb/s",
            KnobKind::Switch => "on",
            KnobKind::OneOf(words) => words[words.len() - 1],
            _ => "3",
        };
        let shim = added(|recording| {
            let setting = format!("network.tcp:{}={value}", knob.name).parse().unwrap();
            recording.header.as_mut().unwrap().plan.settings.push(setting);
        });
        assert!(shim.contains(&("shim", "network.tcp a>b".into())), "{}: {shim:?}", knob.name);
    }
}

#[test]
fn bbr_without_its_queue_is_named() {
    let bbr = |recording: &mut Recording| {
        let steps = recording.steps.iter_mut().filter(|step| is_plain(&step.case));
        steps.for_each(|step| step.sockets[0].congestion_control = Some("bbr".into()));
    };
    assert_eq!(added(bbr), network_only("congestion-control"));
    let paced = added(|recording| {
        bbr(recording);
        for host in &mut recording.hosts {
            host.environment.interfaces.entry("eth0".into()).or_default().insert("qdisc".into(), json!("fq"));
        }
    });
    assert_eq!(paced, []);
}

#[test]
fn a_refusal_to_poll_is_not_one_of_everything() {
    let refuse = |recording: &mut Recording, wait| {
        recording.trials.retain(|trial| trial.case.rung != "in-host.tcp" || trial.case.wait != wait);
        recording.push(Event::NotMeasured(NotMeasured {
            rung: "in-host.tcp".into(),
            pattern: Some(Pattern::PingPong),
            wait: Some(wait),
            host: Some(HostId(0)),
            reason: Reason::new(ReasonKind::Unsaid, "one CPU", "two"),
            ..NotMeasured::default()
        }));
    };
    let polling = added(|recording| refuse(recording, Wait::Polling));
    assert_eq!(polling, [("polling-refused", "in-host.tcp a".to_owned())]);
    let both = added(|recording| {
        refuse(recording, Wait::Polling);
        recording
            .unavailable
            .push(NotMeasured { wait: Some(Wait::Sleeping), ..recording.unavailable[0].clone() });
    });
    assert_eq!(both, []);
}

#[test]
fn wide_intervals_and_early_ends_are_named() {
    let noisy = Synthetic { noise: 0.2, ..Synthetic::default() }.recording();
    let wide = found(&noisy).into_iter().filter(|(code, _)| *code == "interval-wide").count();
    assert_eq!(wide, 9);
    let failed = added(|recording| {
        recording.end = Some(End { reason: "failed".into(), error: Some("b went away".into()), at_ns: 0 });
    });
    assert_eq!(failed, [("interrupted", "run".to_owned())]);
}

#[test]
fn a_pass_beyond_the_plan_is_told_as_one() {
    let mut recording = quiet();
    recording.end = None;
    let told = |recording: &Recording| {
        let (_, diagnosis) = of(recording);
        let finding = diagnosis.findings.iter().find(|finding| finding.code == "interrupted").unwrap();
        finding.detail.clone()
    };
    assert_eq!(told(&recording), "cut off in pass 10 of 10");
    recording.header.as_mut().unwrap().plan.profile.passes = 7;
    assert_eq!(told(&recording), "cut off in pass 10, after the 7 that were planned");
    recording.steps.clear();
    assert_eq!(told(&recording), "cut off before the first pass");
}

#[test]
fn a_fault_put_in_by_hand_is_said_first() {
    let mut recording = quiet();
    recording.header.as_mut().unwrap().plan.settings.push("shim.copies=2".parse().unwrap());
    let (_, diagnosis) = of(&recording);
    assert!(diagnosis.sentence.starts_with("With shim.copies=2 put in by hand: "), "{}", diagnosis.sentence);
}

/// A host of a quota that stopped it in 4 of 5 periods of each step.
fn throttled(recording: &mut Recording) {
    let told = "0.3 CPUs, set by cpu.max of the control group /a.slice/x.service, which is the systemd unit x.service";
    let quotas = serde_json::json!(["2 CPUs, set by cpu.max of the control group /a.slice", told]);
    recording.hosts[0].environment.host.insert("cgroup.quotas".into(), quotas);
    for step in &mut recording.steps {
        for (name, value) in [("periods", 5), ("throttled", 4)] {
            step.hosts[0].counters.insert(format!("quota./a.slice/x.service.{name}"), value);
            step.hosts[0].counters.insert(format!("quota./a.slice.{name}"), value - 4);
        }
    }
}

#[test]
fn a_quota_is_told_by_name_and_not_as_another_process() {
    let delayed = |recording: &mut Recording| {
        for flow in
            recording.trials.iter_mut().flat_map(|trial| &mut trial.roles).flat_map(|role| &mut role.flows)
        {
            (flow.run_delay_ns, flow.involuntary_switches) = (Some(flow.duration_ns / 2), 9);
        }
    };
    let mut recording = quiet();
    delayed(&mut recording);
    let codes = |recording: &Recording| {
        of(recording).1.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert!(codes(&recording).contains(&"foreign-cpu"));
    throttled(&mut recording);
    let (_, diagnosis) = of(&recording);
    let found = codes(&recording);
    assert_eq!(found[0], "throttled");
    assert!(!found.contains(&"foreign-cpu") && !found.contains(&"preempted"), "{found:?}");
    let detail = &diagnosis.findings[0].detail;
    let steps = recording.steps.len();
    assert!(detail.starts_with(&format!("host a in {} of {} periods", 4 * steps, 5 * steps)), "{detail}");
    assert!(detail.contains("0.3 CPUs") && detail.ends_with("unit x.service"), "{detail}");
    assert!(diagnosis.sentence.contains("0.3 CPUs"), "{}", diagnosis.sentence);
    // The nearest one in which it does not hold: a quota that was never used up.
    let mut free = quiet();
    throttled(&mut free);
    let counters = free.steps.iter_mut().flat_map(|step| &mut step.hosts).map(|host| &mut host.counters);
    counters.for_each(|counters| counters.retain(|name, _| !name.ends_with(".throttled")));
    assert!(!codes(&free).contains(&"throttled"));
}

#[test]
fn a_restarted_host_and_a_set_clock_are_told() {
    let codes = |recording: &Recording| {
        let found = of(recording).1.findings;
        found.into_iter().map(|finding| (finding.code, finding.detail)).collect::<Vec<_>>()
    };
    let mut recording = quiet();
    let is_ours = |(code, _): &(&str, String)| ["host-restarted", "clock-set"].contains(code);
    assert!(!codes(&recording).iter().any(is_ours));
    let count = recording.steps.len();
    let host = &mut recording.steps[count / 2].hosts[1];
    host.counters.insert("host.restarts".into(), 1);
    host.counters.insert("clock.forward_ns".into(), 3_600_000_000_000);
    recording.steps[1].hosts[0].counters.insert("clock.back_ns".into(), 2_000_000);
    let found = codes(&recording);
    let detail = |code: &str| found.iter().find(|(known, _)| *known == code).unwrap().1.clone();
    assert!(detail("host-restarted").starts_with("host b before or in pass "), "{found:?}");
    assert_eq!(detail("clock-set"), "that of host a by 2.00 ms back, that of host b by 3600 s forward");
}
