//! The races of a recording, replayed: who was left out, who ran on, who was measured again, and what that decided.

mod cut;

use super::super::figures::{Blocks, share};
use super::super::{
    ALPHA, Arm, ArmKind, CONFIDENCE, CONFIRMATION_BLOCKS, Candidate, Comparison, Effect, LEAST_MARGIN, Look,
    Metric, Plan, Recording, Stack, Trial, Verdict, Why, judged, not_granted,
};
use super::{Compared, CutCandidate, Fate, LeftOut, Tuned, TuningRound, TuningStep, TuningStop};
use crate::analysis::arms::is_link_full;
use crate::plan::{BLOCKS_OF_ROUND, Tuning};
use std::collections::{BTreeMap, BTreeSet};

/// Of five pairs all point one way once in sixteen: what a screening can say at all is at this level, to both sides.
const SCREENING_ALPHA: f64 = 0.1;

/// Candidates of one round that are measured again, at most: who goes on until one holds is fishing.
const MOST_CONFIRMED: usize = 3;

/// One block, by what was visited in it.
#[derive(Debug, Default)]
struct Visited {
    confirms: bool,
    arms: BTreeSet<u32>,
}

/// Who of a race ran on after its screening, and who had no time to.
struct Early<'r> {
    survivors: &'r [u32],
    cut: &'r [CutCandidate],
}

/// What the search looks at.
struct Search<'r> {
    recording: &'r Recording,
    plan: &'r Plan,
    tuning: &'r Tuning,
    race: Blocks,
    fresh: Blocks,
    shown: &'r Trial,
}

/// What a recording's search found so far; none where it has none.
pub fn tuned(recording: &Recording) -> Option<Tuned> {
    let plan = recording.plan()?;
    let tuning = plan.tuning()?;
    let comparison = &tuning.comparison;
    let pattern = comparison.metric.shown_by();
    let search = Search {
        recording,
        plan,
        tuning,
        race: Blocks::from_recording(recording, comparison, (Why::Block, pattern)),
        fresh: Blocks::from_recording(recording, comparison, (Why::Confirm, pattern)),
        shown: recording.trials.iter().find(|trial| trial.case.pattern == pattern)?,
    };
    Some(search.replayed())
}

/// Every block that was begun, by its number within its round.
fn visited(recording: &Recording, comparison: &Comparison) -> BTreeMap<u32, BTreeMap<u32, Visited>> {
    let mut rounds: BTreeMap<u32, BTreeMap<u32, Visited>> = BTreeMap::new();
    for step in recording.steps.iter().filter(|step| step.pass > 0) {
        let block = comparison.block_of(step.pass);
        let round = rounds.entry((block - 1) / BLOCKS_OF_ROUND).or_default();
        let visited = round.entry(block).or_default();
        visited.confirms = step.why == Why::Confirm;
        visited.arms.insert(step.case.arm);
    }
    rounds
}

impl Search<'_> {
    /// The races in their order, each upon what those before it kept.
    fn replayed(&self) -> Tuned {
        let mut base = Stack::default();
        let (mut rounds, mut steps): (Vec<TuningRound>, Vec<TuningStep>) = (Vec::new(), Vec::new());
        let mut left_out = Vec::new();
        let mut total = None;
        for blocks in visited(self.recording, &self.tuning.comparison).into_values() {
            if blocks.values().all(|visited| visited.confirms) {
                (total, left_out) = self.left_out(&base);
                continue;
            }
            let round = self.round(&base, &blocks);
            if let Some(step) = self.step(&base, &round, &blocks) {
                base = base.with(step.arm);
                steps.push(step);
            }
            rounds.push(round);
        }
        for step in &mut steps {
            let alone = left_out.iter().find(|one: &&LeftOut| one.arm == step.arm);
            step.needed = alone.is_none_or(|one| self.least_gain(&one.gain).is_some_and(|gain| gain > 0.0));
        }
        let untried = self.untried(&base, &rounds);
        Tuned {
            metric: self.tuning.comparison.metric,
            rung: self.shown.case.rung.clone(),
            from: self.shown.case.pairs.senders(),
            to: self.shown.case.pairs.receivers(),
            message_bytes: self.shown.block.message_bytes,
            stock: rounds.first().and_then(|round| round.compared.base),
            stop: self.stop(&base, &rounds, &untried),
            untried,
            steps,
            total,
            left_out,
            rounds,
        }
    }

    /// One race, as far as it went.
    fn round(&self, base: &Stack, blocks: &BTreeMap<u32, Visited>) -> TuningRound {
        let of = |confirms: bool| -> BTreeSet<u32> {
            blocks.iter().filter(|(_, block)| block.confirms == confirms).map(|(number, _)| *number).collect()
        };
        let (raced, fresh) = (of(false), of(true));
        let screened: BTreeSet<u32> = raced.iter().copied().take(self.tuning.screening as usize).collect();
        let of_screening = self.race.upon(base, &screened);
        let mut entered = self.candidates_of(base, blocks);
        entered.extend(self.refused_upon(base, &entered));
        let is_screened = raced.len() >= self.tuning.screening as usize;
        let survivors = if is_screened { self.survivors(&of_screening, &entered) } else { Vec::new() };
        let is_over = is_screened && survivors.is_empty();
        let planned = if is_over { self.tuning.screening } else { self.tuning.comparison.blocks };
        let comparison = Comparison { blocks: planned, extend: false, ..self.tuning.comparison.clone() };
        let look = Look {
            recording: self.recording,
            plan: self.plan,
            comparison: &comparison,
            metric: comparison.metric.number(),
            blocks: self.race.upon(base, &raced),
            fresh: self.fresh.upon(base, &fresh),
            hindered: Blocks::default(),
            alpha: if is_over { SCREENING_ALPHA } else { ALPHA },
            upon: base.clone(),
        };
        let mut compared = judged(&look, self.shown);
        compared.candidates.retain(|one| entered.contains(&one.arm));
        if is_screened {
            self.of_early(&mut compared, &of_screening, &survivors);
        }
        let to_confirm = (raced.len() >= comparison.blocks as usize && !is_over)
            .then(|| self.to_confirm(&compared, fresh.len()))
            .flatten();
        let kept = compared.candidates.iter().find(|one| self.is_kept(&compared, one)).map(|one| one.arm);
        let cut = self.cut(base, blocks, &survivors);
        cut::tell(&mut compared.candidates, &cut);
        let early = Early { survivors: &survivors, cut: &cut };
        let fates = compared.candidates.iter().map(|one| self.fate(&compared, one, kept, &early)).collect();
        TuningRound {
            upon: base.arms().to_vec(),
            begun: raced.len() as u32,
            compared,
            fates,
            kept,
            cut,
            survivors,
            to_confirm,
        }
    }

    /// The candidates that were raced upon this.
    fn candidates_of(&self, base: &Stack, blocks: &BTreeMap<u32, Visited>) -> Vec<u32> {
        let first = blocks.values().next().into_iter().flat_map(|block| &block.arms);
        let upon = first.filter_map(|arm| base.beneath(&Stack::from_number(*arm)));
        upon.filter(|arm| self.is_candidate(*arm)).collect()
    }

    /// Those that a host did not grant in their warm-up, so that no block was spent on them.
    fn refused_upon(&self, base: &Stack, entered: &[u32]) -> Vec<u32> {
        let left = candidates_upon(self.plan, base).into_iter().filter(|arm| !entered.contains(arm));
        left.filter(|arm| is_refused(self.recording, self.plan, base, *arm)).collect()
    }

    fn is_candidate(&self, arm: u32) -> bool {
        let of_plan = (arm as usize).checked_sub(1).and_then(|index| self.plan.arms.get(index));
        of_plan.is_some_and(|arm| arm.kind == ArmKind::Candidate)
    }

    fn name(&self, arm: u32) -> String {
        let of_plan = (arm as usize).checked_sub(1).and_then(|index| self.plan.arms.get(index));
        of_plan.map_or(String::new(), |arm| arm.name.clone())
    }

    fn metric(&self) -> &'static Metric {
        self.tuning.comparison.metric.number()
    }

    /// The smallest difference that counts before the noise is known.
    fn least_margin(&self) -> f64 {
        self.tuning.comparison.margin.max(LEAST_MARGIN)
    }

    /// The end of an interval with the lesser gain, and with the greater one.
    fn gains(&self, effect: &Effect) -> Option<(f64, f64)> {
        let (one, other) = (self.metric().gain(effect.low?), self.metric().gain(effect.high?));
        Some((one.min(other), one.max(other)))
    }

    fn least_gain(&self, effect: &Effect) -> Option<f64> {
        self.gains(effect).map(|(least, _)| least)
    }

    /// Who may still gain beyond the margin, and is not beaten by the one that gains most.
    fn survivors(&self, blocks: &Blocks, entered: &[u32]) -> Vec<u32> {
        let effect =
            |blocks: &Blocks, arm: u32| share(&blocks.ratios(arm, self.metric()), 1.0 - SCREENING_ALPHA);
        let found: Vec<(u32, Effect)> =
            entered.iter().filter_map(|arm| Some((*arm, effect(blocks, *arm)?))).collect();
        let may_gain: Vec<(u32, f64)> = found
            .iter()
            .filter(|(_, effect)| self.gains(effect).is_some_and(|(_, most)| most > self.least_margin()))
            .map(|(arm, effect)| (*arm, self.metric().gain(effect.estimate)))
            .collect();
        let Some((best, _)) = may_gain.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Vec::new();
        };
        let against_best = blocks.against(best);
        let is_beaten = |arm: u32| {
            let against = effect(&against_best, arm).and_then(|effect| self.gains(&effect));
            arm != best && against.is_some_and(|(_, most)| most < 0.0)
        };
        may_gain.into_iter().map(|(arm, _)| arm).filter(|arm| !is_beaten(*arm)).collect()
    }

    /// Whether the race shows a gain beyond the margin, and nothing that speaks against it but that it is not confirmed.
    fn gains_beyond(&self, compared: &Compared, one: &Candidate) -> bool {
        let is_beyond = one.change.and_then(|change| self.least_gain(&change));
        one.verdict == Verdict::Different
            && one.is_gain
            && is_beyond.is_some_and(|least| least > compared.margin)
            && one.not_granted.is_empty()
            && !one.guards.iter().any(|guard| guard.is_worse)
    }

    /// Whether fresh blocks were run for it, all that are to be.
    fn is_decided(one: &Candidate) -> bool {
        one.confirmation.is_some_and(|effect| effect.n >= CONFIRMATION_BLOCKS)
    }

    fn is_kept(&self, compared: &Compared, one: &Candidate) -> bool {
        let again = one.confirmation.map(|effect| self.metric().gain(effect.estimate));
        Self::is_decided(one)
            && one.accepted
            && self.gains_beyond(compared, one)
            && again.is_some_and(|gain| gain > compared.margin)
    }

    /// The best that is not decided yet; none once one is kept, or several failed.
    fn to_confirm(&self, compared: &Compared, fresh: usize) -> Option<u32> {
        let is_over = compared.candidates.iter().any(|one| self.is_kept(compared, one))
            || fresh >= MOST_CONFIRMED * CONFIRMATION_BLOCKS as usize;
        // One that was begun is ended first.
        let begun =
            compared.candidates.iter().find(|one| one.confirmation.is_some() && !Self::is_decided(one));
        if let Some(begun) = begun.filter(|_| !is_over) {
            return Some(begun.arm);
        }
        let open = compared.candidates.iter().filter(|one| one.confirmation.is_none());
        let open = open.filter(|one| self.gains_beyond(compared, one));
        let gain = |one: &&Candidate| one.change.map_or(0.0, |effect| self.metric().gain(effect.estimate));
        open.filter(|_| !is_over).max_by(|a, b| gain(a).total_cmp(&gain(b))).map(|one| one.arm)
    }

    fn fate(&self, compared: &Compared, one: &Candidate, kept: Option<u32>, early: &Early) -> Fate {
        let most = one.change.and_then(|change| self.gains(&change)).map(|(_, most)| most);
        let least = one.change.and_then(|change| self.least_gain(&change));
        let is_gain = least.is_some_and(|least| least > 0.0);
        let is_early = one.change.is_some_and(|change| change.n < self.tuning.comparison.blocks);
        match () {
            () if kept == Some(one.arm) => Fate::Kept,
            () if !one.not_granted.is_empty() => Fate::NotGranted,
            () if !compared.doubts.is_empty() => Fate::CannotTell,
            () if Self::is_decided(one) => Fate::NotConfirmed,
            () if one.confirmation.is_some() => Fate::CannotTell,
            () if most.is_some_and(|most| most <= compared.margin) => Fate::NoGain,
            () if is_gain && one.guards.iter().any(|guard| guard.is_worse) => Fate::Costs,
            () if is_gain && kept.is_some() || is_early && !early.survivors.contains(&one.arm) => {
                Fate::Beaten
            }
            () if early.cut.iter().any(|cut| cut.arm == one.arm) => Fate::OutOfTime,
            () => Fate::CannotTell,
        }
    }

    /// Of who was left out early the interval at the level of so few blocks, and why.
    fn of_early(&self, compared: &mut Compared, blocks: &Blocks, survivors: &[u32]) {
        for one in compared.candidates.iter_mut().filter(|one| !survivors.contains(&one.arm)) {
            let Some(change) = share(&blocks.ratios(one.arm, self.metric()), 1.0 - SCREENING_ALPHA) else {
                continue;
            };
            one.change = Some(change);
            let is_small = self.gains(&change).is_some_and(|(_, most)| most <= compared.margin);
            let why =
                if is_small { "its whole interval lies below the margin" } else { "another one gains more" };
            one.reasons = vec![format!("left out after {} blocks: {why}", change.n)];
        }
    }

    /// The step that a round added.
    fn step(&self, base: &Stack, round: &TuningRound, blocks: &BTreeMap<u32, Visited>) -> Option<TuningStep> {
        let arm = round.kept?;
        let kept = round.compared.candidates.iter().find(|one| one.arm == arm)?;
        let fresh = blocks.iter().filter(|(_, block)| block.confirms).map(|(number, _)| *number).collect();
        Some(TuningStep {
            arm,
            name: kept.name.clone(),
            value: self.fresh.upon(base, &fresh).estimate(arm, self.metric()),
            gain: kept.confirmation?,
            raced: kept.change?,
            needed: true,
        })
    }

    /// All steps together against none, and each against the others without it.
    fn left_out(&self, full: &Stack) -> (Option<Effect>, Vec<LeftOut>) {
        let without =
            |number: u32| share(&self.fresh.against(number).ratios(full.number(), self.metric()), CONFIDENCE);
        // What the plan as it stands gave is there under its own number.
        let total = share(&self.fresh.ratios(full.number(), self.metric()), CONFIDENCE);
        let one = |arm: &u32| {
            let gain = without(full.without(*arm).number())?;
            Some(LeftOut { arm: *arm, name: self.name(*arm), gain })
        };
        (total, full.arms().iter().filter_map(one).collect())
    }

    /// The candidates that were not raced upon this, but for other levels of what is set there.
    fn untried(&self, base: &Stack, rounds: &[TuningRound]) -> Vec<String> {
        let here = rounds.iter().filter(|round| round.upon == base.arms());
        let raced: BTreeSet<u32> =
            here.flat_map(|round| round.compared.candidates.iter().map(|one| one.arm)).collect();
        let left = self.left(base).into_iter().filter(|arm| !raced.contains(arm) && !self.is_refused(*arm));
        left.map(|arm| self.name(arm)).collect()
    }

    /// Whether a host has it not: no time would try it.
    fn is_refused(&self, arm: u32) -> bool {
        self.recording.unavailable.iter().any(|not| not.arm == Some(arm))
    }

    /// The candidates that say something that is not set here.
    fn left(&self, base: &Stack) -> Vec<u32> {
        candidates_upon(self.plan, base)
    }

    fn stop(&self, base: &Stack, rounds: &[TuningRound], untried: &[String]) -> TuningStop {
        let is_cut = self.recording.end.as_ref().is_none_or(|end| end.reason != "completed");
        let is_unfinished =
            rounds.last().is_some_and(|round| round.kept.is_none() && round.to_confirm.is_some());
        let is_open = |fate: &Fate| *fate == Fate::OutOfTime;
        let is_unfinished = is_unfinished
            || rounds
                .last()
                .is_some_and(|round| round.upon == base.arms() && round.fates.iter().any(is_open));
        match () {
            () if is_cut => TuningStop::CutShort,
            () if self.is_full(rounds) => TuningStop::LinkFull,
            () if !base.has_room() => TuningStop::Full,
            () if !untried.is_empty() || is_unfinished => TuningStop::Budget,
            () => TuningStop::NothingLeft,
        }
    }

    /// Whether the lab's slowest link is full at the last rate that is known.
    fn is_full(&self, rounds: &[TuningRound]) -> bool {
        let Some(round) = rounds.last() else { return false };
        let kept = round.compared.candidates.iter().find(|one| Some(one.arm) == round.kept);
        let value = kept.and_then(|one| one.value).or(round.compared.base);
        is_link_full(self.plan, value)
    }
}

/// Whether a host gave something else than a candidate upon this asks for, so far as is known.
pub fn is_refused(recording: &Recording, plan: &Plan, base: &Stack, arm: u32) -> bool {
    let of_plan = (arm as usize).checked_sub(1).and_then(|index| plan.arms.get(index));
    of_plan.is_some_and(|asked| !not_granted(recording, base.with(arm).number(), asked).is_empty())
}

/// The candidates of a plan that can stand upon this: one whose knobs are all set there says nothing new.
pub fn candidates_upon(plan: &Plan, base: &Stack) -> Vec<u32> {
    let set: BTreeSet<&str> = base
        .arms()
        .iter()
        .filter_map(|arm| plan.arms.get((*arm as usize).checked_sub(1)?))
        .flat_map(|arm| arm.settings.iter().map(|setting| setting.knob.as_str()))
        .collect();
    let says_more = |arm: &Arm| {
        arm.kind == ArmKind::Candidate && arm.settings.iter().any(|one| !set.contains(one.knob.as_str()))
    };
    (1..).zip(&plan.arms).filter(|(_, arm)| says_more(arm)).map(|(number, _)| number).collect()
}
