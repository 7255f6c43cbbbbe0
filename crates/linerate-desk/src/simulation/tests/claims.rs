//! Every conclusion of the shipped suites, judged on three made recordings: of a machine on which it holds, of one on
//! which it does not, and of one that is now the one and now the other, which cannot tell.

mod truths;

use super::run;
use super::suites::of_suite;
use crate::analysis::{ClaimOutcome, Holds, conclusions, is_at, measure};
use crate::plan::{Claim, Levels, Plan, Suite, World};
use crate::record::{Recording, SocketRecord, Trial, decode_histogram, encode_histogram};
use crate::vocabulary::{Does, SUITES, Sample};
use std::collections::BTreeMap;
use truths::{TRUTHS, Truth};

/// What a conclusion is of, and what that is on a machine where it holds and on one where it does not.
struct Trio {
    suite: &'static str,
    /// How the sentence begins.
    says: &'static str,
    holds: Truth,
    fails: Truth,
}

/// By how much everything is out that a conclusion is not of: what is taken of the wrong trials shows.
const ASTRAY: f64 = 7.0;

/// How near what comes out is to what was put in: whole nanoseconds, three digits in a histogram.
const NEAR: f64 = 0.005;

impl Trio {
    fn is_of(&self, suite: &Suite, claim: &Claim) -> bool {
        self.suite == suite.name && claim.says.starts_with(self.says)
    }
}

fn shipped() -> impl Iterator<Item = (Suite, Claim)> {
    let suites = SUITES.iter().map(|entry| Suite::shipped(entry.name).unwrap());
    suites.flat_map(|suite| suite.claims.clone().into_iter().map(move |claim| (suite.clone(), claim)))
}

#[test]
fn every_shipped_claim_has_its_trio() {
    let claims: Vec<(Suite, Claim)> = shipped().collect();
    for (suite, claim) in &claims {
        let count = TRUTHS.iter().filter(|trio| trio.is_of(suite, claim)).count();
        assert_eq!(count, 1, "{}: {}: a line in `truths.rs` for each claim", suite.name, claim.says);
    }
    assert_eq!(TRUTHS.len(), claims.len(), "a line is of no claim");
    assert_eq!(SUITES.iter().map(|entry| entry.name).collect::<Vec<_>>(), JUDGED, "a test a suite");
}

/// The suites, each of which has a test below.
const JUDGED: [&str; 7] = ["san", "libraries", "adapter", "sockets", "grid", "packet-filter", "transfer"];

#[test]
fn claims_of_libraries_are_told_where_they_are_so() {
    are_told(JUDGED[1]);
}

#[test]
fn claims_of_san_are_told_where_they_are_so() {
    are_told(JUDGED[0]);
}

#[test]
fn claims_of_adapter_are_told_where_they_are_so() {
    are_told(JUDGED[2]);
}

#[test]
fn claims_of_sockets_are_told_where_they_are_so() {
    are_told(JUDGED[3]);
}

#[test]
fn claims_of_grid_are_told_where_they_are_so() {
    are_told(JUDGED[4]);
}

#[test]
fn claims_of_packet_filter_are_told_where_they_are_so() {
    are_told(JUDGED[5]);
}

#[test]
fn claims_of_transfer_are_told_where_they_are_so() {
    are_told(JUDGED[6]);
}

fn are_told(name: &str) {
    for (suite, claim) in shipped().filter(|(suite, _)| suite.name == name) {
        let trio = TRUTHS.iter().find(|trio| trio.is_of(&suite, &claim)).unwrap();
        let plain = run(&of_suite(only(&suite, &claim), whole), &World::quiet());
        let judged = |truth: &dyn Fn(u32) -> Truth| outcome(&plain, &claim, truth);
        for (truth, holds) in [(trio.holds, Holds::Yes), (trio.fails, Holds::No)] {
            let found = judged(&|_| truth);
            let (value, wanted) = (found.value.unwrap(), truth.number(&claim));
            assert_eq!(found.holds, holds, "{}: {}: {value:?}", suite.name, claim.says);
            assert!(value.n >= 6 && found.needs().is_none(), "{}: {value:?}", claim.says);
            let off = (value.median - wanted).abs();
            assert!(off <= NEAR * truth.scale(&claim), "{}: {value:?}, not {wanted}", claim.says);
        }
        let now_and_then = judged(&|pass| if pass % 2 == 0 { trio.holds } else { trio.fails });
        assert_eq!(now_and_then.holds, Holds::CannotTell, "{}: {:?}", claim.says, now_and_then.value);
    }
}

/// Six passes and nothing else, of what the longer profiles have too.
fn whole(plan: &mut Plan) {
    plan.profile.budget_ns = 0;
    plan.profile.name = "standard".into();
}

/// The suite with nothing but what a conclusion is of.
fn only(suite: &Suite, claim: &Claim) -> Suite {
    let is_of = |id: &String| parts(claim).any(|levels| levels.get("case") == Some(id));
    let cases = suite.cases.iter().filter(|case| is_of(&case.id)).cloned().collect();
    let name = suite.name.clone();
    let (stages, streams) = (suite.stages.clone(), suite.streams.clone());
    Suite { name, cases, stages, streams, claims: vec![claim.clone()], ..Suite::default() }
}

fn parts(claim: &Claim) -> impl Iterator<Item = &Levels> {
    std::iter::once(&claim.of).chain(&claim.over).chain(&claim.minus)
}

/// What becomes of a conclusion where this is so in each pass.
fn outcome(plain: &Recording, claim: &Claim, truth: &dyn Fn(u32) -> Truth) -> ClaimOutcome {
    let mut recording = plain.clone();
    let plan = plain.plan().unwrap();
    let mut sockets = BTreeMap::new();
    for trial in &mut recording.trials {
        match truth(trial.pass).wanted(plan, claim, trial) {
            Some(wanted) => set(plain, claim, trial, wanted, &mut sockets),
            None => scale(trial, ASTRAY),
        }
    }
    for step in &mut recording.steps {
        step.sockets.extend(sockets.remove(&step.step));
    }
    conclusions(&recording).remove(0).1
}

impl Truth {
    /// The number that a conclusion tests.
    fn number(self, claim: &Claim) -> f64 {
        match self {
            Truth::Of(of, with) if claim.minus.is_some() => of - with,
            Truth::Of(of, with) => of / with,
            Truth::Alone(number) | Truth::Power(number) | Truth::Slope(_, number) => number,
        }
    }

    /// What its error is a share of.
    fn scale(self, claim: &Claim) -> f64 {
        match self {
            Truth::Of(of, with) if claim.minus.is_some() => of.max(with),
            Truth::Power(_) => 1.0,
            _ => self.number(claim).abs(),
        }
    }

    /// The number of one trial; none of one that the conclusion is not of.
    fn wanted(self, plan: &Plan, claim: &Claim, trial: &Trial) -> Option<f64> {
        let suite = &plan.view.suites()[0];
        let is_at = |levels: &Levels| is_at((plan, suite), levels, &trial.case, trial.block.message_bytes);
        let with = || claim.over.as_ref().or(claim.minus.as_ref());
        match self {
            Truth::Of(of, _) if is_at(&claim.of) => Some(of),
            Truth::Of(_, against) => with().is_some_and(is_at).then_some(against),
            Truth::Alone(number) => is_at(&claim.of).then_some(number),
            Truth::Power(exponent) => {
                let level = (claim.exponent?.entry().level)(plan, &trial.case, trial.block.message_bytes);
                is_at(&claim.of).then_some(1e4 * level.number?.powf(exponent))
            }
            Truth::Slope(at_none, each) => {
                let level = (claim.slope?.entry().level)(plan, &trial.case, trial.block.message_bytes);
                is_at(&claim.of).then_some(at_none + each * level.number?)
            }
        }
    }
}

/// Gives a trial its number: all of its times are longer or shorter by as much.
fn set(
    plain: &Recording,
    claim: &Claim,
    trial: &mut Trial,
    wanted: f64,
    sockets: &mut BTreeMap<u32, SocketRecord>,
) {
    if claim.y == "limited-by.receive-window" {
        return drop(sockets.insert(trial.step, waiting(trial, wanted)));
    }
    if claim.y.starts_with("connect-time") {
        trial.roles.iter_mut().for_each(|role| {
            let same = std::iter::repeat_n(wanted as u64, 64);
            role.samples.insert(Sample::SetUp, encode_histogram(same).unwrap());
        });
        return;
    }
    let measure = measure(&claim.y).unwrap();
    let is = measure.value(plain, trial).unwrap_or_else(|| panic!("{}: {}", claim.says, trial.case));
    let is_time = measure.metric.unit.starts_with("ns");
    scale(trial, if is_time { wanted / is } else { is / wanted });
}

/// A sender that waits for the receiver's window during such a share of its time.
fn waiting(trial: &Trial, share: f64) -> SocketRecord {
    let sender = trial.roles.iter().find(|role| role.does == Does::Sends).unwrap();
    let all_us = sender.flows[0].duration_ns / 1000;
    let moved = [("busy_time", all_us), ("rwnd_limited", (share * all_us as f64) as u64)];
    let moved = moved.into_iter().map(|(name, us)| (name.to_owned(), us)).collect();
    SocketRecord { host: sender.host, moved, ..SocketRecord::default() }
}

fn scale(trial: &mut Trial, factor: f64) {
    let longer = |ns: u64| (ns as f64 * factor).round() as u64;
    for role in &mut trial.roles {
        for flow in &mut role.flows {
            flow.slices_ns.iter_mut().for_each(|ns| *ns = longer(*ns));
            (flow.duration_ns, flow.cpu_ns) = (longer(flow.duration_ns), longer(flow.cpu_ns));
        }
        let scaled = role.histogram.as_deref().map(|text| {
            let all = decode_histogram(text).unwrap();
            let samples = all.iter_recorded();
            let each = samples.flat_map(|one| {
                std::iter::repeat_n(longer(one.value_iterated_to()), one.count_at_value() as usize)
            });
            encode_histogram(each).unwrap()
        });
        role.histogram = scaled;
    }
}
