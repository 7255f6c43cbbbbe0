//! What the message layer of our own costs above TCP, and how far it overlaps with computation; over loopback.
//!
//!     cargo bench --bench lite [-- [--pairs N]]
//!
//! Prints paired ratios to TCP in the same run, median with its 95 % interval by the signs of its order statistics; then
//! the overlap of a transfer with as long a computation, 1 where it costs nothing more. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "sides/ends.rs"]
mod ends;

use ends::Ends;
use linerate::plan::Block;
use linerate::statistic::Estimate;
use linerate::transport::lite::layer::Layer;
use linerate::vocabulary::{Cache, Does, Wait};
use linerate_sys::socket::TcpOptions;
use std::hint::black_box;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PAIRS: usize = 20;
const BLOCK_NS: f64 = 1e8;
const PATIENCE: Duration = Duration::from_secs(10);
/// 1 Gb/s in bytes a second, and a message that takes 134 ms at it.
const PACE: u64 = 125_000_000;
const MESSAGE: usize = 16 << 20;
const OVERLAPS: usize = 9;
const TAG: u32 = 1;

/// Pattern, what its ends do, wait, size, settings.
type Row = (&'static str, [Does; 2], Wait, u64, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("ping-pong polling", [Does::Echoes, Does::Pings], Wait::Polling, 64, &[]),
    ("ping-pong sleeping", [Does::Echoes, Does::Pings], Wait::Sleeping, 64, &[]),
    ("ping-pong polling", [Does::Echoes, Does::Pings], Wait::Polling, 1 << 20, &[]),
    ("ping-pong sleeping", [Does::Echoes, Does::Pings], Wait::Sleeping, 1 << 20, &[]),
    ("stream sleeping", [Does::Receives, Does::Sends], Wait::Sleeping, 64 << 10, &[]),
    ("stream sleeping", [Does::Receives, Does::Sends], Wait::Sleeping, 1 << 20, &[]),
    ("stream at 1 Gb/s", [Does::Receives, Does::Sends], Wait::Sleeping, 1 << 20, &["tcp.pacing-rate=1Gb/s"]),
];

/// Nanoseconds of a message, by the end that keeps time: the median slice.
fn run(
    ends: &mut Ends,
    does: [Does; 2],
    wait: Wait,
    message_bytes: u64,
    messages: u64,
) -> linerate::Result<f64> {
    let block = Block { message_bytes, messages, slices: 8, lead: 0, cache: Cache::Hot, ..Block::default() };
    let [passive, active] = ends.play(does, wait, block)?;
    let timed = if does[0].keeps_time() { passive } else { active };
    let mut slices = timed.flow.slices_ns;
    slices.sort_unstable();
    Ok(slices[slices.len() / 2] as f64 / messages as f64)
}

fn compare(pairs: usize) -> linerate::Result<()> {
    for (name, does, wait, bytes, settings) in ROWS {
        let mut ends = [Ends::open("tcp", settings)?, Ends::open("lite", settings)?];
        let mut time = |at: usize, messages| run(&mut ends[at], *does, *wait, *bytes, messages);
        time(0, 64)?;
        time(1, 64)?;
        let block = Block { message_bytes: *bytes, ..Block::default() };
        // A slice of a stream is a window at least, as in a run.
        let least = if does.contains(&Does::Sends) { block.window() } else { 4 };
        let messages = ((BLOCK_NS / 8.0 / time(0, 64)?) as u64).max(least);
        let (mut ratios, mut above, mut tcp) = (Vec::new(), Vec::new(), Vec::new());
        for pair in 0..pairs {
            // Whichever goes first has the caches of the other one: both do in turn.
            let first = pair % 2;
            let (a, b) = (time(first, messages)?, time(1 - first, messages)?);
            let [plain, ours] = if first == 0 { [a, b] } else { [b, a] };
            ratios.push(plain / ours);
            above.push(ours - plain);
            tcp.push(plain);
        }
        let told = |estimate: Option<Estimate>| match estimate {
            Some(Estimate { median, low: Some(low), high: Some(high), .. }) => {
                format!("{median:.3} [{low:.3}, {high:.3}]")
            }
            _ => "no interval".into(),
        };
        let half = if does.contains(&Does::Pings) { 2e3 } else { 1e3 };
        let micros = |all: Vec<f64>| told(Estimate::from_values(all.into_iter().map(|ns| ns / half)));
        let (tcp, above) = (micros(tcp), micros(above));
        println!(
            "{name:<20} {bytes:>8} B  rate to TCP's {}  TCP {tcp} us, above {above} us",
            told(Estimate::from_values(ratios))
        );
    }
    Ok(())
}

/// Both ends over a connection that carries 1 Gb/s each way.
fn layers(threaded: bool) -> linerate::Result<[Layer; 2]> {
    let options = TcpOptions {
        no_delay: true,
        pacing: Some(PACE),
        send_buffer: Some(128 << 10),
        receive_buffer: Some(512 << 10),
        ..TcpOptions::default()
    };
    let listener = options.listen(([127, 0, 0, 1], 0).into(), 1)?;
    let address = listener.local_addr().expect("a listener has an address");
    let near = options.connect(address, PATIENCE)?;
    let (far, _): (TcpStream, _) = listener.accept().expect("it connected");
    Ok([Layer::open(near, threaded, PATIENCE)?, Layer::open(far, threaded, PATIENCE)?])
}

/// Works for so many turns.
fn compute(turns: u64) {
    black_box((0..turns).fold(1u64, |hash, turn| (hash ^ black_box(turn)).wrapping_mul(0x100_0000_01b3)));
}

/// The overlap at the end that computes, which sends or receives; the other end makes a blocking call.
fn overlap(threaded: bool, sends: bool) -> linerate::Result<()> {
    let begun = Instant::now();
    compute(1 << 26);
    let ns_a_turn = begun.elapsed().as_nanos() as f64 / f64::from(1 << 26);
    let [mut near, mut far] = layers(threaded)?;
    let broken = |error| linerate::Error::io("message", "loopback", error);
    let mut overlaps = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut room = vec![1; MESSAGE];
            while far.receive(TAG, &mut [0]).is_ok() {
                let done = if sends { far.receive(TAG, &mut room).map(drop) } else { far.send(TAG, &room) };
                done.expect("the other end is there");
            }
        });
        let mut bytes = vec![1; MESSAGE];
        let mut time = |turns: u64| {
            near.send(TAG, &[0])?;
            let begun = Instant::now();
            let given = std::mem::take(&mut bytes);
            let start = if sends { Layer::start_send } else { Layer::start_receive };
            let request = start(&mut near, TAG, given)?;
            compute(turns);
            bytes = near.wait(request)?.bytes;
            Ok(begun.elapsed().as_secs_f64())
        };
        for _ in 0..OVERLAPS {
            let transfer = time(0).map_err(broken)?;
            let turns = (transfer * 1e9 / ns_a_turn) as u64;
            let begun = Instant::now();
            compute(turns);
            let computed = begun.elapsed().as_secs_f64();
            let both = time(turns).map_err(broken)?;
            overlaps.push((transfer + computed - both) / transfer.min(computed));
        }
        drop(near);
        let of = if sends { "sender" } else { "receiver" };
        let median = Estimate::from_values(overlaps).map_or(f64::NAN, |overlap| overlap.median);
        println!("overlap of {MESSAGE} B at 1 Gb/s, {of} computes, thread {threaded}: {median:.3}");
        Ok(())
    })
}

fn main() -> linerate::Result<()> {
    // Cargo says --bench to every bench.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut pairs = PAIRS;
    while let Some(argument) = arguments.next() {
        if argument == "--pairs" {
            pairs = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(PAIRS);
        }
    }
    compare(pairs)?;
    for threaded in [true, false] {
        overlap(threaded, true)?;
        overlap(threaded, false)?;
    }
    Ok(())
}
