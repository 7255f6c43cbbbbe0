//! A knob that the user set: `[RUNG:]KNOB=VALUE`.

use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::{KNOBS, Knob, KnobKind, RUNGS, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Bytes of a path (limits.h).
const PATH_MAX: usize = 4096;

/// One knob and the value asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// A rung's name or a prefix of it; none for all rungs.
    pub rung: Option<String>,
    /// The knob's name.
    pub knob: String,
    /// The value, checked against the knob's kind.
    pub value: String,
}

/// Why a setting cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SettingError {
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub hint: String,
}

/// The CPUs of the two ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// Left to the scheduler.
    Unpinned,
    /// Each flow on the CPU on which the kernel receives its packets.
    Queue,
    /// The CPUs of the first end and of the second.
    Pinned(Vec<u32>, Vec<u32>),
}

impl Setting {
    /// Whether the setting is meant for this rung.
    pub fn applies_to(&self, rung: &str) -> bool {
        self.rung.as_deref().is_none_or(|prefix| is_prefix(prefix, rung))
    }
}

/// Whether `prefix` names `id` or a dotted group that `id` belongs to.
pub fn is_prefix(prefix: &str, id: &str) -> bool {
    id.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// `network`, `network.tcp`: every rung and every group that a dot ends, once.
pub fn rungs_and_groups() -> Vec<&'static str> {
    let groups = |id: &'static str| id.match_indices('.').map(move |(at, _)| &id[..at]);
    let mut names: Vec<&str> = RUNGS.iter().flat_map(|rung| groups(rung.id).chain([rung.id])).collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let fail = |what: String, hint: String| SettingError { what, hint };
        let (name, value) = text.split_once('=').ok_or_else(|| {
            fail(format!("`{text}` has no `=`"), "try --set socket.send-buffer=256KiB".into())
        })?;
        let (rung, name) = match name.split_once(':') {
            Some((rung, name)) => (Some(rung.to_owned()), name),
            None => (None, name),
        };
        if let Some(rung) = rung.as_deref().filter(|r| !RUNGS.iter().any(|known| is_prefix(r, known.id))) {
            let hint = did_you_mean(rungs_and_groups(), rung, "`linerate list rungs` shows them");
            return Err(fail(format!("no rung is called `{rung}`"), hint));
        }
        let knob = Knob::named(name).ok_or_else(|| {
            let hint =
                did_you_mean(KNOBS.iter().map(|knob| knob.name), name, "`linerate list knobs` shows them");
            fail(format!("no knob is called `{name}`"), hint)
        })?;
        if !is_value(knob, value) {
            return Err(fail(
                format!("`{name}={value}`: it takes {}", wanted(knob.kind)),
                format!("`linerate explain {name}` tells more"),
            ));
        }
        Ok(Setting { rung, knob: name.into(), value: value.into() })
    }
}

fn is_value(knob: &Knob, value: &str) -> bool {
    match knob.kind {
        KnobKind::Bytes => {
            value.parse::<Bytes>().is_ok_and(|bytes| bytes.0 > 0 && bytes.0 <= i32::MAX as u64)
        }
        KnobKind::Duration => value.parse::<Nanoseconds>().is_ok_and(|time| time.0 <= 1e9),
        KnobKind::Rate => value.parse::<BitRate>().is_ok_and(|rate| (1e3..=1e12).contains(&rate.0)),
        KnobKind::Count(least, most) => value.parse().is_ok_and(|count| (least..=most).contains(&count)),
        KnobKind::Switch => value == "on" || value == "off",
        KnobKind::Name => {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            (1..16).contains(&value.len()) && value.chars().all(legal)
        }
        KnobKind::OneOf(words) => words.contains(&value),
        KnobKind::Variables => value.split_ascii_whitespace().all(is_variable) && !value.trim().is_empty(),
        KnobKind::Path => value.starts_with('/') && value.len() <= PATH_MAX && !value.contains('\0'),
        KnobKind::Placement => value.parse::<Placement>().is_ok(),
    }
}

/// `NAME=VALUE`.
fn is_variable(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(legal))
}

fn wanted(kind: KnobKind) -> String {
    match kind {
        KnobKind::Bytes => "a size (try 256KiB)".into(),
        KnobKind::Duration => "a duration of at most 1s (try 5us)".into(),
        KnobKind::Rate => "a rate from 1kb/s to 1Tb/s (try 100Mb/s)".into(),
        KnobKind::Count(least, most) => format!("a whole number from {least} to {most}"),
        KnobKind::Switch => "on or off".into(),
        KnobKind::Name => "a name".into(),
        KnobKind::OneOf(words) => words.join(" or "),
        KnobKind::Variables => "variables (try UCX_TLS=tcp,self)".into(),
        KnobKind::Path => "a path that begins with /".into(),
        KnobKind::Placement => "a placement (try 0/1, 0,2/1,3, queue or none)".into(),
    }
}

impl FromStr for Placement {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "none" {
            return Ok(Placement::Unpinned);
        }
        if text == "queue" {
            return Ok(Placement::Queue);
        }
        let (first, second) = text.split_once('/').ok_or(())?;
        let cpus = |list: &str| -> Result<Vec<u32>, ()> {
            list.split(',').map(|cpu| cpu.parse().ok().filter(|cpu| *cpu < 1024).ok_or(())).collect()
        };
        Ok(Placement::Pinned(cpus(first)?, cpus(second)?))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rung {
            Some(rung) => write!(f, "{rung}:{}={}", self.knob, self.value),
            None => write!(f, "{}={}", self.knob, self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_printed() {
        for text in ["socket.send-buffer=256KiB", "network.tcp:shim.spin=5us", "cpu.placement=0,2/1,3"] {
            assert_eq!(text.parse::<Setting>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("socket.send-bufer=1", "socket.send-buffer"),
            ("socket.send-buffer=", "a size"),
            ("tcp.no-delay=maybe", "on or off"),
            ("cpu.placement=0", "a placement"),
            ("net.tcp:tcp.no-delay=on", "linerate list"),
            ("tcp.mss", "no `=`"),
        ];
        for (text, part) in cases {
            let error = text.parse::<Setting>().unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_scope_is_a_whole_dotted_part() {
        let setting: Setting = "network:tcp.no-delay=on".parse().unwrap();
        assert!(setting.applies_to("network.tcp") && !setting.applies_to("in-host.tcp"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_is_printed_and_read_again(
            knob in 0..KNOBS.len(), rung in "(network:|in-host.tcp:)?", value in "[a-z0-9.,/KMib]{0,12}",
        ) {
            if let Ok(setting) = format!("{rung}{}={value}", KNOBS[knob].name).parse::<Setting>() {
                proptest::prop_assert_eq!(setting.to_string().parse(), Ok(setting));
            }
        }
    }
}
