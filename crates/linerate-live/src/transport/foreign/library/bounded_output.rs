//! What a foreign program says, in bounds: it may hang, and it may say a lot.

use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::{spawn, thread};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// What it may take: a large library is loaded in a tenth of a second.
const LIMIT: Duration = Duration::from_secs(10);

/// What is read of it at most.
const MOST_BYTES: u64 = 16 << 20;

/// The lines of a program's standard output until one is the `last`, or it has said all; and how it ended, where it did
/// by then. It ends with this call at the latest. `doing` is what it does, for the error where that takes too long.
pub fn lines(
    mut command: Command,
    doing: &str,
    last: impl Fn(&str) -> bool + Send + 'static,
) -> Result<(Vec<String>, Option<String>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    spawn::end_with_parent(&mut command);
    let child = ChildProcess::start(doing, Duration::ZERO, command)?;
    let (_input, output) = child.streams().ok_or_else(|| Error::peer(doing, "has no streams", ""))?;
    let (tell, told) = channel();
    // It reads until the child has ended, which is with this function.
    thread::start("output", move || {
        let mut said = Vec::new();
        for line in BufReader::new(output.take(MOST_BYTES)).lines().map_while(std::io::Result::ok) {
            let is_last = last(&line);
            said.push(line);
            if is_last {
                break;
            }
        }
        let _ = tell.send(said);
    })?;
    match told.recv_timeout(LIMIT) {
        Ok(said) => Ok((said, child.verdict().map(|ended| ended.how))),
        Err(_) => {
            let what = format!("{doing} took more than {} s", LIMIT.as_secs());
            Err(Error::unavailable(what, "does it run by itself?"))
        }
    }
}
