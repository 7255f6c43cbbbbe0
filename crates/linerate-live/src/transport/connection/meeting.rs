//! How two ends meet over stream sockets, whatever family these are of.
//!
//! The passive end listens at a place of the kernel's or of chance's choice before the active one
//! connects. Every connection presents the session's secret and its flow's number first; one that does
//! not is closed and nothing is sent to it.

use super::channel::{Channel, receive_all, send_all};
use super::engine::Connected;
use super::factory::{Acceptor, ConnectionFactory, Connector};
use super::family::{Family, GREETING_LEN, SECRET_LEN, STRANGER};
use crate::record::Lack;
use crate::transport::{Address, Offer, Pending, Session, Spec, Transport};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::marker::PhantomData;
use std::time::Instant;

/// The most parallel connections of one session.
const MOST_FLOWS: u32 = 1000;

/// Descriptors that a flow may need, with its observers and its engine, and those that a process has anyway.
const DESCRIPTORS: u64 = 6;
const OTHERS: u64 = 128;

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

    fn lacks(&self) -> Option<Lack> {
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
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let flows = self.meet(other)?;
        let factory: Box<dyn ConnectionFactory<F>> = match (self.passive, other) {
            (Some((listener, secret)), _) => Box::new(Acceptor::<F> { listener, secret }),
            (None, Offer::Socket { address, secret, .. }) => {
                let (spec, address, secret) = (self.spec.clone(), address.clone(), secret.clone());
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
                (0..self.spec.flows).map(|flow| self.greet(address, secret, flow)).collect()
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

    fn await_flows(&self, listener: &F::Listener, secret: &str) -> Result<Vec<F>> {
        let mut flows: Vec<Option<F>> = (0..self.spec.flows).map(|_| None).collect();
        let deadline = Instant::now() + self.spec.patience();
        while flows.iter().any(Option::is_none) {
            if let Some(stream) = accept::<F>(listener, deadline)?
                && let Some(flow) = greeted(&stream, secret)
                && let Some(slot @ None) = flows.get_mut(flow)
            {
                *slot = Some(stream);
            }
        }
        Ok(flows.into_iter().flatten().collect())
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

fn accept<F: Family>(listener: &F::Listener, deadline: Instant) -> Result<Option<F>> {
    match F::accept(listener) {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let hint = "does a firewall stand between the hosts' test ports?";
                return Err(Error::peer("the other end", "did not connect in time", hint));
            }
            socket::wait_readable(listener, left)?;
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
    let (presented, flow) = greeting.split_at(SECRET_LEN);
    let flow = std::str::from_utf8(flow).ok()?;
    (presented == secret.as_bytes()).then(|| usize::from_str_radix(flow, 16).ok()).flatten()
}
