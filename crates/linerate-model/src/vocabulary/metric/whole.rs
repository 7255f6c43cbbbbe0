//! How sure a number is, what it cannot pass, and where its time goes.

use super::{BASE, Family, Metric, bound};

pub const INTERVAL: Metric = Metric {
    name: "interval",
    unit: "as its median",
    keys: &["low", "high"],
    about: "what holds the true median in 95 of 100 runs, as far as this run can tell",
    formula: "the order statistics k and n + 1 - k with P(Binomial(n, 1/2) < k) <= 0.025",
    source: "H. A. David, H. N. Nagaraja: Order Statistics, 3rd edition, section 7.1",
    hint: "more passes make it narrower: --budget, --profile",
    page: "interval-of-the-median.md",
    ..BASE
};

pub const BETWEEN_RUN_SPREAD: Metric = Metric {
    name: "between-run-spread",
    unit: "1",
    keys: &["between_run"],
    about: "how far whole runs of the same plan differ, which no interval of one run shows",
    formula: "from the medians of equal runs on the same machine, taken by linerate calibrate",
    source: "T. Kalibera, R. Jones: Rigorous Benchmarking in Reasonable Time, ISMM 2013",
    hint: "a difference between two runs that is smaller than this proves nothing: use ab",
    page: "calibrate.md",
    ..BASE
};

pub const BOUND: Metric = Metric {
    name: "bound",
    unit: "b/s",
    layer: Some(Family { name: "bound", help: "What a layer's rate cannot pass." }),
    keys: &["bound", "bounds", "bps"],
    about: "a rate that the layer cannot pass, with what it was computed from",
    formula: "one for each kind: linerate explain link, sender-cpu, receive-window, memory",
    source: "S. Williams, A. Waterman, D. Patterson: Roofline, CACM 52 (2009), for the idea",
    hint: "the one that explains the rate within 15 % is what to work on",
    page: "bounds.md",
    ..BASE
};

pub const NEXT_BOUND: Metric = Metric {
    name: "next-bound",
    unit: "b/s",
    keys: &["next_bound"],
    about: "the bound that a perfect fix of the binding one runs into: the most that such a fix can give",
    formula: "the lowest of the other bounds that do not move by themselves",
    source: "the same as bound",
    hint: "where it is near the binding one, fix both or none",
    page: "bounds.md",
    ..BASE
};

pub const UNEXPLAINED: Metric = Metric {
    name: "unexplained",
    unit: "ns/B",
    more_is_better: Some(false),
    keys: &["unexplained_ns_per_byte"],
    about: "time a byte that no bound explains, even if all work were done one after the other",
    formula: "8 / rate - sum of 8 / bound over link and CPUs",
    source: "the sum of serial stages",
    hint: "look for waiting: windows, wake-ups, another process; the time line shows pauses",
    page: "bounds.md",
    ..BASE
};

pub const SERIAL_STAGE: Metric = Metric {
    name: "serial-stage",
    unit: "b/s",
    bounds: &[bound("memory")],
    keys: &["stage_bps"],
    about: "the rate of the work that a layer adds, if it is done before or after that of the layer below",
    formula: "1 / (1 / rate - 1 / rate of the layer below)",
    source: "the sum of serial stages",
    hint: "near the rate of a memory copy it is one copy more; where stages overlap it means nothing",
    page: "bounds.md",
    ..BASE
};

pub const WATERFALL: Metric = Metric {
    name: "waterfall",
    unit: "ns",
    more_is_better: Some(false),
    keys: &["waterfalls", "gaps", "ns", "share", "total_ns"],
    about: "half of the topmost layer's round trip in parts: what each layer adds to the one below",
    formula: "median over passes of T - T of the layer below in the same pass, at one size and wait mode",
    source: "S. Larsen et al., Architectural Breakdown of End-to-End Latency in a TCP/IP Network, IJPP 37 (2009)",
    hint: "begin with the largest share",
    page: "kept-and-cost.md",
    ..BASE
};

pub const IDEAL: Metric = Metric {
    name: "ideal",
    unit: "ns",
    keys: &["ideal_ns"],
    about: "the time of a message if nothing but the line costs any",
    formula: "bytes on the wire * 8 / line rate; switches and distance are not known and left out",
    source: "IEEE 802.3",
    hint: "nothing that a host does makes a message faster than this",
    page: "bounds.md",
    ..BASE
};
