//! Which experiments are begun, and when: what shows a sign after the first look, as much of it as the budget can pay, and what
//! shows one only later.

use super::order::first_of_each;
use super::{Experiments, PROBES};
use crate::analysis::{ALPHA, compare_arms, is_between, is_near};
use crate::plan::{Arm, CONFIRMATION_BLOCKS, race_blocks};
use crate::record::Recording;
use crate::schedule::visit::Visit;
use crate::vocabulary::Cause;
use std::collections::BTreeSet;

/// Experiments of which the warm-up is made at a time.
const AT_ONCE: usize = 4;

impl Experiments {
    /// The experiments for what the recording shows signs of and that were not begun, from the lowest rung up.
    pub(super) fn asked(&self, recording: &Recording) -> Vec<u32> {
        let suspects = (self.suspects)(recording);
        let compared = compare_arms(recording);
        if compared.as_ref().is_some_and(|compared| compared.all_there().is_some()) {
            return Vec::new();
        }
        let base = compared.and_then(|compared| compared.base).map(|base| base.median);
        let is_asked = |arm: &Arm| {
            let is_suspect = arm.cause.as_ref().is_some_and(|cause| suspects.contains(cause));
            is_suspect && !is_between(arm) && base.is_none_or(|base| is_near(arm, base))
        };
        let is_left = |number: u32| {
            !self.refused.contains(&number) && !self.begun.iter().flatten().any(|begun| *begun == number)
        };
        let asked = (1..).zip(&self.plan.arms).filter(|(number, arm)| is_left(*number) && is_asked(arm));
        first_of_each(&asked.collect::<Vec<_>>())
    }

    /// What so many more experiments take, to the end of the search.
    pub(super) fn takes_ns(&self, count: usize, recording: &Recording) -> f64 {
        let begun = self.begun.iter().flatten().count();
        let racing = self.begun.iter().flatten().filter(|arm| !self.dropped.contains(arm)).count();
        let arms = self.standing().len() + racing + count;
        let race = f64::from(race_blocks(begun + count, ALPHA)) * self.block_ns(arms, recording);
        let confirmation = f64::from(CONFIRMATION_BLOCKS) * self.block_ns(2, recording);
        race + confirmation + (PROBES * count) as f64 * self.probe_ns(recording)
    }

    /// How many of those that wait the budget can pay for.
    pub(super) fn fitting(&self, recording: &Recording) -> usize {
        let left_ns = self.planned_ns() - recording.spent_ns() as f64;
        let fits = |count: &usize| self.takes_ns(*count, recording) <= left_ns;
        (0..=self.waiting.len()).rev().find(fits).unwrap_or(0)
    }

    /// The warm-up of the next of those that wait, a few at a time: what it takes is known when some were made.
    pub(super) fn begin(&mut self, recording: &Recording) -> Vec<Visit> {
        let count = self.fitting(recording).min(AT_ONCE);
        let next: BTreeSet<u32> = self.waiting.drain(..count).collect();
        if next.is_empty() {
            self.waiting.clear();
        }
        self.begun.get_or_insert_default().extend(&next);
        self.probes(&next)
    }

    /// The same of faults that show a sign by now and of which no experiment was made: the race is over and nothing won.
    pub(super) fn look_again(&mut self, recording: &Recording) -> Vec<Visit> {
        if self.is_explained {
            return Vec::new();
        }
        let begun = self.begun.clone().unwrap_or_default();
        let tried: BTreeSet<&str> = begun.iter().filter_map(|arm| self.cause_of(*arm)).collect();
        let is_new = |arm: &u32| {
            let cause = self.cause_of(*arm).and_then(Cause::named);
            cause.is_some_and(|cause| cause.is_fault && !tried.contains(cause.name))
        };
        let waiting = self.asked(recording).into_iter().filter(is_new).collect();
        self.waiting = waiting;
        self.dropped.extend(begun);
        let probes = self.begin(recording);
        if !probes.is_empty() {
            self.raced_from = self.last_block();
        }
        probes
    }
}
