//! Our side: the library's own ends, each in a process of its own on its CPU, as the peers are.

pub mod end;

use super::process::{Ended, Launch, last_line};
use super::work::{Clocked, Kind, Outcome, Work};
use end::{End, Timed};
use linerate::plan::Block;
use linerate::statistic::median;
use linerate::transport::Spec;
use linerate::unit::Bytes;
use linerate::vocabulary::{Cache, Does, Engine, STREAM_ENGINES};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

/// How a kind of work is done by the library.
struct Way {
    kind: Kind,
    transport: &'static str,
    /// Who connects, and who is connected to; the latter does not exist where memory is copied.
    does: [Option<Does>; 2],
    cache: Cache,
    /// What a byte counts: STREAM counts what is read and what is written.
    counts: f64,
    /// Messages of the first look at the rate, by their size.
    first: fn(u64) -> u64,
    /// In how many stamped slices the messages go, so that what came until a moment is known.
    slices: u32,
    /// What is set whatever the engine.
    fixed: &'static [&'static str],
    /// The engines that the ladder looks among, too.
    of_ladder: &'static [Engine],
    /// What an engine may be set to besides, each a list of settings; the first one of all is the usual one.
    engines: &'static [&'static [&'static str]],
}

const PLAIN: &[&[&str]] = &[&[]];
/// The plain calls: how much the receiver asks for at once, what ends its sleep, whether several flows have a thread each.
const READS: &[&[&str]] = &[
    &[],
    &["stream.read-size=message"],
    &["stream.read-size=2MiB"],
    &["flow.threads=flow"],
    &["stream.read-size=message", "flow.threads=flow"],
    &["stream.read-size=2MiB", "flow.threads=flow"],
    &[COALESCING],
    &[COALESCING, "stream.read-size=message"],
];
/// A timer ends the receiver's sleep in place of its sender.
const COALESCING: &str = "tcp.receive-engine=coalescing";
/// Beside the engines of the ladder: reads of the message's own size, a thread a flow, and those that end unread, which a peer's
/// options allow it too.
const UNREAD_ENGINES: &[&[&str]] = &[
    &["stream.read-size=message"],
    &["tcp.send-engine=sendfile", "stream.read-size=message"],
    &["flow.threads=flow", "stream.read-size=2MiB"],
    &["tcp.send-engine=write", "tcp.receive-engine=discard"],
    &["tcp.send-engine=sendfile", "tcp.receive-engine=discard"],
    &["tcp.send-engine=splice", "tcp.receive-engine=discard"],
    &["tcp.send-engine=write", "tcp.receive-engine=discard-low-water"],
    &["tcp.send-engine=sendfile", "tcp.receive-engine=discard-low-water"],
    &["tcp.send-engine=splice", "tcp.receive-engine=discard-low-water"],
    &["tcp.send-engine=write", "tcp.receive-engine=discard", "stream.read-size=2MiB"],
    &["tcp.send-engine=sendfile", "tcp.receive-engine=discard", "stream.read-size=2MiB"],
    &["tcp.send-engine=splice", "tcp.receive-engine=discard", "stream.read-size=2MiB"],
    &["tcp.send-engine=io-uring", "tcp.receive-engine=discard"],
    &["tcp.send-engine=zero-copy", "tcp.receive-engine=discard"],
];
/// One datagram a call: its sender wakes the receiver, or a timer.
const SLEEPS: &[&[&str]] = &[&[], &["udp.engine=coalescing"]];
const DATAGRAM_ENGINES: &[&[&str]] =
    &[&["udp.engine=plain"], &["udp.engine=batch"], &["udp.engine=segments"]];

/// How a setting is told in a table, `*` for its value.
const TOLD: &[(&str, &str)] = &[
    ("tcp.send-engine", "*"),
    ("tcp.receive-engine", "to *"),
    ("udp.engine", "*"),
    (READ_SIZE, "reads of *"),
    (THREADS, "a thread a *"),
];
const READ_SIZE: &str = "stream.read-size";
const THREADS: &str = "flow.threads";

/// In streams Nagle's algorithm is on for both sides, as the kernel has it. Without it each small message is a packet and a
/// wake-up for the side whose receiver keeps up, while one whose receiver lags behind sends many at once: 0.08 against
/// 0.53 Gb/s at 128 B, of one and the same iperf that reads 64 KiB or 128 B.
const NAGLE: &[&str] = &["tcp.no-delay=off"];

const STREAMS: [Option<Does>; 2] = [Some(Does::Sends), Some(Does::Receives)];
const PINGS: [Option<Does>; 2] = [Some(Does::Pings), Some(Does::Echoes)];

fn of_stream(bytes: u64) -> u64 {
    ((32 << 20) / bytes).max(64)
}

const fn way(kind: Kind, transport: &'static str, does: [Option<Does>; 2], first: fn(u64) -> u64) -> Way {
    Way {
        kind,
        transport,
        does,
        cache: Cache::Hot,
        counts: 1.0,
        first,
        slices: 64,
        fixed: &[],
        of_ladder: &[],
        engines: PLAIN,
    }
}

const fn memory(kind: Kind, transport: &'static str, counts: f64) -> Way {
    let copies = way(kind, transport, [Some(Does::Copies), None], |_| 4);
    Way { cache: Cache::Cold, counts, slices: 1, ..copies }
}

const fn datagrams(kind: Kind) -> Way {
    Way { slices: 1, ..way(kind, "udp", STREAMS, |_| 20_000) }
}

const WAYS: &[Way] = &[
    Way { fixed: NAGLE, engines: READS, ..way(Kind::Stream, "tcp", STREAMS, of_stream) },
    Way {
        fixed: NAGLE,
        of_ladder: STREAM_ENGINES,
        engines: UNREAD_ENGINES,
        ..way(Kind::BestStream, "tcp", STREAMS, of_stream)
    },
    Way { engines: SLEEPS, ..datagrams(Kind::Datagrams) },
    Way { engines: DATAGRAM_ENGINES, ..datagrams(Kind::BestDatagrams) },
    way(Kind::RoundTrip, "tcp", PINGS, |_| 1000),
    way(Kind::Requests, "tcp", PINGS, |_| 50),
    way(Kind::Connections, "tcp", [Some(Does::Connects), Some(Does::Accepts)], |_| 300),
    memory(Kind::MemoryCopy, "memory-copy", 2.0),
    memory(Kind::BestMemoryCopy, "memory-copy", 2.0),
    memory(Kind::MemoryTriad, "memory-triad", 1.0),
];

/// How long a look at a rate is, and how many an engine is given.
const LOOK_S: f64 = 0.2;
const LOOKS: usize = 3;
/// How many engines are in front, how long they are looked at, and how often.
const FINALISTS: usize = 4;
const LONG_LOOK_S: f64 = 0.6;
const LONG_LOOKS: usize = 4;

/// How many more messages go than the time is thought to hold, so that it holds no fewer.
const MORE: f64 = 1.25;

/// What is known of a kind of work.
#[derive(Debug, Clone)]
struct Known {
    engine: &'static [&'static str],
    /// Messages of a flow a second.
    rate: f64,
}

/// Our side, with what it has learnt.
pub struct Ours {
    this: String,
    known: BTreeMap<String, Known>,
}

impl Ours {
    /// Nothing is known yet. `this` is the program of which the ends are started.
    pub fn new(this: String) -> Ours {
        Ours { this, known: BTreeMap::new() }
    }

    /// The engine that was found to be the best, where there is a choice.
    pub fn engine(&self, work: &Work) -> Option<String> {
        let engine = self.known.get(&key(work))?.engine;
        let told = |set: &&str| {
            let (knob, value) = set.split_once('=')?;
            Some(TOLD.iter().find(|told| told.0 == knob)?.1.replace('*', value))
        };
        let told: Vec<String> = engine.iter().filter_map(told).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// Does the work, timed as this peer times its own.
    pub fn run(&mut self, work: &Work, clocked: &Clocked) -> Result<Outcome, String> {
        let way = WAYS.iter().find(|way| way.kind == work.kind).ok_or("ours does not do this")?;
        let known = self.learnt(way, work)?;
        let timed_s = clocked.timed_s(work);
        let timed = if clocked.trials > 1 {
            block(work, way.cache, known.rate * timed_s / f64::from(clocked.trials), clocked.trials)
        } else {
            block(work, way.cache, MORE * known.rate * timed_s / f64::from(way.slices), way.slices)
        };
        let mut blocks = vec![timed];
        if clocked.warm_up_s > 0.0 {
            blocks.insert(0, block(work, way.cache, known.rate * clocked.warm_up_s, 1));
        }
        let limit = Duration::from_secs_f64(10.0 + f64::from(work.seconds) + timed_s + clocked.warm_up_s);
        let (all, cpu_ns) = self.play(way, work, known.engine, &blocks, Some(timed_s), limit)?;
        let last = all.last().ok_or("no block was told")?;
        // The machine's pace changes: the next run is as long as this one should have been.
        let rate = f64::from(timed.slices) * timed.messages as f64 / last.whole_s();
        self.known.insert(key(work), Known { rate, ..known });
        let best = last.best_s * f64::from(clocked.trials);
        let seconds = if clocked.trials > 1 { best } else { last.seconds() };
        let (bytes, came) = (last.bytes * way.counts, last.messages);
        let outcome =
            Outcome { bps: Some(8.0 * bytes / seconds), per_s: Some(came / seconds), cpu_ms_per_gb: None };
        Ok(outcome.with_cpu(cpu_ns, all.iter().map(|block| block.all_bytes as f64).sum()))
    }

    /// The best engine and its rate, looked for the first time: a short look at each, then longer ones by turns at those in
    /// front, for what a fifth of a second shows need not last.
    fn learnt(&mut self, way: &Way, work: &Work) -> Result<Known, String> {
        if let Some(known) = self.known.get(&key(work)) {
            return Ok(known.clone());
        }
        let mut why = String::new();
        let mut seen: Vec<(f64, Known)> = Vec::new();
        let alone = |engine: &&&[&str]| work.flows == 1 && engine.iter().any(|set| set.starts_with(THREADS));
        let shared = way.of_ladder.iter().map(|engine| &engine.settings);
        for engine in shared.chain(way.engines).filter(|engine| !alone(engine)) {
            match self.short_looks(way, work, engine) {
                Ok((came, rate)) => seen.push((came, Known { engine, rate })),
                Err(error) => why = error,
            }
        }
        // Of equal rates of sending the one counts of which more came.
        seen.sort_by(|a, b| b.0.total_cmp(&a.0));
        seen.truncate(FINALISTS);
        let mut front: Vec<Known> = seen.into_iter().map(|(_, known)| known).collect();
        if front.len() > 1 {
            front = self.by_long_looks(way, work, front)?;
        }
        let known = front.into_iter().next().ok_or(why)?;
        self.known.insert(key(work), known.clone());
        Ok(known)
    }

    /// These engines by what came of each in the middle one of some long looks, the most first. One that fails is out.
    fn by_long_looks(&self, way: &Way, work: &Work, front: Vec<Known>) -> Result<Vec<Known>, String> {
        let mut why = String::new();
        let mut all: Vec<(Vec<f64>, Known)> = front.into_iter().map(|known| (Vec::new(), known)).collect();
        for _ in 0..LONG_LOOKS {
            all.retain_mut(|(came, known)| {
                match self.look(way, work, known.engine, known.rate, LONG_LOOK_S) {
                    Ok((bytes, rate)) => {
                        came.push(bytes);
                        known.rate = rate;
                        true
                    }
                    Err(error) => {
                        why = error;
                        false
                    }
                }
            });
        }
        all.sort_by(|a, b| median(b.0.clone()).partial_cmp(&median(a.0.clone())).unwrap_or(Ordering::Equal));
        if all.is_empty() { Err(why) } else { Ok(all.into_iter().map(|(_, known)| known).collect()) }
    }

    /// The bytes that come a second by an engine, the middle one of some looks, and its rate of messages.
    fn short_looks(&self, way: &Way, work: &Work, engine: &[&str]) -> Result<(f64, f64), String> {
        let guess = (way.first)(work.bytes) as f64 / LOOK_S;
        // The first one is of a few messages only, to know how many the others are to have.
        let (_, mut rate) = self.look(way, work, engine, guess, LOOK_S)?;
        let mut seen = Vec::new();
        for _ in 0..LOOKS {
            let looked = self.look(way, work, engine, rate, LOOK_S)?;
            rate = looked.1;
            seen.push(looked);
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(seen[seen.len() / 2])
    }

    /// The bytes that come a second by an engine, and its rate of messages, in one look that holds what a rate says.
    fn look(
        &self,
        way: &Way,
        work: &Work,
        engine: &[&str],
        rate: f64,
        seconds: f64,
    ) -> Result<(f64, f64), String> {
        let block = block(work, way.cache, rate * seconds, 1);
        let (all, _) = self.play(way, work, engine, &[block], None, Duration::from_secs(20))?;
        let timed = all.last().ok_or("no block was told")?;
        Ok((timed.bytes / timed.seconds(), block.messages as f64 / timed.whole_s()))
    }

    /// Both ends through these blocks: what the end that keeps time told of each, and the CPU time of both lives.
    fn play(
        &self,
        way: &Way,
        work: &Work,
        engine: &[&str],
        blocks: &[Block],
        counted_s: Option<f64>,
        limit: Duration,
    ) -> Result<(Vec<Timed>, Option<u64>), String> {
        let end = |does: Does, passive: bool| End {
            spec: spec(way, work, engine, passive),
            does,
            wait: work.wait,
            blocks: blocks
                .iter()
                .map(|block| Block { read_bytes: read_bytes(work, engine), content: work.content, ..*block })
                .collect(),
            counted_s,
        };
        let launch = |end: &End, cpu: u32| -> Result<Launch, String> {
            let told = serde_json::to_string(end).map_err(|error| error.to_string())?;
            Ok(Launch::new(&self.this, cpu, [end::END.to_owned(), told]))
        };
        let [Some(active), passive] = way.does else { return Err("nobody does it".into()) };
        let client = launch(&end(active, false), work.cpus[0])?;
        let Some(passive) = passive else {
            let ended = client.start()?.wait(limit)?;
            return Ok((parse_timed(&ended)?, ended.cpu_ns));
        };
        let server = launch(&end(passive, true), work.cpus[1])?.start()?;
        let offer = server.first_line(Duration::from_secs(10))?;
        let client = client.and([offer]).start()?.wait(limit)?;
        let server = server.wait(Duration::from_secs(10))?;
        // Whichever of them failed knows why.
        let (of_client, of_server) = (parse_timed(&client)?, parse_timed(&server)?);
        let timed = if active.keeps_time() { of_client } else { of_server };
        Ok((timed, server.cpu_ns.zip(client.cpu_ns).map(|(server, client)| server + client)))
    }
}

fn spec(way: &Way, work: &Work, engine: &[&str], passive: bool) -> Spec {
    let (transport, flows, patience_ms) = (way.transport.into(), work.flows, 10_000);
    let settings = way.fixed.iter().chain(engine).filter_map(|set| set.parse().ok()).collect();
    Spec { transport, flows, passive, settings, patience_ms, ..Spec::default() }
}

/// What a receiver asks for at once; 0 where nothing is said.
fn read_bytes(work: &Work, engine: &[&str]) -> u64 {
    let said = engine.iter().filter_map(|set| set.split_once('=')).find(|set| set.0 == READ_SIZE);
    let bytes = |size: &str| size.parse::<Bytes>().map_or(0, |bytes| bytes.0);
    said.map_or(0, |(_, size)| if size == "message" { work.bytes } else { bytes(size) })
}

fn key(work: &Work) -> String {
    format!("{work:?}")
}

fn block(work: &Work, cache: Cache, messages: f64, slices: u32) -> Block {
    let messages = (messages as u64).max(1);
    Block { message_bytes: work.bytes, messages, slices, lead: 0, cache, ..Block::default() }
}

/// What an end told on its last line.
fn parse_timed(ended: &Ended) -> Result<Vec<Timed>, String> {
    if !ended.is_well {
        return Err(format!("ours: {}", last_line(&ended.errors)));
    }
    serde_json::from_str(last_line(&ended.output)).map_err(|error| format!("ours: {error}"))
}
