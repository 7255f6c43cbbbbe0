//! Candidates for which a race had no time: read from who is missing in its blocks, so that a report says what the search did.

use super::super::super::{Candidate, Stack};
use super::{Search, Visited};
use crate::analysis::CutCandidate;
use crate::unit::counted;
use std::collections::BTreeMap;

/// Why, of those that were not begun, and of those that were.
const NOT_BEGUN: &str = "no time was left to race it: --budget gives more";
const LEFT_OUT: &str = "no time was left to run it on, and others gained more by then: --budget gives more";

impl Search<'_> {
    /// Who was not begun upon this, of those that were never raced there, and who is missing after the screening although it
    /// might gain. A block that was cut short itself says nothing.
    pub(super) fn cut(
        &self,
        base: &Stack,
        blocks: &BTreeMap<u32, Visited>,
        survivors: &[u32],
    ) -> Vec<CutCandidate> {
        let entered = self.candidates_of(base, blocks);
        let is_there = |arm: u32, block: &Visited| block.arms.contains(&base.with(arm).number());
        let raced: Vec<&Visited> = blocks.values().filter(|block| !block.confirms).collect();
        let not_begun = self.left(base).into_iter().filter(|arm| {
            let was_raced = self.recording.steps.iter().any(|step| step.case.arm == base.with(*arm).number());
            !(entered.contains(arm) || was_raced || self.is_refused(*arm) || self.failed(base, *arm))
        });
        let not_begun = not_begun.map(|arm| self.cut_one(arm, 0));
        let whole = self.last_whole();
        let later = blocks.iter().filter(|(number, block)| !block.confirms && **number <= whole);
        let later: Vec<&Visited> =
            later.map(|(_, block)| block).skip(self.tuning.screening as usize).collect();
        let is_cut =
            |arm: &&u32| later.iter().any(|block| !is_there(**arm, block)) && !self.failed(base, **arm);
        let left_out = survivors.iter().filter(is_cut).map(|arm| {
            let blocks = raced.iter().filter(|block| is_there(*arm, block)).count();
            self.cut_one(*arm, blocks as u32)
        });
        not_begun.chain(left_out).collect()
    }

    /// The last block of which nothing is to come.
    fn last_whole(&self) -> u32 {
        let blocks = self.recording.steps.iter().map(|step| self.tuning.comparison.block_of(step.pass));
        let last = blocks.max().unwrap_or(0);
        let is_over = self.recording.end.as_ref().is_some_and(|end| end.reason == "completed");
        if is_over { last } else { last.saturating_sub(1) }
    }

    /// Whether it is missing because it failed.
    fn failed(&self, base: &Stack, arm: u32) -> bool {
        let number = base.with(arm).number();
        self.recording.unavailable.iter().any(|not| not.case.as_ref().is_some_and(|case| case.arm == number))
    }

    fn cut_one(&self, arm: u32, blocks: u32) -> CutCandidate {
        let why = if blocks == 0 { NOT_BEGUN } else { LEFT_OUT };
        CutCandidate { arm, name: self.name(arm), blocks, why: why.into() }
    }
}

/// Says it of each that was begun.
pub(super) fn tell(candidates: &mut [Candidate], cut: &[CutCandidate]) {
    for one in candidates {
        let Some(cut) = cut.iter().find(|cut| cut.arm == one.arm) else { continue };
        one.reasons.push(format!("left out after {}: {}", counted(cut.blocks as usize, "block"), cut.why));
    }
}
