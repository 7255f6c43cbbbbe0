//! The tables of names: what may be written in a plan, a flag, a record or a report.
//!
//! Pure descriptors, so that the live half and the desk half read the same list. Flags, JSON keys,
//! listings and reference pages are derived from these tables; every entry has one implementer.

mod bound;
mod break_class;
mod calibrated;
mod cause;
mod engine;
mod explanation;
mod fault;
mod filter;
mod hindrance;
mod host_knob;
mod knob;
mod lab_key;
mod library;
pub mod metric;
pub mod mover;
mod native;
mod observer;
mod pattern;
mod preset;
mod quantity;
mod readable;
mod reason;
mod rung;
mod signal;
mod stage;
mod stage_filter;
mod suite;
mod tool;
mod transport;
mod trial;
mod tuning;
mod warning;

pub use bound::{BOUNDS, BoundEntry};
pub use break_class::{BREAKS, BreakClass};
pub use calibrated::{
    CALIBRATED, CLOCK_READ, CLOCK_STEP, COPY_COLD, COPY_HOT, Calibrated, CalibratedUnit, SLEEP_LATE,
    SLEEP_LATE_LOWERED, SLEEP_LATE_LOWERED_P99, SLEEP_LATE_P99, SYSTEM_CALL, WAKE_UP_ASLEEP, WAKE_UP_AWAKE,
    WAKE_UP_SAME,
};
pub use cause::{CAUSES, Cause, NOTHING_PASSES, Sign};
pub use engine::{Engine, STREAM_ENGINES};
pub use explanation::{Explanation, KINDS, Kind, explanations};
pub use fault::{FAULTS, FaultEntry, FaultKind, FaultSite};
pub use filter::{FILTER_KINDS, FilterKind, NFT_LIST};
pub use hindrance::{HINDRANCES, Hindrance};
pub use host_knob::{
    AdapterField, AdapterNumbers, AdapterPlace, CpuPlace, HOST_KNOBS, HostKnob, HostPlace, KeptIn, KeptLine,
    LINK_MTU, LINK_OFFLOAD, SysctlValue,
};
pub use knob::{FILTER_AT, FILTER_AT_ROUTER, FILTER_KIND, FILTER_MATCH, FILTER_RULES, FILTER_STATE};
pub use knob::{Had, KNOBS, Knob, KnobKind, LONGEST_NS, OF_APPLICATIONS, OF_LOOPS, RATES, TRANSPORT_OF};
pub use knob::{LINK_ADAPTERS, LINK_COALESCE, LINK_COALESCE_FRAMES};
pub use knob::{OF_CONNECTIONS, OF_RELAYS, SHIM_ANSWERED, SHIM_READ_RATE};
pub use lab_key::{LAB_KEYS, LabKey};
pub use library::{
    LAM_RPIS, LIBRARY_KINDS, Launch, LaunchDaemons, LibraryKind, MPI_ABIS, MPI_MAKERS, MPI_RECEIVES,
    MPI_THREAD_LEVELS, MPI_VARIABLES, MpiAbi, MpiMaker, MpiVariable, Ranks, SHMEM_MAKERS, SHMEM_OPERATIONS,
    ShmemMaker, TCGMSG_OVER,
};
pub use metric::{METRICS, Metric, Part};
pub use native::{NATIVE_LIBRARIES, NativeLibrary};
pub use observer::{OBSERVERS, ObserverEntry, Privilege};
pub use pattern::{
    Collective, Does, ELEMENT_BYTES, FEEDBACK_NS, FILE_REGIONS, LEAST_BUFFER, MOST_BUFFER, MOST_REGION, Need,
    PATTERNS, Pattern, PatternEntry, Search,
};
pub use preset::{PRESETS, Preset};
pub use quantity::{QUANTITIES, Quantity, QuantityEntry, Statistic};
pub use readable::{readable_knob, readable_metric, readable_place, readable_rung, readable_setting};
pub use reason::{REASONS, ReasonEntry, ReasonKind};
pub use rung::{
    DATAGRAM_BYTES, FRAME_BYTES, FRAME_SIZES, Family, LADDER_BYTES, LATENCY_BYTES, Place, RUNGS, Rung,
};
pub use signal::{SIGNALS, SignalEntry};
pub use stage::{
    APPLICATION, ARRIVED, BEYOND, IN, LOCKED, OUT, PROBED, Point, QUEUED, READY, RECEIVED, RETURNED,
    RUN_QUEUE, RUNNING, SEND, STAGES, Stage, TRACE_LEVELS, TRANSMITTED, TraceLevel, WAKING, WIRE, WOKEN,
    stage_between,
};
pub use stage_filter::{STAGE_FILTERS, StageData, StageFilter};
pub use suite::{SUITES, SuiteEntry};
pub use tool::{TOOLS, Tool};
pub use transport::{OTHER_WAITS, OtherWait, TRANSPORTS, Takes, TransportEntry};
pub use trial::{Cache, Content, Sample, Wait};
pub use tuning::{Scope, TUNABLES, Tunable};
pub use warning::{Placements, WARNINGS, Warning, Weight};

pub use strsim::levenshtein as distance;

/// Whether two names are the same, before the program runs: by it tables refer to each other's entries.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The parts of a table one behind the other, before the program runs; `N` is what they have together.
const fn joined<T: Copy, const N: usize>(parts: &[&[T]]) -> [T; N] {
    let mut all = [parts[0][0]; N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[next] = parts[part][at];
            (at, next) = (at + 1, next + 1);
        }
        part += 1;
    }
    assert!(next == N, "the parts of a table are not what it is said to have");
    all
}

/// A question for what was probably meant by a name that is not known; `otherwise` where none is near.
pub fn did_you_mean<'n>(names: impl IntoIterator<Item = &'n str>, wanted: &str, otherwise: &str) -> String {
    let reach = 1 + wanted.chars().count() / 3;
    let distances = names.into_iter().map(|name| (distance(name, wanted), name));
    let mut near: Vec<(usize, &str)> = distances.filter(|(distance, _)| *distance <= reach).collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    let names: Vec<String> = near.iter().map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { otherwise.into() } else { format!("did you mean {}?", names.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_stands_on_known_names() {
        for rung in RUNGS {
            if let Some(below) = rung.below {
                let position = |id| RUNGS.iter().position(|r| r.id == id);
                assert!(position(below) < position(rung.id), "{} stands on {below}", rung.id);
            }
        }
    }

    #[test]
    fn a_knob_of_a_fault_says_what_is_harmless() {
        for knob in KNOBS {
            assert_eq!(knob.harmless.is_some(), knob.about.starts_with("a known fault"), "{}", knob.name);
            let usual = knob.default.split([':', ' ']).next().unwrap_or_default();
            let is_harmless =
                knob.harmless.is_none_or(|harmless| harmless.is_empty() || harmless.contains(&usual));
            assert!(is_harmless, "{} plants a fault by default", knob.name);
        }
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbours() {
        let asked = |name| did_you_mean(KNOBS.iter().map(|knob| knob.name), name, "look them up");
        assert_eq!(asked("socket.send-bufer"), "did you mean `socket.send-buffer`?");
        assert_eq!(asked("zzzz"), "look them up");
    }
}
