//! Passes over all rungs, and then whatever makes the numbers surer in the time that is left.
//!
//! A pass visits every entry once, in an order of its own that follows from the seed. Pass 0 is
//! discarded: its first round sends a few messages of each size to find the rates, its second one
//! lasts long enough to settle them; from then on each block's counts follow from the latest rate on
//! record.

use super::claims;
use super::entries::{Entry, entries};
use super::failure;
use super::fit::{self, CUTS, Cut, FAR_CUTS, Reasons};
use super::knob::refused_experiments;
use super::launch::launching_ns;
use super::looks::Looks;
use super::network_path::NetworkPath;
use super::scene::Scene;
use super::study::Study;
use super::visit::{self, Planner, Visit, Visits};
use super::{Schedule, beside, blocks, step};
use crate::analysis::{Vanishing, vanishing};
use crate::plan::{HostPair, Plan, Step, View, Why};
use crate::record::{Addition, NotMeasured, Recording, StepRecord};
use crate::unit::{Nanoseconds, counted};
use crate::vocabulary::{Place, RUNGS};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Rounds of the discarded pass.
const PROBES: usize = 2;

/// The pass after which the long streams run: late enough that rates are known, early enough that an
/// interrupted run has its time lines.
const TIMELINE_PASS: u32 = 1;

/// Fewer passes than this have no 95 % interval of the median.
const LEAST_PASSES: u32 = 6;

/// The part of the passes' time that is added for what is unsure: a quarter, within the profile's budget.
const EXTRA: u64 = 4;

/// The part of the time that breaks may take on top of it: a tenth.
const RESERVE: u64 = 10;

/// How often sockets and CPUs are sampled during a long stream.
const SAMPLE_NS: u64 = 100_000_000;

/// Where round trips leave no time for all, so many times the budget may be enough.
const MORE: u64 = 6;

const SECOND_NS: u64 = 1_000_000_000;

/// The part of its time by which a run may be longer: a twentieth.
const TOLERATED: u64 = 20;

/// What the passes may do, by what is measured.
#[derive(Debug, Clone, Copy)]
struct Policy {
    /// Whether something is left out where there is too little time, or else the number of passes alone is less.
    cuts: bool,
    /// Whether a long stream runs once, to show how one begins, or is a case as any other.
    long_streams_once: bool,
}

impl Policy {
    const LADDER: Policy = Policy { cuts: true, long_streams_once: true };
    /// A plan file says what is measured.
    const SUITES: Policy = Policy { cuts: false, long_streams_once: false };

    fn for_plan(plan: &Plan) -> Policy {
        match plan.view {
            View::Ladder(_) | View::Comparison { .. } | View::Tuning { .. } | View::Matrix { .. } => {
                Policy::LADDER
            }
            View::Suites(_) => Policy::SUITES,
        }
    }
}

/// Chooses the steps of a run in passes.
#[derive(Debug, Clone)]
pub struct Passes {
    plan: Plan,
    /// Visited in every pass.
    entries: Vec<Entry>,
    /// Visited once.
    timelines: Vec<Entry>,
    /// Rungs whose engine is looked for before the passes.
    looks: Vec<Looks>,
    passes: u32,
    unavailable: Vec<NotMeasured>,
    /// What there is no time for, in words, and what takes it.
    left_out: &'static str,
    because: String,
    /// Whether the way between the hosts is known to take time.
    is_slow: bool,
    /// The time that the run may take.
    budget_ns: u64,
    /// Whether passes were asked for by their number, and take the time that they take.
    is_counted: bool,
    /// Later runs that were asked for more.
    additions: Vec<Addition>,
    study: Study,
    /// Every visit so far. More are added when the recording has come to the end of them.
    visits: Visits,
}

impl Passes {
    /// A schedule for these hosts: the recording must hold its header's plan and the hosts' facts.
    ///
    /// Where the budget has no time for six passes of everything, it leaves out as little as it must. So it
    /// does with the profile's time where the way between the hosts is known to be slow.
    pub fn new(plan: &Plan, recording: &Recording) -> Passes {
        let path = road_of(plan);
        let policy = Policy::for_plan(plan);
        if !policy.cuts {
            return Passes::for_plan(plan, recording, &CUTS[0], &path).whole();
        }
        let cuts = if path.is_known() { FAR_CUTS } else { CUTS };
        let of = |cut| Passes::for_plan(plan, recording, cut, &path);
        // Passes that were asked for by their number take the time that they take.
        let is_counted = plan.budget_ns.is_none() && plan.profile.budget_ns == 0;
        let whole = if is_counted && path.is_long() { of(&cuts[1]) } else { of(&cuts[0]) };
        let budget_ns = match plan.budget_ns {
            Some(budget_ns) => budget_ns,
            None if is_counted || !path.is_known() || whole.passes_ns() <= plan.profile.budget_ns => {
                return whole.with_extra();
            }
            None => plan.profile.budget_ns,
        };
        let tried = cuts.iter().map(|cut| {
            let mut schedule = of(cut);
            schedule.fit(budget_ns);
            schedule
        });
        let is_enough = |schedule: &Passes| schedule.passes >= LEAST_PASSES.min(plan.profile.passes);
        // The last cut is the least: with it as many passes as there is time for must do.
        let mut tried = tried.enumerate();
        tried
            .find(|(index, schedule)| is_enough(schedule) || index + 1 == cuts.len())
            .map_or(whole, |(_, schedule)| schedule)
    }

    /// All that was asked for: where there is less time there are fewer passes. A profile's time is the ladder's, but
    /// without one the passes alone were asked for.
    fn whole(mut self) -> Passes {
        match self.plan.budget_ns {
            Some(budget_ns) => self.fit(budget_ns),
            None if self.plan.profile.budget_ns == 0 => self.budget_ns = self.passes_ns(),
            None => self.budget_ns = self.passes_ns() + self.passes_ns() / EXTRA,
        }
        self
    }

    /// With time for what is unsure; a part of the ladder gets its part of the time.
    fn with_extra(mut self) -> Passes {
        let passes_ns = self.passes_ns();
        self.budget_ns = self.plan.profile.budget_ns.min(passes_ns + passes_ns / EXTRA).max(passes_ns);
        self
    }

    fn for_plan(plan: &Plan, recording: &Recording, cut: &'static Cut, path: &NetworkPath) -> Passes {
        let whole = plan;
        let plan = fit::cut(whole, cut);
        let (all, mut unavailable) = entries(&plan, recording, &cut.coverage);
        let round_trip = path.is_long().then_some(Nanoseconds(path.round_trip_ns));
        let budget_ns = whole.budget_ns.unwrap_or(whole.profile.budget_ns);
        let short = format!("{} s have no time for it", budget_ns / SECOND_NS);
        let reasons = match round_trip {
            Some(round_trip) => Reasons {
                far: format!("a round trip takes {round_trip}"),
                near: short,
                hint: format!("give it more time: --budget {}min", MORE * budget_ns / (60 * SECOND_NS) + 1),
            },
            None => {
                Reasons { far: short.clone(), near: short, hint: "give it more time: --budget 2m".into() }
            }
        };
        unavailable.extend(fit::left_out(whole, (&plan, &cut.coverage), &reasons));
        let policy = Policy::for_plan(whole);
        let is_once = |entry: &Entry| entry.case.timeline && policy.long_streams_once;
        let (timelines, entries): (Vec<_>, Vec<_>) = all.into_iter().partition(is_once);
        let (choosing, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.rung.chooses_engine());
        let refused: Vec<u32> =
            refused_experiments(whole, recording).into_iter().map(|(arm, _)| arm).collect();
        let looks = choosing.into_iter().map(|entry| Looks::new(whole, entry, &refused)).collect();
        Passes {
            entries,
            timelines,
            looks,
            passes: plan.profile.passes,
            unavailable,
            left_out: cut.says,
            because: round_trip.map_or("the budget".into(), |time| format!("a round trip of {time}")),
            is_slow: path.is_known(),
            budget_ns: 0,
            is_counted: whole.profile.budget_ns == 0,
            additions: recording.additions.clone(),
            study: Study::new(),
            visits: Visits::default(),
            plan,
        }
    }

    /// As many passes as the budget allows, and at most those of the profile.
    fn fit(&mut self, budget_ns: u64) {
        let fixed = self.probes_ns() + nominal(&self.timelines);
        let affordable = budget_ns.saturating_sub(fixed) / self.pass_ns().max(1);
        self.passes = u32::try_from(affordable).unwrap_or(u32::MAX).clamp(1, self.plan.profile.passes);
        self.budget_ns = budget_ns.max(self.passes_ns());
    }

    /// How long the passes should take, with all that belongs to them.
    fn passes_ns(&self) -> u64 {
        self.probes_ns() + self.pass_ns() * u64::from(self.passes) + nominal(&self.timelines)
    }

    fn pass_ns(&self) -> u64 {
        let chosen: u64 = self.looks.iter().map(|looks| looks.entry().nominal_ns).sum();
        nominal(&self.entries) + chosen + launching_ns(&self.entries)
    }

    /// The number of whole passes that count.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// What is visited in every pass.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether a further pass fits, as long as the one before it. A stream whose ramp is long warms up for
    /// longer than was planned, and then a profile's time is kept and not its number of passes: but for
    /// those that an interval takes, and where a number was asked for.
    fn has_time(&self, pass: u32, recording: &Recording) -> bool {
        // Over a slow way a pass may take many times what was thought of it, and one is worth its time. Where there was
        // to be no interval anyhow, what was asked for counts.
        let is_short = self.plan.budget_ns.is_some() && self.passes < LEAST_PASSES;
        let least = if self.is_slow || is_short { 1 } else { LEAST_PASSES };
        if pass < least || self.is_counted {
            return true;
        }
        let of_pass = recording.steps.iter().filter(|step| step.pass == pass);
        let last_ns: u64 = of_pass.map(|step| step.duration_ns).sum();
        recording.spent_ns() + last_ns <= self.budget_ns + self.budget_ns / TOLERATED
    }

    fn probes_ns(&self) -> u64 {
        let looks: u64 = self.looks.iter().map(Looks::ns).sum();
        self.entries.iter().map(Entry::probe_ns).sum::<u64>() + looks + launching_ns(&self.entries)
    }

    /// Leaves out what may fail as something did long after the run should have ended: all else is still measured.
    fn give_up(&mut self, recording: &Recording) {
        let late = |not: &&NotMeasured| failure::is_late(not, recording, self.budget_ns);
        let late: Vec<&NotMeasured> = recording.unavailable.iter().filter(late).collect();
        let goes_on = |entry: &Entry| !late.iter().any(|not| failure::may_fail_likewise(&entry.case, not));
        self.entries.retain(goes_on);
        self.timelines.retain(goes_on);
        self.looks.retain(|looks| goes_on(looks.entry()));
    }

    /// A size between the largest message that passes and the smallest that does not, of each exchange that has both:
    /// before the passes, because from there on nothing is tried again.
    fn swallowed(&self, recording: &Recording) -> Vec<Visit> {
        let visit = |vanishing: Vanishing| {
            let entry = self.entries.iter().find(|entry| entry.case == vanishing.case)?;
            let entry = entry.with_sizes(vec![vanishing.middle()?]);
            Some(Visit { pass: 0, why: Why::Bisect, entry, probe: None, again: false })
        };
        vanishing(recording).into_iter().filter_map(visit).collect()
    }

    /// Looks at the engines of a rung, until one is chosen, which belongs to the passes from there on.
    fn look(&mut self, recording: &Recording) -> Vec<Visit> {
        while let Some(looks) = self.looks.first_mut() {
            let further = looks.further(recording);
            if !further.is_empty() {
                return further;
            }
            self.entries.extend(looks.chosen(recording));
            self.looks.remove(0);
        }
        Vec::new()
    }

    /// The first pass of a later run that was asked for more: what the run before was to measure is on record.
    fn added(&mut self, pass: u32, recording: &Recording) -> Vec<Visit> {
        let on_record = recording.steps.len();
        while self.additions.first().is_some_and(|next| next.after_steps as usize <= on_record) {
            let Addition { after_steps, passes, budget_ns, .. } = self.additions.remove(0);
            let is_asked = passes.is_some() || budget_ns.is_some();
            // One that was asked for nothing has ended what had been cut.
            if !is_asked && (after_steps as usize) < on_record {
                continue;
            }
            let (pass_ns, usual) = (self.pass_ns().max(1), self.plan.profile.passes);
            let passes_ns = |passes: u32| pass_ns.saturating_mul(u64::from(passes));
            let extra_ns = |ns: u64| if self.is_counted { 0 } else { ns / EXTRA };
            let (passes, time_ns) = match (passes, budget_ns) {
                (Some(passes), _) => (passes, passes_ns(passes)),
                (None, Some(ns)) => ((ns / pass_ns).clamp(1, u64::from(usual)) as u32, ns),
                (None, None) => (usual, passes_ns(usual) + extra_ns(passes_ns(usual))),
            };
            self.is_counted = budget_ns.is_none() && (is_asked || self.is_counted);
            self.passes = pass.saturating_add(passes);
            self.budget_ns = recording.spent_ns().saturating_add(time_ns);
            self.study = Study::new();
            return self.pass(pass + 1);
        }
        Vec::new()
    }

    /// The first step on record that is not what is planned; none where all are.
    pub(super) fn differs_from(&self, recording: &Recording) -> Option<u32> {
        let mut planned = self.visits.iter();
        let is_other = |step: &&StepRecord| {
            planned.next().is_none_or(|visit| {
                (visit.pass, visit.why, &visit.entry.case) != (step.pass, step.why, &step.case)
            })
        };
        recording.steps.iter().find(is_other).map(|step| step.step)
    }

    /// What the study asks for after the passes.
    fn studied(&mut self, pass: u32, recording: &Recording) -> Vec<Visit> {
        let scene = Scene {
            recording,
            entries: &self.entries,
            plan: &self.plan,
            // Where a number of passes was asked for, what was thought that they take is no time to spend.
            left_ns: if self.is_counted && self.plan.budget_ns.is_none() {
                0
            } else {
                self.budget_ns.saturating_sub(recording.spent_ns())
            },
            reserve_ns: self.budget_ns / RESERVE,
        };
        let Some(batch) = self.study.next(&scene) else { return Vec::new() };
        let pass = pass + u32::from(batch.new_pass);
        batch
            .visits
            .into_iter()
            .map(|(why, entry)| Visit { pass, why, entry, probe: None, again: false })
            .collect()
    }

    fn probes(&self) -> Vec<Visit> {
        let order = self.order(0);
        let visit = |probe| {
            move |entry: &Entry| Visit { pass: 0, why: Why::Probe, entry: entry.clone(), probe, again: false }
        };
        (0..PROBES).flat_map(|round| order.iter().map(visit(Some(round))).collect::<Vec<_>>()).collect()
    }

    /// A whole pass; the long streams come last in theirs.
    fn pass(&self, pass: u32) -> Vec<Visit> {
        let long = if pass == TIMELINE_PASS { &self.timelines[..] } else { &[] };
        let entries = self.order(pass).into_iter().chain(long.iter().cloned());
        entries.map(|entry| Visit { pass, why: Why::Pass, entry, probe: None, again: false }).collect()
    }

    /// The entries in the order of a pass.
    fn order(&self, pass: u32) -> Vec<Entry> {
        let mut order = self.entries.clone();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(step::seed(&self.plan, u64::from(pass) << 32)));
        claims::together(&self.plan, order)
    }
}

impl Planner for Passes {
    fn visits(&mut self) -> &mut Visits {
        &mut self.visits
    }

    fn gives_up_ns(&self) -> Option<u64> {
        Some(self.budget_ns)
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        for not in recording.failed_for_good() {
            self.entries.retain_mut(|entry| entry.leave_out(not));
            self.timelines.retain_mut(|entry| entry.leave_out(not));
        }
        self.give_up(recording);
        if self.entries.is_empty() && self.timelines.is_empty() && self.looks.is_empty() {
            return Vec::new();
        }
        let last = self.visits.last().map(|visit| (visit.pass, visit.why));
        // Where there is nothing but engines to choose from, there is no rate to be found beside them.
        let Some((pass, why)) = last else {
            return if self.entries.is_empty() { self.look(recording) } else { self.probes() };
        };
        let swallowed = if pass == 0 { self.swallowed(recording) } else { Vec::new() };
        if !swallowed.is_empty() {
            return swallowed;
        }
        let looks = self.look(recording);
        if !looks.is_empty() {
            return looks;
        }
        // What follows the passes is not interrupted by another one.
        let in_passes = matches!(why, Why::Probe | Why::Pass) || pass == 0;
        if in_passes && pass < self.passes && self.has_time(pass, recording) {
            return self.pass(pass + 1);
        }
        let studied = self.studied(pass, recording);
        if !studied.is_empty() {
            return studied;
        }
        self.added(pass, recording)
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let entry = &visit.entry;
        let blocks = blocks::for_visit(&self.plan, visit, recording, step::seed(&self.plan, number as u64));
        Step {
            sample_ns: entry.case.timeline.then_some(SAMPLE_NS),
            beside: beside::beside(&self.plan, entry, recording),
            ..step::for_visit(&self.plan, number, visit, blocks, recording)
        }
    }
}

impl Schedule for Passes {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        &self.unavailable
    }

    fn predicted_ns(&self) -> u64 {
        self.budget_ns
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        self.budget_ns.saturating_sub(recording.spent_ns())
    }

    fn announcement(&self) -> String {
        let passes = counted(self.passes, "pass");
        match &self.plan.view {
            View::Suites(suites) => {
                let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
                let cases = counted(self.entries.len(), "case");
                format!("{}: {cases}, {passes}, then what is unsure", names.join(", "))
            }
            View::Ladder(rungs)
            | View::Comparison { rungs, .. }
            | View::Tuning { rungs, .. }
            | View::Matrix { rungs, .. } => {
                let (rungs, sizes) = (rungs.ids.len(), self.plan.profile.sizes.len());
                let (rungs, sizes) = (counted(rungs, "rung"), counted(sizes, "size"));
                format!("{rungs}, {sizes}, {passes}, then what is unsure")
            }
        }
    }

    fn stage(&self, step: &Step) -> String {
        match step.why {
            Why::Probe => "warm-up".to_owned(),
            Why::Pass | Why::Block | Why::Confirm | Why::Hindered => {
                format!("pass {} of {}", step.pass, self.passes)
            }
            Why::Bisect | Why::Pairs => "break".to_owned(),
            Why::Rerun => "again".to_owned(),
            Why::Extra => format!("pass {}", step.pass),
        }
    }

    /// Less than the warm-up and a pass is no run.
    fn too_short(&self) -> Option<(String, String)> {
        let (asked_ns, least_ns) = (self.plan.budget_ns?, self.budget_ns);
        let seconds = |ns: u64| ns.div_ceil(SECOND_NS);
        (least_ns > asked_ns.saturating_add(asked_ns / TOLERATED)).then(|| {
            let what = format!(
                "--budget {}s: the warm-up and one pass of what is asked for take about {} s",
                seconds(asked_ns),
                seconds(least_ns)
            );
            let less =
                if matches!(self.plan.view, View::Suites(_)) { "--figures" } else { "--only, --sizes" };
            let quick = if self.plan.profile.name == "quick" { "" } else { ", --profile quick" };
            (what, format!("--budget {}s, or less to measure: {less}{quick}", seconds(least_ns)))
        })
    }

    fn note(&self) -> Option<String> {
        let short = self.passes < LEAST_PASSES;
        let short = short.then_some("fewer than 6 passes fit the budget: there will be no 95 % intervals");
        let left_out = Some(self.left_out).filter(|says| !says.is_empty());
        let left_out = left_out.map(|says| format!("{} leaves out {says}", self.because));
        let said: Vec<String> = left_out.into_iter().chain(short.map(String::from)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// What is known of the path between the first two hosts: the slower of both directions.
fn road_of(plan: &Plan) -> NetworkPath {
    let network = |id: &String| RUNGS.iter().any(|rung| rung.id == *id && rung.place == Place::Network);
    match plan.host_ids()[..] {
        [a, b, ..] if plan.view.rungs().iter().any(network) => {
            NetworkPath::between(plan, HostPair { from: a, to: b })
        }
        _ => NetworkPath::default(),
    }
}

fn nominal(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.nominal_ns).sum()
}
