//! What is set on the links between hosts that are the run's own: for the whole lab, or for a case.

use super::{Plan, Target};
use crate::unit::Nanoseconds;
use crate::vocabulary::{LINK_ADAPTERS, LINK_COALESCE, LINK_COALESCE_FRAMES, LINK_MTU, LINK_OFFLOAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an adapter holds what has come before it interrupts its host: until the time is over since the first frame that
/// is held, or so many are. Without a time it holds none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coalescing {
    /// The time since the first of them.
    pub delay_ns: f64,
    /// How many at most; none for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
}

impl Coalescing {
    /// Whether it holds nothing.
    pub fn is_none(&self) -> bool {
        *self == Coalescing::default()
    }

    /// The keys of a lab's description that are set, as they are written.
    pub(super) fn as_written(&self) -> impl Iterator<Item = String> {
        let delay = (self.delay_ns > 0.0).then(|| format!("coalesce={}ns", self.delay_ns));
        delay.into_iter().chain(self.frames.map(|frames| format!("coalesce-frames={frames}")))
    }
}

/// What a case asks of the links; what it does not say is as the lab was built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSettings {
    /// The largest packet.
    pub mtu: Option<u32>,
    /// Whether the stack makes super-packets and takes them.
    pub offload: Option<bool>,
    /// How the hosts' adapters hold what comes.
    pub coalescing: Option<Coalescing>,
}

impl Plan {
    /// What a rung asks of the links in one arm: the knobs whose names begin with `link.`.
    pub fn links_for(&self, rung: &str, arm: u32) -> LinkSettings {
        let value = |knob: &str| self.value_for(rung, arm, knob);
        let of_lab = match &self.target {
            Target::Lab(topology) => topology.coalescing,
            Target::Ssh(_) | Target::Launched(_) | Target::Simulated(_) => Coalescing::default(),
        };
        let delay = value(LINK_COALESCE.name).and_then(|text| text.parse::<Nanoseconds>().ok());
        let frames = value(LINK_COALESCE_FRAMES.name).and_then(|text| text.parse().ok());
        let coalescing = Coalescing {
            delay_ns: delay.map_or(of_lab.delay_ns, |delay| delay.0),
            frames: frames.or(of_lab.frames),
        };
        LinkSettings {
            mtu: value(LINK_MTU.name).and_then(|text| text.parse().ok()),
            offload: value(LINK_OFFLOAD.name).map(|text| text == "on"),
            coalescing: (delay.is_some() || frames.is_some()).then_some(coalescing),
        }
    }

    /// The adapters of a host that a rung's connections go by in one arm.
    pub fn adapters_for(&self, rung: &str, arm: u32) -> u32 {
        self.value_for(rung, arm, LINK_ADAPTERS.name).and_then(|text| text.parse().ok()).unwrap_or(1)
    }

    /// The most adapters that something of the plan asks for: a lab's hosts have so many.
    pub fn most_adapters(&self) -> u32 {
        let all = self.settings.iter().chain(self.arms.iter().flat_map(|arm| &arm.settings));
        let asked = all.filter(|setting| setting.knob == LINK_ADAPTERS.name);
        asked.filter_map(|setting| setting.value.parse().ok()).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Arm, Profile, Rungs, View};

    fn plan(target: &str, set: &[&str]) -> Plan {
        let settings = set.iter().map(|text| text.parse().unwrap()).collect();
        Plan {
            target: target.parse().unwrap(),
            hosts: Vec::new(),
            profile: Profile::named("quick").unwrap(),
            view: View::Ladder(Rungs::named(["network.tcp"])),
            settings: Vec::new(),
            arms: vec![Arm::candidate(settings)],
            seed: 1,
            budget_ns: None,
        }
    }

    #[test]
    fn an_arm_says_what_the_links_are_to_be() {
        let links = |target: &str, set: &[&str]| plan(target, set).links_for("network.tcp", 1);
        assert_eq!(links("lab", &["tcp.mss=536"]), LinkSettings::default());
        let set = links("lab", &["link.mtu=9000", "link.offload=off"]);
        assert_eq!((set.mtu, set.offload, set.coalescing), (Some(9000), Some(false), None));
        let held = links("lab:coalesce=20us,coalesce-frames=8", &["link.coalesce=64us"]);
        assert_eq!(held.coalescing, Some(Coalescing { delay_ns: 64e3, frames: Some(8) }));
        let none = links("lab:coalesce=20us", &["link.coalesce=0ns"]);
        assert_eq!(none.coalescing, Some(Coalescing::default()));
        let two = plan("lab", &["link.adapters=2"]);
        assert_eq!((two.adapters_for("network.tcp", 1), two.most_adapters()), (2, 2));
        assert_eq!(two.adapters_for("network.tcp", 0), 1);
        assert_eq!(plan("lab", &["tcp.mss=536"]).most_adapters(), 1);
        let base = plan("lab", &["link.mtu=9000"]).links_for("network.tcp", 0);
        assert_eq!(base, LinkSettings::default(), "the plan as it stands asks for nothing");
    }
}
