//! The numbers of a curve against message size.

use super::{BASE, Metric};

pub const ALPHA: Metric = Metric {
    name: "alpha",
    unit: "ns",
    more_is_better: Some(false),
    keys: &["alpha_ns"],
    about: "the time of a message of no bytes: where the line through a piece of the curve begins",
    formula: "T(s) = alpha + beta * s, least squares with weights 1/T^2, the median over passes",
    source: "R. W. Hockney, The communication challenge for MPP, Parallel Computing 20 (1994)",
    hint: "compare it with the rung below: cost.constant",
    page: "breaks.md",
    ..BASE
};

pub const BETA: Metric = Metric {
    name: "beta",
    unit: "ns/B",
    more_is_better: Some(false),
    keys: &["ns_per_byte"],
    about: "the time that each byte adds, within a piece of the curve; never negative",
    formula: "T(s) = alpha + beta * s, least squares with weights 1/T^2, the median over passes",
    source: "R. W. Hockney, The communication challenge for MPP, Parallel Computing 20 (1994)",
    hint: "8 / beta is the rate that large messages of this piece tend to",
    page: "breaks.md",
    ..BASE
};

pub const RESIDUAL: Metric = Metric {
    name: "residual",
    unit: "1",
    keys: &["relative_residual"],
    about: "how far the curve lies from its line",
    formula: "root of the mean of (line / measured - 1)^2 over the sizes of the piece",
    source: "least squares",
    hint: "a large one means that one line does not describe the piece: look at the curve itself",
    page: "breaks.md",
    ..BASE
};

pub const N_HALF: Metric = Metric {
    name: "n-half",
    unit: "B",
    more_is_better: Some(false),
    keys: &["n_half_bytes"],
    about: "the message size at which half of the largest rate is reached",
    formula: "the first size whose rate is half of 8 / beta; alpha / beta in Hockney's model",
    source: "R. W. Hockney, C. R. Jesshope: Parallel Computers 2, 1988",
    hint: "messages below it are ruled by the constant, above it by the bytes",
    page: "breaks.md",
    ..BASE
};

pub const S90: Metric = Metric {
    name: "s90",
    unit: "B",
    more_is_better: Some(false),
    keys: &["s90_bytes"],
    about: "the message size from which on nine tenths of the largest rate are reached",
    formula: "the first size whose rate is 0.9 of the peak",
    source: "derived from throughput against message size",
    hint: "send at least this much at once",
    page: "breaks.md",
    ..BASE
};

pub const PEAK: Metric = Metric {
    name: "peak",
    unit: "b/s",
    more_is_better: Some(true),
    keys: &["peak_bps", "peak_bytes"],
    about: "the largest rate over all sizes, and its size; the largest of noisy values, so biased upward",
    formula: "max over sizes of the median throughput",
    source: "NetPIPE reports it; the bias is that of a maximum",
    hint: "compare layers at one stated size instead",
    page: "throughput.md",
    ..BASE
};

pub const TAIL: Metric = Metric {
    name: "tail",
    unit: "b/s",
    more_is_better: Some(true),
    keys: &["tail_bps"],
    about: "the rate of the largest messages: what is left when caches and buffers are exceeded",
    formula: "median of the throughput over the sizes of the last two octaves",
    source: "derived from throughput against message size",
    hint: "where it is clearly below the peak, linerate explain cache, buffer",
    page: "breaks.md",
    ..BASE
};
