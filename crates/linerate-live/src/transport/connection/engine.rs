//! How bytes reach a connection: asked for again and again, or slept for in the kernel.

mod link;

use super::caller::FactoryCaller;
use super::channel::{Channel, receive_all, send_all};
use super::factory::{ConnectionFactory, FactoryEnd};
use crate::pattern::{
    ConnectionLoops, Drive, Driven, Link, Measured, Part, Ready, may_multiplex, play, play_multiplexed,
};
use crate::plan::{Block, Placement};
use crate::record::Granted;
use crate::transport::fault::shim::Faults;
use crate::transport::{Caller, Session, Spec, Task, by_task, granted};
use crate::vocabulary::{LINK_ADAPTERS, Wait};
use crate::{Error, Result};
use linerate_sys::socket;
pub use link::bytes_or_closed;
use link::{Polling, Sleeping};
use std::collections::BTreeSet;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

const PLACEMENT: &str = "cpu.placement";
const THREADS: &str = "flow.threads";

/// An open session of such connections.
pub struct Connected<C> {
    spec: Spec,
    flows: Vec<C>,
    /// Where further connections are made or taken.
    factory: Option<Box<dyn ConnectionFactory<C>>>,
}

impl<C: Channel + 'static> Connected<C> {
    /// A session over these connections.
    pub fn session(spec: Spec, flows: Vec<C>) -> Result<Box<dyn Session>> {
        flows.iter().try_for_each(|flow| flow.prepare(&spec, Wait::Sleeping))?;
        Ok(Box::new(Connected { spec, flows, factory: None }))
    }

    /// The same, with the place where further ones are made or taken.
    pub fn with_factory(
        spec: Spec,
        flows: Vec<C>,
        factory: Box<dyn ConnectionFactory<C>>,
    ) -> Result<Box<dyn Session>> {
        flows.iter().try_for_each(|flow| flow.prepare(&spec, Wait::Sleeping))?;
        Ok(Box::new(Connected { spec, flows, factory: Some(factory) }))
    }
}

impl<C: Channel> Session for Connected<C> {
    fn granted(&self) -> Vec<Granted> {
        let mut all = self.flows.first().map_or(Vec::new(), |flow| flow.granted(&self.spec));
        all.extend(Faults::from_spec(&self.spec).granted(&self.spec));
        if self.spec.value(LINK_ADAPTERS.name).is_some() {
            // What the connections go by, not what they were told to.
            let own = self.sockets().into_iter().filter_map(|socket| Some(socket.local_addr().ok()?.ip()));
            all.push(granted(&self.spec, LINK_ADAPTERS.name, own.collect::<BTreeSet<_>>().len()));
        }
        if self.is_by_queue() {
            let found = (0..self.flows.len()).all(|flow| self.queue_cpu(flow).is_some());
            all.push(granted(&self.spec, PLACEMENT, if found { "queue" } else { "none" }));
        }
        if self.spec.value(THREADS).is_some() {
            let threads = if self.may_share_threads() { "cpu" } else { "flow" };
            all.push(granted(&self.spec, THREADS, threads));
        }
        all
    }

    fn endpoints(&self) -> Vec<String> {
        self.flows.iter().filter_map(Channel::endpoints).collect()
    }

    fn sockets(&self) -> Vec<&TcpStream> {
        self.flows.iter().filter_map(Channel::tcp).collect()
    }

    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.flows.iter().map(AsFd::as_fd).collect()
    }

    fn processes(&self) -> Vec<u32> {
        // Several flows may have the same ones.
        let all: BTreeSet<u32> = self.flows.iter().flat_map(Channel::processes).collect();
        all.into_iter().collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        if self.flows.is_empty() {
            return Err(Error::peer("this session", "was closed by an earlier error", ""));
        }
        self.flows.iter().try_for_each(|flow| flow.prepare(&self.spec, wait))?;
        let patience = self.spec.patience();
        let driven = self.driven(tasks, wait, blocks)?;
        let played = match wait {
            _ if tasks.iter().any(|task| task.does.calls()) => self.calls(tasks, wait, blocks),
            _ if !driven.is_empty() => {
                let measured = Faults::from_spec(&self.spec).play_driven(driven, wait, blocks);
                measured.map(|measured| by_task(measured, self.flows.len()))
            }
            _ if self.is_multiplexed(tasks) => self.play_multiplexed_tasks(tasks, wait, blocks),
            Wait::Polling => self.with_links(tasks, wait, blocks, |flow| Polling::new(flow, patience)),
            Wait::Sleeping => self.with_links(tasks, wait, blocks, |flow| Sleeping { flow, patience }),
        };
        if played.is_err() {
            // The other end may sleep until it hears of it.
            self.flows.clear();
        }
        played
    }

    fn streams(&mut self, task: &Task) -> Result<Vec<Part<Driven<'_>>>> {
        if !C::HANGS_UP {
            return Err(Error::unavailable("this transport as a load", "load with tcp, unix or tls"));
        }
        self.flows.iter().try_for_each(|flow| flow.prepare(&self.spec, Wait::Sleeping))?;
        let patience = self.spec.patience();
        let part = |(at, flow)| Part {
            link: Driven(Box::new(Sleeping { flow, patience })),
            does: task.does,
            cpu: self.cpu(task, at),
        };
        Ok(self.flows.iter().enumerate().map(part).collect())
    }

    fn caller(&self) -> Result<Box<dyn Caller + '_>> {
        let none = || Error::unavailable("further connections over this transport", "take tcp or unix");
        let factory = self.factory.as_deref().ok_or_else(none)?;
        factory.waits(Some(CALLER_WAITS)).map_err(|e| Error::io("accept", "listener", e))?;
        Ok(Box::new(FactoryCaller { factory }))
    }

    fn hang_up(&mut self) {
        self.flows.clear();
    }
}

/// How long one wait for a further connection lasts: whether it is the last one is looked at as often.
const CALLER_WAITS: Duration = Duration::from_millis(100);

impl<C: Channel> Connected<C> {
    /// The CPU of one flow: that of the task, or that of the flow's receive queue.
    fn cpu(&self, task: &Task, flow: usize) -> Option<u32> {
        if self.is_by_queue() { self.queue_cpu(flow) } else { task.cpu(flow) }
    }

    fn is_by_queue(&self) -> bool {
        self.spec.parsed(PLACEMENT) == Some(Placement::Queue)
    }

    /// Where the kernel receives the flow's packets, if this process may run there.
    fn queue_cpu(&self, flow: usize) -> Option<u32> {
        let allowed = linerate_sys::thread::allowed_cpus().ok()?;
        socket::incoming_cpu(&self.flows[flow]).filter(|cpu| allowed.contains(cpu))
    }

    /// The parts of other engines; none where the usual one is in force.
    fn driven(&self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Part<Box<dyn Drive>>>> {
        let each = tasks.iter().flat_map(|task| self.flows.iter().enumerate().map(move |flow| (task, flow)));
        let parts = each.map(|(task, (flow, channel))| {
            let link = channel.drive(&self.spec, task.does, wait, blocks)?;
            Ok(link.map(|link| Part { link, does: task.does, cpu: self.cpu(task, flow) }))
        });
        Ok(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Whether there are more flows than this end has CPUs: then each CPU's thread serves several.
    fn is_multiplexed(&self, tasks: &[Task]) -> bool {
        let cpus: BTreeSet<u32> = tasks.iter().flat_map(|task| &task.cpus).copied().collect();
        let count = if cpus.is_empty() {
            linerate_sys::thread::allowed_cpus().map_or(1, |cpus| cpus.len())
        } else {
            cpus.len()
        };
        tasks.iter().all(|task| may_multiplex(task.does))
            && self.flows.len() > count
            && self.may_share_threads()
    }

    /// Whether one thread may serve several flows.
    fn may_share_threads(&self) -> bool {
        let is_driven = self.flows.first().is_some_and(|flow| flow.is_driven(&self.spec));
        !is_driven && Faults::from_spec(&self.spec).are_none() && self.spec.value(THREADS) != Some("flow")
    }

    fn play_multiplexed_tasks(
        &self,
        tasks: &[Task],
        wait: Wait,
        blocks: &[Block],
    ) -> Result<Vec<Vec<Vec<Measured>>>> {
        let flows = |task: &Task| {
            let all = self.flows.iter().enumerate();
            (task.does, all.map(|(at, flow)| (Multiplexed(flow), self.cpu(task, at))).collect())
        };
        let tasks: Vec<_> = tasks.iter().map(flows).collect();
        let measured = play_multiplexed(&tasks, wait, blocks, self.spec.patience())?;
        Ok(by_task(measured, self.flows.len()))
    }

    /// Runs what makes and takes connections: as many at once as there are flows.
    fn calls(&self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let no_factory =
            || Error::unavailable("this transport makes no further connections", "take tcp or unix");
        let (factory, patience) = (self.factory.as_deref().ok_or_else(no_factory)?, self.spec.patience());
        factory
            .waits((wait == Wait::Sleeping).then_some(patience))
            .map_err(|e| Error::io("accept", "listener", e))?;
        let flows = self.flows.len();
        let places = || tasks.iter().flat_map(|task| (0..flows).map(move |flow| (task.does, task.cpu(flow))));
        let measured = match wait {
            Wait::Polling => {
                let link = || ConnectionLoops(FactoryEnd::<C, true> { factory, patience });
                play(places().map(|(does, cpu)| Part { link: link(), does, cpu }).collect(), wait, blocks)?
            }
            Wait::Sleeping => {
                let link = || ConnectionLoops(FactoryEnd::<C, false> { factory, patience });
                play(places().map(|(does, cpu)| Part { link: link(), does, cpu }).collect(), wait, blocks)?
            }
        };
        Ok(by_task(measured, flows))
    }

    fn with_links<'s, L: Link + Send>(
        &'s self,
        tasks: &[Task],
        wait: Wait,
        blocks: &[Block],
        link: impl Fn(&'s C) -> L,
    ) -> Result<Vec<Vec<Vec<Measured>>>> {
        let parts: Vec<Part<L>> = tasks
            .iter()
            .flat_map(|task| self.flows.iter().enumerate().map(move |flow| (task, flow)))
            .map(|(task, (flow, channel))| Part {
                link: link(channel),
                does: task.does,
                cpu: self.cpu(task, flow),
            })
            .collect();
        let measured = Faults::from_spec(&self.spec).play(parts, wait, blocks)?;
        Ok(by_task(measured, self.flows.len()))
    }
}

/// A connection among those that one thread serves.
struct Multiplexed<'s, C>(&'s C);

impl<C> Clone for Multiplexed<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Multiplexed<'_, C> {}

impl<C: AsFd> AsFd for Multiplexed<'_, C> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<C: Channel> Ready for Multiplexed<'_, C> {
    #[inline]
    fn push_now(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_now(bytes)
    }

    #[inline]
    fn pull_now(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive_now(bytes)
    }

    fn push_go(&self) -> io::Result<()> {
        send_all(self.0, &[0])
    }

    fn pull_go(&self) -> io::Result<()> {
        receive_all(self.0, &mut [0])
    }
}
