//! On which hosts and paths a conclusion says something.

use super::SuiteError;
use crate::unit::{Bytes, Nanoseconds, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest and the longest round trip of a condition, the largest product, the most CPUs.
const ROUND_TRIPS: [Nanoseconds; 2] = [Nanoseconds(1e3), Nanoseconds(10e9)];
const MOST_PRODUCT: u64 = 1 << 40;
const MOST_CPUS: u32 = 4096;

/// What must be so for a conclusion to apply; all of what is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Applies {
    /// A round trip between the hosts takes at least so long: `1ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<String>,
    /// The path's product of rate and round trip is at least so large: `128KiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Each host has at least so many CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
}

impl Applies {
    /// The least round trip.
    pub fn least_round_trip(&self) -> Option<Nanoseconds> {
        self.round_trip.as_ref()?.parse().ok()
    }

    /// The least product.
    pub fn least_product(&self) -> Option<Bytes> {
        self.product.as_ref()?.parse().ok()
    }

    /// Checks its numbers.
    pub(super) fn check(&self, place: &str) -> Result<(), SuiteError> {
        let fail = |what: String, hint: &str| Err(SuiteError::new(format!("{place}: {what}"), hint));
        if *self == Applies::default() {
            return fail("it applies under no condition".into(), "round-trip, product or cpus");
        }
        let [least, most] = ROUND_TRIPS;
        if let Some(text) = &self.round_trip
            && let Err(why) = within(text.parse(), least, most, |time| time.rounded(1))
        {
            return fail(format!("a round trip of `{text}`: {why}"), "from 1us to 10s");
        }
        if let Some(text) = &self.product
            && let Err(why) = within(text.parse(), Bytes(1), Bytes(MOST_PRODUCT), |size| size)
        {
            return fail(format!("a product of `{text}`: {why}"), "from 1 B to 1 TiB");
        }
        match self.cpus {
            Some(cpus) if !(1..=MOST_CPUS).contains(&cpus) => fail(format!("{cpus} CPUs"), "from 1 to 4096"),
            _ => Ok(()),
        }
    }
}
