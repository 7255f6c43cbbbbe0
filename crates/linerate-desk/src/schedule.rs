//! The next step, from the plan, the seed and the recording so far; nothing else is remembered.
//!
//! What a schedule keeps besides is derived from the recording and only saves time: resuming a run is
//! asking a new schedule for the next step of an old recording.

mod again;
mod arms;
mod beside;
mod bisection;
mod blocks;
mod buffers;
mod claims;
mod coverage;
mod entries;
mod experiments;
mod extra;
mod failure;
mod filter;
mod fit;
mod knob;
mod ladder;
mod launch;
mod link;
mod looks;
mod matrix;
mod network_path;
mod onto;
mod passes;
mod placement;
mod refusal;
mod scene;
mod step;
mod study;
mod suite;
#[cfg(test)]
mod tests;
mod tuning;
mod visit;
mod visited;
mod wanted;

pub use arms::Arms;
pub use entries::Entry;
pub use experiments::{Experiments, Suspects};
pub use knob::unusable_knob;
pub use matrix::Course;
pub use onto::{Choose, NoGoingOn, Resumable, continued, resumable};
pub use passes::Passes;

use crate::plan::{HostId, HostPair, Plan, Role, Step, View};
use crate::record::{NotMeasured, Recording};
use crate::vocabulary::{Does, Place};
use matrix::Screen;
use placement::Ends;
use tuning::Search;

/// Chooses steps.
pub trait Schedule {
    /// The next step; none when the run is complete.
    fn next(&mut self, recording: &Recording) -> Option<Step>;
    /// What cannot be measured on these hosts.
    fn unavailable(&self) -> &[NotMeasured];
    /// How long the whole run should take.
    fn predicted_ns(&self) -> u64;
    /// How long the steps that are left should take.
    fn left_ns(&self, recording: &Recording) -> u64;
    /// What the run will be, in a few words.
    fn announcement(&self) -> String;
    /// What a step belongs to, in a few words: `pass 3 of 10`.
    fn stage(&self, step: &Step) -> String;
    /// Why the time that was asked for is not enough for anything, and what to try; none where it is.
    fn too_short(&self) -> Option<(String, String)> {
        None
    }
    /// What the user should know before it begins.
    fn note(&self) -> Option<String> {
        None
    }
}

/// The schedule of what the plan measures: the recording must hold its header's plan and the hosts' facts.
pub fn schedule_of(plan: &Plan, recording: &Recording) -> Box<dyn Schedule> {
    match &plan.view {
        View::Ladder(_) | View::Suites(_) => Box::new(Passes::new(plan, recording)),
        View::Comparison { design, .. } => Box::new(Arms::new(plan, design, recording)),
        View::Matrix { design, .. } => Box::new(Screen::new(plan, design, recording)),
        View::Tuning { design, .. } => Box::new(Search::new(plan, design, recording)),
    }
}

/// The schedule of a search for causes: what the recording shows signs of is tried. Of another plan that of what it measures.
pub fn search_of(plan: &Plan, recording: &Recording, suspects: Suspects) -> Box<dyn Schedule> {
    match &plan.view {
        View::Comparison { design, .. } if design.adaptive => {
            Box::new(Experiments::new(plan, design, recording, suspects))
        }
        _ => schedule_of(plan, recording),
    }
}

/// All ends' roles: of each pair of hosts both. The receiving side comes first, because it must be ready.
fn roles(entry: &Entry, ends: &Ends) -> Vec<Role> {
    let pairs = (0..).zip(entry.case.pairs.iter());
    let of_pair = |(pair, HostPair { from, to }): (u32, HostPair)| {
        let role = |(host, worker, cpus, does): (HostId, u32, &Vec<u32>, Does)| Role {
            host,
            worker,
            does,
            cpus: cpus.clone(),
            pair,
        };
        let second_worker = u32::from(entry.rung.place == Place::InHost);
        let from = |does| (from, 0, &ends.from, does);
        let to = |does| (to, second_worker, &ends.to, does);
        let pattern = entry.case.pattern.entry();
        let both = match pattern.alone {
            Some(does) if entry.rung.transport.ends == 1 => vec![from(does)],
            _ => {
                let pairs = pattern.ends[1].iter().zip(pattern.ends[0]);
                pairs.flat_map(|(of_to, of_from)| [to(*of_to), from(*of_from)]).collect()
            }
        };
        both.into_iter().map(role).collect::<Vec<_>>()
    };
    pairs.flat_map(of_pair).collect()
}
