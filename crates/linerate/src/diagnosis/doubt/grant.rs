//! Knobs that the kernel did not grant as asked.

use super::{Context, Finding};
use serde_json::json;
use std::collections::BTreeMap;

/// Every knob of a layer's sessions that was granted otherwise, once for each pair of values.
pub(super) fn findings(context: &Context, index: usize) -> Vec<Finding> {
    let layer = &context.analysis.layers[index];
    let sessions = context.recording.sessions.iter().filter(|session| {
        session.pass > 0 && session.arm == 0 && session.rung == layer.rung && session.flows == layer.flows
    });
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for granted in sessions.flat_map(|session| &session.granted) {
        if let (Some(asked), Some(got)) = (&granted.asked, &granted.granted)
            && !granted.is_as_asked()
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
