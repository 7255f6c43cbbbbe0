//! `link.offload`: what the stack does for many packets at once, of a lab's links and of hosts' interfaces.

use super::{HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Had, Knob, KnobKind, Tunable};

const FLAGS: &[(&str, &str)] = &[("on", "true"), ("off", "false")];

/// `link.offload`.
pub const OFFLOAD: HostKnob = HostKnob {
    knob: Knob {
        name: "link.offload",
        kind: KnobKind::Switch,
        transports: &[],
        default: "on, as the kernel's virtual cables have it",
        harmless: None,
        had: Had::Links,
        about: "whether the lab's interfaces make super-packets of packets, and take them: TSO, GSO and GRO",
        source: "ethtool(8), --features; Documentation/networking/segmentation-offloads.rst",
        hint: "off: what each packet costs where none is spared the stack",
    },
    tried: Some(Tunable {
        name: "offload",
        levels: &["link.offload=on"],
        gain: 0.6,
        risk: "a host that forwards packets must not merge them for others (LRO)",
        source: "ethtool(8); Documentation/networking/segmentation-offloads.rst",
        ..TRIED
    }),
    place: HostPlace::Offloads,
    kept: &[
        KeptLine {
            file: KeptIn::NetworkManager,
            text: "[ethtool]\nfeature-tso={}\nfeature-gso={}\nfeature-gro={}",
            words: FLAGS,
        },
        KeptLine {
            file: KeptIn::Link,
            text: "[Link]\nTCPSegmentationOffload={}\nGenericSegmentationOffload={}\nGenericReceiveOffload={}\n",
            words: FLAGS,
        },
        KeptLine::new(KeptIn::Ifupdown, "    up ethtool -K $IFACE tso {} gso {} gro {}"),
    ],
};
