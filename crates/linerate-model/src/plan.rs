//! What may be measured, validated against the vocabulary: a plan, and the steps that it is cut into.
//!
//! A plan > a session > a pass > a case > a trial > a slice > an exchange. A *pass* is one new
//! connection of every rung and one visit of every case in one shuffled order; a *trial* is one timed
//! visit; a *slice* is a part of a flow on the time axis.

mod address;
mod application;
mod arm;
mod compared;
mod description;
mod fault;
mod filter;
mod host;
mod host_list;
mod host_pair;
mod launched;
mod links;
mod matrix;
mod network;
mod one_way_path;
mod pair;
mod port;
mod ports;
mod profile;
mod route;
mod search;
mod setting;
mod shape;
pub mod sizes;
mod step;
mod suite;
mod switching;
mod sysctl;
mod target;
mod topology;
mod tuning;
mod view;
mod wiring;
mod word;
mod world;
mod written;

pub use address::{HostAddress, NoAddress};
pub use application::{APPLICATIONS, Application};
pub use arm::{
    Arm, ArmKind, CONFIRMATION_BLOCKS, Comparison, DROP_LOOK, FIRST_LOOK, LEAST_BLOCKS, SLOWDOWN_PERCENT,
    candidates, race_blocks,
};
pub use compared::{COMPARED_BY, Metric, MetricEntry};
pub use description::{Open, is_lab_file};
pub use fault::Fault;
pub use filter::{FilterDuty, FilterPlace, FilterSettings, Fits, Hook, Tracking, router};
pub use host::{HostGroup, HostId, NoHost, PlannedHost};
pub use host_pair::{HostPair, Pairs};
pub use launched::{LAUNCHERS, Launched, Launcher};
pub use links::{Coalescing, LinkSettings};
pub use matrix::{HostSet, MOST_GROUPS, Screening};
pub use network::{LONGEST_FILE, Network, NetworkLink, Switch};
pub use one_way_path::OneWayPath;
pub use pair::{Pair, host_name, host_number};
pub use port::PortRate;
pub use ports::{NoPorts, PortRange};
pub use profile::{PROFILES, Profile, Shipped};
pub use search::{experiments, hindrances};
pub use setting::{Placement, Setting, SettingError};
pub use setting::{is_prefix, rungs_and_groups, said_twice};
pub use shape::Shape;
pub use step::{Beside, Block, Case, PATIENCE_NS, Pace, Role, Step, Why};
pub use suite::{
    Applies, Claim, Expanded, FACTORS, Factor, FactorEntry, Graph, HandOut, LONGEST_PLAN, Lane, Layout,
    Level, Levels, LoadOf, OF_FACTORS, PEAK, Roles, STEP, Stage, Stream, Suite, SuiteCase, SuiteError,
    SuiteFigure, SuiteTable, TableColumn, TableRow,
};
pub use switching::{CUT_THROUGH_BYTES, Switching};
pub use sysctl::sysctl_value;
pub use target::{Target, TargetError};
pub use topology::{Carrier, Topology, WireKind};
pub use tuning::{BLOCKS_OF_ROUND, RACE_BLOCKS, SCREENING_BLOCKS, Stack, Tuning};
pub use view::{Rungs, View};
pub use wiring::{WireLink, Wiring};
pub use world::{PlantedCause, World};

pub use crate::statistic::CONFIDENCE;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use written::Written;

/// Everything that a run is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct Plan {
    /// Where they are.
    pub target: Target,
    /// The hosts that take part: the first ones of the target.
    pub hosts: Vec<PlannedHost>,
    /// How much is measured, and for how long.
    pub profile: Profile,
    /// What is measured.
    pub view: View,
    /// The knobs that are set.
    pub settings: Vec<Setting>,
    /// What is set beside them in some cases: a case's `arm` counts from 1 here.
    pub arms: Vec<Arm>,
    /// Seeds every shuffled order.
    pub seed: u64,
    /// The time the run may take, when the user fixed it.
    pub budget_ns: Option<u64>,
}

impl Plan {
    /// A hash of all that decides what is measured: equal plans give equal hashes, whatever the seed.
    pub fn hash(&self) -> String {
        let unseeded = Plan { seed: 0, ..self.clone() };
        let text = serde_json::to_string(&unseeded).unwrap_or_default();
        Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The names of the hosts that take part.
    pub fn host_ids(&self) -> Vec<HostId> {
        self.hosts.iter().map(|host| host.id).collect()
    }

    /// What is known of a host; none where it takes no part.
    pub fn host(&self, id: HostId) -> Option<&PlannedHost> {
        self.hosts.iter().find(|host| host.id == id)
    }

    /// Whether a host's ends are listened at: the one that is said to, or else each but the first.
    pub fn listens(&self, id: HostId) -> bool {
        match self.hosts.iter().find(|host| host.listens) {
            Some(host) => host.id == id,
            None => self.hosts.first().is_some_and(|first| first.id != id),
        }
    }

    /// The settings that apply to a rung in one arm; of two for the same knob the later one holds.
    pub fn settings_for(&self, rung: &str, arm: u32) -> impl Iterator<Item = &Setting> {
        let added = self.layers(arm).into_iter().flat_map(|arm| &arm.settings);
        self.settings.iter().chain(added).filter(move |setting| setting.applies_to(rung))
    }

    /// The value of a knob for a rung in one arm; none where it was not set.
    pub fn value_for(&self, rung: &str, arm: u32, knob: &str) -> Option<&str> {
        let set = self.settings_for(rung, arm).filter(|setting| setting.knob == knob).last();
        set.map(|setting| setting.value.as_str())
    }
}
