//! Unix datagram sockets: each message is kept whole and none is lost, a full receiver holds the sender.

use super::datagram::{Datagrams, Ports};
use super::unix::{abstract_name, granted_buffers, set_buffers};
use crate::Result;
use crate::record::Granted;
use crate::transport::connection::channel::Channel;
use crate::transport::connection::engine::Connected;
use crate::transport::{Session, Spec};
use linerate_sys::{local, socket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixDatagram, UnixStream};

/// The transport.
pub const UNIX_DATAGRAM: Ports<UnixDatagram> = Ports::new();

impl Datagrams for UnixDatagram {
    const NAME: &'static str = "unix-datagram";
    type Beside = UnixStream;

    fn bind(spec: &Spec, _beside: &UnixStream) -> Result<(UnixDatagram, String)> {
        let name = abstract_name();
        let port = local::bind_datagrams(&name)?;
        set_buffers(&port, spec);
        socket::limit_waits(&port, spec.patience())?;
        Ok((port, name))
    }

    fn connect(&self, _spec: &Spec, _beside: &UnixStream, [_, name]: [&str; 2]) -> Result<()> {
        Ok(local::connect_datagrams(self, name)?)
    }

    fn session(spec: Spec, flows: Vec<(UnixDatagram, UnixStream)>) -> Result<Box<dyn Session>> {
        let flows = flows.into_iter().map(|(port, beside)| Port { port, _beside: beside });
        Connected::session(spec, flows.collect())
    }
}

/// A connected port.
struct Port {
    port: UnixDatagram,
    _beside: UnixStream,
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

impl Channel for Port {
    // A datagram socket has no end of stream.
    const HANGS_UP: bool = false;

    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        granted_buffers(self, spec)
    }

    fn endpoints(&self) -> Option<String> {
        None
    }
}
