//! UDP sockets, over IPv4 or IPv6. One datagram a message: what the receiver cannot take is lost.

mod shared;

use super::coalescing::Coalescing;
use super::datagram::{Datagrams, Ports};
use super::lossy::{Connected, Play, Port, Sleeping, plain};
use super::tcp::{DSCP, INTERFACE, granted_interface, no_interface};
use super::unix::{granted_buffers, set_buffers};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::{Session, Spec, Task, granted};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::batch::Sharing;
use linerate_sys::{bound, socket};
use shared::Shared;
use std::io;
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
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
            Some(name) => bound::udp_at(address, name).map_err(|error| no_interface(name, error))?,
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
        Ok(Connected::session(spec, flows))
    }
}

impl Port for UdpSocket {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        let mut all = granted_buffers(self, spec);
        all.extend(socket::dscp(self).ok().map(|code| granted(spec, DSCP, code)));
        all.push(granted(spec, ENGINE, engine(spec)));
        all.extend(granted_interface(spec, self));
        all
    }

    fn endpoints(&self) -> Option<String> {
        Some(format!("{} {}", self.local_addr().ok()?, self.peer_addr().ok()?))
    }

    fn engine(spec: &Spec) -> Result<Play<UdpSocket>> {
        let asked = engine(spec);
        let unknown = || Error::usage(format!("no engine is called `{asked}`"), "see `linerate list knobs`");
        ENGINES.iter().find(|(name, _)| *name == asked).map(|(_, play)| *play).ok_or_else(unknown)
    }

    fn limit_waits(&self, receive: Duration, send: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(receive))?;
        self.set_write_timeout(Some(send))
    }

    #[inline]
    fn send_now(&mut self, message: &[u8]) -> io::Result<bool> {
        socket::send_datagram_now(self, message)
    }

    #[inline]
    fn send_waiting(&mut self, message: &[u8]) -> io::Result<bool> {
        socket::send_datagram(self, message)
    }

    #[inline]
    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        socket::receive_now(self, room)
    }

    fn wait(&self, limit: Duration) -> io::Result<()> {
        socket::wait_readable(self, limit).map(drop).map_err(|error| error.source)
    }

    #[inline]
    fn receive_waiting(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        socket::receive_waiting(self, room)
    }
}

/// The knob of how datagrams reach the kernel.
pub const ENGINE: &str = "udp.engine";

/// Every engine; the first is the usual one.
const ENGINES: &[(&str, Play<UdpSocket>)] = &[
    ("plain", plain),
    ("coalescing", play_coalescing),
    ("batch", |session, task, wait, blocks| play_shared(session, task, wait, blocks, Sharing::Calls)),
    (SEGMENTS, |session, task, wait, blocks| play_shared(session, task, wait, blocks, Sharing::Packets)),
];

/// Whether this host has an engine.
pub fn probe(engine: &str) -> Result<()> {
    let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| Error::io("bind", "UDP socket", e))?;
    if engine == SEGMENTS { shared::can_share_packets(&port) } else { Ok(()) }
}

/// The engine whose packets hold many datagrams.
const SEGMENTS: &str = "segments";

/// The engine that was asked for.
fn engine(spec: &Spec) -> &str {
    spec.value(ENGINE).unwrap_or(ENGINES[0].0)
}

/// A receiver that polls has no sleep to coalesce: it is the usual one.
fn play_coalescing(
    session: &mut Connected<UdpSocket>,
    task: &Task,
    wait: Wait,
    blocks: &[Block],
) -> Result<Vec<Vec<Measured>>> {
    match wait {
        Wait::Polling => plain(session, task, wait, blocks),
        Wait::Sleeping => {
            session.play(task, wait, blocks, |ends| Ok(Sleeping { ends, sleep: Coalescing::default() }))
        }
    }
}

fn play_shared(
    session: &mut Connected<UdpSocket>,
    task: &Task,
    wait: Wait,
    blocks: &[Block],
    sharing: Sharing,
) -> Result<Vec<Vec<Measured>>> {
    match wait {
        Wait::Polling => session.play(task, wait, blocks, |ends| Shared::<false>::new(ends, sharing)),
        Wait::Sleeping => session.play(task, wait, blocks, |ends| Shared::<true>::new(ends, sharing)),
    }
}
