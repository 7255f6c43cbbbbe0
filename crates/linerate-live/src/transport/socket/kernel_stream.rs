//! Stream sockets of families beside TCP's and Unix's: what they share. Each family's own file says which.

use super::tcp::{backlog, unreached};
use super::unix::{granted_buffers, set_buffers};
use crate::record::{Granted, UnavailableTransport};
use crate::transport::connection::channel::Channel;
use crate::transport::connection::family::Family;
use crate::transport::connection::place::Protocol;
use crate::transport::{Address, Spec};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use linerate_sys::stream_socket::{Kind, Listener, Place, StreamSocket};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};

/// What the kernel did not give out; the error says by which call.
pub fn lack(transport: &str, what: &str, error: &linerate_sys::Error, hint: &str) -> UnavailableTransport {
    let why = format!("unavailable: this kernel gives no {what}: {}: {}", error.call, error.source);
    UnavailableTransport { transport: transport.into(), why, hint: hint.into() }
}

/// One such family.
pub trait Foreign: Send + Sync + 'static {
    /// The name of its transport.
    const NAME: &'static str;
    /// Its kind of socket.
    const KIND: Kind;
    /// Whose ports it has, if it has any.
    const PORTS: Protocol = Protocol::Tcp;
    /// What the kernel is said to lack.
    const WHAT: &'static str;
    /// What to try where it is not there.
    const HINT: &'static str;
    /// The most bytes of one write.
    const AT_ONCE: usize;
}

/// A connection of the family.
#[derive(Debug)]
pub struct Stream<F> {
    socket: StreamSocket,
    family: PhantomData<fn() -> F>,
}

impl<F> Stream<F> {
    fn new(socket: StreamSocket) -> Self {
        Stream { socket, family: PhantomData }
    }
}

impl<F: Foreign> Family for Stream<F> {
    const NAME: &'static str = F::NAME;
    type Listener = Listener;

    fn lacks() -> Option<UnavailableTransport> {
        Some(lack(F::NAME, F::WHAT, &F::KIND.probe().err()?, F::HINT))
    }

    fn listen(spec: &Spec) -> Result<(Listener, Address)> {
        let listen = |place| F::KIND.listen(place, backlog(spec));
        let (listener, place) = match F::KIND {
            Kind::Vsock => listen(spec.own_place()?)?,
            Kind::Sctp | Kind::Smc => spec.bind(F::PORTS, listen)?,
        };
        let address = match place {
            Place::Vsock(context, port) => Address::Context(context, port),
            Place::Internet(address) => spec.announced(address),
        };
        Ok((listener, address))
    }

    fn accept(listener: &Listener) -> io::Result<Self> {
        listener.accept().map(Stream::new)
    }

    fn connect(spec: &Spec, address: &Address, _flow: u32) -> Result<Self> {
        let other = || Error::peer("the other end", format!("offered {address} for {}", F::NAME), "");
        let place = match (F::KIND, address) {
            (Kind::Vsock, Address::Context(context, port)) => Place::Vsock(*context, *port),
            (Kind::Sctp | Kind::Smc, Address::Internet(address)) => Place::Internet(*address),
            _ => return Err(other()),
        };
        let connected = F::KIND.connect(place, spec.patience());
        connected.map(Stream::new).map_err(|error| unreached(spec, address, F::PORTS, error))
    }
}

impl<F> AsFd for Stream<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl<F: Foreign> Channel for Stream<F> {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        granted_buffers(self, spec)
    }

    fn endpoints(&self) -> Option<String> {
        None
    }

    fn prepare(&self, spec: &Spec, _wait: Wait) -> Result<()> {
        set_buffers(self, spec);
        Ok(socket::limit_waits(self, spec.patience())?)
    }

    #[inline]
    fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        socket::send_now(self, &bytes[..bytes.len().min(F::AT_ONCE)])
    }

    #[inline]
    fn send_waiting(&self, bytes: &[u8]) -> io::Result<usize> {
        socket::send_waiting(self, &bytes[..bytes.len().min(F::AT_ONCE)])
    }
}
