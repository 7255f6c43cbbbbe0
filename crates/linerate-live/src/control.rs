//! Agents agree on a case, start and end, on any byte stream; never on the measured path.
//!
//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), one message a line, each line with a size
//! cap. A [`Client`] asks, [`serve`] answers; both work over pipes, ssh's standard streams and Unix
//! sockets alike. Threads and blocking calls: nothing here is ever in a timed loop.

mod client;
mod gather;
mod message;
mod notifier;
mod pulse;
mod seal;
mod server;

pub use client::{Call, Client, Ending};
pub use gather::{Check, Together, Wait, gather, gather_each};
pub use message::chain;
pub use notifier::Notifier;
pub use pulse::{ANSWERED_IN, Limit};
pub use seal::{Opener, Seal, Sealer};
pub use server::{serve, serve_in_turn};

use crate::{Error, Result};
use std::io::BufRead;

/// The longest message. A trial's answer is the longest one; it stays far below.
const LONGEST_MESSAGE: u64 = 16 << 20;

/// Reads one line; none at the end of the stream.
fn read_line(source: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut limited = std::io::Read::take(source, LONGEST_MESSAGE + 1);
    limited.read_until(b'\n', &mut line).map_err(|e| Error::io("read", "control stream", e))?;
    match line.len() as u64 {
        0 => Ok(None),
        len if len > LONGEST_MESSAGE => Err(Error::peer("control", "sent a message above 16 MiB", "")),
        _ => Ok(Some(line)),
    }
}
