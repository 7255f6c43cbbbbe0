//! The forms of a history: its levels in a table and its changes in words, JSON, or a line a run.

use super::block::{aligned, borderless};
use super::suite::written;
use crate::Result;
use crate::analysis::{FALSE_CHANGES, FigureOverRuns, History, LEAST_OF_LEVEL, Level};
use crate::record::SpreadOf;
use crate::unit::{counted, percent, signed_percent};
use serde::Serialize;

/// The version of the JSON form.
const SCHEMA: &str = "linerate.history/1";

const INDENT: &str = "  ";

#[derive(Serialize)]
struct HistoryReport<'h> {
    schema: &'static str,
    histories: &'h [History],
}

/// The JSON form.
pub fn history_json(histories: &[History]) -> String {
    let report = HistoryReport { schema: SCHEMA, histories };
    // Maps have string keys and numbers that are not finite become null: nothing in it can fail.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

/// A line a run and figure.
pub fn history_csv(histories: &[History]) -> Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let failed = |e: csv::Error| crate::Error::usage(format!("csv: {e}"), "");
    let heads = ["target", "hosts", "plan", "utc", "version", "layer", "figure", "median", "level"];
    csv.write_record(heads).map_err(failed)?;
    for history in histories {
        for figure in &history.figures {
            for (run, median) in figure.medians.iter().enumerate() {
                let Some(median) = median else { continue };
                let level = figure.levels.iter().rposition(|level| level.from <= run).map_or(0, |at| at + 1);
                let (of, median, level) = (name(figure.of), median.to_string(), level.to_string());
                let (utc, version) = (&history.runs[run], &history.versions[run]);
                let History { target, hosts, plan, .. } = history;
                let row: [&str; 9] = [target, hosts, plan, utc, version, &figure.layer, of, &median, &level];
                csv.write_record(row).map_err(failed)?;
            }
        }
    }
    let bytes = csv.into_inner().unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text form.
pub fn history_text(histories: &[History]) -> String {
    if histories.is_empty() {
        return "There is no completed run in the history.\n".into();
    }
    let told: Vec<String> = histories.iter().map(series_text).collect();
    let note = format!(
        "± is the interval of the median over runs, from 6 runs on. A change is marked where {LEAST_OF_LEVEL} runs and more on \
         each side\ndiffer; of histories without any at most {} show one.\n",
        percent(FALSE_CHANGES)
    );
    told.join("\n") + "\n" + &note
}

fn series_text(history: &History) -> String {
    let runs = counted(history.runs.len(), "run");
    let when = match (history.runs.first(), history.runs.last()) {
        (Some(first), Some(last)) if first != last => format!("from {first} to {last}"),
        (Some(only), _) => only.clone(),
        _ => String::new(),
    };
    let mut lines = vec![format!("{}: {runs}, {when}, plan {}", history.target, history.plan), String::new()];
    match history.figures.is_empty() {
        true => lines.push(format!(
            "{INDENT}no number of a ladder: `linerate compare` compares runs of suites and plans"
        )),
        false => lines.extend(table(history).into_iter().map(|line| format!("{INDENT}{line}"))),
    }
    let changes: Vec<String> = history.figures.iter().flat_map(|figure| changes(history, figure)).collect();
    if !changes.is_empty() {
        lines.push(String::new());
        lines.extend(changes.into_iter().map(|change| format!("{INDENT}{change}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The latest level of each figure.
fn table(history: &History) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(["", "", "latest", "median", "±", "n", "changes"]);
    for figure in &history.figures {
        let Some(level) = figure.levels.last() else { continue };
        let latest = figure.medians.iter().rev().copied().flatten().next();
        let latest = latest.map_or("-".into(), |median| written(median, unit(figure.of)));
        let wide = half_width(level).map_or("-".into(), percent);
        let changes = match figure.levels.len() - 1 {
            0 => String::new(),
            count => count.to_string(),
        };
        let median = written(level.median, unit(figure.of));
        let row = [
            figure.layer.clone(),
            name(figure.of).to_owned(),
            latest,
            median,
            wide,
            level.n.to_string(),
            changes,
        ];
        table.add_row(row);
    }
    aligned(table, |index| index < 2)
}

/// How far the interval reaches from the median, the longer way.
fn half_width(level: &Level) -> Option<f64> {
    let (low, high) = (level.low?, level.high?);
    Some((high - level.median).max(level.median - low) / level.median)
}

/// Each change of one figure in a sentence.
fn changes(history: &History, figure: &FigureOverRuns) -> Vec<String> {
    let told = |pair: &[Level]| {
        let (before, after) = (&pair[0], &pair[1]);
        let change = after.change?;
        let is_better = (change > 0.0) == (figure.of == SpreadOf::Throughput);
        let [was, is] = [before, after].map(|level| written(level.median, unit(figure.of)));
        let version = |level: &Level| history.versions.get(level.from).cloned().unwrap_or_default();
        let version = match (version(before), version(after)) {
            (before, after) if before == after => String::new(),
            (before, after) => format!("; linerate {before} before, {after} after"),
        };
        Some(format!(
            "changed: {} {} is {} by {} since {}: {was} in {}, {is} in {} since{version}",
            figure.layer,
            name(figure.of),
            if is_better { "better" } else { "worse" },
            signed_percent(change),
            history.runs[after.from],
            counted(before.n, "run"),
            counted(after.n, "run"),
        ))
    };
    figure.levels.windows(2).filter_map(told).collect()
}

fn unit(of: SpreadOf) -> &'static str {
    if of == SpreadOf::Throughput { "b/s" } else { "ns" }
}

fn name(of: SpreadOf) -> &'static str {
    match of {
        SpreadOf::Throughput => "throughput",
        SpreadOf::Polling => "polling",
        SpreadOf::Sleeping => "sleeping",
    }
}
