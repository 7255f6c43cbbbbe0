//! One end of our side, as a process: `--end END [OFFER]`, both JSON. It prints its offer where it is the passive one,
//! then what it measured.

use linerate::pattern::Measured;
use linerate::plan::Block;
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
}

/// What it measured of a block, all flows together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Timed {
    /// When the first flow began and the last one ended.
    pub start_ns: u64,
    pub end_ns: u64,
    /// Bytes in this end's direction.
    pub bytes: u64,
    /// Messages, or the datagrams that came.
    pub messages: u64,
    /// The shortest slice of the first flow.
    pub best_s: f64,
}

impl Timed {
    /// From the first flow's start to the last one's end.
    pub fn seconds(&self) -> f64 {
        (self.end_ns - self.start_ns).max(1) as f64 / 1e9
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
    let of_block = |at: usize| summed(end.blocks[at], flows.iter().map(|flow| &flow[at]));
    tell(&(0..end.blocks.len()).map(of_block).collect::<Vec<Timed>>())
}

fn tell(what: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(what).map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// The end of a flow is its last stamp, for an end that makes stamps: what follows is no transfer.
fn summed<'m>(block: Block, flows: impl Iterator<Item = &'m Measured>) -> Timed {
    let mut all = Timed { start_ns: u64::MAX, end_ns: 0, bytes: 0, messages: 0, best_s: 0.0 };
    for (number, flow) in flows.map(|measured| &measured.flow).enumerate() {
        let stamped: u64 = flow.slices_ns.iter().sum();
        let lasted = if flow.slices_ns.is_empty() { flow.duration_ns } else { stamped };
        all.start_ns = all.start_ns.min(flow.start_ns);
        all.end_ns = all.end_ns.max(flow.start_ns + lasted);
        all.bytes += flow.bytes;
        all.messages += flow.messages.unwrap_or(block.messages * u64::from(block.slices));
        if number == 0 {
            all.best_s = flow.slices_ns.iter().min().map_or(0.0, |best| *best as f64 / 1e9);
        }
    }
    all
}
