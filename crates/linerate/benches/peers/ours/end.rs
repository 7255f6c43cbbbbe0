//! One end of our side, as a process: `--end END [OFFER]`, both JSON. It prints its offer where it is the passive one,
//! then what it measured.

use linerate::plan::Block;
use linerate::record::Flow;
use linerate::transport::{Offer, Spec, Task, named};
use linerate::vocabulary::{Does, Wait};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// The word by which this program is an end.
pub const END: &str = "--end";

/// What an end is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct End {
    pub spec: Spec,
    pub does: Does,
    pub wait: Wait,
    pub blocks: Vec<Block>,
    /// What of a block's time is counted, from its begin: as the peers, who work for a time and not for a number of
    /// messages. All of it where nothing is said.
    pub counted_s: Option<f64>,
}

/// What it measured of a block, all flows together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// From the first flow's start to the last one's end.
    pub whole_ns: u64,
    /// The part of it that counts, in which all flows were at work.
    pub counted_ns: u64,
    /// Bytes in this end's direction, of the whole.
    pub all_bytes: u64,
    /// Those of the part that counts.
    pub bytes: f64,
    /// Its messages, or the datagrams that came.
    pub messages: f64,
    /// The shortest slice of the first flow.
    pub best_s: f64,
}

impl Timed {
    /// The time that counts.
    pub fn seconds(&self) -> f64 {
        self.counted_ns.max(1) as f64 / 1e9
    }

    /// All its time.
    pub fn whole_s(&self) -> f64 {
        self.whole_ns.max(1) as f64 / 1e9
    }
}

/// Plays an end. The CPU is the process's: a task that names none starts no spinner of its own, so that the CPU time is
/// what the work took.
pub fn play(end: &str, offer: Option<&str>) -> Result<(), String> {
    let end: End = serde_json::from_str(end).map_err(|error| error.to_string())?;
    let said = |error: linerate::Error| error.to_string();
    let (pending, own) = named(&end.spec.transport).and_then(|it| it.offer(&end.spec)).map_err(said)?;
    if end.spec.passive {
        tell(&own)?;
    }
    let other = offer.map_or(Ok(Offer::Nothing), serde_json::from_str).map_err(|error| error.to_string())?;
    let mut session = pending.join(&other).map_err(said)?;
    let task = [Task { does: end.does, cpus: Vec::new() }];
    let flows = session.trial(&task, end.wait, &end.blocks).map_err(said)?.remove(0);
    let of_block = |at: usize| {
        let flows: Vec<&Flow> = flows.iter().map(|flow| &flow[at].flow).collect();
        summed(end.blocks[at], &flows, end.counted_s)
    };
    tell(&(0..end.blocks.len()).map(of_block).collect::<Vec<Timed>>())
}

fn tell(what: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(what).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// What all flows did together until the time that counts was over, or the first of them had no more to do: after that
/// the others have the machine for themselves.
fn summed(block: Block, flows: &[&Flow], counted_s: Option<f64>) -> Timed {
    let start = flows.iter().map(|flow| flow.start_ns).min().unwrap_or(0);
    let ends = || flows.iter().map(|flow| flow.start_ns + lasted(flow));
    let end = ends().max().unwrap_or(start);
    let until = counted_s
        .map_or(end, |counted_s| (start + (counted_s * 1e9) as u64).min(ends().min().unwrap_or(start)));
    let counted = |of: fn(&Flow, Block) -> u64| {
        flows.iter().map(|flow| share(flow, until) * of(flow, block) as f64).sum()
    };
    Timed {
        whole_ns: end - start,
        counted_ns: until - start,
        all_bytes: flows.iter().map(|flow| flow.bytes).sum(),
        bytes: counted(|flow, _| flow.bytes),
        messages: counted(|flow, block| flow.messages.unwrap_or(block.messages * u64::from(block.slices))),
        best_s: flows
            .first()
            .and_then(|flow| flow.slices_ns.iter().min())
            .map_or(0.0, |best| *best as f64 / 1e9),
    }
}

/// The end of a flow is its last stamp, for an end that makes stamps: what follows is no transfer.
fn lasted(flow: &Flow) -> u64 {
    if flow.slices_ns.is_empty() { flow.duration_ns } else { flow.slices_ns.iter().sum() }
}

/// What part of a flow's work was done at a moment: whole slices, and of the one that is under way as much as of its time.
fn share(flow: &Flow, until: u64) -> f64 {
    let gone = until.saturating_sub(flow.start_ns);
    let whole = [lasted(flow)];
    let slices = if flow.slices_ns.is_empty() { &whole[..] } else { &flow.slices_ns[..] };
    let (mut at, mut done) = (0, 0.0);
    for slice in slices {
        let part = (gone - at).min(*slice);
        done += part as f64 / (*slice).max(1) as f64;
        at += part;
    }
    done / slices.len() as f64
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::{Timed, summed};
    use linerate::plan::Block;
    use linerate::record::Flow;

    const S: u64 = 1_000_000_000;

    fn flow(start_ns: u64, slices_ns: &[u64]) -> Flow {
        Flow { start_ns, slices_ns: slices_ns.to_vec(), bytes: 400, ..Flow::default() }
    }

    fn timed_of(flows: &[Flow], counted_s: Option<f64>) -> Timed {
        let block = Block { messages: 10, slices: 4, ..Block::default() };
        summed(block, &flows.iter().collect::<Vec<_>>(), counted_s)
    }

    #[test]
    fn a_time_counts_what_came_in_it() {
        let slows_down = [flow(7, &[S, S, 2 * S, 4 * S])];
        let timed = timed_of(&slows_down, Some(3.0));
        assert_eq!((timed.bytes, timed.messages, timed.seconds()), (250.0, 25.0, 3.0));
        assert_eq!((timed.all_bytes, timed.whole_s()), (400, 8.0));
        assert_eq!(timed_of(&slows_down, None).bytes, 400.0);
    }

    #[test]
    fn no_flow_is_counted_alone() {
        let unequal = [flow(0, &[S, S, S, S]), flow(S, &[S, S, 2 * S, 2 * S])];
        let timed = timed_of(&unequal, Some(100.0));
        assert_eq!((timed.seconds(), timed.bytes), (4.0, 400.0 + 250.0));
    }
}
