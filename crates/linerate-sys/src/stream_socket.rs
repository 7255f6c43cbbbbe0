//! Stream sockets of families that the standard library does not know: vsock(7), SCTP, SMC.

use crate::{Error, Result};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// `AF_SMC` of linux/socket.h, and its protocols for either IP version (linux/smc.h).
const AF_SMC: i32 = 43;
const SMC: [i32; 2] = [0, 1];

/// What a port's number is where the kernel is to choose it (`VMADDR_PORT_ANY`).
const ANY_PORT: u32 = u32::MAX;

/// The machine's own context (`VMADDR_CID_LOCAL`).
pub const LOCAL_CONTEXT: u32 = 1;

/// A kind of stream socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// AF_VSOCK.
    Vsock,
    /// IPPROTO_SCTP, in the style of one socket a connection (RFC 6458, section 4).
    Sctp,
    /// AF_SMC (RFC 7609).
    Smc,
}

/// Where such a socket listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A context and a port.
    Vsock(u32, u32),
    /// An IP address and a port.
    Internet(SocketAddr),
}

impl Place {
    fn address(self) -> SockAddr {
        match self {
            Place::Vsock(context, port) => SockAddr::vsock(context, port),
            Place::Internet(address) => address.into(),
        }
    }

    fn from_address(address: &SockAddr) -> Option<Place> {
        let vsock = address.as_vsock_address().map(|(context, port)| Place::Vsock(context, port));
        vsock.or_else(|| address.as_socket().map(Place::Internet))
    }
}

/// A connection.
#[derive(Debug)]
pub struct StreamSocket(Socket);

/// What accepts connections, without waiting.
#[derive(Debug)]
pub struct Listener(Socket);

impl Kind {
    /// Whether this kernel gives out such a socket, and an address to it where that takes a module more.
    pub fn probe(self) -> Result<()> {
        let socket = self.socket(false)?;
        match self {
            Kind::Vsock => {
                let own = Place::Vsock(LOCAL_CONTEXT, ANY_PORT).address();
                socket.bind(&own).map_err(|e| Error::new("bind(VMADDR_CID_LOCAL)", "Vsock", e))
            }
            Kind::Sctp | Kind::Smc => Ok(()),
        }
    }

    fn socket(self, v6: bool) -> Result<Socket> {
        let internet = if v6 { Domain::IPV6 } else { Domain::IPV4 };
        let (domain, protocol, call) = match self {
            Kind::Vsock => (Domain::VSOCK, None, "socket(AF_VSOCK)"),
            Kind::Sctp => (internet, Some(Protocol::SCTP), "socket(IPPROTO_SCTP)"),
            Kind::Smc => (Domain::from(AF_SMC), Some(Protocol::from(SMC[usize::from(v6)])), "socket(AF_SMC)"),
        };
        Socket::new(domain, Type::STREAM, protocol).map_err(|e| Error::new(call, format!("{self:?}"), e))
    }

    fn at(self, place: Place) -> Result<Socket> {
        self.socket(matches!(place, Place::Internet(address) if address.is_ipv6()))
    }

    /// Listens on a port of the kernel's choice: of this machine's own context, or at the address.
    pub fn listen(self, address: SocketAddr, backlog: i32) -> Result<(Listener, Place)> {
        let place = match self {
            Kind::Vsock => Place::Vsock(LOCAL_CONTEXT, ANY_PORT),
            Kind::Sctp | Kind::Smc => Place::Internet(address),
        };
        let object = || format!("{place:?}");
        let socket = self.at(place)?;
        socket.bind(&place.address()).map_err(|e| Error::new("bind", object(), e))?;
        socket.listen(backlog).map_err(|e| Error::new("listen", object(), e))?;
        socket.set_nonblocking(true).map_err(|e| Error::new("fcntl", object(), e))?;
        let bound = socket.local_addr().map_err(|e| Error::new("getsockname", object(), e))?;
        let bound = Place::from_address(&bound).unwrap_or(place);
        Ok((Listener(socket), bound))
    }

    /// Connects.
    pub fn connect(self, place: Place, limit: Duration) -> Result<StreamSocket> {
        let socket = self.at(place)?;
        // connect(2) waits no longer than a write may.
        let limited = socket.set_write_timeout(Some(limit));
        limited.map_err(|e| Error::new("setsockopt(SO_SNDTIMEO)", format!("{place:?}"), e))?;
        socket.connect(&place.address()).map_err(|e| Error::new("connect", format!("{place:?}"), e))?;
        Ok(StreamSocket(socket))
    }
}

impl Listener {
    /// Accepts a connection, if one is there.
    pub fn accept(&self) -> io::Result<StreamSocket> {
        let (socket, _) = self.0.accept()?;
        socket.set_nonblocking(false)?;
        Ok(StreamSocket(socket))
    }
}

impl AsFd for StreamSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_the_kernel_lacks_says_so() {
        for kind in [Kind::Vsock, Kind::Sctp, Kind::Smc] {
            match kind.probe() {
                Err(error) => assert!(error.call.ends_with(')'), "{error}"),
                Ok(()) => {
                    let (_listener, place) = kind.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
                    assert_ne!(place, Place::Vsock(LOCAL_CONTEXT, ANY_PORT));
                }
            }
        }
    }

    #[test]
    fn a_place_comes_back_from_the_kernels_form() {
        for place in [Place::Vsock(1, 99), Place::Internet("[::1]:7".parse().unwrap())] {
            assert_eq!(Place::from_address(&place.address()), Some(place));
        }
    }
}
