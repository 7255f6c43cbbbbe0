//! A connection for each request: connect, request, answer, close. The answering end closes first, so that the ports
//! that wait afterwards (TIME_WAIT) are not the calling end's, which has few.

use super::{Clock, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::record::{Latencies, Tally};
use crate::vocabulary::{Does, Sample};
use std::io;

/// What each request begins with: the session's secret, and what makes it as long as any greeting.
pub const GREETING: usize = 40;

/// What makes connections, or takes them.
pub trait ConnectionEnd {
    /// One connection; it is closed when dropped.
    type Connection;
    /// Makes one: it stands when this returns.
    fn connect(&mut self) -> io::Result<Self::Connection>;
    /// Takes the next one, whoever made it, and its greeting; none where that did not come in time.
    fn accept(&mut self, greeting: &mut [u8]) -> io::Result<Option<Self::Connection>>;
    /// Sends all of `bytes`.
    fn push_all(&mut self, connection: &Self::Connection, bytes: &[u8]) -> io::Result<()>;
    /// Fills the first part of `bytes`, waiting for at least one; 0 where the other end has closed.
    fn pull(&mut self, connection: &Self::Connection, bytes: &mut [u8]) -> io::Result<usize>;
    /// The secret that a request of this session begins with.
    fn greeting(&self) -> [u8; GREETING];
}

/// The loops over what makes connections.
#[derive(Debug)]
pub struct ConnectionLoops<C>(pub C);

impl<C: ConnectionEnd> ConnectionLoops<C> {
    fn connect<K: Clock>(&mut self, clock: &K, block: &Block, walk: &mut Walk<'_>) -> io::Result<Moved> {
        let ConnectionLoops(end) = self;
        let len = block.message_bytes as usize;
        let (all, lead) = (block.messages * u64::from(block.slices), block.messages * u64::from(block.lead));
        let (greeting, mut bytes) = (end.greeting(), 0);
        let (mut set_up, mut transactions) = (Latencies::default(), Latencies::default());
        for number in 0..all {
            let room = walk.next(GREETING + len);
            room[..GREETING].copy_from_slice(&greeting);
            let begun = clock.now_ns();
            let connection = end.connect()?;
            let stands = clock.now_ns();
            end.push_all(&connection, room)?;
            bytes += fill(end, &connection, &mut room[GREETING..])?;
            let answered = clock.now_ns();
            if number >= lead {
                set_up.record(stands - begun);
                transactions.record(answered - begun);
            }
            // The other end closes first.
            end.pull(&connection, &mut room[..1])?;
        }
        let samples = vec![(Sample::SetUp, set_up), (Sample::Transaction, transactions)];
        let tally = Some(Box::new(Tally { transactions: Some(all), ..Tally::default() }));
        Ok(Moved { bytes, tally, samples, ..Moved::default() })
    }

    /// Whoever does not present the secret is not answered, and not counted.
    fn accept(&mut self, block: &Block, walk: &mut Walk<'_>) -> io::Result<Moved> {
        let ConnectionLoops(end) = self;
        let len = block.message_bytes as usize;
        let all = block.messages * u64::from(block.slices);
        let (greeting, mut answered, mut bytes) = (end.greeting(), 0, 0);
        while answered < all {
            let room = walk.next(GREETING + len);
            let Some(connection) = end.accept(&mut room[..GREETING])? else { continue };
            if room[..GREETING] != greeting {
                continue;
            }
            bytes += fill(end, &connection, &mut room[GREETING..])?;
            end.push_all(&connection, &room[GREETING..])?;
            answered += 1;
        }
        Ok(Moved { bytes, ..Moved::default() })
    }
}

/// Fills all of `bytes`.
fn fill<C: ConnectionEnd>(end: &mut C, connection: &C::Connection, bytes: &mut [u8]) -> io::Result<u64> {
    let mut filled = 0;
    while filled < bytes.len() {
        match end.pull(connection, &mut bytes[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            came => filled += came,
        }
    }
    Ok(filled as u64)
}

impl<C: ConnectionEnd + Send> Loops for ConnectionLoops<C> {
    /// There is nothing to agree on: a connection that comes early waits for the one who takes it.
    fn agree(&mut self, _does: Does, _duplex: bool) -> io::Result<()> {
        Ok(())
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        _stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        match does {
            Does::Connects => self.connect(&Monotonic, block, walk),
            Does::Accepts => self.accept(block, walk),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
