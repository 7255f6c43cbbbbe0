//! iperf3: the rates of its server, and from its JSON the bytes of the seconds that it omits.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit};
use linerate::vocabulary::Wait;
use serde_json::Value;

pub const IPERF3: Peer = Peer {
    name: "iperf3",
    programs: &["iperf3"],
    about: "streams of TCP and UDP, one client at a time",
    get: "package iperf3; newer: github.com/esnet/iperf",
    version: &["--version"],
    help: &["--help"],
    plays: &[
        Play { clocked: OMITS, ..Play::new(Kind::Stream, |_, work, testbed| stream(work, testbed, &[])) },
        Play { needs: "--skip-rx-copy", ..BEST },
        Play { run: |_, work, testbed| stream(work, testbed, &["-Z"]), ..BEST },
        Play { least_bytes: 16, ..Play::new(Kind::Datagrams, plain_datagrams) },
        Play {
            least_bytes: 16,
            needs: "--gsro",
            // Its receiver asks again and again then (net.c: MSG_DONTWAIT in recv_msg_gro).
            waits: Some(Wait::Polling),
            ..Play::new(Kind::BestDatagrams, |_, work, testbed| datagrams(work, testbed, &["--gsro"]))
        },
        Play { least_bytes: 16, ..Play::new(Kind::BestDatagrams, plain_datagrams) },
    ],
};

/// It omits whole seconds.
const OMITS: Clocked = Clocked::after(1.0);

const BEST: Play = Play { clocked: OMITS, ..Play::new(Kind::BestStream, best_stream) };

fn best_stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    stream(work, testbed, &["-Z", "--skip-rx-copy"])
}

fn plain_datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    datagrams(work, testbed, &[])
}

/// What its client says in JSON, and the CPU time of both.
fn client_json(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<(Value, Option<u64>), String> {
    let port = testbed.port();
    let (at, bytes) = (port.to_string(), work.bytes.to_string());
    let (seconds, flows) = (work.seconds.to_string(), work.flows.to_string());
    let server = Launch::new("iperf3", work.cpus[1], ["-s", "-1", "-p", &at]);
    let words = ["-c", HERE, "-p", &at, "-l", &bytes, "-t", &seconds, "-P", &flows, "-J"];
    let client = Launch::new("iperf3", work.cpus[0], words).and(more.iter().copied());
    let ended = serve(&server, (Ready::Tcp(port), After::Ends), &client, limit(work))?;
    let json: Value = serde_json::from_str(&ended[1].output).map_err(|error| error.to_string())?;
    if let Some(error) = json["error"].as_str() {
        return Err(error.to_owned());
    }
    Ok((json, cpu_of(&ended)))
}

fn stream(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<Outcome, String> {
    let words = [&["-O", "1"], more].concat();
    let (json, cpu_ns) = client_json(work, testbed, &words)?;
    let bps = json["end"]["sum_received"]["bits_per_second"].as_f64().ok_or("it told no received rate")?;
    let intervals = json["intervals"].as_array().into_iter().flatten();
    let bytes: f64 = intervals.filter_map(|interval| interval["sum"]["bytes"].as_f64()).sum();
    Ok(Outcome { bps: Some(bps), ..Outcome::default() }.with_cpu(cpu_ns, bytes))
}

/// Nothing is omitted: it would count what was lost before against what came after.
fn datagrams(work: &Work, testbed: &Testbed, more: &[&str]) -> Result<Outcome, String> {
    let words = [&["-u", "-b", "0"], more].concat();
    let (json, _) = client_json(work, testbed, &words)?;
    // Versions differ in where the receiver's sum is; each has the lost ones in it.
    let received = &json["end"]["sum_received"];
    let sum = if received["packets"].is_number() { received } else { &json["end"]["sum"] };
    let field = |name: &str| sum[name].as_f64().ok_or_else(|| format!("it told no {name} of its datagrams"));
    let per_s = (field("packets")? - field("lost_packets")?) / field("seconds")?;
    Ok(Outcome { per_s: Some(per_s), bps: Some(per_s * work.bytes as f64 * 8.0), cpu_ms_per_gb: None })
}
