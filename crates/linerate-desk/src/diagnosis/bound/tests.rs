//! Each bound is found where it was put in, and named with the next one.

use super::*;
use crate::analysis::analyse;
use crate::record::synthetic::{Synthetic, TRUTHS, Truth};
use crate::vocabulary::Cache;

fn bound(name: &'static str, bps: f64, explains: bool) -> Bound {
    Bound { name, bps, interval: None, ceiling_bps: None, evidence: String::new(), explains }
}

#[test]
fn bounds_come_in_the_order_of_their_table() {
    let computed: Vec<&str> = COMPUTED.iter().map(|(name, _)| *name).collect();
    let listed: Vec<&str> = BOUNDS.iter().map(|entry| entry.name).collect();
    assert_eq!(computed, listed);
}

#[test]
fn causes_are_named_before_symptoms() {
    let bounds = [bound("send-buffer", 9.0, true), bound("receiver-cpu", 11.0, true)];
    assert_eq!(binding(&bounds).unwrap().name, "receiver-cpu");
    assert_eq!(next(&bounds), None, "a buffer grows by itself");
}

#[test]
fn the_next_bound_is_the_lowest_that_stays() {
    let bounds = [
        bound("link", 40.0, false),
        bound("sender-cpu", 10.0, true),
        bound("receiver-cpu", 25.0, false),
        bound("congestion-window", 12.0, false),
    ];
    assert_eq!(next(&bounds).unwrap().name, "receiver-cpu");
    assert_eq!(next(&bounds[..1]), None, "nothing binds");
}

/// A run at 57 Gb/s whose CPUs are idle for half of the time, but for `edit`.
fn idle(truths: Vec<Truth>, edit: impl Fn(&mut Recording)) -> Recording {
    let sizes = vec![1, 64, 1 << 10, 1 << 16, 1 << 20];
    let mut recording = Synthetic { noise: 0.001, sizes, truths, ..Synthetic::default() }.recording();
    let flows =
        recording.trials.iter_mut().flat_map(|trial| &mut trial.roles).flat_map(|role| &mut role.flows);
    flows.for_each(|flow| flow.cpu_ns /= 2);
    edit(&mut recording);
    recording
}

fn sockets(recording: &mut Recording, edit: impl Fn(&mut SocketRecord)) {
    recording.steps.iter_mut().flat_map(|step| &mut step.sockets).for_each(edit);
}

fn busy(recording: &mut Recording, does: Does) {
    let roles = recording.trials.iter_mut().flat_map(|trial| &mut trial.roles);
    for flow in roles.filter(|role| role.does == does).flat_map(|role| &mut role.flows) {
        flow.cpu_ns = flow.duration_ns;
    }
}

/// The memory rungs at these times a byte, the rungs with two ends as they are.
fn memory(copy_ns: f64, triad_ns: f64) -> Vec<Truth> {
    let alone = |rung, ns| Truth { rung, stream_ns: [15.0, ns], ..TRUTHS[0] };
    [alone("memory.copy", copy_ns), alone("memory.triad", triad_ns)]
        .into_iter()
        .chain(TRUTHS[1..].to_vec())
        .collect()
}

fn cold(recording: &mut Recording) {
    recording.trials.iter_mut().for_each(|trial| trial.block.cache = Cache::Cold);
}

type Put = (&'static str, Vec<Truth>, fn(&mut Recording));

/// What puts each bound in.
fn puts() -> Vec<Put> {
    vec![
        ("link", TRUTHS.to_vec(), |r| {
            r.header.as_mut().unwrap().plan.target = "lab:rate=60Gb/s".parse().unwrap()
        }),
        ("sender-cpu", TRUTHS.to_vec(), |r| busy(r, Does::Sends)),
        ("receiver-cpu", TRUTHS.to_vec(), |r| busy(r, Does::Receives)),
        ("interrupt-cpu", TRUTHS.to_vec(), |r| {
            r.steps.iter_mut().flat_map(|step| &mut step.hosts).for_each(|host| {
                host.busy_ns.insert(2, host.wall_ns);
            });
        }),
        ("send-buffer", TRUTHS.to_vec(), |r| {
            sockets(r, |socket| {
                socket.moved.insert("sndbuf_limited".into(), 380_000);
            });
        }),
        ("receive-window", TRUTHS.to_vec(), |r| {
            sockets(r, |socket| {
                socket.moved.insert("rwnd_limited".into(), 380_000);
                socket.last.insert("snd_wnd".into(), 214_000);
            });
        }),
        ("memory", memory(0.13, 0.05), |_| ()),
        ("dram", memory(0.05, 0.178), cold),
        ("congestion-window", TRUTHS.to_vec(), |r| {
            sockets(r, |socket| {
                socket.last.insert("snd_cwnd".into(), 148);
            });
        }),
    ]
}

#[test]
fn each_bound_is_named_where_it_was_put_in() {
    let puts = puts();
    assert!(BOUNDS.iter().all(|entry| puts.iter().any(|(name, ..)| *name == entry.name)), "one case a bound");
    for (name, truths, edit) in puts {
        let recording = idle(truths, edit);
        let analysis = analyse(&recording);
        let index = analysis.layers.iter().position(|layer| layer.name() == "network.tcp a>b").unwrap();
        let bounds = bounds(&recording, &analysis, index);
        let found = binding(&bounds).unwrap_or_else(|| panic!("{name} in {bounds:#?}"));
        assert_eq!(found.name, name, "{bounds:#?}");
        let measured = analysis.layers[index].throughput_bps.unwrap().median;
        assert!((found.bps / measured - 1.0).abs() < NEAR, "{name}: {found:?}");
        let next = next(&bounds).unwrap_or_else(|| panic!("nothing after {name} in {bounds:#?}"));
        assert!(next.name != name && next.bps > measured, "{name}: {next:?}");
        assert_eq!(rest_ns_per_byte(&analysis.layers[index], &bounds), None);
    }
}

#[test]
fn bounds_that_vary_have_an_interval() {
    let recording = idle(memory(0.13, 0.05), |recording| busy(recording, Does::Sends));
    let analysis = analyse(&recording);
    let index = analysis.layers.iter().position(|layer| layer.name() == "network.tcp a>b").unwrap();
    let bounds = bounds(&recording, &analysis, index);
    for name in ["sender-cpu", "memory", "congestion-window"] {
        if let Some(bound) = bounds.iter().find(|bound| bound.name == name) {
            let (low, high) = bound.interval.unwrap();
            assert!(low <= bound.bps && bound.bps <= high, "{bound:?}");
        }
    }
}

#[test]
fn both_ways_each_end_copies_all_bytes() {
    let recording = idle(memory(0.05, 0.1), cold);
    let analysis = analyse(&recording);
    let rate = |name: &str| {
        let index = analysis.layers.iter().position(|layer| layer.name() == name).unwrap();
        let bounds = bounds(&recording, &analysis, index);
        ["memory", "dram"].map(|name| bounds.iter().find(|bound| bound.name == name).unwrap().bps)
    };
    let ([one, one_dram], [both, both_dram]) = (rate("network.tcp a>b"), rate("network.tcp a<>b"));
    assert!((both / one - 1.0).abs() < 1e-9, "{one} {both}");
    assert!((both_dram / one_dram - 2.0).abs() < 1e-9, "two ends read: {one_dram} {both_dram}");
}

#[test]
fn a_rate_above_the_fastest_copy_is_wrong() {
    let recording = idle(memory(0.2, 0.5), |_| ());
    let analysis = analyse(&recording);
    let found = crate::diagnosis::diagnose(&recording, &analysis).findings;
    let above = found.iter().find(|finding| finding.code == "above-bound").unwrap();
    assert_eq!(above.evidence["bound"], "memory");
    let truly = idle(memory(0.12, 0.5), |_| ());
    let found = crate::diagnosis::diagnose(&truly, &analyse(&truly)).findings;
    let network =
        |layer: Option<usize>| layer.is_some_and(|layer| analysis.layers[layer].name() == "network.tcp a>b");
    assert!(
        !found.iter().any(|finding| finding.code == "above-bound" && network(finding.layer)),
        "{found:?}"
    );
}

#[test]
fn flows_that_end_early_do_not_make_a_cpu_busy() {
    let recording = idle(TRUTHS.to_vec(), |recording| {
        for trial in recording.trials.iter_mut().filter(|trial| trial.case.flows == 4) {
            trial.roles.iter_mut().for_each(|role| role.flows[0].duration_ns /= 8);
        }
    });
    let analysis = analyse(&recording);
    let index = analysis.layers.iter().position(|layer| layer.name() == "network.tcp x 4 a>b").unwrap();
    let bounds = bounds(&recording, &analysis, index);
    let sender = bounds.iter().find(|bound| bound.name == "sender-cpu").unwrap();
    assert!(!sender.explains && sender.evidence.contains("was 51 % busy"), "{sender:?}");
}

#[test]
fn memory_alone_has_no_bound_of_another_cpu() {
    let recording = idle(TRUTHS.to_vec(), |recording| {
        recording.steps.iter_mut().flat_map(|step| &mut step.hosts).for_each(|host| {
            host.busy_ns.insert(2, host.wall_ns);
        });
    });
    let analysis = analyse(&recording);
    let of = |name: &str| {
        let index = analysis.layers.iter().position(|layer| layer.name() == name).unwrap();
        bounds(&recording, &analysis, index).iter().any(|bound| bound.name == "interrupt-cpu")
    };
    assert!(!of("memory.copy a") && !of("in-host.shared-memory a") && of("in-host.tcp a"));
}

#[test]
fn what_no_bound_explains_is_a_rest() {
    let recording = idle(TRUTHS.to_vec(), |recording| {
        let roles = recording.trials.iter_mut().flat_map(|trial| &mut trial.roles);
        roles.flat_map(|role| &mut role.flows).for_each(|flow| flow.cpu_ns /= 2);
    });
    let analysis = analyse(&recording);
    let index = analysis.layers.iter().position(|layer| layer.name() == "network.tcp a>b").unwrap();
    let bounds = bounds(&recording, &analysis, index);
    // Of 0.141 ns a byte, a quarter of 0.140 and a quarter of 0.100 are known.
    let rest = rest_ns_per_byte(&analysis.layers[index], &bounds).unwrap();
    assert!((rest - 0.081).abs() < 0.002, "{rest} {bounds:#?}");
}
