//! What makes numbers doubtful: each kind of warning once a layer, however many trials show it.

mod crossing;
mod estimate;
mod failure;
mod generator;
mod grant;
mod placement;
mod quota;
mod run;
mod stability;
mod step;
mod trial;

use super::bound::Bound;
use super::wire::wire;
use crate::analysis::{Analysis, Curve, Drift, Layer, ShownNumber};
use crate::plan::Case;
use crate::record::{Recording, StepRecord, Trial};
use crate::vocabulary::Warning;
use serde_json::{Value, json};
use std::collections::HashMap;

/// One kind of warning about one layer, or about the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The code in [`WARNINGS`](crate::vocabulary::WARNINGS).
    pub code: &'static str,
    /// The layer, by its place in the analysis; none for the whole run.
    pub layer: Option<usize>,
    /// How much of it there was: `12 of 240 trials, at worst 31 % of the time`.
    pub detail: String,
    /// The same as numbers.
    pub evidence: Value,
    /// What to try on these hosts; where a check does not say it, what its warning says.
    pub hint: String,
}

impl Finding {
    fn new(code: &'static str, layer: Option<usize>, detail: impl Into<String>, evidence: Value) -> Finding {
        Finding { code, layer, detail: detail.into(), evidence, hint: String::new() }
    }

    /// What it means, and how much of it there was.
    pub fn text(&self) -> String {
        let meaning = Warning::named(self.code).map_or("", |warning| warning.meaning);
        if self.detail.is_empty() { meaning.into() } else { format!("{meaning}: {}", self.detail) }
    }
}

/// What the checks look at.
struct Context<'r> {
    recording: &'r Recording,
    layers: &'r [Layer],
    curves: &'r [Curve],
    drifts: &'r [Drift],
    /// What figures of suites show.
    numbers: &'r [ShownNumber],
    ladder_bytes: u64,
    latency_bytes: u64,
    /// Whether a quota of CPU time held the hosts back throughout.
    is_throttled: bool,
    /// The MTU under each layer.
    mtus: Vec<Option<u64>>,
}

/// The trials and steps of one layer, pass 0 left out.
#[derive(Default)]
struct Seen<'r> {
    trials: Vec<&'r Trial>,
    steps: Vec<&'r StepRecord>,
}

/// A check of each trial, or of each step, of a layer.
struct Check<T> {
    code: &'static str,
    /// What exceeds this is doubtful.
    limit: f64,
    /// The share of doubtful ones that is still passed over.
    tolerated: f64,
    /// What is looked at, in a trial or step of this layer; none where the check does not apply.
    measure: fn(&Context, usize, &T) -> Option<f64>,
    /// The name of the largest value in the evidence.
    worst: &'static str,
    /// The largest value in words; empty where the count says it all.
    say: fn(f64) -> String,
}

impl<T> Check<T> {
    /// Counts what is doubtful among `all`, called `noun` in words.
    fn run(&self, context: &Context, layer: usize, noun: &str, all: &[&T]) -> Option<Finding> {
        let values: Vec<f64> = all.iter().filter_map(|one| (self.measure)(context, layer, one)).collect();
        let doubtful: Vec<f64> = values.iter().copied().filter(|value| *value > self.limit).collect();
        if doubtful.is_empty() || doubtful.len() as f64 <= self.tolerated * values.len() as f64 {
            return None;
        }
        let worst = doubtful.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let said = (self.say)(worst);
        let at_worst = if said.is_empty() { said } else { format!(", at worst {said}") };
        let detail = match values.len() - doubtful.len() {
            0 => format!("all {noun}{at_worst}"),
            _ => format!("{} of {} {noun}{at_worst}", doubtful.len(), values.len()),
        };
        let mut evidence = json!({ noun: doubtful.len(), "of": values.len() });
        if !self.worst.is_empty() {
            evidence[self.worst] = json!(worst);
        }
        Some(Finding::new(self.code, Some(layer), detail, evidence))
    }
}

/// A count in words.
fn count(number: f64) -> String {
    format!("{number:.0}")
}

/// A share in words.
fn percent(share: f64) -> String {
    format!("{} %", crate::unit::significant(100.0 * share, 2))
}

/// Every finding of the ladder, by layer and then for the run.
pub(super) fn findings(recording: &Recording, analysis: &Analysis, bounds: &[Vec<Bound>]) -> Vec<Finding> {
    let Analysis { layers, curves, suite_curves, .. } = analysis;
    // What drifts and what passes have in common is told once for the run, of whichever it measured.
    let curves = if curves.is_empty() { suite_curves } else { curves };
    all(&context(recording, analysis, (layers, curves, &analysis.drifts)), bounds)
}

/// What makes the suites' numbers doubtful, case by case.
pub(super) fn of_suites(recording: &Recording, analysis: &Analysis) -> Vec<Finding> {
    let Analysis { suite_layers: layers, suite_curves: curves, .. } = analysis;
    if layers.is_empty() {
        return Vec::new();
    }
    let found = all(&context(recording, analysis, (layers, curves, &[])), &vec![Vec::new(); layers.len()]);
    // What concerns the whole run is told already.
    found.into_iter().filter(|finding| finding.layer.is_some() || finding.code == "shared-cpus").collect()
}

fn context<'r>(
    recording: &'r Recording,
    analysis: &'r Analysis,
    (layers, curves, drifts): (&'r [Layer], &'r [Curve], &'r [Drift]),
) -> Context<'r> {
    Context {
        recording,
        layers,
        curves,
        drifts,
        numbers: &analysis.suite_numbers,
        ladder_bytes: analysis.ladder_bytes,
        latency_bytes: analysis.latency_bytes,
        is_throttled: quota::is_throttled_throughout(recording),
        mtus: mtus(recording, layers),
    }
}

fn mtus(recording: &Recording, layers: &[Layer]) -> Vec<Option<u64>> {
    layers.iter().map(|layer| wire(recording, layer).mtu).collect()
}

fn all(context: &Context<'_>, bounds: &[Vec<Bound>]) -> Vec<Finding> {
    let seen = seen(context);
    // What it explains is not told as something else.
    let mut findings: Vec<Finding> = quota::finding(context).into_iter().collect();
    for (layer, seen) in seen.iter().enumerate() {
        let trials =
            trial::CHECKS.iter().filter_map(|check| check.run(context, layer, "trials", &seen.trials));
        let steps = step::CHECKS.iter().filter_map(|check| check.run(context, layer, "steps", &seen.steps));
        findings.extend(trials.chain(steps));
        findings.extend(estimate::findings(context, layer, &seen.steps, &bounds[layer]));
        findings.extend(generator::finding(context, layer));
        findings.extend(grant::findings(context, layer));
        findings.extend(stability::of_layer(context, layer));
        findings.extend(failure::of_layer(context, layer));
    }
    findings.extend(run::findings(context));
    findings.extend(stability::of_run(context));
    let cpus = placement::placements(context.recording);
    for finding in findings.iter_mut().filter(|finding| finding.hint.is_empty()) {
        finding.hint = Warning::named(finding.code).map_or(String::new(), |warning| warning.hint_with(&cpus));
    }
    findings
}

/// Sorts trials and steps by layer.
fn seen<'r>(context: &Context<'r>) -> Vec<Seen<'r>> {
    let layers = context.layers;
    let mut known: HashMap<&Case, Option<usize>> = HashMap::new();
    let mut layer_of = |case: &'r Case| {
        *known.entry(case).or_insert_with(|| layers.iter().position(|layer| layer.owns(case)))
    };
    let mut seen: Vec<Seen> = layers.iter().map(|_| Seen::default()).collect();
    for trial in context.recording.trials.iter().filter(|trial| trial.pass > 0 && !trial.case.timeline) {
        if let Some(layer) = layer_of(&trial.case) {
            seen[layer].trials.push(trial);
        }
    }
    for step in context.recording.steps.iter().filter(|step| step.pass > 0) {
        if let Some(layer) = layer_of(&step.case) {
            seen[layer].steps.push(step);
        }
    }
    seen
}
