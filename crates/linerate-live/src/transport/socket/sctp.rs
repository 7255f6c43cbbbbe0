//! SCTP (RFC 9260), one association a connection and one stream in it. A message that is longer than the send
//! buffer is refused by the kernel, so longer ones are cut.

use super::kernel_stream::{Foreign, Stream};
use crate::transport::connection::meeting::Streams;
use crate::transport::connection::place::Protocol;
use linerate_sys::stream_socket::Kind;

/// The transport.
pub const SCTP: Streams<Stream<Sctp>> = Streams::new();

/// Its family.
#[derive(Debug)]
pub struct Sctp;

impl Foreign for Sctp {
    const NAME: &'static str = "sctp";
    const KIND: Kind = Kind::Sctp;
    const PORTS: Protocol = Protocol::Sctp;
    const WHAT: &'static str = "SCTP";
    const HINT: &'static str = "modprobe sctp, on a kernel with CONFIG_IP_SCTP";
    const AT_ONCE: usize = 64 << 10;
}
