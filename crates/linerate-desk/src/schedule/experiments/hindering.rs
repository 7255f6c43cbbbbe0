//! What the rate is sensitive to: hindrances in blocks of their own, when the causes are told, in a share of the time that is left.

use super::{ALPHA, Experiments, PROBES};
use crate::analysis::compare_arms;
use crate::plan::{Arm, ArmKind, Why, race_blocks};
use crate::record::Recording;
use crate::schedule::visit::Visit;
use crate::statistic::median;
use crate::unit::Bytes;
use crate::vocabulary::{HINDRANCES, Hindrance};
use std::collections::BTreeSet;

/// The share of the budget that it takes at most: the answer is there already.
const SHARE: f64 = 0.2;

/// Of what is in flight a hindrance leaves so much.
const LEFT_IN_FLIGHT: f64 = 0.5;

/// A window is as good as that up to such a factor; the values that there are lie twice as far from each other.
const NEAR: f64 = 1.5;

/// What is added.
#[derive(Debug, Clone)]
pub(super) struct Hindering {
    /// The hindrances, with the plan as it stands; none where there is no time.
    arms: BTreeSet<u32>,
    visits_each: u64,
    /// After which block.
    from: u32,
    blocks: u32,
    /// Blocks that are planned so far.
    begun: u32,
}

impl Hindering {
    /// What the blocks take that are not planned yet.
    pub(super) fn left_ns(&self, visit_ns: f64) -> u64 {
        let visits = u64::from(self.blocks - self.begun) * self.arms.len() as u64 * self.visits_each;
        (visits as f64 * visit_ns) as u64
    }
}

impl Experiments {
    /// The next block of hindrances, after their warm-up; none when all are made.
    pub(super) fn hinder(&mut self, recording: &Recording) -> Vec<Visit> {
        let Some(hindering) = &mut self.hindering else {
            let hindering = self.hindering(recording);
            let added = hindering.arms.iter().copied().filter(|arm| *arm > 0).collect();
            self.hindering = Some(hindering);
            return self.probes(&added);
        };
        if hindering.begun == hindering.blocks {
            return Vec::new();
        }
        hindering.begun += 1;
        let hindering = hindering.clone();
        self.block_of(hindering.from + hindering.begun, Why::Hindered, &hindering.arms, hindering.visits_each)
    }

    /// What can be added in the time that is left.
    fn hindering(&self, recording: &Recording) -> Hindering {
        let added = self.nearest(recording);
        let left_ns = self.planned_ns() - recording.spent_ns() as f64;
        let budget_ns = left_ns.min(SHARE * self.budget_ns() as f64);
        // So many visits of each of the first ones fit.
        let fitting = |count: usize| {
            let blocks = f64::from(race_blocks(count, ALPHA)) * (1 + count) as f64;
            let once_ns = (blocks + (PROBES * count) as f64) * self.visit_ns(recording);
            (budget_ns / once_ns.max(1.0)) as u64
        };
        let count = (1..=added.len()).rev().find(|count| fitting(*count) > 0).unwrap_or(0);
        let visits_each = match fitting(count).min(self.visits_each) {
            few @ 0..2 => few,
            many => many / 2 * 2,
        };
        let is_made = count > 0;
        Hindering {
            arms: if is_made { added.into_iter().take(count).chain([0]).collect() } else { BTreeSet::new() },
            visits_each,
            from: self.last_block() + self.confirmed(),
            blocks: if is_made { race_blocks(count, ALPHA) } else { 0 },
            begun: 0,
        }
    }

    /// Of each hindrance the one arm that is made, in the order of their table: where it has several values that nearest to half
    /// of what is in flight.
    fn nearest(&self, recording: &Recording) -> Vec<u32> {
        let wanted = in_flight(recording).map(|bytes| LEFT_IN_FLIGHT * bytes);
        let is_made = |number: u32, arm: &Arm, of: &Hindrance| {
            of.is_made_by(&arm.name) && arm.kind == ArmKind::Hindered && !self.refused.contains(&number)
        };
        let one_of = |hindrance: &Hindrance| {
            let all = (1..).zip(&self.plan.arms).filter(|(number, arm)| is_made(*number, arm, hindrance));
            if hindrance.settings.len() == 1 {
                return all.map(|(number, _)| number).next();
            }
            let far = |arm: &Arm| Some((bytes(arm)? / wanted?).ln().abs());
            let near =
                all.filter_map(|(number, arm)| Some((number, far(arm).filter(|far| *far <= NEAR.ln())?)));
            near.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
        };
        HINDRANCES.iter().filter_map(one_of).collect()
    }

    pub(super) fn hindered_stage(&self) -> String {
        let (begun, blocks) = self.hindering.as_ref().map_or((0, 0), |it| (it.begun, it.blocks));
        format!("what it is sensitive to, {begun} of {blocks}")
    }
}

fn bytes(arm: &Arm) -> Option<f64> {
    arm.settings.first()?.value.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64)
}

/// What is on its way at a time by Little's law: the rate by the round trip that the connections of the plan as it stands saw.
fn in_flight(recording: &Recording) -> Option<f64> {
    let of_base = recording.steps.iter().filter(|step| step.case.arm == 0 && step.pass > 0);
    let round_trips_us = of_base.flat_map(|step| &step.sockets).filter_map(|socket| socket.last.get("rtt"));
    let round_trip_us = median(round_trips_us.filter(|us| **us > 0).map(|us| *us as f64))?;
    let bps = compare_arms(recording)?.base?.median;
    Some(bps / 8.0 * round_trip_us / 1e6)
}
