//! Settings that act on several transports alike.

use Takes::{Buffers, Multiplexing, Reads, Shim, Source};

/// What some settings act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// The buffers of a socket.
    Buffers,
    /// One TCP connection, which is the flow's own.
    Connection,
    /// A socket that can be bound to an interface.
    Interface,
    /// The way of TCP over a path, by one connection or several.
    Path,
    /// Packets of the internet protocols.
    Internet,
    /// A cipher of its own.
    Cipher,
    /// A shim between a pattern and a link.
    Shim,
    /// A stream of bytes, of which a receiver takes as many as it asks for.
    Reads,
    /// Many flows that one thread can serve.
    Multiplexing,
    /// A user's own bytes, wherever they lie.
    Source,
}

/// What carries bytes between two processes.
pub const BYTES: &[Takes] = &[Shim, Reads, Source];
/// What is a stream socket of the kernel's.
pub const STREAM_SOCKET: &[Takes] = &[Buffers, Shim, Reads, Multiplexing, Source];

impl Takes {
    /// Whether it is one of these.
    pub const fn is_of(self, all: &[Takes]) -> bool {
        let mut at = 0;
        while at < all.len() {
            if all[at] as u8 == self as u8 {
                return true;
            }
            at += 1;
        }
        false
    }
}
