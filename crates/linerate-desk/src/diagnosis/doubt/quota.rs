//! A quota of CPU time that stopped the processes of a host.

use super::{Context, Finding};
use crate::diagnosis::facts::{fact, host};
use crate::plan::HostId;
use crate::record::{HostDelta, Recording, StepRecord};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Whether a quota stopped processes during this step.
pub(super) fn is_throttled(step: &StepRecord) -> bool {
    step.hosts.iter().any(|host| host.counted("quota.", ".throttled") > 0)
}

/// From this share of the periods on the quota is behind whatever kept threads off their CPUs: it acts at the edges of steps,
/// too, where no counter tells.
const THROUGHOUT: f64 = 0.1;

/// Whether a quota stopped processes of a host in many of the periods in which they ran.
pub(super) fn is_throttled_throughout(recording: &Recording) -> bool {
    let mut hosts: BTreeMap<HostId, [u64; 2]> = BTreeMap::new();
    for delta in recording.steps.iter().flat_map(|step| &step.hosts) {
        let [throttled, periods] = hosts.entry(delta.host).or_default();
        *throttled = throttled.saturating_add(delta.counted("quota.", ".throttled"));
        *periods = periods.saturating_add(delta.counted("quota.", ".periods"));
    }
    hosts.values().any(|[throttled, periods]| *throttled as f64 > THROUGHOUT * *periods as f64)
}

/// What the group with the most of them counted in all steps.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    throttled: u64,
    periods: u64,
}

/// Who was stopped, in how many periods, and by which quota.
pub(super) fn finding(context: &Context) -> Option<Finding> {
    let mut hosts: BTreeMap<HostId, BTreeMap<&str, Counted>> = BTreeMap::new();
    for delta in context.recording.steps.iter().flat_map(|step| &step.hosts) {
        let groups = hosts.entry(delta.host).or_default();
        for group in groups_of(delta) {
            let counted = groups.entry(group).or_default();
            let of = |counter: &str| delta.counters.get(&format!("quota.{group}.{counter}")).unwrap_or(&0);
            counted.throttled = counted.throttled.saturating_add(*of("throttled"));
            counted.periods = counted.periods.saturating_add(*of("periods"));
        }
    }
    let worst = hosts.into_iter().filter_map(|(host, groups)| {
        let (group, counted) = groups.into_iter().max_by_key(|(_, counted)| counted.throttled)?;
        (counted.throttled > 0).then_some((host, group, counted))
    });
    let (mut said, mut evidence) = (Vec::new(), Vec::new());
    for (host, group, Counted { throttled, periods }) in worst {
        let quota = quota(context, host, group);
        said.push(format!("host {host} in {throttled} of {periods} periods, its quota is {quota}"));
        evidence.push(json!({ "host": host, "throttled": throttled, "periods": periods, "quota": quota }));
    }
    (!said.is_empty()).then(|| Finding::new("throttled", None, said.join("; "), json!({ "hosts": evidence })))
}

/// The groups of which a host's counters tell.
fn groups_of(delta: &HostDelta) -> impl Iterator<Item = &str> {
    delta.counters.keys().filter_map(|name| name.strip_prefix("quota.")?.strip_suffix(".periods"))
}

/// The quota in the host's own words; that of a group which got it later has no number.
fn quota(context: &Context, id: HostId, group: &str) -> String {
    let told = host(context.recording, id).and_then(|host| fact(host, "cgroup.quotas"));
    let all = told.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let name = format!(" of the control group {group}");
    let is_it = |said: &&str| said.ends_with(&name) || said.contains(&format!("{name},"));
    let found = all.into_iter().find(is_it).map(str::to_owned);
    found.unwrap_or_else(|| format!("that of the control group {group}"))
}
