//! One QUIC connection, driven by whoever pushes or pulls: what came goes in, what is due goes out.
//!
//! `quinn-proto` is the protocol and knows no socket and no clock; here are both. Nothing runs in the
//! background: a connection that nobody drives stands still.

use super::config;
use crate::transport::Spec;
use crate::transport::encrypted::certificate::{Identity, NAME};
use crate::{Error, Result};
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ReadError, StreamId,
    Transmit, VarInt, WriteError,
};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The most bytes that the kernel takes or gives at once (`UDP_SEGMENT`, `UDP_GRO`).
const LONGEST: usize = 65_000;

/// Rooms that one call fills, each of what the kernel merges at most.
const ROOMS: usize = 8;
const ROOM: usize = 64 << 10;

/// Bytes after which a sender that is never kept waiting looks for acknowledgements.
const HEARD_EVERY: usize = 64 << 10;

/// A connection, and the socket's offloads.
pub struct Machine {
    peer: SocketAddr,
    offloads: UdpSocketState,
    endpoint: Endpoint,
    open: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    connected: bool,
    rooms: Box<[u8]>,
    /// What is to be sent: the bytes, and how, while the socket has not taken them.
    out: Vec<u8>,
    held: Option<Transmit>,
    /// Bytes handed over since acknowledgements were last looked for.
    unheard: usize,
}

impl Machine {
    /// Over a socket that is connected to the peer; the fingerprint is what the connecting end pins.
    pub fn new(
        port: &UdpSocket,
        spec: &Spec,
        identity: Option<&Identity>,
        fingerprint: Option<&str>,
    ) -> Result<Machine> {
        let fail = |call| move |e| Error::io(call, "UDP socket", e);
        let peer = port.peer_addr().map_err(fail("getpeername"))?;
        let offloads = UdpSocketState::new(UdpSockRef::from(port)).map_err(fail("setsockopt"))?;
        let server = identity.map(|identity| config::serving(spec, identity)).transpose()?;
        let mut endpoint = Endpoint::new(config::endpoint(), server, !offloads.may_fragment(), None);
        let open = match fingerprint {
            None => None,
            Some(fingerprint) => {
                let config = config::connecting(spec, fingerprint)?;
                let begun = endpoint.connect(Instant::now(), config, peer, NAME);
                Some(begun.map_err(|e| Error::peer("the other end", format!("QUIC: {e}"), ""))?)
            }
        };
        let rooms = vec![0; ROOMS * ROOM].into();
        let out = Vec::with_capacity(ROOM);
        let (stream, connected, held, unheard) = (None, false, None, 0);
        Ok(Machine { peer, offloads, endpoint, open, stream, connected, rooms, out, held, unheard })
    }

    /// Whether both ends have shaken hands.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Whether nothing is under way or owed: what is left is silence.
    pub fn is_quiet(&mut self) -> bool {
        self.held.is_none() && self.due().is_none()
    }

    /// When it has to be driven at the latest.
    pub fn due(&mut self) -> Option<Instant> {
        self.open.as_mut().and_then(|(_, connection)| connection.poll_timeout())
    }

    /// Whether the socket had no room.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Acknowledges all that came, and bids the other end do so: at once, which two packets make it do
    /// (RFC 9000, section 13.2.2).
    pub fn nudge(&mut self, port: &UdpSocket) -> io::Result<()> {
        for _ in 0..2 {
            if let Some((_, connection)) = &mut self.open {
                connection.ping();
            }
            self.transmit(port, Instant::now())?;
        }
        Ok(())
    }

    /// Hands over the first part of `bytes`, and sends what may go; 0 where the window is full.
    pub fn push_now(&mut self, port: &UdpSocket, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = self.write(bytes)?;
        if taken == 0 {
            self.drive(port)?;
            taken = self.write(bytes)?;
        }
        self.unheard += taken;
        if self.unheard >= HEARD_EVERY {
            self.unheard = 0;
            self.drive(port)?;
        } else if taken > 0 {
            self.transmit(port, Instant::now())?;
        }
        Ok(taken)
    }

    /// Fills the first part of `bytes`; 0 where nothing is there.
    pub fn pull_now(&mut self, port: &UdpSocket, bytes: &mut [u8]) -> io::Result<usize> {
        match self.read(port, bytes)? {
            0 => {
                self.drive(port)?;
                self.read(port, bytes)
            }
            filled => Ok(filled),
        }
    }

    /// Takes in what came, does what is due, sends what may go.
    pub fn drive(&mut self, port: &UdpSocket) -> io::Result<()> {
        let now = Instant::now();
        self.receive(port, now)?;
        let Some((handle, connection)) = &mut self.open else { return Ok(()) };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let mut lost = None;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::ConnectionLost { reason } => lost = Some(reason),
                _ => {}
            }
        }
        self.transmit(port, now)?;
        lost.map_or(Ok(()), |reason| Err(ended(&reason)))
    }

    /// Tells the other end that this one goes away.
    pub fn close(&mut self, port: &UdpSocket) {
        let now = Instant::now();
        if let Some((_, connection)) = &mut self.open {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        // Whoever does not hear it waits for as long as it has patience.
        let _ = self.transmit(port, now);
    }

    /// The stream: the connecting end opens it, the other one finds it.
    fn stream(&mut self) -> Option<(&mut Connection, StreamId)> {
        let (_, connection) = self.open.as_mut().filter(|_| self.connected)?;
        if self.stream.is_none() {
            let serves = connection.side().is_server();
            let mut streams = connection.streams();
            self.stream = if serves { streams.accept(Dir::Bi) } else { streams.open(Dir::Bi) };
        }
        Some((connection, self.stream?))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some((connection, stream)) = self.stream() else { return Ok(0) };
        match connection.send_stream(stream).write(bytes) {
            Ok(taken) => Ok(taken),
            Err(WriteError::Blocked) => Ok(0),
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn read(&mut self, port: &UdpSocket, bytes: &mut [u8]) -> io::Result<usize> {
        let Some((connection, stream)) = self.stream() else { return Ok(0) };
        let mut from = connection.recv_stream(stream);
        let Ok(mut chunks) = from.read(true) else { return Err(io::ErrorKind::UnexpectedEof.into()) };
        let mut filled = 0;
        while filled < bytes.len() {
            match chunks.next(bytes.len() - filled) {
                Ok(Some(chunk)) => {
                    bytes[filled..filled + chunk.bytes.len()].copy_from_slice(&chunk.bytes);
                    filled += chunk.bytes.len();
                }
                Err(ReadError::Blocked) => break,
                Ok(None) | Err(ReadError::Reset(_)) => {
                    let _ = chunks.finalize();
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        // The other end is told of the room that there is now.
        if chunks.finalize().should_transmit() {
            self.transmit(port, Instant::now())?;
        }
        Ok(filled)
    }

    /// Takes in what the socket has, as much as one call gives.
    fn receive(&mut self, port: &UdpSocket, now: Instant) -> io::Result<()> {
        let mut metas = [RecvMeta::default(); ROOMS];
        let mut rooms = self.rooms.chunks_exact_mut(ROOM);
        let mut parts: [IoSliceMut<'_>; ROOMS] =
            std::array::from_fn(|_| IoSliceMut::new(rooms.next().unwrap_or_default()));
        let count = match self.offloads.recv(UdpSockRef::from(port), &mut parts, &mut metas) {
            Ok(count) => count,
            Err(error) if is_nothing(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        for (index, meta) in metas.iter().enumerate().take(count) {
            let start = index * ROOM;
            let mut all = BytesMut::from(&self.rooms[start..start + meta.len.min(ROOM)]);
            while !all.is_empty() {
                let one = all.split_to(meta.stride.clamp(1, all.len()));
                self.take(port, now, meta, one)?;
            }
        }
        Ok(())
    }

    /// Takes in one datagram, whatever is in it.
    fn take(
        &mut self,
        port: &UdpSocket,
        now: Instant,
        meta: &RecvMeta,
        datagram: BytesMut,
    ) -> io::Result<()> {
        let ecn = meta.ecn.and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.peer, meta.dst_ip, ecn, datagram, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.open {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.open.is_none() => {
                match self.endpoint.accept(incoming, now, &mut answer, None) {
                    Ok(begun) => self.open = Some(begun),
                    Err(error) => return Err(ended(&error.cause)),
                }
            }
            // The peer has its connection already.
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                let _ = self.offloads.try_send(UdpSockRef::from(port), &packet(&transmit, &answer));
            }
            None => {}
        }
        Ok(())
    }

    /// Sends what may go now.
    fn transmit(&mut self, port: &UdpSocket, now: Instant) -> io::Result<()> {
        let Some((_, connection)) = &mut self.open else { return Ok(()) };
        loop {
            let transmit = match self.held.take() {
                Some(transmit) => transmit,
                None => {
                    self.out.clear();
                    let fitting = LONGEST / usize::from(connection.current_mtu());
                    let most = self.offloads.max_gso_segments().min(fitting).max(1);
                    match connection.poll_transmit(now, most, &mut self.out) {
                        Some(transmit) => transmit,
                        None => return Ok(()),
                    }
                }
            };
            let packets = packet(&transmit, &self.out);
            match self.offloads.try_send(UdpSockRef::from(port), &packets) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.held = Some(transmit);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Err(error),
                // What the kernel does not take, such as a probe beyond the MTU, is lost like any packet.
                Ok(()) | Err(_) => {}
            }
        }
    }
}

/// How long until then.
pub fn until(due: Option<Instant>, limit: Duration) -> Duration {
    due.map_or(limit, |due| due.saturating_duration_since(Instant::now()).min(limit))
}

fn packet<'b>(transmit: &Transmit, bytes: &'b [u8]) -> quinn_udp::Transmit<'b> {
    quinn_udp::Transmit {
        destination: transmit.destination,
        ecn: transmit.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
        contents: &bytes[..transmit.size],
        segment_size: transmit.segment_size,
        src_ip: transmit.src_ip,
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn ended(reason: &ConnectionError) -> io::Error {
    let kind = match reason {
        ConnectionError::TimedOut => io::ErrorKind::TimedOut,
        ConnectionError::ApplicationClosed(_) | ConnectionError::Reset | ConnectionError::LocallyClosed => {
            io::ErrorKind::ConnectionReset
        }
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, reason.to_string())
}
