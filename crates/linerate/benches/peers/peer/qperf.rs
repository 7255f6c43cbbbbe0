//! qperf: bandwidths and half round trips, as text with a unit.

use super::super::process::{After, Launch, Ready, last_line, serve};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, limit, sleeps};
use linerate::vocabulary::Content;

pub const QPERF: Peer = Peer {
    name: "qperf",
    programs: &["qperf"],
    about: "bandwidth and half round trips over one connection",
    get: "package qperf",
    version: &["--version"],
    help: &[],
    plays: &[
        // Its client never writes its buffer: in its smaps the mapping has no page of its own.
        Play { tells_cpu: false, fits: is_alone, content: Content::Zeros, ..Play::new(Kind::Stream, stream) },
        Play::new(Kind::Datagrams, datagrams),
        Play { fits: sleeps, ..Play::new(Kind::RoundTrip, round_trip) },
    ],
};

fn is_alone(work: &Work) -> bool {
    work.flows == 1
}

/// Units as it writes them, and what they are in bytes or messages a second, or in seconds.
const UNITS: &[(&str, f64)] = &[
    ("bytes/sec", 1.0),
    ("KB/sec", 1e3),
    ("MB/sec", 1e6),
    ("GB/sec", 1e9),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
];

/// A value of one of its tests.
fn client_value(work: &Work, testbed: &Testbed, test: &str, value: &str) -> Result<f64, String> {
    let port = testbed.port();
    let (at, bytes, seconds) = (port.to_string(), work.bytes.to_string(), work.seconds.to_string());
    let server = Launch::new("qperf", work.cpus[1], ["-lp", &at]);
    let words = [HERE, "-lp", &at, "-t", &seconds, "-m", &bytes, "--precision", "6", test];
    let client = Launch::new("qperf", work.cpus[0], words);
    let [_, client] = serve(&server, (Ready::Tcp(port), After::Stopped), &client, limit(work))?;
    let missing = || format!("no {value}: {}", last_line(&client.output));
    // "    latency  =  4.51234 us"
    let words = client.output.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    let mut found = words.filter(|words| words.len() >= 4 && words[0] == value && words[1] == "=");
    let words = found.next().ok_or_else(missing)?;
    let unit = UNITS.iter().find(|unit| unit.0 == words[3]).ok_or_else(missing)?.1;
    Ok(words[2].replace(',', "").parse::<f64>().map_err(|_| missing())? * unit)
}

fn stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes_per_s = client_value(work, testbed, "tcp_bw", "bw")?;
    Ok(Outcome { bps: Some(8.0 * bytes_per_s), ..Outcome::default() })
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes_per_s = client_value(work, testbed, "udp_bw", "recv_bw")?;
    let per_s = bytes_per_s / work.bytes as f64;
    Ok(Outcome { per_s: Some(per_s), bps: Some(8.0 * bytes_per_s), cpu_ms_per_gb: None })
}

fn round_trip(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let half_s = client_value(work, testbed, "tcp_lat", "latency")?;
    Ok(Outcome { per_s: Some(0.5 / half_s), ..Outcome::default() })
}
