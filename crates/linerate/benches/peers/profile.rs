//! Where the time of both sides goes: samples of the CPUs' clock during one more run of each row's closest race.

use super::ours::Ours;
use super::process::Launch;
use super::race::Race;
use super::testbed::Testbed;
use super::work::Outcome;
use linerate::statistic::median;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Samples a second of each CPU; not a round number, so that no timer keeps step with it.
const HZ: u32 = 999;

/// How long perf is given to begin.
const BEGINS: Duration = Duration::from_millis(500);

/// The parts that are named.
const NAMED: usize = 6;

/// The most characters of a name.
const LONGEST: usize = 40;

/// One side of a row.
pub struct Profile {
    row: String,
    side: String,
    figure: String,
    /// What its run gave, or why there is none.
    took: Result<Took, String>,
}

/// Where the time went.
#[derive(Debug, Default, PartialEq)]
struct Took {
    /// CPUs that worked for it, in the mean over the run, its beginning and end included.
    cpus: f64,
    /// The share of the kernel.
    kernel: f64,
    /// The functions that took most, with their shares.
    parts: Vec<(String, f64)>,
}

/// A sample: whose, where, and whether that is the kernel.
#[derive(Debug, PartialEq)]
struct Sample<'t> {
    pid: u32,
    function: &'t str,
    is_kernel: bool,
}

/// Both sides of each row, against the peer that came closest or was ahead.
pub fn profiles(races: &[Race], testbed: &Testbed, ours: &mut Ours) -> Vec<Profile> {
    let mut closest: BTreeMap<&str, (f64, &Race)> = BTreeMap::new();
    for race in races {
        let ratios = race.figures().into_iter().next().map(|figure| figure.ratios()).unwrap_or_default();
        let Some(ratio) = median(ratios) else { continue };
        let known = closest.entry(&race.row.name).or_insert((ratio, race));
        *known = if ratio < known.0 { (ratio, race) } else { *known };
    }
    let mut profiles = Vec::new();
    for (_, race) in closest.into_values() {
        eprintln!("profile · {} · {}", race.row.name, race.found.title());
        let engine = ours.engine(&race.work).map_or(String::new(), |engine| format!(", {engine}"));
        profiles.push(profile(race, format!("ours{engine}"), testbed, || race.our_side(ours)));
        profiles.push(profile(race, race.found.title(), testbed, || race.their_side(testbed)));
    }
    profiles
}

fn profile(
    race: &Race,
    side: String,
    testbed: &Testbed,
    run: impl FnOnce() -> Result<Outcome, String>,
) -> Profile {
    let metric = &race.row.metrics[0];
    let ran = sampled(testbed, run);
    let figure = ran.as_ref().ok().and_then(|(outcome, _)| (metric.of)(outcome));
    let figure = figure.map_or("-".into(), |value| format!("{value:.3} {}", metric.unit));
    Profile { row: race.row.name.clone(), side, figure, took: ran.map(|(_, took)| took) }
}

/// Runs one side with perf beside it, which sees all CPUs.
fn sampled(
    testbed: &Testbed,
    run: impl FnOnce() -> Result<Outcome, String>,
) -> Result<(Outcome, Took), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("samples");
    let (at, hz) = (file.display().to_string(), HZ.to_string());
    let words = ["record", "-a", "-B", "-N", "-e", "cpu-clock", "-F", &hz, "-o", &at];
    let perf = Launch::new("perf", testbed.cpus[0], words).start()?;
    std::thread::sleep(BEGINS);
    let others = HashSet::from([0, std::process::id(), perf.pid()]);
    let begun = Instant::now();
    let outcome = run();
    let seconds = begun.elapsed().as_secs_f64();
    let ended = perf.stop();
    let text = script(&file).map_err(|why| format!("{why}: {}", ended.errors.trim()))?;
    Ok((outcome?, took(&text, &others, seconds)))
}

/// The samples as text, one a line.
fn script(file: &Path) -> Result<String, String> {
    let mut perf = Command::new("perf");
    perf.args(["script", "-F", "pid,ip,sym,dso", "-i"]).arg(file).stdin(Stdio::null());
    let output = perf.output().map_err(|error| format!("perf: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err("perf has no samples".into()) }
}

/// `1234 ffffffff81a3b2c0 _copy_from_iter ([kernel.kallsyms])`
fn sample(line: &str) -> Option<Sample<'_>> {
    let (pid, rest) = line.trim().split_once(char::is_whitespace)?;
    let (_, place) = rest.trim_start().split_once(' ')?;
    let (function, object) = place.trim().rsplit_once(" (")?;
    let is_kernel = object.starts_with("[kernel") || object.trim_end_matches(')').ends_with(".ko");
    Some(Sample { pid: pid.parse().ok()?, function, is_kernel })
}

/// What the samples say, without those of the others: who is idle, keeps the CPUs awake, or samples.
fn took(text: &str, others: &HashSet<u32>, seconds: f64) -> Took {
    let samples: Vec<Sample> =
        text.lines().filter_map(sample).filter(|sample| !others.contains(&sample.pid)).collect();
    let all = samples.len().max(1) as f64;
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in &samples {
        *counted.entry(sample.function).or_default() += 1;
    }
    let mut parts: Vec<(String, f64)> =
        counted.into_iter().map(|(name, count)| (name.to_owned(), count as f64 / all)).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts.truncate(NAMED);
    let kernel = samples.iter().filter(|sample| sample.is_kernel).count() as f64 / all;
    Took { cpus: samples.len() as f64 / f64::from(HZ) / seconds, kernel, parts }
}

/// A name as it fits into a cell: the end of it tells most.
fn short(name: &str) -> String {
    let name = name.replace('|', " ");
    match name.char_indices().rev().nth(LONGEST - 1) {
        Some((from, _)) if from > 0 => format!("…{}", &name[from..]),
        _ => name,
    }
}

/// The profiles as a table for a page, with how they came about above it.
pub fn markdown(profiles: &[Profile], about: &str) -> String {
    let mut text = format!("{about}\n\n| row | side | figure | CPUs | kernel | functions that took most |\n");
    text.push_str("|---|---|---:|---:|---:|---|\n");
    for Profile { row, side, figure, took } in profiles {
        let told = match took {
            Ok(took) => {
                let part =
                    |(name, share): &(String, f64)| format!("`{}` {:.0} %", short(name), 100.0 * share);
                let parts: Vec<String> = took.parts.iter().map(part).collect();
                format!("{:.2} | {:.0} % | {}", took.cpus, 100.0 * took.kernel, parts.join(", "))
            }
            Err(why) => format!("- | - | {why}"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {row} | {side} | {figure} | {told} |");
    }
    text
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    const TEXT: &str = "\
      12 ffffffff81a3b2c0 _copy_from_iter ([kernel.kallsyms])
      12     7f0012345678 __send (/usr/lib/x86_64-linux-gnu/libc.so.6)
      13 ffffffff81a3b2c0 _copy_from_iter ([kernel.kallsyms])
      13     55d012345678 <a::B as c::D>::run (/tmp/a folder/peers)
       0 ffffffff81a00000 default_idle ([kernel.kallsyms])
       7     55d012345678 spin (/tmp/peers)
";

    #[test]
    fn samples_of_others_are_left_out() {
        let took = took(TEXT, &HashSet::from([0, 7]), 2.0);
        assert_eq!(took.kernel, 0.5);
        assert_eq!(took.parts[0], ("_copy_from_iter".to_owned(), 0.5));
        assert_eq!(took.parts.len(), 3);
        assert!((took.cpus - 4.0 / f64::from(HZ) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_samples_name_may_have_spaces() {
        let last = sample(TEXT.lines().nth(3).unwrap()).unwrap();
        assert_eq!((last.pid, last.function, last.is_kernel), (13, "<a::B as c::D>::run", false));
        for wrong in ["", "x", "12", "12 ff", "12 ff f", "x ff f (g)"] {
            assert_eq!(sample(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(short("tcp_ack"), "tcp_ack");
        let long = short(
            "linerate::pattern::lossy::stream::<impl linerate::pattern::lossy::Unreliable<L>>::receive",
        );
        assert!(long.starts_with('…') && long.ends_with("::receive") && long.chars().count() == 41, "{long}");
    }

    #[test]
    fn a_side_that_did_not_run_says_why() {
        let failed = Profile {
            row: "row".into(),
            side: "ours".into(),
            figure: "-".into(),
            took: Err("perf has no samples".into()),
        };
        let page = markdown(&[failed], "a day");
        assert!(page.ends_with("| row | ours | - | - | - | perf has no samples |\n"), "{page}");
    }
}
