//! What was asked for and not had: an address, an answer in time.

use super::*;
use crate::plan::PlannedHost;
use crate::record::Tally;

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
