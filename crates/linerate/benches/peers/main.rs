//! Races against the tools that others trust: the same work, the same CPUs, in pairs, in the same minutes.
//!
//!     cargo bench --bench peers [-- [--json FILE] [--markdown FILE] [--profile FILE] [--blocks N] [--seconds S] [WORD]...]
//!     cargo bench --bench peers -- --list
//!
//! A ratio above 1 means that ours is better. `docs/performance.md` says how the races are run and judged; nothing here
//! decides a test. Both sides work in a network of this run's own, each end a process on a CPU of its own.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod args;
mod earlier;
mod looks;
#[path = "../sides/netpipe.rs"]
mod netpipe;
mod ours;
mod peer;
mod process;
mod profile;
mod race;
mod report;
mod rows;
mod testbed;
mod work;

use args::{Args, USAGE};
use earlier::Earlier;
use linerate::statistic::least_blocks;
use looks::Looks;
use ours::Ours;
use ours::end::{self, END};
use peer::{Found, PEERS};
use race::Race;
use report::Line;
use rows::Row;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use testbed::{INSIDE, Testbed};

fn main() -> ExitCode {
    // Cargo says --bench to every bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == END) {
        return ended(end::play(words.get(1).map_or("", String::as_str), words.get(2).map(String::as_str)));
    }
    let is_inside = words.first().is_some_and(|word| word == INSIDE);
    let words = &words[usize::from(is_inside)..];
    let args = match Args::read(words) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if args.list {
        return ended(list(&args));
    }
    if is_inside {
        return ended(run(&args, words, true));
    }
    testbed::enter(words).unwrap_or_else(|| {
        eprintln!("no network of its own is to be had here: the host's loopback, and its congestion control");
        ended(run(&args, words, false))
    })
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Every race that was asked for, those that cannot be run as well: each has its line.
fn planned(args: &Args, cpus: &[u32]) -> Vec<Race> {
    let found: Vec<Found> = PEERS.iter().map(|peer| Found::look(peer)).collect();
    let mut races = Vec::new();
    for row in rows::all(cpus, args.seconds) {
        let wanted = found.iter().filter(|found| args.wants(&row.name, found.peer.name));
        races.extend(wanted.filter_map(|found| race(&row, found)));
    }
    races
}

/// The race of a row with a peer, where that takes part.
fn race(row: &Row, found: &Found) -> Option<Race> {
    let play = found.play(&row.work)?;
    let work = play.as_ref().map_or(row.work, |play| work::Work {
        bytes: row.work.bytes.max(play.least_bytes),
        wait: play.waits.unwrap_or(row.work.wait),
        content: play.content,
        ..row.work
    });
    let (pairs, failures, earlier) = (Vec::new(), Vec::new(), Earlier::default());
    Some(Race { row: row.clone(), found: found.clone(), play, work, earlier, pairs, failures, engine: None })
}

fn run(args: &Args, words: &[String], is_inside: bool) -> Result<(), String> {
    let testbed = Testbed::prepare(is_inside)?;
    // Hours later is too late to hear that a file cannot be written.
    [&args.json, &args.markdown, &args.profile]
        .into_iter()
        .flatten()
        .try_for_each(|path| opened(path).map(drop))?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut ours = Ours::new(this.to_string_lossy().into_owned());
    let mut races = planned(args, &testbed.cpus);
    if let Some(path) = &args.onto {
        earlier::remember(&mut races, path)?;
    }
    let runs = races.iter().filter(|race| race.play.is_ok()).count();
    let about = about(args, &testbed, words);
    eprintln!("{} races, {runs} of them can be run; {about}", races.len());
    let looks = args.looks();
    too_few(&looks, &races).inspect(|why| eprintln!("{why}"));
    let limit = args.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let plan = race::Plan { looks: &looks, limit, seed: args.seed };
    let counted = race::run(&mut races, (&testbed, &mut ours), &plan, |races| {
        let lines = report::lines(races, looks.count());
        keep(args, &lines, &about)?;
        let is_open = |place| lines.iter().any(|line| line.race == place && line.is_open());
        Ok((0..races.len()).map(is_open).collect())
    })?;
    let lines = report::lines(&races, counted);
    keep(args, &lines, &about)?;
    println!("{}\n{}", report::table(&lines), summary(&lines));
    match &args.profile {
        Some(path) => filled(
            path,
            "profiles",
            &profile::markdown(&profile::profiles(&races, &testbed, &mut ours), &about),
        ),
        None => Ok(()),
    }
}

/// That so few blocks decide nothing, whatever they show, where they are so few.
fn too_few(looks: &Looks, races: &[Race]) -> Option<String> {
    let lines: usize = races.iter().map(Race::lines).sum();
    let earlier = races.iter().map(|race| race.earlier.blocks()).max().unwrap_or(0);
    let (blocks, least) = (looks.last() + earlier, least_blocks(lines, looks.count()));
    let about = format!("{lines} lines are judged together: {blocks} blocks can decide none of them");
    (blocks < least).then(|| format!("{about}, {least} can (--blocks, --onto)"))
}

/// Writes what there is into the files that were asked for.
fn keep(args: &Args, lines: &[Line], about: &str) -> Result<(), String> {
    if let Some(path) = &args.json {
        written(path, &lines.iter().map(|line| format!("{}\n", line.json())).collect::<String>())?;
    }
    if let Some(path) = &args.markdown {
        filled(path, "races", &report::markdown(lines, about))?;
    }
    Ok(())
}

/// Writes a table into a page, between the marks of its name.
fn filled(path: &Path, name: &str, table: &str) -> Result<(), String> {
    let page = std::fs::read_to_string(path).unwrap_or_default();
    written(path, &report::filled(&page, name, table))
}

fn summary(lines: &[Line]) -> String {
    format!("{} rows: {}", lines.len(), report::counts(lines))
}

fn opened(path: &Path) -> Result<File, String> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(|error| format!("{}: {error}", path.display()))
}

fn written(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Where and how: what a table of another day or machine is told apart by.
fn about(args: &Args, testbed: &Testbed, words: &[String]) -> String {
    let first = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
        line.split_once(':').map_or(line.clone(), |(_, value)| value.trim().to_owned())
    };
    let (model, kernel) = (first("/proc/cpuinfo", "model name"), first("/proc/sys/kernel/osrelease", ""));
    let quoted = |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
    let words: Vec<String> = words.iter().map(quoted).collect();
    let cpus: Vec<String> = testbed.cpus.iter().map(u32::to_string).collect();
    let onto = if args.onto.is_some() { " after those of an earlier run" } else { "" };
    let day = jiff::Zoned::now().date();
    format!(
        "{day}, {model}, CPUs {}, Linux {kernel}, loopback, {}, {}, {} s a side{onto}, linerate {}: \
         `cargo bench --bench peers -- {}`",
        cpus.join(" and "),
        testbed.congestion,
        args.looks().sentence(),
        args.seconds,
        env!("CARGO_PKG_VERSION"),
        words.join(" "),
    )
}

/// What there is to race against.
fn list(args: &Args) -> Result<(), String> {
    let cpus = linerate_sys::thread::allowed_cpus().map_err(|error| error.to_string())?;
    let rows = rows::all(&cpus, args.seconds);
    for peer in PEERS.iter().filter(|peer| args.wants("", peer.name)) {
        let found = Found::look(peer);
        let here = if found.is_here { found.title() } else { format!("{}: not on the path", peer.name) };
        println!("{here}\n  {}\n  {}", peer.about, peer.get);
        for row in &rows {
            match found.play(&row.work) {
                Some(Err(why)) if found.is_here => println!("    {} ({why})", row.name),
                Some(_) => println!("    {}", row.name),
                None => {}
            }
        }
    }
    Ok(())
}
