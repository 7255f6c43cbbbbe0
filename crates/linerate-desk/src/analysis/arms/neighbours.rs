//! What others on the path keep of it: bytes that the interfaces carried beside those of the test's own connections.

use crate::record::{HostDelta, SocketRecord};

/// Ethernet, IPv4 and TCP headers with timestamps and selective acknowledgements: no packet has more.
const HEADERS: f64 = 94.0;

/// The same as a share of the payload, at a standard MTU: a device may count a super-packet's headers once.
const OF_PAYLOAD: f64 = 0.08;

/// What the control connection and neighbour discovery may add to a step; less than that proves nothing, either.
const SMALL_TALK: f64 = 1e6;

/// Half of the path is theirs: what they keep beyond that is nobody's due.
const DUE: f64 = 0.5;

/// Below this share there are none.
const LEAST: f64 = 0.05;

const LOOPBACK: &str = "lo";

/// What the hosts and the connections of a step did.
type Step<'s> = (&'s [HostDelta], &'s [SocketRecord]);

/// The share of what came in at the receiving hosts that was others', up to the half that is theirs; none where the connections
/// tell nothing.
pub(super) fn neighbours_share<'s>(steps: impl Iterator<Item = Step<'s>>) -> Option<f64> {
    let seen = steps.flat_map(|(hosts, sockets)| hosts.iter().filter_map(move |one| of_host(one, sockets)));
    let (others, own) = seen.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = others / (others + own);
    (own > 0.0).then_some(if share < LEAST { 0.0 } else { share.min(DUE) })
}

/// What a host's interfaces took in for others, and for the test; none of a host that receives next to nothing of it.
fn of_host(delta: &HostDelta, sockets: &[SocketRecord]) -> Option<(f64, f64)> {
    let own = sockets.iter().filter(|socket| socket.host == delta.host);
    let payload: f64 = own.filter_map(|one| one.moved.get("bytes_received")).map(|bytes| *bytes as f64).sum();
    let again = sockets.iter().filter_map(|one| one.moved.get("bytes_retrans"));
    let again: f64 = again.map(|bytes| *bytes as f64).sum();
    // The busiest one: what passes a VLAN, a bond or a bridge is counted there and at the one below.
    let wires = delta.interfaces.iter().filter(|interface| interface.name != LOOPBACK);
    let busiest = wires.max_by_key(|interface| interface.rx_bytes)?;
    let (carried, packets) = (busiest.rx_bytes as f64, busiest.rx_packets as f64);
    let expected = payload + again + (HEADERS * packets).max(OF_PAYLOAD * payload) + SMALL_TALK;
    (payload > SMALL_TALK && carried > 0.0).then_some(((carried - expected).max(0.0), payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HostId;
    use crate::record::InterfaceDelta;

    fn share(own: u64, carried: u64) -> Option<f64> {
        let interface = InterfaceDelta {
            name: "eth0".into(),
            rx_bytes: carried,
            rx_packets: carried / 60_000,
            ..InterfaceDelta::default()
        };
        let hosts = [HostDelta { host: HostId(1), interfaces: vec![interface], ..HostDelta::default() }];
        let moved = [("bytes_received".to_owned(), own)].into();
        let sockets = [SocketRecord { host: HostId(1), moved, ..SocketRecord::default() }];
        neighbours_share([(&hosts[..], &sockets[..])].into_iter())
    }

    #[test]
    fn what_others_carry_is_theirs_up_to_a_half() {
        assert_eq!(share(100_000_000, 107_000_000), Some(0.0));
        assert_eq!(share(100_000_000, 400_000_000), Some(0.5));
        let fifth = share(400_000_000, 533_000_000).unwrap();
        assert!((fifth - 0.2).abs() < 0.02, "{fifth}");
        assert_eq!(share(0, 100_000_000), None);
    }
}
