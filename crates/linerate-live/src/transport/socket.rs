//! Ways by a socket of the kernel, one file a family: streams, datagrams, and frames below IP.
//!
//! What several of them share is here too: `half`, the engines of TCP's bytes; `kernel_stream`, of the streams beside
//! TCP's and Unix's; `datagram` and `lossy`, of what may lose; `coalescing`, a receiver that sleeps by a timer; `relay`,
//! a known fault on TCP's way.

mod coalescing;
pub mod datagram;
pub mod half;
mod kernel_stream;
mod lossy;
pub mod mptcp;
pub mod raw;
pub mod rdma;
mod relay;
pub mod sctp;
pub mod smc;
pub mod tcp;
pub mod udp;
pub mod unix;
pub mod unix_datagram;
pub mod vsock;

use super::Transport;
use super::connection::place::Protocol;
use super::spec::Spec;
use crate::Result;
use linerate_sys::bound;
use linerate_sys::socket::TcpOptions;

/// What stands on this shelf.
pub static TRANSPORTS: &[&dyn Transport] = &[
    &unix::UNIX,
    &unix_datagram::UNIX_DATAGRAM,
    &tcp::TCP,
    &udp::UDP,
    &mptcp::MPTCP,
    &vsock::VSOCK,
    &sctp::SCTP,
    &smc::SMC,
    &rdma::RDMA,
    &raw::RAW,
];

/// Whether an end may listen for connections and for datagrams.
pub fn may_listen(spec: &Spec) -> Result<()> {
    spec.bind(Protocol::Tcp, |place| TcpOptions::default().listen(place, 1))?;
    spec.bind(Protocol::Udp, |place| bound::udp_at(place, None)).map(drop)
}
