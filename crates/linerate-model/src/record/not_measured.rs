//! What is not measured, and why.

use crate::plan::{Case, HostGroup, HostId};
use crate::vocabulary::{Pattern, ReasonKind, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is not measured: known before the first step, found on the way, or seen by an analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotMeasured {
    /// The rung.
    pub rung: String,
    /// The pattern; none for all.
    pub pattern: Option<Pattern>,
    /// The wait mode; none for all.
    pub wait: Option<Wait>,
    /// The host, for in-host rungs; none for all.
    pub host: Option<HostId>,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
    /// Which of the plan's arms; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<u32>,
    /// The hosts between which it failed; none for a failure within one, or what was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[HostGroup; 2]>,
    /// How many steps were on record when it failed; none where it was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_steps: Option<u32>,
}

/// Why something is not measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What kind of reason it is.
    #[serde(default, skip_serializing_if = "ReasonKind::is_unsaid")]
    pub kind: ReasonKind,
    /// In words.
    pub why: String,
    /// What to try; empty where nothing helps.
    pub hint: String,
}

impl Reason {
    /// A reason of a kind: why, and what to try.
    pub fn new(kind: ReasonKind, why: impl Into<String>, hint: impl Into<String>) -> Reason {
        Reason { kind, why: why.into(), hint: hint.into() }
    }

    /// Why, with what to try behind it.
    pub fn sentence(&self) -> String {
        if self.hint.is_empty() { self.why.clone() } else { format!("{} ({})", self.why, self.hint) }
    }
}

impl NotMeasured {
    /// Which part of the rung, for a reader: ` ping-pong polling`.
    pub fn part(&self) -> String {
        let pattern = self.pattern.map_or(String::new(), |pattern| format!(" {pattern}"));
        let wait = self.wait.map_or(String::new(), |wait| format!(" {wait}"));
        format!("{pattern}{wait}")
    }

    /// Whether a reader is told the same of a layer by both.
    pub fn repeats(&self, other: &NotMeasured) -> bool {
        let told =
            |not: &NotMeasured| (not.pattern, not.wait, not.reason.why.clone(), not.reason.hint.clone());
        told(self) == told(other)
    }

    /// Whether this case failed on the way, and is not tried again.
    pub fn lost(&self, case: &Case) -> bool {
        let ends = [case.pairs.senders(), case.pairs.receivers()];
        // A session serves both directions.
        let is_between = |[one, other]: &[HostGroup; 2]| {
            [one, other] == [&ends[0], &ends[1]] || [other, one] == [&ends[0], &ends[1]]
        };
        let is_here = self.host.is_none_or(|host| host == case.pairs.first().from)
            && self.between.as_ref().is_none_or(is_between);
        self.after_steps.is_some() && self.rung == case.rung && self.arm == Some(case.arm) && is_here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_versions_wrote_is_read() {
        for text in [
            r#"{"rung":"network.udp6","pattern":null,"wait":null,"host":null,"why":"no","hint":""}"#,
            r#"{"rung":"in-host.tcp","pattern":"ping-pong","wait":"polling","host":"a","why":"no","hint":"try"}"#,
            r#"{"rung":"network.mpi","pattern":null,"wait":null,"host":null,"why":"failed: x","hint":"","arm":0,"between":["b+c","a"],"after_steps":3}"#,
        ] {
            let not: NotMeasured = serde_json::from_str(text).unwrap();
            assert!(not.reason.kind.is_unsaid());
            assert_eq!(serde_json::to_string(&not).unwrap(), text);
        }
    }

    #[test]
    fn a_kind_stands_before_its_words() {
        let reason = Reason::new(ReasonKind::NoTime, "no", "try");
        let text = serde_json::to_string(&NotMeasured { reason, ..NotMeasured::default() }).unwrap();
        assert!(text.contains(r#""kind":"no-time","why":"no","hint":"try""#), "{text}");
    }
}
