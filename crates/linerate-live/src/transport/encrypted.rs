//! Ways whose bytes nobody between the ends can read or change: TLS over TCP, and QUIC over UDP.
//!
//! Both trust one certificate that is made for the session and travels with the offer. What TLS does with a connection (`seal`)
//! serves a transfer of a file too.

pub mod certificate;
pub mod quic;
pub mod seal;
pub mod tls;

use super::Transport;

/// What stands on this shelf.
pub static TRANSPORTS: &[&dyn Transport] = &[&tls::TLS, &quic::QUIC];
