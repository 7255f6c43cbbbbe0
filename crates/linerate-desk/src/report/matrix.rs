//! A matrix of hosts: its entry in the report, and its text: who is named and why, the cells small, what sets hosts apart.

use super::Page;
use super::block::borderless;
use super::line::{BOLD, INDENT, TEXT_WIDTH, marked, wrapped};
use super::shape::*;
use super::text::heading;
use crate::analysis::Verdict;
use crate::analysis::matrix::{
    Confirmed, Difference, Effects, Judged, Matrix, Named, Outcome, Part, Segments, Suspect, differences,
    matrix, round_trips,
};
use crate::plan::{Case, HostId, HostPair, HostSet, Screening};
use crate::record::{NotMeasured, Recording};
use crate::statistic::{Estimate, Shift, median};
use crate::unit::{BitRate, Nanoseconds, counted, percent};
use std::collections::BTreeMap;

/// The entry of a recording; none of one that screens nobody.
pub(super) fn entry(recording: &Recording) -> Option<MatrixReport> {
    let matrix = matrix(recording)?;
    let screening = &matrix.screening;
    let differences = differences(recording);
    let told = &matrix.told;
    let of_outcome = |outcome: Outcome| {
        let here = told.judged.iter().filter(move |one| one.outcome == outcome);
        here.map(|one| suspect(one, screening)).collect::<Vec<_>>()
    };
    let cells = matrix.cells.iter().map(|cell| CellEntry {
        from: cell.pair.from,
        to: cell.pair.to,
        throughput_bps: cell.throughput_bps,
        round_trip_ns: cell.round_trip_ns,
        sent_again: cell.segments.and_then(Segments::share),
        bidirectional: cell.bidirectional,
    });
    Some(MatrixReport {
        verdict: told.verdict,
        rounds: screening.rounds,
        bidirectional: screening.bidirectional,
        named: told.named.iter().map(|one| named(one, screening, &differences)).collect(),
        suspected: of_outcome(Outcome::Open),
        cleared: of_outcome(Outcome::Cleared),
        doubt: told.doubt.clone().map(|(why, takes)| DoubtEntry { why, takes }),
        failed: matrix.failed.iter().map(|(pair, why)| failed_pair(*pair, why, screening)).collect(),
        seen: told.seen,
        noise: told.screened.effects.noise,
        usual_bps: matrix.usual_bps,
        usual_round_trip_ns: matrix.usual_round_trip_ns,
        found_groups: found_groups(screening),
        hosts: hosts(recording, &matrix),
        cells: cells.collect(),
        inventory: differences.iter().map(|one| difference(one, screening)).collect(),
    })
}

fn failed_pair(pair: HostPair, why: &str, screening: &Screening) -> FailedPairEntry {
    let [from, to] = [pair.from, pair.to].map(|host| screening.name_of(host));
    FailedPairEntry { from, to, why: why.into() }
}

fn found_groups(screening: &Screening) -> Vec<FoundGroupEntry> {
    let entry = |group: &HostSet| FoundGroupEntry {
        name: group.name.clone(),
        hosts: group.hosts.iter().map(|host| screening.name_of(*host)).collect(),
    };
    screening.groups.iter().filter(|_| screening.found).map(entry).collect()
}

fn ratio(shift: Shift) -> Estimate {
    Estimate {
        median: shift.estimate.exp(),
        low: shift.low.map(f64::exp),
        high: shift.high.map(f64::exp),
        n: shift.n.1,
    }
}

fn named(one: &Named, screening: &Screening, differences: &[Difference]) -> NamedEntry {
    let confirmed = match one.confirmed {
        Confirmed::Alone => "alone",
        Confirmed::UnderLoad => "under-load",
    };
    let of_hosts = differences.iter().filter(|difference| one.hosts.contains(&difference.host));
    NamedEntry {
        kind: one.kind.name().into(),
        hosts: one.hosts.iter().map(|host| screening.name_of(*host)).collect(),
        group: one.group.and_then(|group| Some(screening.groups.get(group)?.name.clone())),
        found: one.group.is_some() && screening.found,
        sends: one.group.map(|_| one.sends),
        ratio: ratio(one.shift),
        confirmed: confirmed.into(),
        slow_partners: one.slow_partners.0,
        partners: one.slow_partners.1,
        likely: of_hosts.map(|one| set_apart(&difference(one, screening))).collect(),
    }
}

fn suspect(one: &Judged, screening: &Screening) -> SuspectEntry {
    let Suspect { part, effect, .. } = one.suspect;
    let name = |host: HostId| screening.name_of(host);
    let of_group =
        |group: usize| screening.groups.get(group).map_or(String::new(), |group| group.name.clone());
    let (kind, hosts) = match part {
        Part::Sends(host) => ("sender", vec![name(host)]),
        Part::Receives(host) => ("receiver", vec![name(host)]),
        Part::Link(HostPair { from, to }) => ("link", vec![name(from), name(to)]),
        Part::GroupSends(group) | Part::GroupReceives(group) => ("group", vec![of_group(group)]),
    };
    let ratio = one.alone.or(one.loaded).map(ratio);
    SuspectEntry { kind: kind.into(), hosts, screened: effect.exp(), ratio }
}

fn hosts(recording: &Recording, matrix: &Matrix) -> Vec<MatrixHostEntry> {
    let Matrix { screening, told, .. } = matrix;
    let effects = &told.screened.effects;
    let trips = round_trips(recording);
    let trips = Effects::new(matrix.hosts, &trips);
    let share = |effects: &[Option<f64>], host: usize| effects.get(host).copied().flatten().map(f64::exp);
    let one = |host: usize| {
        let id = HostId(host as u16);
        // Of round trips a second: one over it is the round trip.
        let slower = share(&trips.sends, host).zip(share(&trips.receives, host));
        MatrixHostEntry {
            host: id,
            name: screening.name_of(id),
            group: screening.group_of(id).map(|group| screening.groups[group].name.clone()),
            sends: share(&effects.sends, host),
            receives: share(&effects.receives, host),
            round_trips: slower.map(|(sends, receives)| 1.0 / (sends * receives).sqrt()),
            sent_to: effects.sent_to.get(host).copied().unwrap_or(0),
            had_from: effects.had_from.get(host).copied().unwrap_or(0),
            failed: failed(recording, id),
        }
    };
    (0..matrix.hosts).map(one).collect()
}

/// Why a host has no cells; none of one that has some.
fn failed(recording: &Recording, host: HostId) -> Option<String> {
    let of_host = |case: &Case| case.pairs.has(host);
    if let Some(gone) = recording.unavailable.iter().find(|not| not.lost_host() == Some(host)) {
        return Some(gone.reason.why.clone());
    }
    let is_failure =
        |not: &&NotMeasured| not.case.as_deref().is_some_and(of_host) && not.after_steps.is_some();
    let last = recording.unavailable.iter().rev().find(is_failure)?;
    let is_measured_later =
        recording.trials.iter().any(|trial| of_host(&trial.case) && Some(trial.step) > last.after_steps);
    (!is_measured_later).then(|| last.reason.why.clone())
}

fn difference(one: &Difference, screening: &Screening) -> DifferenceEntry {
    DifferenceEntry {
        host: screening.name_of(one.host),
        what: one.what.clone(),
        value: one.value.clone(),
        usual: one.usual.clone(),
        others: one.others,
    }
}

/// `MTU 1500, 7 others 9000`.
fn set_apart(one: &DifferenceEntry) -> String {
    match one.others {
        0 => format!("{} {}, and {}", one.what, one.value, one.usual),
        others => format!("{} {}, {} {}", one.what, one.value, counted(others, "other"), one.usual),
    }
}

/// `7 rounds`; of both directions at once a round has two partners.
fn rounds(matrix: &MatrixReport) -> String {
    match matrix.bidirectional {
        false => counted(matrix.rounds, "round"),
        true => format!("rounds of {} each, both directions at once", counted(matrix.rounds, "partner")),
    }
}

/// The answer in words.
pub(super) fn sentence(matrix: &MatrixReport) -> String {
    let (met, gone): (Vec<_>, Vec<_>) = matrix.hosts.iter().partition(|host| host.failed.is_none());
    let (hosts, rounds) = (counted(met.len(), "host"), rounds(matrix));
    let gone: Vec<&str> = gone.into_iter().map(|host| host.name.as_str()).collect();
    let gone = match gone.as_slice() {
        [] => String::new(),
        gone => format!(" Not measured: {}.", gone.join(", ")),
    };
    let told = match (matrix.verdict, &matrix.doubt) {
        (Verdict::Different, _) => matrix.named.iter().map(said).collect::<Vec<_>>().join(" "),
        (Verdict::CannotTell, Some(doubt)) => {
            format!("Whether one of {hosts} is slow cannot be told: {}.", doubt.why)
        }
        (Verdict::CannotTell | Verdict::Same, _) => {
            let seen = matrix.seen.map_or(String::new(), |seen| {
                format!(": a host slower by {} would have stood apart in 19 of 20 runs", percent(seen))
            });
            format!("Nobody is slow among {hosts} in {rounds}{seen}.")
        }
    };
    told + &gone
}

/// Hosts of a group that are listed.
const MOST_LISTED: usize = 16;

/// `a, b, c`; of very many the first ones.
fn some_of(hosts: &[String]) -> String {
    let listed = hosts.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", ");
    match hosts.len().saturating_sub(MOST_LISTED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Groups that were found, in words: `found-1: a, b, c`.
pub(super) fn groups_found(matrix: &MatrixReport) -> Option<String> {
    let of = |group: &FoundGroupEntry| format!("{}: {}", group.name, some_of(&group.hosts));
    let all: Vec<String> = matrix.found_groups.iter().map(of).collect();
    (!all.is_empty()).then(|| {
        format!("Groups found from the data, as no names and no --groups tell any: {}.", all.join("; "))
    })
}

/// Fewer segments sent again than this part are told of nobody, and of how many cells they are told.
const SOME_AGAIN: f64 = 0.001;
const MOST_AGAIN: usize = 4;

/// The cells of which most was sent again: what is lost without costing rate shows here alone.
pub(super) fn sent_again(matrix: &MatrixReport) -> Option<String> {
    let name = |host: HostId| {
        matrix.hosts.iter().find(|one| one.host == host).map_or(host.to_string(), |one| one.name.clone())
    };
    let shares = || matrix.cells.iter().filter_map(|cell| Some((cell, cell.sent_again?)));
    let mut worst: Vec<(&CellEntry, f64)> = shares().filter(|(_, share)| *share >= SOME_AGAIN).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    let usual = median(shares().map(|(_, share)| share)).filter(|_| !worst.is_empty())?;
    let told = worst
        .iter()
        .take(MOST_AGAIN)
        .map(|(cell, share)| format!("{} to {} {}", name(cell.from), name(cell.to), percent(*share)));
    let told = told.collect::<Vec<_>>().join(", ");
    Some(format!("Segments sent again, of all that were sent: {told}; the usual cell {}.", percent(usual)))
}

/// What each kind does, and what confirmed it, in words.
const DOES: &[(&str, &str)] =
    &[("sender", "sends"), ("receiver", "receives"), ("link", "passes on"), ("host", "sends and receives")];

/// `node41 sends at 60 % [57 %, 63 %] of what others do: 14 of 16 partners, confirmed with nobody else sending.`
pub(super) fn said(one: &NamedEntry) -> String {
    let who = match (one.kind.as_str(), &one.group) {
        ("link", _) => one.hosts.join(" to "),
        (_, Some(group)) if one.found => format!("{group} ({}, found from the data)", some_of(&one.hosts)),
        (_, Some(group)) => format!("{group} ({})", counted(one.hosts.len(), "host")),
        _ => one.hosts.join(", "),
    };
    let does = match one.sends {
        Some(true) => "sends to the others",
        Some(false) => "receives from the others",
        None => DOES.iter().find(|(kind, _)| *kind == one.kind).map_or("", |(_, does)| does),
    };
    let confirmed = match one.confirmed.as_str() {
        "alone" => "confirmed with nobody else sending",
        _ => "only while others send: something is shared",
    };
    let Estimate { median, low, high, .. } = one.ratio;
    let ends =
        low.zip(high).map_or(String::new(), |(low, high)| format!(" [{}, {}]", percent(low), percent(high)));
    format!(
        "{who} {does} at {}{ends} of what others do: {} of {}, {confirmed}.",
        percent(median),
        one.slow_partners,
        counted(one.partners, if one.group.is_some() { "pair" } else { "partner" })
    )
}

/// Writes it for a page.
pub(super) fn render(report: &Report, matrix: &MatrixReport, page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).min(TEXT_WIDTH);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wrapped(&sentence(matrix), width).iter().map(|line| marked(line, BOLD, page)));
    lines.push(String::new());
    let how = match matrix.bidirectional {
        false => format!("{} of disjoint pairs", rounds(matrix)),
        true => format!("disjoint pairs in {}", rounds(matrix)),
    };
    lines.extend(wrapped(&heading(report, Some(how)), width));
    for block in [likely(matrix), cells(matrix, width), margins(matrix), beside(matrix)] {
        if !block.is_empty() {
            lines.push(String::new());
            lines.extend(block.iter().flat_map(|line| kept_or_wrapped(line, width)));
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Tables stay as they are.
fn kept_or_wrapped(line: &str, width: usize) -> Vec<String> {
    let is_table = line.starts_with(INDENT);
    if is_table { vec![line.to_owned()] } else { wrapped(line, width) }
}

/// What sets apart who is named.
fn likely(matrix: &MatrixReport) -> Vec<String> {
    let of_one = |one: &NamedEntry| {
        let causes = one.likely.join("; ");
        (!causes.is_empty()).then(|| {
            format!(
                "{} has what others have not, which may be why and is no proof: {causes}.",
                one.hosts.join(", ")
            )
        })
    };
    matrix.named.iter().filter_map(of_one).collect()
}

/// More hosts than these get one sign a cell.
const MOST_NUMBERS: usize = 14;

/// Cells as shares of the usual one, in per cent; of many hosts in tenths.
fn cells(matrix: &MatrixReport, width: usize) -> Vec<String> {
    let Some(usual) = matrix.usual_bps else { return Vec::new() };
    let rates: BTreeMap<(HostId, HostId), f64> = matrix
        .cells
        .iter()
        .filter_map(|cell| Some(((cell.from, cell.to), cell.throughput_bps? / usual)))
        .collect();
    let trip =
        matrix.usual_round_trip_ns.map_or(String::new(), |ns| format!(", a round trip {}", Nanoseconds(ns)));
    let both = if matrix.bidirectional { " while as much goes back" } else { "" };
    let title = format!("The usual cell is {}{both}{trip}.", BitRate(usual));
    if matrix.hosts.len() > MOST_NUMBERS || (matrix.hosts.len() + 2) * 5 > width {
        return signs(matrix, &rates, title);
    }
    let mut table = borderless(None);
    let names = matrix.hosts.iter().map(|host| host.host.to_string());
    table.set_header(std::iter::once("% of that".to_owned()).chain(names.map(|name| format!("to {name}"))));
    for from in &matrix.hosts {
        let cell = |to: &MatrixHostEntry| {
            rates.get(&(from.host, to.host)).map_or(String::new(), |share| format!("{:.0}", 100.0 * share))
        };
        let name = if from.name == from.host.to_string() {
            from.name.clone()
        } else {
            format!("{} {}", from.host, from.name)
        };
        table.add_row(std::iter::once(format!("from {name}")).chain(matrix.hosts.iter().map(cell)));
    }
    std::iter::once(title).chain(table.lines().map(|line| format!("{INDENT}{}", line.trim_end()))).collect()
}

/// A sign a cell: the tenths of the usual that it has, a point for all of them.
fn signs(matrix: &MatrixReport, rates: &BTreeMap<(HostId, HostId), f64>, title: String) -> Vec<String> {
    let sign = |from: HostId, to: HostId| match rates.get(&(from, to)) {
        None => ' ',
        Some(share) if *share >= 0.95 => '.',
        Some(share) => char::from_digit((10.0 * share).round() as u32, 10).unwrap_or('9'),
    };
    let longest = matrix.hosts.iter().map(|host| host.name.len()).max().unwrap_or(0);
    let row = |from: &MatrixHostEntry| {
        let cells: String = matrix.hosts.iter().map(|to| sign(from.host, to.host)).collect();
        format!("{INDENT}{:>longest$} {cells}", from.name)
    };
    let how = format!(
        "{title} A row sends, a column receives; `.` is usual, 9 is nine tenths of it and so on, a blank was not measured."
    );
    std::iter::once(how).chain(matrix.hosts.iter().map(row)).collect()
}

/// Rows of the table of marginals at most.
const MOST_ROWS: usize = 12;

/// Rows and columns of the hosts, those first that are slowest.
fn margins(matrix: &MatrixReport) -> Vec<String> {
    let mut hosts: Vec<&MatrixHostEntry> =
        matrix.hosts.iter().filter(|host| host.sends.or(host.receives).is_some()).collect();
    let worst = |host: &&MatrixHostEntry| host.sends.unwrap_or(1.0).min(host.receives.unwrap_or(1.0));
    hosts.sort_by(|a, b| worst(a).total_cmp(&worst(b)));
    if hosts.is_empty() {
        return Vec::new();
    }
    let mut table = borderless(None);
    table.set_header(["host", "sends", "receives", "round trips", "partners"]);
    let share = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.0} %", 100.0 * share));
    for host in hosts.iter().take(MOST_ROWS) {
        let partners = host.sent_to.max(host.had_from).to_string();
        table.add_row([
            host.name.clone(),
            share(host.sends),
            share(host.receives),
            share(host.round_trips),
            partners,
        ]);
    }
    let more = hosts.len().saturating_sub(MOST_ROWS);
    let title = match more {
        0 => "The hosts, the slowest first, as shares of the usual:".to_owned(),
        more => format!("The {MOST_ROWS} slowest hosts of {}, as shares of the usual:", MOST_ROWS + more),
    };
    std::iter::once(title).chain(table.lines().map(|line| format!("{INDENT}{}", line.trim_end()))).collect()
}

/// What is to be known beside it, each a sentence.
fn beside(matrix: &MatrixReport) -> Vec<String> {
    let mut lines: Vec<String> = groups_found(matrix).into_iter().chain(sent_again(matrix)).collect();
    let who = |one: &SuspectEntry| format!("{} {}", one.kind, one.hosts.join(" to "));
    let all = |some: &[SuspectEntry]| some.iter().map(who).collect::<Vec<_>>().join(", ");
    if !matrix.cleared.is_empty() {
        lines.push(format!("As fast as the others in fresh trials: {}.", all(&matrix.cleared)));
    }
    if !matrix.suspected.is_empty() {
        lines.push(format!("Neither cleared nor confirmed: {}.", all(&matrix.suspected)));
    }
    if let Some(doubt) = &matrix.doubt {
        lines.push(format!("What it would take: {}.", doubt.takes));
    }
    lines.extend(
        matrix.failed.iter().map(|one| format!("{} to {} passed nothing: {}.", one.from, one.to, one.why)),
    );
    for host in matrix.hosts.iter() {
        if let Some(why) = &host.failed {
            lines.push(format!("{} was left out: {why}.", host.name));
        }
    }
    let named: Vec<&String> = matrix.named.iter().flat_map(|one| &one.hosts).collect();
    let others = matrix.inventory.iter().filter(|one| !named.contains(&&one.host));
    lines.extend(others.map(|one| format!("{}: {}.", one.host, set_apart(one))));
    lines
}
