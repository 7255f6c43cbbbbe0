//! What confines the process: control groups and containers (cgroups(7)).

use super::fact::{rounded, text};
use serde_json::{Value, json};
use std::path::Path;

const OWN: &str = "/proc/self/cgroup";
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
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

/// How many CPUs' time the process may use: `none` without a limit, null where it cannot be read.
pub(super) fn cpu_limit() -> Value {
    let directories = directories("cpu");
    let limits = directories.iter().filter_map(|directory| {
        let read = |name| text(&format!("{directory}/{name}"));
        match read("cpu.max") {
            Some(both) => quota(&both),
            None => quota(&format!("{} {}", read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)),
        }
    });
    tightest(&directories, limits)
}

/// How much memory the process may use: likewise.
pub(super) fn memory_limit() -> Value {
    let directories = directories("memory");
    let limits = directories.iter().filter_map(|directory| {
        let read = |name| text(&format!("{directory}/{name}"));
        let limit = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?;
        limit.parse::<u64>().ok().filter(|bytes| *bytes < NO_LIMIT)
    });
    tightest(&directories, limits)
}

/// How often the process's group was stopped because it had used up its share.
pub(super) fn throttled() -> Value {
    let stat = directories("cpu").iter().find_map(|directory| text(&format!("{directory}/cpu.stat")));
    let times = stat.as_deref().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse::<u64>().ok())
    });
    times.into()
}

/// The least of the limits of all groups around the process.
fn tightest<T: PartialOrd + Into<Value>>(directories: &[String], limits: impl Iterator<Item = T>) -> Value {
    let least = limits.reduce(|a, b| if b < a { b } else { a });
    match least {
        Some(limit) => limit.into(),
        None if directories.iter().any(|directory| Path::new(directory).is_dir()) => json!("none"),
        None => Value::Null,
    }
}

/// The CPUs of `QUOTA PERIOD`; none for `max` and `-1`.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.trim().parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| rounded(quota / period))
}

/// The directories of the process's groups, from its own to the root.
fn directories(controller: &str) -> Vec<String> {
    groups(&text(OWN).unwrap_or_default(), controller)
}

/// The same, from the lines `NUMBER:CONTROLLERS:PATH`; version 2 names no controller.
fn groups(own: &str, controller: &str) -> Vec<String> {
    let mut directories = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let named = controllers.split(',').any(|name| name == controller);
        let mounts: Vec<String> = match controllers {
            "" => MOUNTS.map(str::to_owned).into(),
            _ if named => vec![format!("{}/{controller}", MOUNTS[0]), format!("{}/{controllers}", MOUNTS[0])],
            _ => continue,
        };
        for mount in mounts {
            let ancestors = Path::new(path).ancestors().filter_map(Path::to_str);
            directories.extend(ancestors.map(|path| format!("{mount}{}", path.trim_end_matches('/'))));
        }
    }
    directories.dedup();
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_are_walked_in_both_versions() {
        let two = groups("0::/user.slice/app\n", "cpu");
        assert_eq!(
            two[..3],
            ["/sys/fs/cgroup/user.slice/app", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"]
        );
        let one = groups("4:memory:/a\n2:cpu,cpuacct:/b\n", "cpu");
        assert_eq!(one[..2], ["/sys/fs/cgroup/cpu/b", "/sys/fs/cgroup/cpu"]);
        assert!(one.contains(&"/sys/fs/cgroup/cpu,cpuacct/b".to_owned()) && !one.concat().contains("memory"));
        for nonsense in ["", "x", "1:cpu", "::", "3:cpus:/x"] {
            assert!(
                groups(nonsense, "cpu").iter().all(|path| path.starts_with("/sys/fs/cgroup")),
                "{nonsense}"
            );
        }
    }

    #[test]
    fn a_quota_is_a_number_of_cpus() {
        assert_eq!(quota("150000 100000"), Some(1.5));
        for unlimited in ["max 100000", "-1 100000", "0 100000", "1 0", "1", ""] {
            assert_eq!(quota(unlimited), None, "{unlimited}");
        }
    }

    #[test]
    fn the_tightest_limit_wins_and_no_limit_is_said() {
        let here = ["/".to_owned()];
        assert_eq!(tightest(&here, [3.0, 0.5, 2.0].into_iter()), json!(0.5));
        assert_eq!(tightest(&here, std::iter::empty::<u64>()), json!("none"));
        assert_eq!(tightest(&[], std::iter::empty::<u64>()), Value::Null);
    }
}
