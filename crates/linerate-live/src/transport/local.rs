//! Ways that do not leave this host and are no sockets: memory that one thread copies, shared rings, pipes.

pub mod memory;
pub mod pipe;
pub mod shared_memory;
