//! What a pass takes beside its steps where a library's own programs do the work: they are started anew for each session.

use super::entries::Entry;
use std::collections::BTreeSet;

/// A launcher with its daemons, and two ranks that look for their network and for each other, and their end: 0.1 to 1.2 s in one
/// machine.
const SESSION_NS: u64 = 800_000_000;

/// The time of a pass in which sessions of these are opened.
pub(super) fn launching_ns(entries: &[Entry]) -> u64 {
    let session = |entry: &Entry| {
        let pairs = &entry.case.pairs;
        let ends = if pairs.is_forward() { pairs.clone() } else { pairs.reversed() };
        (entry.rung.id, entry.case.flows, entry.case.arm, ends)
    };
    let launched = entries.iter().filter(|entry| entry.rung.transport.foreign);
    launched.map(session).collect::<BTreeSet<_>>().len() as u64 * SESSION_NS
}
