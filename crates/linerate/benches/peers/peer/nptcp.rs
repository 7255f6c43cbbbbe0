//! NetPIPE's NPtcp: half a round trip, the best of seven trials, each long enough to last a quarter of a second.

use super::super::netpipe;
use super::super::process::{Launch, Ready, await_ready, last_line};
use super::super::testbed::Testbed;
use super::super::work::{Clocked, Kind, Outcome, Work};
use super::{Found, HERE, Peer, Play, limit, sleeps};
use std::time::Duration;

pub const NPTCP: Peer = Peer {
    name: "NPtcp",
    programs: &["NPtcp"],
    about: "NetPIPE 3: half round trips against message size",
    get: "package netpipe-tcp",
    version: &[],
    help: &[],
    plays: &[Play { fits: sleeps, clocked: BEST, ..Play::new(Kind::RoundTrip, round_trip) }],
};

/// As its TRIALS and RUNTM say.
const BEST: Clocked = Clocked { warm_up_s: 0.0, trials: 7, trial_s: Some(0.25) };

/// Its port cannot be chosen.
const PORT: u16 = 5002;

fn round_trip(_: &Found, work: &Work, _: &Testbed) -> Result<Outcome, String> {
    let size = netpipe::words(work.bytes);
    let server = Launch::new("NPtcp", work.cpus[1], size.clone()).start()?;
    await_ready(&server, Ready::Tcp(PORT), Duration::from_secs(5))?;
    let client = Launch::new("NPtcp", work.cpus[0], ["-h", HERE]).and(size);
    let client = client.start()?.wait(limit(work))?;
    let text = client.output + &client.errors;
    let half_us = netpipe::half_us(&text).ok_or_else(|| last_line(&text).to_owned())?;
    Ok(Outcome { per_s: Some(1e6 / half_us / 2.0), ..Outcome::default() })
}
