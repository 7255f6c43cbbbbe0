//! What `linerate calibrate` measures of a host, beside what its generators can do.

/// How a calibrated figure is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibratedUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes a second.
    BytesPerSecond,
}

/// A calibrated figure.
#[derive(Debug)]
pub struct Calibrated {
    /// Its name in files and tables.
    pub name: &'static str,
    /// Its unit.
    pub unit: CalibratedUnit,
    /// What it is, and what for.
    pub about: &'static str,
}

use CalibratedUnit::{BytesPerSecond, Nanoseconds};

/// What one reading of the clock costs.
pub const CLOCK_READ: &str = "clock.read";
/// The smallest step of the clock.
pub const CLOCK_STEP: &str = "clock.step";
/// What entering and leaving the kernel costs.
pub const SYSTEM_CALL: &str = "system-call";
/// How late a sleep ends, as a thread finds it.
pub const SLEEP_LATE: &str = "sleep-late.default";
/// Its 99th percentile.
pub const SLEEP_LATE_P99: &str = "sleep-late.default.p99";
/// How late a sleep ends with timer slack lowered.
pub const SLEEP_LATE_LOWERED: &str = "sleep-late.lowered";
/// Its 99th percentile.
pub const SLEEP_LATE_LOWERED_P99: &str = "sleep-late.lowered.p99";
/// Waking a thread on another CPU that is kept awake.
pub const WAKE_UP_AWAKE: &str = "wake-up.kept-awake";
/// Waking a thread on another CPU that may sleep.
pub const WAKE_UP_ASLEEP: &str = "wake-up.asleep";
/// Waking a thread on the same CPU.
pub const WAKE_UP_SAME: &str = "wake-up.same-cpu";
/// Copying within the caches.
pub const COPY_HOT: &str = "copy.hot";
/// Copying through memory.
pub const COPY_COLD: &str = "copy.cold";

/// Every calibrated figure.
pub const CALIBRATED: &[Calibrated] = &[
    Calibrated {
        name: CLOCK_READ,
        unit: Nanoseconds,
        about: "one time stamp; samples are batched until it is below 5 % of each",
    },
    Calibrated {
        name: CLOCK_STEP,
        unit: Nanoseconds,
        about: "the clock's smallest step; nothing shorter can be told apart",
    },
    Calibrated {
        name: SYSTEM_CALL,
        unit: Nanoseconds,
        about: "into the kernel and back; every message over a socket pays it",
    },
    Calibrated {
        name: SLEEP_LATE,
        unit: Nanoseconds,
        about: "a sleep of 1 ms ends so late with the slack that threads start with",
    },
    Calibrated { name: SLEEP_LATE_P99, unit: Nanoseconds, about: "one in a hundred of them is later" },
    Calibrated {
        name: SLEEP_LATE_LOWERED,
        unit: Nanoseconds,
        about: "the same with lowered slack, as measuring threads have it",
    },
    Calibrated {
        name: SLEEP_LATE_LOWERED_P99,
        unit: Nanoseconds,
        about: "one in a hundred of them is later",
    },
    Calibrated {
        name: WAKE_UP_AWAKE,
        unit: Nanoseconds,
        about: "waking a thread on another CPU; in every sleeping half round trip",
    },
    Calibrated {
        name: WAKE_UP_ASLEEP,
        unit: Nanoseconds,
        about: "the same where that CPU may sleep, as on an idle host",
    },
    Calibrated {
        name: WAKE_UP_SAME,
        unit: Nanoseconds,
        about: "waking a thread on the same CPU; a switch and no interrupt",
    },
    Calibrated {
        name: COPY_HOT,
        unit: BytesPerSecond,
        about: "memcpy within the caches; each copy of a small message",
    },
    Calibrated {
        name: COPY_COLD,
        unit: BytesPerSecond,
        about: "memcpy through 64 MiB; each copy of a message beyond the caches",
    },
];
