//! How long blocks are, and what their slices hold.

use super::{begun, run};
use crate::plan::{Block, Step, Suite};
use crate::record::HostFacts;
use crate::vocabulary::Pattern;

const HOT: &str = r#"
name = "hot"
[[case]]
id = "fan-in"
rung = "network.tcp"
pattern = "stream"
sizes = ["64KiB"]
roles = "fan-in"
clients = [1, 2]
trial = "200ms"
[[figure]]
id = "hot"
title = "hot"
cases = ["fan-in"]
x = "connections"
y = "throughput"
"#;

#[test]
fn slices_of_passed_messages_are_whole_windows() {
    let (plan, recording) = begun(|plan| {
        plan.rungs = vec!["network.lite".into(), "network.tcp".into()];
        plan.profile.passes = 1;
        // Few windows fit.
        plan.profile.trial_ns = 2_000_000;
    });
    let (steps, _) = run(&plan, recording, usize::MAX);
    let blocks = |rung: &str| {
        let is_wanted =
            |step: &&Step| step.pass == 1 && step.case.pattern == Pattern::Stream && step.case.rung == rung;
        let blocks = steps.iter().filter(is_wanted).flat_map(|step| &step.blocks);
        blocks.filter(|block| block.lead == 0).copied().collect::<Vec<_>>()
    };
    // A connection has no windows of messages.
    assert!(blocks("network.tcp").iter().any(|block| block.messages < block.window() && block.slices > 1));
    let blocks = blocks("network.lite");
    let is_whole = |block: &&Block| block.slices == 1 || block.messages >= block.window();
    assert_eq!(blocks.iter().filter(is_whole).count(), blocks.len(), "{blocks:?}");
    assert!(!blocks.is_empty());
}

#[test]
fn several_pairs_are_probed_for_a_whole_trial() {
    let (plan, mut recording) = begun(|plan| {
        let suite = Suite::read(HOT).unwrap();
        plan.suites = vec![suite];
    });
    let third = HostFacts { host: "c".into(), ..recording.hosts[1].clone() };
    recording.hosts.push(third);
    let (steps, _) = run(&plan, recording, usize::MAX);
    let probed = |pairs: usize| {
        let mut probes = steps.iter().filter(|step| step.pass == 0 && step.case.pairs().len() == pairs);
        let block = *probes.next_back().unwrap().blocks.last().unwrap();
        block.messages * u64::from(block.slices)
    };
    assert!(probed(2) >= 2 * probed(1), "{} and {}", probed(2), probed(1));
}
