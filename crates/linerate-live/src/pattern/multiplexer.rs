//! Many flows by one thread: a stream or a ping-pong each, and none waits for another one.
//!
//! Where there are more flows than CPUs a thread a flow would measure the scheduler. So a thread serves all
//! flows of its CPU, as a server does: it asks which ones are ready (epoll(7)), or asks each in its turn. Each flow has
//! counts and stamps of its own.

#[cfg(test)]
mod tests;
mod turn;

use super::poll::ASKS_A_LOOK;
use super::{Clock, Loops, Measured, Monotonic, Moved, Part, Walk, play};
use crate::plan::Block;
use crate::record::Flow;
use crate::vocabulary::{Does, Wait};
use crate::{Error, Result};
use linerate_sys::readiness::Readiness;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use turn::Member;

/// A connection whose calls never wait, but for those that say so.
pub trait Ready: AsFd + Copy + Send {
    /// Sends what can be sent at once; 0 where nothing can.
    fn push_now(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Receives what is there; none where nothing is, `Some(0)` at the end.
    fn pull_now(&self, bytes: &mut [u8]) -> io::Result<Option<usize>>;
    /// Says go, or hears it, waiting.
    fn push_go(&self) -> io::Result<()>;
    /// Hears the other end's word.
    fn pull_go(&self) -> io::Result<()>;
}

/// Ready flows that one look tells of: more would be stale before they are served.
const AT_ONCE: usize = 64;

/// The flows of one thread.
struct Multiplexer<'c, C> {
    flows: Vec<C>,
    members: Vec<Member>,
    readiness: Readiness,
    /// The flows that are not done, or that are ready.
    turns: Vec<usize>,
    does: Does,
    waits: bool,
    patience: Duration,
    /// What each block gave, a list of members a block.
    done: &'c mut Vec<Vec<Member>>,
}

/// Whether one thread can serve many flows of which each does this.
pub fn may_multiplex(does: Does) -> bool {
    matches!(does, Does::Sends | Does::Receives | Does::Pings | Does::Echoes)
}

/// What a task does, and its connections with the CPU of each.
pub type MultiplexedTask<C> = (Does, Vec<(C, Option<u32>)>);

/// Plays a task of many flows: a thread a CPU. Gives, a flow, its blocks.
pub fn play_multiplexed<C: Ready>(
    tasks: &[MultiplexedTask<C>],
    wait: Wait,
    blocks: &[Block],
    patience: Duration,
) -> Result<Vec<Vec<Measured>>> {
    let groups: Vec<(Does, Option<u32>, Vec<usize>)> =
        tasks.iter().flat_map(|(does, flows)| grouped(*does, flows)).collect();
    let mut done: Vec<Vec<Vec<Member>>> = groups.iter().map(|_| Vec::with_capacity(blocks.len())).collect();
    let multiplexers = groups.iter().zip(&mut done).map(|((does, cpu, numbers), done)| {
        let of_task = tasks.iter().find(|(task, _)| task == does).map_or(&[][..], |(_, flows)| flows);
        let flows: Vec<C> = numbers.iter().map(|number| of_task[*number].0).collect();
        let link = Multiplexer::new(flows, *does, wait, patience, done)?;
        Ok(Part { link, does: *does, cpu: *cpu })
    });
    let threads = play(multiplexers.collect::<Result<Vec<_>>>()?, wait, blocks)?;
    let mut measured: BTreeMap<(usize, usize), Vec<Measured>> = BTreeMap::new();
    for (((does, _, numbers), thread), done) in groups.iter().zip(threads).zip(done) {
        let task = tasks.iter().position(|(task, _)| task == does).unwrap_or(0);
        for (place, number) in numbers.iter().enumerate() {
            let blocks = thread.iter().zip(&done).map(|(all, members)| share(all, members, place));
            measured.insert((task, *number), blocks.collect());
        }
    }
    Ok(measured.into_values().collect())
}

/// The flows of each CPU; those of no CPU in as many groups as this process has CPUs.
fn grouped<C>(does: Does, flows: &[(C, Option<u32>)]) -> Vec<(Does, Option<u32>, Vec<usize>)> {
    let cpus = linerate_sys::thread::allowed_cpus().map_or(1, |cpus| cpus.len().max(1));
    let mut groups: BTreeMap<(Option<u32>, usize), Vec<usize>> = BTreeMap::new();
    for (number, (_, cpu)) in flows.iter().enumerate() {
        let unpinned = if cpu.is_none() { number % cpus } else { 0 };
        groups.entry((*cpu, unpinned)).or_default().push(number);
    }
    groups.into_iter().map(|((cpu, _), numbers)| (does, cpu, numbers)).collect()
}

/// What one flow has of a thread's figures: its own bytes and times, and its part of the CPU.
fn share(thread: &Measured, members: &[Member], place: usize) -> Measured {
    let (all, member) = (&thread.flow, &members[place]);
    let part = |whole: u64| {
        let count = members.len() as u64;
        whole / count + if place == 0 { whole % count } else { 0 }
    };
    let before = std::iter::once(&all.start_ns).chain(&member.stamps);
    let slices: Vec<u64> = member.stamps.iter().zip(before).map(|(stamp, before)| stamp - before).collect();
    let flow = Flow {
        duration_ns: slices.iter().sum(),
        slices_ns: if all.slices_ns.is_empty() { Vec::new() } else { slices },
        bytes: member.moved,
        cpu_ns: part(all.cpu_ns),
        voluntary_switches: part(all.voluntary_switches),
        involuntary_switches: part(all.involuntary_switches),
        ..all.clone()
    };
    Measured { flow, ..thread.clone() }
}

impl<'c, C: Ready> Multiplexer<'c, C> {
    fn new(
        flows: Vec<C>,
        does: Does,
        wait: Wait,
        patience: Duration,
        done: &'c mut Vec<Vec<Member>>,
    ) -> Result<Self> {
        if !may_multiplex(does) {
            let what = format!("a thread of {} flows, each of which {}", flows.len(), does.word());
            return Err(Error::usage(what, "a stream or a ping-pong takes as many as there are"));
        }
        let readiness = Readiness::new(AT_ONCE)?;
        let turns = Vec::with_capacity(flows.len().max(AT_ONCE));
        let waits = wait == Wait::Sleeping;
        Ok(Multiplexer { members: Vec::new(), readiness, turns, flows, does, waits, patience, done })
    }

    /// Serves whichever flow is ready.
    fn serve_ready(&mut self, mut visit: impl FnMut(&C, &mut Member) -> io::Result<bool>) -> io::Result<()> {
        let mut under_way = self.flows.len();
        while under_way > 0 {
            self.turns.clear();
            self.turns.extend(self.readiness.wait(self.patience)?);
            if self.turns.is_empty() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            for turn in &self.turns {
                let (flow, member) = (&self.flows[*turn], &mut self.members[*turn]);
                let before = member.until();
                if visit(flow, member)? {
                    self.readiness.leave(flow)?;
                    under_way -= 1;
                } else if member.until() != before {
                    self.readiness.change(flow, *turn, member.until())?;
                }
            }
        }
        Ok(())
    }

    /// Serves one flow after the other, again and again.
    fn serve_in_turn(
        &mut self,
        mut visit: impl FnMut(&C, &mut Member) -> io::Result<bool>,
    ) -> io::Result<()> {
        self.turns.clear();
        self.turns.extend(0..self.flows.len());
        let (mut idle, mut since) = (0, None);
        while !self.turns.is_empty() {
            let mut place = 0;
            while place < self.turns.len() {
                let turn = self.turns[place];
                let member = &mut self.members[turn];
                let before = member.progress();
                if visit(&self.flows[turn], member)? {
                    self.turns.swap_remove(place);
                } else {
                    place += 1;
                }
                idle = if self.members[turn].progress() == before { idle + 1 } else { 0 };
            }
            if idle < ASKS_A_LOOK {
                since = None;
            } else {
                let now = linerate_sys::clock::monotonic_ns();
                if now - *since.get_or_insert(now) > self.patience.as_nanos() as u64 {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
        }
        Ok(())
    }

    fn serve(&mut self, visit: impl FnMut(&C, &mut Member) -> io::Result<bool>) -> io::Result<()> {
        if self.waits { self.serve_ready(visit) } else { self.serve_in_turn(visit) }
    }
}

impl<C: Ready> Loops for Multiplexer<'_, C> {
    fn prepare(&mut self, _does: Does, block: &Block) -> io::Result<()> {
        self.members = self.flows.iter().map(|_| Member::new(self.does, block)).collect();
        if self.waits {
            for (number, (flow, member)) in self.flows.iter().zip(&self.members).enumerate() {
                self.readiness.watch(flow, number, member.until()).map_err(|error| error.source)?;
            }
        }
        Ok(())
    }

    /// As the flows of a thread each do: a receiver says go. A ping-pong's first message is its word.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        if matches!(does, Does::Pings | Does::Echoes) {
            return Ok(());
        }
        let receives = does == Does::Receives;
        if receives {
            self.flows.iter().try_for_each(|flow| flow.push_go())?;
        }
        if receives == duplex {
            self.flows.iter().try_for_each(|flow| flow.pull_go())?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let of = (block, &Monotonic);
        match does {
            Does::Receives => self.serve(|flow, member| turn::receive(flow, member, of, walk))?,
            Does::Pings => self.serve(|flow, member| turn::ping(flow, member, of, walk))?,
            Does::Echoes => self.serve(|flow, member| turn::echo(flow, member, of, walk))?,
            _ => self.serve(|flow, member| turn::send(flow, member, of, walk))?,
        }
        stamps.push(Monotonic.now_ns());
        let members = std::mem::take(&mut self.members);
        let bytes = members.iter().map(|member| member.moved).sum();
        self.done.push(members);
        Ok(Moved { bytes, ..Moved::default() })
    }
}
