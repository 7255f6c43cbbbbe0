//! A file in stripes on one server, which one client reads or writes, against a raw stream of messages of its regions' size, whose
//! bytes come from memory as those of the file do.

use super::row::{self, Row, Side};
use super::sessions::{self, BLOCK_NS, SLICES, Sessions};
use linerate::vocabulary::{Cache, Does};

/// The regions of PVFS's own test (P. Balaji et al., Cluster 2005, section 6.2).
const REGION: u64 = 2 << 20;

/// What the passive end does, and the active one; which of them keeps the time.
const ENDS: [(&str, [Does; 2], usize); 2] =
    [("read", [Does::Fetches, Does::Serves], 0), ("write", [Does::Keeps, Does::Stores], 1)];

/// Read, and written.
pub fn rows() -> Vec<Row> {
    let row = |(name, does, client): (&str, [Does; 2], usize)| Row {
        name: format!("striped-{name} 2 MiB, memory, 1 server x 1 client"),
        against: "network.tcp, 2 MiB from memory",
        unit: "b/s",
        aim: Some(0.95),
        measure: row::by_turns(move || {
            let (mut ours, mut raw) = (Sessions::open("tcp")?, Sessions::open("tcp")?);
            let bps = raw.stream(REGION, 8, Cache::Cold).and_then(|_| raw.stream(REGION, 8, Cache::Cold))?;
            let messages = (bps * BLOCK_NS / 8e9 / f64::from(SLICES) / REGION as f64) as u64;
            Ok(Box::new(move |side| match side {
                Side::Other => raw.stream(REGION, messages, Cache::Cold),
                Side::Ours => {
                    let block = sessions::block(REGION, messages);
                    let ends = ours.play(does, &["striped.store=memory"], None, block)?;
                    let bits = 8.0 * (REGION * block.messages * u64::from(SLICES - 1)) as f64;
                    Ok(1e9 * bits / sessions::counted_ns(&ends[client].flow.slices_ns) as f64)
                }
            }))
        }),
    };
    ENDS.map(row).into()
}
