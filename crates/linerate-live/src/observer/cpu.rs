//! Facts about the CPUs: model, layout, caches, frequency, idle states, mitigations.

use super::fact::{Fact, Source, entries, file, numbers, rounded, text, value_of};
use Source::{Call, File, Key, Text};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const INFO: &str = "/proc/cpuinfo";
const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// What says whether the time stamp counter can be trusted as a clock.
pub(super) const TSC_FLAGS: &[&str] =
    &["constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable", "tsc_adjust", "rdtscp"];

/// What copies, checksums and waits may use.
const FLAGS: &[&str] = &[
    "sse4_2",
    "avx2",
    "avx512f",
    "erms",
    "fsrm",
    "movdir64b",
    "enqcmd",
    "waitpkg",
    "mwaitx",
    "monitor",
    "aes",
    "vaes",
    "pclmulqdq",
    "hypervisor",
    "asimd",
    "sve",
    "sve2",
    "crc32",
    "atomics",
    "wfxt",
];

/// Every fact about the CPUs. Frequency and idle states are those of CPU 0.
pub(super) const FACTS: &[Fact] = &[
    ("cpu.model", Key(INFO, &["model name", "Processor", "cpu model", "cpu", "uarch"])),
    ("cpu.vendor", Key(INFO, &["vendor_id", "CPU implementer", "mvendorid"])),
    ("cpu.family", Key(INFO, &["cpu family", "CPU architecture"])),
    ("cpu.model_number", Key(INFO, &["model", "CPU part"])),
    ("cpu.stepping", Key(INFO, &["stepping", "CPU revision"])),
    ("cpu.microcode", Key(INFO, &["microcode"])),
    ("cpu.mhz", Key(INFO, &["cpu MHz", "clock"])),
    ("cpu.flags", Call(|| flags(FLAGS))),
    ("cpu.online", Text("/sys/devices/system/cpu/online")),
    ("cpu.allowed", Call(|| allowed_cpus().into())),
    ("cpu.isolated", Text("/sys/devices/system/cpu/isolated")),
    ("cpu.tickless", Text("/sys/devices/system/cpu/nohz_full")),
    ("cpu.layout", Call(layout)),
    ("cpu.smt", File("/sys/devices/system/cpu/smt/control")),
    ("cpu.numa_nodes", Call(numa_nodes)),
    ("cpu.caches_claimed", Call(caches)),
    ("cpu.governor", Call(governors)),
    ("cpu.frequency_driver", File("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver")),
    ("cpu.frequency_khz_min", File("/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq")),
    ("cpu.frequency_khz_max", File("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq")),
    ("cpu.frequency_khz_now", File("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")),
    ("cpu.frequency_khz_base", File("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency")),
    ("cpu.energy_preference", File("/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference")),
    ("cpu.boost", File("/sys/devices/system/cpu/cpufreq/boost")),
    ("cpu.no_turbo", File("/sys/devices/system/cpu/intel_pstate/no_turbo")),
    ("cpu.idle_driver", File("/sys/devices/system/cpu/cpuidle/current_driver")),
    ("cpu.idle_governor", File("/sys/devices/system/cpu/cpuidle/current_governor")),
    ("cpu.idle_states", Call(idle_states)),
    ("cpu.wake_up_us_most", Call(wake_up_limit)),
    ("cpu.mitigations", Call(mitigations)),
    ("cpu.steal_share", Call(|| steal_share().into())),
];

/// Those of `wanted` that the CPU has; null where the kernel lists no flags.
pub(super) fn flags(wanted: &[&str]) -> Value {
    text(INFO).as_deref().and_then(|info| present(info, wanted)).into()
}

/// Whether the CPU says that a hypervisor runs it; none where the kernel lists no flags.
pub(super) fn is_virtual() -> Option<bool> {
    // Only x86 has this flag.
    let found = present(&text(INFO)?, &["hypervisor", "sse2"])?;
    (!found.is_empty()).then(|| found.contains(&"hypervisor".to_owned()))
}

fn present(info: &str, wanted: &[&str]) -> Option<Vec<String>> {
    let flags: BTreeSet<&str> = value_of(info, &["flags", "Features"])?.split_ascii_whitespace().collect();
    Some(wanted.iter().filter(|flag| flags.contains(*flag)).map(|flag| (*flag).to_owned()).collect())
}

/// The directories of the CPUs.
fn cpu_directories() -> impl Iterator<Item = String> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok());
    entries(CPUS).into_iter().filter(is_cpu).map(|name| format!("{CPUS}/{name}"))
}

/// Sockets, cores and hardware threads.
fn layout() -> Value {
    let place = |cpu: String| {
        let number = |name| text(&format!("{cpu}/topology/{name}"))?.parse::<i64>().ok();
        Some((number("physical_package_id")?, number("core_id")?))
    };
    let threads: Vec<(i64, i64)> = cpu_directories().filter_map(place).collect();
    counted(&threads)
}

/// Counts sockets and cores among the threads' places: (socket, core of the socket).
fn counted(threads: &[(i64, i64)]) -> Value {
    let cores: BTreeSet<&(i64, i64)> = threads.iter().collect();
    let sockets: BTreeSet<i64> = threads.iter().map(|(socket, _)| *socket).collect();
    match threads {
        [] => Value::Null,
        _ => json!({ "sockets": sockets.len(), "cores": cores.len(), "threads": threads.len() }),
    }
}

/// The memory nodes: CPUs and bytes of each.
fn numa_nodes() -> Value {
    let nodes = entries(NODES).into_iter().filter(|name| name.starts_with("node")).map(|name| {
        let memory = text(&format!("{NODES}/{name}/meminfo")).and_then(|text| node_bytes(&text));
        let facts = json!({ "cpus": text(&format!("{NODES}/{name}/cpulist")), "bytes": memory });
        (name, facts)
    });
    let nodes: Map<String, Value> = nodes.collect();
    if nodes.is_empty() { Value::Null } else { Value::Object(nodes) }
}

/// `Node 0 MemTotal:  4025888 kB`.
fn node_bytes(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("MemTotal:")?;
    rest.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// CPU 0's caches as the kernel claims them: virtual machines often claim the whole socket's.
fn caches() -> Value {
    let root = format!("{CPUS}/cpu0/cache");
    let cache = |name: String| {
        let read = |what| text(&format!("{root}/{name}/{what}"));
        let sharing = numbers(&read("shared_cpu_list")?).len();
        let sharing = crate::unit::counted(sharing, "CPU");
        Some(json!(format!("L{} {} {}, of {sharing}", read("level")?, read("type")?, read("size")?)))
    };
    let caches: Vec<Value> =
        entries(&root).into_iter().filter(|name| name.starts_with("index")).filter_map(cache).collect();
    if caches.is_empty() { Value::Null } else { Value::Array(caches) }
}

/// The governors in use: usually one.
pub(super) fn governors() -> Value {
    let names: BTreeSet<String> =
        cpu_directories().filter_map(|cpu| text(&format!("{cpu}/cpufreq/scaling_governor"))).collect();
    if names.is_empty() { Value::Null } else { Vec::from_iter(names).join(" ").into() }
}

/// CPU 0's idle states: name, time to wake up, whether it is switched off.
fn idle_states() -> Value {
    let root = format!("{CPUS}/cpu0/cpuidle");
    let state = |name: String| {
        let read = |what| file(&format!("{root}/{name}/{what}"));
        json!({ "name": read("name"), "wake_up_us": read("latency"), "disabled": read("disable") })
    };
    let states: Vec<Value> = entries(&root).into_iter().map(state).collect();
    if states.is_empty() { Value::Null } else { Value::Array(states) }
}

/// The longest wake-up time that is allowed now: the kernel tells it by a binary file that only the
/// superuser may read (Documentation/power/pm_qos_interface.rst).
fn wake_up_limit() -> Value {
    let bytes = std::fs::read("/dev/cpu_dma_latency").ok();
    bytes.and_then(|bytes| Some(i32::from_ne_bytes(bytes.try_into().ok()?))).into()
}

/// What the kernel does about each flaw that the CPU has.
fn mitigations() -> Value {
    let root = format!("{CPUS}/vulnerabilities");
    let flaws = entries(&root).into_iter().map(|name| (name.clone(), file(&format!("{root}/{name}"))));
    let (healthy, flaws): (Vec<_>, Vec<_>) = flaws.partition(|(_, state)| *state == "Not affected");
    match (healthy.len(), flaws.len()) {
        (0, 0) => Value::Null,
        _ => Value::Object(flaws.into_iter().collect()),
    }
}

/// The CPUs that this thread may use, as the kernel writes them: `0-3,8`.
pub(super) fn allowed_cpus() -> Option<String> {
    value_of(&text("/proc/thread-self/status")?, &["Cpus_allowed_list"]).map(str::to_owned)
}

/// The share of all CPU time since the start that the hypervisor took.
pub(super) fn steal_share() -> Option<f64> {
    stolen(&text("/proc/stat")?)
}

/// The eighth number of the first line over the sum of the first eight: the rest is part of them.
fn stolen(stat: &str) -> Option<f64> {
    let numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let ticks: Vec<f64> = numbers.take(8).filter_map(|number| number.parse().ok()).collect();
    let all: f64 = ticks.iter().sum();
    ticks.get(7).filter(|_| all > 0.0).map(|steal| rounded(steal / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_whole_words_of_the_right_line() {
        let info =
            "model name\t: X\nflags\t\t: fpu tsc rdtscp constant_tsc_not avx2\nbugs\t\t: nonstop_tsc\n";
        assert_eq!(present(info, TSC_FLAGS), Some(vec!["rdtscp".to_owned()]));
        assert_eq!(present("Features : crc32\n", FLAGS), Some(vec!["crc32".to_owned()]));
        assert_eq!(present("model name : X", FLAGS), None);
    }

    #[test]
    fn the_stolen_share_is_of_all_time() {
        assert_eq!(stolen("cpu  10 0 10 70 0 0 5 5 60 2\ncpu0 1\n"), Some(0.05));
        assert_eq!(stolen("cpu  2 0 0 0 0 0 0 1"), Some(0.333_333));
        for text in ["", "cpu", "cpu  ", "cpu  1 2 3", "cpu  0 0 0 0 0 0 0 0", "intr 1 2 3 4 5 6 7 8"] {
            assert_eq!(stolen(text), None, "{text}");
        }
    }

    #[test]
    fn hardware_threads_share_cores() {
        let two_sockets = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(counted(&two_sockets), json!({ "sockets": 2, "cores": 4, "threads": 8 }));
        assert_eq!(counted(&[]), Value::Null);
    }

    #[test]
    fn a_node_has_its_memory() {
        assert_eq!(node_bytes("Node 0 MemTotal:  4 kB\nNode 0 MemFree: 1 kB"), Some(4096));
        for text in ["", "Node 0", "MemTotal:", "MemTotal: x kB"] {
            assert_eq!(node_bytes(text), None, "{text}");
        }
    }
}
