//! What is not measured, and why.

use crate::plan::{Case, HostGroup, HostId, Pairs, Step};
use crate::unit::Bytes;
use crate::vocabulary::{Pattern, Place, ReasonKind, Rung, Wait};
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
    /// The case that failed; none where the whole rung is not tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Box<Case>>,
    /// Whether no session could be opened: what it would have carried has failed with it.
    #[serde(default, skip_serializing_if = "is_not")]
    pub session: bool,
    /// The sizes of the messages with which it failed; none for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_bytes: Vec<u64>,
    /// When it failed, since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ns: Option<u64>,
    /// Whether it is the host itself that is not reached, or gone for good: nothing is measured with it from then on.
    #[serde(default, skip_serializing_if = "is_not")]
    pub lost: bool,
    /// Whether it fell with a process of ours that ended or did not answer any more: that says nothing of the network.
    #[serde(default, skip_serializing_if = "is_not")]
    pub process: bool,
}

/// What is said before the name of a host that is lost.
const OF_HOST: &str = "host ";

fn is_not(flag: &bool) -> bool {
    !flag
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
    /// What is on record of a step that failed between these hosts. Another program's code is not tried again, nor is
    /// any of what it carries.
    pub fn failed(step: &Step, pairs: &Pairs, reason: Reason) -> NotMeasured {
        let rung = Rung::named(&step.case.rung);
        let is_here = rung.is_some_and(|rung| rung.place == Place::InHost);
        let is_own = !rung.is_some_and(|rung| rung.transport.foreign);
        NotMeasured {
            rung: step.case.rung.clone(),
            pattern: is_own.then_some(step.case.pattern),
            wait: (is_own && step.case.pattern.is_exchange()).then_some(step.case.wait),
            host: is_here.then(|| pairs.first().from),
            between: (!is_here).then(|| [pairs.senders(), pairs.receivers()]),
            reason,
            arm: Some(step.case.arm),
            after_steps: Some(step.number),
            case: is_own.then(|| Box::new(Case { pairs: pairs.clone(), ..step.case.clone() })),
            ..NotMeasured::default()
        }
    }

    /// Which part of the rung, for a reader: ` ping-pong polling`, ` stream from 2 KiB on`.
    pub fn part(&self) -> String {
        let pattern = self.pattern.map_or(String::new(), |pattern| format!(" {pattern}"));
        let wait = self.wait.map_or(String::new(), |wait| format!(" {wait}"));
        format!("{pattern}{wait}{}", self.sizes())
    }

    /// What of a run, for a reader: `network.tcp ping-pong polling`, `network.tcp stream x 4 a>b from 2 KiB on`.
    pub fn what(&self) -> String {
        match &self.case {
            _ if self.lost_host().is_some() => {
                self.host.map_or(String::new(), |host| format!("{OF_HOST}{host}"))
            }
            Some(case) if !case.id.is_empty() => format!("{}, {case}{}", case.id, self.sizes()),
            Some(case) => format!("{case}{}", self.sizes()),
            None if self.session => match &self.between {
                Some([from, to]) => format!("{} {from}>{to}", self.rung),
                None => self.rung.clone(),
            },
            None => format!("{}{}", self.rung, self.part()),
        }
    }

    /// The host that `what` says is lost.
    pub fn host_in(what: &str) -> Option<HostId> {
        what.strip_prefix(OF_HOST)?.parse().ok()
    }

    fn sizes(&self) -> String {
        let least = self.message_bytes.iter().min();
        least.map_or(String::new(), |least| format!(" from {} on", Bytes(*least)))
    }

    /// Whether it failed on the way as this one did: the same case, with messages of the same size.
    pub fn is_again(&self, earlier: &NotMeasured) -> bool {
        let case = |not: &NotMeasured| not.case.clone().filter(|_| !not.session);
        let place = |not: &NotMeasured| (not.rung.clone(), not.arm, not.host, not.between.clone());
        let what = |not: &NotMeasured| (place(not), case(not), not.message_bytes.clone());
        self.after_steps.is_some() && earlier.after_steps.is_some() && what(self) == what(earlier)
    }

    /// Whether a reader is told the same of a layer by both.
    pub fn repeats(&self, other: &NotMeasured) -> bool {
        let told = |not: &NotMeasured| {
            (
                not.pattern,
                not.wait,
                not.message_bytes.clone(),
                not.reason.why.clone(),
                not.reason.hint.clone(),
            )
        };
        told(self) == told(other)
    }

    /// The host that the run goes on without. Before it was marked, a failure of a host that was of no step was one.
    pub fn lost_host(&self) -> Option<HostId> {
        let is_of_step = self.after_steps.is_some() || self.case.is_some();
        self.host.filter(|_| self.lost || (self.reason.kind == ReasonKind::Failed && !is_of_step))
    }

    /// Whether it is no failure of what was measured: a process of ours ended or did not answer, or its host is gone.
    pub fn fell_with_host(&self) -> bool {
        self.process || self.lost
    }

    /// Whether this case failed on the way, or messages of some sizes of it.
    pub fn concerns(&self, case: &Case) -> bool {
        if let Some(host) = self.lost_host() {
            return case.pairs.has(host);
        }
        if let Some(failed) = self.case.as_ref().filter(|_| !self.session) {
            return **failed == *case;
        }
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
