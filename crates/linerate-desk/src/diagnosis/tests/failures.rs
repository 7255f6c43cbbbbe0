//! What the pattern of failures says.

use super::{added, is_plain, network_only, of, quiet};
use crate::plan::{Case, Pairs, Step};
use crate::record::{Event, NotMeasured, Reason, Recording};
use crate::vocabulary::{Pattern, ReasonKind, Wait};
use serde_json::json;

/// Takes a case's trials away, and has it fail.
fn fail(recording: &mut Recording, is_failing: impl Fn(&Case) -> bool) {
    let cases: Vec<Case> =
        recording.trials.iter().map(|trial| trial.case.clone()).filter(|case| is_failing(case)).collect();
    recording.trials.retain(|trial| !is_failing(&trial.case));
    recording.steps.retain(|step| !is_failing(&step.case));
    for case in cases.into_iter().collect::<std::collections::BTreeSet<_>>() {
        let pairs: Pairs = case.pairs.clone();
        let step = Step { case, number: 3, ..step_of_nothing() };
        let reason = Reason::new(ReasonKind::Failed, "failed: nothing came", "");
        recording.push(Event::NotMeasured(NotMeasured::failed(&step, &pairs, reason)));
    }
}

fn step_of_nothing() -> Step {
    serde_json::from_value(json!({
        "number": 0, "pass": 0, "why": "pass", "case": Case::default(), "roles": [], "blocks": [],
        "sample_ns": null, "predicted_ns": 0, "patience_ns": 0,
    }))
    .unwrap()
}

#[test]
fn a_smaller_mtu_on_the_path_is_told() {
    let narrow = |recording: &mut Recording| {
        for step in recording.steps.iter_mut().filter(|step| is_plain(&step.case)) {
            for socket in &mut step.sockets {
                socket.last.insert("pmtu".into(), 1400);
            }
        }
    };
    assert_eq!(added(narrow), network_only("path-mtu"));
    let mut recording = quiet();
    narrow(&mut recording);
    let (_, diagnosis) = of(&recording);
    let found = diagnosis.findings.iter().find(|finding| finding.code == "path-mtu").unwrap();
    assert_eq!(found.detail, "1400 on the path, 1500 at the interfaces");
}

#[test]
fn an_exchange_that_failed_was_not_refused() {
    let polls = |case: &Case| {
        case.rung == "network.tcp" && case.pattern == Pattern::PingPong && case.wait == Wait::Polling
    };
    let found = added(|recording| fail(recording, polls));
    assert!(!found.iter().any(|(code, _)| *code == "polling-refused"), "{found:?}");
}

#[test]
fn the_first_of_two_failures_says_why() {
    let mut recording = quiet();
    fail(&mut recording, |case| case.rung == "network.tcp");
    let mut again = recording.unavailable.clone();
    for not in &mut again {
        not.reason.why = "failed: no time to wait".into();
    }
    recording.unavailable.extend(again);
    for session in [false, true] {
        recording.unavailable.iter_mut().for_each(|not| not.session = session);
        let told = crate::analysis::not_measured(&recording);
        let of_rung = told.iter().filter(|not| not.rung == "network.tcp");
        let why: Vec<&str> = of_rung.map(|not| not.reason.why.as_str()).collect();
        assert!(!why.is_empty() && why.iter().all(|why| *why == "failed: nothing came"), "{why:?}");
    }
}

#[test]
fn large_messages_that_vanish_lead_the_sentence() {
    let mut recording = quiet();
    let is_it = |case: &Case| case.rung == "network.tcp" && case.pattern == Pattern::PingPong;
    let large = |bytes: u64| bytes > 1448;
    let case = recording.trials.iter().find(|trial| is_it(&trial.case)).unwrap().case.clone();
    recording.trials.retain(|trial| !is_it(&trial.case) || !large(trial.block.message_bytes));
    let step = Step { case: case.clone(), number: 3, ..step_of_nothing() };
    for _ in 0..2 {
        let reason = Reason::new(ReasonKind::Failed, "failed: nothing came", "");
        let failed = NotMeasured::failed(&step, &case.pairs, reason);
        recording.push(Event::NotMeasured(NotMeasured { message_bytes: vec![2048], ..failed }));
    }
    let sentence = of(&recording).1.sentence;
    assert!(
        sentence.starts_with("Large messages vanish between these hosts: 1 KiB pass, 2 KiB do not."),
        "{sentence}"
    );
    // Without any rate the exchanges were measured nevertheless.
    recording.trials.retain(|trial| trial.case.pattern == Pattern::PingPong);
    let sentence = of(&recording).1.sentence;
    assert!(sentence.ends_with("do not. No throughput was measured."), "{sentence}");
}

#[test]
fn a_direction_that_fails_alone_is_told() {
    let back = |case: &Case| {
        case.rung == "network.tcp" && case.pattern == Pattern::Stream && case.pairs.first().from == "b"
    };
    let found = added(|recording| fail(recording, back));
    let layers = ["network.tcp b>a", "network.tcp x 4 b>a"];
    assert_eq!(found, layers.map(|layer| ("one-direction", layer.to_owned())));
}

#[test]
fn a_version_of_ip_that_fails_alone_is_told() {
    let found = added(|recording| {
        // What IPv4 measured stands for IPv6 too.
        let twin = |case: &Case| Case { rung: "network.tcp6".into(), ..case.clone() };
        let of_rung: Vec<_> =
            recording.trials.iter().filter(|trial| trial.case.rung == "network.tcp").cloned().collect();
        recording.trials.extend(of_rung.into_iter().map(|mut trial| {
            trial.case = twin(&trial.case);
            trial
        }));
        fail(recording, |case| case.rung == "network.tcp6");
    });
    assert!(!found.is_empty());
    let is_right =
        |(code, layer): &(&str, String)| *code == "one-family" && layer.starts_with("network.tcp6");
    assert!(found.iter().all(is_right), "{found:?}");
}
