//! Opens a session between roles on hosts; says what this host can do, and if not why.
//!
//! Both ends make an *offer* (a bound port, a mapping), the offers travel by control, and both ends *join*. A session outlives
//! many trials; one virtual call runs a trial. How bytes reach the kernel is chosen once a trial, before the loop.

mod connection;
mod encrypted;
mod fault;
pub mod foreign;
pub mod lite;
mod local;
mod offer;
mod rendezvous;
mod socket;
mod spec;
mod tried;

pub use encrypted::seal::Seal;
pub use offer::{Address, Offer};
pub use rendezvous::{Rendezvous, port_beside};
pub use spec::Spec;
pub use tried::refused;

use crate::pattern::{Driven, GREETING, Measured, Part};
use crate::plan::{Block, HostAddress, PortRange};
use crate::record::{Granted, UnavailableTransport};
use crate::vocabulary::{self, Does, Wait};
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// A way to carry bytes.
pub trait Transport: Sync {
    /// Its name in the vocabulary.
    fn name(&self) -> &'static str;
    /// Why this host, this kernel or these privileges do not have it; none where they do.
    fn lacks(&self) -> Option<UnavailableTransport> {
        None
    }
    /// Prepares this end: a passive end is bound when this returns.
    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)>;
}

/// An end that is prepared.
pub trait Pending: Send {
    /// What it waits for the other end on: it fails where these are shut down. None for one that waits otherwise.
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }
    /// Meets the other end.
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>>;
}

/// What one thread group does during a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// What it does.
    pub does: Does,
    /// The CPUs of its flows, used in turn; empty for unpinned.
    pub cpus: Vec<u32>,
}

impl Task {
    /// The CPU of one flow.
    fn cpu(&self, flow: usize) -> Option<u32> {
        self.cpus.get(flow % self.cpus.len().max(1)).copied()
    }
}

/// An open session.
pub trait Session: Send {
    /// The knobs as read back.
    fn granted(&self) -> Vec<Granted>;
    /// Both addresses of each connection.
    fn endpoints(&self) -> Vec<String> {
        Vec::new()
    }
    /// The sockets, for observers.
    fn sockets(&self) -> Vec<&TcpStream> {
        Vec::new()
    }
    /// What a trial may wait on: its loops end where these are shut down.
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.sockets().into_iter().map(AsFd::as_fd).collect()
    }
    /// The processes that work for it beside this one: their CPU time is its own.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }
    /// What the next trial may take: for a session whose work another program does, which may hang.
    fn limit(&mut self, _: Duration) {}
    /// Runs the tasks at once through all blocks; gives, a task, a flow, a block, what was measured.
    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>>;
    /// Its connections, where they keep the order of their bytes: for what is no pattern of blocks, as a load. Their ends
    /// sleep.
    fn streams(&mut self, _: &Task) -> Result<Vec<Part<Driven<'_>>>> {
        // Plans that ask for it are refused before, by the table.
        Err(Error::unavailable("a stream without blocks over this transport", "take tcp, unix or tls"))
    }
    /// Makes or takes further connections: for an application.
    fn caller(&self) -> Result<Box<dyn Caller + '_>> {
        Err(Error::unavailable("further connections over this transport", "take tcp or unix"))
    }
    /// Closes its [`streams`](Session::streams): the other end of a load ends by this.
    fn hang_up(&mut self) {}
}

/// Makes or takes further connections of a session. Their ends sleep.
pub trait Caller: Send + Sync {
    /// Makes one: it stands when this returns.
    fn call(&self, limit: Duration) -> std::io::Result<Box<dyn Called + '_>>;
    /// Takes one that presents the session's secret; none where none came in time, or a stranger did.
    fn take(&self, limit: Duration) -> std::io::Result<Option<Box<dyn Called + '_>>>;
    /// What a connection that is made must begin with.
    fn greeting(&self) -> [u8; GREETING];
}

/// A further connection of a session; it is closed when dropped.
pub trait Called: Send {
    /// Sends all of `bytes`.
    fn push_all(&mut self, bytes: &[u8]) -> std::io::Result<()>;
    /// Fills the first part of `bytes`, waiting so long for at least one; 0 where the other end has closed.
    fn pull(&mut self, bytes: &mut [u8], limit: Duration) -> std::io::Result<usize>;
}

/// Every transport, by shelf.
static SHELVES: [&[&dyn Transport]; 5] =
    [local::TRANSPORTS, socket::TRANSPORTS, encrypted::TRANSPORTS, &[&lite::LITE], foreign::TRANSPORTS];

/// Every transport, in the vocabulary's order.
pub fn transports() -> Vec<&'static dyn Transport> {
    let order = |transport: &&dyn Transport| {
        vocabulary::TRANSPORTS.iter().position(|entry| entry.name == transport.name())
    };
    let mut all: Vec<&'static dyn Transport> = SHELVES.concat();
    all.sort_by_key(order);
    all
}

/// Whether ends may listen at each of these addresses, on one of these ports where some are said.
pub fn may_listen(addresses: &[HostAddress], ports: Option<PortRange>) -> Result<()> {
    addresses.iter().try_for_each(|address| {
        let spec = Spec { passive: true, address: Some(address.clone()), ports, ..Spec::default() };
        socket::may_listen(&spec)
    })
}

/// What this host has not, in the vocabulary's order.
pub fn lacking() -> Vec<UnavailableTransport> {
    transports().into_iter().filter_map(Transport::lacks).collect()
}

/// The transport with this name.
pub fn named(name: &str) -> Result<&'static dyn Transport> {
    let found = SHELVES.iter().copied().flatten().find(|transport| transport.name() == name);
    let missing = || Error::usage(format!("no transport is called `{name}`"), "see `linerate list`");
    found.copied().ok_or_else(missing)
}

/// A knob's record, from what was asked and what was read back.
fn granted(spec: &Spec, knob: &str, value: impl ToString) -> Granted {
    Granted { knob: knob.into(), asked: spec.value(knob).map(String::from), granted: Some(value.to_string()) }
}

/// Groups the measured parts by task: parts are in the order task by task, flow by flow.
fn by_task(parts: Vec<Vec<Measured>>, flows: usize) -> Vec<Vec<Vec<Measured>>> {
    parts.chunks(flows.max(1)).map(<[Vec<Measured>]>::to_vec).collect()
}
