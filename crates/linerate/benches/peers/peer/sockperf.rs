//! sockperf: half round trips, asked for again and again or slept for. Its header is 14 B, so is its least message.

use super::super::process::{After, Launch, Ready, serve};
use super::super::testbed::Testbed;
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, limit, number_after};
use linerate::vocabulary::Wait;

pub const SOCKPERF: Peer = Peer {
    name: "sockperf",
    programs: &["sockperf"],
    about: "half round trips of single messages",
    get: "package sockperf",
    version: &["--version"],
    help: &[],
    plays: &[Play {
        least_bytes: 14,
        clocked: Clocked::after(0.4),
        ..Play::new(Kind::RoundTrip, round_trip)
    }],
};

fn round_trip(_: &Found, work: &Work, testbed: &Testbed) -> Result<Outcome, String> {
    let port = testbed.port();
    let (at, bytes, seconds) = (port.to_string(), work.bytes.to_string(), work.seconds.to_string());
    let asks: &[&str] = if work.wait == Wait::Polling { &["--nonblocked"] } else { &[] };
    let place = ["--tcp", "-i", HERE, "-p", &at];
    let server = Launch::new("sockperf", work.cpus[1], ["server"]).and(place).and(asks.iter().copied());
    let client = Launch::new("sockperf", work.cpus[0], ["ping-pong"]).and(place);
    let client = client.and(["-t", &seconds, "-m", &bytes]).and(asks.iter().copied());
    let [_, client] = serve(&server, (Ready::Tcp(port), After::Stopped), &client, limit(work))?;
    let half_us = number_after(&client.output, "Latency is ")?;
    Ok(Outcome { per_s: Some(1e6 / half_us / 2.0), ..Outcome::default() })
}
