//! Ways whose bytes nobody between the ends can read or change: TLS over TCP, QUIC over UDP, and OpenSSH.
//!
//! What they trust is made for the session and travels with the offer: a certificate, or keys.

pub mod certificate;
pub mod quic;
pub mod ssh;
pub mod tls;

use super::Transport;

/// What stands on this shelf.
pub static TRANSPORTS: &[&dyn Transport] = &[&tls::TLS, &quic::QUIC, &ssh::SSH];
