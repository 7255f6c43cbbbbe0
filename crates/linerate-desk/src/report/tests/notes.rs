//! What stands below a report of a run with many doubts, and where the rest is.

use super::*;
use crate::record::{InterfaceDelta, Trial};

/// The lines after the ladder's last one.
fn below(shown: &str) -> Vec<String> {
    shown.rsplit("\n\n").next().unwrap().lines().map(str::to_owned).collect()
}

/// Another process for such a share of the time in the trials of these rungs.
fn put_off(recording: &mut Recording, share: f64, is_hit: impl Fn(&Trial) -> bool) {
    for trial in recording.trials.iter_mut().filter(|trial| is_hit(trial)) {
        for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
            flow.run_delay_ns = Some((share * flow.duration_ns as f64) as u64);
        }
    }
}

/// A run on a machine on which all goes wrong.
fn doubtful() -> Recording {
    let mut recording = small();
    put_off(&mut recording, 0.78, |_| true);
    for flow in
        recording.trials.iter_mut().flat_map(|trial| &mut trial.roles).flat_map(|role| &mut role.flows)
    {
        (flow.migrated, flow.involuntary_switches) = (true, 1);
    }
    for step in &mut recording.steps {
        (step.timer_slack_lowered, step.kept_awake) = (false, false);
        step.roles.iter_mut().for_each(|role| role.cpus.clear());
        for host in &mut step.hosts {
            (host.steal_ns, host.softnet_dropped, host.reassembly_failures) = (host.wall_ns / 10, 7, 3);
            host.interfaces.iter_mut().for_each(|one: &mut InterfaceDelta| one.rx_packets /= 20);
        }
    }
    recording
}

#[test]
fn what_makes_the_whole_run_doubtful_is_said_first_and_once() {
    let lines = below(&text(&doubtful(), PIPE));
    assert!(
        lines[0].ends_with("this machine was busy: another process took up to 78 % of a measured CPU"),
        "{lines:#?}"
    );
    assert_eq!(lines.iter().filter(|line| line.contains("another process")).count(), 1);
    // The first, six notes, and how many more there are.
    assert_eq!(lines.len(), 8, "{lines:#?}");
    let report = Report::from_recording(&doubtful());
    let more = super::super::text::all_notes(&report).len() - 7;
    assert!(
        more > 3 && lines[7].contains(&format!("and {more} more: `linerate explain RECORDING`")),
        "{lines:#?}"
    );
    assert!(lines[1].contains("steal") && lines.iter().any(|line| line.contains("migrated")), "{lines:#?}");
}

#[test]
fn every_note_is_a_line_of_any_width() {
    for width in [66, 80, 110] {
        let shown = text(&doubtful(), Page { width: Some(width), colour: false });
        let lines = below(&shown);
        assert_eq!(lines.len(), 8, "{width}: {lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(width)), "{width}: {lines:#?}");
    }
}

#[test]
fn explain_and_json_have_every_note() {
    let recording = doubtful();
    let (whole, report) = (explained(&recording, PIPE), Report::from_recording(&recording));
    let whole_text = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let entries = report.ladder.iter().flat_map(|entry| &entry.warnings).chain(&report.warnings);
    let mut count = 0;
    for one in entries {
        assert!(whole.lines().any(|line| line.starts_with(&one.code)), "{}: {whole}", one.code);
        assert!(whole_text.to_lowercase().contains(&one.hint.to_lowercase()), "{}: {whole}", one.hint);
        assert!(json(&recording).contains(&one.code));
        count += 1;
    }
    assert!(count > 12, "{count}");
    assert_eq!(explained(&small(), PIPE), explained(&small(), PIPE));
}

#[test]
fn one_busy_layer_is_a_note_among_others() {
    let mut recording = small();
    put_off(&mut recording, 0.4, |trial| trial.case.rung == "in-host.tcp");
    let lines = below(&text(&recording, PIPE));
    let told = lines.iter().find(|line| line.contains("foreign-cpu")).unwrap();
    assert!(told.contains("another process used a measured CPU during some trials"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("was busy")), "{lines:#?}");
}

#[test]
fn a_transports_own_processes_are_no_strangers() {
    let busy = |rung: &str| {
        let mut recording = small();
        for trial in &mut recording.trials {
            trial.case.rung = trial.case.rung.replace("network.tcp", rung);
        }
        for step in &mut recording.steps {
            step.case.rung = step.case.rung.replace("network.tcp", rung);
        }
        put_off(&mut recording, 0.5, |trial| trial.case.rung == rung);
        explained(&recording, PIPE)
    };
    assert!(busy("network.tls").contains("foreign-cpu"));
    for rung in ["network.ssh", "network.pvm"] {
        assert!(!busy(rung).contains("foreign-cpu"), "{rung}");
    }
}
