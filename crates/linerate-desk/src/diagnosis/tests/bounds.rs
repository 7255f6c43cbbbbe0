//! What binds a layer, and the sentence that says so.

use super::*;

#[test]
fn the_senders_cpu_is_named() {
    let (analysis, diagnosis) = of(&quiet());
    let layer = analysis.layers.iter().position(|layer| layer.name() == "network.tcp a>b").unwrap();
    let bound = diagnosis.binding(layer).unwrap();
    assert_eq!(bound.name, "sender-cpu");
    assert!((bound.bps / (8e9 / 0.14) - 1.0).abs() < 0.02, "{bound:?}");
    let sentence = &diagnosis.sentence;
    for part in ["The sender's CPU binds", "0.14 ns", "network.tcp a>b", "57 Gb/s", "the link may carry more"]
    {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
}

#[test]
fn the_link_is_named_when_it_is_full() {
    let mut recording = quiet();
    let header = recording.header.as_mut().unwrap();
    header.plan.target = "lab:rate=60Gb/s".parse().unwrap();
    // The threads are idle for half of the time.
    let flows = recording.trials.iter_mut().flat_map(|t| &mut t.roles).flat_map(|r| &mut r.flows);
    flows.for_each(|flow| flow.cpu_ns /= 2);
    let (_, diagnosis) = of(&recording);
    assert!(
        diagnosis.sentence.starts_with("The link binds: 60.0 Gb/s at MTU 1500"),
        "{}",
        diagnosis.sentence
    );
    recording.header.as_mut().unwrap().plan.target = "lab:rate=40Gb/s".parse().unwrap();
    assert!(found(&recording).contains(&("above-bound", "network.tcp a>b".to_owned())));
}

#[test]
fn a_real_line_is_known_from_both_interfaces() {
    let mut recording = quiet();
    recording.header.as_mut().unwrap().plan.target = "ssh://a,ssh://b".parse().unwrap();
    for (host, speed) in recording.hosts.iter_mut().zip([100_000, 60_000]) {
        let facts = [("speed_mbps", json!(speed)), ("mtu", json!(9000)), ("driver", json!("mlx5_core"))];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        host.environment.interfaces.insert("eth0".into(), facts.into());
    }
    let analysis = analyse(&recording);
    let layer = analysis.layers.iter().find(|layer| layer.name() == "network.tcp a>b").unwrap();
    let known = wire(&recording, layer);
    assert_eq!(known.line_bps, Some(60e9));
    assert!((known.payload_bps.unwrap() / 60e9 - 0.9900).abs() < 1e-4, "method 4.4: 99.00 % at 9000");
    recording.hosts[0].environment.interfaces.get_mut("eth0").unwrap().insert("driver".into(), json!("veth"));
    assert_eq!(wire(&recording, layer).payload_bps, None);
}

#[test]
fn windows_and_buffers_are_named_by_waits() {
    for (counter, what, knob) in [
        ("rwnd_limited", "The receive window binds", "socket.receive-buffer=16MiB"),
        ("sndbuf_limited", "The send buffer binds", "socket.send-buffer=16MiB"),
    ] {
        let mut recording = quiet();
        let flows = recording.trials.iter_mut().flat_map(|t| &mut t.roles).flat_map(|r| &mut r.flows);
        flows.for_each(|flow| flow.cpu_ns /= 2);
        let sockets = recording.steps.iter_mut().flat_map(|step| &mut step.sockets);
        sockets.for_each(|socket| {
            socket.moved.insert(counter.into(), 380_000);
        });
        let (_, diagnosis) = of(&recording);
        for part in [what, "95 % of its busy time", knob] {
            assert!(diagnosis.sentence.contains(part), "{part}: {}", diagnosis.sentence);
        }
    }
}

#[test]
fn what_cannot_be_told_is_not_told() {
    let mut recording = quiet();
    let flows = recording.trials.iter_mut().flat_map(|t| &mut t.roles).flat_map(|r| &mut r.flows);
    flows.for_each(|flow| flow.cpu_ns /= 2);
    let (analysis, diagnosis) = of(&recording);
    assert!(diagnosis.sentence.contains("cannot be told"), "{}", diagnosis.sentence);
    assert!(diagnosis.sentence.contains("its CPU was 5"), "half of the time: {}", diagnosis.sentence);
    let layer = analysis.layers.iter().position(|layer| layer.name() == "network.tcp a>b").unwrap();
    assert!(diagnosis.binding(layer).is_none() && !diagnosis.bounds[layer].is_empty());
    let trials = recording.trials.iter_mut().filter(|trial| is_plain(&trial.case));
    trials.for_each(|trial| trial.roles[0].flows[0].run_delay_ns = Some(trial.roles[0].flows[0].duration_ns));
    let sentence = of(&recording).1.sentence;
    assert!(sentence.contains("another process used its CPUs in 50 of 150 trials"), "{sentence}");
    let (_, empty) = of(&Recording::default());
    assert_eq!(empty.sentence, "Nothing was measured.");
}

#[test]
fn several_flows_that_carry_more_are_mentioned() {
    let mut recording = quiet();
    for trial in recording.trials.iter_mut().filter(|trial| trial.case.flows == 4) {
        for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
            flow.slices_ns.iter_mut().for_each(|slice| *slice /= 2);
        }
    }
    let (_, diagnosis) = of(&recording);
    let twice = BitRate(2.0 * 57.1e9).rounded(3);
    assert!(diagnosis.sentence.contains("4 flows together carry 11"), "{} {twice}", diagnosis.sentence);
}
