//! A remote shell for the launchers of message libraries: what ssh is to them, between the two ends of a session.
//!
//! A launcher starts its daemon on the other host by a program that takes a host and a command, as ssh does. ssh between
//! the hosts would need keys that they often do not have, and no virtual host has an sshd. So the passive end serves
//! commands while its session lasts, and this program is the launcher's remote shell. The connection is TLS with a
//! certificate of the session's own, whose fingerprint came by control, and who asks proves itself by a secret that came
//! the same way: nobody else can have a command run.
//!
//! | file | duty |
//! |---|---|
//! | `lend` | what opens it, for the launcher's processes |
//! | `serve` | the end that runs the commands |
//! | [`call`] | the program that a launcher calls |

pub mod call;
mod lend;
mod serve;

pub use lend::Lent;
pub use serve::{Served, Shell, plain};

use crate::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::SocketAddr;

/// The variable that makes this program a remote shell: a launcher takes the path of one and no arguments. It names
/// the socket where what opens the shell is lent.
pub const ACCESS: &str = "LINERATE_REMOTE_SHELL";

/// The longest command, and the longest part of its output that travels at once.
const LONGEST: usize = 64 << 10;

/// Who may have commands run, where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// Where they are asked for.
    pub address: SocketAddr,
    /// What proves who asks.
    pub secret: String,
    /// The certificate that the other end must show.
    pub fingerprint: String,
}

impl Access {
    /// Says that no command will come any more.
    pub fn forsake(&self) -> Result<()> {
        call::ask(self, None).map(drop)
    }
}

/// What is asked for.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    secret: String,
    /// For the other host's shell; none says that no more will come.
    command: Option<String>,
}

/// What comes of a command.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Output(Vec<u8>),
    Errors(Vec<u8>),
    /// The command's exit code; 255 where a signal ended it.
    Ended(u8),
}

impl Said {
    fn write(&self, into: &mut impl Write) -> io::Result<()> {
        let (kind, bytes): (u8, &[u8]) = match self {
            Said::Output(bytes) => (1, bytes),
            Said::Errors(bytes) => (2, bytes),
            Said::Ended(code) => (3, std::slice::from_ref(code)),
        };
        let count = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        into.write_all(&[&[kind], &count.to_be_bytes()[..], bytes].concat())?;
        into.flush()
    }

    fn read(from: &mut impl Read) -> io::Result<Said> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [kind, count @ ..] = head;
        let count = u32::from_be_bytes(count) as usize;
        if count > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = vec![0; count];
        from.read_exact(&mut bytes)?;
        match (kind, bytes.as_slice()) {
            (1, _) => Ok(Said::Output(bytes)),
            (2, _) => Ok(Said::Errors(bytes)),
            (3, [code]) => Ok(Said::Ended(*code)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(test)]
mod tests;
