//! Facts about the machine: kernel, clock, memory, load, firmware. The CPU's are in `cpu`.

use super::confinement::{container, cpu_limit, memory_limit, narrowed_by, throttled};
use super::cpu;
use super::fact::{Fact, Facts, Source, chosen, read, shortened, text};
use super::quota::quotas;
use Source::{Call, Chosen, File, Key, Memory, Number, Text, Words};
use linerate_sys::{cpu_time, interposer, probe};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const OS: &str = "/etc/os-release";

const FACTS: &[Fact] = &[
    ("host.name", Text("/proc/sys/kernel/hostname")),
    ("host.distribution", Key(OS, &["PRETTY_NAME"])),
    ("host.uptime_s", Number("/proc/uptime", 0)),
    ("host.identity", Call(identity)),
    ("host.root", Call(|| probe::is_root().into())),
    ("kernel.release", Text("/proc/sys/kernel/osrelease")),
    ("kernel.version", Text("/proc/sys/kernel/version")),
    ("kernel.cmdline", Call(command_line)),
    ("kernel.architecture", Call(|| std::env::consts::ARCH.into())),
    ("kernel.hz", Call(|| cpu_time::scheduler_hz().into())),
    ("kernel.preemption", Call(preemption)),
    ("kernel.tainted", File("/proc/sys/kernel/tainted")),
    ("kernel.modules", Call(modules)),
    ("kernel.timer_migration", File("/proc/sys/kernel/timer_migration")),
    ("kernel.numa_balancing", File("/proc/sys/kernel/numa_balancing")),
    ("kernel.perf_event_paranoid", File("/proc/sys/kernel/perf_event_paranoid")),
    ("kernel.watchdog", File("/proc/sys/kernel/watchdog")),
    ("clock.source", File("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
    ("clock.sources", Words("/sys/devices/system/clocksource/clocksource0/available_clocksource")),
    ("clock.tsc_flags", Call(|| cpu::flags(cpu::TSC_FLAGS))),
    ("load.1_min", Number("/proc/loadavg", 0)),
    ("load.5_min", Number("/proc/loadavg", 1)),
    ("load.15_min", Number("/proc/loadavg", 2)),
    ("memory.total_bytes", Memory("MemTotal")),
    ("memory.available_bytes", Memory("MemAvailable")),
    ("memory.swap_bytes", Memory("SwapTotal")),
    ("memory.swap_free_bytes", Memory("SwapFree")),
    ("memory.huge_page_bytes", Memory("Hugepagesize")),
    ("memory.huge_pages", Memory("HugePages_Total")),
    ("memory.huge_pages_free", Memory("HugePages_Free")),
    ("memory.transparent_huge_pages", Chosen("/sys/kernel/mm/transparent_hugepage/enabled")),
    ("memory.transparent_huge_pages_defrag", Chosen("/sys/kernel/mm/transparent_hugepage/defrag")),
    ("memory.transparent_huge_pages_shared", Chosen("/sys/kernel/mm/transparent_hugepage/shmem_enabled")),
    ("memory.same_page_merging", File("/sys/kernel/mm/ksm/run")),
    ("dmi.system_vendor", Text("/sys/class/dmi/id/sys_vendor")),
    ("dmi.product", Text("/sys/class/dmi/id/product_name")),
    ("dmi.board_vendor", Text("/sys/class/dmi/id/board_vendor")),
    ("dmi.board", Text("/sys/class/dmi/id/board_name")),
    ("dmi.bios", Text("/sys/class/dmi/id/bios_version")),
    ("dmi.bios_date", Text("/sys/class/dmi/id/bios_date")),
    ("virtual.flag", Call(|| cpu::is_virtual().into())),
    ("virtual.hypervisor", Call(|| probe::hypervisor().into())),
    ("virtual.hypervisor_type", File("/sys/hypervisor/type")),
    ("virtual.container", Call(container)),
    ("cgroup.cpus", Call(cpu_limit)),
    ("cgroup.quotas", Call(quotas)),
    ("cgroup.throttled", Call(throttled)),
    ("cpu.narrowed_by", Call(narrowed_by)),
    ("cgroup.memory_bytes", Call(memory_limit)),
    ("process.interposers", Call(|| interposer::interposers().into())),
];

/// Every fact about the machine.
pub(super) fn facts() -> Facts {
    let mut facts = read(FACTS);
    facts.extend(read(cpu::FACTS));
    facts
}

/// Tells machines apart: the same in every namespace and container of one running kernel.
pub fn machine_id() -> String {
    let boot = text("/proc/sys/kernel/random/boot_id").or_else(|| text("/proc/sys/kernel/hostname"));
    boot.unwrap_or_default()
}

/// The same after every start, where the system has an identity: hashed, because machine-id(5) asks for
/// it to be kept from the network.
fn identity() -> Value {
    identity_of(text("/etc/machine-id"))
}

/// Before a first start the file holds a word, `uninitialized`, or nothing.
fn identity_of(id: Option<String>) -> Value {
    let is_id = |id: &String| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = id.filter(is_id).filter(|id| id.bytes().any(|byte| byte != b'0'));
    let named = id.map(|id| Sha256::digest(format!("linerate {id}")));
    named.map(|hash| hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>()).into()
}

/// The kernel's command line; what looks like a secret is hidden, because recordings are shown around.
fn command_line() -> Value {
    text("/proc/cmdline").map(|line| shortened(&hidden(&line))).into()
}

/// Hides the values of words whose names look like a secret's.
fn hidden(line: &str) -> String {
    const SECRET: &[&str] = &["pass", "secret", "token", "key", "auth"];
    let word = |word: &str| match word.split_once('=') {
        Some((name, _)) if SECRET.iter().any(|part| name.to_ascii_lowercase().contains(part)) => {
            format!("{name}=...")
        }
        _ => word.to_owned(),
    };
    line.split_ascii_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// How willingly the kernel interrupts itself: chosen at run time where debugfs tells, else built in.
fn preemption() -> Value {
    if let Some(mode) = text("/sys/kernel/debug/sched/preempt").as_deref().and_then(chosen) {
        return mode.into();
    }
    let version = text("/proc/sys/kernel/version").unwrap_or_default();
    let built = version.split_ascii_whitespace().find(|word| word.starts_with("PREEMPT"));
    built.map_or(Value::Null, Value::from)
}

/// The number of loaded modules, and a hash of their names: equal hosts have equal hashes.
fn modules() -> Value {
    let Some(text) = text("/proc/modules") else { return Value::Null };
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    let hash: String =
        Sha256::digest(names.join(" ")).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    json!({ "count": names.len(), "sha256": hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_identity_of_its_own_tells_a_machine() {
        let of = |id: &str| identity_of(Some(id.into()));
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(of(id), of(id));
        assert!(of(id).as_str().is_some_and(|told| told.len() == 16 && !id.contains(told)));
        assert_ne!(of(id), of(&id.replace('0', "1")));
        for none in ["", "uninitialized", &"0".repeat(32), &"g".repeat(32), &id[1..]] {
            assert!(of(none).is_null(), "{none}");
        }
        assert!(identity_of(None).is_null());
    }

    #[test]
    fn secrets_of_the_command_line_are_hidden() {
        let line = "quiet root=/dev/sda rd.iscsi.Password=hunter2 api_token=a=b tokens";
        assert_eq!(hidden(line), "quiet root=/dev/sda rd.iscsi.Password=... api_token=... tokens");
        assert_eq!(hidden(""), "");
    }

    #[test]
    fn this_host_has_its_plainest_facts() {
        let facts = facts();
        assert_eq!(facts.len(), FACTS.len() + cpu::FACTS.len(), "two facts have one name");
        assert!(!machine_id().is_empty());
        for name in ["kernel.release", "kernel.hz", "memory.total_bytes", "load.1_min", "cpu.online"] {
            assert!(!facts[name].is_null(), "{name}");
        }
    }
}
