//! kperf: a client that bids two servers send to each other; each works in a process of its own on the CPU that it names.
//!
//! Its flows must come in on CPUs of their own, so it takes part with one. Its own processes are not this bench's
//! children, so their CPU time is not told.

use super::super::process::{Ended, Launch, Ready, Running, await_ready, last_line};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, limit, sleeps};
use std::time::Duration;

pub const KPERF: Peer = Peer {
    name: "kperf",
    programs: &["kperf-client", "kperf-server"],
    about: "streams and requests, placed where the kernel receives",
    get: "source, github.com/facebookexperimental/kperf: make; its `client` and `server` as kperf-client and kperf-server",
    version: &[],
    help: &[],
    plays: &[
        Play {
            tells_cpu: false,
            fits: is_alone,
            ..Play::new(Kind::Stream, |_, work, testbed| stream(work, testbed, &[]))
        },
        Play {
            tells_cpu: false,
            fits: is_alone,
            ..Play::new(Kind::BestStream, |_, work, testbed| stream(work, testbed, &["--msg-trunc"]))
        },
        Play { fits: sleeps, ..Play::new(Kind::RoundTrip, requests) },
        Play { fits: is_alone, ..Play::new(Kind::Requests, requests) },
    ],
};

fn is_alone(work: &Work) -> bool {
    work.flows == 1
}

fn server(cpu: u32, port: u16) -> Result<Running, String> {
    let words = ["--no-daemon".to_owned(), "--port".to_owned(), port.to_string()];
    let server = Launch::new("kperf-server", cpu, words).start()?;
    await_ready(&server, Ready::Tcp(port), Duration::from_secs(5))?;
    Ok(server)
}

/// What its client left.
fn ended_client(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<Ended, String> {
    let ports = [testbed.port(), testbed.port()];
    let [from, to] = [server(work.cpus[0], ports[0])?, server(work.cpus[1], ports[1])?];
    let [source, target] = ports.map(|port| port.to_string());
    let [here, there] = work.cpus.map(|cpu| cpu.to_string());
    let seconds = work.seconds.to_string();
    let words = ["--src", HERE, "--src-svc", &source, "--dst", HERE, "--dst-svc", &target];
    let client = Launch::new("kperf-client", work.cpus[0], words);
    let placed = ["--cpu-src-wrk", &here, "--cpu-dst-wrk", &there, "--validate", "no", "-t", &seconds];
    let client = client.and(placed).and(more.iter().copied()).start()?.wait(limit(work))?;
    drop((from, to));
    if client.is_well { Ok(client) } else { Err(last_line(&(client.output + &client.errors)).to_owned()) }
}

/// The last field of its CSV: what the target received.
fn stream(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    // It reads 64 KiB at once, as it does unless it is told otherwise, or the message where that is larger.
    let read = work.bytes.max(64 << 10).to_string();
    let words = [&["--write-size", &bytes, "--read-size", &read, "--out-csv"], more].concat();
    let client = ended_client(work, testbed, &words)?;
    let received = last_line(&client.output).rsplit(',').next().and_then(|field| field.parse::<f64>().ok());
    let received = received.ok_or_else(|| last_line(&client.output).to_owned())?;
    Ok(Outcome { bps: Some(received * 1e9), ..Outcome::default() })
}

/// The source's line: "kperf-client: 123456.7 RPS".
fn requests(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let client = ended_client(work, testbed, &["--req-size", &bytes, "--resp-size", &bytes])?;
    let lines = client.errors.lines().chain(client.output.lines());
    let mut rates = lines.filter_map(|line| line.trim_end().strip_suffix(" RPS"));
    let per_s = rates.next().and_then(|line| line.split_whitespace().last()?.parse().ok());
    let per_s = per_s.ok_or_else(|| last_line(&client.errors).to_owned())?;
    Ok(Outcome { per_s: Some(per_s), ..Outcome::default() })
}
