//! What an interface took in beside the test's own connections: bytes beyond their payload and headers.

use crate::record::{HostDelta, InterfaceDelta, SocketRecord};

/// Ethernet, IPv4 and TCP headers with timestamps and selective acknowledgements: no packet has more.
pub const HEADERS: f64 = 14.0 + 20.0 + 60.0;

/// What the control connection and neighbour discovery may add to a step; less payload than that proves nothing, either.
const SMALL_TALK: f64 = 1e6;

/// Bytes that a host's busiest interface took in for others, below nothing where headers are fewer than they may be, and the
/// payload of its own connections by `tcp_info`; none of a host that receives next to nothing of it. What passes a VLAN, a bond
/// or a bridge is counted there and at the one below, so that of several only one counts. A device may count a super-packet once
/// and the headers of all its segments: by the share of the payload, then.
pub fn foreign_bytes<'d>(
    delta: &HostDelta,
    sockets: &[SocketRecord],
    interfaces: impl Iterator<Item = &'d InterfaceDelta>,
    headers_a_byte: f64,
) -> Option<(f64, f64)> {
    let sum = |sockets: &mut dyn Iterator<Item = &SocketRecord>, counter: &str| -> f64 {
        sockets.filter_map(|socket| socket.moved.get(counter)).map(|bytes| *bytes as f64).sum()
    };
    let payload = sum(&mut sockets.iter().filter(|socket| socket.host == delta.host), "bytes_received");
    let again = sum(&mut sockets.iter(), "bytes_retrans");
    let busiest = interfaces.max_by_key(|interface| interface.rx_bytes)?;
    let headers = (HEADERS * busiest.rx_packets as f64).max(headers_a_byte * payload);
    let foreign = busiest.rx_bytes as f64 - payload - again - headers - SMALL_TALK;
    (payload > SMALL_TALK).then_some((foreign, payload))
}
