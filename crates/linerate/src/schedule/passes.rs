//! Passes over all rungs, and then whatever makes the numbers surer in the time that is left.
//!
//! A pass visits every entry once, in an order of its own that follows from the seed. Pass 0 is
//! discarded: its first round sends a few messages of each size to find the rates, its second one
//! lasts long enough to settle them; from then on each block's counts follow from the latest rate on
//! record.

use super::blocks;
use super::entries::{Entry, entries};
use super::fit::{self, CUTS, Cut};
use super::placement::ends;
use super::study::{Scene, Study};
use super::visit::{self, Planner, Visit};
use super::{Schedule, roles};
use crate::plan::{Plan, Step, Why};
use crate::record::{Recording, Unavailable};
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

/// The part of its time by which a run may be longer: a twentieth.
const TOLERATED: u64 = 20;

/// Chooses the steps of a run over the ladder.
#[derive(Debug, Clone)]
pub struct Passes {
    plan: Plan,
    /// Visited in every pass.
    entries: Vec<Entry>,
    /// Visited once.
    timelines: Vec<Entry>,
    passes: u32,
    unavailable: Vec<Unavailable>,
    /// What the budget has no time for, in words.
    left_out: &'static str,
    /// The time that the run may take.
    budget_ns: u64,
    study: Study,
    /// Every visit so far. More are added when the recording has come to the end of them.
    visits: Vec<Visit>,
}

impl Passes {
    /// A schedule for these hosts: the recording must hold its header's plan and the hosts' facts.
    ///
    /// Where the budget has no time for six passes of everything, it leaves out as little as it must.
    pub fn new(plan: &Plan, recording: &Recording) -> Passes {
        let Some(budget_ns) = plan.budget_ns else {
            let mut whole = Passes::of(plan, recording, &CUTS[0]);
            let passes_ns = whole.passes_ns();
            // A part of the ladder gets its part of the time.
            whole.budget_ns = plan.profile.budget_ns.min(passes_ns + passes_ns / EXTRA).max(passes_ns);
            return whole;
        };
        let tried = CUTS.iter().map(|cut| {
            let mut schedule = Passes::of(plan, recording, cut);
            schedule.fit(budget_ns);
            schedule
        });
        let is_enough = |schedule: &Passes| schedule.passes >= LEAST_PASSES.min(plan.profile.passes);
        // The last cut is the least: with it as many passes as there is time for must do.
        let mut tried = tried.enumerate();
        tried
            .find(|(index, schedule)| is_enough(schedule) || index + 1 == CUTS.len())
            .map_or_else(|| Passes::of(plan, recording, &CUTS[0]), |(_, schedule)| schedule)
    }

    fn of(plan: &Plan, recording: &Recording, cut: &'static Cut) -> Passes {
        let whole = plan;
        let plan = fit::cut(whole, cut);
        let (all, mut unavailable) = entries(&plan, recording);
        unavailable.extend(fit::left_out(whole, &plan));
        let (timelines, entries): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| entry.case.timeline);
        Passes {
            entries,
            timelines,
            passes: plan.profile.passes,
            unavailable,
            left_out: cut.says,
            budget_ns: 0,
            study: Study::new(),
            visits: Vec::new(),
            plan,
        }
    }

    /// As many passes as the budget allows, and at most those of the profile.
    fn fit(&mut self, budget_ns: u64) {
        let fixed = self.probes_ns() + nominal(&self.timelines);
        let affordable = budget_ns.saturating_sub(fixed) / nominal(&self.entries).max(1);
        self.passes = u32::try_from(affordable).unwrap_or(u32::MAX).clamp(1, self.plan.profile.passes);
        self.budget_ns = budget_ns.max(self.passes_ns());
    }

    /// How long the passes should take, with all that belongs to them.
    fn passes_ns(&self) -> u64 {
        self.probes_ns() + nominal(&self.entries) * u64::from(self.passes) + nominal(&self.timelines)
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
        if pass < LEAST_PASSES || self.plan.profile.budget_ns == 0 {
            return true;
        }
        let of_pass = recording.steps.iter().filter(|step| step.pass == pass);
        let last_ns: u64 = of_pass.map(|step| step.duration_ns).sum();
        spent_ns(recording) + last_ns <= self.budget_ns + self.budget_ns / TOLERATED
    }

    fn probes_ns(&self) -> u64 {
        let round = |entry: &Entry| blocks::PROBE_NS / 2 + (entry.nominal_ns - entry.warm_up_ns) / 3;
        self.entries.iter().map(round).sum()
    }

    /// What the study asks for after the passes.
    fn studied(&mut self, pass: u32, recording: &Recording) -> Vec<Visit> {
        let scene = Scene {
            recording,
            entries: &self.entries,
            profile: &self.plan.profile,
            left_ns: self.budget_ns.saturating_sub(spent_ns(recording)),
            reserve_ns: self.budget_ns / RESERVE,
        };
        let Some(batch) = self.study.next(&scene) else { return Vec::new() };
        let pass = pass + u32::from(batch.new_pass);
        batch.visits.into_iter().map(|(why, entry)| Visit { pass, why, entry, probe: None }).collect()
    }

    fn probes(&self) -> Vec<Visit> {
        let order = self.order(0);
        let visit =
            |probe| move |entry: &Entry| Visit { pass: 0, why: Why::Probe, entry: entry.clone(), probe };
        (0..PROBES).flat_map(|round| order.iter().map(visit(Some(round))).collect::<Vec<_>>()).collect()
    }

    /// A whole pass; the long streams come last in theirs.
    fn pass(&self, pass: u32) -> Vec<Visit> {
        let long = if pass == TIMELINE_PASS { &self.timelines[..] } else { &[] };
        let entries = self.order(pass).into_iter().chain(long.iter().cloned());
        entries.map(|entry| Visit { pass, why: Why::Pass, entry, probe: None }).collect()
    }

    /// The entries in the order of a pass.
    fn order(&self, pass: u32) -> Vec<Entry> {
        let mut order = self.entries.clone();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(u64::from(pass) << 32)));
        order
    }

    fn seed(&self, salt: u64) -> u64 {
        self.plan.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Planner for Passes {
    fn visits(&mut self) -> &mut Vec<Visit> {
        &mut self.visits
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        match self.visits.last().map(|visit| visit.pass) {
            None => self.probes(),
            Some(pass) if pass < self.passes && self.has_time(pass, recording) => self.pass(pass + 1),
            Some(pass) => self.studied(pass, recording),
        }
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let entry = &visit.entry;
        let blocks = blocks::of(&self.plan, visit, recording, self.seed(number as u64));
        Step {
            number: number as u32,
            pass: visit.pass,
            why: visit.why,
            case: entry.case.clone(),
            roles: roles(entry, &ends(&self.plan, recording, &entry.case)),
            predicted_ns: blocks::predicted_ns(entry, &blocks, recording),
            blocks,
            sample_ns: entry.case.timeline.then_some(SAMPLE_NS),
        }
    }
}

impl Schedule for Passes {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    fn predicted_ns(&self) -> u64 {
        self.budget_ns
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        self.budget_ns.saturating_sub(spent_ns(recording))
    }

    fn announcement(&self) -> String {
        let (rungs, sizes) = (self.plan.rungs.len(), self.plan.profile.sizes.len());
        format!("{rungs} rungs, {sizes} sizes, {} passes, then what is unsure", self.passes)
    }

    fn stage(&self, step: &Step) -> String {
        match step.why {
            Why::Probe => "warm-up".to_owned(),
            Why::Pass | Why::Block | Why::Confirm => format!("pass {} of {}", step.pass, self.passes),
            Why::Bisect | Why::Pairs => "break".to_owned(),
            Why::Rerun => "again".to_owned(),
            Why::Extra => format!("pass {}", step.pass),
        }
    }

    fn note(&self) -> Option<String> {
        let short = self.passes < LEAST_PASSES;
        let short = short.then_some("fewer than 6 passes fit the budget: there will be no 95 % intervals");
        let left_out = Some(self.left_out).filter(|says| !says.is_empty());
        let left_out = left_out.map(|says| format!("the budget leaves out {says}"));
        let said: Vec<String> = left_out.into_iter().chain(short.map(String::from)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// The time since the run began, by its last step.
fn spent_ns(recording: &Recording) -> u64 {
    recording.steps.last().map_or(0, |step| step.at_ns + step.duration_ns)
}

fn nominal(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.nominal_ns).sum()
}
