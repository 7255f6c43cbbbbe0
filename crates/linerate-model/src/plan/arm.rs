//! What is compared with the plan as it stands: candidates, and the two controls that prove the method.

use super::{Metric, Setting, SettingError};
use crate::vocabulary::{KNOBS, KnobKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fewest blocks: below, no difference can be told at 95 %.
pub const LEAST_BLOCKS: u32 = 6;

/// Fresh blocks in which what won must win again.
pub const CONFIRMATION_BLOCKS: u32 = 6;

/// By how many per cent the positive control is slowed.
pub const SLOWDOWN_PERCENT: u32 = 10;

/// Settings that are tried beside the plan as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Arm {
    /// Its name in reports: the settings as they were typed, or what it is a control for.
    pub name: String,
    /// What it is tried for.
    #[serde(default)]
    pub kind: ArmKind,
    /// What it adds to the plan's own settings.
    pub settings: Vec<Setting>,
    /// The cause whose experiment it is; none where somebody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// What an arm is tried for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArmKind {
    /// To find out whether it differs.
    #[default]
    Candidate,
    /// The A/A control: the plan as it stands once more. It must not differ.
    Same,
    /// The positive control: the plan, slowed by a known share. It must differ.
    Slowed,
    /// Something known that is added, to see whether the rate is sensitive to it.
    Hindered,
}

/// How arms are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What decides; the other metric is watched.
    pub metric: Metric,
    /// Blocks before the first look.
    pub blocks: u32,
    /// Whether the blocks may be doubled once.
    pub extend: bool,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Connections of each arm in a block, one after the other: each is a pass.
    #[serde(default = "one")]
    pub connections: u32,
    /// Whether experiments are begun and dropped by what the recording shows, within the plan's budget; then `blocks` are
    /// the most of a race.
    #[serde(default, skip_serializing_if = "is_not")]
    pub adaptive: bool,
    /// The rate that is to be explained, in bits a second, where somebody expects one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_bps: Option<f64>,
    /// Whether experiments may change settings of the hosts, each of which is put back.
    #[serde(default, skip_serializing_if = "is_not")]
    pub hosts: bool,
}

fn one() -> u32 {
    1
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// Blocks of the plan as it stands and its controls alone, whose signs say which experiments are begun.
pub const FIRST_LOOK: u32 = 3;

/// Blocks of the race after which an experiment that gains nothing is dropped: the fewest of which a one-sided test at
/// 1 in 64 can say so.
pub const DROP_LOOK: u32 = LEAST_BLOCKS;

/// The blocks in which so many experiments can each be proved different: the least p of n blocks is 2 in 2 to the n, and
/// Holm multiplies it by their number.
pub fn race_blocks(begun: usize, alpha: f64) -> u32 {
    let needed = (2.0 * begun.max(1) as f64 / alpha).log2().floor() as u32 + 1;
    needed.max(LEAST_BLOCKS)
}

impl Comparison {
    /// The block that a pass belongs to; 0 for the discarded pass.
    pub fn block_of(&self, pass: u32) -> u32 {
        pass.div_ceil(self.connections.max(1))
    }

    /// The first pass of a block.
    pub fn first_pass(&self, block: u32) -> u32 {
        block.saturating_sub(1) * self.connections.max(1) + 1
    }
}

impl ArmKind {
    /// Whether it shows that the method can be believed.
    pub fn is_control(self) -> bool {
        matches!(self, ArmKind::Same | ArmKind::Slowed)
    }
}

impl Arm {
    /// An arm called as its settings are typed.
    pub fn candidate(settings: Vec<Setting>) -> Arm {
        let names: Vec<String> = settings.iter().map(Setting::to_string).collect();
        Arm { name: names.join(" + "), settings, ..Arm::default() }
    }

    /// Whether a search for causes chose it, and nobody asked for it: what a host has not of it is left out.
    pub fn is_of_search(&self) -> bool {
        self.cause.is_some() || self.kind == ArmKind::Hindered
    }

    /// The arm that must not differ and the one that must.
    pub fn controls() -> Result<[Arm; 2], SettingError> {
        let slowdown = format!("shim.slowdown={SLOWDOWN_PERCENT}").parse()?;
        Ok([
            Arm { name: "A/A control".into(), kind: ArmKind::Same, ..Arm::default() },
            Arm {
                name: "positive control".into(),
                kind: ArmKind::Slowed,
                settings: vec![slowdown],
                ..Arm::default()
            },
        ])
    }
}

/// Reads `a=1+b=2,c=3,4`: a comma separates candidates, `+` joins settings of one, and a bare value is
/// another level of the knob before it.
pub fn candidates(text: &str) -> Result<Vec<Vec<Setting>>, SettingError> {
    let mut found: Vec<Vec<Setting>> = Vec::new();
    for piece in text.split(',') {
        match found.last_mut().map(Vec::as_mut_slice) {
            Some([.., last]) if !piece.contains('=') => match continued(last, piece) {
                Some(whole) => *last = whole,
                None => {
                    let mut level = found.last().cloned().unwrap_or_default();
                    if let Some(last) = level.last_mut() {
                        *last = with_value(last, piece).parse()?;
                    }
                    found.push(level);
                }
            },
            _ => found.push(unfinished(piece)?),
        }
    }
    // A placement is read piece by piece, so it is checked when it is whole.
    found
        .iter()
        .map(|settings| settings.iter().map(|setting| setting.to_string().parse()).collect())
        .collect()
}

/// The settings of one candidate, joined by `+`; the last one may go on after a comma.
fn unfinished(piece: &str) -> Result<Vec<Setting>, SettingError> {
    let mut settings = Vec::new();
    for text in piece.split('+') {
        match text.split_once('=') {
            Some((name, value)) if is_placement(name) => {
                let (rung, knob) = match name.split_once(':') {
                    Some((rung, knob)) => (Some(rung.to_owned()), knob),
                    None => (None, name),
                };
                settings.push(Setting { rung, knob: knob.into(), value: value.into() });
            }
            _ => settings.push(text.parse()?),
        }
    }
    Ok(settings)
}

/// The setting with this piece as a further part of its value, where a comma belongs to the value.
fn continued(setting: &Setting, piece: &str) -> Option<Setting> {
    let longer = format!("{},{piece}", setting.value);
    let is_whole = setting.to_string().parse::<Setting>().is_ok();
    let goes_on = !is_whole || with_value(setting, &longer).parse::<Setting>().is_ok();
    (is_placement(&setting.knob) && goes_on).then(|| Setting { value: longer, ..setting.clone() })
}

fn with_value(setting: &Setting, value: &str) -> String {
    Setting { value: value.into(), ..setting.clone() }.to_string()
}

fn is_placement(name: &str) -> bool {
    let name = name.rsplit(':').next().unwrap_or(name);
    KNOBS.iter().any(|knob| knob.name == name && knob.kind == KnobKind::Placement)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        candidates(text).unwrap().into_iter().map(|settings| Arm::candidate(settings).name).collect()
    }

    #[test]
    fn commas_separate_candidates() {
        let cases: [(&str, &[&str]); 7] = [
            ("tcp.no-delay=off", &["tcp.no-delay=off"]),
            ("socket.send-buffer=64KiB,256KiB", &["socket.send-buffer=64KiB", "socket.send-buffer=256KiB"]),
            (
                "network.tcp:tcp.mss=536,1000,tcp.no-delay=off",
                &["network.tcp:tcp.mss=536", "network.tcp:tcp.mss=1000", "tcp.no-delay=off"],
            ),
            ("tcp.mss=536+tcp.no-delay=off", &["tcp.mss=536 + tcp.no-delay=off"]),
            (
                "tcp.no-delay=off+tcp.mss=536,900",
                &["tcp.no-delay=off + tcp.mss=536", "tcp.no-delay=off + tcp.mss=900"],
            ),
            ("cpu.placement=0,2/1,3,none", &["cpu.placement=0,2/1,3", "cpu.placement=none"]),
            ("cpu.placement=0/1,1/0,tcp.mss=536", &["cpu.placement=0/1", "cpu.placement=1/0", "tcp.mss=536"]),
        ];
        for (text, wanted) in cases {
            assert_eq!(names(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("64KiB", "no `=`"),
            ("tcp.mss=536,much", "tcp.mss=much"),
            ("cpu.placement=0,2", "cpu.placement=0,2"),
            ("tcp.mss=536+", "no `=`"),
            ("", "no `=`"),
        ] {
            let error = candidates(text).unwrap_err();
            assert!(error.what.contains(part), "{text}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_typed_is_read_or_refused(text in "([a-z.:]{0,12}|tcp.mss|cpu.placement)=?[0-9a-z,+/=]{0,20}") {
            let _ = candidates(&text);
        }
    }
}
