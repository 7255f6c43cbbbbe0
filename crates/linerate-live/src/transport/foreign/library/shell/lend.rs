//! What opens the remote shell, for the processes of a launcher on its own host.
//!
//! A launcher passes its variables on to the other host in the clear, so a variable has only the name of a socket. Who
//! asks there must run as this user, in this network namespace.

use super::Access;
use crate::{Error, Result};
use linerate_sys::{local, socket, thread};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is looked whether it is still lent.
const LOOK: Duration = Duration::from_millis(50);

/// Lends until it is dropped.
#[derive(Debug)]
pub struct Lent {
    name: String,
    over: Arc<AtomicBool>,
}

impl Lent {
    /// To every process of this user that knows its name.
    pub fn to_own_user(access: &Access) -> Result<Lent> {
        let name = format!("linerate-shell-{:032x}", rand::random::<u128>());
        let listener = local::listen(&name)?;
        let bytes = serde_json::to_vec(access).map_err(|e| Error::usage(e.to_string(), ""))?;
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        thread::start("lend", move || {
            while !ends.load(Ordering::Relaxed) {
                let _ = socket::wait_readable(&listener, LOOK);
                if let Ok((mut stream, _)) = listener.accept()
                    && socket::own_peer(&stream).is_some()
                {
                    // It fits the socket's buffer; who does not read it has nothing.
                    let _ = stream.write_all(&bytes);
                }
            }
        })?;
        Ok(Lent { name, over })
    }

    /// Where it is asked for.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
