//! QUIC (RFC 9000) by `quinn-proto`: a UDP socket, a connection and one stream a flow, driven in its own thread.
//!
//! The ends meet over a TCP stream beside it, as with UDP, where the secret is presented; only then does a
//! packet go out, to that peer alone. Nobody drives a connection between trials. So a trial ends when both
//! ends have told each other so on that stream, and nothing is under way any more: what an acknowledgement
//! said after a pause would be taken for a long round trip.

mod config;
mod link;
mod machine;

use super::certificate::{CIPHER, Identity, cipher_asked_for};
use crate::pattern::{Measured, Part};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::meeting::Meeting;
use crate::transport::fault::shim::Faults;
use crate::transport::socket::datagram;
use crate::transport::socket::unix::granted_buffers;
use crate::transport::{Offer, Pending, Session, Spec, Task, Transport, by_task, granted};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use link::{ExclusiveFlow, Flow, Shared};
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// The transport.
pub const QUIC: Quic = Quic;

/// What the socket is asked to hold of what came while nobody reads.
const RECEIVE_BUFFER: usize = 8 << 20;

/// How long an end of a trial waits for the last timers of the protocol.
const QUIET: Duration = Duration::from_millis(50);

/// How often the flows are driven while a trial ends.
const LOOK: Duration = Duration::from_micros(50);

/// The transport's type.
pub struct Quic;

impl Transport for Quic {
    fn name(&self) -> &'static str {
        "quic"
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        let identity = if spec.passive { Some(Identity::new()?) } else { None };
        // What is set is meant for the packets.
        let beside = Spec { settings: Vec::new(), ..spec.clone() };
        let (meeting, offer) = Meeting::<TcpStream>::offer(&beside)?;
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
        let fingerprint = if self.identity.is_none() { Some(other.certificate()?) } else { None };
        let flows = self.meeting.meet(other)?.into_iter().map(|beside| {
            let port = datagram::connect::<UdpSocket>(&self.spec, &beside)?;
            if self.spec.value("socket.receive-buffer").is_none() {
                socket::raise_receive_buffer(&port, RECEIVE_BUFFER);
            }
            let mut flow = Flow::new(port, beside, &self.spec, self.identity.as_ref(), fingerprint)?;
            flow.shake_hands(self.spec.passive).map_err(|e| refused(&e))?;
            Ok(flow)
        });
        let flows = flows.collect::<Result<_>>()?;
        Ok(Box::new(Connected { spec: self.spec, flows }))
    }
}

fn refused(error: &io::Error) -> Error {
    let what = match error.kind() {
        io::ErrorKind::TimedOut => "did not shake hands in time".into(),
        io::ErrorKind::UnexpectedEof => "went away in mid-handshake".into(),
        _ => format!("QUIC handshake: {error}"),
    };
    Error::peer("the other end", what, "are both ends of this session?")
}

/// An open session.
struct Connected {
    spec: Spec,
    flows: Vec<Flow>,
}

impl Session for Connected {
    fn granted(&self) -> Vec<Granted> {
        let Some(flow) = self.flows.first() else { return Vec::new() };
        let mut all = granted_buffers(&flow.port, &self.spec);
        // It was the only one that either end offered.
        all.push(granted(&self.spec, CIPHER, cipher_asked_for(&self.spec)));
        all.extend(Faults::from_spec(&self.spec).granted(&self.spec));
        all
    }

    fn endpoints(&self) -> Vec<String> {
        let both =
            |flow: &Flow| Some(format!("{} {}", flow.port.local_addr().ok()?, flow.port.peer_addr().ok()?));
        self.flows.iter().filter_map(both).collect()
    }

    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.flows.iter().map(|flow| flow.beside.as_fd()).collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        if self.flows.is_empty() {
            return Err(Error::peer("this session", "was closed by an earlier error", ""));
        }
        let (count, faults) = (self.flows.len(), Faults::from_spec(&self.spec));
        let played = match (tasks, wait) {
            ([task], Wait::Polling) => faults.play(parts_alone::<true>(&mut self.flows, task), wait, blocks),
            ([task], Wait::Sleeping) => {
                faults.play(parts_alone::<false>(&mut self.flows, task), wait, blocks)
            }
            (_, Wait::Polling) => faults.play(parts_in_turns::<true>(&self.flows, tasks), wait, blocks),
            (_, Wait::Sleeping) => faults.play(parts_in_turns::<false>(&self.flows, tasks), wait, blocks),
        };
        let patience = self.spec.patience();
        let played = played.and_then(|played| self.wait_for_rest(patience).map(|()| played));
        if played.is_err() {
            // The other end may sleep until it hears of it.
            self.flows.clear();
        }
        Ok(by_task(played?, count))
    }
}

/// A thread for each connection.
fn parts_alone<'s, const POLLS: bool>(
    flows: &'s mut [Flow],
    task: &Task,
) -> Vec<Part<ExclusiveFlow<'s, POLLS>>> {
    let flows = flows.iter_mut().enumerate();
    flows
        .map(|(at, flow)| Part { link: ExclusiveFlow::new(flow), does: task.does, cpu: task.cpu(at) })
        .collect()
}

/// A thread for each task of each connection, which take turns.
fn parts_in_turns<'s, const POLLS: bool>(flows: &'s [Flow], tasks: &[Task]) -> Vec<Part<Shared<'s, POLLS>>> {
    let part = |task: &Task, (at, flow)| Part { link: Shared(flow), does: task.does, cpu: task.cpu(at) };
    tasks.iter().flat_map(|task| flows.iter().enumerate().map(move |flow| part(task, flow))).collect()
}

impl Connected {
    /// Goes on until the other end has done its part as well, and then until nothing is under way.
    fn wait_for_rest(&mut self, patience: Duration) -> Result<()> {
        let gone = |e: io::Error| Error::peer("the other end", format!("QUIC: {e}"), "");
        self.flows.iter_mut().try_for_each(Flow::tell_done).map_err(gone)?;
        let begun = Instant::now();
        let mut heard_at = None;
        loop {
            let mut heard = true;
            let mut quiet = true;
            for flow in &mut self.flows {
                let (has_heard, is_quiet) = flow.drive_to_rest().map_err(gone)?;
                (heard, quiet) = (heard && has_heard, quiet && is_quiet);
            }
            let since = heard.then(|| *heard_at.get_or_insert_with(Instant::now));
            match since {
                Some(at) if quiet || at.elapsed() > QUIET => break,
                None if begun.elapsed() > patience => {
                    return Err(gone(io::ErrorKind::TimedOut.into()));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
        self.flows.iter_mut().for_each(Flow::begin);
        Ok(())
    }
}
