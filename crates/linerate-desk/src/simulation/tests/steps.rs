//! Steps in the curves of suites: found, and told by the name of their series.

use super::run;
use super::suites::of_suite;
use crate::plan::{Suite, Why, World};
use crate::record::Recording;
use crate::report::{Page, Report, text};

const STEP_AT: u64 = 5000;

/// A ping-pong at the profile's sizes, where messages of a size and above take longer.
fn measured(budget_ns: Option<u64>) -> Recording {
    let suite = "name = \"mine\"\n[[case]]\nid = \"x\"\nrung = \"network.tcp\"\npattern = \"ping-pong\"\n\
                 wait = \"sleeping\"\nsizes = \"ladder\"\nlabel = \"my library\"\n[[figure]]\nid = \"f\"\n\
                 title = \"t\"\ncases = [\"x\"]\nx = \"size\"\ny = \"half-round-trip\"\n";
    let plan = of_suite(Suite::read(suite).unwrap(), |plan| {
        (plan.budget_ns, plan.profile.budget_ns) = (budget_ns, 0);
    });
    run(&plan, &World { step_at: STEP_AT, step_ns: 3e6, ..World::quiet() })
}

#[test]
fn a_step_in_a_suite_is_told_by_its_series() {
    let recording = measured(Some(60_000_000_000));
    let report = Report::from_recording(&recording);
    let series = &report.suites[0].figures[0].series[0];
    let confirmed: Vec<u64> =
        series.breaks.iter().filter(|one| one.confirmed.is_some()).map(|one| one.at_bytes).collect();
    assert_eq!(confirmed, [STEP_AT], "{:?}", series.breaks);
    let text = text(&recording, Page { width: None, colour: false });
    assert!(text.contains("my library (f): +3.0"), "{text}");
}

#[test]
fn counted_passes_of_a_suite_are_all_but_the_look_at_breaks() {
    let recording = measured(None);
    let is_pass_or_look = |why: Why| [Why::Probe, Why::Pass, Why::Bisect, Why::Pairs].contains(&why);
    let others: Vec<Why> =
        recording.steps.iter().map(|step| step.why).filter(|why| !is_pass_or_look(*why)).collect();
    assert_eq!(others, []);
    assert!(recording.steps.iter().any(|step| step.why == Why::Pairs), "the look at breaks is there");
}
