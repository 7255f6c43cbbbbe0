//! What a family of stream sockets says of itself, and what each of its connections presents first.

use super::channel::Channel;
use crate::Result;
use crate::record::UnavailableTransport;
use crate::transport::{Address, Spec};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Characters of the secret that opens a connection: 128 bits in hexadecimal.
pub const SECRET_LEN: usize = 32;

/// What a connection presents: the secret, and its flow's number in hexadecimal.
pub const GREETING_LEN: usize = SECRET_LEN + 8;

/// How long a stranger may take to present the secret before it is closed.
pub const STRANGER: Duration = Duration::from_secs(2);

/// A family of stream sockets.
pub trait Family: Channel + Sized + 'static {
    /// The name of its transport.
    const NAME: &'static str;
    /// What accepts its connections, without waiting.
    type Listener: AsFd + Send + Sync;
    /// Why this host does not have it; none where it does.
    fn lacks() -> Option<UnavailableTransport> {
        None
    }
    /// Listens at a new place.
    fn listen(spec: &Spec) -> Result<(Self::Listener, Address)>;
    /// Accepts a connection, if one is there.
    fn accept(listener: &Self::Listener) -> io::Result<Self>;
    /// Connects the flow of this number.
    fn connect(spec: &Spec, address: &Address, flow: u32) -> Result<Self>;
}
