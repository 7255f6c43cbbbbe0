//! TLS 1.3 over TCP, by rustls with ring: records of at most 16 KiB, sealed and opened in the flow's own thread.
//!
//! The TCP connection presents the session's secret first, as every other; then the passive end is the server.

use super::certificate::{CIPHER, Identity, cipher_asked_for};
use super::seal::Seal;
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
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// The transport.
pub const TLS: Tls = Tls;

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
            let cipher = cipher_asked_for(&self.spec);
            let mut seal = match &self.identity {
                Some(identity) => Seal::server(identity, cipher)?,
                None => Seal::client(cipher, other.certificate()?)?,
            };
            seal.shake_hands(&stream, self.spec.patience())?;
            Ok(Flow { stream, seal })
        });
        let flows = flows.collect::<Result<_>>()?;
        Ok(Box::new(Sealed { spec: self.spec, flows }))
    }
}

/// An open session.
struct Sealed {
    spec: Spec,
    flows: Vec<Flow>,
}

/// A connection.
struct Flow {
    stream: TcpStream,
    seal: Seal,
}

impl Flow {
    /// Seals and sends the first part of `bytes`.
    #[inline]
    fn push(
        &mut self,
        bytes: &[u8],
        mut send: impl FnMut(&TcpStream, &[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let taken = self.seal.seal(bytes)?;
        self.seal.flush(|parts| send(&self.stream, parts))?;
        Ok(taken)
    }

    /// Fills the first part of `bytes`; 0 where nothing whole has come.
    #[inline]
    fn pull(
        &mut self,
        bytes: &mut [u8],
        mut receive: impl FnMut(&TcpStream, &mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<usize> {
        if let Some(came) = self.seal.opened(bytes)? {
            return Ok(came);
        }
        if self.seal.take_in(|room| receive(&self.stream, room))? {
            self.seal.open()?;
        }
        Ok(0)
    }
}

impl Session for Sealed {
    fn granted(&self) -> Vec<Granted> {
        let Some(flow) = self.flows.first() else { return Vec::new() };
        let mut all = flow.stream.granted(&self.spec);
        all.extend(flow.seal.cipher().map(|cipher| granted(&self.spec, CIPHER, cipher)));
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
