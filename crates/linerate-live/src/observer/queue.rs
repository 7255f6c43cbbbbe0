//! What the queueing disciplines of the interfaces of the calling thread's network namespace did, as `tc -s qdisc` tells it.
//!
//! The disciplines of one kind at one interface are counted together, as those of a device with many queues.

use super::snapshot::wrapped;
use super::{Observer, Seen, Watched};
use crate::Result;
use linerate_sys::link::{self, QueueingDiscipline};
use std::collections::BTreeMap;

/// The disciplines as they were.
struct Queues {
    /// The interfaces' names by index.
    names: BTreeMap<u32, String>,
    before: Vec<QueueingDiscipline>,
}

/// Begins; without netlink there is nothing to see.
pub(super) fn begin(_: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    let (Ok(links), Ok(before)) = (link::links(), link::qdiscs()) else { return Ok(None) };
    let names = links.into_iter().map(|link| (link.index, link.name)).collect();
    Ok(Some(Box::new(Queues { names, before })))
}

impl Observer for Queues {
    fn end(&mut self, _: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        let after = link::qdiscs().unwrap_or_default();
        for (name, value) in moved(&self.names, &self.before, &after) {
            *seen.host.counters.entry(name).or_default() += value;
        }
        Ok(())
    }
}

/// What moved, by name; a discipline that is new began at zero, and one that is gone is not told of.
fn moved(
    names: &BTreeMap<u32, String>,
    before: &[QueueingDiscipline],
    after: &[QueueingDiscipline],
) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for now in after {
        let is_it = |then: &&QueueingDiscipline| {
            (then.index, then.place, &then.kind) == (now.index, now.place, &now.kind)
        };
        let then = before.iter().find(is_it).cloned().unwrap_or_default();
        let Some(interface) = names.get(&now.index) else { continue };
        let counters = [
            ("bytes", now.bytes.saturating_sub(then.bytes)),
            ("packets", wrapped(then.packets, now.packets)),
            ("drops", wrapped(then.drops, now.drops)),
            ("requeues", wrapped(then.requeues, now.requeues)),
            ("overlimits", wrapped(then.overlimits, now.overlimits)),
        ];
        let name = |counter| format!("queue.{interface}.{}.{counter}", now.kind);
        let counters = counters.into_iter().filter(|(_, value)| *value > 0);
        all.extend(counters.map(|(counter, value)| (name(counter), value)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disciplines_of_one_kind_are_counted_by_what_each_moved() {
        let names = BTreeMap::from([(2, "eth0".to_owned())]);
        let of = |parent: u16, packets: u32, drops: u32| QueueingDiscipline {
            index: 2,
            place: [(0, 0), (1, parent)],
            kind: "fq".into(),
            packets,
            drops,
            ..QueueingDiscipline::default()
        };
        // The second one's packets wrap, and the third one is new.
        let before = [of(1, 10, 3), of(2, u32::MAX, 0)];
        let after = [of(1, 15, 3), of(2, 4, 0), of(3, 7, 1)];
        let found = moved(&names, &before, &after);
        let wanted = [("packets", 5), ("packets", 5), ("packets", 7), ("drops", 1)];
        assert_eq!(found, wanted.map(|(counter, value)| (format!("queue.eth0.fq.{counter}"), value)));
        assert_eq!(moved(&BTreeMap::new(), &before, &after), [], "an interface without a name");
    }
}
