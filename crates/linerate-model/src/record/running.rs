//! What the connections of a running program did while they were watched.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A program, or all that uses a port, as it was watched: nothing of it was changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunningProgram {
    /// What was asked for: `process 1234 (iperf3)`, `port 5201`.
    pub name: String,
    /// How long it was watched.
    pub duration_ns: u64,
    /// How often its connections were read.
    pub readings: u32,
    /// The share of the time that the busiest of its threads had a CPU; none of a port.
    pub busiest_thread: Option<f64>,
    /// Its TCP connections that were read more than once, those that carried most first.
    pub connections: Vec<RunningConnection>,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunningConnection {
    /// The watched end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// From its first reading to its last.
    pub duration_ns: u64,
    /// How often it was read.
    pub readings: u32,
    /// The congestion control in force.
    pub congestion_control: Option<String>,
    /// The limit of what it may hold that came in, as the kernel counts it.
    pub receive_buffer: Option<u32>,
    /// The same of what goes out.
    pub send_buffer: Option<u32>,
    /// Counters of `tcp_info` that moved, by the kernel's names without `tcpi_`.
    pub moved: BTreeMap<String, u64>,
    /// Values of `tcp_info` at the end.
    pub last: BTreeMap<String, u64>,
    /// What changed from reading to reading: `unread` and `outstanding` bytes, `notsent_bytes`, `snd_wnd`, `rtt`, `snd_cwnd`.
    pub levels: BTreeMap<String, Level>,
}

/// What the readings of one number were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// The least.
    pub least: f64,
    /// The one in the middle.
    pub median: f64,
    /// The greatest.
    pub most: f64,
    /// The share of the readings in which it was above nothing.
    pub above_nothing: f64,
}

impl Level {
    /// Of these readings; none without any.
    pub fn from_values(values: &[f64]) -> Option<Level> {
        let median = crate::statistic::median(values.iter().copied())?;
        let above = values.iter().filter(|value| **value > 0.0).count();
        Some(Level {
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            median,
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            above_nothing: above as f64 / values.len() as f64,
        })
    }
}

impl RunningConnection {
    /// The rate of what the other end has acknowledged.
    pub fn sent_bps(&self) -> f64 {
        self.bps("bytes_acked")
    }

    /// The rate of what came in.
    pub fn received_bps(&self) -> f64 {
        self.bps("bytes_received")
    }

    fn bps(&self, counter: &str) -> f64 {
        8e9 * self.moved.get(counter).map_or(0.0, |bytes| *bytes as f64) / self.duration_ns.max(1) as f64
    }
}
