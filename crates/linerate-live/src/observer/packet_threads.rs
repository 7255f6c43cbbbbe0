//! CPU time of the kernel's threads that work on packets: those of softirqs, and of NAPI where it has threads of its own
//! (Documentation/networking/napi.rst). Any user may read it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What their names begin with.
const NAMES: [&str; 2] = ["ksoftirqd/", "napi/"];

/// Each with its CPU time until now.
#[derive(Debug)]
pub struct PacketThreads(Vec<(String, PathBuf, u64)>);

impl PacketThreads {
    /// Looks for them.
    pub fn read() -> PacketThreads {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        PacketThreads(processes.filter_map(|process| thread(&process.path())).collect())
    }

    /// The CPU time of each since then, in nanoseconds; of those that worked.
    pub fn since(&self) -> BTreeMap<String, u64> {
        let spent = |(name, path, before): &(String, PathBuf, u64)| {
            Some((name.clone(), spent(path)?.saturating_sub(*before)))
        };
        // Kernels before 5.17 cut names to 15 letters: those of an adapter's NAPI threads may be alike.
        let mut all = BTreeMap::new();
        for (name, ns) in self.0.iter().filter_map(spent).filter(|(_, ns)| *ns > 0) {
            *all.entry(name).or_default() += ns;
        }
        all
    }
}

fn thread(process: &Path) -> Option<(String, PathBuf, u64)> {
    process.file_name()?.to_str()?.parse::<u32>().ok()?;
    let name = std::fs::read_to_string(process.join("comm")).ok()?.trim_end().to_owned();
    let path = process.join("schedstat");
    let is_one = NAMES.iter().any(|begin| name.starts_with(begin));
    is_one.then(|| spent(&path)).flatten().map(|before| (name, path.clone(), before))
}

/// The first number of `schedstat`: nanoseconds on a CPU.
fn spent(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_has_a_thread_of_softirqs() {
        let threads = PacketThreads::read();
        let names: Vec<&str> = threads.0.iter().map(|(name, ..)| name.as_str()).collect();
        // In a PID namespace of its own a program sees no thread of the kernel.
        let sees = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
        assert!(!sees || names.contains(&"ksoftirqd/0"), "{names:?}");
        assert!(threads.since().keys().all(|name| names.contains(&name.as_str())));
        assert_eq!(thread(Path::new("/proc/self")), None, "a name that is no number");
    }
}
