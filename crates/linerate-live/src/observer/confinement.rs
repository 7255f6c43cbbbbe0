//! What confines the process: control groups and containers (cgroups(7)).

use super::cpu::allowed_cpus;
use super::fact::text;
use super::quota;
use linerate_sys::control_group::{Group, groups};
use serde_json::{Value, json};
use std::path::Path;

const ONLINE: &str = "/sys/devices/system/cpu/online";
const OWN: &str = "/proc/self/cgroup";
/// Version 1 says "no limit" with the largest multiple of the page size; nothing has this much memory.
const NO_LIMIT: u64 = 1 << 62;

/// Files that only containers have, and whose they are.
const SIGNS: &[(&str, &str)] = &[("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
/// Parts of control group names, and whose they are.
const NAMES: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("lxc", "lxc"),
    ("garden", "garden"),
    ("machine.slice", "machine"),
    ("slurm", "slurm"),
];

/// The container that the process seems to be in; `none seen` is not a proof.
pub(super) fn container() -> Value {
    let told = text("/run/systemd/container");
    let sign = SIGNS.iter().find(|(path, _)| Path::new(path).exists()).map(|(_, name)| (*name).to_owned());
    let own = text(OWN).unwrap_or_default();
    let named = NAMES.iter().find(|(part, _)| own.contains(part)).map(|(_, name)| (*name).to_owned());
    let found = told.or(sign).or(named);
    found.unwrap_or_else(|| "none seen".into()).into()
}

/// What leaves the process fewer CPUs than are online; null where nothing does, or it cannot be read.
pub(super) fn narrowed_by() -> Value {
    let allowed = allowed_cpus();
    let Some(allowed) = allowed.filter(|list| text(ONLINE).is_some_and(|online| online.trim() != list))
    else {
        return Value::Null;
    };
    let lists = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let is_by = |group: &Group| lists.iter().any(|file| group.read(file).as_ref() == Some(&allowed));
    // The topmost one that has these is where they were set.
    let group = groups(Path::new("/"), "cpuset").into_iter().rev().find(is_by);
    let affinity = || "an affinity, as of taskset(1) or a service's CPUAffinity".to_owned();
    group.map_or_else(affinity, |group| format!("the cpuset of the control group {}", group.name)).into()
}

/// How many CPUs' time the process may use: `none` without a limit, null where it cannot be read.
pub(super) fn cpu_limit() -> Value {
    let (least, is_read) = quota::least();
    least.map_or_else(|| unlimited(is_read), Value::from)
}

/// How much memory the process may use: likewise.
pub(super) fn memory_limit() -> Value {
    let groups = groups(Path::new("/"), "memory");
    let limits = groups.iter().filter_map(|group| {
        let limit = group.read("memory.max").or_else(|| group.read("memory.limit_in_bytes"))?;
        limit.parse::<u64>().ok().filter(|bytes| *bytes < NO_LIMIT)
    });
    let is_read = groups.iter().any(|group| group.directory.is_dir());
    limits.min().map_or_else(|| unlimited(is_read), Value::from)
}

/// How often the process's group was stopped because it had used up its share.
pub(super) fn throttled() -> Value {
    quota::throttled().into()
}

fn unlimited(is_read: bool) -> Value {
    if is_read { json!("none") } else { Value::Null }
}
