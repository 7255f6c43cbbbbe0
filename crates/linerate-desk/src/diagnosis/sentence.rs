//! The answer in one sentence.

use super::bound::{Bound, binding, next, rest_ns_per_byte};
use super::doubt::Finding;
use super::planted::all_faults;
use crate::analysis::{Analysis, Layer};
use crate::plan::Plan;
use crate::record::Recording;
use crate::unit::{BitRate, percent, significant, supported_digits};
use crate::vocabulary::{Knob, KnobKind, Place, RUNGS};

/// The finding that may explain a rate which no bound explains.
const DISTURBANCE: &str = "foreign-cpu";
/// The findings that explain more than any bound, and what each says of these hosts.
const FIRST: [(&str, &str); 2] = [
    ("throttled", "A quota of CPU time holds these hosts back"),
    ("large-vanish", "Large messages vanish between these hosts"),
];

/// How much more several flows must carry before it is worth a word.
const WORTH_SAYING: f64 = 1.1;

/// What binds the topmost layer, and by what evidence; or that it cannot be told.
pub(super) fn sentence(
    recording: &Recording,
    analysis: &Analysis,
    bounds: &[Vec<Bound>],
    findings: &[Finding],
) -> String {
    let first = FIRST.iter().filter_map(|(code, says)| {
        let finding = findings.iter().find(|finding| finding.code == *code)?;
        Some(format!("{says}: {}.", finding.detail))
    });
    let first: Vec<String> = first.collect();
    let Some(top) = topmost(&analysis.layers) else {
        return [first, vec![nothing(recording, analysis)]].concat().join(" ");
    };
    let layer = &analysis.layers[top];
    let told = match binding(&bounds[top]) {
        Some(bound) => bound_told(layer, bound, &bounds[top]),
        None => {
            let disturbed = findings.iter().find(|one| one.layer == Some(top) && one.code == DISTURBANCE);
            untold(layer, &bounds[top], disturbed)
        }
    };
    let told = format!("{told}{}{}.", several_flows(analysis, layer), best_engine(analysis, layer));
    let faults = all_faults(recording.plan(), &layer.rung);
    let told = if faults.is_empty() { told } else { format!("With {faults} put in by hand: {told}") };
    let hint = binding(&bounds[top]).and_then(|bound| hint(recording.plan(), layer, bound));
    let told = [Some(told), next_told(layer, &bounds[top]), hint];
    first.into_iter().chain(told.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

/// The highest layer with a throughput, of the chain if any of it was measured; one flow and one way
/// before several, the first direction first.
fn topmost(layers: &[Layer]) -> Option<usize> {
    let measured = |layer: &&Layer| layer.throughput_bps.is_some();
    let in_chain = |layer: &&Layer| !RUNGS.iter().any(|rung| rung.id == layer.rung && rung.sibling);
    let mut downward = layers.iter().rev().filter(measured);
    let rung = downward.clone().find(in_chain).or(downward.next()).map(|layer| &layer.rung)?;
    let plain = |layer: &Layer| measured(&layer) && layer.rung == *rung;
    layers.iter().position(plain)
}

fn nothing(recording: &Recording, analysis: &Analysis) -> String {
    let error = recording.end.as_ref().and_then(|end| end.error.as_deref());
    let is_exchanged = |layer: &Layer| layer.polling_ns.or(layer.sleeping_ns).is_some();
    let what = if analysis.layers.iter().any(is_exchanged) { "No throughput" } else { "Nothing" };
    match error {
        Some(error) => format!("{what} was measured: {error}."),
        None => format!("{what} was measured."),
    }
}

fn rate(layer: &Layer) -> String {
    let Some(estimate) = layer.throughput_bps else { return "no rate".into() };
    BitRate(estimate.median).rounded(supported_digits(estimate.median, estimate.half_width()))
}

fn bound_told(layer: &Layer, bound: &Bound, bounds: &[Bound]) -> String {
    let what = what(bound);
    let measured = layer.throughput_bps.map_or(0.0, |estimate| estimate.median);
    let name = layer.name();
    let evidence = &bound.evidence;
    if bound.name == "link" {
        let share = format!("{:.0}", 100.0 * measured / bound.bps);
        return format!("{what}: {evidence}, and {name} carries {}, {share} % of it", rate(layer));
    }
    let link = bounds.iter().find(|bound| bound.name == "link");
    let room = match link {
        Some(link) if next(bounds).is_some_and(|next| next.name == link.name) => String::new(),
        Some(link) if link.bps > bound.bps => format!("; the link could carry {}", BitRate(link.bps)),
        None if layer.place == Place::Network => "; the link may carry more".into(),
        _ => String::new(),
    };
    if bound.name.ends_with("cpu") {
        let most = BitRate(bound.bps).rounded(2);
        return format!("{what}: {evidence}, so {name} cannot pass {most} here{room}");
    }
    format!("{what}: {evidence}, and {name} carries {}{room}", rate(layer))
}

/// What binds, as a sentence begins.
fn what(bound: &Bound) -> &'static str {
    bound.entry().map_or(bound.name, |entry| entry.what)
}

/// What a perfect fix of the binding bound can give.
fn next_told(layer: &Layer, bounds: &[Bound]) -> Option<String> {
    let next = next(bounds)?;
    let measured = layer.throughput_bps?.median;
    let mut letters = what(next).chars();
    let first = letters.next()?.to_lowercase();
    let what = format!("{first}{}", letters.as_str());
    if next.bps <= measured * WORTH_SAYING {
        return Some(format!("A perfect fix of that alone gives little: then {what}."));
    }
    Some(format!("A perfect fix of that can give at most {}: then {what}.", BitRate(next.bps).rounded(2)))
}

/// No bound explains the rate: say so, and what was looked at.
fn untold(layer: &Layer, bounds: &[Bound], disturbed: Option<&Finding>) -> String {
    let head = format!("What binds {} at {} cannot be told", layer.name(), rate(layer));
    let disturbed = disturbed.map(|finding| format!("another process used its CPUs in {}", finding.detail));
    let evidence = bounds.iter().map(|bound| bound.evidence.clone());
    let mut looked: Vec<String> = disturbed.into_iter().chain(evidence).collect();
    if looked.is_empty() {
        return format!("{head}: nothing was recorded that bounds it");
    }
    looked.truncate(3);
    let rest = rest_ns_per_byte(layer, bounds).map(|rest| significant(rest, 2));
    let rest = rest.map_or(String::new(), |rest| format!("; {rest} ns a byte are none of these"));
    format!("{head}: {}{rest}", looked.join("; "))
}

/// What several flows carry together, where it is clearly more.
fn several_flows(analysis: &Analysis, layer: &Layer) -> String {
    let same = |other: &&Layer| {
        (&other.rung, &other.from, &other.to, other.both_ways)
            == (&layer.rung, &layer.from, &layer.to, layer.both_ways)
            && other.flows > layer.flows
    };
    let Some(several) = analysis.layers.iter().filter(same).max_by_key(|other| other.flows) else {
        return String::new();
    };
    let medians = several.throughput_bps.zip(layer.throughput_bps).map(|(a, b)| a.median / b.median);
    match medians {
        Some(ratio) if ratio > WORTH_SAYING => {
            format!("; {} flows together carry {}", several.flows, rate(several))
        }
        _ => String::new(),
    }
}

/// What the engine carries that looks found to be the fastest, paired with the plain calls within passes.
fn best_engine(analysis: &Analysis, layer: &Layer) -> String {
    let is_upon = |other: &&Layer| {
        other.below == Some(layer.rung.as_str())
            && (&other.from, &other.to, other.flows) == (&layer.from, &layer.to, layer.flows)
    };
    let chosen =
        analysis.layers.iter().filter(is_upon).find_map(|other| Some((other, other.chosen.as_ref()?)));
    let Some((best, engine)) = chosen.filter(|(best, _)| best.throughput_bps.is_some()) else {
        return String::new();
    };
    let by = format!("by its best engine here, {engine}, it carries {}", rate(best));
    let Some(share) = best.kept_of_below else { return format!("; {by}") };
    match (share.low, share.high) {
        (Some(low), Some(high)) if low > 1.0 => {
            format!("; {by}, {} to {} more", percent(low - 1.0), percent(high - 1.0))
        }
        (Some(_), Some(_)) => format!("; {by}, which is not shown to be more"),
        _ => format!("; {by}, of too few passes to tell whether that is more"),
    }
}

/// What to try against a bound: the knob that holds it, or a large buffer where none was set.
fn hint(plan: Option<&Plan>, layer: &Layer, bound: &Bound) -> Option<String> {
    let name = bound.entry()?.knob?;
    let set = plan?.settings_for(&layer.rung, 0).filter(|setting| setting.knob == name).last();
    let knob = Knob::named(name)?;
    match set {
        Some(setting) => Some(format!("Try without --set {setting}.")),
        None => matches!(knob.kind, KnobKind::Bytes(..)).then(|| format!("Try --set {name}=16MiB.")),
    }
}
