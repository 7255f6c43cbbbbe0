//! Whether this host can be measured well: what was found, why it matters, what to try.

use super::cpu::{self, allowed_cpus, steal_share};
use super::fact::{chosen, numbers, text};
use super::stack;
use linerate_sys::{link, probe};
use serde::Serialize;

/// How well the host meets one wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Measuring works; some numbers will be worse, or missing.
    Limited,
    /// Something that numbers rest on is not there.
    Missing,
}

use CheckState::{Limited, Missing, Ok};

/// One check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked: `clock.source`.
    pub name: String,
    /// The result.
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// Why it matters.
    pub matters: String,
    /// What to try; empty where all is well or nothing helps.
    pub hint: String,
}

/// What one check found: the state, and the words for it.
type Verdict = (CheckState, String);

/// A check in the table: its name, why it matters, what to try, how it is done.
type Entry = (&'static str, &'static str, &'static str, fn() -> Verdict);

const CHECKS: &[Entry] = &[
    (
        "cpu.count",
        "each end of a connection needs a CPU of its own; polling needs it for sure",
        "give the process at least two CPUs (taskset, cgroup, virtual machine)",
        || cpu_count(&allowed_cpus().unwrap_or_default()),
    ),
    (
        "cpu.virtual",
        "an idle virtual CPU wakes up slowly: a sleeping end pays tens of microseconds for it",
        "trust the polling columns; sleeping ones are measured with the CPUs kept awake",
        || is_virtual(cpu::is_virtual(), probe::hypervisor()),
    ),
    (
        "cpu.steal",
        "time that the hypervisor takes away looks like a slow network",
        "measure on a quieter or a physical machine",
        || steal(steal_share()),
    ),
    (
        "cpu.governor",
        "a CPU that lowers its frequency between messages makes them late",
        "cpupower frequency-set -g performance",
        || governor(cpu::governors().as_str()),
    ),
    (
        "cpu.counters",
        "without hardware counters no cycles for each byte can be shown",
        "sysctl kernel.perf_event_paranoid=2; in a virtual machine, let it see the counters",
        || tried(probe::cycle_counter(), "cycles can be counted"),
    ),
    (
        "scheduler.idle-priority",
        "a spinner of idle priority keeps a CPU awake while an end sleeps",
        "allow sched_setscheduler in the container's filter",
        || tried(probe::idle_priority(), "threads may take the idle priority"),
    ),
    (
        "timer.slack",
        "with the default slack timed waits end 50 µs late",
        "allow prctl in the container's filter",
        || slack(probe::timer_slack_ns().ok()),
    ),
    (
        "clock.source",
        "any other clock source makes each time stamp a system call or a slow device access",
        "boot with clocksource=tsc tsc=reliable if the CPU's counter is constant",
        || clock_source(text("/sys/devices/system/clocksource/clocksource0/current_clocksource").as_deref()),
    ),
    (
        "memory.huge-pages",
        "whether buffers lie in huge pages moves memory rates",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        || huge_pages(text("/sys/kernel/mm/transparent_hugepage/enabled").as_deref()),
    ),
    (
        "tcp.congestion-control",
        "BBR paces its packets and wants the fq queue for it; on fast short links it is slow without",
        "sysctl net.ipv4.tcp_congestion_control=cubic, or net.core.default_qdisc=fq",
        || default_congestion_control(stack::setting("net.ipv4.tcp_congestion_control").as_str(), &queues()),
    ),
    (
        "tcp.cubic",
        "the lab and comparisons use cubic",
        "modprobe tcp_cubic, and add it to net.ipv4.tcp_allowed_congestion_control",
        || tried(probe::congestion_control("cubic"), "sockets may use cubic"),
    ),
    (
        "socket.buffer-limits",
        "socket.send-buffer and socket.receive-buffer cannot ask for more than these limits",
        "sysctl net.core.rmem_max=67108864 net.core.wmem_max=67108864",
        || {
            buffer_limits(
                ["net.core.rmem_max", "net.core.wmem_max"].map(|name| stack::setting(name).as_u64()),
            )
        },
    ),
    (
        "socket.raw",
        "raw frames measure the layer below IP",
        "run as root, or give the program CAP_NET_RAW",
        || tried(probe::raw_frames(), "raw frames may be sent"),
    ),
    (
        "user.root",
        "the lab takes a user namespace; a real interface can be neither changed nor traced",
        "run as root to change adapter settings or to trace",
        || if probe::is_root() { (Ok, "root".into()) } else { (Limited, "not root".into()) },
    ),
];

/// Checks the host, in the calling thread's network namespace.
pub fn doctor() -> Vec<Check> {
    let check = |(name, matters, hint, done): &Entry| {
        let (state, found) = done();
        let hint = if state == Ok { "" } else { hint };
        Check { name: (*name).into(), state, found, matters: (*matters).into(), hint: hint.into() }
    };
    CHECKS.iter().map(check).collect()
}

/// The bytes that 10 Gb/s have on their way in 1 ms: a smaller limit binds within one machine room.
const SMALL_BUFFER: u64 = 1_250_000;
/// Above this share stolen time spoils a trial in twenty.
const MUCH_STEAL: f64 = 0.005;

/// A probe that either works or tells why not.
fn tried(result: linerate_sys::Result<()>, works: &str) -> Verdict {
    match result {
        Result::Ok(()) => (Ok, works.into()),
        Err(error) => (Limited, format!("{error}: {}", error.source)),
    }
}

fn cpu_count(allowed: &str) -> Verdict {
    match numbers(allowed).len() {
        0 => (Limited, "the number of CPUs cannot be read".into()),
        1 => (Missing, format!("one CPU ({allowed})")),
        count => (Ok, format!("{count} CPUs ({allowed})")),
    }
}

fn is_virtual(flag: Option<bool>, hypervisor: Option<String>) -> Verdict {
    match (hypervisor, flag) {
        (Some(name), _) if !name.is_empty() => (Limited, format!("a virtual machine ({name})")),
        (Some(_), _) | (None, Some(true)) => (Limited, "a virtual machine".into()),
        (None, Some(false)) => (Ok, "no hypervisor shows".into()),
        (None, None) => (Ok, "this CPU does not tell".into()),
    }
}

fn steal(share: Option<f64>) -> Verdict {
    let Some(share) = share else { return (Limited, "the stolen time cannot be read".into()) };
    let state = if share > MUCH_STEAL { Limited } else { Ok };
    (state, format!("{:.2} % of the time since the start", share * 100.0))
}

fn governor(names: Option<&str>) -> Verdict {
    match names {
        None => (Ok, "the frequency is not ours to set".into()),
        Some("performance") => (Ok, "performance".into()),
        Some(names) => (Limited, names.into()),
    }
}

fn slack(ns: Option<(u64, u64)>) -> Verdict {
    match ns {
        Some((before, 1)) => (Ok, format!("{before} ns, can be lowered to 1 ns")),
        Some((before, _)) => (Limited, format!("{before} ns, cannot be lowered")),
        None => (Limited, "cannot be read".into()),
    }
}

/// Clocks that are read without leaving user code; others cost a system call each.
const FAST_CLOCKS: &[&str] = &["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"];

fn clock_source(name: Option<&str>) -> Verdict {
    match name {
        None => (Limited, "cannot be read".into()),
        Some(name) if FAST_CLOCKS.contains(&name) => (Ok, name.into()),
        Some(name) => (Limited, name.into()),
    }
}

fn huge_pages(text: Option<&str>) -> Verdict {
    match text.and_then(chosen) {
        Some("never") => (Limited, "never".into()),
        Some(mode) => (Ok, mode.into()),
        None => (Limited, "this kernel has no transparent huge pages".into()),
    }
}

/// The queueing disciplines in use, with the one that new interfaces get.
fn queues() -> Vec<String> {
    let used = link::qdiscs().unwrap_or_default().into_iter().map(|one| one.kind);
    let default = stack::setting("net.core.default_qdisc");
    used.chain(default.as_str().map(str::to_owned)).collect()
}

fn default_congestion_control(name: Option<&str>, queues: &[String]) -> Verdict {
    let paced = queues.iter().any(|kind| kind == "fq");
    match name {
        None => (Limited, "cannot be read".into()),
        Some(name) if name.starts_with("bbr") && !paced => (Limited, format!("{name} without fq")),
        Some(name) => (Ok, name.into()),
    }
}

fn buffer_limits(bytes: [Option<u64>; 2]) -> Verdict {
    match bytes {
        [Some(receive), Some(send)] => {
            let state = if receive.min(send) < SMALL_BUFFER { Limited } else { Ok };
            (state, format!("receive {} KiB, send {} KiB", receive >> 10, send >> 10))
        }
        _ => (Limited, "not shown in this network namespace".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own_and_words() {
        let checks = doctor();
        assert_eq!(checks.len(), CHECKS.len());
        for (check, (name, matters, hint, _)) in checks.iter().zip(CHECKS) {
            assert_eq!(checks.iter().filter(|other| other.name == check.name).count(), 1, "{name}");
            assert!(!matters.is_empty() && !hint.is_empty() && !check.found.is_empty(), "{name}");
            assert_eq!(check.hint.is_empty(), check.state == Ok, "{name}");
        }
    }

    #[test]
    fn one_cpu_is_not_enough() {
        assert_eq!(cpu_count("0-3,8"), (Ok, "5 CPUs (0-3,8)".into()));
        assert_eq!(cpu_count("2").0, Missing);
        assert_eq!(cpu_count("").0, Limited);
    }

    #[test]
    fn bbr_wants_fq() {
        let queues = ["pfifo_fast".to_owned(), "noqueue".to_owned()];
        let cases = [(Some("bbr"), Limited), (Some("bbr2"), Limited), (Some("cubic"), Ok), (None, Limited)];
        for (name, state) in cases {
            assert_eq!(default_congestion_control(name, &queues).0, state, "{name:?}");
        }
        assert_eq!(default_congestion_control(Some("bbr"), &["mq".into(), "fq".into()]).0, Ok);
    }

    #[test]
    fn facts_are_judged() {
        let cases: [(Verdict, CheckState); 16] = [
            (clock_source(Some("tsc")), Ok),
            (clock_source(Some("hpet")), Limited),
            (clock_source(None), Limited),
            (huge_pages(Some("always madvise [never]")), Limited),
            (huge_pages(Some("always [madvise] never")), Ok),
            (huge_pages(None), Limited),
            (governor(Some("performance")), Ok),
            (governor(Some("performance powersave")), Limited),
            (steal(Some(0.0)), Ok),
            (steal(Some(0.2)), Limited),
            (slack(Some((50_000, 1))), Ok),
            (slack(Some((50_000, 50_000))), Limited),
            (is_virtual(Some(true), None), Limited),
            (is_virtual(Some(false), None), Ok),
            (buffer_limits([Some(212_992), Some(1 << 26)]), Limited),
            (buffer_limits([Some(1 << 26), Some(1 << 26)]), Ok),
        ];
        for ((state, found), expected) in cases {
            assert_eq!(state, expected, "{found}");
        }
    }
}
