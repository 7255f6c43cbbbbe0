//! Sending to a server: what is sent whole, or why it is not.

use super::message::Request;
use crate::{Error, Result};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::sync::{Arc, Mutex};

/// Tells a server something that has no answer, also while others wait for one of its answers. Where nothing can be sent any more
/// there is no stream, and with it the connection has ended: what is left is why.
#[derive(Clone)]
pub struct Notifier(Arc<Mutex<std::result::Result<Box<dyn Write + Send>, Unsent>>>);

/// Why something is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// Nobody is there.
    Ended,
    /// Somebody is there, and takes nothing.
    Stuck,
}

impl Unsent {
    fn by(error: &std::io::Error) -> Unsent {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Unsent::Stuck,
            _ => Unsent::Ended,
        }
    }
}

impl Notifier {
    pub(super) fn new(writer: impl Write + Send + 'static) -> Notifier {
        Notifier(Arc::new(Mutex::new(Ok(Box::new(writer)))))
    }

    /// Tells it, as far as it still listens.
    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<()> {
        self.send(None, method, params).map(drop)
    }

    pub(super) fn send(
        &self,
        id: Option<u64>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<std::result::Result<(), Unsent>> {
        let malformed = |e| Error::usage(format!("{method}: {e}"), "");
        let params = serde_json::to_value(params).map_err(malformed)?;
        let request = Request { jsonrpc: "2.0".into(), id, method: method.into(), params };
        let mut line = serde_json::to_vec(&request).map_err(malformed)?;
        line.push(b'\n');
        let Ok(mut stream) = self.0.lock() else { return Ok(Err(Unsent::Ended)) };
        let sent = stream.as_mut().map_err(|why| *why).and_then(|writer| {
            writer.write_all(&line).and_then(|()| writer.flush()).map_err(|error| Unsent::by(&error))
        });
        // A part of it may have been sent, which nothing may follow.
        if let Err(why) = sent {
            *stream = Err(why);
        }
        Ok(sent)
    }

    pub(super) fn end(&self) {
        if let Ok(mut stream) = self.0.lock() {
            *stream = Err(Unsent::Ended);
        }
    }
}
