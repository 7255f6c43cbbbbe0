//! How much is measured: a profile is a budget of time.

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
    /// Whether parallel connections are measured from b to a as well.
    pub parallel_both_ways: bool,
}

/// The shipped profiles: name, passes, trial in ms, time line in s, one line.
pub const PROFILES: &[(&str, u32, u64, u64, &str)] = &[
    ("quick", 6, 10, 2, "24 sizes, 6 passes of 10 ms trials: about 40 s"),
    ("standard", 10, 20, 10, "24 sizes, 10 passes of 20 ms trials: about 2 min"),
];

/// Powers of two from 1 B to 8 MiB: 24 sizes.
const LARGEST: u32 = 23;

impl Profile {
    /// The shipped profile with this name.
    pub fn named(name: &str) -> Option<Profile> {
        let (name, passes, trial_ms, timeline_s, _) = *PROFILES.iter().find(|(known, ..)| *known == name)?;
        Some(Profile {
            name: name.into(),
            sizes: (0..=LARGEST).map(|power| 1 << power).collect(),
            passes,
            trial_ns: trial_ms * 1_000_000,
            warm_up_ns: 500_000_000,
            timeline_ns: timeline_s * 1_000_000_000,
            parallel_both_ways: name != "quick",
        })
    }
}
