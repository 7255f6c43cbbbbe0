//! UDP sockets, over IPv4 or IPv6. One datagram a message: what the receiver cannot take is lost.

use super::datagram::{Datagrams, Ports};
use super::meeting::send_all;
use super::tcp::DSCP;
use super::unix::{granted_buffers, set_buffers};
use super::{Session, Spec, Task, by_task, granted};
use crate::pattern::{Lossy, Measured, Part, SILENCE, Unreliable, play, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
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
        let port = UdpSocket::bind(address).map_err(fail("bind"))?;
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
            flow.port
                .set_read_timeout(Some(SILENCE))
                .map_err(|e| Error::io("setsockopt", "UDP socket", e))?;
            flow.port
                .set_write_timeout(Some(patience))
                .map_err(|e| Error::io("setsockopt", "UDP socket", e))?;
        }
        let parts = self.flows.iter_mut().enumerate();
        let played = match wait {
            Wait::Polling => {
                let link = |flow| Unreliable::new(Polling(Ends { flow, patience }));
                let parts =
                    parts.map(|(at, flow)| Part { link: link(flow), does: task.does, cpu: task.cpu(at) });
                play(parts.collect(), wait, blocks)
            }
            Wait::Sleeping => {
                let link = |flow| Unreliable::new(Sleeping(Ends { flow, patience }));
                let parts =
                    parts.map(|(at, flow)| Part { link: link(flow), does: task.does, cpu: task.cpu(at) });
                play(parts.collect(), wait, blocks)
            }
        };
        if played.is_err() {
            // The other end may wait until it hears of it.
            self.flows.clear();
        }
        Ok(by_task(played?, count))
    }
}

/// Both sockets of a flow.
struct Ends<'s> {
    flow: &'s mut Flow,
    patience: Duration,
}

/// Asks the kernel again and again.
struct Polling<'s>(Ends<'s>);

/// Sleeps in the kernel.
struct Sleeping<'s>(Ends<'s>);

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

impl Lossy for Polling<'_> {
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        // A datagram goes as a whole; an empty one counts as one byte here, or it would be sent for ever.
        let port = &self.0.flow.port;
        poll(self.0.patience, || socket::send_datagram_now(port, datagram).map(usize::from)).map(drop)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let port = &self.0.flow.port;
        let ask = || Ok(socket::receive_now(port, room)?.map_or(0, |length| length + 1));
        match poll(SILENCE, ask) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            came => Ok(Some(came? - 1)),
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.0.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.0.hear(limit)
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }
}

impl Lossy for Sleeping<'_> {
    #[inline]
    fn receive_until(&mut self, room: &mut [u8], until_ns: u64) -> io::Result<Option<usize>> {
        let left = until_ns.saturating_sub(linerate_sys::clock::monotonic_ns());
        let limit = Duration::from_nanos(left).min(self.0.patience);
        socket::wait_readable(&self.0.flow.port, limit).map_err(|error| error.source)?;
        self.0.receive_now(room)
    }

    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        while !socket::send_datagram(&self.0.flow.port, datagram)? {}
        Ok(())
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match socket::receive_waiting(&self.0.flow.port, room) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            answer => answer,
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.0.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.0.hear(limit)
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }
}
