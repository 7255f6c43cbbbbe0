//! A screening of many hosts in steps of disjoint pairs: a stream and round trips in each round, then fresh streams of who
//! stood apart.
//!
//! All pairs of a step send the same count of messages, since neither end may need the other's word for where it stops. It is
//! taken from what a message usually takes, and lowered where one of the pairs is known to be much slower.

mod course;
mod pace;
mod rounds;
#[cfg(test)]
mod tests;

pub use course::{Course, Round};

use super::entries::Entry;
use super::network_path::NetworkPath;
use super::placement::Ends;
use super::visit::{self, Planner, Visit, Visits};
use super::wanted::Wanted;
use super::{Schedule, failure, refusal, roles};
use crate::analysis::matrix::{Carries, Shots, Stage, numbers};
use crate::plan::{Block, Case, HostId, HostPair, Pairs, Plan, Screening, Step, Why};
use crate::record::{NotMeasured, Recording};
use crate::unit::counted;
use crate::vocabulary::{Cache, LATENCY_BYTES, Pattern, Rung, Wait};
use pace::Pace;
use std::collections::{BTreeMap, BTreeSet};

/// What a stream's messages have, and how many find its rate where nothing is known.
const STREAM_BYTES: u64 = 64 << 10;
const PROBE_MESSAGES: u64 = 16;

/// Slices of a stream's block.
const SLICES: u64 = 10;

/// Round trips of a block where nothing is known, at least and at most.
const PROBE_TRIPS: u64 = 20;
const LEAST_TRIPS: u64 = 10;
const MOST_TRIPS: u64 = 2_000;

/// Round trips are repeated for a shorter time than a stream flows.
const TRIPS_SHARE: u64 = 4;

/// A pair that is slower by more than this makes the count of its step smaller.
const SLOWER: f64 = 3.0;

/// So many failures of a host, with nothing measured since the first, and it is left out.
const MOST_FAILURES: usize = 2;

/// What the controller, agents and threads cost a step of several pairs.
const STEP_NS: u64 = 60_000_000;

/// Rounds of the discarded pass, and how often it is made where nothing of a pattern came through.
const PROBES: usize = 2;
const MOST_PROBINGS: u32 = 3;

/// Chooses the steps of a screening.
#[derive(Debug, Clone)]
pub struct Screen {
    plan: Plan,
    course: Course,
    rung: Option<&'static Rung>,
    /// What is measured in each round of the screening; what decides first.
    patterns: Vec<Pattern>,
    unavailable: Vec<NotMeasured>,
    visits: Visits,
    batches: u32,
    probings: u32,
    /// What was planned last: what is missing of it is planned once more.
    last: Vec<Round>,
}

impl Screen {
    /// A schedule for these hosts; the screening must be the plan's own.
    pub fn new(plan: &Plan, screening: &Screening, recording: &Recording) -> Screen {
        let rung = plan.view.rungs().first().and_then(|rung| Rung::named(rung));
        let hosts = plan.hosts.len() as u32;
        let course = Course::new(screening, hosts, plan.seed);
        let (mut patterns, mut unavailable) = (Vec::new(), Vec::new());
        for pattern in [screening.stream(), Pattern::PingPong] {
            let Some(rung) = rung else { continue };
            let case = case(rung, pattern, Pairs::single(HostId(0), HostId(1)));
            let wanted = Wanted { case, sizes: vec![size(pattern)], trial_ns: 0, load: None };
            match refusal::of_case(plan, recording, rung, &wanted) {
                None => patterns.push(pattern),
                Some(reason) => unavailable.push(NotMeasured {
                    rung: rung.id.into(),
                    pattern: Some(pattern),
                    reason,
                    ..NotMeasured::default()
                }),
            }
        }
        if patterns.first() != Some(&screening.stream()) {
            patterns.clear();
        }
        Screen {
            plan: plan.clone(),
            course,
            rung,
            patterns,
            unavailable,
            visits: Visits::forgiving(),
            batches: 0,
            probings: 0,
            last: Vec::new(),
        }
    }

    /// The visits of a round: streams and round trips in the screening, of fresh trials what they are for.
    fn visits_of(&self, pass: u32, round: &Round, probe: Option<usize>) -> Vec<Visit> {
        let is_wanted = |pattern: &&Pattern| {
            round.carries.is_none_or(|carries| carries == Carries::of_pattern(**pattern))
        };
        let why = if probe.is_some() { Why::Probe } else { round.stage.why() };
        let pairs: Pairs = round.pairs.iter().copied().collect();
        let visit = |pattern: &Pattern| {
            let entry = self.entry(*pattern, pairs.clone())?;
            Some(Visit { pass, why, entry, probe, again: false })
        };
        self.patterns.iter().filter(is_wanted).filter_map(visit).collect()
    }

    /// Whether something is known of each pattern: what is sent before that is too little for a rate.
    fn is_paced(&self, recording: &Recording) -> bool {
        self.patterns
            .iter()
            .all(|pattern| recording.trials.iter().any(|trial| trial.case.pattern == *pattern))
    }

    /// The discarded pass, with all who are there: again where a host that hung had it fail.
    fn probes(&self, recording: &Recording) -> Vec<Visit> {
        // A course of its own: the first round is not used up.
        let rounds = self.course.clone().further(&Shots::default(), &lost(recording));
        let first = rounds.first().into_iter();
        let probes = first.flat_map(|round| (0..PROBES).map(move |probe| (round, probe)));
        let visits = probes.flat_map(|(round, probe)| self.visits_of(0, round, Some(probe)));
        visits.map(|visit| Visit { again: self.probings > 1, ..visit }).collect()
    }

    fn entry(&self, pattern: Pattern, pairs: Pairs) -> Option<Entry> {
        let rung = self.rung?;
        let is_stream = !pattern.is_exchange();
        let profile = &self.plan.profile;
        let trial_ns = if is_stream { profile.trial_ns } else { profile.trial_ns / TRIPS_SHARE };
        let warm_up_ns = if is_stream { profile.warm_up_ns } else { 0 };
        let path = NetworkPath::for_case(&self.plan, rung, &pairs);
        Some(Entry {
            case: case(rung, pattern, pairs),
            rung,
            sizes: vec![size(pattern)],
            trial_ns,
            warm_up_ns,
            nominal_ns: STEP_NS + warm_up_ns + trial_ns,
            path,
            load: None,
            bounded: true,
        })
    }

    /// What a step of each pattern of the screening should take together.
    fn step_ns(&self) -> u64 {
        let pair = Pairs::single(HostId(0), HostId(1));
        self.patterns
            .iter()
            .filter_map(|pattern| self.entry(*pattern, pair.clone()))
            .map(|entry| entry.nominal_ns)
            .sum()
    }
}

fn case(rung: &Rung, pattern: Pattern, pairs: Pairs) -> Case {
    Case {
        rung: rung.id.into(),
        pattern,
        wait: Wait::Sleeping,
        flows: 1,
        pairs,
        id: CASE.into(),
        ..Case::default()
    }
}

/// The name of its cases: they belong to no ladder.
const CASE: &str = "matrix";

fn size(pattern: Pattern) -> u64 {
    if pattern.is_exchange() { LATENCY_BYTES } else { STREAM_BYTES }
}

/// Hosts of which everything failed of late.
fn lost(recording: &Recording) -> BTreeSet<HostId> {
    let hosts = recording.plan().map_or(Vec::new(), crate::plan::Plan::host_ids);
    let gone = recording.lost_hosts();
    let known: BTreeSet<HostId> = recording.hosts.iter().map(|facts| facts.host).collect();
    let mut last: BTreeMap<HostId, u32> = BTreeMap::new();
    for trial in &recording.trials {
        for host in trial.case.pairs.iter().flat_map(|pair| [pair.from, pair.to]) {
            let step = last.entry(host).or_insert(trial.step);
            *step = (*step).max(trial.step);
        }
    }
    let mut failures: BTreeMap<HostId, usize> = BTreeMap::new();
    for not in &recording.unavailable {
        // Where all of a step failed, it may be anybody's fault; whose agents are lost too often is told by itself.
        let Some(case) = of_pair(not) else { continue };
        let pair = case.pairs.first();
        for host in BTreeSet::from([pair.from, pair.to]) {
            let last = last.get(&host).copied();
            let is_later = not.after_steps.is_some_and(|after| last.is_none_or(|last| after > last));
            *failures.entry(host).or_default() += usize::from(is_later);
        }
    }
    let is_lost = |host: &HostId| {
        gone.contains(host)
            || !known.contains(host)
            || failures.get(host).is_some_and(|count| *count >= MOST_FAILURES)
    };
    hosts.into_iter().filter(is_lost).collect()
}

/// Whether something fell with a host, or a process of one, after the run began.
fn is_any_lost(recording: &Recording) -> bool {
    recording.unavailable.iter().any(|not| not.after_steps.is_some() && not.fell_with_host())
}

/// The case of a pair that failed by itself.
fn of_pair(not: &NotMeasured) -> Option<&Case> {
    not.case.as_deref().filter(|case| case.pairs.len() == 1 && !not.process)
}

/// What of these rounds fell with a step that failed as a whole: pairs of which something has neither a number nor a failure of its own.
fn missing(
    rounds: &[Round],
    patterns: &[Pattern],
    recording: &Recording,
    lost: &BTreeSet<HostId>,
) -> Vec<Round> {
    let own = |case: &Case| (case.pairs.len() == 1).then(|| (case.pairs.first(), case.pattern));
    let measured: BTreeSet<((HostPair, Pattern), Why)> =
        recording.trials.iter().filter_map(|trial| Some((own(&trial.case)?, trial.why))).collect();
    let failed: BTreeSet<(HostPair, Pattern)> =
        recording.unavailable.iter().filter_map(|not| own(of_pair(not)?)).collect();
    // Of a session that cannot be opened all has failed.
    let sessions = recording.unavailable.iter().filter(|not| not.session);
    let closed: BTreeSet<HostPair> = sessions.filter_map(|not| Some(own(of_pair(not)?)?.0)).collect();
    let is_there = |why: Why, pair: HostPair, pattern: Pattern| {
        let one = (pair, pattern);
        measured.contains(&(one, why)) || failed.contains(&one) || closed.contains(&pair)
    };
    let is_lost = |pair: &HostPair| lost.contains(&pair.from) || lost.contains(&pair.to);
    let again = |round: &Round| {
        let of_pattern = |pattern: &Pattern| {
            let left = round.pairs.iter().filter(|pair| !is_lost(pair));
            let left = left.filter(|pair| !is_there(round.stage.why(), **pair, *pattern));
            let carries = Some(Carries::of_pattern(*pattern));
            Round { stage: round.stage, carries, pairs: left.copied().collect() }
        };
        patterns.iter().map(of_pattern).collect::<Vec<Round>>()
    };
    let of_screen = rounds.iter().filter(|round| round.stage == Stage::Screen);
    of_screen.flat_map(again).filter(|round| !round.pairs.is_empty()).collect()
}

/// The blocks of a visit: a warm-up and a trial, or what finds their rate.
fn blocks_of(visit: &Visit, pace: &Pace) -> Vec<Block> {
    let entry = &visit.entry;
    let block = |messages: u64, slices: u64, lead: u64| Block {
        message_bytes: entry.sizes[0],
        messages: messages.max(1),
        slices: slices.max(1) as u32,
        lead: lead as u32,
        cache: Cache::Hot,
        ..Block::default()
    };
    let known = pace.usual().filter(|_| visit.probe != Some(0));
    let known = known.map(|usual| (usual, pace.slowest(&entry.case, usual)));
    let fitting = |time_ns: u64| {
        let (usual, slowest) = known?;
        let time_ns = time_ns as f64;
        Some((time_ns / usual.max(1.0)).min(SLOWER * time_ns / slowest.max(1.0)) as u64)
    };
    if entry.case.pattern.is_exchange() {
        let trips = fitting(entry.trial_ns).unwrap_or(PROBE_TRIPS).clamp(LEAST_TRIPS, MOST_TRIPS);
        return vec![block(1, trips + trips / 10, trips / 10)];
    }
    let (Some(warm_up), Some(trial)) = (fitting(entry.warm_up_ns), fitting(entry.trial_ns)) else {
        return vec![block(PROBE_MESSAGES, 1, 0)];
    };
    let slices = trial.clamp(1, SLICES);
    vec![block(warm_up, 1, 1), block(trial / slices, slices, 0)]
}

impl Planner for Screen {
    fn visits(&mut self) -> &mut Visits {
        &mut self.visits
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        if self.batches == 0 {
            let is_to_probe = self.probings == 0 || is_any_lost(recording) && !self.is_paced(recording);
            if self.probings < MOST_PROBINGS && is_to_probe {
                self.probings += 1;
                return self.probes(recording);
            }
            self.batches = 1;
        }
        let (shots, lost) = (numbers(recording), lost(recording));
        let again = missing(&std::mem::take(&mut self.last), &self.patterns, recording, &lost);
        let is_again = !again.is_empty();
        let rounds = if is_again { again } else { self.course.further(&shots, &lost) };
        self.last = if is_again { Vec::new() } else { rounds.clone() };
        let pass = self.batches;
        self.batches += 1;
        rounds.iter().flat_map(|round| self.visits_of(pass, round, None)).collect()
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let entry = &visit.entry;
        let pace = Pace::from_recording(entry.case.pattern, recording);
        let blocks = blocks_of(visit, &pace);
        // Hosts differ in their CPUs, and in a lab they share them: nobody is pinned.
        let ends = Ends { from: Vec::new(), to: Vec::new() };
        Step {
            number: number as u32,
            pass: visit.pass,
            why: visit.why,
            case: entry.case.clone(),
            roles: roles(entry, &ends),
            predicted_ns: pace.predicted_ns(&entry.case, &blocks),
            blocks,
            sample_ns: None,
            beside: None,
            patience_ns: failure::patience_ns(entry, recording),
        }
    }
}

impl Schedule for Screen {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        if failure::are_too_many(recording, self.predicted_ns()) {
            return None;
        }
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        &self.unavailable
    }

    /// Of the screening; who stands apart is not known before.
    fn predicted_ns(&self) -> u64 {
        (self.course.screening_steps() + PROBES) as u64 * self.step_ns()
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        let done = recording.steps.iter().filter(|step| step.why == Stage::Screen.why()).count();
        let done = done / self.patterns.len().max(1);
        let ahead =
            self.visits.iter().skip(recording.steps.len()).filter(|visit| visit.why != Stage::Screen.why());
        let fresh: u64 = ahead.map(|visit| visit.entry.nominal_ns).sum();
        (self.course.screening_steps().saturating_sub(done)) as u64 * self.step_ns() + fresh
    }

    fn announcement(&self) -> String {
        let hosts = counted(self.plan.hosts.len(), "host");
        let rounds = counted(self.course.screening_rounds(), "round");
        let rung = self.plan.view.rungs().first().map_or("", String::as_str);
        format!("{rung}: {hosts} in {rounds} of disjoint pairs, then fresh trials of who stands apart")
    }

    fn stage(&self, step: &Step) -> String {
        let rounds = self.course.screening_rounds();
        match Stage::of_step(step.why) {
            None => "warm-up".to_owned(),
            Some(Stage::Screen) => format!("round {} of {rounds}", step.pass),
            Some(Stage::Recheck) => "cells that stood apart once more".to_owned(),
            Some(Stage::Loaded) => "suspects under load".to_owned(),
            Some(Stage::Alone) => "suspects alone".to_owned(),
        }
    }
}
