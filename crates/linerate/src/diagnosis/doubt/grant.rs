//! Knobs that the kernel did not grant as asked.

use super::{Context, Finding};
use crate::record::Granted;
use crate::unit::{Bytes, Nanoseconds};
use crate::vocabulary::{KNOBS, KnobKind};
use serde_json::json;
use std::collections::BTreeMap;

/// The kernel doubles what is asked of a buffer, for its own accounting (socket(7), SO_SNDBUF).
const DOUBLED: &[&str] = &["socket.send-buffer", "socket.receive-buffer"];
/// What timestamps take from each segment (RFC 7323): the size that is read back is without them.
const TIMESTAMPS: u64 = 12;
const SEGMENT: &str = "tcp.mss";

/// Every knob of a layer's sessions that was granted otherwise, once for each pair of values.
pub(super) fn findings(context: &Context, index: usize) -> Vec<Finding> {
    let layer = &context.analysis.layers[index];
    let sessions = context.recording.sessions.iter().filter(|session| {
        session.pass > 0 && session.arm == 0 && session.rung == layer.rung && session.flows == layer.flows
    });
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for granted in sessions.flat_map(|session| &session.granted) {
        if let (Some(asked), Some(got)) = (&granted.asked, &granted.granted)
            && !is_granted(granted)
        {
            *counts.entry((&granted.knob, asked, got)).or_default() += 1;
        }
    }
    let finding = |((knob, asked, granted), ends): ((&str, &str, &str), u64)| {
        let detail = format!("{knob}={asked} asked, {granted} granted");
        let evidence = json!({ "knob": knob, "asked": asked, "granted": granted, "ends": ends });
        Finding::new("knob-not-granted", Some(index), detail, evidence)
    };
    counts.into_iter().map(finding).collect()
}

/// Whether what was read back is what was asked for; yes where one of them is not known.
fn is_granted(granted: &Granted) -> bool {
    let (Some(asked), Some(got)) = (&granted.asked, &granted.granted) else { return true };
    let kind = KNOBS.iter().find(|knob| knob.name == granted.knob).map(|knob| knob.kind);
    match kind {
        Some(KnobKind::Bytes) => match (asked.parse::<Bytes>(), got.parse::<Bytes>()) {
            (Ok(asked), Ok(got)) => is_size_granted(&granted.knob, asked.0, got.0),
            _ => asked == got,
        },
        Some(KnobKind::Duration) => match (asked.parse::<Nanoseconds>(), got.parse::<Nanoseconds>()) {
            (Ok(asked), Ok(got)) => asked == got,
            _ => asked == got,
        },
        _ => asked == got,
    }
}

fn is_size_granted(knob: &str, asked: u64, got: u64) -> bool {
    asked == got
        || (DOUBLED.contains(&knob) && got == asked.saturating_mul(2))
        || (knob == SEGMENT && got.saturating_add(TIMESTAMPS) == asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubled_buffer_is_granted_and_a_capped_one_is_not() {
        let cases = [
            ("socket.send-buffer", "256KiB", "524288", true),
            ("socket.send-buffer", "64MiB", "425984", false),
            ("socket.receive-buffer", "1", "2304", false),
            ("tcp.mss", "1460", "1448", true),
            ("tcp.mss", "1460", "536", false),
            ("tcp.congestion-control", "bbr", "cubic", false),
            ("tcp.no-delay", "on", "on", true),
            ("shim.spin", "5us", "5000ns", true),
            ("of.tomorrow", "x", "x", true),
        ];
        for (knob, asked, got, is) in cases {
            let granted = Granted { knob: knob.into(), asked: Some(asked.into()), granted: Some(got.into()) };
            assert_eq!(is_granted(&granted), is, "{knob} {asked} {got}");
        }
        let unread = Granted { knob: "tcp.mss".into(), asked: Some("1".into()), granted: None };
        assert!(is_granted(&unread));
    }
}
