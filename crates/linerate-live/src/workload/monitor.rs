//! A monitor of a cluster: one host asks all others for their state, a new connection each, as Ganglia's gmetad does.
//!
//! A thread a node, and a round begins for all of them at once; it ends when the last has answered, or at the deadline. So
//! a slow node costs its round that, and no other node's answer anything. A node serves until it is told that it is over:
//! of a connection that missed its deadline nobody knows whether it came, so counts would end nothing.
//!
//! | part | does |
//! |---|---|
//! | `reply` | what a node answers, read within bounds |
//! | `round` | what the threads of the asking host share |
//! | `agent` | the real thing: gmond, node exporter |

mod agent;
mod reply;
mod round;

use super::activity::{MOST, Watch};
use super::application::{Answers, Order, PairEnd, broken};
use super::slowness::Slowness;
use crate::pattern::{Measured, Start};
use crate::plan::{Block, HostId};
use crate::record::{Doing, Flow, Latencies, Tally};
use crate::transport::Caller;
use crate::unit::Nanoseconds;
use crate::vocabulary::Sample;
use crate::{Error, Result};
use agent::{Agent, Place};
use linerate_sys::{clock, thread};
use reply::{Bad, Form, HEADER, Head, read};
use round::{Rounds, Turn};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long is waited for a reply where nothing is said.
const DEADLINE: Duration = Duration::from_secs(1);

/// How long one wait for a connection lasts.
const LOOK: Duration = Duration::from_millis(100);

/// How long who connects may take to ask, at most: a lost segment goes again after 200 ms or more.
const HEARS: Duration = Duration::from_secs(2);

/// What a request asks for.
const REQUEST: usize = 16;
const STATE: u8 = b'S';
const OVER: u8 = b'E';

/// How a node is reached, and what it answers.
enum Node<'s> {
    /// Ours, by the session's transport.
    Own(Box<dyn Caller + 's>),
    /// Another program.
    Agent(Place),
}

/// A node that is asked, by a thread of its own.
struct Asked<'n, 's> {
    node: &'n Node<'s>,
    host: HostId,
    cpu: Option<u32>,
    deadline: Duration,
    slowness: Slowness,
}

/// What a thread counted in a block.
struct Count {
    set_up: Latencies,
    answered: Latencies,
    bytes: u64,
    missed: u64,
    watch: Watch,
}

/// What a thread does beside waiting for an answer.
const CONNECTS: usize = 0;
const OTHERS: usize = 1;

/// Asks every node, round after round.
pub fn collect(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let agent = Agent::named(order)?;
    let deadline =
        order.value::<Nanoseconds>("monitor.deadline").map(|time| Duration::from_nanos(time.0 as u64));
    let deadline = deadline.filter(|time| !time.is_zero()).unwrap_or(DEADLINE);
    let mut places = Vec::new();
    for pair_end in pair_ends.iter_mut() {
        places.push(agent.map(|agent| agent.place(pair_end, order)).transpose()?);
    }
    let mut nodes = Vec::new();
    for (pair_end, place) in pair_ends.iter().zip(places) {
        nodes.push(match place {
            Some(place) => Node::Agent(place),
            None => Node::Own(pair_end.session.caller()?),
        });
    }
    let flows: Vec<u32> = pair_ends.iter().map(|pair_end| pair_end.flows).collect();
    let asked: Vec<Asked> = pair_ends
        .iter()
        .zip(&nodes)
        .flat_map(|(pair_end, node)| {
            let asked = |flow| Asked {
                node,
                host: order.other(pair_end.pair),
                cpu: cpu(pair_end, flow),
                deadline,
                slowness: Slowness::from_order(order),
            };
            (0..pair_end.flows).map(asked)
        })
        .collect();
    let rounds = Rounds::new(asked.len());
    let works = asked.iter().enumerate().map(|(nth, one)| {
        let rounds = &rounds;
        move || one.ask(rounds, nth, blocks)
    });
    let played = thread::together("monitor", works)?;
    let over =
        nodes.iter().zip(&flows).try_for_each(|(node, flows)| (0..*flows).try_for_each(|_| node.over()));
    if let Some(error) = rounds.failure() {
        return Err(error);
    }
    over.map_err(|error| Error::peer("a node", format!("cannot be told that it is over: {error}"), ""))?;
    drop(nodes);
    if agent.is_some() {
        pair_ends.iter_mut().for_each(|pair_end| pair_end.session.hang_up());
    }
    let lost = || Error::peer("a monitor's thread", "panicked", "please report it");
    let mut played = played.into_iter();
    let mut of_seat = |flows: &u32| {
        (0..*flows).map(|_| played.next().and_then(|one| one.ok().flatten()).ok_or_else(lost)).collect()
    };
    flows.iter().map(&mut of_seat).collect()
}

fn cpu(pair_end: &PairEnd<'_>, flow: u32) -> Option<u32> {
    pair_end.task.cpus.get(flow as usize % pair_end.task.cpus.len().max(1)).copied()
}

impl Count {
    /// Of so many rounds.
    fn of_rounds(rounds: u64) -> Count {
        let watch = Watch::new(rounds, false, [Doing::Connects, Doing::WaitsForOthers]);
        Count { set_up: Latencies::default(), answered: Latencies::default(), bytes: 0, missed: 0, watch }
    }
}

impl Node<'_> {
    /// Tells a thread of the node that nothing more is asked.
    fn over(&self) -> io::Result<()> {
        match self {
            Node::Own(caller) => {
                let mut called = caller.call(DEADLINE)?;
                called.push_all(&words(caller.as_ref(), OVER, (0, 0)))
            }
            // It hears of it when the session is closed.
            Node::Agent(_) => Ok(()),
        }
    }
}

/// The secret, what is asked for, the number of the round and the bytes of the reply.
fn words(caller: &dyn Caller, what: u8, (round, bytes): (u32, u64)) -> Vec<u8> {
    let mut request = [0; REQUEST];
    request[0] = what;
    request[4..8].copy_from_slice(&round.to_be_bytes());
    request[8..].copy_from_slice(&bytes.to_be_bytes());
    [&caller.greeting()[..], &request].concat()
}

impl Asked<'_, '_> {
    /// One thread's blocks; none where one of them failed.
    fn ask(&self, rounds: &Rounds, nth: usize, blocks: &[Block]) -> Option<Vec<Measured>> {
        let mut ready = self.cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu])).map_err(Error::from);
        let timer_slack_lowered = thread::lower_timer_slack().is_ok();
        let mut measured = Vec::with_capacity(blocks.len());
        for block in blocks {
            let mut room = vec![0; HEADER.max(block.message_bytes as usize)];
            let (all, lead) = (u64::from(block.slices), u64::from(block.lead));
            let mut count = Count::of_rounds(all * block.messages);
            let mut turn = Turn::new(nth == 0, block, self.slowness.clone());
            let start = Start::now();
            for number in 0..all * block.messages {
                if let Err(error) = std::mem::replace(&mut ready, Ok(())) {
                    rounds.fail(error);
                }
                count.watch.begin(number);
                let done_ns = clock::monotonic_ns();
                if !rounds.begin(&mut turn) {
                    return None;
                }
                count.watch.between(OTHERS, done_ns, clock::monotonic_ns());
                let at_ns = self.once(number as u32, &mut room, &mut count, number >= lead * block.messages);
                let done_ns = clock::monotonic_ns();
                // What a connection takes to close is no part of the round.
                rounds.end(&mut turn, at_ns.as_ref().map_or_else(|_| clock::monotonic_ns(), |at_ns| *at_ns));
                count.watch.between(OTHERS, done_ns, clock::monotonic_ns());
                count.watch.end(number);
                ready = at_ns.map(drop);
            }
            let node = format!("of node {}", self.host);
            let samples = vec![(Sample::SetUp, count.set_up), (Sample::Transaction, count.answered)];
            let tally = Tally {
                transactions: Some(all * block.messages),
                missed: Some(count.missed),
                activities: count
                    .watch
                    .into_activity(node, 0, Doing::WaitsForAnswer)
                    .filter(|_| nth < MOST)
                    .into_iter()
                    .collect(),
                ..Tally::default()
            };
            let flow = Flow {
                bytes: count.bytes,
                tally: Some(Box::new(tally)),
                slices_ns: turn.slices_ns,
                ..start.until(&Start::now())
            };
            measured.push(Measured { flow, samples, timer_slack_lowered, kept_awake: false });
        }
        match ready {
            Ok(()) => Some(measured),
            Err(error) => {
                rounds.fail(error);
                None
            }
        }
    }

    /// One poll: what is late is counted, what is no answer ends the run of the step. Says when it was over.
    fn once(&self, round: u32, room: &mut [u8], count: &mut Count, counts: bool) -> Result<u64> {
        let begun = clock::monotonic_ns();
        let until = Instant::now() + self.deadline;
        let polled = match self.node {
            Node::Own(caller) => self.own(caller.as_ref(), round, room, until),
            Node::Agent(place) => place.poll(until),
        };
        match polled {
            Ok(polled) => {
                count.bytes += polled.bytes;
                count.watch.between(CONNECTS, begun, polled.stands_ns);
                if counts {
                    count.set_up.record(polled.stands_ns - begun);
                    count.answered.record(polled.answered_ns - begun);
                }
                Ok(polled.answered_ns)
            }
            Err(Bad::Late) => {
                count.missed += 1;
                Ok(clock::monotonic_ns())
            }
            Err(Bad::Said(what)) => Err(Error::peer(
                format!("the node on host {}", self.host),
                what,
                "see what answers at its port",
            )),
            Err(Bad::Broken(error)) => Err(broken("the node", self.host, &error)),
        }
    }

    fn own(&self, caller: &dyn Caller, round: u32, room: &mut [u8], until: Instant) -> Polled {
        let request = words(caller, STATE, (round, room.len() as u64));
        let mut called = caller.call(until.saturating_duration_since(Instant::now()))?;
        let stands_ns = clock::monotonic_ns();
        called.push_all(&request)?;
        let bytes = read(Form::Sized { round }, room, until, &mut |bytes, limit| called.pull(bytes, limit))?;
        let answered_ns = clock::monotonic_ns();
        // The other end closes first, so that the ports that wait afterwards are not this end's.
        let left = until.saturating_duration_since(Instant::now()).max(LOOK);
        let _closed = called.pull(&mut room[..1], left);
        Ok(Answer { bytes, stands_ns, answered_ns })
    }
}

/// An answer, and when it was there.
pub struct Answer {
    bytes: u64,
    stands_ns: u64,
    answered_ns: u64,
}

type Polled = std::result::Result<Answer, Bad>;

/// Tells this node's state to whoever asks, until it is over.
pub fn report(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    if let Some(agent) = Agent::named(order)? {
        return agent.serve(pair_ends, order, blocks);
    }
    let first = |pair_end: &PairEnd| order.pairs.first().is_some_and(|_| pair_end.pair == 0);
    let delay = order.value::<Nanoseconds>("monitor.delay").map_or(0, |time| time.0 as u64);
    let mut answers = Vec::new();
    for pair_end in pair_ends.iter() {
        let delay = Duration::from_nanos(if first(pair_end) { delay } else { 0 });
        let (caller, host) = (pair_end.session.caller()?, order.other(pair_end.pair));
        let failed = AtomicBool::new(false);
        let node =
            Reporting { caller: caller.as_ref(), delay, host, patience: order.patience(), failed: &failed };
        let works = (0..pair_end.flows).map(|flow| {
            let (node, cpu) = (&node, cpu(pair_end, flow));
            move || node.report(cpu, blocks)
        });
        let panicked = |_| Err(Error::peer("a node's thread", "panicked", "please report it"));
        let told = thread::together("node", works)?.into_iter().map(|one| one.unwrap_or_else(panicked));
        answers.push(told.collect::<Result<Vec<_>>>()?);
    }
    Ok(answers)
}

/// What the threads of a node share.
struct Reporting<'s> {
    caller: &'s dyn Caller,
    delay: Duration,
    host: HostId,
    patience: Duration,
    failed: &'s AtomicBool,
}

impl Reporting<'_> {
    fn report(&self, cpu: Option<u32>, blocks: &[Block]) -> Result<Vec<Measured>> {
        cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu]))?;
        let timer_slack_lowered = thread::lower_timer_slack().is_ok();
        let longest = blocks.iter().map(|block| block.message_bytes as usize).max().unwrap_or(0).max(HEADER);
        let mut state = vec![0x5a; longest];
        let start = Start::now();
        let served = self.serve(&mut state);
        if served.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        // The blocks follow each other without a word: what they took is on record with the first.
        let mut flow = Flow { bytes: served?, ..start.until(&Start::now()) };
        let measured = |_: &Block| {
            let flow = std::mem::take(&mut flow);
            Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake: false }
        };
        Ok(blocks.iter().map(measured).collect())
    }

    /// Serves until it is over.
    fn serve(&self, state: &mut [u8]) -> Result<u64> {
        let (mut sent, mut heard) = (0, Instant::now());
        loop {
            if self.failed.load(Ordering::Relaxed) || heard.elapsed() > self.patience {
                return Err(Error::hung_up("the monitor", "asked for nothing within the time limit"));
            }
            let took = self.caller.take(HEARS).map_err(|error| broken("the monitor", self.host, &error))?;
            let Some(mut called) = took else { continue };
            heard = Instant::now();
            let mut request = [0; REQUEST];
            let mut filled = 0;
            while filled < REQUEST {
                match called.pull(&mut request[filled..], HEARS) {
                    Ok(0) | Err(_) => break,
                    Ok(came) => filled += came,
                }
            }
            if filled == REQUEST && request[0] == OVER {
                return Ok(sent);
            }
            if filled < REQUEST {
                continue;
            }
            if !self.delay.is_zero() {
                std::thread::sleep(self.delay);
            }
            let (head, bytes) = request.split_at(8);
            let round = head.last_chunk().map_or(0, |round| u32::from_be_bytes(*round));
            let bytes = bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
            let Some(reply) = state.get_mut(..usize::try_from(bytes).unwrap_or(usize::MAX)) else { continue };
            if reply.len() < HEADER {
                continue;
            }
            Head { round, bytes }.write(reply);
            // Who gave up waiting has gone: that is counted where it was waited.
            if called.push_all(reply).is_ok() {
                sent += bytes;
            }
        }
    }
}
