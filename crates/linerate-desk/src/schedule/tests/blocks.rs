//! How long blocks are, and what their slices hold.

use super::{begun, run};
use crate::plan::{Block, HostId, PlannedHost, Rungs, Suite, View};
use crate::record::HostFacts;
use crate::vocabulary::{Content, Pattern};

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

/// The blocks of the streams of a rung's first pass, to a near host or a far one.
fn of_streams(rung: &str, target: &str) -> Vec<Block> {
    let (plan, recording) = begun(|plan| {
        plan.target = target.parse().unwrap();
        plan.view = View::Ladder(Rungs::unnamed([rung]));
        plan.profile.passes = 1;
        // Few windows fit.
        plan.profile.trial_ns = 2_000_000;
    });
    let (steps, _) = run(&plan, recording, usize::MAX);
    let streams = steps.iter().filter(|step| step.pass == 1 && step.case.pattern == Pattern::Stream);
    let blocks = streams.flat_map(|step| &step.blocks).filter(|block| block.lead < block.slices);
    blocks.copied().collect()
}

#[test]
fn slices_of_passed_messages_are_whole_windows() {
    let is_whole = |block: &&Block| block.messages.is_multiple_of(block.window());
    for target in ["lab", "lab:delay=10ms"] {
        let blocks = of_streams("network.lite", target);
        assert!(!blocks.is_empty());
        let whole = blocks.iter().filter(|block| block.slices == 1 || is_whole(block)).count();
        assert_eq!(whole, blocks.len(), "{target}: {blocks:?}");
    }
    // A connection has no windows of messages.
    assert!(!of_streams("network.tcp", "lab").iter().all(|block| is_whole(&block)));
}

#[test]
fn what_is_read_and_sent_is_as_the_plan_says() {
    let (plan, recording) = begun(|plan| {
        plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp"]));
        let set = ["network.tcp:stream.read-size=2MiB", "network.tcp:message.content=zeros"];
        plan.settings.extend(set.map(|set| set.parse().unwrap()));
    });
    let (steps, _) = run(&plan, recording, usize::MAX);
    let (usual, asked) = ((0, Content::Random), (2 << 20, Content::Zeros));
    let cases = [
        ("in-host.tcp", Pattern::Stream, usual),
        ("network.tcp", Pattern::Stream, asked),
        // What has no use for them does not say that it had them.
        ("network.tcp", Pattern::PingPong, usual),
    ];
    for (rung, pattern, is) in cases {
        let of_case = steps.iter().filter(|step| (&*step.case.rung, step.case.pattern) == (rung, pattern));
        let blocks = of_case.flat_map(|step| &step.blocks);
        let found: Vec<_> = blocks.map(|block| (block.read_bytes, block.content)).collect();
        assert!(!found.is_empty() && found.iter().all(|found| *found == is), "{rung} {pattern}: {found:?}");
    }
}

#[test]
fn several_pairs_are_probed_for_a_whole_trial() {
    let (plan, mut recording) = begun(|plan| {
        plan.view = View::Suites(vec![Suite::read(HOT).unwrap()]);
        plan.hosts = PlannedHost::first(3);
    });
    let third = HostFacts { host: HostId(2), ..recording.hosts[1].clone() };
    recording.hosts.push(third);
    let (steps, _) = run(&plan, recording, usize::MAX);
    let probed = |pairs: usize| {
        let mut probes = steps.iter().filter(|step| step.pass == 0 && step.case.pairs.len() == pairs);
        let block = *probes.next_back().unwrap().blocks.last().unwrap();
        block.messages * u64::from(block.slices)
    };
    assert!(probed(2) >= 2 * probed(1), "{} and {}", probed(2), probed(1));
}
