//! Ways that do not leave this host and are no sockets: memory that one thread copies, shared rings, pipes.

pub mod memory;
pub mod pipe;
pub mod shared_memory;

use super::Transport;

/// What stands on this shelf.
pub static TRANSPORTS: &[&dyn Transport] =
    &[&memory::COPY, &memory::TRIAD, &shared_memory::SharedMemory, &pipe::Pipe];
