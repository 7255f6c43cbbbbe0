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

use linerate::pattern::Measured;
use linerate::plan::{Block, Setting, sizes};
use linerate::statistic::{LOOKS, is_met, median};
use linerate::transport::{Offer, Session, Spec, Task, named};
use linerate::vocabulary::{Cache, Does, Wait};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SLICES: u32 = 10;
const SLICE_NS: f64 = 1e6;
const MOST: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|word| word == flag)?;
        arguments.get(at + 1)?.parse::<f64>().ok()
    };
    let (every, target) =
        (value("--every").unwrap_or(1.0).max(1.0) as usize, value("--target").unwrap_or(0.02));
    let _awake = ["0", "1"].map(spinner);
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
        let [mut pings, mut echoes] = open();
        for size in left {
            let about =
                *about_ns.entry(size).or_insert_with(|| round_trip_ns((&mut pings, &mut echoes), size, 4, 2));
            let messages = (SLICE_NS / about).max(1.0) as u64;
            let round_trip = round_trip_ns((&mut pings, &mut echoes), size, messages, SLICES);
            seen.entry(size).or_default().push(round_trip / 2.0);
        }
    }
    (begun.elapsed(), seen.values().filter(|of| !is_met(of, target)).count())
}

type Ends<'e> = (&'e mut Box<dyn Session>, &'e mut Box<dyn Session>);

/// The median over slices behind the first one.
fn round_trip_ns((first, second): Ends<'_>, bytes: u64, messages: u64, slices: u32) -> f64 {
    let block = Block {
        message_bytes: bytes,
        messages,
        slices: slices + 1,
        lead: 1,
        cache: Cache::Hot,
        ..Block::default()
    };
    let task = |does, cpu| [Task { does, cpus: vec![cpu] }];
    let blocks = [block];
    let measured: Vec<Vec<Vec<Measured>>> = std::thread::scope(|scope| {
        let other = scope.spawn(|| second.trial(&task(Does::Echoes, 1), Wait::Sleeping, &blocks));
        let answer = first.trial(&task(Does::Pings, 0), Wait::Sleeping, &blocks).expect("a trial");
        other.join().expect("no panic").expect("a trial");
        answer
    });
    let flow = &measured[0][0][0].flow;
    median(flow.slices_ns.iter().skip(1).map(|ns| *ns as f64 / messages as f64)).expect("slices")
}

fn open() -> [Box<dyn Session>; 2] {
    let settings: Vec<Setting> = vec!["tcp.congestion-control=cubic".parse().expect("a known knob")];
    let spec = |passive| Spec {
        transport: "tcp".into(),
        flows: 1,
        passive,
        address: None,
        settings: settings.clone(),
        patience_ms: 10_000,
    };
    let transport = named("tcp").expect("a known transport");
    let (passive, offer) = transport.offer(&spec(true)).expect("a port");
    let (active, _) = transport.offer(&spec(false)).expect("an offer");
    std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer).expect("a connection"));
        let passive = passive.join(&Offer::Nothing).expect("a connection");
        [active.join().expect("no panic"), passive]
    })
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

fn pinned(cpu: &str, words: &[&str]) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", cpu, "NPtcp"]).args(words).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

fn nptcp(bytes: u64) -> Option<f64> {
    let bytes = bytes.to_string();
    let words = ["-l", &bytes, "-u", &bytes, "-p", "0", "-o", "/dev/null"];
    let mut server = pinned("1", &words).stdout(Stdio::null()).spawn().ok()?;
    await_port(5002);
    let client = [&["-h", "127.0.0.1"][..], &words].concat();
    let output = pinned("0", &client).stderr(Stdio::piped()).output().ok();
    let _ = server.kill();
    let _ = server.wait();
    let output = output?;
    // "0:      64 bytes   1568 times -->     17.65 Mbps in      27.67 usec", to either stream.
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let line = text.lines().find(|line| line.trim_end().ends_with("usec"))?;
    line.split_whitespace().rev().nth(1)?.parse().ok()
}

/// Waits until something listens: the kernel's own table says so without a connection.
fn await_port(port: u16) {
    let wanted = format!(":{port:04X} ");
    let listens = |path: &str| {
        let table = std::fs::read_to_string(path).unwrap_or_default();
        table.lines().any(|line| line.contains(&wanted) && line.contains(" 0A "))
    };
    let deadline = Instant::now() + Duration::from_secs(5);
    while !listens("/proc/net/tcp") && !listens("/proc/net/tcp6") && Instant::now() < deadline {
        std::thread::yield_now();
    }
}

/// A process that keeps a CPU awake until it is dropped.
struct Spinner(Child);

impl Drop for Spinner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spinner(cpu: &str) -> Spinner {
    let mut command = Command::new("taskset");
    command.args(["-c", cpu, "chrt", "-i", "0", "sh", "-c", "while :; do :; done"]);
    Spinner(command.spawn().expect("taskset and chrt are in util-linux"))
}
