//! A knob that the user set: `[RUNG:]KNOB=VALUE`.

use super::{Plan, Target};
use crate::unit::{BitRate, Bytes, Nanoseconds, count, within};
use crate::vocabulary::{KNOBS, Knob, KnobKind, LONGEST_NS, RATES, RUNGS, Rung, did_you_mean};
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

    /// Whether the setting does something to a rung.
    pub fn acts_on(&self, rung: &Rung) -> bool {
        let acts = |knob: &Knob| knob.acts_on(rung.transport.name);
        self.applies_to(rung.id) && Knob::named(&self.knob).is_some_and(acts)
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
        if let Err(why) = check(knob, value) {
            let why = if why.is_empty() { why } else { format!("{why}; ") };
            return Err(fail(
                format!("`{name}={}`: {why}it takes {}", shown(value), wanted(knob.kind)),
                format!("`linerate explain {name}` tells more"),
            ));
        }
        Ok(Setting { rung, knob: name.into(), value: value.into() })
    }
}

/// Why a value cannot be taken; empty where that is plain to see.
fn check(knob: &Knob, value: &str) -> Result<(), String> {
    let plain = |is_value: bool| if is_value { Ok(()) } else { Err(String::new()) };
    match knob.kind {
        KnobKind::Bytes(least, most) => {
            within(value.parse(), Bytes(least), Bytes(most), |size| size).map(drop)
        }
        KnobKind::Duration => {
            let [least, most] = [0.0, LONGEST_NS].map(Nanoseconds);
            within(value.parse(), least, most, |time| time.rounded(1)).map(drop)
        }
        KnobKind::Rate => {
            let [least, most] = RATES.map(BitRate);
            within(value.parse(), least, most, |rate| rate.rounded(1)).map(drop)
        }
        KnobKind::Count(least, most) => {
            within(count(value), u64::from(least), u64::from(most), |count| count).map(drop)
        }
        KnobKind::Switch => plain(value == "on" || value == "off"),
        KnobKind::Name => {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            plain((1..16).contains(&value.len()) && value.chars().all(legal))
        }
        KnobKind::OneOf(words) => plain(words.contains(&value)),
        KnobKind::Variables => {
            let words: Vec<&str> = value.split_ascii_whitespace().collect();
            plain(!words.is_empty() && words.iter().all(|word| is_variable(word)))?;
            let names: Vec<_> = words.iter().filter_map(|word| word.split_once('=')).collect();
            let twice =
                (1..names.len()).find(|at| names[..*at].iter().any(|(name, _)| *name == names[*at].0));
            twice.map_or(Ok(()), |at| Err(format!("{} is said twice", names[at].0)))
        }
        KnobKind::Path => plain(value.starts_with('/') && value.len() <= PATH_MAX && !value.contains('\0')),
        KnobKind::Placement => plain(value.parse::<Placement>().is_ok()),
    }
}

/// So much of a value as a message needs.
fn shown(value: &str) -> String {
    const MOST: usize = 80;
    let more = if value.chars().nth(MOST).is_some() { "…" } else { "" };
    value.chars().take(MOST).chain(more.chars()).collect()
}

impl Plan {
    /// Everything that it sets, for all of its cases or for some.
    pub fn all_settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter().chain(self.arms.iter().flat_map(|arm| &arm.settings))
    }

    /// What its hosts are to try before anything is measured, each value once.
    pub fn to_try(&self) -> Vec<Setting> {
        let in_lab = matches!(self.target, Target::Lab(_));
        let is_tried =
            |setting: &&Setting| Knob::named(&setting.knob).is_some_and(|knob| knob.had.is_tried(in_lab));
        let mut asked: Vec<Setting> =
            self.all_settings().filter(is_tried).map(|one| Setting { rung: None, ..one.clone() }).collect();
        asked.sort_by(|a, b| (&a.knob, &a.value).cmp(&(&b.knob, &b.value)));
        asked.dedup();
        asked
    }
}

/// The first knob that is set twice for the same rungs: what the first value was for nobody would know.
pub fn said_twice(settings: &[Setting]) -> Option<SettingError> {
    let same = |a: &Setting, b: &Setting| (&a.knob, &a.rung) == (&b.knob, &b.rung);
    let twice = (1..settings.len()).find_map(|at| {
        let first = settings[..at].iter().find(|one| same(one, &settings[at]))?;
        Some((first, &settings[at]))
    });
    twice.map(|(first, second)| SettingError {
        what: format!("{} is set twice: {first} and {second}", second.knob),
        hint: "say it once; each value in a run of its own, or linerate ab --set KNOB=VALUE,VALUE".into(),
    })
}

/// `NAME=VALUE`.
fn is_variable(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(legal))
}

fn wanted(kind: KnobKind) -> String {
    match kind {
        KnobKind::Bytes(least, most) => {
            let example = if most < 64 << 10 { "1000" } else { "256KiB" };
            format!("a size of {} to {} (try {example})", Bytes(least), Bytes(most))
        }
        KnobKind::Duration => {
            format!("a time of at most {} (try 5us)", Nanoseconds(LONGEST_NS).rounded(1))
        }
        KnobKind::Rate => {
            let [least, most] = RATES.map(|rate| BitRate(rate).rounded(1));
            format!("a rate of {least} to {most} (try 100Mb/s)")
        }
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
            ("socket.send-buffer=2GiB", "more than 1 GiB; it takes a size of 1 B to 1 GiB"),
            ("socket.send-buffer=-5KiB", "below zero"),
            ("socket.send-buffer=1gb", "1GB by thousands, 1GiB by 1024"),
            ("socket.send-buffer=1Gb/s", "it is a rate"),
            ("tcp.mss=40000", "more than 32767 B"),
            ("tcp.pacing-rate=1GB", "1Gb/s is bits a second, 1GB/s bytes a second"),
            ("tcp.pacing-rate=2Tb/s", "more than 1 Tb/s"),
            ("shim.spin=2s", "more than 1 s"),
            ("shim.copies=1,000", "without `,`"),
            ("socket.dscp=64", "more than 63"),
            ("mpi.environment=A=1 A=2", "A is said twice"),
        ];
        for (text, part) in cases {
            let error = text.parse::<Setting>().unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_knob_is_set_once_for_the_same_rungs() {
        let read = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Setting>>();
        let twice = said_twice(&read(&["tcp.mss=536", "tcp.no-delay=on", "tcp.mss=900"])).unwrap();
        assert_eq!(twice.what, "tcp.mss is set twice: tcp.mss=536 and tcp.mss=900");
        assert_eq!(said_twice(&read(&["tcp.mss=536", "network:tcp.mss=900"])), None);
    }

    #[test]
    fn a_scope_is_a_whole_dotted_part() {
        let setting: Setting = "network:tcp.no-delay=on".parse().unwrap();
        assert!(setting.applies_to("network.tcp") && !setting.applies_to("in-host.tcp"));
    }

    /// A value of a knob as it is printed, that far from its least to its greatest one.
    fn printed(kind: KnobKind, share: f64) -> String {
        let at = |least: f64, most: f64| least * (most / least).powf(share);
        match kind {
            KnobKind::Bytes(least, most) => {
                Bytes((at(least as f64, most as f64).round() as u64).clamp(least, most)).to_string()
            }
            KnobKind::Duration => Nanoseconds(at(1.0, 0.99 * LONGEST_NS)).rounded(3),
            KnobKind::Rate => BitRate(at(1.01 * RATES[0], 0.99 * RATES[1])).rounded(3),
            KnobKind::Count(least, most) => (least + (f64::from(most - least) * share) as u32).to_string(),
            KnobKind::Switch => ["on", "off"][(2.0 * share) as usize].into(),
            KnobKind::Name => "reno".into(),
            KnobKind::OneOf(words) => words[(words.len() as f64 * share) as usize].into(),
            KnobKind::Variables => "A=1 B=2".into(),
            KnobKind::Path => "/opt/mpi".into(),
            KnobKind::Placement => "0,2/1,3".into(),
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_of_a_knob_can_be_set(knob in 0..KNOBS.len(), share in 0.0..1.0f64) {
            let (knob, value) = (&KNOBS[knob], printed(KNOBS[knob].kind, share));
            let read = format!("{}={value}", knob.name).parse::<Setting>();
            proptest::prop_assert!(read.is_ok(), "{}={}: {:?}", knob.name, value, read);
        }

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
