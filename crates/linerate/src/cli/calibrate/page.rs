//! A calibration as text: a table a host, the spread by layer, and where it is kept.

use crate::record::{Ceiling, Figure, HostCalibration, RunSpread, SpreadOf};
use crate::state::{EqualRuns, Stored};
use crate::unit::{BitRate, Bytes, Nanoseconds, significant};
use crate::vocabulary::{CALIBRATED, CalibratedUnit, Does};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::collections::BTreeSet;
use std::path::Path;

/// The share of the time that others may take without being mentioned.
const BUSY: f64 = 0.05;

/// Nothing is set narrower than this.
const LEAST: u16 = 60;

/// All of it.
pub fn render(stored: &Stored, path: &Path, width: Option<u16>) -> String {
    let mut parts: Vec<String> = stored.figures.iter().map(|calibrated| host(calibrated, width)).collect();
    if stored.figures.is_empty() {
        parts.push("hosts: not calibrated, because a simulated machine has no clock and no memory\n".into());
    }
    parts.extend(stored.runs.iter().map(|(target, equal)| runs(target, equal, width)));
    parts.push(format!("kept in {}\n", path.display()));
    parts.join("\n")
}

fn host(host: &HostCalibration, width: Option<u16>) -> String {
    let cpus: Vec<String> = host.cpus.iter().map(u32::to_string).collect();
    let head = format!(
        "host {} · CPUs {} · {} · stolen {} %, other processes {} % of the time\n",
        host.host,
        cpus.join("/"),
        Nanoseconds(host.duration_ns as f64).rounded(2),
        significant(100.0 * host.steal_share, 2),
        significant(100.0 * host.foreign_share, 2),
    );
    let busy = host.foreign_share + host.steal_share > BUSY;
    let doubt = "  the host was busy, so these figures are not its best: calibrate it when it is quiet\n";
    let head = head + if busy { doubt } else { "" };
    let mut rows = Vec::new();
    for known in CALIBRATED {
        if let Some(figure) = host.figures.get(known.name) {
            let say = |value: f64| match known.unit {
                CalibratedUnit::Nanoseconds => Nanoseconds(value).rounded(3),
                CalibratedUnit::BytesPerSecond => format!("{} GB/s", significant(value / 1e9, 3)),
            };
            rows.push(row(known.name, figure, say, known.about));
        }
    }
    rows.extend(host.ceilings.iter().map(ceiling));
    rows.extend(host.left_out.iter().map(|(name, why)| {
        [name.clone(), "-".into(), String::new(), String::new(), format!("not measured: {why}")]
    }));
    head + &table(["figure", "value", "±", "n", "what for"], rows, width)
}

fn row(name: &str, figure: &Figure, say: impl Fn(f64) -> String, about: &str) -> [String; 5] {
    let ends = figure.low.zip(figure.high);
    let off = ends.map(|(low, high)| (high - figure.value).max(figure.value - low) / figure.value);
    let interval = off.map_or("-".into(), |share| format!("{} %", significant(100.0 * share, 2)));
    [name.into(), say(figure.value), interval, figure.n.to_string(), about.into()]
}

fn ceiling(ceiling: &Ceiling) -> [String; 5] {
    let size = Bytes(ceiling.message_bytes);
    let wait = ceiling.wait.map_or(String::new(), |wait| format!(" {wait}"));
    let pings = ceiling.does == Does::Pings;
    let (name, about) = match &ceiling.transport {
        None if pings => (format!("ping loop {size}"), "round trips over a link that costs nothing"),
        None => (format!("send loop {size}"), "messages over a link that costs nothing"),
        Some(transport) => {
            (format!("{transport}{wait} {size}"), "messages to a receiver that throws them away")
        }
    };
    let say = |value: f64| format!("{}/s", per_second(value));
    row(&name, &ceiling.messages_per_s, say, about)
}

/// A number of things a second, with a decimal prefix.
fn per_second(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{} G", significant(v / 1e9, 3)),
        v if v >= 1e6 => format!("{} M", significant(v / 1e6, 3)),
        v if v >= 1e3 => format!("{} k", significant(v / 1e3, 3)),
        v => significant(v, 3),
    }
}

fn runs(target: &str, runs: &EqualRuns, width: Option<u16>) -> String {
    let said = "95 % of further runs lie within this share of their centre";
    let head = format!("{target} · {} equal runs · {said}\n", runs.runs);
    let layers: BTreeSet<&String> = runs.spreads.iter().map(|spread| &spread.layer).collect();
    let rows = layers.into_iter().map(|layer| {
        let cell = |of: SpreadOf| {
            let spread = runs.spreads.iter().find(|spread| &spread.layer == layer && spread.of == of);
            spread.map_or("-".into(), cell)
        };
        let [throughput, polling, sleeping] = SpreadOf::ALL.map(cell);
        [layer.clone(), throughput, polling, sleeping, String::new()]
    });
    head + &table(["layer", "throughput", "polling", "sleeping", ""], rows.collect(), width)
}

fn cell(spread: &RunSpread) -> String {
    let centre = match spread.of {
        SpreadOf::Throughput => BitRate(spread.centre).rounded(2),
        SpreadOf::Polling | SpreadOf::Sleeping => Nanoseconds(spread.centre).rounded(2),
    };
    format!("{centre} ±{} %", significant(100.0 * spread.share, 2))
}

fn table(heads: [&str; 5], rows: Vec<[String; 5]>, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    match width {
        None => table.set_content_arrangement(ContentArrangement::Disabled),
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.max(LEAST)),
    };
    table.set_header(heads);
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 0 }, 2));
        let is_number = (1..=3).contains(&index);
        column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
