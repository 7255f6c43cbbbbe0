//! All that was sampled of a stream on one axis: block after block, each host by its own clock since the block began there.

use crate::plan::HostId;
use crate::record::{StreamSide, StreamTrace};
use schemars::JsonSchema;
use serde::Serialize;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamLine {
    /// The host.
    pub host: HostId,
    /// Whether that host sent.
    pub sends: bool,
    /// What was sampled: `linerate list metrics`.
    pub metric: String,
    /// Times on the axis, in nanoseconds.
    pub at_ns: Vec<u64>,
    /// The values.
    pub values: Vec<f64>,
}

/// All lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct StreamLines {
    /// Where each traced block begins on the axis.
    pub blocks_ns: Vec<u64>,
    /// Where the last one ends.
    pub end_ns: u64,
    /// The lines.
    pub lines: Vec<StreamLine>,
}

/// The lines of both hosts.
pub(super) fn lines(trace: &StreamTrace, hosts: [HostId; 2]) -> StreamLines {
    let mut all = StreamLines::default();
    for block in &trace.blocks {
        all.blocks_ns.push(all.end_ns);
        for (side, host, sends) in [(&block.sending, hosts[0], true), (&block.receiving, hosts[1], false)] {
            put(&mut all, side, host, sends);
        }
        let took_ns = block.sending.elapsed_ns.max(block.receiving.elapsed_ns);
        all.end_ns = all.end_ns.saturating_add(took_ns);
    }
    all
}

/// What was sampled while the block ran.
fn put(all: &mut StreamLines, side: &StreamSide, host: HostId, sends: bool) {
    for series in &side.series {
        for (metric, values) in &series.values {
            let known = all.lines.iter().position(|line| line.sends == sends && line.metric == *metric);
            let at = known.unwrap_or_else(|| {
                let metric = metric.clone();
                all.lines.push(StreamLine { host, sends, metric, at_ns: Vec::new(), values: Vec::new() });
                all.lines.len() - 1
            });
            let Some(line) = all.lines.get_mut(at) else { continue };
            for (time, value) in series.at_ns.iter().zip(values) {
                let Some(since) = time.checked_sub(side.begun_ns).filter(|since| *since <= side.elapsed_ns)
                else {
                    continue;
                };
                line.at_ns.push(all.end_ns.saturating_add(since));
                line.values.push(*value);
            }
        }
    }
}
