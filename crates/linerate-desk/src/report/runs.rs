//! The forms of a comparison of runs: the verdict in words and a line a number, or JSON.

use super::block::{aligned, borderless};
use super::imported::written;
use super::line::{TEXT_WIDTH, wrapped};
use super::suite::written as in_unit;
use super::{Page, note};
use crate::analysis::{
    FactsDiffer, FigureCompared, ImportedCompared, LEAST_RUNS, NumberCompared, RunsCompared, SideEntry,
    SidesCompared, Verdict,
};
use crate::plan;
use crate::unit::{Bytes, counted, percent, signed_percent, significant};
use crate::vocabulary::{Pattern, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON form.
const SCHEMA: &str = "linerate.compare/1";
const INDENT: &str = "  ";

/// The JSON form of a comparison of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsReport {
    /// `linerate.compare/1`.
    pub schema: String,
    /// The answer in one sentence.
    pub sentence: String,
    /// What it rests on.
    #[serde(flatten)]
    pub compared: RunsCompared,
}

/// The JSON form.
pub fn runs_json(compared: &RunsCompared) -> String {
    let report =
        RunsReport { schema: SCHEMA.into(), sentence: sentence(compared), compared: compared.clone() };
    // Maps have string keys and numbers that are not finite become null: nothing in it can fail.
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

/// The text form.
pub fn runs_text(compared: &RunsCompared, page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).min(TEXT_WIDTH);
    let mut lines = wrapped(&sentence(compared), width);
    let table = table(compared);
    if table.len() > 1 {
        lines.push(String::new());
        lines.extend(table.iter().map(|line| format!("{INDENT}{line}")));
    }
    let runs = format!(
        "A: {}, B: {}; ± is how far a run's own interval reaches.",
        counted(compared.a_runs, "run"),
        counted(compared.b_runs, "run")
    );
    lines.extend([String::new(), runs]);
    let differ = |it: &FactsDiffer| {
        let text = format!("{} in A; {} in B.", values(&it.a), values(&it.b));
        note::Note::new(it.fact.clone(), text, Weight::Changed)
    };
    let mut notes: Vec<note::Note> = compared.facts.iter().map(differ).collect();
    if !compared.left_out.is_empty() {
        let text = format!("only one side has {}.", compared.left_out.join(", "));
        notes.push(note::Note::new("left out", text, Weight::Wrong));
    }
    let notes = note::brief(notes, "--format json", width - INDENT.len(), str::to_owned);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn is(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// The answer in one sentence.
fn sentence(compared: &RunsCompared) -> String {
    let (a, b) = (compared.a_runs, compared.b_runs);
    let lines = lines(compared);
    if lines.is_empty() {
        return "Nothing was measured on both sides alike.".into();
    }
    if a.min(b) < LEAST_RUNS {
        return format!(
            "Cannot tell: equal runs differ too, by how much takes at least {LEAST_RUNS} runs a side, and \
             there are {a} and {b}. `linerate ab` proves a difference in one run."
        );
    }
    let numbers = lines.len();
    let of = |verdict| lines.iter().filter(|line| line.sides.verdict == verdict).count();
    let margin = percent(compared.margin);
    match (of(Verdict::Different), of(Verdict::Same)) {
        (0, same) if same == numbers => {
            format!("A and B are the same within {margin}: {numbers} of {}.", counted(numbers, "number"))
        }
        (0, same) => format!(
            "Cannot tell: no number is proved different, and {same} of {numbers} {} proved the same within {margin}.",
            is(same)
        ),
        (different, same) => {
            let largest = lines.iter().filter(|line| line.sides.verdict == Verdict::Different);
            let largest = largest.max_by(|x, y| x.sides.change.abs().total_cmp(&y.sides.change.abs()));
            let told = largest.map_or(String::new(), |line| {
                let way = if line.sides.is_gain { "faster" } else { "slower" };
                format!(
                    "; most of all {}: B is {way}, {} {}",
                    line.name,
                    signed_percent(line.sides.change),
                    line.ends()
                )
            });
            format!(
                "A and B differ in {different} of {}, and {same} {} the same within {margin}{told}.",
                counted(numbers, "number"),
                is(same)
            )
        }
    }
}

fn table(compared: &RunsCompared) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(["", "A", "±", "B", "±", "B against A", "95 % interval", "p", "verdict"]);
    for line in lines(compared) {
        let p = line.sides.p_adjusted.map_or(String::new(), |p| significant(p, 2));
        let verdict = match (line.sides.verdict, line.sides.is_gain) {
            (Verdict::Different, true) => "faster",
            (Verdict::Different, false) => "slower",
            (Verdict::Same, _) => "the same",
            (Verdict::CannotTell, _) => "cannot tell",
        };
        let ends = line.ends();
        let Line { name, a: [a, a_within], b: [b, b_within], sides } = line;
        let row = [name, a, a_within, b, b_within, signed_percent(sides.change), ends, p, verdict.into()];
        table.add_row(row);
    }
    let last = table.column_count().saturating_sub(1);
    aligned(table, |index| index == 0 || index == last)
}

/// `network.tcp x 4 a>b 1 MiB`, or with the wait for a ping-pong.
fn name(number: &NumberCompared) -> String {
    let flows = if number.flows > 1 { format!(" x {}", number.flows) } else { String::new() };
    let sign = if number.pattern == Pattern::Bidirectional { "<>" } else { ">" };
    let way = if number.from == number.to {
        number.from.to_string()
    } else {
        format!("{}{sign}{}", number.from, number.to)
    };
    let wait =
        if number.metric == plan::Metric::Latency { format!(" {}", number.wait) } else { String::new() };
    format!("{}{flows} {way} {}{wait}", number.rung, Bytes(number.message_bytes))
}

/// One line of the table, of a number of ours or of another tool's.
struct Line {
    name: String,
    a: [String; 2],
    b: [String; 2],
    sides: SidesCompared,
}

impl Line {
    fn ends(&self) -> String {
        match (self.sides.low, self.sides.high) {
            (Some(low), Some(high)) => format!("[{}, {}]", signed_percent(low), signed_percent(high)),
            _ => "-".into(),
        }
    }
}

fn lines(compared: &RunsCompared) -> Vec<Line> {
    let line = |name: String, sides: SidesCompared, median: &dyn Fn(f64) -> String| {
        let within = |side: SideEntry| side.within_run.map_or("-".into(), percent);
        let told = |side: SideEntry| [median(side.median), within(side)];
        Line { name, a: told(sides.a), b: told(sides.b), sides }
    };
    let numbers = compared.numbers.iter();
    let ours = numbers.map(|it| line(name(it), it.sides, &|median| in_unit(median, it.metric.number().unit)));
    let imported = compared.imported.iter();
    let theirs = imported.map(|it| line(imported_name(it), it.sides, &|median| written(it.quantity, median)));
    let curves = compared.figures.iter();
    let curves = curves.map(|it| line(curve_name(it), it.sides, &|median| in_unit(median, &it.unit)));
    ours.chain(theirs).chain(curves).collect()
}

/// `003-F3 TCP, sleeping, over 12 levels`, `f my library at 64 KiB`.
fn curve_name(it: &FigureCompared) -> String {
    let over = match it.levels.as_slice() {
        [level] => format!("at {level}"),
        levels => format!("over {}", counted(levels.len(), "level")),
    };
    let parts = [&*it.figure, &*it.series, &*over];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `iperf3 TCP 128 KiB throughput, mean, receives`.
fn imported_name(it: &ImportedCompared) -> String {
    let bytes = it.message_bytes.map_or(String::new(), |bytes| format!(" {}", Bytes(bytes)));
    let end = if it.end.is_empty() { String::new() } else { format!(", {}", it.end) };
    format!("{} {}{bytes} {}, {}{end}", it.tool, it.test, it.quantity, it.statistic)
}

fn values(values: &[String]) -> String {
    let shown = |value: &String| if value.is_empty() { "none".to_owned() } else { value.clone() };
    values.iter().map(shown).collect::<Vec<_>>().join(" / ")
}
