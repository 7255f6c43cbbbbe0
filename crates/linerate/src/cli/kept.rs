//! What a search proved, as settings.

use crate::analysis::tuned;
use crate::plan::Setting;
use crate::record::Recording;

/// The settings that a search proved; none of other recordings.
pub fn kept(recording: &Recording) -> Vec<Setting> {
    let (Some(plan), Some(found)) = (recording.plan(), tuned(recording)) else { return Vec::new() };
    let arms = found.kept().into_iter().filter_map(|step| plan.arms.get((step.arm as usize).checked_sub(1)?));
    arms.flat_map(|arm| arm.settings.clone()).collect()
}
