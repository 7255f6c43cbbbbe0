//! How two ends meet over stream sockets, whatever family these are of.
//!
//! The passive end listens at a place of the kernel's or of chance's choice before the active one
//! connects. Every connection presents the session's secret and its flow's number first; one that does
//! not is closed and nothing is sent to it.

use super::channel::{Channel, receive_all, send_all};
use super::engine::Connected;
use super::factory::{Acceptor, ConnectionFactory, Connector};
use super::family::{Family, GREETING_LEN, SECRET_LEN, STRANGER};
use crate::record::UnavailableTransport;
use crate::transport::{Address, Offer, Pending, Session, Spec, Transport};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// The most parallel connections of one session.
const MOST_FLOWS: u32 = 1000;

/// Descriptors that a flow may need, with its observers and its engine, and those that a process has anyway.
const DESCRIPTORS: u64 = 6;
const OTHERS: u64 = 128;

/// Connections that may be silent beside those of the flows.
const STRANGERS: usize = 64;

/// How much longer than the end that connects the other one waits, and how often it looks after those that are silent.
const GRACE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// The transport of one family.
pub struct Streams<F>(PhantomData<fn() -> F>);

impl<F> Streams<F> {
    /// The transport.
    pub const fn new() -> Streams<F> {
        Streams(PhantomData)
    }
}

impl<F: Family> Transport for Streams<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        F::lacks()
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        let (meeting, offer) = Meeting::<F>::offer(spec)?;
        Ok((Box::new(meeting), offer))
    }
}

/// An end that is about to meet the other one.
pub struct Meeting<F: Family> {
    spec: Spec,
    passive: Option<(F::Listener, String)>,
}

impl<F: Family> Pending for Meeting<F> {
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.passive.iter().map(|(listener, _)| listener.as_fd()).collect()
    }

    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let flows = self.meet(other)?;
        let factory: Box<dyn ConnectionFactory<F>> = match (self.passive, other) {
            // A port that was asked for is free again for the next session.
            (Some(_), _) if self.spec.ports.is_some() && !self.spec.calls => {
                return Connected::session(self.spec, flows);
            }
            (Some((listener, secret)), _) => Box::new(Acceptor::<F> { listener, secret }),
            (None, Offer::Socket { address, secret, .. }) => {
                let address = self.spec.reached(address)?;
                let (spec, secret) = (self.spec.clone(), secret.clone());
                Box::new(Connector { spec, address, secret })
            }
            (None, _) => return Connected::session(self.spec, flows),
        };
        Connected::with_factory(self.spec, flows, factory)
    }
}

impl<F: Family> Meeting<F> {
    /// Prepares this end.
    pub fn offer(spec: &Spec) -> Result<(Meeting<F>, Offer)> {
        if spec.flows == 0 || spec.flows > MOST_FLOWS {
            return Err(Error::usage(format!("{} flows", spec.flows), format!("1 to {MOST_FLOWS} flows")));
        }
        has_descriptors(spec.flows)?;
        if let Some(lack) = F::lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if !spec.passive {
            return Ok((Meeting { spec: spec.clone(), passive: None }, Offer::Nothing));
        }
        let (listener, address) = F::listen(spec)?;
        let secret = format!("{:032x}", rand::random::<u128>());
        let offer = Offer::Socket { address, secret: secret.clone(), certificate: None };
        Ok((Meeting { spec: spec.clone(), passive: Some((listener, secret)) }, offer))
    }

    /// Meets the other end: a connection a flow, in the flows' order.
    pub fn meet(&self, other: &Offer) -> Result<Vec<F>> {
        match (&self.passive, other) {
            (Some((listener, secret)), _) => self.await_flows(listener, secret),
            (None, Offer::Socket { address, secret, .. }) => {
                let address = self.spec.reached(address)?;
                let at = |flow| self.greet(&self.spec.place_of(flow, &address), secret, flow);
                (0..self.spec.flows).map(at).collect()
            }
            (None, _) => Err(Error::peer("the other end", "offered no socket", "")),
        }
    }

    fn greet(&self, address: &Address, secret: &str, flow: u32) -> Result<F> {
        let stream = F::connect(&self.spec, address, flow)?;
        stream.prepare(&self.spec, Wait::Sleeping)?;
        let greeting = format!("{secret}{flow:08x}");
        send_all(&stream, greeting.as_bytes()).map_err(|e| Error::io("write", format!("{address}"), e))?;
        Ok(stream)
    }

    /// Accepts until every flow is there. Who says nothing keeps nobody waiting.
    fn await_flows(&self, listener: &F::Listener, secret: &str) -> Result<Vec<F>> {
        let mut flows: Vec<Option<F>> = (0..self.spec.flows).map(|_| None).collect();
        let mut greeters: Vec<Greeter<F>> = Vec::new();
        // The end that connects is given its time: it can tell what holds it up.
        let deadline = Instant::now() + self.spec.patience() + GRACE;
        while flows.iter().any(Option::is_none) {
            if Instant::now() > deadline {
                return Err(Error::hung_up("the other end", "did not connect in time"));
            }
            let mut waits = true;
            for _ in 0..STRANGERS {
                let Some(stream) = accept::<F>(listener)? else { break };
                if greeters.len() >= flows.len() + STRANGERS {
                    greeters.remove(0);
                }
                greeters.push(Greeter::new(stream));
                waits = false;
            }
            for mut greeter in std::mem::take(&mut greeters) {
                match greeter.hear(secret) {
                    Heard::Nothing if greeter.came.elapsed() < STRANGER => greeters.push(greeter),
                    Heard::Flow(flow) => {
                        if let Some(slot @ None) = flows.get_mut(flow) {
                            *slot = Some(greeter.stream);
                        }
                        waits = false;
                    }
                    Heard::Nothing | Heard::Stranger => {}
                }
            }
            if waits {
                let waiting = greeters.iter().map(|greeter| greeter.stream.as_fd());
                socket::wait_any_readable(std::iter::once(listener.as_fd()).chain(waiting), LOOK)?;
            }
        }
        Ok(flows.into_iter().flatten().collect())
    }
}

/// A connection that has not presented all of its greeting yet.
struct Greeter<F> {
    stream: F,
    came: Instant,
    greeting: [u8; GREETING_LEN],
    filled: usize,
}

/// What a connection has presented.
enum Heard {
    /// Not all yet.
    Nothing,
    /// The secret, and the number of a flow.
    Flow(usize),
    /// What is none of ours.
    Stranger,
}

impl<F: Family> Greeter<F> {
    fn new(stream: F) -> Greeter<F> {
        Greeter { stream, came: Instant::now(), greeting: [0; GREETING_LEN], filled: 0 }
    }

    fn hear(&mut self, secret: &str) -> Heard {
        match self.stream.receive_now(&mut self.greeting[self.filled..]) {
            Ok(None) => Heard::Nothing,
            Ok(Some(came @ 1..)) => {
                self.filled += came;
                match self.filled < GREETING_LEN {
                    true => Heard::Nothing,
                    false => presented(&self.greeting, secret).map_or(Heard::Stranger, Heard::Flow),
                }
            }
            Ok(Some(0)) | Err(_) => Heard::Stranger,
        }
    }
}

/// A process may have 1024 descriptors as a rule, and more where it asks.
fn has_descriptors(flows: u32) -> Result<()> {
    let wanted = OTHERS + DESCRIPTORS * u64::from(flows);
    let had = linerate_sys::limit::allow_descriptors(wanted);
    if had >= wanted {
        return Ok(());
    }
    let connections =
        if flows == 1 { "a connection needs".into() } else { format!("{flows} connections need") };
    let what =
        format!("{connections} {wanted} open files in this process; the limit is {had}, set by `ulimit -Hn`");
    let hint = format!(
        "raise the hard limit: ulimit -Hn {wanted}, or limits.conf(5), or LimitNOFILE= of the service's unit"
    );
    Err(Error::Limit { what, hint })
}

/// A connection, if one is there.
fn accept<F: Family>(listener: &F::Listener) -> Result<Option<F>> {
    match F::accept(listener) {
        Ok(stream) => Ok(Some(stream)),
        // Who went away meanwhile is nobody.
        Err(error)
            if [io::ErrorKind::WouldBlock, io::ErrorKind::ConnectionAborted].contains(&error.kind()) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::io("accept", "listener", error)),
    }
}

/// The flow's number, when the connection presented the secret in time.
pub fn greeted(stream: &impl Channel, secret: &str) -> Option<usize> {
    let mut greeting = [0; GREETING_LEN];
    socket::limit_waits(stream, STRANGER).ok()?;
    receive_all(stream, &mut greeting).ok()?;
    presented(&greeting, secret)
}

/// The flow's number in a greeting with this secret.
fn presented(greeting: &[u8; GREETING_LEN], secret: &str) -> Option<usize> {
    let (presented, flow) = greeting.split_at(SECRET_LEN);
    let flow = std::str::from_utf8(flow).ok()?;
    (presented == secret.as_bytes()).then(|| usize::from_str_radix(flow, 16).ok()).flatten()
}
