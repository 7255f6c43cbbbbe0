//! What a suite gave, as text: a table a figure, and which conclusions hold.

mod graph;
mod ranking;
mod stages;
mod table;

pub(super) use ranking::ranking_text;
pub(super) use table::{about as about_row, written as written_cell};

use super::block::{Block, bands};
use super::curve::entry as break_entry;
use super::line::wrapped;
use super::shape::{
    BreakEntry, CaseWarning, ClaimEntry, SuiteFigureEntry, SuitePointEntry, SuiteReport, SuiteSeriesEntry,
};
use super::time_line;
use crate::analysis::{
    ClaimOutcome, Curve, FigureValues, Holds, SeriesValues, SuiteValues, ValueAt, measure,
};
use crate::plan::Factor;
use crate::statistic::Estimate;
use crate::unit::{BitRate, Nanoseconds, counted, percent, significant};

/// The JSON form of what a suite gave.
pub(super) fn entry(suite: &SuiteValues, curves: &[Curve], warnings: Vec<CaseWarning>) -> SuiteReport {
    SuiteReport {
        name: suite.name.clone(),
        about: suite.about.clone(),
        paper: suite.paper.clone(),
        figures: suite.figures.iter().map(|values| figure(values, curves)).collect(),
        tables: suite.tables.iter().map(table::entry).chain(suite.stages.iter().map(stages::entry)).collect(),
        time_lines: suite.time_lines.iter().map(time_line::entry).collect(),
        claims: suite.claims.iter().map(claim).collect(),
        left_out: suite.left_out.clone(),
        warnings,
    }
}

fn figure(values: &FigureValues, curves: &[Curve]) -> SuiteFigureEntry {
    let said = |at: &ValueAt| if at.said == at.x.name { String::new() } else { at.said.clone() };
    let point = |at: &ValueAt| SuitePointEntry {
        at: at.x.name.clone(),
        label: said(at),
        x: at.x.number,
        value: at.value,
        hosts: at.hosts.clone(),
    };
    let series = |series: &SeriesValues| SuiteSeriesEntry {
        name: series.name.clone(),
        label: series.words.label.clone(),
        points: series.points.iter().map(point).collect(),
        breaks: breaks(values, series, curves),
    };
    SuiteFigureEntry {
        id: values.figure.id.clone(),
        title: values.figure.title.clone(),
        x: values.figure.x.entry().name.into(),
        y: values.figure.y.clone(),
        unit: values.unit.into(),
        series: values.series.iter().map(series).collect(),
        missing: values.missing.clone(),
        missing_labels: values.missing_words.clone(),
        untold: untold(values),
        ranking: values.ranking.as_ref().map(ranking::entry),
    }
}

/// Where a series breaks along the size of messages: its case's curve does, of whichever number is along y.
fn breaks(values: &FigureValues, series: &SeriesValues, curves: &[Curve]) -> Vec<BreakEntry> {
    let is_along = values.figure.x == Factor::Size && !series.is_besides;
    let curve = curves.iter().find(|curve| is_along && curve.case == series.case);
    curve.map_or_else(Vec::new, |curve| curve.breaks.iter().map(break_entry).collect())
}

fn claim(outcome: &ClaimOutcome) -> ClaimEntry {
    let claim = &outcome.claim;
    let is_pure = claim.over.is_some() || claim.exponent.is_some();
    let unit = measure(&claim.y).filter(|_| !is_pure).map_or("", |measure| measure.metric.unit);
    let limits = [("above", claim.above), ("below", claim.below)];
    let limit =
        limits.iter().find_map(|(side, limit)| limit.map(|limit| format!("{side} {}", number(limit, unit))));
    ClaimEntry {
        says: claim.says.clone(),
        place: claim.place.clone(),
        holds: outcome.holds,
        condition: outcome.condition.clone(),
        value: outcome.value,
        unit: unit.into(),
        limit: limit.unwrap_or_default(),
        further_passes: outcome.further_passes(),
    }
}

/// The answer in one sentence.
pub(super) fn sentence(suites: &[SuiteReport]) -> String {
    let claims = || suites.iter().flat_map(|suite| &suite.claims);
    let count = |holds: Holds| claims().filter(|claim| claim.holds == holds).count();
    let figures: Vec<&SuiteFigureEntry> = suites.iter().flat_map(|suite| &suite.figures).collect();
    let whole = figures.iter().filter(|figure| figure.is_whole()).count();
    let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    let tables: usize = suites.iter().map(|suite| suite.tables.len()).sum();
    let mut said = Vec::new();
    if !figures.is_empty() {
        let in_part = figures.iter().any(|figure| !figure.series.is_empty() && !figure.is_whole());
        let word = if in_part { " whole" } else { "" };
        said.push(format!("{whole} of {}{word}", counted(figures.len(), "figure")));
    }
    if tables > 0 {
        said.push(counted(tables, "table"));
    }
    let mut told = format!("{}: {}", names.join(", "), said.join(" and "));
    let all = claims().count();
    if all > 0 {
        let (yes, decided) = (count(Holds::Yes), count(Holds::Yes) + count(Holds::No));
        let hold = if yes == 1 { "holds" } else { "hold" };
        let before = if said.is_empty() { "" } else { "; " };
        let applicable = counted(all - count(Holds::NotApplicable), "conclusion");
        told += &format!("{before}{decided} of {applicable} decided, {yes} {hold} here");
        let others = [
            (Holds::No, "does not", "do not"),
            (Holds::CannotTell, "cannot be told", "cannot be told"),
            (Holds::NotMeasured, "was not measured", "were not measured"),
            (Holds::NotApplicable, "does not apply", "do not apply"),
        ];
        for (holds, one, several) in others.into_iter().filter(|(holds, ..)| count(*holds) > 0) {
            let count = count(holds);
            told += &format!(", {count} {}", if count == 1 { one } else { several });
        }
    }
    told + "."
}

/// The lines of a suite; the first of each figure is its title.
pub(super) fn render(suite: &SuiteReport, width: Option<usize>, text_width: usize) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> =
        suite.figures.iter().map(|figure| figure_lines(figure, width, text_width)).collect();
    blocks.extend(suite.tables.iter().map(|one| table::lines(one, width.unwrap_or(text_width))));
    if !suite.claims.is_empty() {
        let of = suite.paper.as_ref().map_or(String::new(), |paper| format!(" of {paper}"));
        let mut lines = vec![format!("conclusions{of}, tested here")];
        lines.extend(suite.claims.iter().flat_map(|claim| claim_lines(claim, text_width)));
        blocks.push(lines);
    }
    blocks
}

fn figure_lines(figure: &SuiteFigureEntry, width: Option<usize>, text_width: usize) -> Vec<String> {
    let mut lines = vec![format!("{}  {} ({})", figure.id, figure.title, figure.y)];
    if figure.series.is_empty() {
        let lacks = lacks(figure.missing_words(), &figure.untold);
        lines.extend(lacks.iter().flat_map(|lack| wrapped(lack, text_width)));
        if lacks.is_empty() {
            lines.push("not measured".into());
        }
        return lines;
    }
    let mut levels: Vec<&SuitePointEntry> = Vec::new();
    for point in figure.series.iter().flat_map(|series| &series.points) {
        if !levels.iter().any(|known| known.at == point.at) {
            levels.push(point);
        }
    }
    levels.sort_by(|a, b| a.x.unwrap_or(0.0).total_cmp(&b.x.unwrap_or(0.0)));
    let called = |point: &SuitePointEntry| match point.label.is_empty() {
        true => point.at.clone(),
        false => point.label.clone(),
    };
    let first = Block {
        title: String::new(),
        heads: vec![figure.x.clone()],
        rows: levels.iter().map(|level| vec![called(level)]).collect(),
        left: true,
    };
    let column = |series: &SuiteSeriesEntry| Block {
        title: title(series, &figure.y),
        heads: vec![String::new(), "±".into()],
        rows: levels.iter().map(|level| cells(series, &level.at, &figure.unit)).collect(),
        left: false,
    };
    let columns: Vec<Block> = figure.series.iter().map(column).collect();
    for band in bands(&first, &columns, Some(width.unwrap_or(text_width))) {
        lines.extend(band);
    }
    let points = figure.series.iter().flat_map(|series| &series.points);
    if let Some(played) = played_by(points.map(|point| (&*point.at, &*point.hosts))) {
        lines.extend(wrapped(&played, text_width));
    }
    lines.extend(figure.ranking.iter().flat_map(|ranking| wrapped(&ranking.said, text_width)));
    let lacks = lacks(figure.missing_words(), &figure.untold);
    lines.extend(lacks.iter().flat_map(|lack| wrapped(lack, text_width)));
    lines
}

/// Which hosts played the levels of a figure, where more than one pair of hosts did at one of them: who several senders
/// are is no matter of course.
pub(super) fn played_by<'p>(points: impl Iterator<Item = (&'p str, &'p str)>) -> Option<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (level, hosts) in points.filter(|(_, hosts)| !hosts.is_empty()) {
        match all.iter_mut().find(|(known, _)| *known == hosts) {
            Some((_, levels)) if levels.contains(&level) => {}
            Some((_, levels)) => levels.push(level),
            None => all.push((hosts, vec![level])),
        }
    }
    let is_told = all.iter().any(|(hosts, _)| hosts.contains(['+', ',']));
    let each = all.iter().map(|(hosts, levels)| format!("{hosts} at {}", levels.join(", ")));
    is_told.then(|| format!("Played by {}.", each.collect::<Vec<_>>().join("; ")))
}

/// What gave no number: a series and where along x.
pub(super) fn untold(values: &FigureValues) -> Vec<String> {
    let at = |(series, x): &(String, String)| match series.is_empty() {
        true => x.clone(),
        false => format!("{series} at {x}"),
    };
    let others = match values.others.as_slice() {
        [] => None,
        others => Some(format!("it has no {}; y can be {}", values.figure.y, others.join(", "))),
    };
    values.untold.iter().map(at).chain(others).collect()
}

/// What a figure does not show, in a sentence each.
pub(super) fn lacks(missing: &[String], untold: &[String]) -> Vec<String> {
    let lacks = [("Not measured", missing), ("Measured, without a number", untold)];
    let lacks = lacks.into_iter().filter(|(_, all)| !all.is_empty());
    lacks.map(|(what, all)| format!("{what}: {}", all.join("; "))).collect()
}

/// A series in words; in recordings' reports of earlier versions there are none.
fn title(series: &SuiteSeriesEntry, y: &str) -> String {
    let names = [&*series.label, &*series.name, y];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default().into()
}

fn cells(series: &SuiteSeriesEntry, level: &str, unit: &str) -> Vec<String> {
    let point = series.points.iter().find(|point| point.at == level);
    match point {
        Some(point) => vec![written(point.value.median, unit), spread(&point.value, unit)],
        None => vec!["-".into(), String::new()],
    }
}

/// How far the interval reaches, of a share in percentage points; the number of values where there is none.
fn spread(value: &Estimate, unit: &str) -> String {
    match (unit, value.half_width(), value.relative_half_width()) {
        ("1", Some(points), _) => format!("±{} pp", significant(100.0 * points, 2)),
        // An interval that reaches far to one side reaches not below nothing on the other.
        (_, _, Some(share)) if share > 1.0 && value.low.is_some_and(|low| low >= 0.0) => {
            format!("up to {}", written(value.high.unwrap_or(value.median), unit))
        }
        (_, _, Some(share)) => format!("±{}", percent(share)),
        _ => format!("n={}", value.n),
    }
}

/// A number in its unit.
pub(super) fn written(value: f64, unit: &str) -> String {
    match unit {
        "b/s" => BitRate(value).to_string(),
        "ns" => Nanoseconds(value).to_string(),
        "1" => percent(value),
        "1/s" => format!("{}/s", significant(value, 3)),
        unit => format!("{} {unit}", significant(value, 3)),
    }
}

/// What is said of it: `holds`, `does not hold`.
pub(super) fn verdict_word(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "holds",
        Holds::No => "does not hold",
        Holds::CannotTell => "cannot tell",
        Holds::NotMeasured => "not measured",
        Holds::NotApplicable => "not applicable",
    }
}

/// `7.6 [7.4, 7.8], above 1.7 is asked for`, and what it would take to tell.
pub(super) fn evidence(claim: &ClaimEntry) -> String {
    let number = |value: f64| number(value, &claim.unit);
    let value = claim.value.map_or(String::new(), |value| match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{} [{}, {}], ", number(value.median), number(low), number(high)),
        _ => format!("{} (n={}), ", number(value.median), value.n),
    });
    let also = match (&claim.condition, claim.holds, claim.further_passes) {
        (Some(condition), ..) => format!("; {condition}"),
        (None, Holds::CannotTell, Some(passes)) if claim.value.is_some_and(|value| value.low.is_none()) => {
            format!("; there is no interval before {}", counted(passes, "more pass"))
        }
        (None, Holds::CannotTell, Some(passes)) => {
            format!("; about {} would tell", counted(passes, "more pass"))
        }
        (None, Holds::CannotTell, None) => "; more passes would hardly tell".into(),
        _ => String::new(),
    };
    format!("{value}{} is asked for{also}", claim.limit)
}

/// A ratio or an exponent as it is, all else in its unit.
fn number(value: f64, unit: &str) -> String {
    if unit.is_empty() { significant(value, 3) } else { written(value, unit) }
}

const VERDICT: usize = 16;

fn claim_lines(claim: &ClaimEntry, text_width: usize) -> Vec<String> {
    let place = if claim.place.is_empty() { String::new() } else { format!(" ({})", claim.place) };
    let text = format!("{}{place}: {}", claim.says, evidence(claim));
    let lines = wrapped(&text, text_width.saturating_sub(VERDICT).max(30));
    let head = |at: usize| if at == 0 { verdict_word(claim.holds) } else { "" };
    lines.iter().enumerate().map(|(at, line)| format!("{:<VERDICT$}{line}", head(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_played_is_told_where_several_hosts_did() {
        let points = [("x 1", "b>a"), ("x 2", "b+c>a"), ("x 4", "b+c>a"), ("x 2", "b+c>a")];
        let told = "Played by b>a at x 1; b+c>a at x 2, x 4.";
        assert_eq!(played_by(points.into_iter()).as_deref(), Some(told));
        assert_eq!(played_by([("x 1", "a>b"), ("x 2", "a>b"), ("x 4", "")].into_iter()), None);
    }

    #[test]
    fn a_shares_spread_is_told_in_points() {
        let value = |median, low, high| Estimate { median, low: Some(low), high: Some(high), n: 6 };
        assert_eq!(spread(&value(0.01, -0.2, 0.1), "1"), "±21 pp");
        assert_eq!(spread(&value(100.0, 90.0, 105.0), "b/s"), "±10 %");
        assert_eq!(spread(&Estimate { median: 1.0, low: None, high: None, n: 3 }, "1"), "n=3");
    }
}
