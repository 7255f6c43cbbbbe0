//! A server of stripes: it answers each client by a connection and a file of its own.

use super::layout::Part;
use super::request::{EMPTY, MAKE, READ, REQUEST, Request, STAY, WRITE};
use super::source::{DONE, GROWS, OFTEN};
use super::store::Store;
use crate::pattern::{Link, Measured, Start, pull_all, push_all};
use crate::plan::Block;
use crate::record::Flow;
use crate::workload::application::{Answers, Order, PairEnd, broken};
use crate::{Error, Result};
use linerate_sys::thread;
use std::io;
use std::time::Instant;

/// Serves stripes to every client until it is over.
pub fn serve(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let disk = order.value::<String>("striped.store").is_some_and(|store| store == "disk");
    let mut parts = Vec::new();
    let mut flows = Vec::new();
    for pair_end in pair_ends.iter_mut() {
        flows.push(pair_end.flows);
        let host = order.other(pair_end.pair);
        parts.extend(pair_end.session.streams(pair_end.task)?.into_iter().map(|part| (part, host)));
    }
    let works = parts.into_iter().map(|(mut part, host)| {
        move || -> Result<Vec<Measured>> {
            part.cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu]))?;
            let timer_slack_lowered = thread::lower_timer_slack().is_ok();
            let start = Start::now();
            let bytes = answer(&mut part.link, disk).map_err(|failed| match failed {
                Failed::Connection(error) => broken("the client", host, &error),
                Failed::Store(error) => error,
            })?;
            // Blocks follow each other without a word: what they took is on record with the first.
            let mut flow = Flow { bytes, ..start.until(&Start::now()) };
            let measured = |_: &Block| {
                let flow = std::mem::take(&mut flow);
                Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake: false }
            };
            Ok(blocks.iter().map(measured).collect())
        }
    });
    let panicked = |_| Err(Error::peer("a server's thread", "panicked", "please report it"));
    let mut played = thread::together("server", works)?.into_iter().map(|one| one.unwrap_or_else(panicked));
    let mut next =
        || played.next().unwrap_or_else(|| Err(Error::peer("a server's thread", "is missing", "")));
    flows.into_iter().map(|flows| (0..flows).map(|_| next()).collect()).collect()
}

/// Why a server ends early.
enum Failed {
    Connection(io::Error),
    Store(Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Connection(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Store(error)
    }
}

/// Answers one client; gives the bytes that it moved.
fn answer(link: &mut impl Link, disk: bool) -> std::result::Result<u64, Failed> {
    let (mut store, mut bytes, mut room) = (Store::new(disk)?, 0, Vec::new());
    loop {
        let mut words = [0; REQUEST];
        pull_all(link, &mut words)?;
        let request = Request::read(&words).ok_or_else(nonsense)?;
        let part = request.part;
        match request.what {
            MAKE | EMPTY => {
                room = vec![0; part.bytes() as usize];
                make(link, &mut store, part, request.what == MAKE)?;
                continue;
            }
            STAY => continue,
            READ => give(link, &mut store, (part, request.region), &mut room)?,
            WRITE => take(link, &mut store, (part, request.region), &mut room)?,
            _ => return Ok(bytes),
        }
        bytes += part.bytes();
    }
}

/// Makes a file, while the client hears now and then that it grows: a large one takes longer than a connection may be silent.
fn make(
    link: &mut impl Link,
    store: &mut Store,
    part: Part,
    is_read: bool,
) -> std::result::Result<(), Failed> {
    let (mut told, mut lost) = (Instant::now(), Ok(()));
    let made = store.make(part, is_read, || {
        if told.elapsed() < OFTEN {
            return Ok(());
        }
        told = Instant::now();
        lost = push_all(link, &[GROWS]).map(drop);
        lost.as_ref().copied().map_err(|error| error.kind().into())
    });
    // A client that went away is told as that, and not as a store that failed.
    lost?;
    made?;
    push_all(link, &[DONE])?;
    Ok(())
}

type Asked = (Part, u32);

fn give(
    link: &mut impl Link,
    store: &mut Store,
    (part, region): Asked,
    room: &mut [u8],
) -> std::result::Result<(), Failed> {
    if let Some(stripes) = store.lying(part, region) {
        push_all(link, stripes)?;
        return Ok(());
    }
    let room = room.get_mut(..part.bytes() as usize).ok_or_else(nonsense)?;
    store.read(part, region, room)?;
    push_all(link, room)?;
    Ok(())
}

fn take(
    link: &mut impl Link,
    store: &mut Store,
    (part, region): Asked,
    room: &mut [u8],
) -> std::result::Result<(), Failed> {
    if let Some(stripes) = store.lying(part, region) {
        pull_all(link, stripes)?;
        part.begins(region, stripes)?;
    } else {
        let room = room.get_mut(..part.bytes() as usize).ok_or_else(nonsense)?;
        pull_all(link, room)?;
        part.begins(region, room)?;
        store.write(part, region, room)?;
    }
    push_all(link, &[DONE])?;
    Ok(())
}

fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "asked for what no striped file has")
}
