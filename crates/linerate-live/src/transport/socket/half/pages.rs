//! Pages instead of bytes: the kernel passes references on and copies nothing, or says that it did.
//!
//! What is under way must not change. So these engines send from memory of their own that is written once;
//! a message has the bytes of any other engine's, and lies where the block's buffer would.

use super::plain::own;
use super::ring::count_zero_copies;
use super::source::Source;
use super::{Pull, Push, Setup};
use crate::pattern::Kernel;
use crate::plan::Block;
use crate::{Error, Result};
use linerate_sys::memory_file::MemoryFile;
use linerate_sys::pages::Pages;
use linerate_sys::splice::{Nowhere, Passage};
use linerate_sys::zero_copy::{Usage, ZeroCopy};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// These calls have no flag that says not to wait; the socket has.
fn own_waiting<const WAITS: bool>(socket: &TcpStream) -> Result<TcpStream> {
    let socket = own(socket)?;
    socket.set_nonblocking(!WAITS).map_err(|e| Error::io("ioctl(FIONBIO)", "TCP socket", e))?;
    Ok(socket)
}

/// sendfile(2) from a file in memory.
pub struct SendFile<const WAITS: bool> {
    socket: TcpStream,
    source: Source<MemoryFile>,
}

impl<const WAITS: bool> Push for SendFile<WAITS> {
    const NAME: &'static str = "sendfile";
    const OWNS_MEMORY: bool = true;

    fn open(setup: &Setup) -> Result<Self> {
        Ok(SendFile {
            socket: own_waiting::<WAITS>(setup.socket)?,
            source: Source::with_largest(setup.largest)?,
        })
    }

    fn begin(&mut self, block: &Block) -> Result<()> {
        self.source.begin(block)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (at, len) = self.source.next(bytes.len());
        let sent = self.source.content().send::<WAITS>(&self.socket, at, len)?;
        self.source.advance(sent);
        Ok(sent)
    }
}

/// vmsplice(2) into a pipe, splice(2) from there.
pub struct SpliceOut<const WAITS: bool> {
    socket: TcpStream,
    passage: Passage,
    source: Source<Pages>,
}

impl<const WAITS: bool> Push for SpliceOut<WAITS> {
    const NAME: &'static str = "splice";
    const OWNS_MEMORY: bool = true;

    fn open(setup: &Setup) -> Result<Self> {
        let (socket, passage) = (own_waiting::<WAITS>(setup.socket)?, Passage::new()?);
        Ok(SpliceOut { socket, passage, source: Source::with_largest(setup.largest)? })
    }

    fn begin(&mut self, block: &Block) -> Result<()> {
        self.source.begin(block)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let place = self.source.next(bytes.len());
        let sent = self.passage.send::<WAITS>(&self.socket, self.source.content(), place)?;
        self.source.advance(sent);
        Ok(sent)
    }
}

/// send(2) with `MSG_ZEROCOPY`.
pub struct ZeroCopySend<const WAITS: bool> {
    socket: TcpStream,
    zero_copy: ZeroCopy,
    source: Source<Pages>,
    told: Usage,
    patience: Duration,
}

impl<const WAITS: bool> Push for ZeroCopySend<WAITS> {
    const NAME: &'static str = "zero-copy";
    const OWNS_MEMORY: bool = true;

    fn open(setup: &Setup) -> Result<Self> {
        let (socket, source) = (own(setup.socket)?, Source::with_largest(setup.largest)?);
        let zero_copy = ZeroCopy::enable(&socket)?;
        Ok(ZeroCopySend { socket, zero_copy, source, told: Usage::default(), patience: setup.patience })
    }

    fn begin(&mut self, block: &Block) -> Result<()> {
        self.source.begin(block)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (at, len) = self.source.next(bytes.len());
        let message = &self.source.content()[at..at + len];
        let sent = self.zero_copy.send::<WAITS>(&self.socket, message, self.patience)?;
        self.source.advance(sent);
        Ok(sent)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        // A word that does not come is missing from the count of those that were heard.
        let _ = self.zero_copy.settle(&self.socket, self.patience);
        count_zero_copies(kernel, self.zero_copy.usage(), &mut self.told);
        Ok(())
    }
}

/// A kernel's notifications outlive the trial unless they are heard: the next one would take them for its own.
impl<const WAITS: bool> Drop for ZeroCopySend<WAITS> {
    fn drop(&mut self) {
        let _ = self.zero_copy.settle(&self.socket, self.patience);
    }
}

/// splice(2) into a pipe and on to nowhere: no copy at the receiver.
pub struct SpliceToNowhere<const WAITS: bool> {
    socket: TcpStream,
    passage: Passage,
    nowhere: Nowhere,
}

impl<const WAITS: bool> Pull for SpliceToNowhere<WAITS> {
    const NAME: &'static str = "splice";

    fn open(setup: &Setup) -> Result<Self> {
        let socket = own_waiting::<WAITS>(setup.socket)?;
        Ok(SpliceToNowhere { socket, passage: Passage::new()?, nowhere: Nowhere::open()? })
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.passage.discard::<WAITS>(&self.socket, &self.nowhere, bytes.len())
    }
}
