//! What each thread of an application did over a typical unit of work, host by host.
//!
//! Each host tells by its own clock. Hosts of one machine have one clock, and stand as they were. Between machines nothing is
//! known of their clocks that is as fine as a unit: the lanes of each machine then begin where its first thread did.

use super::{label, trials};
use crate::plan::{Case, Factor, HostId, Plan, Suite};
use crate::record::{Activity, Doing, Recording, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The most settings of one case that are shown, and the most time lines of a suite.
const MOST_OF_CASE: usize = 3;
const MOST: usize = 12;

/// Parts of a thread's time, threads of a trial, and a moment of any clock, of which there are no more.
const MOST_PARTS: u64 = 80;
const MOST_THREADS: usize = 1024;
const LAST_NS: u64 = 1 << 60;

/// How many times as long what is shown may be than the units that are.
const LONGEST_BEFORE: u64 = 4;

/// What hosts did over a unit of work.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeLineValues {
    /// The case.
    pub case: Case,
    /// Its settings in words.
    pub words: String,
    /// The size of its messages.
    pub message_bytes: u64,
    /// The pass that is shown: the middle one by its units' time, of so many.
    pub pass: u32,
    /// How many passes there are.
    pub passes: usize,
    /// The first unit of work that is shown, and how many.
    pub unit: u64,
    /// How many units are shown.
    pub units: usize,
    /// The time that is shown.
    pub span_ns: f64,
    /// How many clocks the hosts have between them.
    pub clocks: usize,
    /// By host.
    pub lanes: Vec<LaneValues>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneValues {
    /// Its host.
    pub host: HostId,
    /// What it is: a stage with the number of its copy.
    pub of: String,
    /// What it did when.
    pub pieces: Vec<Piece>,
}

/// A stretch of time in which a share of it went to one thing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// From when.
    pub from_ns: f64,
    /// Until when.
    pub to_ns: f64,
    /// What it did.
    pub doing: Doing,
    /// The share before it, by which they stand upon each other.
    pub low: f64,
    /// The share with it.
    pub high: f64,
}

impl LaneValues {
    /// The time of what is shown of it that went to each thing.
    pub fn totals(&self) -> BTreeMap<Doing, f64> {
        let mut totals = BTreeMap::new();
        for piece in &self.pieces {
            *totals.entry(piece.doing).or_insert(0.0) +=
                (piece.to_ns - piece.from_ns) * (piece.high - piece.low);
        }
        totals
    }
}

/// Of each case of a suite that has any: its largest messages, and the first of its settings.
pub(super) fn values(recording: &Recording, plan: &Plan, suite: &Suite) -> Vec<TimeLineValues> {
    let mut all = Vec::new();
    for of_suite in suite.cases.iter().filter(|case| case.pattern.entry().application) {
        let mut groups: BTreeMap<&Case, BTreeMap<u64, Vec<&Trial>>> = BTreeMap::new();
        for trial in
            trials(recording, suite.case_name(&of_suite.id)).filter(|trial| watched(trial).next().is_some())
        {
            groups.entry(&trial.case).or_default().entry(trial.block.message_bytes).or_default().push(trial);
        }
        let largest =
            groups.into_iter().filter_map(|(case, sizes)| Some((case, sizes.into_iter().next_back()?)));
        all.extend(largest.take(MOST_OF_CASE).filter_map(|(case, (bytes, trials))| {
            let factors = [Factor::Rung, Factor::Settings];
            let words = factors.map(|one| label::word(recording, plan, suite, one, (case, bytes)));
            let told = words.into_iter().skip(usize::from(of_suite.rung.len() < 2));
            let words = told.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
            of_point(recording, suite.graph(&of_suite.graph).last_id(), &trials, words)
        }));
    }
    all.truncate(MOST);
    all
}

/// A thread that was watched, with its host.
type Watched<'t> = (HostId, &'t Activity);

fn watched(trial: &Trial) -> impl Iterator<Item = Watched<'_>> {
    let flows = trial.roles.iter().flat_map(|role| role.flows.iter().map(move |flow| (role.host, flow)));
    let tallies = flows.filter_map(|(host, flow)| Some((host, flow.tally.as_deref()?)));
    let all = tallies.flat_map(|(host, tally)| tally.activities.iter().map(move |one| (host, one)));
    all.filter(|(_, one)| is_sound(one)).take(MOST_THREADS)
}

/// Whether it is one that a thread can have told: a recording may say anything.
fn is_sound(one: &Activity) -> bool {
    let lasted_ns = one.lasted_ns();
    let ends = one.begun_ns.checked_add(lasted_ns);
    one.part_ns > 0
        && lasted_ns.div_ceil(one.part_ns) <= MOST_PARTS
        && one.done_ns.first().is_some_and(|first| *first > 0)
        && one.done_ns.is_sorted()
        && ends.is_some_and(|end| end < LAST_NS)
}

/// The thread whose units are those that are shown: the last stage's, or the first one's that there is.
fn key<'t>(trial: &'t Trial, last: Option<&str>) -> Option<Watched<'t>> {
    watched(trial).find(|(_, one)| last == Some(&*one.of)).or_else(|| watched(trial).next())
}

/// Of the units that were watched one more than is shown, where there are several: others still wait meanwhile.
fn shown(one: &Activity) -> Option<(usize, u64)> {
    let units = one.done_ns.len().saturating_sub(1).max(1);
    Some((units, *one.done_ns.get(units - 1)?))
}

fn of_point(
    recording: &Recording,
    last: Option<&str>,
    trials: &[&Trial],
    words: String,
) -> Option<TimeLineValues> {
    let unit_ns = |trial: &Trial| {
        let (units, ns) = shown(key(trial, last)?.1)?;
        Some(ns as f64 / units as f64)
    };
    let mut by_time: Vec<(f64, &Trial)> =
        trials.iter().filter_map(|trial| Some((unit_ns(trial)?, *trial))).collect();
    by_time.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, trial) = *by_time.get(by_time.len().saturating_sub(1) / 2)?;
    let (key_host, key) = key(trial, last)?;
    let (units, key_ns) = shown(key)?;
    let clock = |host: HostId| {
        let facts = recording.hosts.iter().find(|facts| facts.host == host);
        facts.map_or_else(|| host.to_string(), |facts| facts.machine.clone())
    };
    let clocks: BTreeSet<String> = watched(trial).map(|(host, _)| clock(host)).collect();
    let own = clock(key_host);
    // One clock: what all threads were watched in, where that is most of the units.
    let all: Vec<&Activity> =
        watched(trial).filter(|(host, _)| clock(*host) == own).map(|(_, one)| one).collect();
    // A unit of which several threads have a part is over when the last of them has its own.
    let same = all.iter().filter(|one| one.unit == key.unit);
    let over = same.filter_map(|one| Some(one.begun_ns + one.done_ns.get(units - 1)?)).max();
    let shown_ns = over.map_or(key_ns, |over| over.saturating_sub(key.begun_ns).max(key_ns));
    let from = all.iter().map(|one| one.begun_ns).max()?.max(key.begun_ns);
    let to = all.iter().map(|one| one.begun_ns + one.lasted_ns()).min()?.min(key.begun_ns + shown_ns);
    let is_common = clocks.len() == 1 && 2 * to.saturating_sub(from) >= shown_ns;
    // Ahead, the first stages were further on by then: from when they were watched, where that is not long before.
    let first = all.iter().map(|one| one.begun_ns).min()?.min(key.begun_ns);
    let end = key.begun_ns + shown_ns;
    let from = match is_common {
        true => from,
        false if end - first <= LONGEST_BEFORE * shown_ns => first,
        false => key.begun_ns,
    };
    let span_ns = if is_common { to } else { end } - from;
    let begins = |host: HostId| {
        let here = watched(trial).filter(|(other, _)| clock(*other) == clock(host));
        let first = here.map(|(_, one)| one.begun_ns).min().unwrap_or(0);
        if clock(host) == own { from } else { first }
    };
    let mut lanes: Vec<LaneValues> =
        watched(trial).map(|(host, one)| lane(host, one, trial, begins(host), span_ns)).collect();
    lanes.sort_by_key(|lane| lane.host);
    let passes = by_time.iter().map(|(_, trial)| trial.pass).collect::<BTreeSet<u32>>().len();
    Some(TimeLineValues {
        case: trial.case.clone(),
        words,
        message_bytes: trial.block.message_bytes,
        pass: trial.pass,
        passes,
        unit: key.unit,
        units,
        span_ns: span_ns as f64,
        clocks: clocks.len(),
        lanes,
    })
}

fn lane(host: HostId, one: &Activity, trial: &Trial, from: u64, span_ns: u64) -> LaneValues {
    let is_copied = watched(trial).filter(|(_, other)| other.of == one.of).count() > 1;
    let of = if is_copied { format!("{} {}", one.of, u64::from(one.copy) + 1) } else { one.of.clone() };
    LaneValues { host, of, pieces: pieces(one, from, span_ns as f64) }
}

/// What lies within the span from a moment on.
fn pieces(one: &Activity, from: u64, span_ns: f64) -> Vec<Piece> {
    let begun = one.begun_ns as f64 - from as f64;
    let (part, lasted) = (one.part_ns as f64, one.lasted_ns() as f64);
    let mut pieces: Vec<Piece> = Vec::new();
    for nth in 0..(lasted / part).ceil() as usize {
        let start = (begun + nth as f64 * part).max(0.0);
        let end = (begun + ((nth + 1) as f64 * part).min(lasted)).min(span_ns);
        if start >= end {
            continue;
        }
        let waits = one.spent.iter().map(|(doing, shares)| {
            (*doing, f64::from(shares.get(nth).copied().unwrap_or(0).min(100)) / 100.0)
        });
        let waits: Vec<(Doing, f64)> = waits.filter(|(_, share)| *share > 0.0).collect();
        let rest = (1.0 - waits.iter().map(|(_, share)| share).sum::<f64>()).max(0.0);
        let mut low = 0.0;
        for (doing, share) in std::iter::once((one.rest, rest)).chain(waits).filter(|(_, share)| *share > 0.0)
        {
            let high = (low + share).min(1.0);
            join(&mut pieces, Piece { from_ns: start, to_ns: end, doing, low, high });
            low = high;
        }
    }
    pieces
}

/// Adds a piece, or makes the one before it longer where it goes on as it was.
fn join(pieces: &mut Vec<Piece>, piece: Piece) {
    let goes_on = |one: &Piece| {
        (one.doing, one.low, one.high) == (piece.doing, piece.low, piece.high) && one.to_ns == piece.from_ns
    };
    match pieces.iter_mut().rev().take(4).find(|one| goes_on(one)) {
        Some(one) => one.to_ns = piece.to_ns,
        None => pieces.push(piece),
    }
}

#[cfg(test)]
mod tests;
