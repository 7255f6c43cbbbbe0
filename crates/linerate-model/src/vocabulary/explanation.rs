//! Every name of the tables, explained in one form.

use super::metric::sampled::{SAMPLED, SampledMetric};
use super::{
    BOUNDS, BREAKS, CAUSES, FAULTS, FaultKind, FaultSite, HINDRANCES, KNOBS, KnobKind, LAB_KEYS,
    LIBRARY_KINDS, METRICS, MPI_ABIS, Metric, OBSERVERS, PATTERNS, PRESETS, RUNGS, SIGNALS, STAGES, SUITES,
    TOOLS, TRANSPORTS, WARNINGS,
};

/// A kind of name.
#[derive(Debug)]
pub struct Kind {
    /// One of it: `metric`.
    pub name: &'static str,
    /// Several of it, and the name of its page: `metrics`.
    pub plural: &'static str,
    /// What such names stand for.
    pub about: &'static str,
    /// The page of the method that tells how they come about, where there is one.
    pub page: &'static str,
    /// Collects its names from their table.
    pub collect: fn() -> Vec<Explanation>,
}

/// What a name means. Texts are parts of sentences: they end without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explanation {
    /// The kind of name: `metric`, `knob`.
    pub kind: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub definition: String,
    /// How it is computed, or from where on it is given; empty where nothing is computed.
    pub formula: String,
    /// Further facts: what each is called, and what it is.
    pub facts: Vec<(&'static str, String)>,
    /// Where it comes from.
    pub source: String,
    /// What to try.
    pub try_this: String,
    /// Its page of the method; empty where its kind's page says all.
    pub page: &'static str,
}

/// Every kind of name in the tables of this room.
pub const KINDS: &[Kind] = &[
    kind("rung", "rungs", "The layers of the ladder.", "kept-and-cost.md", rungs),
    kind("transport", "transports", "What carries the bytes.", "", transports),
    kind(
        "library",
        "libraries",
        "Message libraries that `linerate doctor` looks for.",
        "libraries.md",
        libraries,
    ),
    kind(
        "mpi-abi",
        "mpi-abis",
        "How an MPI's handles and constants lie in memory.",
        "libraries.md",
        mpi_abis,
    ),
    kind("pattern", "patterns", "Who sends what when.", "", patterns),
    kind("metric", "metrics", "The numbers of a report.", "", metrics),
    kind("sampled", "sampled", "What is sampled while a long stream runs.", "throughput.md", sampled),
    kind("knob", "knobs", "What a run may change: `--set KNOB=VALUE`.", "", knobs),
    kind("fault", "faults", "What may be put into a lab by hand: `--fault NAME[=VALUE]`.", "", faults),
    kind("observer", "observers", "What watches a host or a session around each step.", "", observers),
    kind("bound", "bounds", "What a layer's rate cannot pass.", "bounds.md", bounds),
    kind(
        "tunable",
        "tunables",
        "What is searched for settings that gain: `linerate tune`.",
        "tune.md",
        tunables,
    ),
    kind("cause", "causes", "Why a rate is lost, by experiment: `linerate diagnose`.", "diagnose.md", causes),
    kind(
        "signal",
        "signals",
        "What a path shows besides bounds and warnings: signs of causes.",
        "diagnose.md",
        signals,
    ),
    kind(
        "hindrance",
        "hindrances",
        "What is added to a path to see what its rate is sensitive to: `linerate diagnose`.",
        "diagnose.md",
        hindrances,
    ),
    kind("stage", "stages", "Where a message is on its way: `linerate trace`.", "stages.md", stages),
    kind("break", "breaks", "What stands behind a break in a curve.", "breaks.md", breaks),
    kind("lab-key", "lab-keys", "What may be said of a lab: `lab:KEY=VALUE,…`.", "", lab_keys),
    kind("preset", "presets", "Networks that a lab can be like: `lab:NAME`.", "", presets),
    kind("suite", "suites", "The figures of a paper, measured anew: `--suite NAME`.", "suites.md", suites),
    kind("tool", "tools", "Tools whose results `linerate import` reads.", "", tools),
    kind("warning", "warnings", "What makes a number doubtful.", "abnormal-trials.md", warnings),
];

const fn kind(
    name: &'static str,
    plural: &'static str,
    about: &'static str,
    page: &'static str,
    collect: fn() -> Vec<Explanation>,
) -> Kind {
    Kind { name, plural, about, page, collect }
}

impl Kind {
    /// Every name of this kind, in the order of its table.
    pub fn explanations(&self) -> Vec<Explanation> {
        let mut all = (self.collect)();
        all.iter_mut().for_each(|one| one.kind = self.name);
        all
    }
}

/// Every name of every table, kind by kind.
pub fn explanations() -> Vec<Explanation> {
    KINDS.iter().flat_map(Kind::explanations).collect()
}

fn explained(name: &'static str, definition: &str, source: &str, try_this: &str) -> Explanation {
    Explanation {
        name,
        definition: definition.into(),
        source: source.into(),
        try_this: try_this.into(),
        ..Explanation::default()
    }
}

fn rungs() -> Vec<Explanation> {
    let rung = |rung: &super::Rung| {
        let patterns: Vec<String> = rung.patterns.iter().map(ToString::to_string).collect();
        let try_this = format!("linerate run lab --only {}", rung.id);
        let facts = vec![
            ("transport", rung.transport.name.into()),
            ("below", rung.below.unwrap_or("nothing").into()),
            ("patterns", patterns.join(", ")),
        ];
        let by_profile =
            "by the profiles standard and thorough, which have time to choose, or where --only names it";
        let measured = if rung.chooses_engine() { by_profile } else { "where --only names it in full" };
        let on_request = rung.on_request.then(|| ("measured", measured.to_owned()));
        let engines: Vec<&str> = rung.engines.iter().map(|engine| engine.name).collect();
        let engines = (!engines.is_empty()).then(|| ("chosen from", engines.join("; ")));
        Explanation {
            facts: facts.into_iter().chain(on_request).chain(engines).collect(),
            ..explained(rung.id, rung.about, rung.transport.source, &try_this)
        }
    };
    RUNGS.iter().map(rung).collect()
}

fn transports() -> Vec<Explanation> {
    let transport = |transport: &super::TransportEntry| Explanation {
        facts: vec![
            ("ends", transport.ends.to_string()),
            ("copies at each end", transport.copies.to_string()),
            ("smallest message", format!("{} B", transport.least_bytes)),
        ],
        ..explained(transport.name, transport.about, transport.source, "")
    };
    TRANSPORTS.iter().map(transport).collect()
}

fn libraries() -> Vec<Explanation> {
    let library = |kind: &super::LibraryKind| {
        let launchers = if kind.launchers.is_empty() { "none".into() } else { kind.launchers.join(", ") };
        Explanation {
            facts: vec![("files", kind.files.join(", ")), ("launchers", launchers)],
            ..explained(kind.name, kind.about, kind.source, "linerate doctor")
        }
    };
    LIBRARY_KINDS.iter().map(library).collect()
}

fn mpi_abis() -> Vec<Explanation> {
    let abi = |abi: &super::MpiAbi| Explanation {
        facts: vec![("told by", abi.told_by.into()), ("a handle", format!("{} B", abi.handle_bytes))],
        ..explained(abi.name, abi.about, abi.source, "")
    };
    MPI_ABIS.iter().map(abi).collect()
}

fn patterns() -> Vec<Explanation> {
    PATTERNS.iter().map(|pattern| explained(pattern.name, pattern.about, pattern.source, "")).collect()
}

fn metrics() -> Vec<Explanation> {
    let metric = |metric: &'static Metric| Explanation {
        formula: metric.formula.into(),
        facts: facts(metric),
        page: metric.page,
        ..explained(metric.name, metric.about, metric.source, metric.hint)
    };
    METRICS.iter().map(metric).collect()
}

/// What else the table says of a metric: what has nothing to say is left out.
fn facts(metric: &Metric) -> Vec<(&'static str, String)> {
    let better = metric.more_is_better.map(|more| if more { "more" } else { "less" }.to_owned());
    let asked: Vec<String> = metric.parts.iter().map(|part| metric.named(*part)).collect();
    let bounds: Vec<&str> = metric.bounds.iter().map(|bound| bound.name).collect();
    let faults: Vec<&str> = metric.faults.iter().map(|fault| fault.name).collect();
    let families = metric.layer.iter().chain(&metric.curve).map(|family| family.name);
    let keys = if metric.keys.is_empty() { "none of its own".into() } else { metric.keys.join(", ") };
    let more = [
        ("in a plan", asked.join(", ")),
        ("CSV column", if metric.is_column { metric.key.into() } else { String::new() }),
        ("OpenMetrics", families.collect::<Vec<_>>().join(", ")),
        ("bounds", bounds.join(", ")),
        ("faults", faults.join(", ")),
    ];
    let first = [("unit", unit(metric.unit)), ("better", better.unwrap_or_default()), ("JSON keys", keys)];
    first.into_iter().chain(more).filter(|(_, text)| !text.is_empty()).collect()
}

fn sampled() -> Vec<Explanation> {
    let one = |one: &SampledMetric| Explanation {
        facts: vec![("unit", unit(one.unit))],
        ..explained(one.name, one.about, one.source, "")
    };
    SAMPLED.iter().map(one).collect()
}

fn unit(unit: &str) -> String {
    if unit == "1" { "none: a share".into() } else { unit.into() }
}

fn knobs() -> Vec<Explanation> {
    let knob = |knob: &super::Knob| {
        let all = || "all transports".to_owned();
        let applies = if knob.transports.is_empty() { all() } else { knob.transports.join(", ") };
        Explanation {
            facts: vec![
                ("value", value(knob.kind)),
                ("default", knob.default.into()),
                ("applies to", applies),
            ],
            ..explained(knob.name, knob.about, knob.source, knob.hint)
        }
    };
    KNOBS.iter().map(knob).collect()
}

/// A size in the largest binary unit of which it is a whole number.
fn bytes(size: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(shift, _)| size > 0 && size.is_multiple_of(1 << shift));
    whole.map_or_else(|| format!("{size} B"), |(shift, unit)| format!("{} {unit}", size >> shift))
}

fn value(kind: KnobKind) -> String {
    match kind {
        KnobKind::Bytes(least, most) => {
            format!("a size of {} to {}: 256KiB", bytes(least), bytes(most))
        }
        KnobKind::Duration => "a time of at most 1 s: 5us".into(),
        KnobKind::Rate => "a rate of 1 kb/s to 1 Tb/s: 100Mb/s".into(),
        KnobKind::Count(least, most) => format!("a whole number from {least} to {most}"),
        KnobKind::Switch => "on or off".into(),
        KnobKind::Name => "a name that the kernel knows".into(),
        KnobKind::OneOf(words) => words.join(" or "),
        KnobKind::Variables => "variables: NAME=VALUE NAME=VALUE".into(),
        KnobKind::Path => "a file or folder, from the root: /opt/mpi".into(),
        KnobKind::Placement => "the CPUs of the two ends: 0/1, 0,2/1,3, queue or none".into(),
    }
}

fn faults() -> Vec<Explanation> {
    let fault = |fault: &super::FaultEntry| {
        let default = Some(("default", fault.default.to_owned())).filter(|(_, text)| !text.is_empty());
        let value = [("value", fault_value(fault.kind).to_owned())].into_iter().chain(default);
        let more = [("acts on", site(fault.site)), ("imitates", fault.imitates.into())];
        Explanation {
            formula: fault.model.into(),
            facts: value.chain(more).collect(),
            ..explained(fault.name, fault.about, fault.source, fault.hint)
        }
    };
    FAULTS.iter().map(fault).collect()
}

fn fault_value(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Plain => "none",
        FaultKind::Bytes(..) => "a size: 64KiB",
        FaultKind::Duration(..) => "a duration: 20ms",
        FaultKind::Rate(..) => "a rate: 100Mb/s",
        FaultKind::Share(_) => "a share: 1%",
        FaultKind::Count(..) => "a whole number",
        FaultKind::Cpu => "a CPU, and the share of it that is taken: 0, 0/50%",
    }
}

fn site(site: FaultSite) -> String {
    match site {
        FaultSite::Wire => "the wire, in every direction; in one with its ends in front: a-b:NAME".into(),
        FaultSite::WayBack => {
            "the wire, in the directions to host a; in another with its ends in front: a-b:NAME".into()
        }
        FaultSite::Host | FaultSite::Disk | FaultSite::Programs => {
            "every host; one of them with its name in front: b:NAME".into()
        }
        FaultSite::Hosts => "all hosts together".into(),
        FaultSite::Process => "the machine, beside the hosts".into(),
        FaultSite::Flow => "the path from host a to host b".into(),
        FaultSite::Knobs(knobs) => {
            format!("a run, by its knobs: {}", knobs.join(", ").replace("{}", "VALUE"))
        }
    }
}

fn bounds() -> Vec<Explanation> {
    let bound = |bound: &super::BoundEntry| Explanation {
        formula: bound.formula.into(),
        facts: bound.knob.map(|knob| ("knob", knob.to_owned())).into_iter().collect(),
        ..explained(bound.name, bound.meaning, bound.source, bound.hint)
    };
    BOUNDS.iter().map(bound).collect()
}

fn causes() -> Vec<Explanation> {
    let cause = |cause: &super::Cause| Explanation {
        facts: vec![
            ("signs", signs(cause.signs)),
            ("against it", if cause.against.is_empty() { "none".into() } else { signs(cause.against) }),
            ("experiment", experiments(cause)),
            (
                "with --allow host",
                if cause.on_hosts.is_empty() { "nothing more".into() } else { cause.on_hosts.join(", or ") },
            ),
            ("healthy", if cause.is_fault { "has it not" } else { "has it: what the work costs" }.into()),
        ],
        ..explained(cause.name, cause.what, cause.source, cause.fix)
    };
    CAUSES.iter().map(cause).collect()
}

fn hindrances() -> Vec<Explanation> {
    let hindrance = |hindrance: &super::Hindrance| Explanation {
        facts: vec![
            ("setting", one_by_one_or_ends(hindrance.settings, "that nearest to half of what is in flight")),
            (
                "costs at most",
                hindrance.at_most.map_or("not known".into(), |share| format!("{:.0} %", 100.0 * share)),
            ),
        ],
        ..explained(
            hindrance.name,
            &format!("shows how sensitive a rate is to {}", hindrance.of),
            hindrance.source,
            hindrance.hint,
        )
    };
    HINDRANCES.iter().map(hindrance).collect()
}

fn signs(signs: &[super::Sign]) -> String {
    let names: Vec<&str> = signs.iter().map(|sign| sign.name()).collect();
    names.join(", ")
}

/// What is changed; of many steps of one knob the ends.
fn experiments(cause: &super::Cause) -> String {
    if cause.experiments.is_empty() {
        return "none: told by all of its signs together".into();
    }
    let told = one_by_one_or_ends(cause.experiments, "those near the rate");
    if cause.undoes { format!("{told}, where the plan sets another value") } else { told }
}

/// Settings that are tried; of many steps of one knob the ends.
fn one_by_one_or_ends(settings: &[&str], which: &str) -> String {
    match settings {
        [first, .., last] if settings.len() > MOST_EXPERIMENTS => format!("{first} to {last}, {which}"),
        some => some.join(", or "),
    }
}

/// The longest list of experiments that is told one by one.
const MOST_EXPERIMENTS: usize = 6;

fn signals() -> Vec<Explanation> {
    let signal = |signal: &super::SignalEntry| Explanation {
        formula: signal.rule.into(),
        ..explained(
            signal.name,
            signal.what,
            signal.source,
            "`linerate list causes` shows of which cause it is a sign",
        )
    };
    SIGNALS.iter().map(signal).collect()
}

fn tunables() -> Vec<Explanation> {
    let tunable = |one: &super::Tunable| Explanation {
        facts: vec![
            ("levels", one.levels.join(", or ")),
            ("acts on", one.scope.name().into()),
            ("known gain", format!("{:.0} %", 100.0 * one.gain)),
            ("watched", one.guard.into()),
            ("risk", one.risk.into()),
        ],
        ..explained(one.name, &one.knobs().join(", "), one.source, one.keep)
    };
    super::TUNABLES.iter().map(tunable).collect()
}

fn observers() -> Vec<Explanation> {
    let observer = |observer: &super::ObserverEntry| Explanation {
        facts: vec![("needs", observer.needs.into()), ("cost", observer.cost.into())],
        ..explained(observer.name, observer.about, observer.source, observer.hint)
    };
    OBSERVERS.iter().map(observer).collect()
}

fn stages() -> Vec<Explanation> {
    let stage = |stage: &&super::Stage| {
        let point = |point: Option<&super::Point>, otherwise: &str| match point {
            Some(point) => format!("{} ({})", point.name, point.taken),
            None => otherwise.to_owned(),
        };
        let facts = vec![
            ("level", stage.level.to_string()),
            ("begins", point(stage.from, "at the point before, of those that the host stamps")),
            ("ends", point(stage.to, "at what follows")),
        ];
        Explanation {
            formula: stage.formula.into(),
            facts,
            ..explained(stage.name, stage.about, "docs/method/stages.md", stage.hint)
        }
    };
    STAGES.iter().map(stage).collect()
}

fn breaks() -> Vec<Explanation> {
    let class = |class: &super::BreakClass| Explanation {
        formula: class.rule.into(),
        ..explained(class.name, class.meaning, class.source, class.hint)
    };
    BREAKS.iter().map(class).collect()
}

fn lab_keys() -> Vec<Explanation> {
    let key = |key: &super::LabKey| Explanation {
        facts: vec![
            ("value", key.value.into()),
            ("default", key.default.into()),
            (
                "may be said of",
                if key.of_link { "the lab, a pair of hosts, a link" } else { "the lab" }.into(),
            ),
        ],
        ..explained(key.name, key.about, key.source, "")
    };
    LAB_KEYS.iter().map(key).collect()
}

fn presets() -> Vec<Explanation> {
    let preset = |preset: &super::Preset| Explanation {
        facts: vec![("stands for", format!("lab:{}", preset.keys))],
        ..explained(preset.name, preset.about, preset.source, &format!("linerate run lab:{}", preset.name))
    };
    PRESETS.iter().map(preset).collect()
}

fn suites() -> Vec<Explanation> {
    let suite = |suite: &super::SuiteEntry| Explanation {
        facts: vec![("figures", suite.figures.to_owned()), ("plan file", suite.plan.to_owned())],
        ..explained(suite.name, suite.about, suite.paper, &format!("linerate run --suite {} lab", suite.name))
    };
    SUITES.iter().map(suite).collect()
}

fn tools() -> Vec<Explanation> {
    let tool = |tool: &super::Tool| Explanation {
        facts: vec![
            ("reads", tool.files.to_owned()),
            ("to run it", tool.again.to_owned()),
            ("how it measures", tool.how.to_owned()),
        ],
        ..explained(tool.name, tool.about, tool.source, &format!("linerate import FILE --tool {}", tool.name))
    };
    TOOLS.iter().map(tool).collect()
}

fn warnings() -> Vec<Explanation> {
    let warning = |warning: &super::Warning| Explanation {
        formula: warning.rule.into(),
        ..explained(
            warning.code,
            warning.meaning,
            warning.source,
            &warning.hint_with(&super::Placements::default()),
        )
    };
    WARNINGS.iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Kinds whose names say what to try, and those whose names are computed.
    const TRIED: &[&str] = &["rung", "metric", "knob", "fault", "bound", "break", "preset", "warning"];
    const COMPUTED: &[&str] = &["metric", "fault", "bound", "break", "warning"];

    #[test]
    fn every_name_is_defined_and_has_its_source() {
        for one in explanations() {
            let name = format!("{} {}", one.kind, one.name);
            assert!(!one.definition.is_empty() && !one.source.is_empty(), "{name}");
            assert!(!TRIED.contains(&one.kind) || !one.try_this.is_empty(), "{name} has nothing to try");
            assert!(!COMPUTED.contains(&one.kind) || !one.formula.is_empty(), "{name} has no formula");
            let ends = [&one.definition, &one.formula, &one.source, &one.try_this];
            assert!(ends.iter().all(|text| !text.ends_with('.')), "{name} ends with a full stop");
        }
    }

    #[test]
    fn a_name_is_in_its_table_once() {
        let mut seen = BTreeSet::new();
        for one in explanations() {
            assert!(seen.insert((one.kind, one.name)), "{} {} is there twice", one.kind, one.name);
            let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*".contains(c);
            assert!(one.name.chars().all(legal), "{} is not dotted words with dashes", one.name);
        }
    }

    #[test]
    fn every_table_is_explained() {
        let all = explanations();
        for kind in KINDS {
            assert!(all.iter().any(|one| one.kind == kind.name), "{}", kind.plural);
        }
    }
}
