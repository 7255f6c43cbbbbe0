//! `linerate transfer --compare`: the same files by this program and by others, in turns.

use super::hosts_and_plan;
use crate::cli::measure::reached;
use crate::cli::stop::Stop;
use crate::cli::transfer_args::{CIPHER, Transfer};
use crate::cli::{SOME_FAILED, chain, farewell, print};
use crate::plan::Target;
use crate::record::{TransfersBeside, TransfersOf};
use crate::report::{size, transfers_json, transfers_text};
use crate::run::{FileEnd, Order, Runner};
use crate::workload::tool::cipher::one_core;
use crate::workload::tool::play::longest as longest_of;
use crate::workload::tool::recognised::recognised;
use crate::workload::tool::{Bench, Files, Sealing, TOOLS, Took, Tool};
use crate::{Error, Result};
use rand::seq::SliceRandom;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What this program is called in the table.
const OURS: &str = "linerate";

/// Where files are as a rule.
const DISK: &str = "disk";

/// Numbers of streams of ours.
const STREAMS: [u32; 3] = [1, 2, 4];

/// A way of ours: which of its ends is memory, and what is asked of it.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    from_memory: bool,
    to_memory: bool,
    cold: bool,
    verify: bool,
    direct: bool,
    cipher: Option<&'static str>,
}

/// From disk to disk, verified and not sealed.
const WAY: Way = Way {
    name: "",
    from_memory: false,
    to_memory: false,
    cold: false,
    verify: true,
    direct: false,
    cipher: None,
};

/// From disk to disk first, which the others do too; then what each disk, the source's cache, the digests and sealing cost.
const WAYS: &[Way] = &[
    WAY,
    Way { name: ", source cold", cold: true, ..WAY },
    Way { name: ", past the cache", direct: true, ..WAY },
    Way { name: ", not verified", verify: false, ..WAY },
    Way { name: ", sealed", cipher: Some(CIPHER), ..WAY },
    Way { name: ", memory to disk", from_memory: true, ..WAY },
    Way { name: ", disk to memory", to_memory: true, ..WAY },
    Way { name: ", memory to memory", from_memory: true, to_memory: true, ..WAY },
];

/// A race: who takes so many times as long as the fastest is ended, and who takes so many times as long as this program in each
/// of so many rounds runs no more.
const FAR_BEHIND: u64 = 10;
const BEHIND: f64 = 1.1;
const ROUNDS_BEHIND: usize = 3;

/// What is not that long is never far behind.
const SHORT: Duration = Duration::from_secs(1);

/// What one row of the table is made by.
#[derive(Clone, Copy)]
enum By {
    Ours(Way),
    Tool(&'static Tool),
}

impl By {
    fn sealing(self) -> Option<Sealing> {
        match self {
            By::Ours(_) => None,
            By::Tool(tool) => tool.sealing,
        }
    }
}

struct Row {
    by: By,
    of: TransfersOf,
}

/// What is moved.
enum Load {
    /// A file of so many bytes.
    File(u64),
    /// A folder of so many small ones.
    Folder(u64),
}

impl Load {
    fn made(&self, bench: &Bench) -> Result<Files> {
        match self {
            Load::File(bytes) => bench.file(*bytes),
            Load::Folder(count) => bench.small_files(*count),
        }
    }
}

/// Moves them all, and prints the table.
pub fn main(args: &Transfer) -> Result<ExitCode> {
    if !matches!(args.target, Target::Lab(_)) {
        let what = format!("--compare starts servers of its own, and {} is no lab", args.target);
        return Err(Error::usage(what, "try `linerate transfer lab --compare`"));
    }
    let ((hosts, plan), stop) = (hosts_and_plan(args)?, Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("building the lab");
    let mut runner = reached(&plan, &hosts, &wanted, watcher.as_mut())?;
    let mut bench = Bench::between(&args.from, &args.to)?;
    let mut beside = TransfersBeside {
        from: args.from.clone(),
        to: args.to.clone(),
        recognised: recognised(&Bench::programs()),
        ..TransfersBeside::default()
    };
    let mut ended = Ok(());
    let sizes = args.sizes.iter().map(|bytes| Load::File(*bytes));
    for load in sizes.chain(args.files.map(|count| Load::Folder(count.into()))) {
        watcher.announce("making what is moved");
        let files = load.made(&bench)?;
        let mut of_size = rows_of(args, &files);
        let mut fastest_ns = None;
        ended = turns(args, &mut of_size, &mut |row, round| {
            if stop.wanted() {
                return Err(Error::Interrupted);
            }
            let (bytes, tool) = (size(files.bytes), &row.of.tool);
            let what = format!("{bytes} by {tool}, round {} of {}", round + 1, args.rounds);
            watcher.moved(&what);
            let longest =
                fastest_ns.filter(|_| args.race).map(|ns| Duration::from_nanos(FAR_BEHIND * ns).max(SHORT));
            let longest = longest.unwrap_or(Duration::MAX).min(longest_of(files.bytes));
            transfer_once(row, &mut runner, (&mut bench, &files, longest), &mut beside.round_trip_ns)?;
            // What has no file at an end is no measure for one that has.
            if !matches!(row.by, By::Ours(way) if way.from_memory || way.to_memory) {
                fastest_ns = row.of.took_ns.last().copied().into_iter().chain(fastest_ns).min();
            }
            Ok(())
        });
        beside.rows.extend(of_size.into_iter().map(|row| row.of));
        if ended.is_err() {
            break;
        }
    }
    watcher.announce("asking how fast a core seals");
    beside.ciphers = one_core(sealing(&beside.rows));
    watcher.ended()?;
    match args.json {
        true => print(&format!("{}\n", transfers_json(&beside)))?,
        false => print(&transfers_text(&beside))?,
    }
    farewell();
    ended.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    let has_failed = beside.rows.iter().any(|row| row.took_ns.is_empty() && !row.is_behind);
    Ok(if has_failed { ExitCode::from(SOME_FAILED) } else { ExitCode::SUCCESS })
}

/// The ciphers of what was measured, each once.
fn sealing(rows: &[TransfersOf]) -> impl Iterator<Item = &'static str> {
    let is_of =
        |cipher: &str| rows.iter().any(|row| row.cipher.as_deref() == Some(cipher) && row.failed.is_none());
    let ciphers = TOOLS.iter().flat_map(|tool| [Some(*tool), tool.best]).flatten();
    let ciphers: BTreeSet<&str> = ciphers.filter_map(|tool| Some(tool.sealing?.cipher)).collect();
    ciphers.into_iter().filter(|cipher| is_of(cipher)).collect::<Vec<_>>().into_iter()
}

/// Every row, in another order each round: what changes meanwhile falls on all. A row that failed is not tried again, nor in
/// a race one that is behind.
fn turns(args: &Transfer, rows: &mut [Row], one: &mut dyn FnMut(&mut Row, u32) -> Result<()>) -> Result<()> {
    for round in 0..args.rounds {
        rows.shuffle(&mut rand::rng());
        // What is fast must be known before it is known who is far behind.
        rows.sort_by_key(|row| args.race && round == 0 && !row.of.is_ours);
        for row in rows.iter_mut().filter(|row| row.of.failed.is_none() && !row.of.is_behind) {
            one(row, round)?;
        }
        if args.race {
            tell_behind(rows);
        }
    }
    Ok(())
}

/// Which of the others were behind this program, as shipped, in each of the rounds that it takes.
fn tell_behind(rows: &mut [Row]) {
    let is_shipped = |row: &&Row| row.of.tool == OURS && STREAMS.ends_with(&[row.of.streams]);
    let Some(ours) = rows.iter().find(is_shipped).map(|row| row.of.took_ns.clone()) else { return };
    for row in rows.iter_mut().filter(|row| !row.of.is_ours && row.of.took_ns.len() == ROUNDS_BEHIND) {
        let mut rounds = row.of.took_ns.iter().zip(&ours);
        row.of.is_behind = ours.len() >= ROUNDS_BEHIND
            && rounds.all(|(theirs, ours)| *theirs as f64 > BEHIND * *ours as f64);
    }
}

/// The rows of a file, or a folder. What is not installed is left out, or told where it was asked for by name.
fn rows_of(args: &Transfer, files: &Files) -> Vec<Row> {
    let row = |by: By, tool: String, flags, seals, streams, paper: Option<&str>, failed| {
        let sealing = by.sealing();
        let of = TransfersOf {
            tool,
            flags,
            is_ours: matches!(by, By::Ours(_)),
            seals,
            bytes: files.bytes,
            files: files.count,
            streams,
            cipher: sealing.map(|sealing| sealing.cipher.into()),
            window_bytes: sealing.and_then(|sealing| sealing.window_bytes),
            took_ns: Vec::new(),
            cpu_ns: Vec::new(),
            paper: paper.map(String::from),
            is_behind: false,
            failed,
        };
        Row { by, of }
    };
    let mut rows = Vec::new();
    // Memory has no files in it, and small files go through the cache; what a disk costs is told where there is one.
    let is_on_disks = (args.from.as_str(), args.to.as_str()) == (DISK, DISK);
    let takes_disk = |way: &Way| way.from_memory || way.to_memory || way.direct || way.cold;
    let is_there = |way: &&Way| {
        (is_on_disks || !takes_disk(way)) && (files.count.is_none() || !(way.from_memory || way.direct))
    };
    for (at, way) in WAYS.iter().filter(is_there).enumerate() {
        let streams = if at == 0 { &STREAMS[..] } else { &STREAMS[STREAMS.len() - 1..] };
        let ours = |count: &u32| {
            let seals = way.cipher.is_some();
            row(By::Ours(*way), format!("{OURS}{}", way.name), None, seals, *count, None, None)
        };
        rows.extend(streams.iter().map(ours));
    }
    let path: Vec<PathBuf> = Bench::programs();
    let is_named = |tool: &Tool| args.tools.iter().any(|name| name == tool.name);
    let may = |tool: &&Tool| files.count.is_none() || tool.moves_folders();
    for tool in TOOLS.iter().copied().filter(may).filter(|tool| args.tools.is_empty() || is_named(tool)) {
        let missing =
            tool.missing(&path).map(|name| format!("no {name} here: apt-get install {}", tool.packages));
        if missing.is_some() && !is_named(tool) {
            continue;
        }
        for tool in [Some(tool), tool.best].into_iter().flatten() {
            let flags = (!tool.flags.is_empty()).then(|| tool.flags.to_owned());
            for count in tool.streams {
                let paper =
                    tool.paper.iter().find(|(streams, _)| streams == count).map(|(_, config)| *config);
                let (by, name, why) = (By::Tool(tool), tool.name.to_owned(), missing.clone());
                rows.push(row(by, name, flags.clone(), tool.seals, *count, paper, why));
            }
        }
    }
    rows
}

/// One transfer. That one fails is told in its row, and the others go on.
/// `least_ns` is the least round trip that was seen.
fn transfer_once(
    row: &mut Row,
    runner: &mut Runner<'_>,
    (bench, files, longest): (&mut Bench, &Files, Duration),
    least_ns: &mut Option<u64>,
) -> Result<()> {
    let begun = Instant::now();
    let took = match row.by {
        By::Tool(tool) => runner.transfer_by_tool(bench, tool, row.of.streams, files, longest),
        By::Ours(way) => ours(way, row, runner, (bench, files), least_ns),
    };
    match took {
        Ok(took) => {
            row.of.took_ns.push(took.wall_ns);
            row.of.cpu_ns.push(took.cpu_ns);
        }
        Err(error) if error.ends_the_run() || error.is_loss_of_process() => {
            return Err(error);
        }
        // It was ended in a race; what it took before stays.
        Err(_) if longest < longest_of(files.bytes) && begun.elapsed() >= longest => row.of.is_behind = true,
        // One that fails once is not to be relied upon: it has no number.
        Err(error) => {
            row.of.took_ns.clear();
            row.of.cpu_ns.clear();
            row.of.failed = Some(chain(&error));
        }
    }
    Ok(())
}

fn ours(
    way: Way,
    row: &Row,
    runner: &mut Runner<'_>,
    (bench, files): (&mut Bench, &Files),
    least_ns: &mut Option<u64>,
) -> Result<Took> {
    let TransfersOf { streams, bytes, .. } = row.of;
    let path = bench.destination();
    let order = Order {
        source: if way.from_memory { FileEnd::Memory(bytes) } else { FileEnd::Path(files.source.clone()) },
        destination: if way.to_memory { FileEnd::Memory(0) } else { FileEnd::Path(path.clone()) },
        pull: false,
        streams,
        verify: way.verify,
        sync: true,
        overwrite: false,
        anew: true,
        cold: way.cold,
        direct: way.direct,
        cipher: way.cipher.map(String::from),
    };
    let transfer = runner.transfer(&order, &mut |_| ())?;
    if !way.from_memory && !way.to_memory {
        bench.is_whole(&path, files, OURS)?;
    }
    let trips = transfer.sender.streams.iter().filter_map(|stream| stream.tcp.get("min_rtt"));
    // In microseconds; all ones where the kernel has seen none (tcp_info of linux/tcp.h).
    let trips = trips.filter(|us| **us > 0 && **us < u64::from(u32::MAX)).map(|us| 1000 * us);
    *least_ns = trips.chain(*least_ns).min();
    Ok(Took { wall_ns: transfer.wall_ns, cpu_ns: transfer.cpu_ns() })
}
