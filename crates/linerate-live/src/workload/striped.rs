//! A file in stripes on several servers, which clients read and write region by region, as PVFS has it, or tile by tile.
//!
//! A client asks all of its servers at once for their stripes of a region, a thread a server, and goes on to the next region
//! when all have answered. Each connection is asked and answers in turn: a request, then the stripes, and after a write a
//! word. While a region is read the next one has been asked for, so that servers give without a pause. What a byte of the
//! file is follows from its place, so that a client sees whether what came is right, and a server whether what it was given
//! is. Where a folder is named a client's threads use a file there, and no server.
//!
//! | part | does |
//! |---|---|
//! | `layout` | which stripes of a region or a tile a server has, and what is in them |
//! | `tile` | where the rows of a tile lie in its frame |
//! | `request` | what a client asks for, as it crosses |
//! | `source` | where a client reads and writes |
//! | `store` | where stripes are: in memory, or in a file |
//! | `server` | the other end |

mod layout;
mod request;
mod server;
mod source;
mod store;
mod tile;

use super::activity::{MOST, Watch};
use super::application::{Answers, Order, PairEnd};
use super::slowness::Slowness;
use crate::pattern::{Driven, Measured, Start};
use crate::plan::{Block, HostId};
use crate::record::{self, Doing, Flow};
use crate::vocabulary::Does;
use crate::{Error, Result};
use layout::{Part, REGIONS};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::thread;
use source::Source;
use std::collections::BTreeSet;
use std::fs::File;
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, PoisonError};
use store::Store;
use tile::Tile;

pub use server::serve;

/// What the threads of a client share.
struct Client {
    barrier: Barrier,
    /// What failed first, and before which region all are told.
    failure: OnceLock<(u64, Error)>,
    servers: u32,
    /// How many threads have had their files made, of all blocks so far.
    made: (Mutex<u32>, Condvar),
    writes: bool,
    /// Its tile of a frame, but for its rows, where it has one.
    tile: Option<Tile>,
    /// Whether each row is asked for alone.
    by_row: bool,
    slowness: Slowness,
    /// Whether the next region is asked for before one is there.
    overlaps: bool,
}

/// What one thread has measured so far of a block.
struct Tally {
    bytes: u64,
    slices_ns: Vec<u64>,
    last_ns: u64,
    /// The regions so far.
    number: u32,
    /// What it did over some of them; what it waited for is other threads.
    watch: Watch,
}

/// What a client's thread waits for.
const OTHERS: usize = 0;

/// Reads or writes regions or tiles, each of all servers at once.
pub fn use_file(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let servers: u32 = pair_ends.iter().map(|pair_end| pair_end.flows).sum();
    let Some(does) = pair_ends.first().map(|pair_end| pair_end.task.does) else { return Ok(Vec::new()) };
    let folder = order.value::<String>("striped.path");
    let (writes, by_row) =
        (!does.receives(), order.value::<String>("tiled.access").is_some_and(|access| access == "row"));
    let client = Client {
        barrier: Barrier::new(servers.max(1) as usize),
        failure: OnceLock::new(),
        servers,
        made: Default::default(),
        writes,
        tile: [Does::FetchesTile, Does::StoresTile].contains(&does).then(|| own_tile(order, does)),
        by_row,
        slowness: Slowness::from_order(order),
        overlaps: !writes && !by_row && folder.is_none(),
    };
    let file = folder.as_deref().map(|folder| Ok::<_, Error>((Arc::new(store::nameless(folder)?), folder)));
    let file: Option<(Arc<File>, &str)> = file.transpose()?;
    let mut flows = Vec::new();
    let mut parts = Vec::new();
    for pair_end in pair_ends.iter_mut() {
        flows.push(pair_end.flows);
        let host = order.other(pair_end.pair);
        parts.extend(pair_end.session.streams(pair_end.task)?.into_iter().map(|part| (part, host)));
    }
    let works = parts.into_iter().enumerate().map(|(server, (mut part, host))| {
        let own = file.as_ref().map(|(file, folder)| Store::shared(Arc::clone(file), folder));
        let client = &client;
        move || {
            let mut source = Source { link: &mut part.link, own, host, ahead: None };
            client.play(&mut source, server as u32, part.cpu, blocks)
        }
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

/// Clients have the tiles of a frame in the order of their hosts.
fn own_tile(order: &Order, does: Does) -> Tile {
    let client = |(from, to): &(HostId, HostId)| if does.receives() { *to } else { *from };
    let clients: BTreeSet<HostId> = order.pairs.iter().map(client).collect();
    let number = clients.iter().take_while(|host| **host != order.host).count() as u32;
    let overlap = order.value("tiled.overlap").unwrap_or(0);
    Tile { tiles: clients.len() as u32, number, overlap, ..Tile::whole(0) }
}

impl Client {
    /// The part of one server of a region, or of this client's tile.
    fn part(&self, server: u32, region_bytes: u64) -> Part {
        let tile = self.tile.map(|tile| Tile { rows: Tile::whole(region_bytes).rows, ..tile });
        Part { servers: self.servers, server, region_bytes, tile }
    }

    /// The part of one server; none where something failed.
    fn play(
        &self,
        source: &mut Source<'_, Driven<'_>>,
        server: u32,
        cpu: Option<u32>,
        blocks: &[Block],
    ) -> Option<Vec<Measured>> {
        let mut ready = cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu])).map_err(Error::from);
        let asks_server = source.own.is_none();
        if !asks_server {
            // It would wait for a request no longer than a connection waits, and a file may take longer to make.
            ready = ready.and(source.over());
        }
        let timer_slack_lowered = thread::lower_timer_slack().is_ok();
        let mut measured = Vec::with_capacity(blocks.len());
        let (mut turn, mut blocks_made) = (0_u64, 0_u32);
        for block in blocks {
            let part = self.part(server, block.message_bytes);
            let mut room = vec![0; part.bytes() as usize];
            part.fill(0, &mut room);
            ready = ready.and_then(|()| source.make(part, !self.writes));
            blocks_made += 1;
            ready = self.all_made(blocks_made, source, ready);
            let slices = if server == 0 { block.slices as usize } else { 0 };
            let regions = u64::from(block.slices) * block.messages;
            let mut tally = Tally {
                bytes: 0,
                slices_ns: Vec::with_capacity(slices),
                last_ns: 0,
                number: 0,
                watch: Watch::new(regions, false, [Doing::WaitsForOthers; 2]),
            };
            let (start, last) =
                self.regions(source, (part, &mut room), block, &mut ready, (&mut turn, &mut tally))?;
            let watched = (server as usize) < MOST;
            let thread = format!("of server {}", source.host);
            let activity = tally.watch.into_activity(thread, server, Doing::Moves).filter(|_| watched);
            let activities =
                activity.map(|one| record::Tally { activities: vec![one], ..Default::default() });
            let (slices_ns, tallied) = (tally.slices_ns, activities.map(Box::new));
            let flow = Flow { bytes: tally.bytes, slices_ns, tally: tallied, ..start.until(&last) };
            measured.push(Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake: false });
            // The last region byte by byte, after the time has ended: what was written is read again.
            let region = tally.number.wrapping_sub(1) % REGIONS;
            ready = ready.and_then(|()| self.compare(source, (part, region), &room));
        }
        if let Err(error) = ready.and(if asks_server { source.over() } else { Ok(()) }) {
            let _ = self.failure.set((turn + 1, error));
            return None;
        }
        Some(measured)
    }

    /// Waits until every server has made its file, or has failed to: meanwhile the own one hears that somebody is there.
    fn all_made(&self, block: u32, source: &mut Source<'_, Driven<'_>>, ready: Result<()>) -> Result<()> {
        let (made, changed) = &self.made;
        let mut count = made.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        changed.notify_all();
        let mut ready = ready;
        while *count < block * self.servers {
            let waited = changed.wait_timeout(count, source::OFTEN).unwrap_or_else(PoisonError::into_inner);
            count = waited.0;
            if waited.1.timed_out() && ready.is_ok() {
                drop(count);
                ready = source.stay();
                count = made.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
        ready
    }

    /// All regions of a block, each when all servers have had the one before: when it began and ended.
    fn regions(
        &self,
        source: &mut Source<'_, Driven<'_>>,
        (part, room): (Part, &mut [u8]),
        block: &Block,
        ready: &mut Result<()>,
        (turn, tally): (&mut u64, &mut Tally),
    ) -> Option<(Start, Start)> {
        let mut start = None;
        let mut slowness = self.slowness.clone();
        if self.overlaps {
            slowness = slowness.pacing(u64::from(block.slices) * block.messages);
        }
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                *turn += 1;
                if let Err(error) = std::mem::replace(ready, Ok(())) {
                    // The first is told; others may have failed because of it.
                    let _ = self.failure.set((*turn, error));
                }
                tally.watch.begin(u64::from(tally.number));
                let done_ns = monotonic_ns();
                self.barrier.wait();
                tally.watch.between(OTHERS, done_ns, monotonic_ns());
                // What fails meanwhile is of the next region: who sees it now would leave the others at its barrier.
                if self.failure.get().is_some_and(|(at, _)| at <= turn) {
                    return None;
                }
                if self.slowness.is_some() {
                    // One thread waits for all others of the client.
                    if part.server == 0 {
                        slowness.end();
                        slowness.begin();
                    }
                    self.barrier.wait();
                }
                let begun = start.get_or_insert_with(Start::now);
                tally.last_ns = tally.last_ns.max(begun.at_ns());
                let region = tally.number % REGIONS;
                *ready = match self.writes || self.by_row {
                    true => source.moved(part, region, room, (self.writes, self.by_row)),
                    false => source.read_ahead(part, region, (region + 1) % REGIONS, room),
                };
                tally.watch.end(u64::from(tally.number));
                tally.bytes += room.len() as u64;
                tally.number = tally.number.wrapping_add(1);
            }
            let done_ns = monotonic_ns();
            self.barrier.wait();
            tally.watch.between(OTHERS, done_ns, monotonic_ns());
            if part.server == 0 {
                slowness.end();
                let now = monotonic_ns();
                tally.slices_ns.push(now.saturating_sub(tally.last_ns));
                tally.last_ns = now;
            }
        }
        Some((start.unwrap_or_else(Start::now), Start::now()))
    }

    /// Whether what was read is the truth, or what was written is what is read.
    fn compare(
        &self,
        source: &mut Source<'_, Driven<'_>>,
        (part, region): (Part, u32),
        room: &[u8],
    ) -> Result<()> {
        let mut other = vec![0; room.len()];
        if !self.writes {
            part.fill(region, &mut other);
            layout::same(&other, room, region, source.host)?;
            // One more than was timed is on its way, as there was before the first slice that counts.
            let mut ahead = vec![0; room.len()];
            let Some(next) = source.drain(&mut ahead)? else { return Ok(()) };
            part.fill(next, &mut other);
            return layout::same(&other, &ahead, next, source.host);
        }
        source.moved(part, region, &mut other, (false, false))?;
        layout::same(room, &other, region, source.host)
    }
}
