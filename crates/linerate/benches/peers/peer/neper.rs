//! neper: many flows by one thread that asks which are ready; the server's rate for streams.

use super::super::process::{After, Ended, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, cpu_of, limit, number_after, sleeps};

pub const NEPER: Peer = Peer {
    name: "neper",
    programs: &["tcp_stream", "tcp_rr", "tcp_crr", "udp_stream"],
    about: "streams, requests and connections, many flows a thread",
    get: "source, github.com/google/neper: make, and its programs on the path",
    version: &[],
    help: &[],
    plays: &[
        Play { clocked: SAMPLED, ..Play::new(Kind::Stream, |_, work, testbed| stream(work, testbed, &[])) },
        Play {
            clocked: SAMPLED,
            // MSG_ZEROCOPY copies on the loopback interface, so the plain call is its best there.
            ..Play::new(Kind::BestStream, |_, work, testbed| stream(work, testbed, &["--skip-rx-copy"]))
        },
        Play { clocked: SAMPLED, ..Play::new(Kind::Datagrams, datagrams) },
        Play { fits: sleeps, clocked: SAMPLED, ..Play::new(Kind::RoundTrip, requests) },
        Play { clocked: SAMPLED, ..Play::new(Kind::Requests, requests) },
        Play { clocked: SAMPLED, ..Play::new(Kind::Connections, connections) },
    ],
};

/// How often it takes a sample; its rate begins with the first one.
const SAMPLE: &str = "0.25";
const SAMPLED: Clocked = Clocked::after(0.25);

/// What both ends left.
fn ended_client(
    program: &str,
    work: &Work,
    testbed: &Testbed,
    (both, server, client): (&[&str], &[&str], &[&str]),
) -> Result<[Ended; 2], String> {
    let (control, data) = (testbed.port(), testbed.port());
    let (at, to) = (control.to_string(), data.to_string());
    let (seconds, flows) = (work.seconds.to_string(), work.flows.to_string());
    let words =
        ["-4", "-C", &at, "-P", &to, "-l", &seconds, "-F", &flows, "-T", "1", "-I", SAMPLE, "--logtostderr"];
    let server =
        Launch::new(program, work.cpus[1], words).and(both.iter().copied()).and(server.iter().copied());
    let more = client;
    let client = Launch::new(program, work.cpus[0], words).and(["-c", "-H", HERE]);
    let client = client.and(both.iter().copied()).and(more.iter().copied());
    serve(&server, (Ready::Tcp(control), After::Ends), &client, limit(work))
}

/// The rate of one end, in its own unit.
fn rate(ended: &Ended) -> Result<f64, String> {
    number_after(&ended.output, "\nthroughput=")
}

fn stream(work: &Work, testbed: &Testbed, server: &[&str]) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let both = ["-B", &bytes, "--no-cork"];
    let ended = ended_client("tcp_stream", work, testbed, (&both, server, &[]))?;
    let bps = rate(&ended[0])? * 1e6;
    let carried = bps / 8.0 * f64::from(work.seconds);
    Ok(Outcome { bps: Some(bps), ..Outcome::default() }.with_cpu(cpu_of(&ended), carried))
}

fn datagrams(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let ended = ended_client("udp_stream", work, testbed, (&["-B", &bytes], &[], &[]))?;
    let bps = rate(&ended[0])? * 1e6;
    Ok(Outcome { per_s: Some(bps / 8.0 / work.bytes as f64), bps: Some(bps), cpu_ms_per_gb: None })
}

fn requests(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    transactions("tcp_rr", work, testbed)
}

fn connections(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    transactions("tcp_crr", work, testbed)
}

fn transactions(program: &str, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let bytes = work.bytes.to_string();
    let both = ["-Q", &bytes, "-R", &bytes, "--no-delay"];
    let ended = ended_client(program, work, testbed, (&both, &[], &[]))?;
    Ok(Outcome { per_s: Some(rate(&ended[1])?), ..Outcome::default() })
}
