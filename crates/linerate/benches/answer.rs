//! Time to answer: how long it takes until every size of NetPIPE's ladder has a median known to 2 %, by this program's loops
//! and by NPtcp, repeated.
//!
//!     cargo bench --bench answer [-- [--every N] [--target 0.02]]
//!
//! Both measure half round trips over one TCP connection on loopback, on CPUs 0 and 1, sleeping, with idle spinners. A size is
//! answered when the distribution-free 95 % interval of its median is at most the target wide to either side, looked at
//! after 6, 8, 10, 15, 22, 33, 50, 75 and 100 observations; one that is not after 100 is told. An observation is one
//! connection's: ours is the median of its slices, NPtcp's what it prints. `--every N` takes each Nth size with NPtcp, for the
//! whole ladder takes it more than half an hour; its time is then scaled up to all of them, which is said.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "sides/ends.rs"]
mod ends;
#[path = "sides/netpipe.rs"]
mod netpipe;
#[path = "peers/process.rs"]
#[allow(dead_code, reason = "the races need more of it")]
mod process;

use ends::Ends;
use linerate::pattern::Awake;
use linerate::plan::{Block, sizes};
use linerate::statistic::{LOOKS, is_met, median};
use linerate::vocabulary::{Cache, Does, Wait};
use process::{Launch, Ready, await_ready};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SLICES: u32 = 10;
const SLICE_NS: f64 = 1e6;
const MOST: usize = 100;
const CONGESTION: &str = "tcp.congestion-control=cubic";
/// What a run of NPtcp may take.
const LIMIT: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|word| word == flag)?;
        arguments.get(at + 1)?.parse::<f64>().ok()
    };
    let (every, target) =
        (value("--every").unwrap_or(1.0).max(1.0) as usize, value("--target").unwrap_or(0.02));
    let _awake = Awake::keep(&[0, 1]);
    let all = sizes::full();
    let (ours, left) = ours(&all, target);
    println!(
        "linerate: {} sizes to {:.1} % in {:.1} s; {left} not after {MOST} connections",
        all.len(),
        100.0 * target,
        ours.as_secs_f64()
    );
    let some: Vec<u64> = all.iter().copied().step_by(every).collect();
    let Some((theirs, left)) = theirs(&some, target) else {
        return println!("NPtcp: missing: apt-get install netpipe-tcp");
    };
    let scaled = theirs.as_secs_f64() * all.len() as f64 / some.len() as f64;
    println!(
        "NPtcp: {} sizes in {:.1} s; {left} not after {MOST} runs; {scaled:.0} s for all",
        some.len(),
        theirs.as_secs_f64()
    );
    println!("ours over NPtcp's: {:.4}", ours.as_secs_f64() / scaled);
}

/// Whether a size needs no more: it is known well enough at a look, or will not be.
fn is_over(values: &[f64], target: f64) -> bool {
    let is_look = LOOKS.iter().any(|look| *look as usize == values.len());
    values.len() >= MOST || is_look && is_met(values, target)
}

/// The time, and how many sizes were not answered. A pass is a connection of its own, and visits all sizes that are left in an
/// order of its own.
fn ours(sizes: &[u64], target: f64) -> (Duration, usize) {
    let begun = Instant::now();
    let mut order = rand::rngs::StdRng::seed_from_u64(1);
    let mut seen: BTreeMap<u64, Vec<f64>> = sizes.iter().map(|size| (*size, Vec::new())).collect();
    let mut about_ns: BTreeMap<u64, f64> = BTreeMap::new();
    loop {
        let mut left: Vec<u64> =
            seen.iter().filter(|(_, of)| !is_over(of, target)).map(|(size, _)| *size).collect();
        if left.is_empty() {
            break;
        }
        left.shuffle(&mut order);
        let mut ends = Ends::open("tcp", &[CONGESTION]).expect("a connection");
        for size in left {
            let about = *about_ns.entry(size).or_insert_with(|| round_trip_ns(&mut ends, size, 4, 2));
            let messages = (SLICE_NS / about).max(1.0) as u64;
            let round_trip = round_trip_ns(&mut ends, size, messages, SLICES);
            seen.entry(size).or_default().push(round_trip / 2.0);
        }
    }
    (begun.elapsed(), seen.values().filter(|of| !is_met(of, target)).count())
}

/// The median over slices behind the first one.
fn round_trip_ns(ends: &mut Ends, bytes: u64, messages: u64, slices: u32) -> f64 {
    let (message_bytes, slices, lead, cache) = (bytes, slices + 1, 1, Cache::Hot);
    let block = Block { message_bytes, messages, slices, lead, cache, ..Block::default() };
    let [_, pings] = ends.play([Does::Echoes, Does::Pings], Wait::Sleeping, block).expect("a trial");
    median(pings.flow.slices_ns.iter().skip(1).map(|ns| *ns as f64 / messages as f64)).expect("slices")
}

/// The same by NPtcp, a run for each observation; none where it is not installed.
fn theirs(sizes: &[u64], target: f64) -> Option<(Duration, usize)> {
    let (begun, mut left) = (Instant::now(), 0);
    for size in sizes {
        let mut values = Vec::new();
        while !is_over(&values, target) {
            values.push(nptcp(*size)?);
        }
        eprintln!("NPtcp {size} B: {} runs, {:.0} s in all", values.len(), begun.elapsed().as_secs_f64());
        left += usize::from(!is_met(&values, target));
    }
    Some((begun.elapsed(), left))
}

fn nptcp(bytes: u64) -> Option<f64> {
    let [server, client] = [1, 0].map(|cpu| Launch::new("NPtcp", cpu, netpipe::words(bytes)));
    let server = server.start().ok()?;
    await_ready(&server, Ready::Tcp(5002), LIMIT).ok()?;
    let client = client.and(["-h", "127.0.0.1"]).start().ok()?.wait(LIMIT).ok()?;
    netpipe::half_us(&(client.output + &client.errors))
}
