//! How much is measured: a profile is a budget of time.

use super::sizes;
use crate::vocabulary::{Family, Rung};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sizes, passes and durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Its name: `quick`, `standard`.
    pub name: String,
    /// The message sizes in bytes, ascending.
    pub sizes: Vec<u64>,
    /// The number of passes, each with new connections.
    pub passes: u32,
    /// How long one trial lasts.
    pub trial_ns: u64,
    /// How long a stream runs before its first trial, each time it idled.
    pub warm_up_ns: u64,
    /// How long the stream for the time line runs; 0 for none.
    pub timeline_ns: u64,
    /// The time that a run takes: what the passes leave goes where it helps most. 0 for the passes alone.
    #[serde(default)]
    pub budget_ns: u64,
    /// How wide the interval of a throughput may be, to either side, as a share of it.
    #[serde(default = "wide")]
    pub throughput_target: f64,
    /// The same of a half round trip.
    #[serde(default = "wide")]
    pub latency_target: f64,
    /// Whether parallel connections are measured from b to a as well.
    pub parallel_both_ways: bool,
    /// Whether only one flow from a to b is measured.
    #[serde(default)]
    pub forward_only: bool,
    /// Whether rungs over IPv6 are measured that are not chosen by name.
    #[serde(default = "yes")]
    pub ipv6: bool,
    /// Whether rungs beside the chain are measured whole that are not chosen by name.
    #[serde(default)]
    pub whole_siblings: bool,
}

/// What an old recording's profile did, which did not say so.
fn yes() -> bool {
    true
}

/// A shipped profile.
#[derive(Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    passes: u32,
    trial_ms: u64,
    timeline_s: u64,
    budget_s: u64,
    sizes: fn() -> Vec<u64>,
    /// How wide intervals may be: of throughput, of latency.
    targets: (f64, f64),
    parallel_both_ways: bool,
    ipv6: bool,
    whole_siblings: bool,
    /// Whether the fastest engine is looked for: some ten seconds, which a quick look has not.
    engines: bool,
    /// One line for `linerate list`.
    pub about: &'static str,
}

/// The shipped profiles.
pub const PROFILES: &[Shipped] = &[
    Shipped {
        name: "quick",
        passes: 6,
        trial_ms: 10,
        timeline_s: 2,
        budget_s: 38,
        sizes: sizes::ladder,
        targets: (0.05, 0.05),
        parallel_both_ways: false,
        // A quick look takes IPv6 for IPv4's equal.
        ipv6: false,
        whole_siblings: false,
        engines: false,
        about: "24 sizes, 6 passes of 10 ms trials, then what is unsure: about 45 s",
    },
    Shipped {
        name: "standard",
        passes: 10,
        trial_ms: 20,
        timeline_s: 10,
        budget_s: 145,
        sizes: sizes::ladder,
        targets: (0.02, 0.05),
        parallel_both_ways: true,
        ipv6: true,
        whole_siblings: false,
        engines: true,
        about: "24 sizes, 10 passes of 20 ms trials, then what is unsure: under 2.5 min",
    },
    Shipped {
        name: "thorough",
        passes: 20,
        trial_ms: 50,
        timeline_s: 10,
        budget_s: 2700,
        sizes: sizes::full,
        targets: (0.02, 0.05),
        parallel_both_ways: true,
        ipv6: true,
        whole_siblings: true,
        engines: true,
        about: "124 sizes, 20 passes of 50 ms trials, then the breaks: about 45 min",
    },
];

/// What an old recording's profile aimed at, which did not say so.
fn wide() -> f64 {
    0.05
}

impl Profile {
    /// The shipped profile with this name.
    pub fn named(name: &str) -> Option<Profile> {
        let shipped = PROFILES.iter().find(|shipped| shipped.name == name)?;
        Some(Profile {
            name: name.into(),
            sizes: (shipped.sizes)(),
            passes: shipped.passes,
            trial_ns: shipped.trial_ms * 1_000_000,
            warm_up_ns: 500_000_000,
            timeline_ns: shipped.timeline_s * 1_000_000_000,
            budget_ns: shipped.budget_s * 1_000_000_000,
            throughput_target: shipped.targets.0,
            latency_target: shipped.targets.1,
            parallel_both_ways: shipped.parallel_both_ways,
            forward_only: false,
            ipv6: shipped.ipv6,
            whole_siblings: shipped.whole_siblings,
        })
    }

    /// Whether it measures this rung when none is chosen by name.
    pub fn measures(&self, rung: &Rung) -> bool {
        let shipped = PROFILES.iter().find(|shipped| shipped.name == self.name);
        let looks = rung.chooses_engine() && shipped.is_some_and(|shipped| shipped.engines);
        (rung.family == Family::V4 || self.ipv6) && (!rung.on_request || looks)
    }

    /// How wide an interval may be, to either side, as a share of the median.
    pub fn target(&self, is_latency: bool) -> f64 {
        if is_latency { self.latency_target } else { self.throughput_target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_as_its_line_says() {
        for Shipped { name, passes, trial_ms, sizes, about, .. } in PROFILES {
            let profile = Profile::named(name).unwrap();
            let said = format!("{} sizes, {passes} passes of {trial_ms} ms trials", sizes().len());
            assert!(about.starts_with(&said) && profile.sizes.len() == sizes().len(), "{about}");
        }
        assert!(Profile::named("none").is_none());
    }
}
