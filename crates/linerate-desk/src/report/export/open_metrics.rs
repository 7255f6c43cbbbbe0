//! OpenMetrics 1.0 in text: families with a type, a unit and help, samples with labels, `# EOF`.
//!
//! By hand, because Prometheus' own client library keeps counters of a running program and escapes no label, and a
//! recording may hold any text. Units are the base units of OpenMetrics (seconds, ratios), and bits a second; the last
//! word of a name is its unit. What is not known has no sample: there is no NaN.

use crate::analysis::{Cost, CpuTime, Curve, Measure, Table, shown};
use crate::report::rows::cache;
use crate::report::{ImportedReport, LadderEntry, Report, Sheet, SuiteReport};
use crate::statistic::Estimate;
use crate::vocabulary::metric::Family as Named;
use crate::vocabulary::{METRICS, Metric, Quantity, metric};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The base unit of a metric's unit, and what a number is multiplied by.
const UNITS: &[(&str, &str, f64)] = &[
    ("b/s", "bits_per_second", 1.0),
    ("ns", "seconds", 1e-9),
    ("ns/B", "seconds", 1e-9),
    ("1", "ratio", 1.0),
    ("segments", "segments", 1.0),
];

/// Labels and their values; those without a value are left out.
type Labels = Vec<(&'static str, String)>;

/// A family while it is filled.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    samples: Vec<(Labels, f64)>,
}

const fn family(name: &'static str, unit: &'static str, help: &'static str) -> Family {
    Family { name, unit, help, samples: Vec::new() }
}

/// Families that are no metric's: before those of the layers, behind them, and at the end.
const FIRST: [Family; 1] = [family("run_start", "seconds", "When it was measured, since 1970.")];
const BEHIND_LAYERS: [Family; 1] =
    [family("unavailable", "", "A layer that could not be measured; the reason is a label.")];
const LAST: [Family; 5] = [
    family("arm", "ratio", "How an arm of a comparison differs from the base, as a share."),
    family("suite_value", "", "A point of a suite's figure; its unit is a label."),
    family("warning", "", "What makes numbers doubtful, by its code."),
    family(
        "imported",
        "",
        "A number of another tool, in the unit of its label; what it is of its samples is a label.",
    ),
    family("imported_part", "", "The same of a part of a test."),
];

/// Every family in the order of the text, without samples.
fn families() -> Vec<Family> {
    let of_metrics = |named: fn(&Metric) -> Option<Named>| {
        let mut found: Vec<Family> = Vec::new();
        for (named, metric) in METRICS.iter().filter_map(|metric| Some((named(metric)?, metric))) {
            if !found.iter().any(|known| known.name == named.name) {
                found.push(family(named.name, base(metric).0, named.help));
            }
        }
        found
    };
    let all = [
        FIRST.into(),
        of_metrics(|metric| metric.layer),
        BEHIND_LAYERS.into(),
        of_metrics(|metric| metric.curve),
        LAST.into(),
    ];
    all.into_iter().flatten().collect()
}

/// The base unit of a metric, and what its numbers are multiplied by.
fn base(metric: &Metric) -> (&'static str, f64) {
    UNITS.iter().find(|(unit, ..)| *unit == metric.unit).map_or(("", 1.0), |(_, base, scale)| (base, *scale))
}

/// A number of a layer.
enum LayerValue {
    Estimate(Option<Estimate>),
    Alone(Option<f64>),
}

/// Where a layer's entry has a metric: the number, and the labels that it has besides.
type LayerValues = fn(&LadderEntry) -> Vec<(Labels, LayerValue)>;

const LAYER_METRICS: &[(&Metric, LayerValues)] = &[
    (&metric::THROUGHPUT, |layer| vec![(at_size(layer), LayerValue::Estimate(layer.throughput_bps))]),
    (&metric::HALF_ROUND_TRIP, half_round_trips),
    (&metric::KEPT_OF_BELOW, |layer| vec![(at_size(layer), LayerValue::Estimate(layer.kept_of_below))]),
    (&metric::LOSS, |layer| vec![(at_size(layer), LayerValue::Estimate(layer.lost_share))]),
    (&metric::COST_CONSTANT, |layer| cost(layer, |cost| cost.constant_ns)),
    (&metric::COST_PER_BYTE, |layer| cost(layer, |cost| Some(cost.ns_per_byte))),
    (&metric::CPU_SENDER, |layer| cpu(layer, "sender", |cpu| cpu.sender)),
    (&metric::CPU_RECEIVER, |layer| cpu(layer, "receiver", |cpu| cpu.receiver)),
    (&metric::RETRANSMITS, |layer| {
        vec![(Vec::new(), LayerValue::Alone(layer.retransmits.map(|count| count as f64)))]
    }),
    (&metric::BOUND, bounds),
];

fn at_size(layer: &LadderEntry) -> Labels {
    vec![("message_bytes", layer.message_bytes.to_string())]
}

fn half_round_trips(layer: &LadderEntry) -> Vec<(Labels, LayerValue)> {
    let times = &layer.half_round_trip_ns;
    let labels = |wait: &str| vec![("message_bytes", layer.latency_bytes.to_string()), ("wait", wait.into())];
    [("polling", times.polling), ("sleeping", times.sleeping)]
        .map(|(wait, time)| (labels(wait), LayerValue::Estimate(time)))
        .into()
}

fn cost(layer: &LadderEntry, part: fn(&Cost) -> Option<Estimate>) -> Vec<(Labels, LayerValue)> {
    let told = |cost: &Cost| (vec![("wait", cost.wait.to_string())], LayerValue::Estimate(part(cost)));
    layer.cost.iter().map(told).collect()
}

fn cpu(layer: &LadderEntry, end: &str, part: fn(&CpuTime) -> Option<f64>) -> Vec<(Labels, LayerValue)> {
    let told = |cpu: &CpuTime| (vec![("end", end.to_owned())], LayerValue::Alone(part(cpu)));
    layer.cpu_ns_per_byte.iter().map(told).collect()
}

fn bounds(layer: &LadderEntry) -> Vec<(Labels, LayerValue)> {
    let told = |bound: &crate::report::BoundEntry| {
        let binds = layer.bound.as_ref().is_some_and(|binding| binding.name == bound.name);
        let labels = vec![("bound", bound.name.clone()), ("binds", binds.to_string())];
        (labels, LayerValue::Alone(Some(bound.bps)))
    };
    layer.bounds.iter().map(told).collect()
}

/// The text of a report.
pub fn open_metrics(sheet: &Sheet) -> String {
    let (report, table) = (&sheet.report, Table::from_recording(sheet.recording));
    let mut families = Families(families());
    families.run(report);
    report.ladder.iter().for_each(|entry| families.layer(entry));
    let curves = sheet.analysis.curves.iter().filter(|curve| curve.case.is_base());
    let of_curves = shown(|metric| Some(metric.curve?.name));
    curves.for_each(|curve| families.curve(&table, &of_curves, curve));
    report.suites.iter().for_each(|suite| families.suite(suite));
    report.imported.iter().for_each(|imported| families.imported(imported));
    for warning in &report.warnings {
        families.add("warning", vec![("code", warning.code.clone())], Some(1.0));
    }
    families.written(report)
}

struct Families(Vec<Family>);

impl Families {
    fn add(&mut self, name: &str, labels: Labels, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        if let Some(family) = self.0.iter_mut().find(|family| family.name == name) {
            family.samples.push((labels, value));
        }
    }

    /// The median, the ends of its interval and the number of passes.
    fn estimate(&mut self, name: &str, labels: &Labels, estimate: Option<Estimate>, scale: f64) {
        let Some(Estimate { median, low, high, n, .. }) = estimate else { return };
        let with = |part: &str| {
            let more = [("estimate", part.to_owned()), ("passes", n.to_string())];
            labels.iter().cloned().chain(more).collect::<Labels>()
        };
        for (part, value) in [("median", Some(median)), ("low", low), ("high", high)] {
            self.add(name, with(part), value.map(|value| value * scale));
        }
    }

    fn run(&mut self, report: &Report) {
        let start = measured_at(report).and_then(|utc| utc.parse::<jiff::Timestamp>().ok());
        self.add("run_start", Vec::new(), start.map(|at| at.as_second() as f64));
        for candidate in report.arms.iter().flat_map(|arms| &arms.candidates) {
            let labels = |part: &str| {
                vec![
                    ("name", candidate.name.clone()),
                    ("verdict", candidate.verdict.name().into()),
                    ("estimate", part.into()),
                ]
            };
            let Some(change) = candidate.change else { continue };
            for (part, value) in
                [("median", Some(change.estimate)), ("low", change.low), ("high", change.high)]
            {
                self.add("arm", labels(part), value);
            }
        }
    }

    fn layer(&mut self, entry: &LadderEntry) {
        let place = entry.direction.clone().or(entry.host.map(String::from)).unwrap_or_default();
        let labels: Labels =
            vec![("rung", entry.id.clone()), ("place", place), ("flows", entry.flows.to_string())];
        let with = |more: &[(&'static str, &str)]| {
            let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
            labels.iter().cloned().chain(more).collect::<Labels>()
        };
        for (metric, values) in LAYER_METRICS {
            let Some(family) = metric.layer else { continue };
            let (_, scale) = base(metric);
            for (more, told) in values(entry) {
                let labels = labels.iter().cloned().chain(more).collect();
                match told {
                    LayerValue::Estimate(estimate) => self.estimate(family.name, &labels, estimate, scale),
                    LayerValue::Alone(value) => {
                        self.add(family.name, labels, value.map(|value| value * scale))
                    }
                }
            }
        }
        if let Some(not) = &entry.unavailable {
            self.add("unavailable", with(&[("reason", &not.reason.why)]), Some(1.0));
        }
        for warning in &entry.warnings {
            self.add("warning", with(&[("code", &warning.code)]), Some(1.0));
        }
    }

    fn curve(&mut self, table: &Table, shown: &[(&'static str, Vec<Measure>)], curve: &Curve) {
        let case = &curve.case;
        for point in &curve.points {
            let labels: Labels = vec![
                ("rung", case.rung.clone()),
                ("pattern", case.pattern.to_string()),
                ("wait", case.wait.to_string()),
                ("flows", case.flows.to_string()),
                ("from", case.pairs.from_names()),
                ("to", case.pairs.to_names()),
                ("message_bytes", point.message_bytes.to_string()),
                ("cache", cache(point.cache).into()),
            ];
            for (name, measures) in shown {
                let scale = measures.first().map_or(1.0, |measure| base(measure.metric).1);
                self.estimate(name, &labels, table.estimate(case, point.message_bytes, measures), scale);
            }
        }
    }

    fn suite(&mut self, suite: &SuiteReport) {
        for figure in &suite.figures {
            for series in &figure.series {
                for point in &series.points {
                    let labels: Labels = vec![
                        ("suite", suite.name.clone()),
                        ("figure", figure.id.clone()),
                        ("series", series.name.clone()),
                        ("at", point.at.clone()),
                        ("measure", figure.y.clone()),
                        ("unit", figure.unit.clone()),
                    ];
                    self.estimate("suite_value", &labels, Some(point.value), 1.0);
                }
            }
        }
    }

    fn imported(&mut self, imported: &ImportedReport) {
        for entry in &imported.rows {
            let labels: Labels = vec![
                ("tool", imported.tool.clone()),
                ("version", imported.version.clone().unwrap_or_default()),
                ("test", entry.test.clone()),
                ("transport", entry.transport.clone().unwrap_or_default()),
                ("message_bytes", entry.message_bytes.map_or(String::new(), |bytes| bytes.to_string())),
                ("flows", entry.flows.map_or(String::new(), |flows| flows.to_string())),
                ("quantity", quantity(entry.quantity)),
                ("unit", entry.unit.clone()),
                ("statistic", entry.statistic.clone()),
                ("end", entry.end.clone().unwrap_or_default()),
                ("field", entry.field.clone()),
                ("line", entry.line.map_or(String::new(), |line| line.to_string())),
            ];
            self.add("imported", labels.clone(), Some(entry.value));
            for (part, value) in entry.values.iter().enumerate() {
                let labels = labels.iter().cloned().chain([("part", part.to_string())]).collect();
                self.add("imported_part", labels, Some(*value));
            }
        }
    }

    /// The families in the order of the table, and what tells of the run.
    fn written(&self, report: &Report) -> String {
        let mut text = String::new();
        let run = &report.run;
        let about: Labels = vec![
            ("linerate", run.version.clone()),
            ("target", run.target.clone()),
            ("profile", run.profile.clone()),
            ("utc", measured_at(report).cloned().unwrap_or_default()),
            ("plan_hash", run.plan_hash.clone()),
        ];
        text.push_str("# TYPE linerate_run info\n# HELP linerate_run What was run.\n");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "linerate_run_info{} 1", written_labels(&about));
        self.0.iter().filter(|family| !family.samples.is_empty()).for_each(|family| family.write(&mut text));
        text.push_str("# EOF\n");
        text
    }
}

impl Family {
    fn write(&self, text: &mut String) {
        let unit = if self.unit.is_empty() { String::new() } else { format!("_{}", self.unit) };
        let name = format!("linerate_{}{unit}", self.name);
        let _ = writeln!(text, "# TYPE {name} gauge");
        if !self.unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {}", self.unit);
        }
        let _ = writeln!(text, "# HELP {name} {}", escaped(self.help));
        // A sample may stand there once.
        let mut seen = BTreeSet::new();
        for (labels, value) in &self.samples {
            let labels = written_labels(labels);
            if seen.insert(labels.clone()) {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
    }
}

fn written_labels(labels: &Labels) -> String {
    let parts: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(",")) }
}

/// Backslash, quote and line end, as OpenMetrics 1.0 says.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

fn quantity(quantity: Quantity) -> String {
    quantity.entry().words.replace(' ', "_").to_lowercase()
}

/// When it was measured; none of another tool's file that does not say it, for then is not when it was read.
fn measured_at(report: &Report) -> Option<&String> {
    report.imported.as_ref().map_or(Some(&report.run.utc), |imported| imported.measured_utc.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_a_unit_and_a_place() {
        for metric in METRICS {
            let is_exported = metric.layer.is_some() || metric.curve.is_some();
            assert!(!is_exported || !base(metric).0.is_empty(), "{} is in {}", metric.name, metric.unit);
            let places = LAYER_METRICS.iter().filter(|(known, _)| *known == metric).count();
            assert_eq!(places, usize::from(metric.layer.is_some()), "{}", metric.name);
        }
    }
}
