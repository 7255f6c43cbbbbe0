//! A matrix of hosts as its entry in the report.

use super::words::set_apart;
use crate::analysis::matrix::{
    CellMetric, Confirmed, Difference, Effects, Judged, Matrix, Named, Outcome, Part, Segments, Suspect,
    Told, differences, matrix, round_trips,
};
use crate::plan::{Case, HostId, HostPair, HostSet, Screening};
use crate::record::{NotMeasured, Recording};
use crate::report::shape::*;
use crate::statistic::{Estimate, Shift};

/// The entry of a recording; none of one that screens nobody.
pub(in crate::report) fn entry(recording: &Recording) -> Option<MatrixReport> {
    let matrix = matrix(recording)?;
    let screening = &matrix.screening;
    let differences = differences(recording);
    let told = &matrix.told;
    let of_outcome = |outcome: Outcome| {
        let here = told.judged.iter().filter(move |one| one.outcome == outcome);
        here.map(|one| suspect(one, told)).collect::<Vec<_>>()
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
        named: told.named.iter().map(|one| named(one, told, &differences)).collect(),
        suspected: of_outcome(Outcome::Open),
        cleared: of_outcome(Outcome::Cleared),
        doubt: told.doubt.clone().map(|(why, takes)| DoubtEntry { why, takes }),
        failed: matrix.failed.iter().map(|(pair, why)| failed_pair(*pair, why, screening)).collect(),
        seen: told.seen,
        seen_round_trip: told.seen_round_trip,
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

/// A ratio of rates or of round trips, as it is told: of these more is slower.
fn ratio(metric: CellMetric, shift: Shift) -> Option<Estimate> {
    let of = |median: f64, low: Option<f64>, high: Option<f64>| {
        let [low, high] = [low, high].map(|end| end.map(f64::exp));
        Estimate { median: median.exp(), low, high, n: shift.n.1 }
    };
    match metric {
        CellMetric::Throughput => Some(of(shift.estimate, shift.low, shift.high)),
        CellMetric::RoundTrip => {
            let turned = |end: Option<f64>| end.map(|end| -end);
            Some(of(-shift.estimate, turned(shift.high), turned(shift.low)))
        }
        CellMetric::RetransmitShare => None,
    }
}

/// How much more is sent again.
fn more_again(shift: Shift) -> Estimate {
    let turned = |end: Option<f64>| end.map(|end| -end);
    Estimate { median: -shift.estimate, low: turned(shift.high), high: turned(shift.low), n: shift.n.1 }
}

fn named(one: &Named, told: &Told, differences: &[Difference]) -> NamedEntry {
    let screening = told.screening_of(one.metric);
    let confirmed = match one.confirmed {
        Confirmed::Alone => "alone",
        Confirmed::UnderLoad => "under-load",
    };
    let of_hosts = differences.iter().filter(|difference| one.hosts.contains(&difference.host));
    let is_again = one.metric == CellMetric::RetransmitShare;
    NamedEntry {
        metric: one.metric.name().into(),
        kind: one.kind.name().into(),
        hosts: one.hosts.iter().map(|host| screening.name_of(*host)).collect(),
        group: one.group.and_then(|group| Some(screening.groups.get(group)?.name.clone())),
        found: one.group.is_some() && screening.found,
        sends: one.sends,
        ratio: ratio(one.metric, one.shift),
        sent_again: one.sent_again.or(is_again.then_some(one.shift)).map(more_again),
        confirmed: confirmed.into(),
        slow_partners: one.slow_partners.0,
        partners: one.slow_partners.1,
        likely: of_hosts.map(|one| set_apart(&difference(one, screening))).collect(),
    }
}

fn suspect(one: &Judged, told: &Told) -> SuspectEntry {
    let screening = told.screening_of(one.metric);
    let Suspect { part, effect, .. } = one.suspect;
    let kind = match part {
        Part::Sends(_) => "sender",
        Part::Receives(_) => "receiver",
        Part::Exchanges(_) => "host",
        Part::Link(_) | Part::Path(_) => "link",
        Part::GroupSends(_) | Part::GroupReceives(_) | Part::GroupExchanges(_) => "group",
    };
    let group = part.group().and_then(|group| screening.groups.get(group));
    let hosts = match group {
        Some(group) => vec![group.name.clone()],
        None => part.hosts(screening).into_iter().map(|host| screening.name_of(host)).collect(),
    };
    let screened = match one.metric {
        CellMetric::Throughput => effect.exp(),
        CellMetric::RoundTrip => (-effect).exp(),
        CellMetric::RetransmitShare => -one.metric.reported(effect),
    };
    let fresh = one.alone.or(one.loaded);
    let is_again = one.metric == CellMetric::RetransmitShare;
    SuspectEntry {
        metric: one.metric.name().into(),
        kind: kind.into(),
        hosts,
        screened,
        ratio: fresh.and_then(|shift| ratio(one.metric, shift)),
        sent_again: fresh.filter(|_| is_again).map(more_again),
    }
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
