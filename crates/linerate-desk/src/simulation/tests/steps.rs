//! Steps in the curves of suites: found; and curves of two sides.

use super::run;
use super::suites::of_suite;
use crate::analysis::{RunNumbers, Verdict, analyse, compare_runs};
use crate::plan::{Plan, Suite, Why, World};
use crate::record::Recording;

const STEP_AT: u64 = 5000;

/// A ping-pong at the profile's sizes, where messages of a size and above take longer.
fn measured(budget_ns: Option<u64>) -> Recording {
    measured_as(budget_ns, |_| ())
}

fn measured_as(budget_ns: Option<u64>, edit: impl Fn(&mut Plan)) -> Recording {
    let suite = "name = \"mine\"\n[[case]]\nid = \"x\"\nrung = \"network.tcp\"\npattern = \"ping-pong\"\n\
                 wait = \"sleeping\"\nsizes = \"ladder\"\nlabel = \"my library\"\n[[figure]]\nid = \"f\"\n\
                 title = \"t\"\ncases = [\"x\"]\nx = \"size\"\ny = \"half-round-trip\"\n";
    let plan = of_suite(Suite::read(suite).unwrap(), |plan| {
        (plan.budget_ns, plan.profile.budget_ns) = (budget_ns, 0);
        edit(plan);
    });
    run(&plan, &World { step_at: STEP_AT, step_ns: 3e6, ..World::quiet() })
}

#[test]
fn a_step_in_a_suite_is_found_and_confirmed() {
    let curves = analyse(&measured(Some(60_000_000_000))).suite_curves;
    let confirmed = curves[0].breaks.iter().filter(|one| one.confirmed.is_some());
    let at: Vec<u64> = confirmed.map(|one| one.at_bytes).collect();
    assert_eq!(at, [STEP_AT], "{:?}", curves[0].breaks);
}

#[test]
fn counted_passes_of_a_suite_are_all_but_the_look_at_breaks() {
    let recording = measured(None);
    let is_pass_or_look = |why: Why| [Why::Probe, Why::Pass, Why::Bisect, Why::Pairs].contains(&why);
    let others: Vec<Why> =
        recording.steps.iter().map(|step| step.why).filter(|why| !is_pass_or_look(*why)).collect();
    assert_eq!(others, []);
}

#[test]
fn two_sides_of_a_suite_are_compared_by_curve() {
    let side = |slowdown: Option<&str>| -> Vec<RunNumbers> {
        let of_seed = |seed| {
            measured_as(None, |plan| {
                plan.seed = seed;
                plan.settings.extend(slowdown.map(|setting| setting.parse().unwrap()));
            })
        };
        (0..6).map(|seed| RunNumbers::from_recording(&of_seed(seed))).collect()
    };
    let compared = compare_runs(&side(None), &side(Some("shim.slowdown=20")), 0.02);
    let [curve] = compared.figures.as_slice() else { panic!("{:?}", compared.figures) };
    assert_eq!(
        (curve.sides.verdict, curve.sides.is_gain, curve.figure.as_str()),
        (Verdict::Different, false, "f")
    );
    assert!((curve.sides.change - 0.2).abs() < 0.05 && curve.sides.low > Some(0.0), "{curve:?}");
    assert_eq!((curve.series.as_str(), curve.levels.len() > 5), ("my library", true), "{curve:?}");
    let alike = compare_runs(&side(None), &side(None), 0.02);
    assert_eq!(alike.figures[0].sides.verdict, Verdict::Same, "{:?}", alike.figures);
}
