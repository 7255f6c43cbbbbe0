//! Unix stream sockets at abstract addresses, which vanish with their last socket.

use crate::record::Granted;
use crate::transport::connection::channel::Channel;
use crate::transport::connection::family::Family;
use crate::transport::connection::meeting::Streams;
use crate::transport::{Address, Spec, granted};
use crate::unit::Bytes;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::{local, socket};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};

/// The transport.
pub const UNIX: Streams<UnixStream> = Streams::new();

impl Family for UnixStream {
    const NAME: &'static str = "unix";
    type Listener = UnixListener;

    fn listen(_spec: &Spec) -> Result<(UnixListener, Address)> {
        let name = abstract_name();
        Ok((local::listen(&name)?, Address::Abstract(name)))
    }

    fn accept(listener: &UnixListener) -> io::Result<UnixStream> {
        listener.accept().map(|(stream, _)| stream)
    }

    fn connect(_spec: &Spec, address: &Address, _flow: u32) -> Result<UnixStream> {
        match address {
            Address::Abstract(name) => Ok(local::connect(name)?),
            other => Err(Error::peer("the other end", format!("offered {other} for a Unix socket"), "")),
        }
    }
}

impl Channel for UnixStream {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        granted_buffers(self, spec)
    }

    fn endpoints(&self) -> Option<String> {
        None
    }

    /// Neither end's buffers follow from the listener's, so each end sets its own.
    fn prepare(&self, spec: &Spec, _wait: Wait) -> Result<()> {
        set_buffers(self, spec);
        Ok(socket::limit_waits(self, spec.patience())?)
    }
}

/// A name that nobody guesses.
pub fn abstract_name() -> String {
    format!("linerate-{:032x}", rand::random::<u128>())
}

/// Asks for the buffers that are set.
pub fn set_buffers(socket: &impl AsFd, spec: &Spec) {
    let bytes = |knob| spec.parsed::<Bytes>(knob).map(|bytes| bytes.0 as usize);
    socket::set_buffers(socket, bytes("socket.send-buffer"), bytes("socket.receive-buffer"));
}

/// The buffers as read back.
pub fn granted_buffers(socket: &impl AsFd, spec: &Spec) -> Vec<Granted> {
    let Ok((send, receive)) = socket::buffers(socket) else {
        return Vec::new();
    };
    vec![granted(spec, "socket.send-buffer", send), granted(spec, "socket.receive-buffer", receive)]
}
