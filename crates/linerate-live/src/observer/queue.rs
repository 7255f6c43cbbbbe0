//! What the queueing disciplines at the roots of the interfaces of the calling thread's network namespace did, as
//! `tc -s qdisc` tells it. A root counts what those inside it pass and drop, so each packet is counted once.

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
        seen.host.counters.extend(moved(&self.names, &self.before, &after));
        Ok(())
    }
}

/// What moved, by name; a root that is new began at zero, and one that is gone is not told of.
fn moved(
    names: &BTreeMap<u32, String>,
    before: &[QueueingDiscipline],
    after: &[QueueingDiscipline],
) -> BTreeMap<String, u64> {
    let of_root = |now: &QueueingDiscipline| {
        let is_it =
            |then: &&QueueingDiscipline| then.is_root && (then.index, &then.kind) == (now.index, &now.kind);
        let then = before.iter().find(is_it).cloned().unwrap_or_default();
        let counters = [
            ("bytes", now.bytes.saturating_sub(then.bytes)),
            ("packets", wrapped(then.packets, now.packets)),
            ("drops", wrapped(then.drops, now.drops)),
            ("requeues", wrapped(then.requeues, now.requeues)),
            ("overlimits", wrapped(then.overlimits, now.overlimits)),
        ];
        let prefix = format!("queue.{}.{}", names.get(&now.index)?, now.kind);
        let moved = counters.into_iter().filter(|(_, value)| *value > 0);
        Some(moved.map(move |(counter, value)| (format!("{prefix}.{counter}"), value)))
    };
    after.iter().filter(|now| now.is_root).filter_map(of_root).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_queues_are_not_counted_twice() {
        let names = BTreeMap::from([(2, "eth0".to_owned())]);
        let of = |kind: &str, is_root: bool, packets: u32, drops: u32| QueueingDiscipline {
            index: 2,
            is_root,
            kind: kind.into(),
            packets,
            drops,
            ..QueueingDiscipline::default()
        };
        // The packets wrap.
        let before = [of("mq", true, u32::MAX, 3), of("fq", false, 10, 3)];
        let after = [of("mq", true, 4, 5), of("fq", false, 15, 5)];
        let wanted = [("queue.eth0.mq.packets", 5), ("queue.eth0.mq.drops", 2)];
        let wanted: BTreeMap<String, u64> = wanted.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(moved(&names, &before, &after), wanted);
        let replaced = [of("fq", true, 7, 0)];
        assert_eq!(moved(&names, &before, &replaced)["queue.eth0.fq.packets"], 7);
        assert!(moved(&BTreeMap::new(), &before, &after).is_empty(), "an interface without a name");
    }
}
