//! A stream that runs beside something else, until that is done: a load. What it moved is a sum, for it has no
//! blocks; nothing that is timed by its messages may be taken from it.

use super::play::{Measured, Part, measured};
use super::{Awake, Link, Walk};
use crate::plan::Block;
use crate::vocabulary::{Does, Wait};
use crate::{Error, Result};
use linerate_sys::{clock, thread};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a sender looks whether it is done: after so many messages, or bytes.
const LOOK_BYTES: u64 = 1 << 20;

/// Runs all parts at once until `done`, or until the other end goes away; gives what each moved.
pub fn run_beside<L: Link + Send>(
    parts: Vec<Part<L>>,
    wait: Wait,
    message_bytes: u64,
    done: &AtomicBool,
) -> Result<Vec<Measured>> {
    let cpus: Vec<u32> = parts.iter().filter_map(|part| part.cpu).collect();
    let awake = (wait == Wait::Sleeping).then(|| Awake::keep(&cpus)).flatten();
    let block = Block { message_bytes, messages: 1, slices: 1, ..Block::default() };
    let kept_awake = awake.is_some();
    let run = |part: Part<L>| {
        measured(part, &block, kept_awake, |link, does, walk| match does {
            Does::Sends => send(link, &block, walk, done),
            Does::Receives => receive(link, walk, done),
            _ => Err(io::ErrorKind::Unsupported.into()),
        })
    };
    let answers = thread::together("load", parts.into_iter().map(|part| || run(part)))?;
    let panicked = |_| Err(Error::peer("a loading thread", "panicked", "please report it"));
    answers.into_iter().map(|answer| answer.unwrap_or_else(panicked)).collect()
}

/// Sends until it is done, or nobody receives any more.
fn send<L: Link>(link: &mut L, block: &Block, walk: &mut Walk<'_>, done: &AtomicBool) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let (mut moved, mut next) = (0, 0);
    loop {
        if moved >= next {
            if done.load(Ordering::Relaxed) {
                return Ok(moved);
            }
            next = moved + LOOK_BYTES;
        }
        match link.push(walk.next(len)) {
            Ok(went) => moved += went as u64,
            Err(error) if is_end(&error) => return Ok(moved),
            Err(error) => return Err(error),
        }
    }
}

/// Receives until the sender has closed, or it is done here.
fn receive<L: Link>(link: &mut L, walk: &mut Walk<'_>, done: &AtomicBool) -> io::Result<u64> {
    let (mut moved, mut next) = (0, 0);
    loop {
        if moved >= next {
            if done.load(Ordering::Relaxed) {
                return Ok(moved);
            }
            next = moved + LOOK_BYTES;
        }
        match link.pull(walk.next(super::buffer::RECEIVE_BYTES)) {
            Ok(came) => moved += came as u64,
            Err(error) if is_end(&error) => return Ok(moved),
            Err(error) => return Err(error),
        }
    }
}

/// Whether the other end has gone, as it does when it is done.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// Waits while a load goes alone, or until it is done.
pub fn lead(lead_ns: u64) {
    let until = clock::monotonic_ns() + lead_ns;
    while let Some(left) = until.checked_sub(clock::monotonic_ns()).filter(|left| *left > 0) {
        std::thread::sleep(std::time::Duration::from_nanos(left));
    }
}
