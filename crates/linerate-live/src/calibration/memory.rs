//! What a copy costs, by the rungs that measure it in a run.

use super::{Found, ROUNDS};
use crate::plan::Block;
use crate::transport::{Offer, Spec, Task, named};
use crate::vocabulary::{COPY_COLD, COPY_HOT, Cache, Does, Pattern, RUNGS, Wait};
use crate::{Error, Result};

/// Bytes of one copy, and copies in a round: some milliseconds.
const HOT: (u64, u64) = (64 << 10, 4000);
const COLD: (u64, u64) = (1 << 20, 128);

pub(super) fn calibrate(cpu: Option<u32>, found: &mut Found) -> Result<()> {
    for (name, cache, (message_bytes, messages)) in
        [(COPY_HOT, Cache::Hot, HOT), (COPY_COLD, Cache::Cold, COLD)]
    {
        let block = Block { message_bytes, messages, slices: 1, lead: 0, cache, ..Block::default() };
        found.median(name, copies(cpu, &block)?);
    }
    Ok(())
}

/// Bytes a second of each round after a first one.
fn copies(cpu: Option<u32>, block: &Block) -> Result<Vec<f64>> {
    let copies =
        RUNGS.iter().find(|rung| rung.cache == Some(block.cache) && rung.patterns == [Pattern::Stream]);
    let rung = copies.ok_or_else(|| Error::usage("no rung copies memory", ""))?;
    let spec = Spec {
        transport: rung.transport.name.into(),
        flows: 1,
        passive: false,
        settings: Vec::new(),
        patience_ms: 10_000,
        ..Spec::default()
    };
    let mut session = named(rung.transport.name)?.offer(&spec)?.0.join(&Offer::Nothing)?;
    let task = [Task { does: Does::Copies, cpus: cpu.into_iter().collect() }];
    let measured = session.trial(&task, Wait::Polling, &vec![*block; ROUNDS + 1])?;
    let rounds = measured.into_iter().flatten().flatten().skip(1);
    Ok(rounds.map(|round| round.flow.bytes as f64 * 1e9 / round.flow.duration_ns.max(1) as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_by_the_rungs_of_a_run() {
        let block = Block {
            message_bytes: 4096,
            messages: 2,
            slices: 1,
            lead: 0,
            cache: Cache::Hot,
            ..Block::default()
        };
        let rounds = copies(None, &block).unwrap();
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().all(|rate| *rate > 0.0), "{rounds:?}");
    }
}
