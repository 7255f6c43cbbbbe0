//! How often a host's processes were stopped because a control group around them had used up its CPU time (CFS bandwidth
//! control, Documentation/scheduler/sched-bwc.rst), in both versions of cgroups(7).

use super::fact::rounded;
use super::{Observer, Seen, Watched};
use crate::Result;
use linerate_sys::control_group::{Group, groups};
use serde_json::Value;
use std::path::Path;

/// Where the files of the kernel are.
const ROOT: &str = "/";

/// A group whose processes may not have all of the CPUs.
#[derive(Debug)]
struct Limited {
    group: Group,
    cpus: f64,
    /// The file that holds it.
    file: &'static str,
}

/// What the kernel counted of a group since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counted {
    periods: u64,
    throttled: u64,
    throttled_ns: u64,
}

/// The groups with a quota as they were.
struct Quotas(Vec<(Limited, Counted)>);

/// Begins; where no group has a quota, or none can be read, there is nothing to see.
pub(super) fn begin(_: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    Ok(begin_at(Path::new(ROOT)).map(|quotas| Box::new(quotas) as Box<dyn Observer>))
}

fn begin_at(root: &Path) -> Option<Quotas> {
    let limited = limited(root).into_iter().map(|limited| {
        let counted = counted(&limited.group).unwrap_or_default();
        (limited, counted)
    });
    let limited: Vec<_> = limited.collect();
    (!limited.is_empty()).then_some(Quotas(limited))
}

impl Observer for Quotas {
    fn end(&mut self, _: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        for (Limited { group, .. }, before) in &self.0 {
            let Some(now) = counted(group) else { continue };
            let moved = [
                ("periods", now.periods.saturating_sub(before.periods)),
                ("throttled", now.throttled.saturating_sub(before.throttled)),
                ("throttled_ns", now.throttled_ns.saturating_sub(before.throttled_ns)),
            ];
            let moved = moved.into_iter().filter(|(_, value)| *value > 0);
            let named = moved.map(|(name, value)| (format!("quota.{}.{name}", group.name), value));
            seen.host.counters.extend(named);
        }
        Ok(())
    }
}

/// Every quota around the process in words, the nearest first: how many CPUs' time, which file says so, whose group it is.
pub(super) fn quotas() -> Value {
    in_words(Path::new(ROOT))
}

fn in_words(root: &Path) -> Value {
    let told = limited(root).into_iter().map(|limited| {
        let Limited { group, cpus, file } = limited;
        let owner = group.owner().map_or(String::new(), |owner| format!(", which is {owner}"));
        format!("{cpus} CPUs, set by {file} of the control group {}{owner}", group.name)
    });
    told.collect()
}

/// The least quota around the process, in CPUs; and whether its groups can be read at all.
pub(super) fn least() -> (Option<f64>, bool) {
    let root = Path::new(ROOT);
    let least = limited(root).into_iter().map(|limited| limited.cpus).reduce(f64::min);
    (least, groups(root, "cpu").iter().any(|group| group.directory.is_dir()))
}

/// How often the process's own group was stopped.
pub(super) fn throttled() -> Option<u64> {
    groups(Path::new(ROOT), "cpu").iter().find_map(counted).map(|counted| counted.throttled)
}

fn limited(root: &Path) -> Vec<Limited> {
    let of = |group: Group| {
        let (text, file) = match group.read("cpu.max") {
            Some(both) => (both, "cpu.max"),
            None => {
                let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|file| group.read(file));
                (format!("{} {}", quota?, period?), "cpu.cfs_quota_us")
            }
        };
        Some(Limited { cpus: quota(&text)?, group, file })
    };
    groups(root, "cpu").into_iter().filter_map(of).collect()
}

/// The CPUs of `QUOTA PERIOD`; none for `max` and `-1`.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.trim().parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| rounded(quota / period))
}

fn counted(group: &Group) -> Option<Counted> {
    let counter = |word| group.counter("cpu.stat", word);
    let throttled_ns =
        counter("throttled_time").or(counter("throttled_usec").map(|us| us.saturating_mul(1000)));
    Some(Counted {
        periods: counter("nr_periods")?,
        throttled: counter("nr_throttled")?,
        throttled_ns: throttled_ns.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn tree(files: &[(&str, &str)]) -> TempDir {
        let folder = TempDir::new().unwrap();
        put(folder.path(), files);
        folder
    }

    fn put(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
    }

    fn seen(quotas: &mut Quotas) -> Vec<(String, u64)> {
        let mut seen = Seen::default();
        quotas.end(&Watched::default(), &mut seen).unwrap();
        seen.host.counters.into_iter().collect()
    }

    #[test]
    fn an_ancestor_that_stops_its_processes_is_seen() {
        let tree = tree(&[
            ("proc/self/cgroup", "0::/system.slice/job.service/worker\n"),
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/system.slice/job.service/worker/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/system.slice/job.service/cpu.max", "30000 100000\n"),
            (
                "sys/fs/cgroup/system.slice/job.service/cpu.stat",
                "usage_usec 1\nnr_periods 100\nnr_throttled 7\nthrottled_usec 5\n",
            ),
        ]);
        let mut quotas = begin_at(tree.path()).unwrap();
        assert!(seen(&mut quotas).is_empty(), "nothing moved");
        let moved = "usage_usec 1\nnr_periods 151\nnr_throttled 47\nthrottled_usec 1005\n";
        put(tree.path(), &[("sys/fs/cgroup/system.slice/job.service/cpu.stat", moved)]);
        let name = |counter: &str| format!("quota./system.slice/job.service.{counter}");
        let wanted = [(name("periods"), 51), (name("throttled"), 40), (name("throttled_ns"), 1_000_000)];
        assert_eq!(seen(&mut quotas), wanted);
        let told = "0.3 CPUs, set by cpu.max of the control group /system.slice/job.service, which is the systemd \
                    unit job.service";
        assert_eq!(in_words(tree.path()), serde_json::json!([told]));
    }

    #[test]
    fn version_one_has_other_files() {
        let tree = tree(&[
            ("proc/self/cgroup", "2:cpu,cpuacct:/lab\n"),
            ("proc/self/mountinfo", "1 2 0:3 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
            ("sys/fs/cgroup/cpu/lab/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu/lab/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/lab/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let mut quotas = begin_at(tree.path()).unwrap();
        put(
            tree.path(),
            &[("sys/fs/cgroup/cpu/lab/cpu.stat", "nr_periods 3\nnr_throttled 1\nthrottled_time 9\n")],
        );
        let wanted = [("quota./lab.periods", 2), ("quota./lab.throttled", 1), ("quota./lab.throttled_ns", 9)];
        assert_eq!(seen(&mut quotas), wanted.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn without_groups_or_quotas_there_is_nothing_to_see() {
        assert!(begin_at(Path::new("/none/such")).is_none());
        let tree = tree(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ]);
        assert!(begin_at(tree.path()).is_none());
        let none: [&str; 0] = [];
        assert_eq!(in_words(tree.path()), serde_json::json!(none));
    }

    #[test]
    fn a_quota_is_a_number_of_cpus() {
        assert_eq!(quota("150000 100000"), Some(1.5));
        for unlimited in ["max 100000", "-1 100000", "0 100000", "1 0", "1", ""] {
            assert_eq!(quota(unlimited), None, "{unlimited}");
        }
    }
}
