//! What makes a number doubtful and can be seen at once; the report looks at much more.

use crate::plan::Case;
use crate::record::{Event, SessionRecord, StepRecord, Trial};
use crate::vocabulary::{Pattern, WARNINGS, Wait};

/// A warning, however often it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What, and where.
    pub text: String,
    /// How often.
    pub times: u32,
}

/// A warning of the vocabulary, and whether a single trial or step shows it.
type Check<T> = (&'static str, fn(&T) -> bool);

const OF_TRIALS: &[Check<Trial>] =
    &[("migrated", |trial| trial.roles.iter().flat_map(|role| &role.flows).any(|flow| flow.migrated))];
const OF_STEPS: &[Check<StepRecord>] = &[
    ("retransmits", sent_again),
    ("softnet-drops", |step| step.hosts.iter().any(|host| host.softnet_dropped > 0)),
    ("queue-drops", |step| step.hosts.iter().any(|host| host.counted("queue.", ".drops") > 0)),
    ("timer-slack", |step| !step.timer_slack_lowered),
    ("not-kept-awake", |step| step.case.wait == Wait::Sleeping && step.roles.len() > 1 && !step.kept_awake),
];

fn sent_again(step: &StepRecord) -> bool {
    let again = |moved: &std::collections::BTreeMap<String, u64>| moved.get("total_retrans").copied();
    step.case.pattern != Pattern::PingPong && step.sockets.iter().any(|s| again(&s.moved).unwrap_or(0) > 0)
}

/// What an event makes doubtful, in words; `name` is that of a case's line.
pub fn lines_for(event: &Event, name: &dyn Fn(&Case) -> String) -> Vec<String> {
    match event {
        Event::Trial(trial) if trial.pass > 0 => found(OF_TRIALS, trial, &name(&trial.case)),
        Event::Step(step) if step.pass > 0 => found(OF_STEPS, step, &name(&step.case)),
        Event::Session(session) => not_granted(session),
        Event::NotMeasured(it) => {
            let pattern = it.pattern.map_or(String::new(), |pattern| format!(" {pattern}"));
            let wait = it.wait.filter(|_| it.pattern == Some(Pattern::PingPong));
            let wait = wait.map_or(String::new(), |wait| format!(" {wait}"));
            vec![format!("{}{pattern}{wait} is not measured: {}", it.rung, it.reason.why)]
        }
        _ => Vec::new(),
    }
}

fn found<T>(checks: &[Check<T>], seen: &T, name: &str) -> Vec<String> {
    let codes = checks.iter().filter(|(_, is_doubtful)| is_doubtful(seen)).map(|(code, _)| code);
    let meaning = |code: &str| WARNINGS.iter().find(|known| known.code == code).map_or("", |it| it.meaning);
    codes.map(|code| format!("{name}: {}", meaning(code))).collect()
}

fn not_granted(session: &SessionRecord) -> Vec<String> {
    let refused = session.granted.iter().filter(|knob| !knob.is_as_asked());
    let text = |(knob, asked, granted): (&str, &str, &str)| {
        format!("{}: {knob}={asked} was asked, {granted} granted", session.rung)
    };
    let values =
        refused.filter_map(|it| Some((it.knob.as_str(), it.asked.as_deref()?, it.granted.as_deref()?)));
    values.map(text).collect()
}
