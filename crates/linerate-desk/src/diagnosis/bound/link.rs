//! The line, or the token bucket, less headers and gaps.

use super::{Inputs, Limit};
use crate::diagnosis::wire::wire;
use crate::unit::BitRate;

pub(super) fn link(inputs: &Inputs) -> Option<Limit> {
    let wire = wire(inputs.recording, inputs.layer);
    let (line, payload) = (wire.line_bps?, wire.payload_bps?);
    let (directions, each_way) = if inputs.layer.both_ways { (2.0, " each way") } else { (1.0, "") };
    let evidence = format!(
        "{} at MTU {} leaves {} for payload{each_way}",
        BitRate(line),
        wire.mtu.unwrap_or(0),
        BitRate(payload),
    );
    let bps = payload * directions;
    Some(Limit { ceiling_bps: Some(bps), ..Limit::exact(bps, evidence) })
}
