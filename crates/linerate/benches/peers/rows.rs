//! The rows: which work is raced, and which figures of it.

use super::work::{Kind, Outcome, Work};
use linerate::vocabulary::{Content, Wait};

/// A figure of an outcome.
#[derive(Debug)]
pub struct Metric {
    /// What follows the row's name.
    pub suffix: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether more of it is better.
    pub larger_wins: bool,
    /// Whether it is of CPU time, which not all peers tell.
    pub is_cpu: bool,
    /// The figure.
    pub of: fn(&Outcome) -> Option<f64>,
}

const RATE: Metric = Metric {
    suffix: "",
    unit: "Gb/s",
    larger_wins: true,
    is_cpu: false,
    of: |it| it.bps.map(|bps| bps / 1e9),
};
const CPU: Metric =
    Metric { suffix: " CPU", unit: "ms/GB", larger_wins: false, is_cpu: true, of: |it| it.cpu_ms_per_gb };
const PACKETS: Metric = Metric {
    suffix: " packets",
    unit: "1000/s",
    larger_wins: true,
    is_cpu: false,
    of: |it| it.per_s.map(|per_s| per_s / 1e3),
};
const HALF: Metric = Metric {
    suffix: "",
    unit: "us, half",
    larger_wins: false,
    is_cpu: false,
    of: |it| it.per_s.map(|per_s| 1e6 / per_s / 2.0),
};
const PER_SECOND: Metric =
    Metric { suffix: "", unit: "1/s", larger_wins: true, is_cpu: false, of: |it| it.per_s };
const MEMORY: Metric = Metric {
    suffix: "",
    unit: "GB/s",
    larger_wins: true,
    is_cpu: false,
    of: |it| it.bps.map(|bps| bps / 8e9),
};

const STREAM: &[Metric] = &[RATE, CPU];
const DATAGRAMS: &[Metric] = &[PACKETS, RATE];
const ROUND_TRIP: &[Metric] = &[HALF];
const TRANSACTIONS: &[Metric] = &[PER_SECOND];
const COPIES: &[Metric] = &[MEMORY];

/// A line of the race table for each of its figures.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What is done.
    pub work: Work,
    /// What is looked at.
    pub metrics: &'static [Metric],
}

/// The 128 KiB are what xfr always sends, and iperf3 unless it is told otherwise.
const STREAM_BYTES: &[(u64, &str)] =
    &[(128, "128 B"), (1460, "1460 B"), (64 << 10, "64 KiB"), (128 << 10, "128 KiB"), (1 << 20, "1 MiB")];
const FLOWS: &[u32] = &[1, 4];
const DATAGRAM_BYTES: &[u64] = &[18, 1400];
const REQUEST_FLOWS: &[u32] = &[1, 16, 256];
/// What a memory row walks through: far more than any cache keeps.
const MEMORY_BYTES: u64 = 64 << 20;
const MEMORY_ROWS: [(Kind, &str); 3] = [
    (Kind::MemoryCopy, "memory-copy 64 MiB parity"),
    (Kind::BestMemoryCopy, "memory-copy 64 MiB best"),
    (Kind::MemoryTriad, "memory-triad 64 MiB"),
];

/// Every row, on these CPUs. One CPU leaves out what needs two.
pub fn all(cpus: &[u32], seconds: u32) -> Vec<Row> {
    let one = cpus.first().copied().unwrap_or(0);
    let two = cpus.get(1).map(|other| [one, *other]);
    let plain = Work {
        kind: Kind::Stream,
        bytes: 1,
        flows: 1,
        wait: Wait::Sleeping,
        content: Content::Random,
        cpus: [one, one],
        seconds,
    };
    let apart: Vec<Row> = two.into_iter().flat_map(|cpus| on_two_cpus(Work { cpus, ..plain })).collect();
    apart.into_iter().chain(on_one_cpu(plain)).collect()
}

fn on_two_cpus(plain: Work) -> Vec<Row> {
    let row = |name: String, work: Work, metrics| Row { name, work, metrics };
    let mut rows = Vec::new();
    for (kind, engine) in [(Kind::Stream, "parity"), (Kind::BestStream, "best")] {
        for flows in FLOWS {
            rows.extend(STREAM_BYTES.iter().map(|(bytes, size)| {
                let work = Work { kind, bytes: *bytes, flows: *flows, ..plain };
                row(format!("tcp-stream {size} x {flows} {engine}"), work, STREAM)
            }));
        }
    }
    for (kind, engine) in [(Kind::Datagrams, "parity"), (Kind::BestDatagrams, "best")] {
        rows.extend(DATAGRAM_BYTES.iter().map(|bytes| {
            row(format!("udp-stream {bytes} B {engine}"), Work { kind, bytes: *bytes, ..plain }, DATAGRAMS)
        }));
    }
    let round_trip = Work { kind: Kind::RoundTrip, ..plain };
    for wait in [Wait::Sleeping, Wait::Polling] {
        let name = format!("round-trip 1 B {wait} two-cpus");
        rows.push(row(name, Work { wait, ..round_trip }, ROUND_TRIP));
    }
    rows.extend(REQUEST_FLOWS.iter().map(|flows| {
        let work = Work { kind: Kind::Requests, flows: *flows, ..plain };
        row(format!("requests 1 B x {flows}"), work, TRANSACTIONS)
    }));
    rows.push(row("connections".into(), Work { kind: Kind::Connections, ..plain }, TRANSACTIONS));
    rows
}

/// Ends that poll need a CPU each: on one, each message would wait until the scheduler takes the CPU from the other end,
/// milliseconds that say nothing of either side. So there is no such row.
fn on_one_cpu(plain: Work) -> Vec<Row> {
    let memory = Work { bytes: MEMORY_BYTES, ..plain };
    let name = format!("round-trip 1 B {} one-cpu", plain.wait);
    let round_trip = Row { name, work: Work { kind: Kind::RoundTrip, ..plain }, metrics: ROUND_TRIP };
    let copies = MEMORY_ROWS.map(|(kind, name)| Row {
        name: name.into(),
        work: Work { kind, ..memory },
        metrics: COPIES,
    });
    std::iter::once(round_trip).chain(copies).collect()
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_have_names_of_their_own() {
        let rows = all(&[3, 5], 2);
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names.len(), rows.len());
        assert!(rows.iter().all(|row| row.work.cpus == [3, 5] || row.work.cpus == [3, 3]));
    }

    #[test]
    fn one_cpu_has_no_row_in_which_ends_poll() {
        assert!(all(&[0], 2).iter().all(|row| row.work.wait == Wait::Sleeping));
        assert!(all(&[0, 1], 2).iter().any(|row| row.work.wait == Wait::Polling));
    }

    #[test]
    fn figures_are_in_their_units() {
        let outcome = Outcome { bps: Some(8e9), per_s: Some(1e5), cpu_ms_per_gb: Some(150.0) };
        let figures =
            [(RATE, 8.0), (CPU, 150.0), (PACKETS, 100.0), (HALF, 5.0), (PER_SECOND, 1e5), (MEMORY, 1.0)];
        for (metric, value) in figures {
            assert_eq!((metric.of)(&outcome), Some(value), "{metric:?}");
            assert_eq!((metric.of)(&Outcome::default()), None);
        }
    }
}
