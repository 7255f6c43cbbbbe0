//! What others on the path keep of it: bytes that the interfaces carried beside those of the test's own connections.

use crate::analysis::foreign_bytes;
use crate::record::{HostDelta, SocketRecord};

/// Headers as a share of the payload, at a standard MTU.
const OF_PAYLOAD: f64 = 0.08;

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

/// What a host took in for others, and for the test.
fn of_host(delta: &HostDelta, sockets: &[SocketRecord]) -> Option<(f64, f64)> {
    let wires = delta.interfaces.iter().filter(|interface| interface.name != LOOPBACK);
    let (foreign, payload) = foreign_bytes(delta, sockets, wires, OF_PAYLOAD)?;
    Some((foreign.max(0.0), payload))
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
