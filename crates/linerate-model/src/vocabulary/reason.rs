//! Why something is not measured, by kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of reason.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// A host lacks what it takes: a library, a part of the kernel, an address.
    Lacking,
    /// The transport cannot do it on any host.
    Unable,
    /// These hosts would measure something else: ends that poll without a CPU each, a link that lets bursts pass.
    Untrue,
    /// There is no time for it.
    NoTime,
    /// It was tried, and failed.
    Failed,
    /// The run ended before.
    Unfinished,
    /// What came is too little for a number.
    TooLittle,
    /// A recording says none, or one that this version does not know.
    #[default]
    #[serde(other)]
    Unsaid,
}

/// A kind of reason, in words.
#[derive(Debug)]
pub struct ReasonEntry {
    /// Which.
    pub kind: ReasonKind,
    /// Its name in a recording.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// Every kind.
pub const REASONS: &[ReasonEntry] = &[
    ReasonEntry {
        kind: ReasonKind::Lacking,
        name: "lacking",
        about: "a host lacks what it takes: a library, a part of the kernel, an address",
    },
    ReasonEntry { kind: ReasonKind::Unable, name: "unable", about: "the transport cannot do it on any host" },
    ReasonEntry {
        kind: ReasonKind::Untrue,
        name: "untrue",
        about: "on these hosts something else would be measured",
    },
    ReasonEntry { kind: ReasonKind::NoTime, name: "no-time", about: "there is no time for it" },
    ReasonEntry { kind: ReasonKind::Failed, name: "failed", about: "it was tried, and failed" },
    ReasonEntry { kind: ReasonKind::Unfinished, name: "unfinished", about: "the run ended before" },
    ReasonEntry {
        kind: ReasonKind::TooLittle,
        name: "too-little",
        about: "what came is too little for a number",
    },
    ReasonEntry { kind: ReasonKind::Unsaid, name: "unsaid", about: "the recording does not say" },
];

impl ReasonKind {
    /// Whether nothing is known of it.
    pub fn is_unsaid(&self) -> bool {
        *self == ReasonKind::Unsaid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_line() {
        use ReasonKind::{Failed, Lacking, NoTime, TooLittle, Unable, Unfinished, Unsaid, Untrue};
        let all = [Lacking, Unable, Untrue, NoTime, Failed, Unfinished, TooLittle, Unsaid];
        let names: Vec<String> =
            all.iter().map(|kind| serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()).collect();
        assert_eq!(REASONS.iter().map(|entry| entry.kind).collect::<Vec<_>>(), all);
        assert_eq!(REASONS.iter().map(|entry| entry.name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_kind_of_tomorrow() {
        assert_eq!(serde_json::from_str::<ReasonKind>("\"of-tomorrow\"").unwrap(), ReasonKind::Unsaid);
    }
}
