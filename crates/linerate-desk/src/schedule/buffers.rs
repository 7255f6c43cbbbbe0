//! Where the bytes of a block's messages lie, what they are, and how many are asked for at once: as the plan says.

use super::Entry;
use crate::plan::Plan;
use crate::record::HostFacts;
use crate::unit::Bytes;
use crate::vocabulary::{Cache, Content};

/// A message of this size or more comes from memory; used when a host does not say how large its L2 is.
const COLD_FROM: u64 = 2 << 20;

/// What a block says of its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    pub cache: Cache,
    pub read_bytes: u64,
    pub content: Content,
}

impl Buffers {
    /// Of messages of this size, which come from memory from `cold_from` on.
    pub fn for_size(plan: &Plan, entry: &Entry, size: u64, cold_from: u64) -> Buffers {
        let cache = cache(plan, entry, size, cold_from);
        Buffers { cache, read_bytes: read_bytes(plan, entry), content: content(plan, entry) }
    }
}

/// The value of a knob that only streams have: a record must not tell it of what does not.
fn of_stream<'p>(plan: &'p Plan, entry: &Entry, knob: &str) -> Option<&'p str> {
    let pattern = entry.case.pattern;
    let is_stream = pattern.has_rate() && !pattern.is_exchange();
    plan.value_for(entry.rung.id, entry.case.arm, knob).filter(|_| is_stream)
}

/// What a receiver of streams is told to ask for at once; 0 leaves it to the pattern.
fn read_bytes(plan: &Plan, entry: &Entry) -> u64 {
    let asked = of_stream(plan, entry, "stream.read-size");
    asked.and_then(|value| value.parse::<Bytes>().ok()).map_or(0, |bytes| bytes.0.max(1))
}

fn content(plan: &Plan, entry: &Entry) -> Content {
    match of_stream(plan, entry, "message.content") {
        Some("zeros") => Content::Zeros,
        _ => Content::Random,
    }
}

fn cache(plan: &Plan, entry: &Entry, size: u64, cold_from: u64) -> Cache {
    if let Some(cache) = entry.rung.cache {
        return cache;
    }
    match plan.value_for(entry.rung.id, entry.case.arm, "cache.mode") {
        Some("hot") => Cache::Hot,
        Some("cold") => Cache::Cold,
        _ if entry.case.pattern.is_exchange() || size < cold_from => Cache::Hot,
        _ => Cache::Cold,
    }
}

/// The size of the smallest L2 among the hosts, as their kernels claim: `L2 Unified 2048K, of 1 CPUs`.
pub fn cold_from(hosts: &[HostFacts]) -> u64 {
    let l2 = |host: &HostFacts| {
        let caches = host.environment.host.get("cpu.caches_claimed")?.as_array()?;
        let claim =
            caches.iter().filter_map(|cache| cache.as_str()).find(|cache| cache.starts_with("L2 "))?;
        let size = claim.split([' ', ',']).find_map(|word| word.strip_suffix('K'))?;
        Some(size.parse::<u64>().ok()? << 10)
    };
    hosts.iter().filter_map(l2).min().unwrap_or(COLD_FROM)
}
