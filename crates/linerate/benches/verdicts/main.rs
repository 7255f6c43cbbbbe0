//! How often `linerate diagnose` names the right cause: faults drawn by chance, each diagnosed as a user would.
//!
//!     cargo bench --bench verdicts -- [--seed N] [--profile NAME] [--minutes N] [--live COUNT | --ssh COUNT | --simulated COUNT]
//!
//! Without a count the live draw has every fault of `linerate list faults` once at a random strength on a random path, 20
//! pairs and 30 healthy paths. `--ssh` takes the same draws between the two hosts of a lab by sshd, as a user without
//! privilege and from the first one (it needs root to make that user). What was diagnosed is kept in target/verdicts by draw
//! and seed, and a draw that was stopped goes on there; `--minutes` stops it by itself. Recordings of wrong first verdicts are
//! kept beside it. A diagnosis that fails counts as a wrong one, and is made again where the draw goes on. It prints the share
//! of right first verdicts, of right ones among the first two, of healthy paths called healthy, and of faults that cost nothing
//! (the lab carries what its link leaves) of which no other is named, each with its interval; and what was named for what.
//! Nothing here decides a test.
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod by_ssh;
mod planted;

use by_ssh::Hosts;
use linerate::plan::Target;
use linerate::unit::percent;
use linerate::vocabulary::CAUSES;
use planted::{FAULTS, NOTHING, PATHS, between};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What is said where no fault is named.
const HEALTHY: &str = "healthy";

/// What stands for a diagnosis that failed: it is no right one.
const FAILED: &str = "failed";

/// A lab that carries so much of what its link leaves for payload has nothing that a fault costs.
const FULL: f64 = 0.97;

/// What a link leaves where nobody says it: of 1514 bytes of Ethernet 1448 are payload.
const PAYLOAD: f64 = 1448.0 / 1514.0;

/// Pairs and healthy paths of a whole live draw.
const PAIRS: usize = 20;
const HEALTHY_PATHS: usize = 30;

/// Of a simulated draw one in so many is healthy, and one in so many a pair.
const ONE_HEALTHY_IN: usize = 4;
const ONE_PAIR_IN: usize = 4;

/// Causes that the made-up machine does not feel: it has no cipher or library on this rung, and is faster than any pace that is tried.
const NOT_FELT: &[&str] = &["slow-cipher", "eager-limit", "library-buffers", "daemon-route"];

/// Causes that show where paths are slow alone, and how many times more the made-up machine is slowed then: no pace is tried
/// near its own rate.
const SLOW_PATHS: &[(&str, f64)] = &[("burst-drops", 8.0)];

/// How much a made-up cause slows, from and to.
const STRENGTHS: [f64; 2] = [1.1, 5.0];

/// One diagnosis of a draw.
struct Draw {
    /// What was put in, in words.
    truth: String,
    /// For each fault that was put in the causes that may be named.
    causes: Vec<Vec<String>>,
    arguments: Vec<String>,
    /// The seed of its diagnosis.
    seed: u32,
}

/// What a diagnosis said.
#[derive(Clone)]
struct Answer {
    /// The faults that it names, the first one first.
    named: Vec<String>,
    /// Whether the lab carried all that its link leaves, so that what was put in costs nothing.
    is_whole: bool,
}

/// Between what hosts.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Live,
    Ssh,
    Simulated,
}

const KINDS: &[(&str, Kind)] = &[("live", Kind::Live), ("ssh", Kind::Ssh), ("simulated", Kind::Simulated)];

/// What the command line asks for.
struct Asked {
    seed: u64,
    profile: String,
    kind: Kind,
    count: usize,
    minutes: u64,
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}: see the top of benches/verdicts/main.rs");
            return ExitCode::from(2);
        }
    };
    let kind = KINDS.iter().find(|(_, kind)| *kind == asked.kind).map_or("", |(name, _)| *name);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../verdicts");
    let file = folder.join(format!("{kind}-{}-{}.jsonl", asked.profile, asked.seed));
    let wrong = file.with_extension("wrong");
    if let Err(error) = fs::create_dir_all(&wrong) {
        eprintln!("{}: {error}", wrong.display());
        return ExitCode::FAILURE;
    }
    let known = answers(&file);
    let mut answers = Vec::new();
    let begun = Instant::now();
    for draw in draws(&asked) {
        let is_late = begun.elapsed() >= Duration::from_secs(asked.minutes.saturating_mul(60));
        let answer = match known.get(&draw.key()) {
            Some(answer) => answer.clone(),
            None if is_late => continue,
            None => {
                let answer = diagnosed(&draw, &asked, &wrong);
                println!("{:<48} {}", draw.truth, answer.named.join(", "));
                // What failed is tried again where the draw goes on.
                if answer.named.first().is_none_or(|named| named != FAILED) {
                    keep(&file, &draw, &answer);
                }
                answer
            }
        };
        answers.push((draw, answer));
    }
    told(&asked, kind, &answers);
    println!("\n  recordings of wrong first verdicts: {}", wrong.display());
    ExitCode::SUCCESS
}

fn asked() -> Result<Asked, String> {
    let mut asked =
        Asked { seed: 1, profile: "quick".into(), kind: Kind::Live, count: usize::MAX, minutes: u64::MAX };
    // Cargo says --bench to every bench.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} has no value"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("{argument} {value}: no number"));
        match argument.as_str() {
            "--seed" => asked.seed = number()? as u64,
            "--profile" => asked.profile.clone_from(&value),
            "--minutes" => asked.minutes = number()? as u64,
            other => {
                let named = KINDS.iter().find(|(name, _)| other.strip_prefix("--") == Some(*name));
                let (_, kind) = named.ok_or_else(|| format!("{argument} is no option"))?;
                (asked.kind, asked.count) = (*kind, number()?);
            }
        }
    }
    Ok(asked)
}

/// Everything that is diagnosed: of equal seeds equal draws.
fn draws(asked: &Asked) -> Vec<Draw> {
    let mut random = ChaCha8Rng::seed_from_u64(asked.seed);
    if asked.kind == Kind::Simulated {
        return (0..asked.count).map(|number| simulated(number, &mut random)).collect();
    }
    let mut planted: Vec<Vec<usize>> = (0..FAULTS.len()).map(|at| vec![at]).collect();
    // No fault is put in twice.
    planted.extend((0..PAIRS).map(|_| {
        let (one, other) = (random.random_range(0..FAULTS.len()), random.random_range(0..FAULTS.len()));
        vec![one, if one == other { (other + 1) % FAULTS.len() } else { other }]
    }));
    planted.extend((0..HEALTHY_PATHS).map(|_| Vec::new()));
    let mut draws: Vec<Draw> = planted.iter().map(|faults| live(faults, &mut random)).collect();
    // A short draw is a sample of all of it.
    for at in (1..draws.len()).rev() {
        draws.swap(at, random.random_range(0..=at));
    }
    draws.truncate(asked.count);
    draws
}

/// Faults on a path of a lab.
fn live(faults: &[usize], random: &mut ChaCha8Rng) -> Draw {
    let path = PATHS[random.random_range(0..PATHS.len())];
    let mut arguments = vec![if path.is_empty() { "lab".to_owned() } else { format!("lab:{path}") }];
    let mut causes = Vec::new();
    let mut names = Vec::new();
    for planted in faults.iter().map(|at| &FAULTS[*at]) {
        arguments.extend((planted.options)(random.random::<f64>()));
        let may_be: Vec<String> = planted.causes.iter().map(|cause| (*cause).to_owned()).collect();
        causes.push(may_be);
        names.push(planted.fault);
    }
    causes.retain(|may_be| may_be != NOTHING);
    let what = if names.is_empty() { HEALTHY.to_owned() } else { names.join(" + ") };
    Draw { truth: what, causes, arguments, seed: random.random() }
}

/// Causes on a made-up machine.
fn simulated(number: usize, random: &mut ChaCha8Rng) -> Draw {
    let able: Vec<&str> =
        CAUSES.iter().filter(|cause| cause.is_fault && !cause.undoes).map(|cause| cause.name).collect();
    let able: Vec<&str> = able.into_iter().filter(|name| !NOT_FELT.contains(name)).collect();
    let count = match number {
        number if number.is_multiple_of(ONE_HEALTHY_IN) => 0,
        number if number % ONE_PAIR_IN == 1 => 2,
        _ => 1,
    };
    let mut names: Vec<&str> = (0..count).map(|_| able[random.random_range(0..able.len())]).collect();
    names.dedup();
    let planted = names.iter().map(|name| {
        let more = SLOW_PATHS.iter().find(|(slow, _)| slow == name).map_or(1.0, |(_, more)| *more);
        format!("{name}/{:.2}", more * between(STRENGTHS[0], STRENGTHS[1], random.random::<f64>()))
    });
    let planted: Vec<String> = planted.collect();
    let cause = if planted.is_empty() { "none".into() } else { planted.join("+") };
    let noise = between(0.5, 4.0, random.random::<f64>());
    let delay = between(0.05, 10.0, random.random::<f64>());
    let target =
        format!("simulated:noise={noise:.2}%,between={:.2}%,delay={delay:.2}ms,cause={cause}", noise / 2.0);
    let truth = if names.is_empty() { HEALTHY.to_owned() } else { names.join(" + ") };
    let causes = names.iter().map(|name| vec![(*name).to_owned()]).collect();
    Draw { truth, causes, arguments: vec![target], seed: random.random() }
}

impl Draw {
    /// What no other draw has: a table that grew gives other draws, and what was answered of the old ones is not theirs.
    fn key(&self) -> String {
        format!("{} {}", self.seed, self.arguments.join(" "))
    }

    /// What its link leaves for payload; none where it has no rate.
    fn expected_bps(&self) -> Option<f64> {
        match self.arguments.first()?.parse().ok()? {
            Target::Lab(topology) => topology.shape.rate.map(|rate| PAYLOAD * rate.0),
            _ => None,
        }
    }

    /// Whether one of its faults may be named so.
    fn may_be(&self, named: &str) -> bool {
        self.causes.iter().flatten().any(|cause| cause == named)
    }

    /// Whether the first verdict is right: nothing of a healthy path, that or nothing of what costs nothing.
    fn is_right(&self, answer: &Answer) -> bool {
        let first = answer.named.first().map_or("", String::as_str);
        let may_be_healthy = self.causes.is_empty() || answer.is_whole;
        self.may_be(first) || (may_be_healthy && first == HEALTHY)
    }
}

/// What a diagnosis says. Its recording is moved to a folder where its first verdict is a wrong one.
fn diagnosed(draw: &Draw, asked: &Asked, wrong: &Path) -> Answer {
    attempt(draw, asked, wrong).unwrap_or_else(|why| {
        eprintln!("{}: {why}", draw.arguments.join(" "));
        Answer { named: vec![FAILED.into()], is_whole: false }
    })
}

fn attempt(draw: &Draw, asked: &Asked, wrong: &Path) -> Result<Answer, String> {
    let recordings = TempDir::new().map_err(|error| error.to_string())?;
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let hosts = (asked.kind == Kind::Ssh).then(|| Hosts::up(&draw.arguments, program)).transpose()?;
    let mut command = match &hosts {
        Some(hosts) => hosts.diagnosis(),
        None => {
            let mut command = Command::new(program);
            command.arg("diagnose").args(&draw.arguments);
            command
        }
    };
    let output = hosts.as_ref().map_or_else(|| recordings.path().to_owned(), Hosts::output);
    let seed = draw.seed.to_string();
    let options = ["--profile", &asked.profile, "--seed", &seed, "--quiet", "--format", "json", "--output"];
    command.args(options).arg(&output).env("LINERATE_CONFIG", "").stderr(Stdio::piped());
    let done = command.output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&done.stdout)
        .map_err(|_| String::from_utf8_lossy(&done.stderr).trim().to_owned())?;
    let of_grade = |grade: &str| {
        let verdicts = report["verdicts"].as_array().into_iter().flatten();
        let named = verdicts.filter(move |one| one["is_fault"] == true && one["grade"] == *grade);
        named.filter_map(|one| one["cause"].as_str().map(str::to_owned)).collect::<Vec<String>>()
    };
    let mut named = [of_grade("proved"), of_grade("consistent")].concat();
    if named.is_empty() {
        let word = if done.status.code() == Some(0) { HEALTHY } else { "cannot tell" };
        named.push(word.into());
    }
    let arms = &report["arms"];
    let expected = arms["expected_bps"].as_f64().or_else(|| draw.expected_bps());
    let share = arms["base"]["median"].as_f64().zip(expected);
    let is_whole = share.is_some_and(|(carried, expected)| carried >= FULL * expected);
    let answer = Answer { named, is_whole };
    if !draw.is_right(&answer) {
        kept(&output, wrong, draw).map_err(|error| format!("{}: {error}", wrong.display()))?;
    }
    Ok(answer)
}

/// Copies a draw's recordings to a folder of others.
fn kept(from: &Path, to: &Path, draw: &Draw) -> std::io::Result<()> {
    for file in fs::read_dir(from)? {
        fs::copy(file?.path(), to.join(format!("{}-{}.jsonl", draw.truth.replace(' ', "-"), draw.seed)))?;
    }
    Ok(())
}

/// What an earlier run found, by what was drawn.
fn answers(file: &Path) -> BTreeMap<String, Answer> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = |line: Value| {
        let named = line["named"].as_array()?.iter().filter_map(|one| one.as_str().map(str::to_owned));
        let answer = Answer { named: named.collect(), is_whole: line["is_whole"].as_bool()? };
        Some((line["key"].as_str()?.to_owned(), answer))
    };
    lines.filter_map(answer).collect()
}

fn keep(file: &Path, draw: &Draw, answer: &Answer) {
    let line = json!({
        "key": draw.key(), "truth": draw.truth, "named": answer.named, "is_whole": answer.is_whole
    });
    let opened = OpenOptions::new().create(true).append(true).open(file);
    if let Err(error) = opened.and_then(|mut file| writeln!(file, "{line}")) {
        eprintln!("{}: {error}", file.display());
    }
}

/// The shares with their intervals, and what was named for what.
fn told(asked: &Asked, kind: &str, answers: &[(Draw, Answer)]) {
    let is_healthy = |answer: &Answer| answer.named.first().is_some_and(|one| one == HEALTHY);
    let (healthy, ill): (Vec<_>, Vec<_>) = answers.iter().partition(|(draw, _)| draw.causes.is_empty());
    // A fault that costs nothing is no cause of anything: what is named for it has to be that, or nothing.
    let (free, ill): (Vec<_>, Vec<_>) = ill.into_iter().partition(|(_, answer)| answer.is_whole);
    let is_right = |(draw, answer): &&&(Draw, Answer), most: usize| {
        answer.named.iter().take(most).any(|one| draw.may_be(one))
    };
    let first = ill.iter().filter(|one| is_right(one, 1)).count();
    let two = ill.iter().filter(|one| is_right(one, 2)).count();
    let well = healthy.iter().filter(|(_, answer)| is_healthy(answer)).count();
    let unharmed = free.iter().filter(|(draw, answer)| draw.is_right(answer)).count();
    println!("\n{kind} draw, seed {}, profile {}: {} diagnoses", asked.seed, asked.profile, answers.len());
    for (what, count, of) in [
        ("right first verdicts", first, ill.len()),
        ("right among the first two", two, ill.len()),
        ("healthy called healthy", well, healthy.len()),
        ("faults that cost nothing", unharmed, free.len()),
    ] {
        let (low, high) = wilson(count, of);
        println!("  {what:<27} {count} of {of}, 95 % interval {} to {}", percent(low), percent(high));
    }
    let mut matrix: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (draw, answer) in answers {
        let is_free = answer.is_whole && !draw.causes.is_empty();
        let truth = format!("{}{}", draw.truth, if is_free { ", which costs nothing" } else { "" });
        *matrix.entry((truth, answer.named.first().map_or("", String::as_str))).or_default() += 1;
    }
    println!("\n  what was put in -> what was named first");
    matrix.iter().for_each(|((truth, named), count)| println!("  {count:>4}  {truth:<48} -> {named}"));
}

/// The interval of a share: E. B. Wilson, Journal of the American Statistical Association 22, 1927.
fn wilson(count: usize, of: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let (n, z2) = (of.max(1) as f64, Z * Z);
    let share = count as f64 / n;
    let middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}
