//! What the connections of a session did, by what the kernel counts of each.

use super::{Observer, Seen, Watched, tcp_info};
use crate::Result;
use crate::record::SocketRecord;
use linerate_sys::socket::congestion_control;
use linerate_sys::tcp_info::tcp_info as read;
use std::net::TcpStream;

/// The connections as they were, one flow after the other.
struct Sockets(Vec<Vec<u8>>);

/// Begins.
pub(super) fn begin(watched: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    let before = watched.sockets.iter().map(|socket| Ok(read(socket)?)).collect::<Result<Vec<_>>>()?;
    Ok(Some(Box::new(Sockets(before))))
}

impl Observer for Sockets {
    fn end(&mut self, watched: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        for ((flow, socket), before) in (0..).zip(&watched.sockets).zip(&self.0) {
            seen.sockets.push(record(flow, socket, before)?);
        }
        Ok(())
    }
}

fn record(flow: u32, socket: &TcpStream, before: &[u8]) -> Result<SocketRecord> {
    let after = read(socket)?;
    Ok(SocketRecord {
        flow,
        congestion_control: Some(congestion_control(socket)?),
        moved: tcp_info::moved(before, &after),
        last: tcp_info::last(&after),
        ..SocketRecord::default()
    })
}
