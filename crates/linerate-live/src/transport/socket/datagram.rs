//! Datagram sockets: each has a stream socket beside it, over which the ends meet and present the secret.
//!
//! Each end binds a port, tells it over its stream, and connects to what it was told: from then on the
//! kernel passes datagrams of that peer only. What came before is thrown away. No datagram goes to
//! anyone who has not presented the secret.

use crate::record::UnavailableTransport;
use crate::transport::connection::channel::{receive_all, send_all};
use crate::transport::connection::family::Family;
use crate::transport::connection::meeting::Meeting;
use crate::transport::{Offer, Pending, Session, Spec, Transport};
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};

/// Room for what an end tells of its port.
const NAME_LEN: usize = 64;

/// A kind of datagram socket.
pub trait Datagrams: AsFd + Send + Sized + 'static {
    /// The name of its transport.
    const NAME: &'static str;
    /// The stream beside it.
    type Beside: Family;
    /// Why this host does not have it; none where it does.
    fn lacks() -> Option<UnavailableTransport> {
        None
    }
    /// Binds a port; the name is what the other end needs besides the stream's addresses.
    fn bind(spec: &Spec, beside: &Self::Beside) -> Result<(Self, String)>;
    /// Takes datagrams from this port only, and sends to it only. It is given both names, this end's own first; what it
    /// sends for that is thrown away before the ends go on.
    fn connect(&self, spec: &Spec, beside: &Self::Beside, names: [&str; 2]) -> Result<()>;
    /// A session over connected ports.
    fn session(spec: Spec, flows: Vec<(Self, Self::Beside)>) -> Result<Box<dyn Session>>;
}

/// The transport of one kind.
pub struct Ports<D>(PhantomData<fn() -> D>);

impl<D> Ports<D> {
    /// The transport.
    pub const fn new() -> Ports<D> {
        Ports(PhantomData)
    }
}

impl<D: Datagrams> Transport for Ports<D> {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        D::lacks()
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if let Some(lack) = D::lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        // What is set is meant for the datagrams.
        let beside = Spec { settings: Vec::new(), ..spec.clone() };
        let (meeting, offer) = Meeting::<D::Beside>::offer(&beside)?;
        Ok((Box::new(Binding::<D> { spec: spec.clone(), meeting }), offer))
    }
}

struct Binding<D: Datagrams> {
    spec: Spec,
    meeting: Meeting<D::Beside>,
}

impl<D: Datagrams> Pending for Binding<D> {
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.meeting.waits_on()
    }

    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let streams = self.meeting.meet(other)?;
        let connected = streams.into_iter().map(|beside| Ok((connect::<D>(&self.spec, &beside)?, beside)));
        let flows = connected.collect::<Result<_>>()?;
        D::session(self.spec, flows)
    }
}

/// Binds and connects one port.
pub fn connect<D: Datagrams>(spec: &Spec, beside: &D::Beside) -> Result<D> {
    socket::limit_waits(beside, spec.patience())?;
    let fail = |e: io::Error| match e.kind() {
        // It knows why.
        io::ErrorKind::UnexpectedEof => Error::hung_up("the other end", "went away before the ports had met"),
        _ => Error::peer("the other end", format!("told no port: {e}"), ""),
    };
    let (port, name) = D::bind(spec, beside)?;
    let mut told = [b' '; NAME_LEN];
    told[..name.len()].copy_from_slice(name.as_bytes());
    send_all(beside, &told).map_err(fail)?;
    receive_all(beside, &mut told).map_err(fail)?;
    let garbled = || Error::peer("the other end", "told no port", "");
    port.connect(spec, beside, [&name, std::str::from_utf8(&told).map_err(|_| garbled())?.trim_end()])?;
    socket::limit_waits(beside, spec.patience())?;
    let meet = || send_all(beside, &[0]).and_then(|()| receive_all(beside, &mut [0])).map_err(fail);
    meet()?;
    let drained = |e| Error::io("recv", "datagram socket", e);
    while socket::receive_now(&port, &mut [0]).map_err(drained)?.is_some() {}
    // Nothing is sent before both ends have thrown away what came.
    meet()?;
    Ok(port)
}
