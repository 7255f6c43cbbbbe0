//! `host.governor`: what chooses the CPUs' clock.

use super::{BASE, CpuPlace, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.governor`.
pub const GOVERNOR: HostKnob = HostKnob {
    knob: Knob {
        name: "host.governor",
        kind: KnobKind::OneOf(&["performance", "schedutil", "ondemand", "conservative", "powersave"]),
        about: "what chooses the clock of all of the host's CPUs",
        source: "Documentation/admin-guide/pm/cpufreq.rst",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-governor",
        levels: &["host.governor=performance"],
        gain: 0.1,
        risk: "power and heat",
        source: "Documentation/admin-guide/pm/cpufreq.rst",
        ..TRIED
    }),
    place: HostPlace::EachCpu(CpuPlace { name: "governor", file: "cpufreq/scaling_governor" }),
    kept: &[KeptLine::new(
        KeptIn::Tmpfiles,
        "w /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor - - - - {}",
    )],
};
