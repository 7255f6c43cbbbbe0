//! The text form of a diagnosis: the answer in words, a line a cause, then the experiments.

use super::arms::{ends, measured};
use super::block::{aligned, borderless};
use super::line::{TEXT_WIDTH, marked, wrapped};
use super::shape::Report;
use super::text::{EXPLAIN, heading};
use super::{Page, note};
use crate::analysis::{Compared, Sensitivity, Verdict};
use crate::diagnosis::{CauseVerdict, Grade};
use crate::plan::SLOWDOWN_PERCENT;
use crate::unit::{percent, signed_percent};
use crate::vocabulary::{Cause, Hindrance, Weight};

const INDENT: &str = "  ";
const BOLD: &str = "\x1b[1m";

/// Writes the diagnosis for a page.
pub(super) fn render(report: &Report, compared: &Compared, causes: &[CauseVerdict], page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).min(TEXT_WIDTH);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        wrapped(&sentence(report, compared, causes), width).iter().map(|line| marked(line, BOLD, page)),
    );
    lines.push(String::new());
    lines.extend(wrapped(&heading(report, Some(measured(compared))), width));
    lines.push(String::new());
    lines.extend(table(causes).iter().map(|line| format!("{INDENT}{line}")));
    if compared.sensitivities.iter().any(|one| one.change.is_some()) {
        lines.push(String::new());
        lines.extend(sensitivities(compared).iter().map(|line| format!("{INDENT}{line}")));
    }
    let mut notes = notes(compared, causes);
    notes.extend(super::arms::disturbances(report));
    let notes = note::brief(notes, EXPLAIN, width - INDENT.len(), str::to_owned);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The answer in words: what holds the rate back, and what it is most sensitive to.
pub(super) fn sentence(report: &Report, compared: &Compared, causes: &[CauseVerdict]) -> String {
    held_back(report, compared, causes) + &most_sensitive(compared)
}

/// What costs most of what was added; nothing where nothing is proved to cost anything. What costs a known share at most goes
/// before the others: how much of it comes through says how much binds there.
fn most_sensitive(compared: &Compared) -> String {
    let costs = compared.sensitivities.iter().filter_map(|one| Some((one.cost()?, one)));
    let most = costs.max_by(|(a, of_a), (b, of_b)| {
        of_a.at_most.is_some().cmp(&of_b.at_most.is_some()).then(a.total_cmp(b))
    });
    let most = most.and_then(|(_, one)| Some((one, Hindrance::named(&one.hindrance)?, one.change?)));
    most.map_or(String::new(), |(one, hindrance, change)| {
        format!(
            " Of what was added it is most sensitive to {}: {} changes it by {} {}.",
            hindrance.of,
            one.name,
            signed_percent(change.estimate),
            ends(&change)
        )
    })
}

/// What the rate is sensitive to, a line each.
fn sensitivities(compared: &Compared) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(["sensitive to", "added", "rate", "interval", "at most", "verdict"]);
    for one in compared.sensitivities.iter().filter(|one| one.change.is_some()) {
        let [of, change, interval, at_most, verdict] = sensitivity(one);
        table.add_row([&of, &one.name, &change, &interval, &at_most, &verdict]);
    }
    aligned(table, |index| [0, 1, 5].contains(&index))
}

fn sensitivity(one: &Sensitivity) -> [String; 5] {
    let of = Hindrance::named(&one.hindrance).map_or(one.hindrance.as_str(), |hindrance| hindrance.of);
    let verdict = match one.verdict {
        Verdict::Different if one.cost().is_some() => "sensitive",
        Verdict::Different => "faster",
        Verdict::Same => "not sensitive",
        Verdict::CannotTell => "cannot tell",
    };
    let change = one.change.map_or(String::new(), |change| signed_percent(change.estimate));
    let interval = one.change.map_or(String::new(), |change| ends(&change));
    let at_most = one.at_most.map_or(String::new(), |share| signed_percent(-share));
    [of.to_owned(), change, interval, at_most, verdict.to_owned()]
}

/// What holds the rate back, in words.
fn held_back(report: &Report, compared: &Compared, causes: &[CauseVerdict]) -> String {
    let of = |grade: Grade, is_fault: bool| {
        causes.iter().filter(move |one| one.grade == grade && one.is_fault == is_fault).collect::<Vec<_>>()
    };
    let path = format!("{} {}>{}", compared.rung, compared.from, compared.to);
    let costs: Vec<String> = of(Grade::Proved, false).into_iter().map(with_gain).collect();
    let costs = match costs.as_slice() {
        [] => String::new(),
        costs => format!(" What the work costs these hosts: {}.", costs.join("; ")),
    };
    let proved: Vec<String> = of(Grade::Proved, true).into_iter().map(with_gain).collect();
    if !proved.is_empty() {
        return format!(
            "{path} is held back, proved by experiment, by {}.{costs}",
            proved.join("; then by ")
        );
    }
    let untried = of(Grade::NotTested, true).into_iter().filter(|one| one.is_left_open());
    let open: Vec<&str> = of(Grade::CannotTell, true).into_iter().chain(untried).map(what).collect();
    let consistent: Vec<&str> = of(Grade::Consistent, true).into_iter().map(what).collect();
    let short = compared.shortfall().filter(|_| of(Grade::Proved, false).is_empty() && consistent.is_empty());
    let all_there = compared.all_there();
    let is_doubted = !compared.doubts.is_empty() && all_there.is_none();
    if !open.is_empty() || is_doubted || short.is_some() {
        let because = match (compared.doubts.as_slice(), short) {
            ([], Some(share)) if open.is_empty() => {
                format!(
                    "it has {} of what is expected, and nothing that was tried explains that",
                    percent(share)
                )
            }
            ([], _) => format!("neither proved nor ruled out: {}", open.join("; ")),
            (doubts, _) => doubts.join("; "),
        };
        let beside = match consistent.as_slice() {
            [] => String::new(),
            consistent => format!(" It behaves as if {}.", told_as_if(consistent)),
        };
        return format!("Whether {path} is held back cannot be told: {because}.{beside}{costs}");
    }
    if !consistent.is_empty() {
        return format!("{path} behaves as if {}.{costs}", told_as_if(&consistent));
    }
    let ruled_out = [true, false].map(|is_fault| of(Grade::RuledOut, is_fault).len()).iter().sum::<usize>();
    let untold: Vec<&str> = of(Grade::CannotTell, false).into_iter().map(what).collect();
    let (silent, left): (Vec<&CauseVerdict>, Vec<&CauseVerdict>) =
        of(Grade::NotTested, true).into_iter().partition(|one| one.is_without_sign());
    let parts = [
        all_there.map(|share| format!("it has {} of what is expected", percent(share))),
        (ruled_out > 0).then(|| format!("{} ruled out within {}", are(ruled_out), percent(compared.margin))),
        (!silent.is_empty()).then(|| format!("of {} nothing is to be seen", silent.len())),
        (!left.is_empty() && all_there.is_none()).then(|| format!("{} could not be tried", left.len())),
        (!untold.is_empty()).then(|| format!("what it costs cannot be told of: {}", untold.join("; "))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let link = link(report, compared).map_or(String::new(), |bound| format!(" The link binds: {bound}."));
    let sure = how_sure(compared, causes);
    format!("{path} is healthy as far as was tried: {}.{sure}{link}{costs}", parts.join("; "))
}

/// `held back by one; another, which could not be changed here`.
fn told_as_if(consistent: &[&str]) -> String {
    format!("held back by {}, which could not be changed here", consistent.join("; "))
}

/// How much would have been found: no change of what was ruled out gains more than this, and the controls show what is seen.
fn how_sure(compared: &Compared, causes: &[CauseVerdict]) -> String {
    let ruled_out = causes.iter().filter(|one| one.is_fault && one.grade == Grade::RuledOut);
    let gains = ruled_out.filter_map(|one| one.gain?.high).filter(|high| high.is_finite());
    let most = gains.fold(None, |most: Option<f64>, high| Some(most.map_or(high, |most| most.max(high))));
    let gains = most.map(|high| format!("no change of theirs gains more than {}", percent(high.max(0.0))));
    let seen = compared.slowed.as_ref().map(|slowed| {
        format!(
            "a sender slowed by {SLOWDOWN_PERCENT} % was seen as {}",
            signed_percent(slowed.change.estimate)
        )
    });
    let doubts = (!compared.doubts.is_empty())
        .then(|| format!("of changes nothing can be told ({})", compared.doubts.join("; ")));
    let told: Vec<String> = [gains, doubts.or(seen)].into_iter().flatten().collect();
    if told.is_empty() { String::new() } else { format!(" How sure: {}.", told.join("; ")) }
}

/// `one cause is`, `seven causes are`.
fn are(count: usize) -> String {
    if count == 1 { "1 cause is".into() } else { format!("{count} causes are") }
}

/// What says that the link binds what was compared, where it does.
fn link<'r>(report: &'r Report, compared: &Compared) -> Option<&'r str> {
    let entry = report.ladder.iter().find(|entry| entry.id == compared.rung && entry.flows == 1)?;
    entry.bound.as_ref().filter(|bound| bound.name == "link").map(|bound| bound.evidence.as_str())
}

fn what(verdict: &CauseVerdict) -> &str {
    Cause::named(&verdict.cause).map_or(&verdict.cause, |cause| cause.what)
}

/// `a send buffer …: socket.send-buffer=4MiB carries +310 % [+290 %, +330 %]`.
fn with_gain(verdict: &CauseVerdict) -> String {
    let nothing_else = || format!(" (with {} messages pass, and without it none)", verdict.experiment);
    let gain = verdict.gain.map_or_else(nothing_else, |gain| {
        format!(
            " ({} changes the rate by {} {}{})",
            verdict.experiment,
            signed_percent(gain.estimate),
            ends(&gain),
            verdict.explained.map_or(String::new(), explained),
        )
    });
    format!("{}{gain}", what(verdict))
}

/// `, 40 % of what is missing`.
fn explained(share: f64) -> String {
    if share >= 1.0 {
        ", all that is missing".into()
    } else {
        format!(", {} of what is missing", percent(share))
    }
}

const GRADES: &[(Grade, &str)] = &[
    (Grade::Proved, "proved"),
    (Grade::Consistent, "consistent"),
    (Grade::RuledOut, "ruled out"),
    (Grade::NotTested, "not tested"),
    (Grade::CannotTell, "cannot tell"),
];

fn table(causes: &[CauseVerdict]) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(["cause", "verdict", "changed", "rate", "interval"]);
    for one in causes.iter().filter(|one| !one.is_without_sign()) {
        let grade = GRADES.iter().find(|(grade, _)| *grade == one.grade).map_or("", |(_, name)| name);
        let gain = one.gain.map_or(String::new(), |gain| signed_percent(gain.estimate));
        let interval = one.gain.map_or(String::new(), |gain| ends(&gain));
        table.add_row([one.cause.as_str(), grade, &one.experiment, &gain, &interval]);
    }
    aligned(table, |index| index < 3)
}

/// The remedies of what is proved, why others could not be tried, and by what margin was judged.
pub(super) fn notes(compared: &Compared, causes: &[CauseVerdict]) -> Vec<note::Note> {
    let mut notes: Vec<note::Note> = Vec::new();
    for one in causes {
        let evidence = one.evidence.join("; ");
        match one.grade {
            Grade::Proved => {
                notes.push(note::Note::new("fix", format!("{}: {}.", one.cause, one.fix), Weight::Wrong))
            }
            Grade::NotTested if one.is_without_sign() => {}
            Grade::Consistent => {
                let told = format!("{}: {evidence}. To try: {}.", one.cause, one.fix);
                notes.push(note::Note::new("not changed", told, Weight::Wrong));
            }
            Grade::NotTested => {
                notes.push(note::Note::new(
                    "not tested",
                    format!("{}: {evidence}.", one.cause),
                    Weight::Unsure,
                ));
            }
            Grade::CannotTell => {
                notes.push(note::Note::new(
                    "cannot tell",
                    format!("{}: {evidence}.", one.cause),
                    Weight::Changed,
                ));
            }
            Grade::RuledOut => {}
        }
    }
    let silent: Vec<&str> =
        causes.iter().filter(|one| one.is_without_sign()).map(|one| one.cause.as_str()).collect();
    if !silent.is_empty() {
        notes.push(note::Note::new("no sign", format!("{}.", silent.join(", ")), Weight::Unsure));
    }
    let not_made = compared.sensitivities.iter().filter(|one| one.change.is_none());
    let not_made: Vec<&str> = not_made.map(|one| one.hindrance.as_str()).collect();
    if !not_made.is_empty() {
        let told = format!("{}: no time was left, or no value is near.", not_made.join(", "));
        notes.push(note::Note::new("not added", told, Weight::Unsure));
    }
    notes.push(super::arms::margin(compared));
    notes
}
