//! In which panel a stated value belongs: by what was measured there, how, of what, and along which axis; and of those
//! that belong in none, why.

use super::doubt;
use super::paper::{PAPERS, Paper};
use super::row::{Kind, Layer, Row, Size};
use super::said::{label, printed};
use crate::unit::Bytes;
use crate::vocabulary::Pattern;
use Pattern::{Connect, FixedCount, PingPing, PingPong, Stream};
use std::ops::RangeInclusive;

/// What runs along the horizontal axis of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// The size of a message.
    Size,
    /// The number of connections.
    Connections,
    /// The number of rules of a packet filter.
    Rules,
}

/// What a panel shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelOf<'p> {
    /// The number along y, as a plan calls it.
    pub measure: &'p str,
    /// What is along x.
    pub along: Along,
    /// Who sends what when.
    pub patterns: &'p [Pattern],
    /// What it is of.
    pub layers: &'p [Layer],
    /// The paper.
    pub paper: &'p str,
    /// The paper's hosts; none for all of them.
    pub testbed: Option<&'p str>,
}

/// A stated value, and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// As it was printed.
    pub row: &'static Row,
    /// The paper.
    pub paper: &'static Paper,
    /// What was measured with what.
    pub label: String,
    /// The number as printed.
    pub printed: String,
    /// What is doubtful about it.
    pub note: String,
    /// What it is drawn as, or why it is not.
    pub shown: Result<Shown, &'static str>,
}

/// How a value is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The numbers along y that it is one of, or speaks of.
    measures: &'static [&'static str],
    patterns: &'static [Pattern],
    along: Along,
    /// The value in our units, the middle of a range; none of a place along x.
    pub value: Option<f64>,
    /// The ends of a range.
    pub range: Option<(f64, f64)>,
    /// The message sizes that it holds for, or the numbers of rules where those are along x.
    pub sizes: Option<RangeInclusive<u64>>,
    /// What was made of it to stand there.
    pub made: &'static str,
}

impl Shown {
    /// What a line is drawn as, or why it is not.
    pub(super) fn of_row(row: &Row) -> Result<Shown, &'static str> {
        shown(row)
    }

    /// Whether it is this number of one of these patterns, one size after the other.
    pub(super) fn is_of(&self, measure: &str, patterns: &[Pattern]) -> bool {
        let is_alike = self.patterns.iter().any(|pattern| patterns.contains(pattern));
        self.measures.contains(&measure) && self.along == Along::Size && is_alike
    }

    /// Whether it is of small messages, where no size is said: a time is, a rate is not.
    pub fn is_of_small(&self) -> bool {
        self.measures == TIME
    }
}

impl Stated {
    /// Whether it belongs in a panel.
    pub fn belongs(&self, panel: &PanelOf) -> bool {
        let Ok(shown) = &self.shown else { return false };
        shown.measures.contains(&panel.measure)
            && shown.along == panel.along
            && shown.patterns.iter().any(|pattern| panel.patterns.contains(pattern))
            && panel.layers.contains(&self.row.layer)
            && self.paper.id == panel.paper
            && panel.testbed.is_none_or(|testbed| self.row.testbed == testbed)
    }

    /// The value of a line.
    pub(super) fn of_row(row: &'static Row) -> Option<Stated> {
        Some(Stated {
            row,
            paper: PAPERS.iter().find(|paper| paper.id == row.paper)?,
            label: label(row),
            printed: printed(row),
            note: doubt::note(row),
            shown: Shown::of_row(row),
        })
    }
}

/// What is done with the lines of a test: the first rule that fits.
struct Rule {
    /// What the test begins with.
    test: &'static str,
    /// What the metric begins with.
    metric: &'static str,
    /// What stands in the configuration.
    config: &'static str,
    /// What it is drawn as, or why it is not.
    then: Result<Drawn, &'static str>,
}

struct Drawn {
    measures: &'static [&'static str],
    patterns: &'static [Pattern],
    along: Along,
    /// What a value is multiplied by; none where it is a place along x.
    factor: Option<f64>,
    made: &'static str,
}

const TIME: &[&str] = &["half-round-trip"];
const RATE: &[&str] = &["throughput"];
const OF_EXCHANGES: &[&str] = &["ping-pong-throughput"];

const fn rule(test: &'static str, metric: &'static str, then: Result<Drawn, &'static str>) -> Rule {
    Rule { test, metric, config: "", then }
}

const fn value(
    measures: &'static [&'static str],
    patterns: &'static [Pattern],
) -> Result<Drawn, &'static str> {
    Ok(Drawn { measures, patterns, along: Along::Size, factor: Some(1.0), made: "" })
}

/// A value by the number of rules of a packet filter.
const fn by_rules(
    measures: &'static [&'static str],
    patterns: &'static [Pattern],
) -> Result<Drawn, &'static str> {
    Ok(Drawn { measures, patterns, along: Along::Rules, factor: Some(1.0), made: "" })
}

/// A place along x at which something happens to these numbers.
const fn place(
    measures: &'static [&'static str],
    patterns: &'static [Pattern],
) -> Result<Drawn, &'static str> {
    Ok(Drawn { measures, patterns, along: Along::Size, factor: None, made: "" })
}

/// The test of whole files.
const OF_FILES: &str = "file transfer WAN";

/// What tells the number of rules of a packet filter in a configuration.
const OF_RULES: &str = "rules=";

const RULES: &[Rule] = &[
    Rule { config: OF_RULES, ..rule("netperf TCP_STREAM", "throughput", by_rules(RATE, &[Stream])) },
    Rule { config: OF_RULES, ..rule("netperf TCP_RR", "rtt", by_rules(&["round-trip"], &[PingPong])) },
    rule(OF_FILES, "throughput", value(&["file-throughput"], &[Pattern::File])),
    rule("netperf WAN", "", Err("of all numbers of rules at once: conclusions of the suite test it")),
    rule("netfilter", "", Err("a difference of two values of the paper")),
    rule("pktgen", "packet_rate", value(&["message-rate"], &[Stream])),
    rule("pktgen", "", Err("no figure has the bits a second of raw frames: their number a second is drawn")),
    rule("STREAM", "mem_bw", value(RATE, &[Stream])),
    rule("NTTCP", "throughput", value(RATE, &[FixedCount])),
    rule("NTTCP", "falloff_start", place(RATE, &[FixedCount])),
    rule("NetPIPE stream", "throughput", value(RATE, &[Stream])),
    // NetPIPE sends a message back and forth, where it is not asked for streams.
    rule("NetPIPE", "throughput", value(OF_EXCHANGES, &[PingPong])),
    rule("NetPIPE", "latency_rtt_half", value(TIME, &[PingPong])),
    rule("NetPIPE", "dip_at", place(&["half-round-trip", "ping-pong-throughput"], &[PingPong])),
    Rule { config: "unidirectional", ..rule("MPBench", "throughput", value(RATE, &[Stream])) },
    Rule {
        config: "bidirectional",
        ..rule(
            "MPBench",
            "throughput",
            Ok(Drawn {
                measures: &["exchange-throughput"],
                patterns: &[PingPing],
                along: Along::Size,
                factor: Some(0.5),
                made: "the paper adds both ways up: a half of it is each way",
            }),
        )
    },
    rule("MPBench", "latency_rtt_half", value(TIME, &[PingPong])),
    rule("MPBench", "round_trips", value(&["round-trip-rate"], &[PingPong])),
    rule("MPBench", "falloff_start", place(&["throughput", "exchange-throughput"], &[Stream, PingPing])),
    rule("ping-pong", "latency", value(TIME, &[PingPong])),
    rule("ping-pong", "crossover", Err("it compares two networks of the paper")),
    rule("unidirectional", "throughput", value(RATE, &[Stream])),
    rule("unidirectional", "dip_at", place(RATE, &[Stream])),
    rule("bidirectional", "throughput", value(RATE, &[Pattern::Bidirectional])),
    rule(
        "multi-stream",
        "throughput",
        Ok(Drawn {
            measures: RATE,
            patterns: &[Stream],
            along: Along::Connections,
            factor: Some(1.0),
            made: "",
        }),
    ),
    rule("connect", "connect_time", value(&["connect-time.p50"], &[Connect])),
    rule("netperf TCP_STREAM", "throughput", value(RATE, &[Stream])),
    rule("netperf TCP_SENDFILE", "throughput", value(RATE, &[Stream])),
    rule("netperf TCP_STREAM", "size", Err("a range of sizes: a conclusion of the suite tests it")),
    rule("IMB PingPong", "latency", value(TIME, &[PingPong])),
    rule("IMB PingPong", "throughput", value(OF_EXCHANGES, &[PingPong])),
    rule("prototype", "", Err("the paper does not say by which test")),
    rule("", "loss", Err("a share of another value of the paper: the tables of the suite have such shares")),
    rule("", "gain", Err("a ratio of two values of the paper")),
    rule("", "latency_ratio", Err("a ratio of two values of the paper")),
    rule("", "dip_depth", Err("a ratio of two values of the paper")),
    rule(
        "",
        "layer_efficiency",
        Err("a ratio of two values of the paper: a conclusion of the suite tests it"),
    ),
    rule("", "difference", Err("a ratio of two values of the paper")),
    rule("", "throughput_lost", Err("a difference of two values of the paper")),
    rule("", "loadavg", Err("a load average over a minute, which is no utilisation")),
    rule("", "cpu_util", Err("in per cent of a CPU, of which no figure is")),
];

/// What is true of a whole group of lines, whatever was measured.
type Group = (fn(&Row) -> bool, &'static str);

const NOWHERE: &[Group] = &[
    (|row| row.kind == Kind::Setting, "it was set, not measured"),
    (|row| row.kind == Kind::Price, "a price"),
    (|row| row.layer == Layer::Hardware, "of the hardware, of which no figure is"),
    (
        |row| row.layer == Layer::Application && !row.test.starts_with(OF_FILES),
        "of whole applications, of which no figure is",
    ),
    (|row| row.layer == Layer::Tool, "it compares tools"),
    (|row| row.kind == Kind::Projected, "expected, not measured: the perspective of a ladder has it"),
    (|row| row.kind == Kind::Theoretical, "of the hardware, of which no figure is"),
    (|row| row.kind == Kind::Prior, "quoted of other hosts: the perspective of a ladder has such values"),
    (|row| row.testbed == "other", "of other hosts than the paper's own"),
    (|row| row.kind == Kind::Derived && row.test != "STREAM", "it follows from other values of the paper"),
];

fn shown(row: &Row) -> Result<Shown, &'static str> {
    if let Some((_, why)) = NOWHERE.iter().find(|(is, _)| is(row)) {
        return Err(why);
    }
    let fits = |rule: &&Rule| {
        row.test.starts_with(rule.test)
            && row.metric.starts_with(rule.metric)
            && row.config.contains(rule.config)
    };
    let rule = RULES.iter().find(fits).ok_or("no figure has such a number")?;
    let drawn = rule.then.as_ref().map_err(|why| *why)?;
    let ours = |factor: f64| move |value: f64| value * row.unit.factor * factor;
    let range = drawn.factor.and_then(|factor| Some((ours(factor)(row.low?), ours(factor)(row.high?))));
    let value = drawn.factor.and_then(|factor| Some(ours(factor)(row.value?)));
    let value = value.or(range.map(|(low, high)| (low + high) / 2.0));
    let sizes = match (drawn.along, &row.bytes) {
        (Along::Rules, _) => filter_rules(row).map(|rules| rules..=rules),
        (_, Some(Size::Messages(sizes))) => Some(sizes.clone()),
        (_, Some(Size::File(size))) => size.parse::<Bytes>().ok().map(|bytes| bytes.0..=bytes.0),
        _ => None,
    };
    if drawn.factor.is_some() && value.is_none() {
        return Err("the paper gives no number");
    }
    if drawn.factor.is_none() && sizes.is_none() {
        return Err("the paper gives no size");
    }
    let Drawn { measures, patterns, along, made, .. } = *drawn;
    Ok(Shown { measures, patterns, along, value, range, sizes, made })
}

/// `100` of `iptables stateless rules=100`.
fn filter_rules(row: &Row) -> Option<u64> {
    row.config.split_once(OF_RULES)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::stated;
    use super::*;

    fn panel<'p>(
        measure: &'p str,
        patterns: &'p [Pattern],
        layers: &'p [Layer],
        paper: &'p str,
    ) -> PanelOf<'p> {
        PanelOf { measure, along: Along::Size, patterns, layers, paper, testbed: None }
    }

    fn printed(panel: &PanelOf) -> Vec<&'static str> {
        let here = stated().iter().filter(|one| one.belongs(panel));
        here.map(|one| one.printed.as_str()).collect()
    }

    #[test]
    fn streams_have_no_value_of_a_ping_pong() {
        let layers = [Layer::Tcp, Layer::Mpi];
        assert_eq!(printed(&panel("throughput", &[Stream], &layers, "S000")), ["~3 Gb/s", "~5.8 Gb/s"]);
        let exchanges = printed(&panel("ping-pong-throughput", &[PingPong], &layers, "S000"));
        assert_eq!(exchanges.len(), 8, "{exchanges:?}");
        assert!(!exchanges.contains(&"~5.8 Gb/s"));
    }

    #[test]
    fn what_was_in_hand_and_not_drawn_is_drawn() {
        let imb = printed(&panel("ping-pong-throughput", &[PingPong], &[Layer::Mpi], "S004"));
        assert!(imb.contains(&"9637.04 Mb/s"), "{imb:?}");
        let wan = PanelOf { testbed: Some("G"), ..panel("throughput", &[Stream], &[Layer::Tcp], "S004") };
        assert_eq!(printed(&wan), ["9820.12 Mb/s", "9829.36 Mb/s"]);
        assert_eq!(printed(&panel("connect-time.p50", &[Connect], &[Layer::Offload], "S003")), ["~60 µs"]);
        let both = panel("exchange-throughput", &[PingPing], &[Layer::MessageApplication], "S000");
        let both: Vec<_> = stated().iter().filter(|one| one.belongs(&both)).collect();
        let values: Vec<_> = both.iter().filter_map(|one| one.shown.as_ref().ok()?.value).collect();
        assert_eq!(values, [1.25e9, 1.85e9], "each way");
    }

    #[test]
    fn a_packet_filters_values_stand_at_their_rules() {
        let of = |measure, patterns| PanelOf {
            along: Along::Rules,
            testbed: Some("G"),
            ..panel(measure, patterns, &[Layer::Filter], "S004")
        };
        for (measure, patterns, last) in
            [("throughput", &[Stream][..], 9478e6), ("round-trip", &[PingPong][..], 476.8e3)]
        {
            let panel = of(measure, patterns);
            let here: Vec<_> = stated().iter().filter(|one| one.belongs(&panel)).collect();
            assert_eq!(here.len(), 21, "three filters at seven numbers of rules");
            let shown = here[20].shown.as_ref().unwrap();
            assert_eq!((shown.value, shown.sizes.clone()), (Some(last), Some(20_000..=20_000)));
        }
    }

    #[test]
    fn the_values_of_files_stand_at_their_sizes() {
        let of = panel("file-throughput", &[Pattern::File], &[Layer::Application], "S004");
        let here: Vec<_> = stated().iter().filter(|one| one.belongs(&of)).collect();
        let is_long = |one: &&&Stated| one.row.config == "GridFTP p=4" && one.printed == "3531.2 Mb/s";
        let long = here.iter().find(is_long).unwrap().shown.as_ref().unwrap();
        assert_eq!((long.value, long.sizes.clone()), (Some(3531.2e6), Some(1_000_000_000..=1_000_000_000)));
        assert!(here.iter().all(|one| one.row.place == "Table 3"), "{here:?}");
    }

    #[test]
    fn limits_of_the_hardware_are_drawn_nowhere() {
        let of = |one: &&Stated| one.row.layer == Layer::Hardware;
        assert!(stated().iter().filter(of).all(|one| one.shown.is_err()));
    }
}
