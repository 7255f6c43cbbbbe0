//! Buffers that go from a stage to the next against the raw stream of the same transport.

use super::row::{self, Row, Side};
use super::sessions::{self, BLOCK_NS, SLICES, Sessions};
use linerate::plan::{Graph, HandOut, HostId, Stage, Stream};
use linerate::vocabulary::{Cache, Does};

/// The buffer, and how much a unit of work is of.
const BUFFER: u64 = 64 << 10;
const UPDATE: u64 = 4 << 20;

/// Where the threads of both sides run, and what is set for that: all of a host on one CPU, or where the scheduler puts them, which
/// is for a raw stream of two threads often one CPU for both.
const PLACES: [(&str, bool, &[&str]); 2] = [
    ("a CPU a host", true, &["pipeline.units=ahead", "pipeline.update=4MiB", "cpu.placement=1/0"]),
    ("placed by the scheduler", false, &["pipeline.units=ahead", "pipeline.update=4MiB"]),
];

/// A stage on a host.
pub fn stage(id: &str, filter: &str, host: u16) -> Stage {
    Stage { id: id.into(), filter: filter.into(), host: vec![HostId(host)], ..Stage::default() }
}

/// Stages in a row.
pub fn row_of(stages: Vec<Stage>) -> Graph {
    let stream = |two: &[Stage]| Stream {
        graph: String::new(),
        from: two[0].id.clone(),
        to: two[1].id.clone(),
        hand_out: HandOut::default(),
        buffers: 4,
    };
    let streams = stages.windows(2).map(stream).collect();
    Graph { stages, streams }
}

/// TCP and what has no network below it.
pub fn rows() -> Vec<Row> {
    let all = ["tcp", "unix"].into_iter().flat_map(|transport| PLACES.map(move |place| (transport, place)));
    all.map(|(transport, (place, is_pinned, settings))| Row {
        name: format!("hand-over 64 KiB {transport}, {place}"),
        against: "its raw stream",
        unit: "b/s",
        aim: Some(0.95),
        measure: row::by_turns(move || {
            let (mut ours, raw) = (Sessions::open(transport)?, Sessions::open(transport)?);
            let mut raw = if is_pinned { raw } else { raw.placed_by_the_scheduler()? };
            let graph = row_of(vec![stage("give", "blank.give", 1), stage("count", "blank.count", 0)]);
            let bps =
                raw.stream(BUFFER, 256, Cache::Hot).and_then(|_| raw.stream(BUFFER, 256, Cache::Hot))?;
            let bytes = bps * BLOCK_NS / 8e9 / f64::from(SLICES);
            Ok(Box::new(move |side| match side {
                Side::Other => raw.stream(BUFFER, (bytes / BUFFER as f64) as u64, Cache::Hot),
                Side::Ours => {
                    let block = sessions::block(BUFFER, (bytes / UPDATE as f64) as u64);
                    let [last, _] = ours.play([Does::Stages; 2], settings, Some(&graph), block)?;
                    let bits = 8.0 * (UPDATE * block.messages * u64::from(SLICES - 1)) as f64;
                    Ok(1e9 * bits / sessions::counted_ns(&last.flow.slices_ns) as f64)
                }
            }))
        }),
    })
    .collect()
}
