//! What is known of the packet filter that stands in a lab.

use crate::plan::{FilterDuty, FilterSettings};
use crate::record::Granted;

/// What stands in the lab.
#[derive(Default)]
pub struct StandingFilter {
    pub settings: Option<FilterSettings>,
    /// What each host has to do with it, in the order of the hosts.
    pub duties: Vec<FilterDuty>,
    /// What the hosts granted of what was asked.
    pub granted: Vec<Granted>,
    /// Whether a host may have what is not said here: a new agent there knows of nothing.
    pub is_unsure: bool,
}

impl StandingFilter {
    /// What is known when an agent was started anew.
    pub fn unsure() -> StandingFilter {
        StandingFilter { is_unsure: true, ..StandingFilter::default() }
    }
}
