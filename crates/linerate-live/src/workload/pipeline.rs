//! A pipeline: stages that are joined by streams of buffers, on as many hosts as there are, as DataCutter has it.
//!
//! Each copy of a stage has a thread, and so has each connection: what a stage makes waits in a bounded outbox for the
//! thread that carries it, and what it works on comes from a bounded inbox. So whoever is slow holds up those before it,
//! and each stage tells how long it worked, waited for input, and waited for room. One by one, the last stage asks for a
//! unit of work, the word goes back along the streams, and the first stages begin; ahead, they go on as long as there is
//! room.
//!
//! | part | does |
//! |---|---|
//! | `queue` | bounded queues, and which copy gets what |
//! | `frame` | a buffer on a connection |
//! | `lane` | the threads that carry buffers |
//! | `stage` | the thread of a stage's copy, and its account |
//! | `filter`, `filters` | what a stage does: `bytes`, `slide` and `volume` with its `surface` |

mod bytes;
mod filter;
mod filters;
mod frame;
mod lane;
mod queue;
mod slide;
mod stage;
mod surface;
mod volume;

pub use volume::{drawn, surface_of};

use super::activity::MOST;
use super::application::{Answers, Order, PairEnd};
use super::slowness::Slowness;
use crate::pattern::{Driven, Measured, Start};
use crate::plan::{Block, Graph, HandOut, HostId, Lane, Layout, Stream};
use crate::record::{Flow, StageTally, Tally};
use crate::unit::Bytes;
use crate::{Error, Result};
use filter::Setup;
use lane::{Carrier, InHost, Incoming, Outgoing};
use linerate_sys::{socket, thread};
use queue::{Inbox, Outbox, Pool, Wanted};
use stage::{Done, Place, Worker};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

/// How much of the data a unit is of, where nothing is said.
const UPDATE: u64 = 1 << 20;

/// The connections of this place, by pair of hosts and number.
type Links<'s> = BTreeMap<(u32, u32), Driven<'s>>;

/// What all threads of this place share.
struct Site<'o> {
    graph: &'o Graph,
    layout: &'o Layout,
    order: &'o Order,
    /// Which of the layout's places this is.
    place: usize,
    one_by_one: bool,
    update_bytes: u64,
    cpus: &'o [u32],
    waits_on: Vec<OwnedFd>,
}

/// One block's queues.
struct Joints {
    /// By stage and copy, those of this place.
    inboxes: BTreeMap<(usize, u32), Inbox>,
    outboxes: BTreeMap<(usize, u32), Vec<Outbox>>,
    wanted: BTreeMap<(usize, u32), Wanted>,
    pool: Pool,
    failure: OnceLock<Error>,
}

/// Runs the stages of this end.
pub fn run_stages(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let none = || Error::usage("a pipeline without stages", "[[stage]] and [[stream]] of a plan file");
    let graph = order.graph.as_ref().filter(|graph| !graph.stages.is_empty()).ok_or_else(none)?;
    let (layout, place) = order.layout(graph);
    // Stages are more than the CPUs that a run gives an end: they are left to the scheduler unless it was said where they run.
    let is_placed = order.value::<String>("cpu.placement").is_some();
    let cpus =
        pair_ends.first().filter(|_| is_placed).map_or(Vec::new(), |pair_end| pair_end.task.cpus.clone());
    let waits_on = pair_ends.iter().flat_map(|pair_end| pair_end.session.waits_on());
    let site = Site {
        graph,
        layout: &layout,
        order,
        place,
        one_by_one: order.value::<String>("pipeline.units").is_none_or(|units| units != "ahead"),
        update_bytes: order.value::<Bytes>("pipeline.update").map_or(UPDATE, |size| size.0),
        cpus: &cpus,
        waits_on: waits_on.filter_map(|fd| fd.try_clone_to_owned().ok()).collect(),
    };
    let flows: Vec<u32> = pair_ends.iter().map(|pair_end| pair_end.flows).collect();
    let mut links = Links::new();
    for pair_end in pair_ends.iter_mut() {
        let streams = (0..).zip(pair_end.session.streams(pair_end.task)?);
        links.extend(streams.map(|(flow, part)| ((pair_end.pair, flow), part.link)));
    }
    let played = blocks.iter().map(|block| site.play(block, &mut links)).collect::<Result<Vec<_>>>()?;
    // All that this place did is on record with its first connection.
    let mut is_first = true;
    let mut of_flow = |_| {
        let alone =
            |flow: &Flow| Flow { slices_ns: Vec::new(), tally: None, cpu_ns: 0, bytes: 0, ..flow.clone() };
        let told = played.iter().map(|flow| if is_first { flow.clone() } else { alone(flow) });
        let measured = told.map(|flow| Measured {
            flow,
            samples: Vec::new(),
            timer_slack_lowered: true,
            kept_awake: false,
        });
        let measured = measured.collect();
        is_first = false;
        measured
    };
    Ok(flows.into_iter().map(|flows| (0..flows).map(&mut of_flow).collect()).collect())
}

impl Joints {
    /// The first failure is told; nobody waits any more.
    fn fail(&self, error: Error) {
        let _ = self.failure.set(error);
        self.inboxes.values().for_each(Inbox::stop);
        self.outboxes.values().flatten().for_each(Outbox::stop);
        self.wanted.values().for_each(Wanted::stop);
    }
}

impl<'o> Site<'o> {
    fn is_here(&self, (stage, copy): (usize, u32)) -> bool {
        self.layout.places[stage][copy as usize] == self.place
    }

    /// The copies of stages that run here.
    fn own(&self) -> impl Iterator<Item = (usize, u32)> {
        let all = (0..self.graph.stages.len())
            .flat_map(|at| (0..self.graph.stages[at].count()).map(move |copy| (at, copy)));
        all.filter(|one| self.is_here(*one))
    }

    fn stream(&self, lane: &Lane) -> &'o Stream {
        &self.graph.streams[lane.stream]
    }

    /// Lanes to a copy of a stage, in the order of the layout.
    fn lanes_to(&self, to: (usize, u32)) -> impl Iterator<Item = &'o Lane> {
        self.layout.lanes.iter().filter(move |lane| lane.to == to)
    }

    /// Streams from a stage.
    fn streams_from(&self, stage: usize) -> impl Iterator<Item = &'o Stream> {
        let id = &self.graph.stages[stage].id;
        self.graph.streams.iter().filter(move |stream| stream.from == *id)
    }

    /// How many copies a stream goes to.
    fn copies(&self, stream: &Stream) -> usize {
        let to = self.graph.stages.iter().find(|stage| stage.id == stream.to);
        to.map_or(1, |stage| stage.count() as usize)
    }

    fn joints(&self) -> Joints {
        let limit = |lane: &Lane| self.stream(lane).buffers as usize;
        let inbox = |one| Inbox::new(self.lanes_to(one).map(limit).collect());
        let outbox =
            |stream: &Stream| Outbox::new(self.copies(stream), stream.hand_out, stream.buffers as usize);
        let takers =
            |(stage, _): (usize, u32)| self.streams_from(stage).map(|stream| self.copies(stream)).sum();
        Joints {
            inboxes: self.own().map(|one| (one, inbox(one))).collect(),
            outboxes: self.own().map(|one| (one, self.streams_from(one.0).map(outbox).collect())).collect(),
            wanted: self.own().map(|one| (one, Wanted::new(takers(one)))).collect(),
            pool: Pool::default(),
            failure: OnceLock::new(),
        }
    }

    /// The carriers of all lanes that begin or end here, each with its connection.
    fn carriers<'j, 'l, 's>(
        &'j self,
        joints: &'j Joints,
        links: &'l mut Links<'s>,
        units: u64,
    ) -> Vec<Carrier<'j, 'l, 's>> {
        let mut free: BTreeMap<(u32, u32), &'l mut Driven<'s>> =
            links.iter_mut().map(|(at, link)| (*at, link)).collect();
        let mut carriers = Vec::new();
        for lane in &self.layout.lanes {
            let makes = self.is_here(lane.from);
            let takes = self.is_here(lane.to);
            let link = lane.carried.and_then(|at| free.remove(&at));
            let acknowledges = self.stream(lane).hand_out != HandOut::RoundRobin;
            let outgoing = || self.outgoing(joints, lane);
            let incoming = || self.incoming(joints, lane);
            let carrier = match (makes, takes, link) {
                (true, true, _) => {
                    outgoing().zip(incoming()).map(|(from, to)| Carrier::InHost(InHost { from, to }))
                }
                (true, false, Some(link)) => outgoing().map(|from| Carrier::Out(from, link)),
                (false, true, Some(link)) => incoming().map(|to| Carrier::In(to, link)),
                _ => None,
            };
            let shape = lane::Shape { units, one_by_one: self.one_by_one, acknowledges };
            carriers.extend(carrier.map(|carrier| carrier.of_shape(shape)));
        }
        carriers
    }

    /// The end of a lane at which it begins.
    fn outgoing<'j>(&'j self, joints: &'j Joints, lane: &Lane) -> Option<Outgoing<'j>> {
        let id = &self.graph.stages[lane.from.0].id;
        let before = self.graph.streams[..lane.stream].iter().filter(|stream| stream.from == *id);
        let (nth, takers) =
            before.fold((0, 0), |(nth, takers), stream| (nth + 1, takers + self.copies(stream)));
        Some(Outgoing {
            outbox: joints.outboxes.get(&lane.from)?.get(nth)?,
            copy: lane.to.1 as usize,
            wanted: joints.wanted.get(&lane.from)?,
            taker: takers + lane.to.1 as usize,
            pool: &joints.pool,
            other: self.host_of(lane.to),
            shape: lane::Shape::default(),
        })
    }

    /// The end of a lane at which it ends.
    fn incoming<'j>(&'j self, joints: &'j Joints, lane: &Lane) -> Option<Incoming<'j>> {
        Some(Incoming {
            inbox: joints.inboxes.get(&lane.to)?,
            from: self.lanes_to(lane.to).position(|one| one == lane)?,
            wanted: joints.wanted.get(&lane.to)?,
            pool: &joints.pool,
            other: self.host_of(lane.from),
            shape: lane::Shape::default(),
        })
    }

    fn host_of(&self, (stage, copy): (usize, u32)) -> HostId {
        let place = self.layout.places[stage][copy as usize];
        self.order.hosts.get(place).copied().unwrap_or_default()
    }

    /// One block: all threads of this place, until every unit is through.
    fn play(&self, block: &Block, links: &mut Links<'_>) -> Result<Flow> {
        let joints = self.joints();
        let units = u64::from(block.slices) * block.messages;
        let setup = Setup { buffer_bytes: block.message_bytes as usize, update_bytes: self.update_bytes };
        let mut workers = Vec::new();
        for one in self.own() {
            let stage = &self.graph.stages[one.0];
            let place = Place {
                stage,
                copy: one.1,
                host: self.order.host,
                is_source: self.lanes_to(one).next().is_none(),
            };
            let filter = filters::new(&stage.filter, setup)?;
            let slowness = Slowness::from_order(self.order);
            let one_by_one = self.one_by_one;
            workers.push(Worker { place, at: one, filter, setup, block, one_by_one, slowness });
        }
        let carriers = self.carriers(&joints, links, units);
        let start = Start::now();
        let stages = workers.into_iter().map(|worker| Task::Stage(Box::new(worker)));
        let works = stages.chain(carriers.into_iter().map(Task::Carrier)).map(|task| {
            let joints = &joints;
            move || self.work(joints, task)
        });
        let done = thread::together("pipeline", works)?;
        // Of the thread that waits for all others neither CPU nor delays say anything.
        let flow = Flow {
            run_delay_ns: None,
            voluntary_switches: 0,
            involuntary_switches: 0,
            cpu: None,
            migrated: false,
            ..start.until(&Start::now())
        };
        match joints.failure.into_inner() {
            Some(error) => Err(error),
            None => Ok(with_tally(flow, done.into_iter().flatten().flatten())),
        }
    }

    /// One thread; whoever fails, or panics, stops all others.
    fn work(&self, joints: &Joints, task: Task<'_, '_, '_>) -> Option<Done> {
        let guard = Guard { site: self, joints };
        if !self.cpus.is_empty()
            && let Err(error) = thread::pin(self.cpus)
        {
            guard.fail(error.into());
            return None;
        }
        let before = thread::scheduling().cpu_ns;
        let done = match task {
            Task::Stage(worker) => worker.run(joints),
            Task::Carrier(carrier) => carrier.carry().map(|bytes| Done { bytes, ..Done::default() }),
        };
        match done {
            Ok(done) => Some(done.with_cpu(thread::scheduling().cpu_ns - before)),
            Err(failed) => {
                guard.fail(failed.into());
                None
            }
        }
    }
}

/// What a thread does.
enum Task<'j, 'l, 's> {
    Stage(Box<Worker<'j>>),
    Carrier(Carrier<'j, 'l, 's>),
}

/// Stops the others where a thread fails.
struct Guard<'g, 'o> {
    site: &'g Site<'o>,
    joints: &'g Joints,
}

impl Guard<'_, '_> {
    fn fail(&self, error: Error) {
        self.joints.fail(error);
        // A thread may wait for bytes that nobody will send.
        self.site.waits_on.iter().for_each(socket::shut_down);
    }
}

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.fail(Error::peer("a thread of the pipeline", "panicked", "please report it"));
        }
    }
}

/// What all threads of a place did in a block.
fn with_tally(mut flow: Flow, done: impl Iterator<Item = Done>) -> Flow {
    let mut tally = Tally::default();
    for one in done {
        flow.cpu_ns += one.cpu_ns;
        flow.bytes += one.bytes;
        tally.units = tally.units.or(one.units);
        // What is compared with the truth waits for no unit, and no unit for it: it is no part of the rate.
        flow.duration_ns = flow.duration_ns.saturating_sub(one.checked_ns);
        tally.stages.extend(one.tally);
        tally.activities.extend(one.activity);
        if !one.slices_ns.is_empty() {
            flow.slices_ns = one.slices_ns;
        }
    }
    tally.stages.sort_by(|a: &StageTally, b| (&a.stage, a.copy).cmp(&(&b.stage, b.copy)));
    tally.activities.truncate(MOST);
    Flow { tally: Some(Box::new(tally)), ..flow }
}
