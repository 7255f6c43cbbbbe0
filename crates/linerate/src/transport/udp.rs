//! UDP sockets, over IPv4 or IPv6. One datagram a message: what the receiver cannot take is lost.

mod plain;
mod shared;

use super::datagram::{Datagrams, Ports};
use super::meeting::send_all;
use super::tcp::{DSCP, INTERFACE, granted_interface, no_interface};
use super::unix::{granted_buffers, set_buffers};
use super::{Session, Spec, Task, by_task, granted};
use crate::pattern::{Lossy, Measured, Part, SILENCE, Unreliable, play};
use crate::plan::Block;
use crate::record::Granted;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::batch::Sharing;
use linerate_sys::socket;
use shared::Shared;
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// The transport.
pub const UDP: Ports<UdpSocket> = Ports::new();

impl Datagrams for UdpSocket {
    const NAME: &'static str = "udp";
    type Beside = TcpStream;

    /// At the address that the stream has here, on a port of the kernel's choice.
    fn bind(spec: &Spec, beside: &TcpStream) -> Result<(UdpSocket, String)> {
        let fail = |call| move |e| Error::io(call, "UDP socket", e);
        let mut address = beside.local_addr().map_err(fail("getsockname"))?;
        address.set_port(0);
        let port = match spec.value(INTERFACE) {
            Some(name) => socket::udp_at(address, name).map_err(|error| no_interface(name, error))?,
            None => UdpSocket::bind(address).map_err(fail("bind"))?,
        };
        set_buffers(&port, spec);
        // What the kernel refuses shows when it is read back.
        let _ = spec.parsed(DSCP).map(|code| socket::set_dscp(&port, code));
        let number = port.local_addr().map_err(fail("getsockname"))?.port();
        Ok((port, number.to_string()))
    }

    /// The address is the stream's, whoever told the port.
    fn connect(&self, beside: &TcpStream, name: &str) -> Result<()> {
        let mut peer = beside.peer_addr().map_err(|e| Error::io("getpeername", "stream", e))?;
        peer.set_port(name.parse().map_err(|_| Error::peer("the other end", "told no port", ""))?);
        UdpSocket::connect(self, peer).map_err(|e| Error::io("connect", peer.to_string(), e))
    }

    fn session(spec: Spec, flows: Vec<(UdpSocket, TcpStream)>) -> Result<Box<dyn Session>> {
        let flows =
            flows.into_iter().map(|(port, beside)| Flow { port, beside, numbers: Numbers::default() });
        Ok(Box::new(Connected { flows: flows.collect(), spec }))
    }
}

/// An open session.
struct Connected {
    spec: Spec,
    flows: Vec<Flow>,
}

/// One flow.
struct Flow {
    port: UdpSocket,
    beside: TcpStream,
    numbers: Numbers,
}

/// A number of which a part has come.
#[derive(Default)]
struct Numbers {
    bytes: [u8; 8],
    filled: usize,
}

impl Session for Connected {
    fn granted(&self) -> Vec<Granted> {
        let Some(Flow { port, .. }) = self.flows.first() else { return Vec::new() };
        let mut all = granted_buffers(port, &self.spec);
        all.extend(socket::dscp(port).ok().map(|code| granted(&self.spec, DSCP, code)));
        all.push(granted(&self.spec, ENGINE, engine(&self.spec)));
        all.extend(granted_interface(&self.spec, port));
        all
    }

    fn endpoints(&self) -> Vec<String> {
        let both = |address: io::Result<SocketAddr>| address.ok().map(|address| address.to_string());
        let flows = self.flows.iter().filter_map(|flow| {
            Some(format!("{} {}", both(flow.port.local_addr())?, both(flow.port.peer_addr())?))
        });
        flows.collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::usage("UDP takes one task an end", ""));
        };
        if self.flows.is_empty() {
            return Err(Error::peer("this session", "was closed by an earlier error", ""));
        }
        let (patience, count) = (self.spec.patience(), self.flows.len());
        for flow in &self.flows {
            let limited = flow.port.set_read_timeout(Some(SILENCE));
            let limited = limited.and_then(|()| flow.port.set_write_timeout(Some(patience)));
            limited.map_err(|e| Error::io("setsockopt", "UDP socket", e))?;
        }
        let asked = engine(&self.spec);
        let found = ENGINES.iter().find(|(name, _)| *name == asked);
        let (_, play) = found.ok_or_else(|| {
            Error::usage(format!("no engine is called `{asked}`"), "see `linerate list knobs`")
        })?;
        let played = play(self, task, wait, blocks);
        if played.is_err() {
            // The other end may wait until it hears of it.
            self.flows.clear();
        }
        Ok(by_task(played?, count))
    }
}

/// How an engine plays a trial: its own links, with the loops compiled for them.
type Play = fn(&mut Connected, &Task, Wait, &[Block]) -> Result<Vec<Vec<Measured>>>;

const ENGINE: &str = "udp.engine";

/// Every engine; the first is the usual one.
const ENGINES: &[(&str, Play)] = &[
    ("plain", |session, task, wait, blocks| match wait {
        Wait::Polling => session.play(task, wait, blocks, |ends| Ok(plain::Polling(ends))),
        Wait::Sleeping => session.play(task, wait, blocks, |ends| Ok(plain::Sleeping(ends))),
    }),
    ("batch", |session, task, wait, blocks| session.play_shared(task, wait, blocks, Sharing::Calls)),
    ("segments", |session, task, wait, blocks| session.play_shared(task, wait, blocks, Sharing::Packets)),
];

/// The engine that was asked for.
fn engine(spec: &Spec) -> &str {
    spec.value(ENGINE).unwrap_or(ENGINES[0].0)
}

impl Connected {
    fn play_shared(
        &mut self,
        task: &Task,
        wait: Wait,
        blocks: &[Block],
        sharing: Sharing,
    ) -> Result<Vec<Vec<Measured>>> {
        match wait {
            Wait::Polling => self.play(task, wait, blocks, |ends| Shared::<false>::new(ends, sharing)),
            Wait::Sleeping => self.play(task, wait, blocks, |ends| Shared::<true>::new(ends, sharing)),
        }
    }

    fn play<'s, L: Lossy + Send>(
        &'s mut self,
        task: &Task,
        wait: Wait,
        blocks: &[Block],
        link: impl Fn(Ends<'s>) -> Result<L>,
    ) -> Result<Vec<Vec<Measured>>> {
        let patience = self.spec.patience();
        let parts = self.flows.iter_mut().enumerate().map(|(at, flow)| {
            let link = Unreliable::new(link(Ends { flow, patience })?);
            Ok(Part { link, does: task.does, cpu: task.cpu(at) })
        });
        play(parts.collect::<Result<_>>()?, wait, blocks)
    }
}

/// Both sockets of a flow.
struct Ends<'s> {
    flow: &'s mut Flow,
    patience: Duration,
}

impl Ends<'_> {
    fn tell(&mut self, number: u64) -> io::Result<()> {
        send_all(&self.flow.beside, &number.to_le_bytes())
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        let Flow { beside, numbers, .. } = &mut *self.flow;
        socket::wait_readable(beside, limit).map_err(|error| error.source)?;
        match socket::receive_now(beside, &mut numbers.bytes[numbers.filled..])? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            came => numbers.filled += came.unwrap_or(0),
        }
        if numbers.filled < numbers.bytes.len() {
            return Ok(None);
        }
        numbers.filled = 0;
        Ok(Some(u64::from_le_bytes(numbers.bytes)))
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        socket::receive_now(&self.flow.port, room)
    }
}
