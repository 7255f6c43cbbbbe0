//! Knobs that the kernel did not grant as asked.

use super::{Context, Finding};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Every knob of a layer's sessions that was granted otherwise, once for each pair of values.
pub(super) fn findings(context: &Context, index: usize) -> Vec<Finding> {
    let arms = arms(context, index);
    let layer = &context.layers[index];
    let sessions = context.recording.sessions.iter().filter(|session| {
        session.pass > 0 && session.rung == layer.rung && arms.contains(&(session.flows, session.arm))
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

/// The flows and arms that a layer's sessions have: those of the ladder are set as the whole run is, those of a
/// suite's case as its steps say.
fn arms(context: &Context, index: usize) -> BTreeSet<(u32, u32)> {
    let layer = &context.layers[index];
    if layer.suite.is_empty() {
        return BTreeSet::from([(layer.flows, 0)]);
    }
    let cases = context.recording.steps.iter().map(|step| &step.case);
    cases.filter(|case| case.id == layer.suite).map(|case| (case.flows, case.arm)).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::analyse;
    use crate::diagnosis::diagnose;
    use crate::plan::HostId;
    use crate::record::synthetic::Synthetic;
    use crate::record::{Event, Granted, SessionRecord};

    #[test]
    fn a_refused_knob_is_told_of_its_case() {
        let mut recording = Synthetic::default().recording();
        let is_one =
            |step: &&mut crate::record::StepRecord| step.case.rung == "network.tcp" && step.case.flows == 1;
        let mut steps = recording.steps.iter_mut().filter(is_one);
        for (id, arm) in [("mine.large", 3), ("mine.small", 2)] {
            let case = &mut steps.next().unwrap().case;
            (case.id, case.arm) = (id.into(), arm);
        }
        let (knob, asked, granted) =
            ("socket.send-buffer".into(), Some("64MiB".into()), Some("425984".into()));
        recording.push(Event::Session(SessionRecord {
            pass: 1,
            rung: "network.tcp".into(),
            flows: 1,
            arm: 3,
            host: HostId(0),
            worker: 0,
            granted: vec![Granted { knob, asked, granted }],
            endpoints: Vec::new(),
        }));
        let analysis = analyse(&recording);
        let diagnosis = diagnose(&recording, &analysis);
        let of_knob = diagnosis.of_suites.iter().filter(|finding| finding.code == "knob-not-granted");
        let cases: Vec<&str> =
            of_knob.map(|finding| analysis.suite_layers[finding.layer.unwrap()].suite.as_str()).collect();
        assert_eq!(cases, ["mine.large"]);
    }
}
