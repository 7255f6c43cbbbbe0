//! netperf: what the remote end received, by the names of its omni tests.
//!
//! It has a process for each flow, which do not begin and end together, so it takes part with one.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit, number_after, sleeps};

pub const NETPERF: Peer = Peer {
    name: "netperf",
    programs: &["netperf", "netserver"],
    about: "streams, requests and connections, a process a flow",
    get: "source, github.com/HewlettPackard/netperf; docs/performance.md has the commands",
    version: &["-V"],
    help: &[],
    plays: &[
        Play { fits: is_alone, ..Play::new(Kind::Stream, stream) },
        Play { fits: is_alone, ..Play::new(Kind::Datagrams, datagrams) },
        Play { fits: sleeps, ..Play::new(Kind::RoundTrip, requests) },
        Play { fits: is_alone, ..Play::new(Kind::Requests, requests) },
        Play::new(Kind::Connections, |_, work, testbed| transactions(work, testbed, "TCP_CRR")),
    ],
};

fn is_alone(work: &Work) -> bool {
    work.flows == 1
}

/// What its client prints, and the CPU time of both.
fn client_output(
    work: &Work,
    testbed: &Testbed,
    test: &str,
    more: &[&str],
) -> Result<(String, Option<u64>), String> {
    let port = testbed.port();
    let (at, seconds) = (port.to_string(), work.seconds.to_string());
    let server = Launch::new("netserver", work.cpus[1], ["-D", "-f", "-4", "-L", HERE, "-p", &at]);
    let words = ["-4", "-H", HERE, "-p", &at, "-t", test, "-l", &seconds, "-P", "0", "--"];
    let client = Launch::new("netperf", work.cpus[0], words).and(more.iter().copied());
    let ended = serve(&server, (Ready::Tcp(port), After::Stopped), &client, limit(work))?;
    let cpu_ns = cpu_of(&ended);
    let [_, client] = ended;
    Ok((client.output, cpu_ns))
}

fn stream(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let what = "REMOTE_RECV_THROUGHPUT,REMOTE_BYTES_RECVD";
    let words = ["-m", &bytes, "-M", &bytes, "-k", what];
    let (text, cpu_ns) = client_output(work, testbed, "TCP_STREAM", &words)?;
    let bps = number_after(&text, "REMOTE_RECV_THROUGHPUT=")? * 1e6;
    let bytes = number_after(&text, "REMOTE_BYTES_RECVD=")?;
    Ok(Outcome { bps: Some(bps), ..Outcome::default() }.with_cpu(cpu_ns, bytes))
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let words = ["-m", &bytes, "-R", "1", "-k", "REMOTE_BYTES_RECVD,ELAPSED_TIME"];
    let (text, _) = client_output(work, testbed, "UDP_STREAM", &words)?;
    let received = number_after(&text, "REMOTE_BYTES_RECVD=")?;
    let per_s = received / work.bytes as f64 / number_after(&text, "ELAPSED_TIME=")?;
    Ok(Outcome { per_s: Some(per_s), bps: Some(per_s * work.bytes as f64 * 8.0), cpu_ms_per_gb: None })
}

fn requests(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    transactions(work, testbed, "TCP_RR")
}

fn transactions(work: &Work, testbed: &Testbed, test: &str) -> Result<Outcome, String> {
    let sizes = format!("{0},{0}", work.bytes);
    let (text, _) = client_output(work, testbed, test, &["-r", &sizes, "-D", "-k", "THROUGHPUT"])?;
    Ok(Outcome { per_s: Some(number_after(&text, "THROUGHPUT=")?), ..Outcome::default() })
}
