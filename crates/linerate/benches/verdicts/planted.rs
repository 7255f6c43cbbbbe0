//! What is put into a lab, how strong it may be, and what may be named for it.

use super::HEALTHY;

/// A fault of a lab: how it is put in at a strength from 0 to 1, and what may be named for it.
pub struct Planted {
    pub fault: &'static str,
    pub options: fn(f64) -> Vec<String>,
    pub causes: &'static [&'static str],
}

fn fault(text: String) -> Vec<String> {
    vec!["--fault".into(), text]
}

/// A value between two, by equal factors.
pub fn between(least: f64, most: f64, strength: f64) -> f64 {
    least * (most / least).powf(strength)
}

/// Paths of which nothing but the link or the CPUs binds: the kernel's own buffers hold what is in flight on each. The first one
/// is carried by the kernel unless a fault needs the program's own wire, which on two CPUs would compete with both ends.
pub const PATHS: &[&str] = &[
    "",
    "rate=1Gb/s",
    "rate=1Gb/s,delay=1ms",
    "rate=1Gb/s,delay=5ms",
    "rate=200Mb/s,delay=1ms",
    "rate=200Mb/s,delay=10ms",
];

/// What is left of a path whose fault costs no rate.
pub const NOTHING: &[&str] = &[HEALTHY];
const WINDOWS: &[&str] = &["small-buffers", "small-receive-window", "small-send-buffer"];

/// Every fault of the list, and what programs set.
pub const FAULTS: &[Planted] = &[
    Planted {
        fault: "loss",
        options: |s| fault(format!("loss={:.3}%", between(0.02, 1.0, s))),
        causes: &["packet-loss"],
    },
    Planted {
        fault: "burst-loss",
        options: |s| fault(format!("burst-loss={:.3}%", between(0.05, 2.0, s))),
        causes: &["packet-loss"],
    },
    Planted {
        fault: "reorder",
        options: |s| fault(format!("reorder={:.2}%", between(0.5, 10.0, s))),
        causes: &["reordering", "packet-loss"],
    },
    Planted {
        fault: "duplicate",
        options: |s| fault(format!("duplicate={:.2}%", between(0.1, 2.0, s))),
        causes: NOTHING,
    },
    Planted {
        fault: "jitter",
        options: |s| fault(format!("jitter={:.2}ms", between(0.1, 2.0, s))),
        causes: NOTHING,
    },
    Planted {
        fault: "delay",
        options: |s| fault(format!("delay={:.1}ms", between(1.0, 10.0, s))),
        causes: NOTHING,
    },
    Planted {
        fault: "asymmetric-delay",
        options: |s| fault(format!("asymmetric-delay={:.1}ms", between(1.0, 10.0, s))),
        causes: NOTHING,
    },
    Planted {
        fault: "mtu-black-hole",
        options: |s| fault(format!("mtu-black-hole={:.0}", between(600.0, 1400.0, s))),
        causes: &["mtu-black-hole"],
    },
    Planted {
        fault: "policer",
        options: |s| fault(format!("policer={:.0}Mb/s", between(20.0, 500.0, s))),
        causes: &["burst-drops"],
    },
    Planted {
        fault: "small-buffers",
        options: |s| fault(format!("small-buffers={:.0}KiB", between(32.0, 256.0, s))),
        causes: WINDOWS,
    },
    Planted {
        fault: "window-scaling-off",
        options: |_| fault("window-scaling-off".into()),
        causes: &["window-scaling-off"],
    },
    Planted {
        fault: "sack-off",
        options: |s| {
            [fault("sack-off".into()), fault(format!("burst-loss={:.3}%", between(0.05, 1.0, s)))].concat()
        },
        causes: &["sack-off", "packet-loss"],
    },
    Planted { fault: "timestamps-off", options: |_| fault("timestamps-off".into()), causes: NOTHING },
    Planted { fault: "offload-off", options: |_| fault("offload-off".into()), causes: &["offloads-off"] },
    Planted { fault: "tunnel", options: |_| fault("tunnel".into()), causes: &["tunnel"] },
    Planted {
        fault: "firewall-rules",
        options: |s| fault(format!("firewall-rules={:.0}", between(500.0, 5000.0, s))),
        causes: &["firewall-rules"],
    },
    Planted { fault: "conntrack", options: |_| fault("conntrack".into()), causes: NOTHING },
    Planted {
        fault: "cpu-hog",
        options: |s| fault(format!("cpu-hog=0/{:.0}%", between(30.0, 100.0, s))),
        causes: &["foreign-work"],
    },
    Planted {
        fault: "slow-reader",
        options: |s| fault(format!("slow-reader={:.0}Mb/s", between(50.0, 2000.0, s))),
        causes: &["slow-reader"],
    },
    Planted { fault: "delayed-ack", options: |_| fault("delayed-ack".into()), causes: NOTHING },
    Planted {
        fault: "pinned-send-buffer",
        options: |s| fault(format!("pinned-send-buffer={:.0}KiB", between(16.0, 128.0, s))),
        causes: &["small-send-buffer", "small-buffers"],
    },
    Planted {
        fault: "pinned-receive-buffer",
        options: |s| fault(format!("pinned-receive-buffer={:.0}KiB", between(16.0, 128.0, s))),
        causes: &["small-receive-window", "small-buffers"],
    },
    Planted {
        fault: "pacing-cap",
        options: |s| fault(format!("pacing-cap={:.0}Mb/s", between(50.0, 1000.0, s))),
        causes: &["pacing-cap"],
    },
    Planted {
        fault: "slow-source",
        options: |s| fault(format!("slow-source={:.0}us", between(200.0, 5000.0, s))),
        causes: &["slow-source"],
    },
    Planted {
        fault: "small-reads",
        options: |s| fault(format!("small-reads={:.0}", between(64.0, 2048.0, s))),
        causes: &["small-reads"],
    },
    Planted {
        fault: "small-writes",
        options: |s| fault(format!("small-writes={:.0}", between(64.0, 2048.0, s))),
        causes: &["small-writes"],
    },
    Planted {
        fault: "write-write-read",
        options: |_| fault("write-write-read".into()),
        causes: &["nagle-delayed-ack"],
    },
    Planted {
        fault: "socket-memory",
        options: |s| fault(format!("b:socket-memory={:.0}KiB", between(128.0, 1024.0, s))),
        causes: &["socket-memory"],
    },
    Planted { fault: "shared-cpu", options: |_| fault("shared-cpu".into()), causes: &["shared-cpu"] },
    Planted {
        fault: "small-mtu",
        options: |s| fault(format!("b:small-mtu={:.0}", between(600.0, 1300.0, s))),
        causes: &["mtus-differ", HEALTHY],
    },
    // On a short way the rest itself is what costs.
    Planted {
        fault: "idle-restart",
        options: |s| fault(format!("idle-restart={:.0}ms", between(300.0, 900.0, s))),
        causes: &["slow-source", "idle-restart", HEALTHY],
    },
    Planted {
        fault: "small-initial-window",
        options: |s| {
            let rests = fault(format!("idle-restart={:.0}ms", between(300.0, 900.0, s)));
            [fault("small-initial-window".into()), rests].concat()
        },
        causes: &["slow-source", "small-initial-window", "idle-restart", HEALTHY],
    },
    Planted {
        fault: "idle-receiver",
        options: |s| {
            let busy = fault(format!("cpu-hog=1/{:.0}%", between(50.0, 100.0, s)));
            let placed = vec!["--base".to_owned(), "cpu.placement=0/1".to_owned()];
            [fault("idle-receiver".into()), busy, placed].concat()
        },
        causes: &["low-priority", "foreign-work"],
    },
    Planted {
        fault: "competing-flow",
        options: |s| fault(format!("competing-flow={:.0}", between(1.0, 4.0, s))),
        causes: &["competing-flow"],
    },
    Planted {
        fault: "loss on the way back",
        options: |s| fault(format!("b-a:loss={:.1}%", between(5.0, 40.0, s))),
        causes: &["reverse-loss", HEALTHY],
    },
    Planted {
        fault: "extra-copies",
        options: |s| fault(format!("extra-copies={:.0}", between(8.0, 100.0, s))),
        causes: &["extra-copies"],
    },
];
