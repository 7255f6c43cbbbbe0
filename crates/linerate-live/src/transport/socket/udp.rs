//! UDP sockets, over IPv4 or IPv6. One datagram a message: what the receiver cannot take is lost.

mod opening;
mod shared;

use super::coalescing::Coalescing;
use super::datagram::{Datagrams, Ports};
use super::lossy::{Connected, Play, Port, Sleeping, plain};
use super::tcp::{DSCP, INTERFACE, granted_interface, refused};
use super::unix::{granted_buffers, set_buffers};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::place::Protocol;
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

    /// At the address that the stream has here. The name is the port, and what the other end's first datagram must
    /// have in it: where that one is behind a firewall or a translated address, only it can open the way.
    fn bind(spec: &Spec, beside: &TcpStream) -> Result<(UdpSocket, String)> {
        let fail = |call| move |e| Error::io(call, "UDP socket", e);
        let mut address = beside.local_addr().map_err(fail("getsockname"))?;
        address.set_port(0);
        let name = spec.value(INTERFACE);
        let bound = spec.bind_at(address, Protocol::Udp, |place| bound::udp_at(place, name));
        let port = bound.map_err(|error| refused(spec, error))?;
        set_buffers(&port, spec);
        // What the kernel refuses shows when it is read back.
        let _ = spec.parsed(DSCP).map(|code| socket::set_dscp(&port, code));
        let number = port.local_addr().map_err(fail("getsockname"))?.port();
        Ok((port, format!("{number} {:032x}", rand::random::<u128>())))
    }

    /// The address is the stream's, whoever told the port.
    fn connect(&self, spec: &Spec, beside: &TcpStream, [own, other]: [&str; 2]) -> Result<()> {
        let peer = beside.peer_addr().map_err(|e| Error::io("getpeername", "stream", e))?;
        let secret =
            |name: &str| name.split_once(' ').map(|(_, secret)| secret.to_owned()).unwrap_or_default();
        if spec.passive {
            return opening::await_first(self, beside, peer, secret(own).as_bytes(), spec.patience());
        }
        let port = other.split(' ').next().and_then(|port| port.parse().ok());
        // With the zone that the stream has.
        let mut place = peer;
        place.set_port(port.ok_or_else(|| Error::peer("the other end", "told no port", ""))?);
        UdpSocket::connect(self, place).map_err(|e| Error::io("connect", place.to_string(), e))?;
        opening::send_first(self, beside, place, secret(other).as_bytes(), spec.patience())
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
