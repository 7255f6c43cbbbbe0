//! Each engine against the usual one, over loopback: blocks of a fifth of a second in turn, on pinned CPUs.
//!
//!     cargo bench --bench engines [-- [--json FILE] [--pairs N] [NAME]...]
//!
//! Prints the ratio of the rates: the median of the ratios of adjacent blocks, with its 95 % interval by the
//! signs of its order statistics, and their number. A NAME, `tcp` or `udp` or one of an engine, picks rows.
//! Nothing here decides a test.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "sides/ends.rs"]
mod ends;

use ends::Ends;
use linerate::plan::Block;
use linerate::statistic::Estimate;
use linerate::vocabulary::{Cache, Does, Knob, KnobKind, Wait};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

const BLOCK_NS: f64 = 2e8;
const PAIRS: usize = 12;
const SLICES: u32 = 8;
const CONGESTION: &str = "tcp.congestion-control=cubic";

/// What is compared with the usual engines.
struct Row {
    transport: &'static str,
    settings: Vec<String>,
    message_bytes: u64,
    /// What was found worth building it for; none where it is only told.
    target: Option<f64>,
}

impl Row {
    fn name(&self) -> String {
        let engines: Vec<&str> =
            self.settings.iter().filter_map(|set| set.split_once('=')).map(|set| set.1).collect();
        format!("{} {} B {}", self.transport, self.message_bytes, engines.join(" to "))
    }
}

fn engines(knob: &str) -> &'static [&'static str] {
    let found = Knob::named(knob).map(|entry| entry.kind);
    if let Some(KnobKind::OneOf(words)) = found { words } else { &[] }
}

fn rows() -> Vec<Row> {
    let mut pairs: Vec<(&str, &str)> =
        engines("tcp.send-engine").iter().skip(1).map(|send| (*send, "read")).collect();
    pairs.extend(engines("tcp.receive-engine").iter().skip(1).map(|receive| ("write", *receive)));
    pairs.extend([
        ("sendfile", "discard"),
        ("splice", "discard"),
        ("splice", "discard-low-water"),
        ("splice", "splice"),
    ]);
    let tcp = |bytes| {
        pairs.iter().map(move |(send, receive)| Row {
            transport: "tcp",
            settings: vec![format!("tcp.send-engine={send}"), format!("tcp.receive-engine={receive}")],
            message_bytes: bytes,
            target: (bytes == 65_536 && (*send, *receive) == ("write", "discard")).then_some(1.4),
        })
    };
    let udp = engines("udp.engine").iter().skip(1).map(|engine| Row {
        transport: "udp",
        settings: vec![format!("udp.engine={engine}")],
        message_bytes: 1400,
        target: (*engine == "segments").then_some(5.0),
    });
    tcp(64 << 10).chain(tcp(1 << 20)).chain(udp).collect()
}

/// One block's rate, and what the kernel said of it.
struct Measured {
    bps: f64,
    kernel: BTreeMap<String, u64>,
}

/// Both ends of a row's session, with its engines or with the usual ones.
fn open(row: &Row, is_plain: bool) -> linerate::Result<Ends> {
    let asked = row.settings.iter().map(String::as_str).filter(|_| !is_plain);
    let fixed: &[&str] = if row.transport == "tcp" { &[CONGESTION] } else { &["socket.receive-buffer=4MiB"] };
    Ends::open(row.transport, &asked.chain(fixed.iter().copied()).collect::<Vec<&str>>())
}

fn run(ends: &mut Ends, message_bytes: u64, messages: u64) -> linerate::Result<Measured> {
    let block = Block {
        message_bytes,
        messages: messages.max(1),
        slices: SLICES,
        lead: 0,
        cache: Cache::Hot,
        ..Block::default()
    };
    let [received, sent] = ends.play([Does::Receives, Does::Sends], Wait::Sleeping, block)?;
    let (flow, sender) = (received.flow, sent.flow);
    let time: u64 = flow.slices_ns.iter().sum();
    let mut kernel = flow.kernel;
    kernel.extend(sender.kernel.iter().map(|(name, count)| (format!("sender {name}"), *count)));
    Ok(Measured { bps: 8e9 * flow.bytes as f64 / time.max(1) as f64, kernel })
}

/// Messages a slice so that a block takes its time.
fn messages(ends: &mut Ends, row: &Row) -> linerate::Result<u64> {
    let few = (1 << 25) / row.message_bytes / u64::from(SLICES);
    run(ends, row.message_bytes, few)?;
    let bps = run(ends, row.message_bytes, few)?.bps;
    Ok((bps * BLOCK_NS / 8e9 / row.message_bytes as f64 / f64::from(SLICES)) as u64)
}

fn measure(row: &Row, pairs: usize) -> linerate::Result<(Estimate, f64, BTreeMap<String, u64>)> {
    let (mut plain, mut other) = (open(row, true)?, open(row, false)?);
    let counts = (messages(&mut plain, row)?, messages(&mut other, row)?);
    let (mut ratios, mut rates, mut kernel) = (Vec::new(), Vec::new(), BTreeMap::new());
    for pair in 0..pairs {
        let ours = |ends: &mut Ends| run(ends, row.message_bytes, counts.1);
        // Whichever goes first has the caches of the other one: both do in turn.
        let (a, b) = if pair % 2 == 0 {
            let a = run(&mut plain, row.message_bytes, counts.0)?;
            (a, ours(&mut other)?)
        } else {
            let b = ours(&mut other)?;
            (run(&mut plain, row.message_bytes, counts.0)?, b)
        };
        ratios.push(b.bps / a.bps);
        rates.push(b.bps);
        kernel = b.kernel;
    }
    let estimate = Estimate::from_values(ratios).expect("there are pairs");
    let rate = Estimate::from_values(rates).map_or(0.0, |rate| rate.median);
    Ok((estimate, rate, kernel))
}

fn main() -> ExitCode {
    // Cargo says --bench to every bench.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut file, mut pairs, mut wanted) = (None, PAIRS, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => file = arguments.next().map(|path| File::create(path).expect("a file to write")),
            "--pairs" => pairs = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(PAIRS),
            _ => wanted.push(argument),
        }
    }
    for row in rows() {
        let name = row.name();
        if !wanted.is_empty() && !wanted.iter().any(|word| name.split(' ').any(|part| part == word)) {
            continue;
        }
        let (estimate, bps, kernel) = match measure(&row, pairs) {
            Ok(measured) => measured,
            Err(error) => {
                println!("{name:<48} unavailable: {error}");
                continue;
            }
        };
        let interval = match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => format!("[{low:.2}, {high:.2}]"),
            _ => "no interval".into(),
        };
        let target = row.target.map_or(String::new(), |target| format!("  wanted {target}"));
        println!(
            "{name:<48} {:.2} {interval} n={} {:.1} Gb/s{target}  {kernel:?}",
            estimate.median,
            estimate.n,
            bps / 1e9
        );
        if let Some(file) = &mut file {
            let line = json!({
                "row": name, "ratio": estimate.median, "low": estimate.low, "high": estimate.high,
                "n": estimate.n, "bps": bps, "wanted": row.target, "kernel": kernel,
            });
            writeln!(file, "{line}").expect("the file can be written");
        }
    }
    ExitCode::SUCCESS
}
