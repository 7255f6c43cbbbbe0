//! The engines of a TCP connection: how the bytes of each direction reach the kernel.
//!
//! A *half* drives one direction; a table chooses it once, before the loop. The engine of a direction drives data.
//! A stream needs the other direction for no more than the word to begin, which goes by `write` and `read`: so
//! a stream's loop is compiled for its one engine. An exchange needs both; of two that are not the usual ones each
//! message pays a call through a pointer, a nanosecond or two, for there are far too many pairs to compile.

mod low_water;
mod mapped;
mod pages;
mod plain;
mod ready;
mod ring;
mod source;
mod table;
#[cfg(test)]
mod tests;

use crate::pattern::{Drive, Kernel, Link, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::engine::bytes_or_closed;
use crate::transport::{Spec, granted};
use crate::vocabulary::{Content, Does, Wait};
use crate::{Error, Result};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// The knob of what sends.
pub const SEND: &str = "tcp.send-engine";
/// The knob of what receives.
pub const RECEIVE: &str = "tcp.receive-engine";

/// What a half is made of.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'s> {
    pub socket: &'s TcpStream,
    /// How long nothing may move.
    pub patience: Duration,
    pub largest: usize,
}

/// The direction out. With `WAITS`, as its type says, it waits in the kernel; without, it gives 0 where
/// nothing goes now.
pub trait Push: Send + Sized + 'static {
    /// Its name among the values of its knob.
    const NAME: &'static str;
    /// Whether it sends memory of its own in place of the message's.
    const OWNS_MEMORY: bool = false;
    /// Readies it, or says what is missing.
    fn open(setup: &Setup) -> Result<Self>;
    /// Sends the first part of `bytes`, or as many of its own; says how many went.
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Readies for a block, before its time begins.
    fn begin(&mut self, _block: &Block) -> Result<()> {
        Ok(())
    }
    /// Says what the kernel did for the block, after its time has ended.
    fn account(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
}

/// The direction in, likewise.
pub trait Pull: Send + Sized + 'static {
    /// Its name among the values of its knob.
    const NAME: &'static str;
    /// Readies it, or says what is missing.
    fn open(setup: &Setup) -> Result<Self>;
    /// Receives at most as many bytes as `bytes` holds, there or elsewhere; none when there is nothing now,
    /// `Some(0)` at the end.
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>>;
    /// Says what the kernel did for the block, after its time has ended.
    fn account(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
}

/// What the link needs of a half, whichever it is.
trait Out: Send {
    fn begin(&mut self, block: &Block) -> Result<()>;
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()>;
}

/// The same of the direction in.
trait In: Send {
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>>;
    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()>;
}

impl<S: Push> Out for S {
    fn begin(&mut self, block: &Block) -> Result<()> {
        Push::begin(self, block)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Push::push(self, bytes)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        Push::account(self, kernel)
    }
}

impl<R: Pull> In for R {
    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        Pull::pull(self, bytes)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        Pull::account(self, kernel)
    }
}

impl Out for Box<dyn Out> {
    fn begin(&mut self, block: &Block) -> Result<()> {
        (**self).begin(block)
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (**self).push(bytes)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        (**self).account(kernel)
    }
}

impl In for Box<dyn In> {
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        (**self).pull(bytes)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        (**self).account(kernel)
    }
}

/// Both directions.
struct Halves<S, R, const WAITS: bool> {
    send: S,
    receive: R,
    /// The connection, to be asked; none where this process can have no further descriptor.
    socket: Option<TcpStream>,
    patience: Duration,
}

impl<S: Out, R: In, const WAITS: bool> Link for Halves<S, R, WAITS> {
    fn begin(&mut self, block: &Block) -> io::Result<()> {
        self.send.begin(block).map_err(|error| io::Error::other(error.to_string()))
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.send.account(kernel)?;
        self.receive.account(kernel)
    }

    fn outstanding(&self) -> io::Result<u64> {
        let asked = self.socket.as_ref().map(linerate_sys::tcp_info::outstanding);
        asked.transpose().map(|bytes| bytes.unwrap_or(0)).map_err(|error| error.source)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if WAITS { self.send.push(bytes) } else { poll(self.patience, || self.send.push(bytes)) }
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if WAITS {
            bytes_or_closed(self.receive.pull(bytes)?)
        } else {
            poll(self.patience, || bytes_or_closed(self.receive.pull(bytes)?))
        }
    }
}

/// A maker of one half.
type Open<T> = fn(&Setup) -> Result<T>;

fn sender<S: Push>(setup: &Setup) -> Result<S> {
    S::open(setup).map_err(|error| engine_missing(SEND, S::NAME, error))
}

fn receiver<R: Pull>(setup: &Setup) -> Result<R> {
    R::open(setup).map_err(|error| engine_missing(RECEIVE, R::NAME, error))
}

fn boxed_halves<const WAITS: bool>(
    send: impl Out + 'static,
    receive: impl In + 'static,
    setup: &Setup,
) -> Box<dyn Drive> {
    let socket = setup.socket.try_clone().ok();
    Box::new(Halves::<_, _, WAITS> { send, receive, socket, patience: setup.patience })
}

/// Nothing else is used in its place.
pub(super) fn engine_missing(knob: &str, engine: &str, error: Error) -> Error {
    match &error {
        Error::System(it) if it.is_refusal() => {
            let what = format!("{knob}={engine} is not to be had here: {it}: {}", it.source);
            Error::unavailable(what, format!("leave {knob} out, or see `linerate explain {knob}`"))
        }
        _ => error,
    }
}

/// Whether this host has an engine of one of the two knobs: it is readied over a connection within the host.
pub fn probe(knob: &str, engine: &str) -> Result<()> {
    let fail = |call| move |e| Error::io(call, "a connection within the host", e);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fail("bind"))?;
    let address = listener.local_addr().map_err(fail("getsockname"))?;
    let socket = TcpStream::connect(address).map_err(fail("connect"))?;
    let _other = listener.accept().map_err(fail("accept"))?;
    let setup = Setup { socket: &socket, patience: Duration::from_secs(1), largest: 1 << 16 };
    match knob {
        SEND => (table::send(engine, Wait::Sleeping)?.half)(&setup).map(drop),
        _ => (table::receive(engine, Wait::Sleeping)?.half)(&setup).map(drop),
    }
}

/// The engines that were asked for.
fn engines_asked_for(spec: &Spec) -> (&str, &str) {
    let [send, receive] = table::defaults();
    (spec.value(SEND).unwrap_or(send), spec.value(RECEIVE).unwrap_or(receive))
}

/// Whether an engine is asked for that is not the usual one: it drives a thread a flow.
pub fn is_chosen(spec: &Spec) -> bool {
    let (send, receive) = engines_asked_for(spec);
    [send, receive] != table::defaults()
}

/// The link of the engines that were asked for; none where they are the usual ones.
pub fn drive(
    socket: &TcpStream,
    spec: &Spec,
    does: Does,
    wait: Wait,
    blocks: &[Block],
) -> Result<Option<Box<dyn Drive>>> {
    let (send, receive) = engines_asked_for(spec);
    if !is_chosen(spec) {
        return Ok(None);
    }
    let has_zeros = does == Does::Sends && blocks.iter().any(|block| block.content == Content::Zeros);
    if has_zeros && table::send(send, wait)?.owns_memory {
        let what = format!("message.content=zeros and {SEND}={send}, which sends memory of its own");
        return Err(Error::usage(what, "zeros are sent by write, epoll and io-uring"));
    }
    let largest = blocks.iter().map(|block| block.message_bytes as usize).max().unwrap_or(0);
    let setup = Setup { socket, patience: spec.patience(), largest };
    let link = match does {
        Does::Sends => (table::send(send, wait)?.stream)(&setup),
        Does::Receives => (table::receive(receive, wait)?.stream)(&setup),
        _ => exchange(send, receive, wait, &setup),
    };
    link.map(Some)
}

/// The link of any two engines.
fn exchange(send: &str, receive: &str, wait: Wait, setup: &Setup) -> Result<Box<dyn Drive>> {
    let send = (table::send(send, wait)?.half)(setup)?;
    let receive = (table::receive(receive, wait)?.half)(setup)?;
    Ok(match wait {
        Wait::Sleeping => boxed_halves::<true>(send, receive, setup),
        Wait::Polling => boxed_halves::<false>(send, receive, setup),
    })
}

/// The engines in force: a kernel that lacks one ends the session instead.
pub fn granted_engines(spec: &Spec) -> [Granted; 2] {
    let (send, receive) = engines_asked_for(spec);
    [granted(spec, SEND, send), granted(spec, RECEIVE, receive)]
}

/// Adds what happened to a count.
fn count(kernel: &mut Kernel, name: &str, times: u64) {
    *kernel.entry(name.into()).or_default() += times;
}
