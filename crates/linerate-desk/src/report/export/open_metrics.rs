//! OpenMetrics 1.0 in text: families with a type, a unit and help, samples with labels, `# EOF`.
//!
//! By hand, because Prometheus' own client library keeps counters of a running program and escapes no label, and a
//! recording may hold any text. Units are the base units of OpenMetrics (seconds, ratios), and bits a second; the last
//! word of a name is its unit. What is not known has no sample: there is no NaN.

use crate::report::{CurveEntry, ImportedReport, LadderEntry, Report, SuiteReport};
use crate::statistic::Estimate;
use crate::vocabulary::Quantity;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Nanoseconds in a second.
const NS: f64 = 1e-9;

/// Labels and their values; those without a value are left out.
type Labels = Vec<(&'static str, String)>;

/// A family while it is filled.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    samples: Vec<(Labels, f64)>,
}

/// Every family, by its name without prefix and unit. The order is that of the text.
const FAMILIES: [(&str, &str, &str); 18] = [
    ("run_start", "seconds", "When it was measured, since 1970."),
    (
        "throughput",
        "bits_per_second",
        "Throughput of a layer: the receiver's bytes over its clock, at the size at which layers are compared.",
    ),
    ("half_round_trip", "seconds", "Half of a round trip of a layer. It is no one-way delay."),
    ("kept_of_below", "ratio", "Throughput as a share of the layer below, paired within passes."),
    ("lost", "ratio", "The share of a stream's datagrams that did not arrive."),
    ("cost_constant", "seconds", "What a layer adds to the time of each message."),
    ("cost_per_byte", "seconds", "What a layer adds for each byte."),
    ("cpu_per_byte", "seconds", "CPU time of an end's threads for each byte."),
    ("retransmits", "segments", "Segments that were sent again during the streams of a layer."),
    ("bound", "bits_per_second", "What a layer's rate cannot pass."),
    ("unavailable", "", "A layer that could not be measured; the reason is a label."),
    (
        "curve_throughput",
        "bits_per_second",
        "Throughput against message size; of a ping-pong, the message over half of its round trip.",
    ),
    ("curve_half_round_trip", "seconds", "Half of a round trip against message size."),
    ("arm", "ratio", "How an arm of a comparison differs from the base, as a share."),
    ("suite_value", "", "A point of a suite's figure; its unit is a label."),
    ("warning", "", "What makes numbers doubtful, by its code."),
    (
        "imported",
        "",
        "A number of another tool, in the unit of its label; what it is of its samples is a label.",
    ),
    ("imported_part", "", "The same of a part of a test."),
];

/// The text of a report.
pub fn open_metrics(report: &Report) -> String {
    let mut families = Families::default();
    families.run(report);
    report.ladder.iter().for_each(|entry| families.layer(entry));
    report.curves.iter().for_each(|entry| families.curve(entry));
    report.suites.iter().for_each(|suite| families.suite(suite));
    report.imported.iter().for_each(|imported| families.imported(imported));
    for warning in &report.warnings {
        families.add("warning", vec![("code", warning.code.clone())], Some(1.0));
    }
    families.written(report)
}

#[derive(Default)]
struct Families(Vec<Family>);

impl Families {
    fn add(&mut self, name: &'static str, labels: Labels, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        if let Some(family) = self.0.iter_mut().find(|family| family.name == name) {
            return family.samples.push((labels, value));
        }
        let known = FAMILIES.iter().find(|(known, ..)| *known == name);
        let (unit, help) = known.map_or(("", ""), |(_, unit, help)| (*unit, *help));
        self.0.push(Family { name, unit, help, samples: vec![(labels, value)] });
    }

    /// The median, the ends of its interval and the number of passes.
    fn estimate(&mut self, name: &'static str, labels: &Labels, estimate: Option<Estimate>, scale: f64) {
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
        let start = report.run.utc.parse::<jiff::Timestamp>().ok();
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
        let size = entry.message_bytes.to_string();
        let at_size = with(&[("message_bytes", &size)]);
        self.estimate("throughput", &at_size, entry.throughput_bps, 1.0);
        self.estimate("kept_of_below", &at_size, entry.kept_of_below, 1.0);
        self.estimate("lost", &at_size, entry.lost_share, 1.0);
        let latency = entry.latency_bytes.to_string();
        for (wait, time) in
            [("polling", entry.half_round_trip_ns.polling), ("sleeping", entry.half_round_trip_ns.sleeping)]
        {
            self.estimate("half_round_trip", &with(&[("message_bytes", &latency), ("wait", wait)]), time, NS);
        }
        if let Some(cost) = &entry.cost {
            let labels = with(&[("wait", &cost.wait.to_string())]);
            self.estimate("cost_constant", &labels, cost.constant_ns, NS);
            self.estimate("cost_per_byte", &labels, Some(cost.ns_per_byte), NS);
        }
        if let Some(cpu) = &entry.cpu_ns_per_byte {
            self.add("cpu_per_byte", with(&[("end", "sender")]), cpu.sender.map(|ns| ns * NS));
            self.add("cpu_per_byte", with(&[("end", "receiver")]), cpu.receiver.map(|ns| ns * NS));
        }
        self.add("retransmits", with(&[]), entry.retransmits.map(|count| count as f64));
        for bound in &entry.bounds {
            let binds = entry.bound.as_ref().is_some_and(|binding| binding.name == bound.name);
            self.add(
                "bound",
                with(&[("bound", &bound.name), ("binds", if binds { "true" } else { "false" })]),
                Some(bound.bps),
            );
        }
        if let Some(not) = &entry.unavailable {
            self.add("unavailable", with(&[("reason", &not.reason.why)]), Some(1.0));
        }
        for warning in &entry.warnings {
            self.add("warning", with(&[("code", &warning.code)]), Some(1.0));
        }
    }

    fn curve(&mut self, curve: &CurveEntry) {
        for point in &curve.points {
            let labels: Labels = vec![
                ("rung", curve.id.clone()),
                ("pattern", curve.pattern.to_string()),
                ("wait", curve.wait.to_string()),
                ("flows", curve.flows.to_string()),
                ("from", curve.from.to_string()),
                ("to", curve.to.to_string()),
                ("message_bytes", point.message_bytes.to_string()),
                ("cache", format!("{:?}", point.cache).to_lowercase()),
            ];
            self.estimate("curve_throughput", &labels, point.throughput_bps, 1.0);
            self.estimate("curve_half_round_trip", &labels, point.half_round_trip_ns, NS);
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
            ("utc", run.utc.clone()),
            ("plan_hash", run.plan_hash.clone()),
        ];
        text.push_str("# TYPE linerate_run info\n# HELP linerate_run What was run.\n");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "linerate_run_info{} 1", written_labels(&about));
        for (name, ..) in FAMILIES {
            if let Some(family) = self.0.iter().find(|family| family.name == name) {
                family.write(&mut text);
            }
        }
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
