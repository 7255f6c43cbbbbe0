//! What the connections of a session did, by what the kernel counts of each.

use super::{Observer, Seen, Watched, tcp_info};
use crate::Result;
use crate::record::SocketRecord;
use linerate_sys::socket::congestion_control;
use linerate_sys::tcp_info::{outstanding, tcp_info as read};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What was sent is waited for in steps of this, and no longer than that: by then nothing comes any more.
const PAUSE: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(2500);

/// A connection that sent so many times what it received has a stream's sending end.
const ONE_WAY: u64 = 2;

/// So many segments may be left: the acknowledgement of the last ones may be held back (RFC 1122 section 4.2.3.2).
const LEFT: u64 = 2;

/// The connections as they were, one flow after the other, and when.
struct Sockets(Vec<Vec<u8>>, Instant);

/// Begins.
pub(super) fn begin(watched: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    let before = watched.sockets.iter().map(|socket| Ok(read(socket)?)).collect::<Result<Vec<_>>>()?;
    Ok(Some(Box::new(Sockets(before, Instant::now()))))
}

impl Observer for Sockets {
    fn end(&mut self, watched: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        let done = watched.sockets.iter().map(|socket| Ok(read(socket)?)).collect::<Result<Vec<_>>>()?;
        let watched_ns = self.1.elapsed().as_nanos() as u64;
        if watched.settles {
            let sockets = watched.sockets.iter().zip(self.0.iter().zip(&done));
            let sending = sockets.filter(|(_, (before, done))| sends(before, done));
            settle(sending.map(|(socket, (_, done))| (*socket, tcp_info::last(done))))?;
        }
        for ((flow, socket), (before, done)) in (0..).zip(&watched.sockets).zip(self.0.iter().zip(&done)) {
            seen.sockets.push(SocketRecord {
                flow,
                congestion_control: Some(congestion_control(socket)?),
                watched_ns,
                moved: tcp_info::moved(before, done),
                drained: tcp_info::moved(done, &read(socket)?),
                last: tcp_info::last(done),
                ..SocketRecord::default()
            });
        }
        Ok(())
    }
}

/// Whether a connection is a stream's at its sending end.
fn sends(before: &[u8], done: &[u8]) -> bool {
    let moved = tcp_info::moved(before, done);
    let of = |name: &str| moved.get(name).copied().unwrap_or(0);
    of("bytes_sent") > ONE_WAY * of("bytes_received")
}

/// Waits until what was sent has been acknowledged: a sender is done when its buffer has the rest.
fn settle<'s>(sending: impl Iterator<Item = (&'s TcpStream, BTreeMap<String, u64>)>) -> Result<()> {
    let begun = Instant::now();
    for (socket, last) in sending {
        let left = LEFT * last.get("snd_mss").copied().unwrap_or(0);
        while outstanding(socket)? > left && begun.elapsed() < PATIENCE {
            sleep(PAUSE);
        }
    }
    Ok(())
}
