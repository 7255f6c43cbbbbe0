//! The text form of a comparison of arms: the verdict in words, then a line an arm, then what to know.

use super::block::{aligned, borderless};
use super::line::{TEXT_WIDTH, marked, wrapped};
use super::shape::Report;
use super::suite::written;
use super::text::{EXPLAIN, heading};
use super::{Page, note};
use crate::analysis::{ArmCandidate, Compared, Confirmed, Control, Guard, Verdict};
use crate::plan::{self, Application, SLOWDOWN_PERCENT};
use crate::statistic::{Effect, Estimate};
use crate::unit::{Bytes, Nanoseconds, percent, signed_percent, significant};
use crate::vocabulary::{METRICS, Metric, Weight};

const INDENT: &str = "  ";
const BOLD: &str = "\x1b[1m";

/// What may be behind blocks that scatter; other notes are about the ladder.
const DISTURBANCES: &[&str] = &[
    "throttled",
    "foreign-cpu",
    "steal",
    "migrated",
    "preempted",
    "byte-mismatch",
    "bytes-not-crossed",
    "foreign-bytes",
    "congestion-control",
    "softnet-drops",
    "queue-drops",
    "not-kept-awake",
    "above-bound",
];

/// Writes the comparison for a page.
pub(super) fn render(report: &Report, compared: &Compared, page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).min(TEXT_WIDTH);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wrapped(&sentence(compared), width).iter().map(|line| marked(line, BOLD, page)));
    lines.push(String::new());
    lines.extend(wrapped(&heading(report, Some(measured(compared))), width));
    lines.push(String::new());
    lines.extend(table(compared).iter().map(|line| format!("{INDENT}{line}")));
    let mut notes = notes(compared);
    notes.extend(disturbances(report));
    let notes = note::brief(notes, EXPLAIN, width - INDENT.len(), str::to_owned);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What may be behind blocks that scatter.
pub(super) fn disturbances(report: &Report) -> impl Iterator<Item = note::Note> {
    note::notes(report).into_iter().filter(|one| DISTURBANCES.contains(&one.code.as_str()))
}

/// The verdict in words.
pub(super) fn sentence(compared: &Compared) -> String {
    if let [candidate] = compared.candidates.as_slice() {
        return verdict_text(compared, candidate) + ".";
    }
    let count = |verdict| compared.candidates.iter().filter(|one| one.verdict == verdict).count();
    let [different, same, open] = [Verdict::Different, Verdict::Same, Verdict::CannotTell].map(count);
    let counts = format!(
        "Of {} candidates {different} {}, {same} {} the same and {open} cannot be told",
        compared.candidates.len(),
        if different == 1 { "differs" } else { "differ" },
        if same == 1 { "is" } else { "are" },
    );
    let gain = |one: &&ArmCandidate| one.change.map_or(0.0, |effect| effect.estimate.abs());
    let best =
        compared.candidates.iter().filter(|one| one.accepted).max_by(|a, b| gain(a).total_cmp(&gain(b)));
    match best {
        Some(best) => format!("{counts}; the best: {}.", verdict_text(compared, best)),
        None => format!("{counts}; none is proved better in all that was watched."),
    }
}

/// One candidate's verdict in words.
fn verdict_text(compared: &Compared, candidate: &ArmCandidate) -> String {
    let name = &candidate.name;
    let because = candidate.reasons.join("; ");
    let Some(change) = candidate.change else { return format!("{name}: {because}") };
    match (candidate.verdict, candidate.is_gain) {
        (Verdict::Different, gain) => {
            let word = faster(gain);
            let size = signed_percent(change.estimate);
            let told =
                format!("{name} is {word} than the base: {} {size} {}", compared.metric, ends(&change));
            match (gain, candidate.accepted) {
                (true, false) => format!("{told}, but not accepted: {because}"),
                (true, true) => format!("{told}, confirmed in fresh blocks"),
                (false, _) => told,
            }
        }
        (Verdict::Same, _) => format!(
            "{name} and the base are the same within {}: {} {} {}",
            percent(compared.margin),
            compared.metric,
            signed_percent(change.estimate),
            ends(&change)
        ),
        (Verdict::CannotTell, _) => format!(
            "Cannot tell whether {name} makes a difference: {} {} {}; {because}",
            compared.metric,
            signed_percent(change.estimate),
            ends(&change)
        ),
    }
}

/// `network.tcp a>b, stream of 1 MiB, 12 blocks`.
pub(super) fn measured(compared: &Compared) -> String {
    let size = Bytes(compared.message_bytes);
    let application = compared.application.as_deref();
    let what = match (application, compared.metric) {
        (Some(name), _) => {
            let of_size = Application::named(name).map_or("messages", |one| one.of_size);
            format!("{name} with {of_size} of {size}")
        }
        (None, plan::Metric::Latency) => format!("ping-pong of {size}, sleeping"),
        (None, _) => format!("stream of {size} messages"),
    };
    let way = if compared.from == compared.to {
        compared.from.to_string()
    } else {
        format!("{}>{}", compared.from, compared.to)
    };
    format!("{} {way}, {what} · {} blocks", compared.rung, compared.blocks)
}

fn table(compared: &Compared) -> Vec<String> {
    let mut table = borderless(None);
    let value = compared.metric.number().title;
    let interval = format!("{} % interval", 100.0 * (1.0 - compared.alpha));
    table.set_header(["", value, "against base", &interval, "p", "better in", "verdict"]);
    table.add_row(["base", &absolute(compared.metric, compared.base), "", "", "", "", ""]);
    for candidate in &compared.candidates {
        table.add_row(row(compared, candidate));
        if let Some(effect) = candidate.confirmation {
            let confirmed = match candidate.confirmed {
                Some(Confirmed::Yes) => "confirmed",
                Some(Confirmed::Weakly) => "not proved again",
                Some(Confirmed::No) | None => "not there",
            };
            let p = p(effect.p);
            let fresh = format!("  {} fresh blocks", effect.n);
            let change = signed_percent(effect.estimate);
            table.add_row([&fresh, "", &change, &ends(&effect), &p, "", confirmed]);
        }
    }
    let slowed = format!("positive control ({SLOWDOWN_PERCENT} % slowed)");
    let controls = [
        ("A/A control", &compared.same, "no difference", "differs"),
        (&slowed, &compared.slowed, "found", "not found"),
    ];
    for (name, control, holds, fails) in controls {
        table.add_row(control_row(
            compared,
            name,
            control.as_ref(),
            if control_holds(control) { holds } else { fails },
        ));
    }
    let last = table.column_count().saturating_sub(1);
    aligned(table, |index| index == 0 || index == last)
}

fn control_holds(control: &Option<Control>) -> bool {
    control.as_ref().is_some_and(|control| control.holds)
}

fn row(compared: &Compared, candidate: &ArmCandidate) -> [String; 7] {
    let verdict = match candidate.verdict {
        Verdict::Different => faster(candidate.is_gain).to_owned(),
        Verdict::Same => "the same".to_owned(),
        Verdict::CannotTell => "cannot tell".to_owned(),
    };
    let (change, interval, won) = changes(candidate.change, candidate.won);
    let p = candidate.p_adjusted.map_or(String::new(), p);
    [candidate.name.clone(), absolute(compared.metric, candidate.value), change, interval, p, won, verdict]
}

fn control_row(compared: &Compared, name: &str, control: Option<&Control>, verdict: &str) -> [String; 7] {
    let (change, interval, _) = changes(control.map(|control| control.change), None);
    let value = absolute(compared.metric, control.and_then(|control| control.value));
    let p = control.map_or(String::new(), |control| p(control.change.p));
    [name.to_owned(), value, change, interval, p, String::new(), verdict.to_owned()]
}

/// The change, its interval, and the blocks that were won.
fn changes(change: Option<Effect>, won: Option<f64>) -> (String, String, String) {
    let Some(effect) = change else { return Default::default() };
    let won =
        won.map_or(String::new(), |share| format!("{:.0} of {}", share * f64::from(effect.n), effect.n));
    (signed_percent(effect.estimate), ends(&effect), won)
}

/// What was watched, what is to be known, and by what margin was judged.
pub(super) fn notes(compared: &Compared) -> Vec<note::Note> {
    let mut notes: Vec<note::Note> = Vec::new();
    for candidate in &compared.candidates {
        let (worse, alike): (Vec<&Guard>, Vec<&Guard>) =
            candidate.guards.iter().partition(|one| one.is_worse);
        let weight = if worse.is_empty() { Weight::Seen } else { Weight::Changed };
        let watched: Vec<String> = worse.into_iter().chain(alike).map(guard).collect();
        if !watched.is_empty() {
            let text = format!("{}: {}.", candidate.name, watched.join("; "));
            notes.push(note::Note::new("watched", text, weight));
        }
        for refused in &candidate.not_granted {
            let text = format!("{refused}: the verdict on it is doubtful.");
            notes.push(note::Note::new("knob-not-granted", text, Weight::Wrong));
        }
        if compared.candidates.len() > 1 && !candidate.reasons.is_empty() {
            let code = if candidate.verdict == Verdict::CannotTell { "cannot tell" } else { "not accepted" };
            let text = format!("{}: {}.", candidate.name, candidate.reasons.join("; "));
            notes.push(note::Note::new(code, text, Weight::Changed));
        }
    }
    notes.push(margin(compared));
    notes
}

/// By what margin was judged.
pub(super) fn margin(compared: &Compared) -> note::Note {
    let noise = compared.same.as_ref().map_or(String::new(), |control| {
        format!("; the A/A control's difference has a standard error of {}", percent(control.standard_error))
    });
    let margin = format!("{} either way{noise}.", percent(compared.margin));
    note::Note::new("margin", margin, Weight::Unsure)
}

/// `half round trip 21.4 µs to 30.1 µs (+41 %), worse`.
pub(super) fn guard(guard: &Guard) -> String {
    let known = METRICS.iter().find(|metric| metric.margin.is_some() && metric.key == guard.name);
    let (title, unit) = known.map_or((guard.name.as_str(), ""), |metric| (metric.title, metric.unit));
    let show = |value: f64| match unit {
        "ns/B" => Nanoseconds(value).rounded(2),
        unit => written(value, unit),
    };
    let change = match known.is_some_and(Metric::changes_by_ratio) {
        true => format!(" ({})", signed_percent(guard.change.estimate)),
        false => String::new(),
    };
    let worse = if guard.is_worse { ", WORSE" } else { "" };
    format!("{title} {} to {}{change}{worse}", show(guard.base), show(guard.value))
}

fn faster(gain: bool) -> &'static str {
    if gain { "faster" } else { "slower" }
}

fn absolute(metric: plan::Metric, estimate: Option<Estimate>) -> String {
    estimate.map_or(String::new(), |estimate| written(estimate.median, metric.number().unit))
}

/// `[-3.1 %, +0.4 %]`.
pub(super) fn ends(effect: &Effect) -> String {
    match (effect.low, effect.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", signed_percent(low), signed_percent(high)),
        _ => "[no interval]".into(),
    }
}

fn p(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { significant(p, 2) }
}
