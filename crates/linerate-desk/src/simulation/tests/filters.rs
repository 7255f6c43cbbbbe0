//! A packet filter on a made-up machine: what each rule costs is put in by hand, and comes out of tables and conclusions.

use super::{plan, run};
use crate::analysis::{Holds, SuiteValues, analyse};
use crate::plan::{Suite, View, World};
use crate::record::Trial;
use crate::vocabulary::{Does, FilterKind, Pattern};

const NS_A_RULE: f64 = 8.5;

/// The shipped suite; each rule that is met one after the other adds its time to a round trip.
fn values(noise: f64) -> SuiteValues {
    let suite = Suite::shipped("packet-filter").unwrap();
    let plan = plan(|plan| {
        (plan.arms, plan.view) = (suite.arms(), View::Suites(vec![suite.clone()]));
        (plan.profile.passes, plan.profile.budget_ns, plan.profile.timeline_ns) = (6, 0, 0);
    });
    let mut recording = run(&plan, &World { noise, ..World::quiet() });
    let added = |trial: &Trial| {
        let filter = plan.filter_for(&trial.case.rung, trial.case.arm).unwrap();
        let is_met = FilterKind::named(&filter.kind).unwrap().ordered;
        if is_met { NS_A_RULE * f64::from(filter.rules) } else { 0.0 }
    };
    for trial in recording.trials.iter_mut().filter(|trial| trial.case.pattern == Pattern::PingPong) {
        let (slices, more) =
            (u64::from(trial.block.slices), (added(trial) * trial.block.messages as f64) as u64);
        for role in trial.roles.iter_mut().filter(|role| role.does == Does::Pings) {
            // As long as they were on average, and longer by the rules.
            role.histogram = None;
            let flows = role.flows.iter_mut();
            flows.for_each(|flow| flow.slices_ns = vec![flow.duration_ns / slices + more; slices as usize]);
        }
    }
    analyse(&recording).suites.remove(0)
}

#[test]
fn what_a_rule_costs_comes_back_with_its_interval() {
    let values = values(0.01);
    let table = &values.tables[0];
    let cost = |name: &str| {
        let row = table.table.rows.iter().position(|row| row.name == name).unwrap();
        table.rows[row][0].as_ref().unwrap().value
    };
    for name in ["iptables (legacy)", "iptables (nft)", "nftables list"] {
        let found = cost(name);
        assert!((found.median / NS_A_RULE - 1.0).abs() < 0.05, "{name}: {found:?}");
        assert!(
            found.low.unwrap() < NS_A_RULE && found.high.unwrap() > NS_A_RULE * 0.98,
            "{name}: {found:?}"
        );
    }
    let flat = cost("nftables verdict map");
    assert!(flat.low.unwrap() < 0.0 && flat.high.unwrap() > 0.0, "nothing was put in: {flat:?}");
    let claim = |says: &str| values.claims.iter().find(|one| one.claim.says.starts_with(says)).unwrap();
    assert_eq!(claim("each rule").holds, Holds::Yes);
    assert_eq!(claim("where rules are looked up at once a round").holds, Holds::Yes);
    let figure = values.figures.iter().find(|figure| figure.figure.id == "004-T5").unwrap();
    let x: Vec<_> = figure.series[0].points.iter().map(|point| point.x.number.unwrap()).collect();
    assert_eq!(x, [0.0, 100.0, 500.0, 1000.0, 5000.0, 10_000.0, 20_000.0]);
    let place = values.figures.iter().find(|figure| figure.figure.id == "004-T5-place").unwrap();
    assert_eq!(place.missing, ["filter.at=router filter.kind=nft-list"], "two hosts have none between them");
}
