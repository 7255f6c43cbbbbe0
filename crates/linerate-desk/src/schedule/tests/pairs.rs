//! Pairs of hosts that are measured at once.

use super::{answer, begun};
use crate::plan::{HostId, PlannedHost, Step, Suite, View};
use crate::record::{Event, HostFacts, NotMeasured, Recording};
use crate::schedule::{Passes, Schedule};
use std::collections::BTreeSet;

const MULTI_PAIR: &str = r#"
name = "mine"
[[case]]
id = "beside"
rung = "network.tcp"
pattern = "stream"
sizes = ["64KiB"]
roles = "multi-pair"
[[figure]]
id = "beside"
title = "beside"
cases = ["beside"]
x = "size"
y = "throughput"
"#;

/// Runs to the end on hosts of these names; from so many steps on, what is between `c` and `d` fails.
fn run(hosts: u32, fails_from: u32) -> (Vec<Step>, Recording) {
    let (plan, mut recording) = begun(|plan| {
        plan.view = View::Suites(vec![Suite::read(MULTI_PAIR).unwrap()]);
        plan.hosts = PlannedHost::first(hosts);
        plan.profile.passes = 4;
    });
    let known = recording.hosts[1].clone();
    recording.hosts = plan.hosts.iter().map(|host| HostFacts { host: host.id, ..known.clone() }).collect();
    let mut schedule = Passes::new(&plan, &recording);
    let mut steps: Vec<Step> = Vec::new();
    while let Some(mut step) = schedule.next(&recording) {
        let has_both = step.case.pairs.len() == 2;
        steps.push(step.clone());
        if has_both && step.number >= fails_from {
            recording.push(Event::NotMeasured(NotMeasured {
                rung: step.case.rung.clone(),
                between: Some([HostId(2).into(), HostId(3).into()]),
                arm: Some(0),
                after_steps: Some(step.number),
                ..NotMeasured::default()
            }));
            step = step.without(&BTreeSet::from([1])).unwrap();
        }
        answer(&step).into_iter().for_each(|event| recording.push(event));
    }
    (steps, recording)
}

/// The pairs of each trial that counts, with what ran beside it.
fn measured(recording: &Recording) -> BTreeSet<(String, &str)> {
    let counting = recording.trials.iter().filter(|trial| trial.pass > 0);
    counting.map(|trial| (trial.case.pairs.to_string(), trial.case.under.as_str())).collect()
}

#[test]
fn a_pairs_trial_says_what_ran_beside_it() {
    for hosts in [4, 5] {
        let (steps, recording) = run(hosts, u32::MAX);
        assert!(steps.iter().all(|step| step.case.pairs.to_string() == "a>b, c>d"));
        let both = [("a>b".into(), "network.tcp c>d"), ("c>d".into(), "network.tcp a>b")];
        assert_eq!(measured(&recording), both.into());
        assert_eq!(recording.trials.len(), 2 * steps.len());
    }
}

#[test]
fn a_failed_pair_is_left_out() {
    let whole = run(4, u32::MAX).0.len();
    for fails_from in [0, 3] {
        let (steps, recording) = run(4, fails_from);
        assert_eq!(steps.len(), whole);
        let left = steps.iter().skip(fails_from as usize + 1);
        assert!(left.clone().count() > 0);
        assert!(left.clone().all(|step| step.case.pairs.to_string() == "a>b" && step.roles.len() == 2));
        // Its rate is known from when there were two.
        assert!(left.skip(1).all(|step| step.blocks.iter().all(|block| block.slices > 1 || block.lead > 0)));
        let alone = ("a>b".to_owned(), "");
        assert!(measured(&recording).contains(&alone));
        assert_eq!(recording.unavailable.len(), 1);
    }
}

#[test]
fn a_host_that_is_lost_is_left_out_with_its_pair() {
    for after_steps in [None, Some(3)] {
        let (plan, mut recording) = begun(|plan| {
            plan.view = View::Suites(vec![Suite::read(MULTI_PAIR).unwrap()]);
            plan.hosts = PlannedHost::first(4);
            plan.profile.passes = 4;
        });
        let known = recording.hosts[1].clone();
        recording.hosts =
            plan.hosts.iter().map(|host| HostFacts { host: host.id, ..known.clone() }).collect();
        let host = Some(HostId(3));
        let lost =
            || Event::NotMeasured(NotMeasured { host, after_steps, lost: true, ..NotMeasured::default() });
        if after_steps.is_none() {
            recording.push(lost());
        }
        let mut schedule = Passes::new(&plan, &recording);
        while let Some(step) = schedule.next(&recording) {
            let is_left = step.number >= after_steps.map_or(0, |after| after + 1);
            assert_eq!(step.case.pairs.to_string(), if is_left { "a>b" } else { "a>b, c>d" });
            answer(&step).into_iter().for_each(|event| recording.push(event));
            if Some(step.number) == after_steps {
                recording.push(lost());
            }
        }
        assert!(recording.steps.len() > 4, "{}", recording.steps.len());
        // One that is gone on with plans what it planned.
        let mut again = Passes::new(&plan, &recording.until(0));
        assert!(again.next(&recording).is_none(), "{after_steps:?}");
    }
}
