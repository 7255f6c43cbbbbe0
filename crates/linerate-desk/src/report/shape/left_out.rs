//! What was not measured, under the keys that the parts of a report have for it.

use crate::record::{NotMeasured, Reason};
use crate::vocabulary::{Pattern, ReasonKind, Wait};
use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reads and writes lists of it as lists of another form.
macro_rules! written_as {
    ($form:ident) => {
        pub fn serialize<S: Serializer>(list: &[NotMeasured], to: S) -> Result<S::Ok, S::Error> {
            to.collect_seq(list.iter().map($form::from))
        }

        pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<NotMeasured>, D::Error> {
            let list = Vec::<$form>::deserialize(from)?;
            Ok(list.into_iter().map(NotMeasured::from).collect())
        }
    };
}

fn unsaid(why: String, hint: String) -> Reason {
    Reason::new(ReasonKind::Unsaid, why, hint)
}

/// The name in a vocabulary that a word is, if it is one.
fn known<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, serde::de::value::Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

/// A part of a layer, which stands beside it.
pub(super) mod of_layer {
    use super::*;

    /// Something that was not measured.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "NotMeasured")]
    pub struct OfLayer {
        /// The pattern; null for all.
        pattern: Option<Pattern>,
        /// The wait mode; null for all.
        wait: Option<Wait>,
        /// The sizes with which it failed, in bytes; absent where none passed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        message_bytes: Vec<u64>,
        /// Why.
        why: String,
        /// What to try; empty where nothing helps.
        hint: String,
    }

    impl From<&NotMeasured> for OfLayer {
        fn from(not: &NotMeasured) -> OfLayer {
            let Reason { why, hint, .. } = not.reason.clone();
            let message_bytes = not.message_bytes.clone();
            OfLayer { pattern: not.pattern, wait: not.wait, message_bytes, why, hint }
        }
    }

    impl From<OfLayer> for NotMeasured {
        fn from(written: OfLayer) -> NotMeasured {
            let reason = unsaid(written.why, written.hint);
            let (pattern, wait, message_bytes) = (written.pattern, written.wait, written.message_bytes);
            NotMeasured { pattern, wait, message_bytes, reason, ..NotMeasured::default() }
        }
    }

    written_as!(OfLayer);
}

/// A part of a suite, which says its rung.
pub(super) mod of_suite {
    use super::*;

    /// What could not be measured.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "CaseLeftOut")]
    pub struct OfSuite {
        /// What: `network.tcp ping-pong polling`.
        what: String,
        /// The sizes with which it failed, in bytes; absent where none passed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        message_bytes: Vec<u64>,
        /// Why.
        why: String,
        /// What to try; empty where nothing helps.
        hint: String,
    }

    impl From<&NotMeasured> for OfSuite {
        fn from(not: &NotMeasured) -> OfSuite {
            let Reason { why, hint, .. } = not.reason.clone();
            OfSuite { what: not.what(), message_bytes: not.message_bytes.clone(), why, hint }
        }
    }

    impl From<OfSuite> for NotMeasured {
        fn from(written: OfSuite) -> NotMeasured {
            let host = NotMeasured::host_in(&written.what);
            let mut words = written.what.split(' ').filter(|_| host.is_none());
            NotMeasured {
                host,
                lost: host.is_some(),
                rung: words.next().unwrap_or_default().into(),
                pattern: words.clone().find_map(known),
                wait: words.clone().find_map(known),
                message_bytes: written.message_bytes,
                reason: unsaid(written.why, written.hint),
                ..NotMeasured::default()
            }
        }
    }

    written_as!(OfSuite);
}

/// A whole layer: two keys of it.
pub(super) mod whole {
    use super::*;

    /// Why nothing was measured.
    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    pub struct Whole {
        /// Why nothing was measured.
        unavailable: Option<String>,
        /// What to try then.
        hint: Option<String>,
    }

    pub fn serialize<S: Serializer>(not: &Option<NotMeasured>, to: S) -> Result<S::Ok, S::Error> {
        let written = not.as_ref().map_or_else(Whole::default, |not| Whole {
            unavailable: Some(not.reason.why.clone()),
            hint: Some(not.reason.hint.clone()).filter(|hint| !hint.is_empty()),
        });
        written.serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<NotMeasured>, D::Error> {
        let Whole { unavailable, hint } = Whole::deserialize(from)?;
        let reason = unavailable.map(|why| unsaid(why, hint.unwrap_or_default()));
        Ok(reason.map(|reason| NotMeasured { reason, ..NotMeasured::default() }))
    }
}
