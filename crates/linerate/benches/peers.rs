//! Races against the tools that others trust: the same work, the same CPUs, one after the other in
//! turn, in the same minutes. Prints ours over theirs for each pair, and the median with its interval.
//!
//!     cargo bench --bench peers [RACE...]
//!
//! A ratio above 1 means that ours is faster (rates) or quicker (times are inverted). Nothing here
//! decides a test: it is read by people. Both ends stay on loopback, CPUs 0 and 1; spinners of idle
//! priority keep the CPUs awake for both sides of a race.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::pattern::Measured;
use linerate::plan::Block;
use linerate::statistic::Estimate;
use linerate::transport::{Offer, Session, Spec, Task, named};
use linerate::vocabulary::{Cache, Does, Wait};
use std::process::{Child, Command, Stdio};

/// Pairs of each race.
const PAIRS: usize = 10;

struct Race {
    name: &'static str,
    peer: &'static str,
    unit: &'static str,
    /// Whether a larger figure is better.
    larger_wins: bool,
    ours: fn() -> f64,
    theirs: fn() -> Option<f64>,
}

const RACES: &[Race] = &[
    Race {
        name: "memory-copy-64MiB",
        peer: "likwid-bench copy_mem_avx",
        unit: "GB/s as STREAM counts",
        larger_wins: true,
        ours: || 2.0 * memory("memory-copy"),
        theirs: || likwid("copy_mem_avx", "134217728B"),
    },
    Race {
        name: "memory-triad-64MiB",
        peer: "likwid-bench stream_sse",
        unit: "GB/s as STREAM counts",
        larger_wins: true,
        ours: || memory("memory-triad"),
        theirs: || likwid("stream_sse", "201326592B"),
    },
    Race {
        name: "tcp-stream-64KiB",
        peer: "iperf3 -l 64K",
        unit: "Gb/s",
        larger_wins: true,
        ours: || stream(64 << 10),
        theirs: || iperf3("64K"),
    },
    Race {
        name: "tcp-stream-1MiB",
        peer: "iperf3 -l 1M",
        unit: "Gb/s",
        larger_wins: true,
        ours: || stream(1 << 20),
        theirs: || iperf3("1M"),
    },
    Race {
        name: "tcp-half-round-trip-64B-one-cpu",
        peer: "NPtcp",
        unit: "us",
        larger_wins: false,
        ours: || half_round_trip([0, 0]),
        theirs: || nptcp(["0", "0"]),
    },
    Race {
        name: "tcp-half-round-trip-64B-two-cpus",
        peer: "NPtcp",
        unit: "us",
        larger_wins: false,
        ours: || half_round_trip([0, 1]),
        theirs: || nptcp(["0", "1"]),
    },
];

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let _awake = [spinner("0"), spinner("1")];
    for race in
        RACES.iter().filter(|race| chosen.is_empty() || chosen.iter().any(|name| race.name.contains(name)))
    {
        run(race);
    }
}

fn run(race: &Race) {
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        // Who goes first changes from pair to pair, so that drift favours neither.
        let (ours, theirs) = if pair % 2 == 0 {
            let ours = (race.ours)();
            (ours, (race.theirs)())
        } else {
            let theirs = (race.theirs)();
            ((race.ours)(), theirs)
        };
        let Some(theirs) = theirs else {
            return println!("{:<34} not run: {} is not installed or failed", race.name, race.peer);
        };
        let ratio = if race.larger_wins { ours / theirs } else { theirs / ours };
        println!(
            "  {:<32} ours {ours:8.2}  {:<24} {theirs:8.2} {}  ratio {ratio:.3}",
            race.name, race.peer, race.unit
        );
        ratios.push(ratio);
    }
    if let Some(Estimate { median, low, high, n }) = Estimate::of(ratios.iter().copied()) {
        let interval = low.zip(high).map_or(String::new(), |(low, high)| format!("[{low:.3}, {high:.3}]"));
        println!("{:<34} ratio to {:<24} {median:.3} {interval} n={n}", race.name, race.peer);
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

fn open(transport: &str) -> [Box<dyn Session>; 2] {
    let spec = |passive| Spec {
        transport: transport.into(),
        flows: 1,
        passive,
        address: None,
        settings: vec!["tcp.congestion-control=cubic".parse().expect("a known knob")],
        patience_ms: 10_000,
    };
    let transport = named(transport).expect("a known transport");
    let (passive, offer) = transport.offer(&spec(true)).expect("a port");
    let (active, _) = transport.offer(&spec(false)).expect("an offer");
    std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer).expect("a connection"));
        [passive.join(&Offer::Nothing).expect("a connection"), active.join().expect("no panic")]
    })
}

fn block(message_bytes: u64, messages: u64, slices: u32, lead: u32, cache: Cache) -> Block {
    Block { message_bytes, messages, slices, lead, cache, ..Block::default() }
}

/// Both ends on their CPUs; gives the timekeeper's blocks.
fn play(does: [Does; 2], cpus: [u32; 2], blocks: &[Block]) -> Vec<Measured> {
    let [mut first, mut second] = open("tcp");
    let task = |end: usize| [Task { does: does[end], cpus: vec![cpus[end]] }];
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.trial(&task(1), Wait::Sleeping, blocks).expect("a trial"));
        let mut answer = first.trial(&task(0), Wait::Sleeping, blocks).expect("a trial");
        other.join().expect("no panic");
        answer.remove(0).remove(0)
    })
}

fn stream(bytes: u64) -> f64 {
    let warm_up = block(bytes, (2 << 30) / bytes, 1, 1, Cache::Hot);
    let timed = block(bytes, (12 << 30) / bytes, 1, 0, Cache::Hot);
    let measured = play([Does::Receives, Does::Sends], [1, 0], &[warm_up, timed]);
    measured[1].flow.bytes as f64 * 8.0 / measured[1].flow.duration_ns as f64
}

fn half_round_trip(cpus: [u32; 2]) -> f64 {
    // The mean over batches, and the best batch, because that is what NetPIPE prints.
    let timed = block(64, 2000, 60, 2, Cache::Hot);
    let measured = play([Does::Pings, Does::Echoes], cpus, &[timed]);
    let best = measured[0].flow.slices_ns.iter().skip(2).min().copied().unwrap_or(0);
    best as f64 / 2000.0 / 2.0 / 1e3
}

fn memory(transport: &str) -> f64 {
    let transport = named(transport).expect("a known transport");
    let spec = Spec {
        transport: transport.name().into(),
        flows: 1,
        passive: false,
        address: None,
        settings: Vec::new(),
        patience_ms: 1000,
    };
    let (pending, _) = transport.offer(&spec).expect("memory");
    let mut session = pending.join(&Offer::Nothing).expect("memory");
    // The whole array is one message, as in STREAM: memcpy then writes past the cache.
    let blocks = [block(64 << 20, 1, 2, 1, Cache::Cold), block(64 << 20, 30, 1, 0, Cache::Cold)];
    let task = [Task { does: Does::Copies, cpus: vec![0] }];
    let measured = session.trial(&task, Wait::Sleeping, &blocks).expect("a trial").remove(0).remove(0);
    measured[1].flow.bytes as f64 / measured[1].flow.duration_ns as f64
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn likwid(kernel: &str, bytes: &str) -> Option<f64> {
    let workgroup = format!("S0:{bytes}:1");
    let text =
        output(Command::new("taskset").args(["-c", "0", "likwid-bench", "-t", kernel, "-w", &workgroup]))?;
    let line = text.lines().find(|line| line.starts_with("MByte/s:"))?;
    Some(line.split_whitespace().last()?.parse::<f64>().ok()? / 1e3)
}

fn pinned(cpu: &str, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", cpu, program]).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

fn iperf3(size: &str) -> Option<f64> {
    let mut server = pinned("1", "iperf3", &["-s", "-1"]).stdout(Stdio::null()).spawn().ok()?;
    await_port(5201);
    let client = ["-c", "127.0.0.1", "-C", "cubic", "-l", size, "-N", "-t", "2", "-O", "1", "-J"];
    let text = output(&mut pinned("0", "iperf3", &client));
    if text.is_none() {
        let _ = server.kill();
    }
    let _ = server.wait();
    let json: serde_json::Value = serde_json::from_str(&text?).ok()?;
    Some(json["end"]["sum_received"]["bits_per_second"].as_f64()? / 1e9)
}

fn nptcp(cpus: [&str; 2]) -> Option<f64> {
    let size = ["-l", "64", "-u", "64", "-p", "0", "-o", "/dev/null"];
    let mut server = pinned(cpus[1], "NPtcp", &size).stdout(Stdio::null()).spawn().ok()?;
    await_port(5002);
    let mut client = pinned(cpus[0], "NPtcp", &["-h", "127.0.0.1"]);
    let output = client.args(size).stderr(Stdio::piped()).output().ok()?;
    let _ = server.kill();
    let _ = server.wait();
    // It writes "0:      64 bytes   1568 times -->     17.65 Mbps in      27.67 usec" to either stream.
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
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
    while !listens("/proc/net/tcp") && !listens("/proc/net/tcp6") {
        std::thread::yield_now();
    }
}
