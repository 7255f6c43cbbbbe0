//! vsock(7) within one machine (context 1): the sockets of virtual machines and their hosts, over the loopback module.

use super::kernel_stream::{Foreign, Stream};
use crate::transport::connection::meeting::Streams;
use linerate_sys::stream_socket::Kind;

/// The transport.
pub const VSOCK: Streams<Stream<Vsock>> = Streams::new();

/// Its family.
#[derive(Debug)]
pub struct Vsock;

impl Foreign for Vsock {
    const NAME: &'static str = "vsock";
    const KIND: Kind = Kind::Vsock;
    const WHAT: &'static str = "vsock loopback";
    const HINT: &'static str = "modprobe vsock_loopback, on a kernel with CONFIG_VSOCKETS_LOOPBACK";
    const AT_ONCE: usize = usize::MAX;
}
