//! Whether TCP of the calling thread's network namespace was short of memory: what it counted of that in /proc/net/netstat.

use super::{Observer, Seen, TcpExt, Watched};
use crate::Result;
use std::collections::BTreeMap;

/// Counters of it, by the kernel's names (Documentation/networking/snmp_counter.rst).
const TOLD: [&str; 2] = ["TCPRcvQDrop", "TCPMemoryPressures"];

/// The counters as they were.
struct Memory(TcpExt);

/// Begins.
pub(super) fn begin(_: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    Ok(Some(Box::new(Memory(TcpExt::read()))))
}

impl Observer for Memory {
    fn end(&mut self, _: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        seen.host.counters.extend(named(self.0.moved(&TcpExt::read())));
        Ok(())
    }
}

/// Those of memory, by the names that a recording has.
fn named(moved: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let told = moved.into_iter().filter(|(name, _)| TOLD.contains(&name.as_str()));
    told.map(|(name, count)| (format!("tcp.{name}"), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counters_of_memory_are_told() {
        let moved = [("TCPRcvQDrop", 3), ("PruneCalled", 9), ("TCPMemoryPressures", 1)];
        let moved = moved.map(|(name, count)| (name.to_owned(), count)).into();
        let told = [("tcp.TCPRcvQDrop", 3), ("tcp.TCPMemoryPressures", 1)];
        assert_eq!(named(moved), told.map(|(name, count)| (name.to_owned(), count)).into());
    }
}
