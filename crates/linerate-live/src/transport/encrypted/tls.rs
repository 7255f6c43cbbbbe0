//! TLS 1.3 over TCP, by rustls with ring: records of at most 16 KiB, sealed and opened in the flow's own thread.
//!
//! The TCP connection presents the session's secret first, as every other; then the passive end is the server.

use super::certificate::{CIPHER, Identity, NAME, cipher_asked_for, client, name_of};
use crate::pattern::{Driven, Link, Measured, Part, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::channel::Channel;
use crate::transport::connection::meeting::Meeting;
use crate::transport::fault::shim::Faults;
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport, by_task, granted};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};
use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The transport.
pub const TLS: Tls = Tls;

/// What is sealed before it is sent: four records. The library would hold all of a longer message sealed.
const AT_ONCE: usize = 64 << 10;

/// What is read at once; the library by itself would read 4 KiB.
const ROOM: usize = 128 << 10;

/// The transport's type.
pub struct Tls;

impl Transport for Tls {
    fn name(&self) -> &'static str {
        "tls"
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        let identity = if spec.passive { Some(Identity::new()?) } else { None };
        let (meeting, offer) = Meeting::<TcpStream>::offer(spec)?;
        let offer = offer.with_certificate(identity.as_ref());
        Ok((Box::new(Binding { spec: spec.clone(), meeting, identity }), offer))
    }
}

/// An end that is about to meet the other one.
struct Binding {
    spec: Spec,
    meeting: Meeting<TcpStream>,
    identity: Option<Identity>,
}

impl Pending for Binding {
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.meeting.waits_on()
    }

    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let streams = self.meeting.meet(other)?;
        let flows = streams.into_iter().map(|stream| {
            let state = match &self.identity {
                Some(identity) => server(identity, &self.spec)?,
                None => connecting(&self.spec, other.certificate()?)?,
            };
            Flow::shake_hands(stream, state, self.spec.patience())
        });
        let flows = flows.collect::<Result<_>>()?;
        Ok(Box::new(Sealed { spec: self.spec, flows }))
    }
}

fn server(identity: &Identity, spec: &Spec) -> Result<Connection> {
    let state = ServerConnection::new(Arc::new(identity.server(cipher_asked_for(spec))?));
    Ok(Connection::Server(state.map_err(|e| Error::unavailable(format!("TLS: {e}"), ""))?))
}

fn connecting(spec: &Spec, fingerprint: &str) -> Result<Connection> {
    let failed = |e: &dyn std::fmt::Display| Error::unavailable(format!("TLS: {e}"), "");
    let name = ServerName::try_from(NAME).map_err(|e| failed(&e))?;
    let state = ClientConnection::new(Arc::new(client(cipher_asked_for(spec), fingerprint)?), name);
    Ok(Connection::Client(state.map_err(|e| failed(&e))?))
}

/// An open session.
struct Sealed {
    spec: Spec,
    flows: Vec<Flow>,
}

/// A connection.
struct Flow {
    stream: TcpStream,
    state: Connection,
    /// What was read, and the part of it that has not been opened yet.
    room: Box<[u8]>,
    left: std::ops::Range<usize>,
}

impl Flow {
    /// Shakes hands within the limit.
    fn shake_hands(stream: TcpStream, state: Connection, limit: Duration) -> Result<Flow> {
        let mut flow = Flow { stream, state, room: vec![0; ROOM].into(), left: 0..0 };
        let until = Instant::now() + limit;
        while flow.state.is_handshaking() {
            flow.shake(until)?;
        }
        flow.flush(socket::send_parts_waiting).map_err(|e| refused(&e))?;
        Ok(flow)
    }

    /// One turn: what is to be said, then what is heard. The other end is told why where it is refused.
    fn shake(&mut self, until: Instant) -> Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(refused(&io::ErrorKind::TimedOut.into()));
        }
        socket::limit_waits(&self.stream, left)?;
        self.flush(socket::send_parts_waiting).map_err(|e| refused(&e))?;
        if !self.state.is_handshaking() {
            return Ok(());
        }
        match self.open(socket::receive_waiting) {
            Err(error) => {
                let _ = self.flush(socket::send_parts_now);
                Err(refused(&error))
            }
            Ok(_) => Ok(()),
        }
    }

    /// Takes in what came; false where nothing did.
    fn open(
        &mut self,
        mut receive: impl FnMut(&TcpStream, &mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<bool> {
        if self.left.is_empty() {
            match receive(&self.stream, &mut self.room)? {
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(count) => self.left = 0..count,
                None => return Ok(false),
            }
        }
        self.left.start += self.state.read_tls(&mut &self.room[self.left.clone()])?;
        let seen = self.state.process_new_packets();
        seen.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(true)
    }

    /// Sends all that is sealed.
    fn flush(
        &mut self,
        mut send: impl FnMut(&TcpStream, &[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<()> {
        while self.state.wants_write() {
            self.state.write_tls(&mut Out(|parts: &[IoSlice<'_>]| send(&self.stream, parts)))?;
        }
        Ok(())
    }

    /// Seals and sends the first part of `bytes`.
    #[inline]
    fn push(
        &mut self,
        bytes: &[u8],
        send: impl FnMut(&TcpStream, &[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let taken = self.state.writer().write(&bytes[..bytes.len().min(AT_ONCE)])?;
        self.flush(send)?;
        Ok(taken)
    }

    /// Fills the first part of `bytes`; 0 where nothing whole has come.
    #[inline]
    fn pull(
        &mut self,
        bytes: &mut [u8],
        receive: impl FnMut(&TcpStream, &mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<usize> {
        match self.state.reader().read(bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            answer => return answer,
        }
        self.open(receive)?;
        Ok(0)
    }
}

/// What the library writes its records to.
struct Out<S>(S);

impl<S: FnMut(&[IoSlice<'_>]) -> io::Result<usize>> Write for Out<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        (self.0)(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refused(error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "did not shake hands in time".into(),
        io::ErrorKind::UnexpectedEof => "went away in mid-handshake".into(),
        _ => format!("TLS handshake: {error}"),
    };
    Error::peer("the other end", what, "are both ends of this session?")
}

impl Session for Sealed {
    fn granted(&self) -> Vec<Granted> {
        let Some(flow) = self.flows.first() else { return Vec::new() };
        let mut all = flow.stream.granted(&self.spec);
        let suite = flow.state.negotiated_cipher_suite();
        all.extend(suite.map(|suite| granted(&self.spec, CIPHER, name_of(suite))));
        all.extend(Faults::from_spec(&self.spec).granted(&self.spec));
        all
    }

    fn endpoints(&self) -> Vec<String> {
        self.flows.iter().filter_map(|flow| flow.stream.endpoints()).collect()
    }

    fn sockets(&self) -> Vec<&TcpStream> {
        self.flows.iter().map(|flow| &flow.stream).collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::usage("TLS takes one task an end", ""));
        };
        if self.flows.is_empty() {
            return Err(Error::peer("this session", "was closed by an earlier error", ""));
        }
        let (patience, count, faults) =
            (self.spec.patience(), self.flows.len(), Faults::from_spec(&self.spec));
        for flow in &self.flows {
            socket::limit_waits(&flow.stream, patience)?;
        }
        let flows = self.flows.iter_mut().enumerate();
        let played = match wait {
            Wait::Polling => {
                let part = |(at, flow)| Part {
                    link: Polling { flow, patience },
                    does: task.does,
                    cpu: task.cpu(at),
                };
                faults.play(flows.map(part).collect(), wait, blocks)
            }
            Wait::Sleeping => {
                let part = |(at, flow)| Part { link: Sleeping { flow }, does: task.does, cpu: task.cpu(at) };
                faults.play(flows.map(part).collect(), wait, blocks)
            }
        };
        if played.is_err() {
            // The other end may sleep until it hears of it.
            self.flows.clear();
        }
        Ok(by_task(played?, count))
    }

    fn streams(&mut self, task: &Task) -> Result<Vec<Part<Driven<'_>>>> {
        for flow in &self.flows {
            socket::limit_waits(&flow.stream, self.spec.patience())?;
        }
        let part = |(at, flow)| Part {
            link: Driven(Box::new(Sleeping { flow })),
            does: task.does,
            cpu: task.cpu(at),
        };
        Ok(self.flows.iter_mut().enumerate().map(part).collect())
    }

    fn hang_up(&mut self) {
        self.flows.clear();
    }
}

/// Asks the kernel again and again.
struct Polling<'s> {
    flow: &'s mut Flow,
    patience: Duration,
}

/// Sleeps in the kernel.
struct Sleeping<'s> {
    flow: &'s mut Flow,
}

impl Link for Polling<'_> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let patience = self.patience;
        self.flow.push(bytes, |stream, parts| poll(patience, || socket::send_parts_now(stream, parts)))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let flow = &mut *self.flow;
        poll(self.patience, || flow.pull(bytes, socket::receive_now))
    }
}

impl Link for Sleeping<'_> {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flow.push(bytes, socket::send_parts_waiting)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.flow.pull(bytes, socket::receive_waiting)
    }
}
