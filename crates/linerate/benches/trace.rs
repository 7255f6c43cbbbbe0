//! What a trace costs beside bpftrace, which answers the same question by its least script: how long it takes from the send of a message
//! until the answer wakes its sender.
//!
//!     cargo bench --bench trace [ROUNDS]
//!
//! Exchanges of 64 B over loopback, each end asleep until its message comes, on one CPU: what an interrupt from another one takes varies by
//! more than what is asked. Blocks without a tracer, with ours and with bpftrace (Debian's) stand in turn, so that what drifts is in all
//! alike; what a tracer costs is told from pairs. Then sends without a pause, one event each: how many a second are had, and how many are
//! lost. Then what all points of ours take of a round trip, on one CPU and on two. It asks for root. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "sides/bpftrace.rs"]
mod bpftrace;

use bpftrace::{EACH, PRINTS, SUMS, theirs};
use linerate::statistic::{Estimate, median};
use linerate_sys::thread;
use linerate_sys::tracer::{Stamping, Tracer, Watched, Ways};
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Instant;

/// Exchanges of a block: ten stamps of each, on one CPU, fit into a lane, which has room for 65 536.
const EXCHANGES: u32 = 6000;

/// Two events an exchange: its send, and the wake-up of who sent it.
const EVENTS: u64 = 2 * EXCHANGES as u64;

/// Sends without a pause: their stamps fit, too.
const SENDS: u64 = 60_000;

/// The tracepoints that ours leaves out to answer no more than that; the first one too where sends alone are asked for.
const BEYOND: [&str; 10] = [
    "sched_wakeup",
    "net_dev_queue",
    "net_dev_start_xmit",
    "netif_rx",
    "napi_gro_receive_entry",
    "netif_receive_skb",
    "tcp_probe",
    "sk_data_ready",
    "sched_waking",
    "sched_switch",
];

type Done<T> = Result<T, Box<dyn Error>>;

/// What a block came to.
struct Block {
    /// A round trip, or a send.
    took_ns: f64,
    /// Events that were had at last, and those that were lost.
    had: u64,
    lost: u64,
    /// Until when so many were had: of ours all, of bpftrace nineteen of twenty.
    by_then: u64,
    seconds: f64,
}

/// What is traced: sends of messages, each answered or not.
trait Load {
    /// The median time of one, by its sender.
    fn play(&mut self) -> Done<f64>;
    fn socket(&self) -> &TcpStream;
    /// Events of a block.
    fn events(&self) -> u64;
}

/// A connection whose other end does this on another CPU.
fn connection(there: u32, other: impl FnOnce(TcpStream) + Send + 'static) -> Done<TcpStream> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let own = TcpStream::connect(listener.local_addr()?)?;
    let (others, _) = listener.accept()?;
    for socket in [&own, &others] {
        socket.set_nodelay(true)?;
    }
    std::thread::spawn(move || {
        if thread::pin(&[there]).is_ok() {
            other(others);
        }
    });
    Ok(own)
}

/// Its other end answers.
struct Exchanges(TcpStream);

impl Exchanges {
    fn begin(there: u32) -> Done<Exchanges> {
        let answer = |mut socket: TcpStream| {
            let mut room = [0; 64];
            while socket.read_exact(&mut room).is_ok() && socket.write_all(&room).is_ok() {}
        };
        Ok(Exchanges(connection(there, answer)?))
    }
}

impl Load for Exchanges {
    fn play(&mut self) -> Done<f64> {
        let (mut room, mut times) = ([1; 64], Vec::with_capacity(EXCHANGES as usize));
        for _ in 0..EXCHANGES {
            let begun = Instant::now();
            self.0.write_all(&room)?;
            self.0.read_exact(&mut room)?;
            times.push(begun.elapsed().as_nanos() as f64);
        }
        Ok(median(times).unwrap_or_default())
    }

    fn socket(&self) -> &TcpStream {
        &self.0
    }

    fn events(&self) -> u64 {
        EVENTS
    }
}

/// Its other end reads.
struct Sends(TcpStream);

impl Sends {
    fn begin(there: u32) -> Done<Sends> {
        let read = |mut socket: TcpStream| {
            let mut room = vec![0; 64 << 10];
            while socket.read(&mut room).is_ok_and(|came| came > 0) {}
        };
        Ok(Sends(connection(there, read)?))
    }
}

impl Load for Sends {
    fn play(&mut self) -> Done<f64> {
        let begun = Instant::now();
        for _ in 0..SENDS {
            self.0.write_all(&[1; 64])?;
        }
        Ok(begun.elapsed().as_nanos() as f64 / SENDS as f64)
    }

    fn socket(&self) -> &TcpStream {
        &self.0
    }

    fn events(&self) -> u64 {
        SENDS
    }
}

fn watched(socket: &TcpStream) -> Done<Watched> {
    Ok(Watched {
        thread: thread::current().number(),
        process: 0,
        network: None,
        local_port: socket.local_addr()?.port(),
        remote_port: socket.peer_addr()?.port(),
        datagrams: false,
        cookie: 0,
        least_bytes: [0; 2],
    })
}

fn alone(load: &mut dyn Load) -> Done<Block> {
    Ok(Block { took_ns: load.play()?, had: 0, lost: 0, by_then: 0, seconds: 0.0 })
}

/// Until all are read, which begins when the programs are untied.
fn ours(load: &mut dyn Load, tracer: &mut Tracer) -> Done<Block> {
    tracer.begin(watched(load.socket())?)?;
    let begun = Instant::now();
    let took_ns = load.play()?;
    let (stamps, lost) = tracer.end()?;
    let had = stamps.len() as u64;
    Ok(Block { took_ns, had, lost, by_then: had, seconds: begun.elapsed().as_secs_f64() })
}

/// Tied to its tracepoints, and told to stamp neither way.
fn switched_off(load: &mut dyn Load, tracer: &mut Tracer) -> Done<Block> {
    let switch = Stamping::switch(tracer).ok_or("no switch")?;
    tracer.begin(watched(load.socket())?)?;
    switch.set(Ways::NONE);
    let took_ns = load.play()?;
    let lost = tracer.end()?.1;
    Ok(Block { took_ns, had: 0, lost, by_then: 0, seconds: 0.0 })
}

fn interval(of: Estimate, digits: usize) -> String {
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{:.digits$} [{low:.digits$}, {high:.digits$}]", of.median),
        _ => format!("{:.digits$} (too few for an interval)", of.median),
    }
}

/// What each event costs, of so many in what was timed, and how many were had.
fn told(name: &str, of: &[Block], without: &[Block], events: f64) {
    let costs = of.iter().zip(without).map(|(one, none)| (one.took_ns - none.took_ns) / events);
    let Some(cost) = Estimate::from_values(costs) else { return };
    let [had, lost] =
        [|one: &Block| one.had, |one: &Block| one.lost].map(|of_one| of.iter().map(of_one).sum::<u64>());
    print!("{name:<24}{:>22} ns an event; {had} events had, {lost} lost", interval(cost, 0));
    let rates = of.iter().filter(|one| one.by_then > 0).map(|one| one.by_then as f64 / one.seconds / 1e3);
    match Estimate::from_values(rates) {
        Some(rate) => println!(", {} thousand a second", interval(rate, 0)),
        None => println!(),
    }
}

/// By how much more bpftrace costs than ours, and how many fewer events are had a second.
fn held_against(name: &str, theirs: &[Block], ours: &[Block], without: &[Block]) {
    let all = || theirs.iter().zip(ours).zip(without);
    let cost = |one: &Block, none: &Block| one.took_ns - none.took_ns;
    let own = Estimate::from_values(ours.iter().zip(without).map(|(own, none)| cost(own, none)));
    let costs = all().filter(|((_, own), none)| cost(own, none) > 0.0);
    let costs = Estimate::from_values(costs.map(|((one, own), none)| cost(one, none) / cost(own, none)));
    match costs.filter(|_| own.and_then(|own| own.low).is_some_and(|low| low > 0.0)) {
        Some(costs) => println!("bpftrace, {name}: {} times the cost of ours", interval(costs, 1)),
        None if theirs.is_empty() => {}
        None => println!("bpftrace, {name}: cannot tell how many times the cost, for ours may be none"),
    }
    let rate = |one: &Block| one.by_then as f64 / one.seconds;
    let rates = all().filter(|((one, _), _)| one.by_then > 0);
    let rates = Estimate::from_values(rates.map(|((one, own), _)| rate(own) / rate(one)));
    if let Some(rates) = rates {
        println!("bpftrace, {name}: of ours {} times as many events a second", interval(rates, 1));
    }
}

fn share_of(of: &[Block], without: &[Block]) -> String {
    let shares = of.iter().zip(without).map(|(one, none)| 100.0 * (one.took_ns / none.took_ns - 1.0));
    Estimate::from_values(shares).map_or("nothing".into(), |share| interval(share, 1))
}

fn exchanges(rounds: usize, there: u32, has_bpftrace: bool) -> Done<()> {
    let mut load = Exchanges::begin(there)?;
    let mut least = Tracer::load(&BEYOND[1..])?;
    let [mut none, mut own, mut prints, mut sums] = [(); 4].map(|()| Vec::new());
    alone(&mut load)?;
    for _ in 0..rounds {
        none.push(alone(&mut load)?);
        own.push(ours(&mut load, &mut least)?);
        if has_bpftrace {
            prints.push(theirs(&mut load, PRINTS)?);
            sums.push(theirs(&mut load, SUMS)?);
        }
    }
    let untraced = median(none.iter().map(|one| one.took_ns)).unwrap_or_default();
    println!(
        "{rounds} rounds of {EXCHANGES} exchanges on one CPU, untraced {untraced:.0} ns; {EVENTS} events a block"
    );
    let tracers = [("ours", &own), ("bpftrace, each time", &prints), ("bpftrace, a histogram", &sums)];
    for (name, of) in tracers {
        told(name, of, &none, 2.0);
    }
    for (name, of) in [("each time", &prints), ("a histogram", &sums)] {
        held_against(name, of, &own, &none);
    }
    Ok(())
}

/// What all ten points of ours cost, and what they cost while they are switched off: an entry into the programs at their eleven tracepoints,
/// and a look at one word. A stamp that finds no room costs less than one that does, so none may be lost.
fn taxes(rounds: usize, there: u32, place: &str) -> Done<()> {
    let mut load = Exchanges::begin(there)?;
    let mut whole = Tracer::load(&[])?;
    let [mut none, mut all, mut off] = [(); 3].map(|()| Vec::new());
    alone(&mut load)?;
    for _ in 0..rounds {
        none.push(alone(&mut load)?);
        all.push(ours(&mut load, &mut whole)?);
        off.push(switched_off(&mut load, &mut whole)?);
    }
    let untraced = median(none.iter().map(|one| one.took_ns)).unwrap_or_default();
    println!("{rounds} rounds of {EXCHANGES} exchanges on {place}, untraced {untraced:.0} ns");
    for (name, of) in [("all ten points of ours", &all), ("these, switched off", &off)] {
        let [had, lost] =
            [|one: &Block| one.had, |one: &Block| one.lost].map(|of_one| of.iter().map(of_one).sum::<u64>());
        if lost > 0 {
            return Err(format!("{name}: {lost} stamps had no room: what they cost is not told").into());
        }
        let more = of.iter().zip(&none).map(|(one, none)| one.took_ns - none.took_ns);
        let more = Estimate::from_values(more).map_or("nothing".into(), |more| interval(more, 0));
        println!("{name:<24}{more} ns a round trip, {} %; {had} stamps, 0 lost", share_of(of, &none));
    }
    Ok(())
}

fn sends(rounds: usize, there: u32, has_bpftrace: bool) -> Done<()> {
    let mut load = Sends::begin(there)?;
    let mut tracer = Tracer::load(&BEYOND)?;
    let [mut none, mut own, mut prints] = [(); 3].map(|()| Vec::new());
    alone(&mut load)?;
    for _ in 0..rounds {
        none.push(alone(&mut load)?);
        own.push(ours(&mut load, &mut tracer)?);
        if has_bpftrace {
            prints.push(theirs(&mut load, EACH)?);
        }
    }
    let untraced = median(none.iter().map(|one| one.took_ns)).unwrap_or_default();
    println!(
        "{rounds} rounds of {SENDS} sends without a pause, untraced {untraced:.0} ns each; one event each"
    );
    told("ours, each send", &own, &none, 1.0);
    told("bpftrace, each send", &prints, &none, 1.0);
    held_against("each send", &prints, &own, &none);
    Ok(())
}

fn main() -> Done<()> {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(8_usize);
    let cpus = thread::allowed_cpus()?;
    let [here, there] = [cpus.first(), cpus.last()].map(|cpu| cpu.copied().unwrap_or_default());
    thread::pin(&[here])?;
    let has_bpftrace = Command::new("bpftrace").arg("--version").output().is_ok();
    if !has_bpftrace {
        println!("bpftrace is not installed (Debian: bpftrace): only ours is told");
    }
    exchanges(rounds, here, has_bpftrace)?;
    sends(rounds, there, has_bpftrace)?;
    taxes(2 * rounds, here, "one CPU")?;
    taxes(2 * rounds, there, "two CPUs")
}
