//! xfr: what its server counted, from its JSON. It always sends 128 KiB, and datagrams of 1400 B.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit};
use serde_json::Value;

pub const XFR: Peer = Peer {
    name: "xfr",
    programs: &["xfr"],
    about: "streams of TCP, UDP and QUIC with a live view",
    get: "cargo install xfr; github.com/lance0/xfr",
    version: &["--version"],
    help: &[],
    plays: &[
        Play {
            fits: is_its_size,
            ..Play::new(Kind::Stream, |_, work, testbed| stream(work, testbed, "--no-zerocopy"))
        },
        Play {
            fits: is_its_size,
            ..Play::new(Kind::BestStream, |_, work, testbed| stream(work, testbed, "-Z"))
        },
        Play { fits: |work| work.bytes == 1400, ..Play::new(Kind::Datagrams, datagrams) },
    ],
};

fn is_its_size(work: &Work) -> bool {
    work.bytes == 128 << 10
}

/// What its client says in JSON, and the CPU time of both.
fn client_json(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<(Value, Option<u64>), String> {
    let port = testbed.port();
    let (at, flows) = (port.to_string(), work.flows.to_string());
    let seconds = format!("{}s", work.seconds);
    let server = Launch::new("xfr", work.cpus[1], ["serve", "-p", &at]);
    let words = [HERE, "-p", &at, "-t", &seconds, "-P", &flows, "--json", "--no-tui", "--no-update-check"];
    let client = Launch::new("xfr", work.cpus[0], words).and(more.iter().copied());
    let ended = serve(&server, (Ready::Tcp(port), After::Stopped), &client, limit(work))?;
    // Progress may stand before it.
    let text = ended[1].output.find('{').map_or("", |at| &ended[1].output[at..]);
    let json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok((json, cpu_of(&ended)))
}

fn stream(work: &Work, testbed: &Testbed, engine: &str) -> Result<Outcome, String> {
    let (json, cpu_ns) = client_json(work, testbed, &[engine])?;
    let mbps = json["throughput_mbps"].as_f64().ok_or("it told no throughput")?;
    let bytes = json["bytes_total"].as_f64().ok_or("it told no bytes")?;
    Ok(Outcome { bps: Some(mbps * 1e6), ..Outcome::default() }.with_cpu(cpu_ns, bytes))
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let (json, _) = client_json(work, testbed, &["-u", "-b", "0"])?;
    let received = json["udp_stats"]["packets_received"].as_f64().ok_or("it told no received packets")?;
    let seconds = json["duration_ms"].as_f64().ok_or("it told no duration")? / 1e3;
    let per_s = received / seconds;
    Ok(Outcome { per_s: Some(per_s), bps: Some(per_s * work.bytes as f64 * 8.0), cpu_ms_per_gb: None })
}
