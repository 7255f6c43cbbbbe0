//! What may be measured, validated against the vocabulary: a plan, and the steps that it is cut into.
//!
//! A plan > a session > a pass > a case > a trial > a slice > an exchange. A *pass* is one new
//! connection of every rung and one visit of every case in one shuffled order; a *trial* is one timed
//! visit; a *slice* is a part of a flow on the time axis.

mod arm;
mod description;
mod fault;
mod host;
mod network;
mod pair;
mod profile;
mod route;
mod setting;
mod shape;
pub mod sizes;
mod step;
mod suite;
mod switching;
mod target;
mod topology;
mod way;
mod wiring;
mod word;
mod world;

pub use arm::{
    Arm, ArmKind, CONFIRMATION_BLOCKS, Comparison, LEAST_BLOCKS, Metric, SLOWDOWN_PERCENT, candidates,
};
pub use description::{Open, is_lab_file};
pub use fault::Fault;
pub use host::{HostId, HostPair, NoHost, Pairs};
pub use network::{LONGEST_FILE, Network, NetworkLink, Switch};
pub use pair::{Pair, host_name, host_number};
pub use profile::{PROFILES, Profile, Shipped};
pub use setting::{Placement, Setting, SettingError};
pub use setting::{is_prefix, rungs_and_groups};
pub use shape::Shape;
pub use step::{Beside, Block, Case, Pace, Role, Step, Why};
pub use suite::{
    Claim, Expanded, FACTORS, Factor, LONGEST_PLAN, Level, Levels, LoadOf, PEAK, Roles, STEP, Suite,
    SuiteCase, SuiteError, SuiteFigure, SuiteTable, TableColumn, TableRow,
};
pub use switching::{CUT_THROUGH_BYTES, Switching};
pub use target::{Target, TargetError};
pub use topology::{Carrier, Topology, WireKind};
pub use way::Way;
pub use wiring::{WireLink, Wiring};
pub use world::World;

pub use crate::statistic::CONFIDENCE;

use core::net::{IpAddr, Ipv6Addr};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Everything that a run is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The hosts.
    pub target: Target,
    /// How many of the target's hosts take part.
    #[serde(default = "two", skip_serializing_if = "are_two")]
    pub hosts: u32,
    /// How much is measured, and for how long.
    pub profile: Profile,
    /// The rungs, by name, from the bottom up.
    pub rungs: Vec<String>,
    /// Whether the rungs were chosen by name: then siblings of the chain are measured at every size.
    #[serde(default)]
    pub named: bool,
    /// What is measured in place of the ladder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<Suite>,
    /// The knobs that are set.
    pub settings: Vec<Setting>,
    /// The address that a host's peer sends to, where it is not the one that the host was reached at.
    #[serde(default)]
    pub addresses: BTreeMap<String, IpAddr>,
    /// What is compared with the plan as it stands, if anything: a case's `arm` counts from 1 here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// The IPv6 address of a host, where it is not known otherwise.
    #[serde(default)]
    pub addresses6: BTreeMap<String, Ipv6Addr>,
    /// How the arms are compared; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Box<Comparison>>,
    /// Seeds every shuffled order.
    pub seed: u64,
    /// The time the run may take, when the user fixed it.
    pub budget_ns: Option<u64>,
}

/// A ladder stands between two hosts.
fn two() -> u32 {
    2
}

fn are_two(hosts: &u32) -> bool {
    *hosts == two()
}

impl Plan {
    /// A hash of all that decides what is measured: equal plans give equal hashes, whatever the seed.
    pub fn hash(&self) -> String {
        let unseeded = Plan { seed: 0, ..self.clone() };
        let text = serde_json::to_string(&unseeded).unwrap_or_default();
        Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether it is the ladder that is measured, and no suite.
    pub fn is_of_ladder(&self) -> bool {
        self.suites.is_empty()
    }

    /// The settings that apply to a rung in one arm; of two for the same knob the later one holds.
    pub fn settings_for(&self, rung: &str, arm: u32) -> impl Iterator<Item = &Setting> {
        let of_arm = (arm as usize).checked_sub(1).and_then(|index| self.arms.get(index));
        let added = of_arm.map_or(&[][..], |arm| &arm.settings);
        self.settings.iter().chain(added).filter(move |setting| setting.applies_to(rung))
    }

    /// The value of a knob for a rung in one arm; none where it was not set.
    pub fn value_for(&self, rung: &str, arm: u32, knob: &str) -> Option<&str> {
        let set = self.settings_for(rung, arm).filter(|setting| setting.knob == knob).last();
        set.map(|setting| setting.value.as_str())
    }
}
