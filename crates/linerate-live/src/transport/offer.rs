//! What an end is told of the other one before they meet.

use super::encrypted::certificate::Identity;
use super::foreign::library::elsewhere::Elsewhere;
use super::foreign::openssh::Daemon;
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

/// What the passive end tells the active one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// Nothing: this end connects, or works alone.
    Nothing,
    /// A listening socket, and the secret that each connection must present first.
    Socket {
        /// Where the other end connects to.
        address: Address,
        /// The secret.
        secret: String,
        /// Where the connection is sealed: the fingerprint of the certificate that it must show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<String>,
    },
    /// Where the rank of the passive end calls.
    Home {
        /// An abstract Unix socket.
        name: String,
        /// How it is started there; none where both ends are on one host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elsewhere: Option<Box<Elsewhere>>,
    },
    /// An sshd of the session's own.
    Daemon(Box<Daemon>),
    /// Two pipes, by process and by the descriptors there that the other end is to open.
    Pipes {
        /// The process that holds them.
        process: u32,
        /// The descriptor that is to be read.
        read: i32,
        /// The descriptor that is to be written.
        write: i32,
    },
    /// A mapping, by process and descriptor.
    Mapping {
        /// The process that holds it.
        process: u32,
        /// Its descriptor there.
        descriptor: i32,
    },
}

impl Offer {
    /// The same, with the fingerprint of what a connection must show.
    pub(super) fn with_certificate(mut self, identity: Option<&Identity>) -> Offer {
        if let (Offer::Socket { certificate, .. }, Some(identity)) = (&mut self, identity) {
            *certificate = Some(identity.fingerprint());
        }
        self
    }

    /// The fingerprint.
    pub(super) fn certificate(&self) -> Result<&str> {
        match self {
            Offer::Socket { certificate: Some(fingerprint), .. } => Ok(fingerprint),
            _ => Err(Error::peer("the other end", "offered no certificate", "")),
        }
    }
}

/// Where a socket listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// An IP address and a port.
    Internet(SocketAddr),
    /// The name of a Unix socket that no file system knows.
    Abstract(String),
    /// A context and a port of vsock(7).
    Context(u32, u32),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Internet(address) => address.fmt(f),
            Address::Abstract(name) => write!(f, "@{name}"),
            Address::Context(context, port) => write!(f, "vsock:{context}:{port}"),
        }
    }
}
