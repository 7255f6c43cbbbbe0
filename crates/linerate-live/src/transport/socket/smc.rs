//! SMC (RFC 7609): sockets like TCP's whose data goes by RDMA or shared memory where both ends have it. Where
//! they do not the kernel falls back to TCP and tells so by sock_diag only (`smcss`).

use super::kernel_stream::{Foreign, Stream};
use crate::transport::connection::meeting::Streams;
use linerate_sys::stream_socket::Kind;

/// The transport.
pub const SMC: Streams<Stream<Smc>> = Streams::new();

/// Its family.
#[derive(Debug)]
pub struct Smc;

impl Foreign for Smc {
    const NAME: &'static str = "smc";
    const KIND: Kind = Kind::Smc;
    const WHAT: &'static str = "SMC sockets";
    const HINT: &'static str =
        "modprobe smc, on a kernel with CONFIG_SMC; it needs RDMA or ISM devices to be more than TCP";
    const AT_ONCE: usize = usize::MAX;
}
