//! A command whose input and output are short work: it is fed, heard and watched until it ends.

use crate::control::Check;
use crate::{Error, Result};
use linerate_sys::thread;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How often is looked whether it has ended, and whether the user waits on.
const LOOK: Duration = Duration::from_millis(20);

/// How long what it said may be under way once it has ended: what it started may hold its output open.
const SAID: Duration = Duration::from_secs(1);

/// What is heard of each stream at most: another host may say any amount.
const MOST: u64 = 64 << 10;

/// What goes to it at once.
const PIECE: usize = 64 << 10;

/// How a command ended, and what it said.
#[derive(Debug)]
pub struct Heard {
    pub status: ExitStatus,
    /// Whether it took all that was for it.
    pub took_all: bool,
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
}

/// Runs a command with this input. `moved` is told how much of it is gone, as long as the command goes on.
pub fn converse(
    mut command: Command,
    input: &Arc<[u8]>,
    check: Check<'_>,
    moved: &mut dyn FnMut(u64),
) -> Result<Heard> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|e| Error::io("start", &name, e))?;
    let gone = Arc::new(AtomicU64::new(0));
    let mut begin = || {
        let took = child.stdin.take().map(|stdin| feed(stdin, input.clone(), gone.clone())).transpose()?;
        Ok((hear(child.stdout.take())?, hear(child.stderr.take())?, took))
    };
    let (output, errors, took) = match begin() {
        Ok(begun) => begun,
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
    };
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| Error::io("wait", &name, e))? {
            break status;
        }
        if let Err(error) = check() {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        moved(gone.load(Ordering::Relaxed));
        std::thread::sleep(LOOK);
    };
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(SAID).unwrap_or_default();
    let took_all = took.is_none_or(|took| took.recv_timeout(SAID).unwrap_or(false));
    Ok(Heard { status, took_all, output: text(output), errors: text(errors) })
}

/// The stream's beginning, once it ends.
fn hear(stream: Option<impl Read + Send + 'static>) -> Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::start("ssh", move || {
        let mut text = Vec::new();
        if let Some(stream) = stream {
            // What came before an error is what there is.
            let _ = stream.take(MOST).read_to_end(&mut text);
        }
        let _ = sender.send(text);
    })?;
    Ok(receiver)
}

/// Whether all was taken, once that is known.
fn feed(
    mut stream: impl Write + Send + 'static,
    input: Arc<[u8]>,
    gone: Arc<AtomicU64>,
) -> Result<Receiver<bool>> {
    let (sender, receiver) = channel();
    thread::start("ssh", move || {
        let all = input.chunks(PIECE).all(|piece| {
            let taken = stream.write_all(piece).is_ok();
            gone.fetch_add(if taken { piece.len() as u64 } else { 0 }, Ordering::Relaxed);
            taken
        });
        drop(stream);
        let _ = sender.send(all);
    })?;
    Ok(receiver)
}
