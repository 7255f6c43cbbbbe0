//! A pipeline: stages that are joined by streams, and on which host each of them runs.

use super::SuiteError;
use crate::plan::HostId;
use crate::unit::{Nanoseconds, counted, within};
use crate::vocabulary::{STAGE_FILTERS, StageData, StageFilter, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most stages of a pipeline, copies of a stage, and buffers of a stream.
const MOST_STAGES: usize = 32;
const MOST_COPIES: u32 = 16;
const MOST_BUFFERS: u32 = 1024;

/// The longest time by which a stage is slowed.
const SLOWEST_NS: f64 = 1e9;

/// A stage of a pipeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stage {
    /// Its name in the pipeline.
    pub id: String,
    /// The pipeline that it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub graph: String,
    /// What it does.
    pub filter: String,
    /// The hosts that its copies run on, one after the other; by default stages are spread over all hosts in their order.
    #[serde(deserialize_with = "super::read::one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<HostId>,
    /// How many copies of it work at once, which nothing else can tell from one.
    #[serde(skip_serializing_if = "is_alone")]
    pub copies: u32,
    /// A known fault: it sleeps so long in each unit of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<String>,
    /// A known fault: it panics in this unit of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<u64>,
}

/// A stream of buffers from one stage to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The pipeline that it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub graph: String,
    /// The stage that makes the buffers.
    pub from: String,
    /// The stage that works on them.
    pub to: String,
    /// Which copy of that stage gets the next buffer.
    #[serde(default)]
    pub hand_out: HandOut,
    /// How many buffers may wait at each end of it, for each copy.
    #[serde(default = "usual_buffers")]
    pub buffers: u32,
}

/// Which copy of a stage gets the next buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandOut {
    /// Each in its turn.
    #[default]
    RoundRobin,
    /// The one that has taken up what it was given before.
    DemandDriven,
    /// The one with the fewest that it has not taken up.
    LeastLoaded,
}

/// A pipeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    /// Its stages.
    pub stages: Vec<Stage>,
    /// What joins them.
    pub streams: Vec<Stream>,
}

/// Where the stages of a pipeline run, and what joins their copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The place of each copy of each stage.
    pub places: Vec<Vec<usize>>,
    /// Pairs of places between which something crosses.
    pub pairs: Vec<(usize, usize)>,
    /// Connections of each pair.
    pub flows: u32,
    /// What joins two copies.
    pub lanes: Vec<Lane>,
}

/// What joins a copy of one stage to a copy of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// The stream that it is of.
    pub stream: usize,
    /// The stage that makes, and its copy.
    pub from: (usize, u32),
    /// The stage that takes, and its copy.
    pub to: (usize, u32),
    /// The pair of places and the connection that carry it; none within one place.
    pub carried: Option<(u32, u32)>,
}

fn usual_buffers() -> u32 {
    4
}

fn is_alone(copies: &u32) -> bool {
    *copies <= 1
}

impl Stage {
    /// How many there are of it.
    pub fn count(&self) -> u32 {
        self.copies.max(1)
    }

    /// By how much it is slowed in each unit.
    pub fn slow_ns(&self) -> u64 {
        let time = self.slow.as_ref().and_then(|text| text.parse::<Nanoseconds>().ok());
        time.map_or(0, |time| time.0 as u64)
    }
}

impl Graph {
    /// The stages that a stage's buffers come from, or go to.
    fn joined(&self, to: usize, end: fn(&Stream) -> (&String, &String)) -> impl Iterator<Item = usize> {
        let id = &self.stages[to].id;
        let others = self.streams.iter().map(end).filter(move |(own, _)| *own == id);
        others.filter_map(|(_, other)| self.place_of(other))
    }

    fn place_of(&self, id: &str) -> Option<usize> {
        self.stages.iter().position(|stage| stage.id == id)
    }

    /// Stages in an order in which each comes after those that it gets buffers from; none where they go in a circle.
    pub fn in_order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.stages.len() {
            let is_ready = |at: &usize| {
                let mut before = self.joined(*at, |stream| (&stream.to, &stream.from));
                !order.contains(at) && before.all(|one| order.contains(&one))
            };
            let next = (0..self.stages.len()).find(is_ready)?;
            order.push(next);
        }
        Some(order)
    }

    /// The stage that a unit of work ends with.
    pub fn last(&self) -> usize {
        let is_last = |at: &usize| self.joined(*at, |stream| (&stream.from, &stream.to)).next().is_none();
        (0..self.stages.len()).find(is_last).unwrap_or_default()
    }

    /// Its name; none of a graph without stages.
    pub fn last_id(&self) -> Option<&str> {
        self.stages.get(self.last()).map(|stage| &*stage.id)
    }

    /// Whether something is wrong with it, whatever the hosts are.
    pub(super) fn check(&self, name: &str) -> Result<(), SuiteError> {
        let place = if name.is_empty() { "the pipeline".into() } else { format!("pipeline `{name}`") };
        let wrong = |what: String, hint: &str| Err(SuiteError::new(format!("{place}: {what}"), hint));
        if self.stages.len() < 2 || self.stages.len() > MOST_STAGES {
            let what = counted(self.stages.len(), "stage");
            return wrong(what, "from 2 to 32 times [[stage]], each with an id, a filter and this graph");
        }
        for id in self.streams.iter().flat_map(|stream| [&stream.from, &stream.to]) {
            if self.place_of(id).is_none() {
                let hint =
                    did_you_mean(self.stages.iter().map(|stage| stage.id.as_str()), id, "see [[stage]]");
                return wrong(format!("no stage is called `{id}`"), &hint);
            }
        }
        for (at, stage) in self.stages.iter().enumerate() {
            if stage.id.is_empty() || self.stages[..at].iter().any(|known| known.id == stage.id) {
                return wrong(format!("two stages are called `{}`", stage.id), "call one otherwise");
            }
            self.check_stage(&place, at)?;
        }
        for stream in &self.streams {
            self.check_stream(&place, stream)?;
        }
        if self.in_order().is_none() {
            return wrong("its streams go in a circle".into(), "a unit of work must come to an end");
        }
        // Each filter would take, or give, every byte as often.
        let is_forked = |at: &usize| {
            let comes = self.joined(*at, |stream| (&stream.to, &stream.from)).count();
            comes.max(self.joined(*at, |stream| (&stream.from, &stream.to)).count()) > 1
        };
        if let Some(forked) = (0..self.stages.len()).find(is_forked) {
            let what =
                format!("stage `{}`: several streams come to it or go from it", self.stages[forked].id);
            return wrong(what, "copies = 2 shares a stage's work");
        }
        let ends = (0..self.stages.len())
            .filter(|at| filter_of(&self.stages[*at]).is_some_and(|one| one.gives.is_none()));
        match ends.collect::<Vec<_>>()[..] {
            [end] if self.stages[end].count() == 1 => Ok(()),
            [_] => wrong("its last stage has copies".into(), "one alone has all of a unit: copies = 1"),
            _ => wrong("it has no end, or several".into(), "one stage whose filter gives nothing"),
        }
    }

    fn check_stage(&self, place: &str, at: usize) -> Result<(), SuiteError> {
        let stage = &self.stages[at];
        let wrong = |what: String, hint: &str| {
            Err(SuiteError::new(format!("{place}, stage `{}`: {what}", stage.id), hint))
        };
        let Some(filter) = filter_of(stage) else {
            let names = STAGE_FILTERS.iter().map(|filter| filter.name);
            let all: Vec<&str> = names.clone().collect();
            let hint = did_you_mean(names, &stage.filter, &all.join(", "));
            return wrong(format!("no filter is called `{}`", stage.filter), &hint);
        };
        if stage.copies > MOST_COPIES {
            return wrong(format!("{} copies", stage.copies), "from 1 to 16");
        }
        if let Some(text) = &stage.slow {
            let [least, most] = [0.0, SLOWEST_NS].map(Nanoseconds);
            if let Err(why) = within(text.parse(), least, most, |time| time.rounded(1)) {
                return wrong(format!("slowed by `{text}`: {why}"), "slow = \"2ms\"");
            }
        }
        let comes = self.joined(at, |stream| (&stream.to, &stream.from)).next().is_some();
        let goes = self.joined(at, |stream| (&stream.from, &stream.to)).next().is_some();
        match (filter.takes.is_some() == comes, filter.gives.is_some() == goes) {
            (true, true) => Ok(()),
            (false, _) if comes => {
                wrong(format!("{} takes nothing", filter.name), "leave out the stream to it")
            }
            (false, _) => wrong("nothing comes to it".into(), "a [[stream]] with to = its id"),
            _ if goes => wrong(format!("{} gives nothing", filter.name), "leave out the stream from it"),
            _ => wrong("nothing takes what it makes".into(), "a [[stream]] with from = its id"),
        }
    }

    fn check_stream(&self, place: &str, stream: &Stream) -> Result<(), SuiteError> {
        let wrong = |what: String, hint: &str| {
            Err(SuiteError::new(format!("{place}, from `{}` to `{}`: {what}", stream.from, stream.to), hint))
        };
        if !(1..=MOST_BUFFERS).contains(&stream.buffers) {
            return wrong(format!("{} buffers", stream.buffers), "from 1 to 1024");
        }
        let filter = |id: &str| self.place_of(id).and_then(|at| filter_of(&self.stages[at]));
        let given = filter(&stream.from).and_then(|filter| filter.gives);
        let taken = filter(&stream.to).and_then(|filter| filter.takes);
        match (given, taken) {
            (Some(given), Some(taken)) if given != taken => {
                let fits = STAGE_FILTERS.iter().filter(|filter| filter.takes == Some(given));
                let fits: Vec<&str> = fits.map(|filter| filter.name).collect();
                let data = |data: StageData| format!("{data:?}").to_lowercase();
                let what = format!("it gives {}, and {} are taken", data(given), data(taken));
                wrong(what, &format!("behind it fits {}", fits.join(", ")))
            }
            _ => Ok(()),
        }
    }

    /// The host that a stage asks for and that is not among these.
    pub fn absent(&self, hosts: &[HostId]) -> Option<(&Stage, HostId)> {
        let asked = self.stages.iter().flat_map(|stage| stage.host.iter().map(move |host| (stage, *host)));
        asked.into_iter().find(|(_, host)| !hosts.contains(host))
    }

    /// Where all of it runs: on these hosts, or where there are none at so many places of one.
    pub fn layout(&self, hosts: &[HostId], places: usize) -> Layout {
        let order = self.in_order().unwrap_or_default();
        let place = |at: usize, copy: usize| {
            let stage = &self.stages[at];
            let own = stage.host.get(copy % stage.host.len().max(1));
            let own = own.and_then(|host| hosts.iter().position(|one| one == host));
            let nth = order.iter().position(|one| *one == at).unwrap_or_default();
            let spread = if order.len() <= places { nth } else { nth * places / order.len().max(1) };
            own.unwrap_or(spread)
        };
        let of_stage =
            |at: usize| (0..self.stages[at].count() as usize).map(|copy| place(at, copy)).collect();
        let places: Vec<Vec<usize>> = (0..self.stages.len()).map(of_stage).collect();
        let mut layout = Layout { places, pairs: Vec::new(), flows: 0, lanes: Vec::new() };
        for (number, stream) in self.streams.iter().enumerate() {
            let (Some(from), Some(to)) = (self.place_of(&stream.from), self.place_of(&stream.to)) else {
                continue;
            };
            for maker in 0..self.stages[from].count() {
                for taker in 0..self.stages[to].count() {
                    layout.join(number, (from, maker), (to, taker));
                }
            }
        }
        layout
    }
}

impl Layout {
    /// Joins two copies: over a connection of their own where they are at two places.
    fn join(&mut self, stream: usize, from: (usize, u32), to: (usize, u32)) {
        let ends = [from, to].map(|(stage, copy)| self.places[stage][copy as usize]);
        let carried = (ends[0] != ends[1]).then(|| {
            let known = |pair: &(usize, usize)| [(ends[0], ends[1]), (ends[1], ends[0])].contains(pair);
            let pair = self.pairs.iter().position(known).unwrap_or_else(|| {
                self.pairs.push((ends[0], ends[1]));
                self.pairs.len() - 1
            }) as u32;
            let taken = self.lanes.iter().filter(|lane| lane.carried.is_some_and(|(own, _)| own == pair));
            (pair, taken.count() as u32)
        });
        self.flows = self.flows.max(carried.map_or(0, |(_, flow)| flow + 1));
        self.lanes.push(Lane { stream, from, to, carried });
    }
}

fn filter_of(stage: &Stage) -> Option<&'static StageFilter> {
    StageFilter::named(&stage.filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(id: &str, filter: &str) -> Stage {
        Stage { id: id.into(), filter: filter.into(), ..Stage::default() }
    }

    fn stream(from: &str, to: &str) -> Stream {
        let (graph, hand_out) = (String::new(), HandOut::default());
        Stream { graph, from: from.into(), to: to.into(), hand_out, buffers: 4 }
    }

    fn chain() -> Graph {
        let stages =
            vec![stage("make", "bytes.make"), stage("pass", "bytes.pass"), stage("check", "bytes.check")];
        Graph { stages, streams: vec![stream("make", "pass"), stream("pass", "check")] }
    }

    fn hosts(count: u16) -> Vec<HostId> {
        (0..count).map(HostId).collect()
    }

    #[test]
    fn stages_are_spread_over_the_hosts() {
        let of = |count| chain().layout(&hosts(count), count as usize);
        assert_eq!(of(2).places, [vec![0], vec![0], vec![1]]);
        assert_eq!(of(5).places, [vec![0], vec![1], vec![2]]);
        assert_eq!((of(5).pairs, of(5).flows), (vec![(0, 1), (1, 2)], 1));
        assert_eq!(of(2).lanes[0].carried, None, "within a host nothing crosses");
    }

    #[test]
    fn copies_are_joined_each_to_each() {
        let mut graph = chain();
        graph.stages[1].copies = 3;
        graph.stages[1].host = vec![HostId(1), HostId(2)];
        let layout = graph.layout(&hosts(4), 4);
        assert_eq!(layout.places[1], [1, 2, 1]);
        let carried: Vec<_> = layout.lanes.iter().map(|lane| lane.carried).collect();
        // Of the pair of a and b two connections, one for each copy at b; the copy at c is where its buffers go.
        let expected = [Some((0, 0)), Some((1, 0)), Some((0, 1)), Some((2, 0)), None, Some((2, 1))];
        assert_eq!(carried, expected);
        assert_eq!(layout.flows, 2);
    }

    #[test]
    fn what_is_wrong_with_a_pipeline_is_told() {
        type Edit<'e> = &'e dyn Fn(&mut Graph);
        let told = |edit: Edit| {
            let mut graph = chain();
            edit(&mut graph);
            graph.check("p").map_err(|error| error.what)
        };
        assert_eq!(told(&|_| ()), Ok(()));
        let cases: [(Edit, &str); 8] = [
            (&|one| one.streams[1].to = "chek".into(), "pipeline `p`: no stage is called `chek`"),
            (&|one| drop(one.streams.remove(0)), "stage `make`: nothing takes what it makes"),
            (
                &|one| one.stages[1].filter = "bytes.pas".into(),
                "stage `pass`: no filter is called `bytes.pas`",
            ),
            (&|one| one.streams.push(stream("pass", "pass")), "its streams go in a circle"),
            (&|one| one.stages[2].copies = 2, "its last stage has copies"),
            (&|one| one.stages[1].filter = "slide.clip".into(), "it gives bytes, and tiles are taken"),
            (&|one| one.stages[1].slow = Some("2h".into()), "stage `pass`: slowed by `2h`"),
            (&|one| one.stages.push(stage("pass", "bytes.pass")), "two stages are called `pass`"),
        ];
        for (edit, expected) in cases {
            let what = told(edit).unwrap_err();
            assert!(what.contains(expected), "{what}, not {expected}");
        }
        assert_eq!(chain().absent(&hosts(1)), None);
        let mut graph = chain();
        graph.stages[0].host = vec![HostId(6)];
        assert_eq!(
            graph.absent(&hosts(5)).map(|(stage, host)| (&*stage.id, host)),
            Some(("make", HostId(6)))
        );
    }
}
