//! A file in stripes on several servers, which clients read and write region by region, as PVFS has it.
//!
//! A client asks all of its servers at once for their stripes of a region, a thread a server, and goes on to the next region
//! when all have answered. Each connection is asked and answers in turn: a request, then the stripes, and after a write a
//! word. What a byte of the file is follows from its place, so that a client sees whether what came is right, and a server
//! whether what it was given is.
//!
//! | part | does |
//! |---|---|
//! | `layout` | which stripes of a region a server has, and what is in them |
//! | `store` | where a server has them: in memory, or in a file |

mod layout;
mod store;

use super::application::{Answers, Order, Seat, broken};
use crate::pattern::{Driven, Link, Measured, Start, pull_all, push_all};
use crate::plan::{Block, HostId};
use crate::record::Flow;
use crate::vocabulary::Does;
use crate::{Error, Result};
use layout::{Part, REGIONS};
use linerate_sys::thread;
use std::io;
use std::sync::{Barrier, OnceLock};
use store::Store;

/// A request: what is asked for, the region, the servers and which of them is asked, the bytes of a region.
const REQUEST: usize = 24;
const READ: u8 = b'R';
const WRITE: u8 = b'W';
const OVER: u8 = b'E';

/// What says that stripes are there.
const DONE: u8 = b'D';

/// The longest region: a server sets memory aside for its part of one.
const MOST_REGION: u64 = 64 << 20;

/// The longest file, of which a server has its part.
const MOST_FILE: u64 = 1 << 30;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    what: u8,
    part: Part,
    region: u32,
}

impl Request {
    fn written(self) -> [u8; REQUEST] {
        let mut bytes = [0; REQUEST];
        bytes[0] = self.what;
        bytes[4..8].copy_from_slice(&self.region.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.part.servers.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.part.server.to_be_bytes());
        bytes[16..].copy_from_slice(&self.part.region_bytes.to_be_bytes());
        bytes
    }

    /// What came is from the network: none where it asks for what cannot be.
    fn read(bytes: &[u8; REQUEST]) -> Option<Request> {
        let number = |at: usize| bytes[at..].first_chunk().map(|four| u32::from_be_bytes(*four));
        let region_bytes = bytes[16..].first_chunk().map(|eight| u64::from_be_bytes(*eight))?;
        let part = Part { servers: number(8)?, server: number(12)?, region_bytes };
        let request = Request { what: bytes[0], part, region: number(4)? };
        let is_known = [READ, WRITE, OVER].contains(&request.what);
        let is_small =
            region_bytes <= MOST_REGION && region_bytes.saturating_mul(u64::from(REGIONS)) <= MOST_FILE;
        (is_known && is_small && request.region < REGIONS && part.server < part.servers).then_some(request)
    }
}

/// What the threads of a client share.
struct Client {
    barrier: Barrier,
    /// What failed first, and before which region all are told.
    failure: OnceLock<(u64, Error)>,
    servers: u32,
}

/// Reads or writes regions, each of all servers at once.
pub fn use_file(seats: &mut [Seat<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let servers: u32 = seats.iter().map(|seat| seat.flows).sum();
    let client = Client { barrier: Barrier::new(servers.max(1) as usize), failure: OnceLock::new(), servers };
    let mut flows = Vec::new();
    let mut parts = Vec::new();
    for seat in seats.iter_mut() {
        flows.push(seat.flows);
        let host = order.other(seat.pair);
        parts.extend(seat.session.streams(seat.task)?.into_iter().map(|part| (part, host)));
    }
    let works = parts.into_iter().enumerate().map(|(server, (mut part, host))| {
        let client = &client;
        move || client.play(&mut part.link, (server as u32, host), (part.does, part.cpu), blocks)
    });
    let played = thread::together("client", works)?;
    if let Some((_, error)) = client.failure.into_inner() {
        return Err(error);
    }
    let lost = || Error::peer("a client's thread", "panicked", "please report it");
    let mut played = played.into_iter();
    let mut next = || played.next().and_then(|one| one.ok().flatten()).ok_or_else(lost);
    flows.into_iter().map(|flows| (0..flows).map(|_| next()).collect()).collect()
}

impl Client {
    /// The part of one server; none where something failed.
    fn play(
        &self,
        link: &mut Driven<'_>,
        (server, host): (u32, HostId),
        (does, cpu): (Does, Option<u32>),
        blocks: &[Block],
    ) -> Option<Vec<Measured>> {
        let mut ready = cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu])).map_err(Error::from);
        let timer_slack_lowered = thread::lower_timer_slack().is_ok();
        let mut measured = Vec::with_capacity(blocks.len());
        let what = if does == Does::Stores { WRITE } else { READ };
        let mut turn = 0_u64;
        for block in blocks {
            let part = Part { servers: self.servers, server, region_bytes: block.message_bytes };
            let mut room = vec![0; part.bytes() as usize];
            part.fill(0, &mut room);
            let mut slices_ns = Vec::with_capacity(if server == 0 { block.slices as usize } else { 0 });
            let (mut bytes, mut number, mut start) = (0, 0_u32, None);
            let mut last_ns = 0;
            for _ in 0..block.slices {
                for _ in 0..block.messages {
                    turn += 1;
                    if let Err(error) = std::mem::replace(&mut ready, Ok(())) {
                        // The first is told; others may have failed because of it.
                        let _ = self.failure.set((turn, error));
                    }
                    self.barrier.wait();
                    // What fails meanwhile is of the next region: who sees it now would leave the others at its barrier.
                    if self.failure.get().is_some_and(|(at, _)| *at <= turn) {
                        return None;
                    }
                    let begun = start.get_or_insert_with(Start::now);
                    last_ns = last_ns.max(begun.at_ns());
                    let request = Request { what, part, region: number % REGIONS };
                    ready =
                        moved(link, request, &mut room).map_err(|error| broken("the server", host, &error));
                    bytes += room.len() as u64;
                    number = number.wrapping_add(1);
                }
                self.barrier.wait();
                if server == 0 {
                    let now = linerate_sys::clock::monotonic_ns();
                    slices_ns.push(now.saturating_sub(last_ns));
                    last_ns = now;
                }
            }
            let start = start.unwrap_or_else(Start::now);
            let flow = Flow { bytes, slices_ns, ..start.until(&Start::now()) };
            measured.push(Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake: false });
            // The last region byte by byte, after the time has ended: what was written is read again.
            let region = number.wrapping_sub(1) % REGIONS;
            ready = ready.and_then(|()| self.compare(link, (part, region, host), what, &room));
        }
        let over = Request { what: OVER, part: Part { servers: 1, server: 0, region_bytes: 0 }, region: 0 };
        let ended = push_all(link, &over.written()).map_err(|error| broken("the server", host, &error));
        if let Err(error) = ready.and(ended.map(drop)) {
            let _ = self.failure.set((turn + 1, error));
            return None;
        }
        Some(measured)
    }
}

impl Client {
    /// Whether what was read is the truth, or what was written is what is read.
    fn compare(
        &self,
        link: &mut Driven<'_>,
        (part, region, host): (Part, u32, HostId),
        what: u8,
        room: &[u8],
    ) -> Result<()> {
        if what == READ {
            let mut wanted = vec![0; room.len()];
            part.fill(region, &mut wanted);
            return layout::same(&wanted, room, region, host);
        }
        let mut back = vec![0; room.len()];
        let read = moved(link, Request { what: READ, part, region }, &mut back);
        read.map_err(|error| broken("the server", host, &error))?;
        layout::same(room, &back, region, host)
    }
}

/// Asks for one server's stripes of a region, or gives them.
fn moved(link: &mut Driven<'_>, request: Request, room: &mut [u8]) -> io::Result<()> {
    push_all(link, &request.written())?;
    if request.what == READ {
        pull_all(link, room)?;
        return request.part.begins(request.region, room);
    }
    request.part.mark(request.region, room);
    push_all(link, room)?;
    let mut word = [0];
    pull_all(link, &mut word)?;
    if word == [DONE] {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "it did not take what was written"))
    }
}

/// Serves stripes to every client until it is over.
pub fn serve(seats: &mut [Seat<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let disk = order.value::<String>("striped.store").is_some_and(|store| store == "disk");
    let mut parts = Vec::new();
    let mut flows = Vec::new();
    for seat in seats.iter_mut() {
        flows.push(seat.flows);
        let host = order.other(seat.pair);
        parts.extend(seat.session.streams(seat.task)?.into_iter().map(|part| (part, host)));
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

/// Answers one client; gives the bytes that it moved.
fn answer(link: &mut impl Link, disk: bool) -> std::result::Result<u64, Failed> {
    let (mut store, mut bytes) = (Store::new(disk).map_err(Failed::Store)?, 0);
    loop {
        let mut words = [0; REQUEST];
        pull_all(link, &mut words)?;
        let nonsense = || io::Error::new(io::ErrorKind::InvalidData, "asked for what no striped file has");
        let request = Request::read(&words).ok_or_else(nonsense)?;
        let part = request.part;
        match request.what {
            READ => {
                let stripes = store.read(part, request.region).map_err(Failed::Store)?;
                push_all(link, stripes)?;
            }
            WRITE => {
                let room = store.room(part);
                pull_all(link, room)?;
                part.begins(request.region, room)?;
                store.write(part, request.region).map_err(Failed::Store)?;
                push_all(link, &[DONE])?;
            }
            _ => return Ok(bytes),
        }
        bytes += part.bytes();
    }
}
