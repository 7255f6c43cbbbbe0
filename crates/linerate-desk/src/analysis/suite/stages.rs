//! Where the time of a pipeline went by its stages, and which of them binds, or which stream.

use super::{label, trials};
use crate::plan::{Case, Factor, Graph, HostId, Plan, Stream, Suite};
use crate::record::{Flow, Recording, StageTally, Trial};
use crate::statistic::{Estimate, median};
use crate::vocabulary::Pattern;
use std::collections::{BTreeMap, BTreeSet};

/// The stages of one case with buffers of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct StagesValues {
    /// The case.
    pub case: Case,
    /// Its settings in words.
    pub words: String,
    /// The size of its buffers.
    pub buffer_bytes: u64,
    /// Its stages, in the order of the plan.
    pub stages: Vec<StageValues>,
    /// What joins them, in the order in which a unit of work goes through.
    pub streams: Vec<StreamValues>,
    /// What binds.
    pub binding: Binding,
}

/// What a stage did, as shares of its time.
#[derive(Debug, Clone, PartialEq)]
pub struct StageValues {
    /// Its name.
    pub stage: String,
    /// How many copies of it there are.
    pub copies: usize,
    /// The hosts that they ran on.
    pub hosts: Vec<HostId>,
    /// It worked: the mean over its copies.
    pub compute: Estimate,
    /// It waited for what it works on.
    pub input: Estimate,
    /// It waited for room for what it had made.
    pub output: Estimate,
}

/// How long both ends of a stream waited for it.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamValues {
    /// The stage that makes its buffers.
    pub from: String,
    /// The stage that works on them.
    pub to: String,
    /// The share of the time in which that which makes waited for room, or that which takes for input, whichever was less.
    pub waited: Estimate,
}

/// What holds a pipeline up.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// A stage that works for such a share of the time, as no other one does.
    Stage(String, f64),
    /// A stream: what gives to it waits for room, and what takes from it for input, each at least such a share of the time.
    Stream(String, String, f64),
    /// The two busiest stages work for shares that differ too little to tell.
    Even(String, String),
}

/// Shares that differ by less do not tell which of two stages is the busier: a twentieth.
const ALIKE: f64 = 0.05;

/// What a stage did in one trial: working, waiting for input, for room.
type Shares = [f64; 3];

/// Every case of a suite's pipelines, in the order of the plan.
pub(super) fn values(recording: &Recording, plan: &Plan, suite: &Suite) -> Vec<StagesValues> {
    let mut all = Vec::new();
    for of_suite in suite.cases.iter().filter(|case| case.pattern == Pattern::Pipeline) {
        let graph = suite.graph(&of_suite.graph);
        let mut groups: BTreeMap<(&Case, u64), Vec<&Trial>> = BTreeMap::new();
        for trial in trials(recording, suite.case_name(&of_suite.id)) {
            groups.entry((&trial.case, trial.block.message_bytes)).or_default().push(trial);
        }
        all.extend(groups.into_iter().filter_map(|(point, trials)| {
            // What carries it is told where a case has several rungs: else nothing tells its tables apart.
            let all =
                [Factor::Rung, Factor::Settings].map(|one| label::word(recording, plan, suite, one, point));
            let told = all.into_iter().skip(usize::from(of_suite.rung.len() < 2));
            let words = told.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
            of_point(&graph, point, &trials).map(|values| StagesValues { words, ..values })
        }));
    }
    all
}

fn of_point(graph: &Graph, (case, buffer_bytes): (&Case, u64), trials: &[&Trial]) -> Option<StagesValues> {
    let stage = |id: &String| {
        let shares: Vec<(u32, Shares)> =
            trials.iter().filter_map(|trial| Some((trial.pass, shares(trial, id)?))).collect();
        let of_part = |part: usize| {
            let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            shares.iter().for_each(|(pass, shares)| passes.entry(*pass).or_default().push(shares[part]));
            Estimate::from_values(passes.into_values().filter_map(median))
        };
        let copies = trials.first().map_or(0, |trial| tallies(trial, id).count());
        let hosts = trials.first().map_or_else(Vec::new, |trial| hosts(trial, id));
        let (compute, input, output) = (of_part(0)?, of_part(1)?, of_part(2)?);
        Some(StageValues { stage: id.clone(), copies, hosts, compute, input, output })
    };
    let stages: Option<Vec<StageValues>> = graph.stages.iter().map(|one| stage(&one.id)).collect();
    let stages = stages?;
    let streams = streams(graph, &stages);
    let binding = binding(&streams, &stages)?;
    Some(StagesValues { case: case.clone(), words: String::new(), buffer_bytes, stages, streams, binding })
}

/// The hosts on which copies of a stage ran.
fn hosts(trial: &Trial, id: &str) -> Vec<HostId> {
    let has_it = |flow: &Flow| flow.tally.iter().flat_map(|tally| &tally.stages).any(|one| one.stage == id);
    let roles = trial.roles.iter().filter(|role| role.flows.iter().any(has_it));
    roles.map(|role| role.host).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What each stream was waited for, from the first stage on.
fn streams(graph: &Graph, stages: &[StageValues]) -> Vec<StreamValues> {
    let of = |id: &str| stages.iter().find(|stage| stage.stage == id);
    let value = |stream: &Stream| {
        let (room, input) = (of(&stream.from)?.output, of(&stream.to)?.input);
        let waited = if room.median < input.median { room } else { input };
        Some(StreamValues { from: stream.from.clone(), to: stream.to.clone(), waited })
    };
    let order = graph.in_order().unwrap_or_default();
    let of_stage = |at: usize| graph.streams.iter().filter(move |stream| stream.from == graph.stages[at].id);
    order.into_iter().flat_map(of_stage).filter_map(value).collect()
}

fn all_tallies(trial: &Trial) -> impl Iterator<Item = &StageTally> {
    let flows = trial.roles.iter().flat_map(|role| &role.flows).filter_map(|flow| flow.tally.as_deref());
    flows.flat_map(|tally| &tally.stages)
}

fn tallies<'t>(trial: &'t Trial, id: &'t str) -> impl Iterator<Item = &'t StageTally> {
    all_tallies(trial).filter(move |tally| tally.stage == id)
}

/// The mean over the copies of a stage, of the time of whichever took longest: one that was done before, because what it made
/// had room in the buffers behind it, was busy all its time and held nobody up.
fn shares(trial: &Trial, id: &str) -> Option<Shares> {
    let sum = |of: fn(&StageTally) -> u64| tallies(trial, id).map(of).sum::<u64>() as f64;
    let parts = [sum(|tally| tally.compute_ns), sum(|tally| tally.input_ns), sum(|tally| tally.output_ns)];
    let time = |tally: &StageTally| tally.compute_ns + tally.input_ns + tally.output_ns;
    let whole = all_tallies(trial).map(time).max()? * tallies(trial, id).count() as u64;
    (whole > 0).then(|| parts.map(|part| part / whole as f64))
}

/// A stream binds where both of its ends wait for it longer than any stage works; else the busiest stage does.
fn binding(streams: &[StreamValues], stages: &[StageValues]) -> Option<Binding> {
    let mut busy: Vec<&StageValues> = stages.iter().collect();
    busy.sort_by(|a, b| b.compute.median.total_cmp(&a.compute.median));
    let busiest = *busy.first()?;
    let worst = streams.iter().max_by(|a, b| a.waited.median.total_cmp(&b.waited.median));
    if let Some(stream) = worst.filter(|stream| stream.waited.median > busiest.compute.median) {
        return Some(Binding::Stream(stream.from.clone(), stream.to.clone(), stream.waited.median));
    }
    match busy.get(1) {
        Some(next) if busiest.compute.median - next.compute.median < ALIKE => {
            Some(Binding::Even(busiest.stage.clone(), next.stage.clone()))
        }
        _ => Some(Binding::Stage(busiest.stage.clone(), busiest.compute.median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{HandOut, Stage};

    fn graph() -> Graph {
        let stage = |id: &str| Stage { id: id.into(), ..Stage::default() };
        let stream = |from: &str, to: &str| Stream {
            graph: String::new(),
            from: from.into(),
            to: to.into(),
            hand_out: HandOut::default(),
            buffers: 4,
        };
        let stages = ["read", "clip", "view"].map(stage).to_vec();
        Graph { stages, streams: vec![stream("read", "clip"), stream("clip", "view")] }
    }

    fn bound(shares: [Shares; 3]) -> Binding {
        let all = |value: f64| Estimate { median: value, low: None, high: None, n: 1 };
        let stages: Vec<StageValues> = ["read", "clip", "view"]
            .iter()
            .zip(shares)
            .map(|(stage, [compute, input, output])| StageValues {
                stage: (*stage).into(),
                copies: 1,
                hosts: Vec::new(),
                compute: all(compute),
                input: all(input),
                output: all(output),
            })
            .collect();
        binding(&streams(&graph(), &stages), &stages).unwrap()
    }

    #[test]
    fn a_slow_stage_holds_up_both_of_its_sides() {
        let found = bound([[0.1, 0.1, 0.8], [0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]);
        assert_eq!(found, Binding::Stage("clip".into(), 0.9));
    }

    #[test]
    fn a_slow_stream_is_waited_for_at_both_ends() {
        let found = bound([[0.1, 0.0, 0.9], [0.3, 0.1, 0.6], [0.2, 0.8, 0.0]]);
        assert_eq!(found, Binding::Stream("clip".into(), "view".into(), 0.6));
    }

    #[test]
    fn stages_that_are_as_busy_are_not_told_apart() {
        let found = bound([[0.5, 0.5, 0.0], [0.48, 0.52, 0.0], [0.2, 0.8, 0.0]]);
        assert_eq!(found, Binding::Even("read".into(), "clip".into()));
    }

    #[test]
    fn a_stage_that_was_done_early_does_not_bind() {
        use crate::plan::{Block, HostId};
        use crate::record::{RoleRecord, Tally};
        use crate::vocabulary::Does;
        let one = |stage: &str, compute_ns, input_ns| StageTally {
            stage: stage.into(),
            compute_ns,
            input_ns,
            ..StageTally::default()
        };
        let stages = vec![one("read", 10, 0), one("clip", 98, 2), one("view", 5, 95)];
        let tally = Some(Box::new(Tally { stages, ..Tally::default() }));
        let flows = vec![Flow { tally, ..Flow::default() }];
        let role = RoleRecord {
            host: HostId(0),
            does: Does::Stages,
            flows,
            histogram: None,
            samples: BTreeMap::new(),
            pair: 0,
        };
        let case = Case { rung: "network.tcp".into(), pattern: Pattern::Pipeline, ..Case::default() };
        let trial = Trial {
            step: 0,
            pass: 1,
            why: Default::default(),
            case: case.clone(),
            block: Block::default(),
            roles: vec![role],
        };
        let values = of_point(&graph(), (&case, 65_536), &[&trial]).unwrap();
        assert_eq!(values.binding, Binding::Stage("clip".into(), 0.98));
        assert_eq!(values.stages[0].compute.median, 0.1, "of the whole time, not of its own");
        assert_eq!(values.stages[0].hosts, [HostId(0)]);
        let waited: Vec<(&str, f64)> =
            values.streams.iter().map(|one| (&*one.to, one.waited.median)).collect();
        assert_eq!(waited, [("clip", 0.0), ("view", 0.0)], "nobody waited for room");
    }

    #[test]
    fn copies_of_a_stage_share_a_row() {
        use crate::plan::{Block, HostId};
        use crate::record::{RoleRecord, Tally};
        use crate::vocabulary::Does;
        let one = |copy, compute_ns| StageTally {
            stage: "clip".into(),
            copy,
            compute_ns,
            input_ns: 100 - compute_ns,
            ..StageTally::default()
        };
        let tally = Some(Box::new(Tally { stages: vec![one(0, 80), one(1, 40)], ..Tally::default() }));
        let flows = vec![Flow { tally, ..Flow::default() }];
        let (does, samples) = (Does::Stages, BTreeMap::new());
        let role = RoleRecord { host: HostId(0), does, flows, histogram: None, samples, pair: 0 };
        let (case, block) = (Case::default(), Block::default());
        let trial = Trial { step: 0, pass: 1, why: Default::default(), case, block, roles: vec![role] };
        assert_eq!(shares(&trial, "clip"), Some([0.6, 0.4, 0.0]));
        assert_eq!(shares(&trial, "view"), None);
    }
}
