//! Transfers by several programs beside each other: a table a file size, with what the paper states beside it.

use super::block::borderless;
use super::transfer::size;
use crate::diagnosis::{file_costs, transfer_beside_bound};
use crate::published::{Size, rows};
use crate::record::{TransfersBeside, TransfersOf};
use crate::statistic::Estimate;
use crate::unit::{BitRate, Nanoseconds, counted, significant, supported_digits};
use comfy_table::CellAlignment;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The paper and the test of its Table 3, as the published data has them.
const PAPER: (&str, &str) = ("S004", "file transfer WAN");

/// What stands for a file that is on no disk.
const MEMORY: &str = "memory";

const HEADS: [&str; 9] = ["program", "streams", "rate", "low", "high", "n", "CPU ns/B", "paper", "sealed"];

/// The columns of numbers.
const NUMBERS: RangeInclusive<usize> = 1..=7;

/// The table, the fastest first of each size, and why what is missing is.
pub fn transfers_text(beside: &TransfersBeside) -> String {
    let all = &beside.rows[..];
    let mut loads: Vec<(Option<u64>, u64)> = all.iter().map(|one| (one.files, one.bytes)).collect();
    loads.sort_unstable();
    loads.dedup();
    let mut text: String = loads.iter().map(|load| table(*load, beside)).collect();
    text += &flags(all);
    text.extend(all.iter().filter_map(|one| bound(one, beside)));
    text.extend(all.iter().filter_map(|one| costs(one, all)));
    text.extend(beside.recognised.iter().map(|one| {
        format!("here, and not measured: {} ({}), which this program does not drive\n", one.name, one.version)
    }));
    let behind = all.iter().filter(|one| one.is_behind);
    let behind: BTreeSet<String> =
        behind.map(|one| format!("{} of {}", name(one), size(one.bytes))).collect();
    if !behind.is_empty() {
        let behind = behind.into_iter().collect::<Vec<_>>().join(", ");
        text += &format!("behind, and measured no further: {behind}\n");
    }
    let failed = |one: &TransfersOf| {
        let why = one.failed.as_ref()?;
        Some(format!("not measured: {} of {}: {why}\n", name(one), size(one.bytes)))
    };
    let mut failed: Vec<String> = all.iter().filter_map(failed).collect();
    failed.sort();
    failed.dedup();
    text.extend(failed);
    text
}

/// The same for a program.
pub fn transfers_json(beside: &TransfersBeside) -> Value {
    let of = |of: Estimate| json!({ "median": of.median, "low": of.low, "high": of.high, "n": of.n });
    let rows = beside.rows.iter().map(|one| {
        let costs = file_costs(one, &beside.rows).map(|costs| {
            json!({ "begin_ns": of(costs.begin_ns), "file_ns": of(costs.file_ns), "byte_ns": of(costs.byte_ns) })
        });
        json!({
            "transfers": one,
            "throughput_bps": rate(one).map(of),
            "cpu_byte_ns": cpu_byte_ns(one).map(of),
            "paper_bps": published(one),
            "bound": bound_text(one, beside),
            "file_costs": costs,
        })
    });
    json!({
        "schema": "linerate.transfers-report/1",
        "from": beside.from,
        "to": beside.to,
        "rows": rows.collect::<Vec<_>>(),
        "round_trip_ns": beside.round_trip_ns,
        "cipher_bytes_per_s": beside.ciphers,
        "recognised": beside.recognised,
    })
}

fn table((files, bytes): (Option<u64>, u64), beside: &TransfersBeside) -> String {
    let mut rows: Vec<(&TransfersOf, Estimate)> = beside
        .rows
        .iter()
        .filter(|one| (one.files, one.bytes) == (files, bytes))
        .filter_map(|one| Some((one, rate(one)?)))
        .collect();
    rows.sort_by(|a, b| b.1.median.total_cmp(&a.1.median));
    let mut table = borderless(None);
    table.set_header(HEADS);
    for (one, rate) in rows {
        let digits = supported_digits(rate.median, rate.half_width());
        let shown = |bps: Option<f64>| bps.map_or("-".into(), |bps| BitRate(bps).rounded(digits));
        table.add_row([
            name(one),
            one.streams.to_string(),
            shown(Some(rate.median)),
            shown(rate.low),
            shown(rate.high),
            rate.n.to_string(),
            cpu_byte_ns(one).map_or("-".into(), |cpu| significant(cpu.median, 2)),
            published(one).map_or(String::new(), |bps| BitRate(bps).to_string()),
            if one.seals { "yes".into() } else { "no".to_owned() },
        ]);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        let is_number = NUMBERS.contains(&at);
        column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
    }
    let lines: String = table.lines().map(|line| format!("  {}\n", line.trim_end())).collect();
    let what = files.map_or_else(
        || format!("a file of {}", size(bytes)),
        |files| format!("a folder of {}, {} in all", counted(files, "file"), size(bytes)),
    );
    // What is not written to a disk has come when it is whole.
    let until = if beside.to == MEMORY { "whole" } else { "on the disk" };
    let places = match [&beside.from, &beside.to].map(String::as_str) {
        [from, to] if [from, to].contains(&MEMORY) => format!(" from {from} to {to}"),
        _ => String::new(),
    };
    format!("{what}{places}, until it was {until}\n\n{lines}\n")
}

/// What binds one, by its median.
fn bound_text(one: &TransfersOf, beside: &TransfersBeside) -> Option<String> {
    transfer_beside_bound(one, &rate(one)?, beside)
}

fn bound(one: &TransfersOf, beside: &TransfersBeside) -> Option<String> {
    Some(format!("{} of {} is bound by {}\n", name(one), size(one.bytes), bound_text(one, beside)?))
}

/// What a small file costs; where the interval holds nothing it cannot be told.
fn costs(one: &TransfersOf, all: &[TransfersOf]) -> Option<String> {
    let costs = file_costs(one, all)?;
    let way = format!("small files by {}, {}", name(one), counted(u64::from(one.streams), "stream"));
    let (Some(low), Some(high)) = (costs.file_ns.low, costs.file_ns.high) else {
        return Some(format!("{way}: what a file costs takes six rounds to tell\n"));
    };
    if low <= 0.0 {
        return Some(format!("{way}: what a file costs beside its bytes cannot be told\n"));
    }
    let time = |ns: f64| Nanoseconds(ns).to_string();
    Some(format!(
        "{way}: each costs {} [{}, {}] beside its bytes, which take {} ns each; it begins in {}\n",
        time(costs.file_ns.median),
        time(low),
        time(high),
        significant(costs.byte_ns.median, 3),
        time(costs.begin_ns.median.max(0.0)),
    ))
}

/// `scp, best flags`.
fn name(of: &TransfersOf) -> String {
    format!("{}{}", of.tool, if of.flags.is_some() { BEST } else { "" })
}

/// What the name of a program is followed by that is told more than where to send.
const BEST: &str = ", best flags";

/// Which these are, a line a program.
fn flags(all: &[TransfersOf]) -> String {
    let mut lines: Vec<String> = all
        .iter()
        .filter_map(|one| Some(format!("best flags of {}: {}\n", one.tool, one.flags.as_ref()?)))
        .collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

/// Bits a second of one program: the median of its transfers.
fn rate(of: &TransfersOf) -> Option<Estimate> {
    Estimate::from_values(of.took_ns.iter().map(|ns| of.bytes as f64 * 8e9 / (*ns).max(1) as f64))
}

/// CPU time of both ends for each byte.
fn cpu_byte_ns(of: &TransfersOf) -> Option<Estimate> {
    Estimate::from_values(of.cpu_ns.iter().map(|ns| *ns as f64 / of.bytes.max(1) as f64))
}

/// What the paper's table has for the same.
fn published(of: &TransfersOf) -> Option<f64> {
    let file = Size::File(format!("{} MB", of.bytes / 1_000_000));
    let is_file = of.files.is_none() && of.bytes.is_multiple_of(1_000_000);
    let is_it = |config: &str| of.paper.as_deref() == Some(config) && is_file;
    let row = rows().iter().find(|row| {
        (row.paper.as_str(), row.test.as_str()) == PAPER
            && is_it(&row.config)
            && row.bytes.as_ref() == Some(&file)
    })?;
    row.value.map(|value| value * row.unit.factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Recognised;

    fn transfers(tool: &str, bytes: u64, took_ms: &[u64], paper: Option<&str>) -> TransfersOf {
        TransfersOf {
            tool: tool.into(),
            bytes,
            streams: 1,
            took_ns: took_ms.iter().map(|ms| ms * 1_000_000).collect(),
            cpu_ns: took_ms.iter().map(|ms| ms * 250_000).collect(),
            paper: paper.map(String::from),
            ..TransfersOf::default()
        }
    }

    fn text(rows: Vec<TransfersOf>) -> String {
        transfers_text(&TransfersBeside { rows, ..TransfersBeside::default() })
    }

    #[test]
    fn a_bound_is_told_with_what_is_only_recognised() {
        let ssh = TransfersOf { window_bytes: Some(2 << 20), ..transfers("scp", 10_000_000, &[100], None) };
        let recognised = vec![Recognised { name: "bbcp".into(), version: "17.12".into() }];
        let beside = TransfersBeside {
            rows: vec![ssh],
            round_trip_ns: Some(20_000_000),
            recognised,
            ..TransfersBeside::default()
        };
        let text = transfers_text(&beside);
        for part in ["scp of 9.54 MiB is bound by a window of its own", "not measured: bbcp (17.12)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(transfers_json(&beside)["recognised"][0]["name"], "bbcp");
    }

    #[test]
    fn the_fastest_stands_first_with_its_interval() {
        let fast = transfers("fast", 10_000_000, &[100, 90, 110, 100, 95, 105], None);
        let slow = transfers("slow", 10_000_000, &[1000], None);
        let failed =
            TransfersOf { failed: Some("it broke".into()), ..transfers("broken", 10_000_000, &[], None) };
        let text = text(vec![slow, fast, failed]);
        let at = |word: &str| text.find(word).unwrap();
        assert!(
            at("fast") < at("slow") && text.contains("not measured: broken of 9.54 MiB: it broke"),
            "{text}"
        );
        let line = text.lines().find(|line| line.contains("fast")).unwrap();
        for part in ["800 Mb/s", "730 Mb/s", "890 Mb/s", " 6 ", " 2.5 "] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(text.lines().any(|line| line.contains("slow") && line.matches(" - ").count() == 2), "{text}");
    }

    #[test]
    fn flags_stand_below_the_rows_that_have_them() {
        let plain = transfers("scp", 10_000_000, &[100], None);
        let best = TransfersOf { flags: Some("-x".into()), ..transfers("scp", 10_000_000, &[50], None) };
        let text = text(vec![plain, best.clone(), best]);
        let line = |word: &str| text.lines().find(|line| line.trim().starts_with(word)).unwrap();
        assert!(line("scp, best flags").contains("1.6 Gb/s"), "{text}");
        assert_eq!(text.matches("best flags of scp: -x").count(), 1, "{text}");
    }

    #[test]
    fn a_folder_has_a_table_of_its_own() {
        let file = transfers("alone", 10_000_000, &[100], Some("OpenSSH scp arcfour"));
        let folder = TransfersOf { tool: "many".into(), files: Some(300), ..file.clone() };
        let text = text(vec![folder.clone(), file]);
        let at = |word: &str| text.find(word).unwrap();
        assert!(
            at("a file of 9.54 MiB") < at("alone") && at("alone") < at("a folder of 300 files"),
            "{text}"
        );
        assert!(at("a folder of 300 files") < at("many"), "{text}");
        assert_eq!(published(&folder), None, "the paper moved single files");
    }

    #[test]
    fn who_is_behind_in_a_race_is_named_once() {
        let behind = TransfersOf { is_behind: true, ..transfers("slow", 10_000_000, &[900], None) };
        let text = text(vec![behind.clone(), behind, transfers("fast", 10_000_000, &[100], None)]);
        assert!(text.contains("\nbehind, and measured no further: slow of 9.54 MiB\n"), "{text}");
    }

    #[test]
    fn where_files_are_is_told_where_it_is_no_disk() {
        let rows = || vec![transfers("one", 10_000_000, &[100], None)];
        assert!(text(rows()).starts_with("a file of 9.54 MiB, until it was on the disk\n"));
        let beside = TransfersBeside {
            rows: rows(),
            from: "disk".into(),
            to: MEMORY.into(),
            ..TransfersBeside::default()
        };
        let text = transfers_text(&beside);
        assert!(text.starts_with("a file of 9.54 MiB from disk to memory, until it was whole\n"), "{text}");
    }

    #[test]
    fn the_papers_value_is_that_of_the_size_and_the_streams() {
        for (config, bytes, mbps) in
            [("GridFTP p=4", 1_000_000_000, 3531.2), ("OpenSSH scp arcfour", 10_000_000, 284.0)]
        {
            assert_eq!(published(&transfers("x", bytes, &[], Some(config))), Some(mbps * 1e6), "{config}");
        }
        assert_eq!(published(&transfers("x", 10_000_001, &[], Some("GridFTP p=4"))), None);
    }
}
