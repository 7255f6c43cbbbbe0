//! One connection that keeps the order of what it carries, and what is sent and received whole over it.

use crate::Result;
use crate::pattern::Drive;
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::Spec;
use crate::vocabulary::{Does, Wait};
use linerate_sys::socket;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;

/// One connection that keeps the order of what it carries. It is a socket unless it says otherwise.
pub trait Channel: AsFd + Send + Sync {
    /// The knobs as read back.
    fn granted(&self, spec: &Spec) -> Vec<Granted>;

    /// Both addresses.
    fn endpoints(&self) -> Option<String>;

    /// Whether what is sent and received at once does not wait, however the ends wait.
    const AT_ONCE: bool = true;

    /// Whether the other end hears of it when this one hangs up.
    const HANGS_UP: bool = true;

    /// The socket, for observers.
    fn tcp(&self) -> Option<&TcpStream> {
        None
    }

    /// The processes that carry it, beside this one.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Readies it for a trial.
    fn prepare(&self, spec: &Spec, _wait: Wait) -> Result<()> {
        Ok(socket::limit_waits(&self.as_fd(), spec.patience())?)
    }

    /// Whether an engine is asked for that is not the usual one.
    fn is_driven(&self, _spec: &Spec) -> bool {
        false
    }

    /// The link of another engine, where one is asked for.
    fn drive(
        &self,
        _spec: &Spec,
        _does: Does,
        _wait: Wait,
        _blocks: &[Block],
    ) -> Result<Option<Box<dyn Drive>>> {
        Ok(None)
    }

    /// Sends what can be sent at once.
    #[inline]
    fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        socket::send_now(&self.as_fd(), bytes)
    }

    /// Receives what is there; none when there is nothing now, `Some(0)` at the end.
    #[inline]
    fn receive_now(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        socket::receive_now(&self.as_fd(), bytes)
    }

    /// Sends, waiting in the kernel until something went; 0 after an interruption.
    #[inline]
    fn send_waiting(&self, bytes: &[u8]) -> io::Result<usize> {
        socket::send_waiting(&self.as_fd(), bytes)
    }

    /// Receives, waiting in the kernel until something is there; none after an interruption.
    #[inline]
    fn receive_waiting(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        socket::receive_waiting(&self.as_fd(), bytes)
    }
}

/// Sends all of `bytes`.
pub fn send_all(channel: &impl Channel, bytes: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        sent += channel.send_waiting(&bytes[sent..])?;
    }
    Ok(())
}

/// Fills all of `bytes`.
pub fn receive_all(channel: &impl Channel, bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        filled += match channel.receive_waiting(&mut bytes[filled..])? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            came => came.unwrap_or(0),
        };
    }
    Ok(())
}
