//! The scene of made-up events, and how it is drawn on pages of three sizes.

use super::draw::{View, draw};
use super::row::Key;
use super::scene::{Now, Scene};
use crate::analysis::analyse;
use crate::plan::{Case, HostId, Target};
use crate::record::synthetic::Synthetic;
use crate::record::{Event, HostDelta, NotMeasured, Reason, Recording};
use crate::vocabulary::{Does, Pattern, ReasonKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::PathBuf;

/// The events of a recording in the order in which a run makes them.
fn events(recording: &Recording) -> Vec<Event> {
    let mut events: Vec<Event> = recording.header.clone().map(Event::Header).into_iter().collect();
    events.extend(recording.hosts.iter().cloned().map(Event::Host));
    for step in &recording.steps {
        let of_step = recording.trials.iter().filter(|trial| trial.step == step.step);
        events.extend(of_step.cloned().map(Event::Trial));
        events.push(Event::Step(step.clone()));
    }
    events
}

fn scene_of(recording: &Recording) -> Scene {
    let mut scene = Scene::default();
    events(recording).iter().for_each(|event| scene.apply(event));
    scene
}

/// A run without noise, so that nothing but the code decides what is drawn.
fn quiet(passes: u32) -> Recording {
    let sizes = vec![64, 1 << 10, 1 << 16, 1 << 20];
    let mut recording =
        Synthetic { passes, noise: 0.0, drift: 0.0, sizes, ..Synthetic::default() }.recording();
    recording.header.iter_mut().for_each(|header| {
        header.plan.target = "lab".parse::<Target>().unwrap();
    });
    recording
}

fn network_stream(recording: &Recording) -> Case {
    let wanted = |case: &&Case| {
        case.rung == "network.tcp"
            && case.pattern == Pattern::Stream
            && case.flows == 1
            && case.pairs.first().from == "a"
    };
    recording.trials.iter().map(|trial| &trial.case).find(wanted).unwrap().clone()
}

/// In the middle of a run, before a long stream.
fn before_a_long_stream() -> Scene {
    let recording = quiet(7);
    let mut scene = scene_of(&recording);
    scene.apply(&Event::NotMeasured(NotMeasured {
        rung: "network.udp6".into(),
        pattern: None,
        wait: None,
        host: None,
        reason: Reason::new(ReasonKind::Unsaid, "no IPv6 address is known for host b", ""),
        ..NotMeasured::default()
    }));
    scene.elapsed_ns = 34_000_000_000;
    scene.begin(Now {
        stage: "pass 2 of 6".into(),
        case: network_stream(&recording),
        message_bytes: Some((1 << 20, 1 << 20)),
        predicted_ns: 10_000_000_000,
        done_share: 0.4,
        left_ns: 51_000_000_000,
    });
    scene
}

fn drawn(scene: &Scene, view: View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(scene, &view, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

/// `UPDATE_PAGES=1 cargo test --lib live` writes the pages anew: look at them.
#[test]
fn pages_of_each_size_show_what_fits() {
    for (width, height) in [(120, 40), (80, 24), (40, 10)] {
        let page = drawn(&before_a_long_stream(), View::default(), width, height);
        let name = format!("{width}x{height}.txt");
        let folder = [env!("CARGO_MANIFEST_DIR"), "src", "cli", "watch", "live", "tests", &name];
        let path: PathBuf = folder.iter().collect();
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == known, "{name} is drawn otherwise:\n{page}");
    }
}

#[test]
fn no_page_is_too_small() {
    let scene = before_a_long_stream();
    for view in [View::default(), View { help: true, held: true }] {
        for (width, height) in [(1, 1), (3, 2), (10, 3), (20, 5), (200, 4), (5, 60), (300, 100)] {
            drawn(&scene, view, width, height);
            drawn(&Scene::default(), view, width, height);
        }
    }
}

#[test]
fn a_page_that_is_held_and_the_help_say_so() {
    let scene = before_a_long_stream();
    let held = drawn(&scene, View { held: true, help: false }, 120, 24);
    assert!(held.contains("held: p goes on"), "{held}");
    let help = drawn(&scene, View { held: false, help: true }, 80, 24);
    for part in ["stop in order", "hold the page", "1 % of the"] {
        assert!(help.contains(part), "{help}");
    }
    assert!(!help.contains("network.tcp"), "{help}");
}

#[test]
fn medians_so_far_are_those_of_the_report() {
    let recording = Synthetic::default().recording();
    let scene = scene_of(&recording);
    let analysis = analyse(&recording);
    let mut compared = 0;
    for layer in analysis.layers.iter().filter(|layer| layer.from.is_some()) {
        let case = recording.trials.iter().map(|trial| &trial.case).find(|case| layer.owns(case)).unwrap();
        let row = scene.rows.iter().find(|row| row.key == Key::from_case(case)).unwrap();
        assert_eq!(row.throughput_bps.estimate(), layer.throughput_bps, "{}", row.name);
        assert_eq!(row.polling_ns.estimate(), layer.polling_ns, "{}", row.name);
        assert_eq!(row.sleeping_ns.estimate(), layer.sleeping_ns, "{}", row.name);
        compared += 1;
    }
    assert_eq!((compared, scene.rows.len()), (analysis.layers.len(), analysis.layers.len()));
}

#[test]
fn the_pass_for_the_rates_enters_no_median() {
    let recording = quiet(6).until(1);
    assert!(recording.trials.iter().all(|trial| trial.pass == 0) && !recording.trials.is_empty());
    let scene = scene_of(&recording);
    assert!(scene.rows.iter().all(|row| row.passes() == 0));
    assert!(!scene.recent.is_empty(), "it is a sign of life all the same");
}

#[test]
fn the_newest_warning_comes_first() {
    let recording = quiet(2);
    let mut scene = scene_of(&recording);
    assert!(scene.notes.is_empty(), "{:?}", scene.notes);
    let mut trial = recording.trials.iter().find(|trial| trial.pass > 0).unwrap().clone();
    trial.roles[0].flows[0].migrated = true;
    let moved = Event::Trial(trial);
    let mut step = recording.steps.last().unwrap().clone();
    step.timer_slack_lowered = false;
    for event in [&moved, &Event::Step(step), &moved] {
        scene.apply(event);
    }
    let said: Vec<_> = scene.notes.iter().map(|note| (note.text.as_str(), note.times)).collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].0.contains("changed its CPU") && said[0].1 == 2, "{said:?}");
    assert!(said[1].0.contains("timer slack") && said[1].1 == 1, "{said:?}");
}

#[test]
fn each_arm_of_a_comparison_has_its_line() {
    let mut recording = quiet(2);
    let arm = crate::plan::Arm::candidate(vec!["tcp.no-delay=off".parse().unwrap()]);
    recording.header.iter_mut().for_each(|header| header.plan.arms = vec![arm.clone()]);
    let with = |arm| {
        let mut trial = recording.trials.iter().find(|trial| trial.pass > 0).unwrap().clone();
        trial.case.arm = arm;
        Event::Trial(trial)
    };
    let mut scene = Scene::default();
    scene.apply(&Event::Header(recording.header.clone().unwrap()));
    scene.apply(&with(1));
    scene.apply(&with(0));
    let names: Vec<_> = scene.rows.iter().map(|row| row.name.clone()).collect();
    assert_eq!(names, ["memory.copy, in cache a base", "memory.copy, in cache a tcp.no-delay=off"]);
}

#[test]
fn threads_that_share_a_cpu_are_one_load() {
    let recording = quiet(1);
    let both_ways = |trial: &&crate::record::Trial| trial.case.pattern == Pattern::Bidirectional;
    let mut trial = recording.trials.iter().find(both_ways).unwrap().clone();
    for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
        (flow.cpu_ns, flow.duration_ns) = (40, 100);
    }
    let flows = trial.case.flows;
    let mut scene = Scene::default();
    scene.apply(&Event::Trial(trial));
    let loads: Vec<_> = scene.loads.threads.iter().map(|load| (load.host, load.cpu)).collect();
    assert_eq!(loads, [(HostId(0), Some(0)), (HostId(1), Some(1))]);
    for load in &scene.loads.threads {
        assert_eq!(load.does.len(), 2);
        assert_eq!(load.share(), (0.8 * f64::from(flows)).min(1.0));
    }
}

#[test]
fn other_work_is_what_no_host_owns() {
    let recording = quiet(1);
    let mut step = recording.steps.last().unwrap().clone();
    let delta = |host, own_ns| HostDelta {
        host: HostId(host),
        wall_ns: 600_000_000,
        busy_ns: [(0, 500_000_000), (1, 220_000_000)].into(),
        steal_ns: 12_000_000,
        own_ns,
        ..HostDelta::default()
    };
    step.hosts = vec![delta(0, 400_000_000), delta(1, 200_000_000)];
    let mut scene = Scene::default();
    recording.hosts.iter().cloned().for_each(|host| scene.apply(&Event::Host(host)));
    scene.apply(&Event::Step(step.clone()));
    assert!(scene.loads.beside().is_empty(), "less than a second of it says little");
    scene.apply(&Event::Step(step));
    let [beside] = scene.loads.beside().try_into().unwrap();
    assert_eq!(beside.hosts, ["a", "b"]);
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-9;
    assert!(near(beside.others, 0.1) && near(beside.stolen, 0.01), "{beside:?}");
}

#[test]
fn ends_that_work_are_called_by_what_they_do() {
    let recording = quiet(1);
    let pings = recording.trials.iter().rev().find(|trial| trial.case.pattern == Pattern::PingPong).unwrap();
    assert!(pings.roles.iter().any(|role| role.does == Does::Pings));
    let mut scene = Scene::default();
    scene.apply(&Event::Trial(pings.clone()));
    let mut words: Vec<_> = scene.loads.threads.iter().flat_map(|load| load.does.clone()).collect();
    words.sort_unstable();
    assert_eq!(words, ["echoes", "pings"]);
}
