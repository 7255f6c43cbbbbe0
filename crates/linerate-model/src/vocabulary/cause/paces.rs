//! Rates to pace at, for causes that are seen in bursts.

/// Rates to pace at, half as much again from one to the next: those near the rate of the path are tried.
pub(super) const PACES: &[&str] = &[
    "tcp.pacing-rate=2Mb/s",
    "tcp.pacing-rate=3Mb/s",
    "tcp.pacing-rate=5Mb/s",
    "tcp.pacing-rate=7Mb/s",
    "tcp.pacing-rate=10Mb/s",
    "tcp.pacing-rate=15Mb/s",
    "tcp.pacing-rate=20Mb/s",
    "tcp.pacing-rate=30Mb/s",
    "tcp.pacing-rate=50Mb/s",
    "tcp.pacing-rate=70Mb/s",
    "tcp.pacing-rate=100Mb/s",
    "tcp.pacing-rate=150Mb/s",
    "tcp.pacing-rate=200Mb/s",
    "tcp.pacing-rate=300Mb/s",
    "tcp.pacing-rate=500Mb/s",
    "tcp.pacing-rate=700Mb/s",
    "tcp.pacing-rate=1Gb/s",
    "tcp.pacing-rate=1.5Gb/s",
    "tcp.pacing-rate=2Gb/s",
    "tcp.pacing-rate=3Gb/s",
    "tcp.pacing-rate=5Gb/s",
    "tcp.pacing-rate=7Gb/s",
];
