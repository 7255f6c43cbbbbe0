//! What was asked for and not had: an address, an answer in time.

use super::*;
use crate::plan::PlannedHost;
use crate::record::{MOST_ADDRESSES, Tally};
use serde_json::json;

#[test]
fn another_address_than_was_named_is_told() {
    let used = |address: &'static str| {
        added(move |recording| {
            let plan = &mut recording.header.as_mut().unwrap().plan;
            plan.hosts = PlannedHost::first(2);
            plan.hosts[0].address = Some("10.0.0.3".parse().unwrap());
            let endpoints = vec![format!("{address} 10.0.0.2:5000")];
            recording.sessions.push(SessionRecord { endpoints, ..plain_session() });
        })
    };
    assert_eq!(used("10.0.0.1:1000"), [("other-address", "run".to_owned())]);
    assert_eq!(used("10.0.0.3:1000"), []);
}

#[test]
fn polls_that_were_given_up_are_told() {
    let missed = |count| {
        added(|recording| {
            for trial in recording.trials.iter_mut().filter(|trial| is_plain(&trial.case)) {
                let tally = Tally { transactions: Some(100), missed: Some(count), ..Tally::default() };
                trial.roles[0].flows[0].tally = Some(tally.into());
            }
        })
    };
    assert_eq!(missed(1), network_only("polls-missed"));
    assert_eq!(missed(0), []);
}

#[test]
fn a_host_that_was_reached_through_another_is_told() {
    let reached = |from: &'static str, said: Option<&'static str>| {
        added(move |recording| {
            recording.hosts[0].reached = "local".into();
            let own = recording.hosts[0].environment.interfaces.entry("eth0".into()).or_default();
            own.insert("addresses".into(), json!(["10.0.0.1/24", "fe80::1/64"]));
            recording.hosts[1].environment.host.insert("ssh.reached_from".into(), json!(from));
            let plan = &mut recording.header.as_mut().unwrap().plan;
            plan.hosts = PlannedHost::first(2);
            plan.hosts[1].address = said.map(|said| said.parse().unwrap());
        })
    };
    assert_eq!(reached("192.0.2.7", None), [("reached-through", "run".to_owned())]);
    assert_eq!(reached("192.0.2.7", Some("10.0.0.2")), []);
    assert_eq!(reached("10.0.0.1", None), []);
    assert_eq!(reached("fe80::1%eth0", None), []);
}

#[test]
fn addresses_that_are_not_on_record_are_no_other_host_s() {
    let reached = |count: usize, left_out: &'static [&'static str]| {
        added(move |recording| {
            recording.hosts[0].reached = "local".into();
            let environment = &mut recording.hosts[0].environment;
            let addresses: Vec<String> = (1..=count).map(|last| format!("10.0.0.{last}/24")).collect();
            environment
                .interfaces
                .entry("eth0".into())
                .or_default()
                .insert("addresses".into(), json!(addresses));
            environment.stack.insert("interfaces.left_out".into(), json!(left_out));
            recording.hosts[1].environment.host.insert("ssh.reached_from".into(), json!("192.0.2.7"));
        })
    };
    assert_eq!(reached(MOST_ADDRESSES - 1, &[]), [("reached-through", "run".to_owned())]);
    assert_eq!(reached(MOST_ADDRESSES, &[]), []);
    assert_eq!(reached(1, &["eth1"]), []);
}

#[test]
fn a_library_between_program_and_kernel_is_told() {
    let with = |files: serde_json::Value| {
        added(|recording| {
            recording.hosts[1].environment.host.insert("process.interposers".into(), files);
        })
    };
    assert_eq!(with(json!(["/usr/lib/libvma.so"])), [("interposed", "run".to_owned())]);
    assert_eq!(with(json!([])), []);
}
