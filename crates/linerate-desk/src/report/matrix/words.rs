//! The sentences of a matrix of hosts: who is named, what was found besides.

use crate::analysis::Verdict;
use crate::plan::HostId;
use crate::report::shape::*;
use crate::statistic::{Estimate, median};
use crate::unit::{counted, percent};

/// `MTU 1500, 7 others 9000`.
pub(super) fn set_apart(one: &DifferenceEntry) -> String {
    match one.others {
        0 => format!("{} {}, and {}", one.what, one.value, one.usual),
        others => format!("{} {}, {} {}", one.what, one.value, counted(others, "other"), one.usual),
    }
}

/// `7 rounds`; of both directions at once a round has two partners.
pub(super) fn rounds(matrix: &MatrixReport) -> String {
    match matrix.bidirectional {
        false => counted(matrix.rounds, "round"),
        true => format!("rounds of {} each, both directions at once", counted(matrix.rounds, "partner")),
    }
}

/// The answer in words.
pub(in crate::report) fn sentence(matrix: &MatrixReport) -> String {
    let (met, gone): (Vec<_>, Vec<_>) = matrix.hosts.iter().partition(|host| host.failed.is_none());
    let (hosts, rounds) = (counted(met.len(), "host"), rounds(matrix));
    let gone: Vec<&str> = gone.into_iter().map(|host| host.name.as_str()).collect();
    let gone = match gone.as_slice() {
        [] => String::new(),
        gone => format!(" Not measured: {}.", gone.join(", ")),
    };
    let told = match (matrix.verdict, &matrix.doubt) {
        (Verdict::Different, _) => matrix.named.iter().map(named_text).collect::<Vec<_>>().join(" "),
        (Verdict::CannotTell, Some(doubt)) => {
            format!("Whether one of {hosts} is slow cannot be told: {}.", doubt.why)
        }
        (Verdict::CannotTell | Verdict::Same, _) => {
            let longer = matrix.seen_round_trip.map_or(String::new(), |longer| {
                format!(", or one with round trips longer by {},", percent(longer))
            });
            let seen = matrix.seen.map_or(String::new(), |seen| {
                format!(
                    ": a host slower by {}{longer} would have stood apart in 19 of 20 runs",
                    percent(seen)
                )
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
pub(in crate::report) fn groups_found(matrix: &MatrixReport) -> Option<String> {
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
pub(in crate::report) fn sent_again(matrix: &MatrixReport) -> Option<String> {
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
pub(in crate::report) fn named_text(one: &NamedEntry) -> String {
    let who = match (one.kind.as_str(), &one.group) {
        ("link", _) => one.hosts.join(" to "),
        (_, Some(group)) if one.found => format!("{group} ({}, found from the data)", some_of(&one.hosts)),
        (_, Some(group)) => format!("{group} ({})", counted(one.hosts.len(), "host")),
        _ => one.hosts.join(", "),
    };
    let confirmed = match one.confirmed.as_str() {
        "alone" => "confirmed with nobody else sending",
        _ => "only while others send: something is shared",
    };
    format!(
        "{who} {}: {} of {}, {confirmed}.",
        found(one),
        one.slow_partners,
        counted(one.partners, if one.group.is_some() { "pair" } else { "partner" })
    )
}

/// What was found of it, by the metric that names it.
fn found(one: &NamedEntry) -> String {
    let again = one.sent_again.map(|more| {
        format!("{} more of the segments sent again than by others", with_interval(more, percent))
    });
    let Some(ratio) = one.ratio else { return format!("has {}", again.unwrap_or_default()) };
    if one.metric == ROUND_TRIP {
        let longer = with_interval(ratio, |times| percent(times - 1.0));
        return format!("has round trips that are {longer} longer than those of others");
    }
    let ratio = with_interval(ratio, percent);
    let does = match one.sends {
        Some(true) => "sends to the others",
        Some(false) => "receives from the others",
        None => DOES.iter().find(|(kind, _)| *kind == one.kind).map_or("", |(_, does)| does),
    };
    let again = again.map_or(String::new(), |again| format!(", with {again}"));
    format!("{does} at {ratio} of what others do{again}")
}

fn with_interval(Estimate { median, low, high, .. }: Estimate, shown: fn(f64) -> String) -> String {
    let ends =
        low.zip(high).map_or(String::new(), |(low, high)| format!(" [{}, {}]", shown(low), shown(high)));
    format!("{}{ends}", shown(median))
}

/// What round trips are called where something is named by them.
const ROUND_TRIP: &str = "round-trip";
const RETRANSMIT_SHARE: &str = "retransmit-share";

/// Whether it stood apart by what it sent again: that it is fast says nothing then.
pub(super) fn is_by_loss(one: &&SuspectEntry) -> bool {
    one.metric == RETRANSMIT_SHARE
}

/// `sender c`; by what, where that is no rate.
pub(super) fn suspect_said(one: &SuspectEntry) -> String {
    let by = match one.metric.as_str() {
        ROUND_TRIP => " by round trips",
        RETRANSMIT_SHARE => " by what is sent again",
        _ => "",
    };
    format!("{} {}{by}", one.kind, one.hosts.join(" to "))
}
