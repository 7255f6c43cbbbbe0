//! A matrix of hosts: its entry in the report, and its text: who is named and why, the cells small, what sets hosts apart.

mod entry;
mod words;

use super::Page;
use super::block::borderless;
use super::line::{BOLD, INDENT, TEXT_WIDTH, marked, wrapped};
use super::shape::*;
use super::text::heading;
use crate::plan::HostId;
use crate::unit::{BitRate, Nanoseconds};
use std::collections::BTreeMap;

pub(super) use entry::entry;
pub(super) use words::{groups_found, named_text, sent_again, sentence};
use words::{is_by_loss, rounds, set_apart, suspect_said};

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
    let (lost, slow): (Vec<&SuspectEntry>, Vec<&SuspectEntry>) = matrix.cleared.iter().partition(is_by_loss);
    for (what, some) in [
        ("As fast as the others in fresh trials", slow),
        ("Not seen again with nobody else sending", lost),
        ("Neither cleared nor confirmed", matrix.suspected.iter().collect()),
    ] {
        if !some.is_empty() {
            let all = some.into_iter().map(suspect_said).collect::<Vec<_>>().join(", ");
            lines.push(format!("{what}: {all}."));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a link that was suspect by what it sent again nobody knows how fast it is.
    #[test]
    fn who_was_cleared_is_told_by_what() {
        let by = |metric: &str, kind: &str| serde_json::json!({"metric": metric, "kind": kind, "hosts": ["c"], "screened": 0.9, "ratio": null, "sent_again": null});
        let matrix = serde_json::json!({
            "verdict": "same", "rounds": 4, "named": [], "suspected": [], "doubt": null, "seen": null, "noise": 0.01,
            "cleared": [by("throughput", "sender"), by("retransmit-share", "receiver"), by("round-trip", "host")],
            "usual_bps": null, "usual_round_trip_ns": null, "hosts": [], "cells": [], "inventory": [],
        });
        let lines = beside(&serde_json::from_value(matrix).unwrap());
        assert_eq!(
            lines,
            [
                "As fast as the others in fresh trials: sender c, host c by round trips.",
                "Not seen again with nobody else sending: receiver c by what is sent again.",
            ]
        );
    }
}
