//! What a rank tells of its library: what that made of knobs, and which parts of it are in use.

use super::home::RankConnection;
use crate::record::Granted;
use crate::transport::Spec;
use crate::unit::Bytes;
use crate::vocabulary::{Knob, KnobKind};
use crate::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// What asks a rank for the values of names; those that it cannot tell are missing.
pub const REPORT: &str = "told";

/// What asks a rank for the [parts](super::parts) of its library.
pub const PARTS: &str = "parts";

/// All that a rank told.
#[derive(Debug, Default)]
pub struct RankReport {
    /// Of knobs.
    pub granted: Vec<Granted>,
    parts: Vec<String>,
}

impl RankReport {
    /// What follows what the library is.
    pub fn about(&self) -> String {
        if self.parts.is_empty() { String::new() } else { format!(", by {}", self.parts.join(", ")) }
    }
}

/// A knob of which a rank tells.
#[derive(Debug, PartialEq)]
pub struct ReportedKnob {
    /// The knob.
    pub knob: &'static str,
    /// What the library calls what it stands for.
    pub names: Vec<String>,
}

/// What a rank tells; a knob that was neither asked for nor told is left out.
pub fn ask(
    all: &[ReportedKnob],
    spec: &Spec,
    rank: &mut RankConnection,
    gone: &dyn Fn() -> Result<()>,
) -> Result<RankReport> {
    let names: Vec<&str> = all.iter().flat_map(|one| &one.names).map(String::as_str).collect();
    let values: BTreeMap<String, String> = match names.is_empty() {
        true => BTreeMap::new(),
        false => rank.ask_with(REPORT, &names, gone)?,
    };
    let of = |one: &ReportedKnob| Granted {
        knob: one.knob.into(),
        asked: spec.value(one.knob).map(String::from),
        granted: granted(one, &values),
    };
    let granted = all.iter().map(of).filter(|one| one.asked.is_some() || one.granted.is_some());
    Ok(RankReport { granted: granted.collect(), parts: rank.ask(PARTS, gone)? })
}

/// What a rank answers: the names of which `tell` knows the value.
pub fn answer(names: &Value, tell: impl Fn(&str) -> Option<String>) -> Result<Value> {
    let unreadable = |e| Error::usage(format!("{REPORT}: {e}"), "");
    let names: Vec<String> = serde_json::from_value(names.clone()).map_err(unreadable)?;
    let values = names.into_iter().filter_map(|name| tell(&name).map(|value| (name, value.into())));
    Ok(Value::Object(values.collect()))
}

/// One value where all names that are known have the same, otherwise each name with its own.
fn granted(told: &ReportedKnob, values: &BTreeMap<String, String>) -> Option<String> {
    let kind = Knob::named(told.knob).map(|knob| knob.kind);
    let known = told.names.iter().filter_map(|name| Some((name, as_knob(kind, values.get(name)?))));
    let known: Vec<(&String, String)> = known.collect();
    let (_, first) = known.first()?;
    if known.iter().all(|(_, value)| value == first) {
        return Some(first.clone());
    }
    let each: Vec<String> = known.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Some(each.join(" "))
}

/// A value as one would ask for it.
fn as_knob(kind: Option<KnobKind>, value: &str) -> String {
    match (kind, value) {
        (Some(KnobKind::Switch), "0") => "off".into(),
        (Some(KnobKind::Switch), "1") => "on".into(),
        (Some(KnobKind::Bytes), _) => {
            value.parse::<Bytes>().map_or_else(|_| value.into(), |it| it.to_string())
        }
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(knob: &'static str, values: &[(&str, &str)]) -> Option<String> {
        let names = ["tcp_limit", "sm_limit", "gone"].map(String::from).into();
        let values = values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        granted(&ReportedKnob { knob, names }, &values)
    }

    #[test]
    fn one_value_is_told_where_all_agree() {
        let knob = "mpi.eager-limit";
        assert_eq!(of(knob, &[("tcp_limit", "8192"), ("sm_limit", "8192")]).as_deref(), Some("8 KiB"));
        assert_eq!(of(knob, &[("sm_limit", "100")]).as_deref(), Some("100 B"));
        let apart = of(knob, &[("tcp_limit", "65536"), ("sm_limit", "4096")]);
        assert_eq!(apart.as_deref(), Some("tcp_limit=64 KiB sm_limit=4 KiB"));
        assert_eq!(of(knob, &[]), None);
        assert_eq!(of("mpi.yield", &[("tcp_limit", "1")]).as_deref(), Some("on"));
        assert_eq!(of("mpi.yield", &[("tcp_limit", "true")]).as_deref(), Some("true"));
    }

    #[test]
    fn an_unknown_name_is_missing_in_the_answer() {
        let tell = |name: &str| (name == "a").then(|| "1".to_owned());
        assert_eq!(answer(&json!(["a", "b"]), tell).unwrap(), json!({ "a": "1" }));
        assert!(answer(&json!({ "a": 1 }), tell).is_err());
    }
}
