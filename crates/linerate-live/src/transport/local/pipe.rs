//! Two pipes between two processes of one host, one each way.
//!
//! The passive end makes both and offers its process and descriptors; only a process of the same user
//! can open them. Each end then says one byte, after which neither holds an end that is the other's.

use crate::record::Granted;
use crate::transport::connection::channel::Channel;
use crate::transport::connection::channel::send_all;
use crate::transport::connection::engine::Connected;
use crate::transport::{Offer, Pending, Session, Spec, Transport, granted};
use crate::unit::Bytes;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::pipe::{NewPipes, Pipes};
use linerate_sys::socket::wait_readable;
use std::io;

/// The transport.
pub struct Pipe;

impl Transport for Pipe {
    fn name(&self) -> &'static str {
        "pipe"
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if spec.flows != 1 {
            return Err(Error::usage(format!("{} flows of pipes", spec.flows), "a pipe takes one flow"));
        }
        if !spec.passive {
            return Ok((Box::new(End { spec: spec.clone(), new: None }), Offer::Nothing));
        }
        let new = NewPipes::create(spec.parsed::<Bytes>("pipe.capacity").map(|bytes| bytes.0 as usize))?;
        let (process, read, write) = new.place();
        Ok((Box::new(End { spec: spec.clone(), new: Some(new) }), Offer::Pipes { process, read, write }))
    }
}

struct End {
    spec: Spec,
    new: Option<NewPipes>,
}

impl Pending for End {
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let fail = |e| Error::io("meet over", "pipe", e);
        let pipes = match (self.new, other) {
            (Some(new), _) => {
                await_byte(new.own(), &self.spec)?;
                let pipes = new.keep();
                send_all(&pipes, &[0]).map_err(fail)?;
                pipes
            }
            (None, Offer::Pipes { process, read, write }) => {
                let pipes = Pipes::open(*process, *read, *write)?;
                send_all(&pipes, &[0]).map_err(fail)?;
                await_byte(&pipes, &self.spec)?;
                pipes
            }
            (None, _) => return Err(Error::peer("the other end", "offered no pipe", "")),
        };
        Connected::session(self.spec, vec![pipes])
    }
}

/// Waits for the other end's byte, for no longer than anything may take.
fn await_byte(pipes: &Pipes, spec: &Spec) -> Result<()> {
    wait_readable(pipes, spec.patience())?;
    pipes.set_waiting(false)?;
    let silent = |_| Error::peer("the other end", "did not open its pipes in time", "");
    match pipes.receive(&mut [0]).map_err(silent)? {
        Some(1) => Ok(pipes.set_waiting(true)?),
        _ => Err(silent(io::ErrorKind::TimedOut.into())),
    }
}

impl Channel for Pipes {
    /// Pipes have no flag that is given with each call.
    const AT_ONCE: bool = false;

    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        self.capacity().map_or(Vec::new(), |bytes| vec![granted(spec, "pipe.capacity", bytes)])
    }

    fn endpoints(&self) -> Option<String> {
        None
    }

    fn prepare(&self, _spec: &Spec, wait: Wait) -> Result<()> {
        Ok(self.set_waiting(wait == Wait::Sleeping)?)
    }

    #[inline]
    fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    #[inline]
    fn receive_now(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.receive(bytes)
    }

    #[inline]
    fn send_waiting(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    #[inline]
    fn receive_waiting(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.receive(bytes)
    }
}
