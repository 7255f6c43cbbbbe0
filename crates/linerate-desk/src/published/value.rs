//! A stated value on an axis of ours: bits a second, or half a round trip in nanoseconds.

use super::doubt;
use super::paper::{PAPERS, Paper};
use super::row::{Kind, Layer, Qualifier, Quantity, Row, Size};
use super::said::{label, printed};
use super::shown::Shown;
use crate::vocabulary::Pattern;
use std::ops::RangeInclusive;

/// An axis on which published values stand beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Bits a second.
    Throughput,
    /// Half of a round trip, in nanoseconds.
    HalfRoundTrip,
}

/// A stated value in our units.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The paper.
    pub paper: &'static Paper,
    /// What was measured with what: `NTTCP, stock, MTU 9000`.
    pub label: String,
    /// What it is of.
    pub layer: Layer,
    /// The network: adapter and link.
    pub network: String,
    /// What was set, or which library.
    pub config: String,
    /// The largest packet of the link, in bytes, where it is said.
    pub mtu: Option<u64>,
    /// The message sizes that it holds for; none where it is a peak or the size is not said.
    pub sizes: Option<RangeInclusive<u64>>,
    /// Its axis, and so its unit.
    pub axis: Axis,
    /// What the file calls it: `throughput_peak`.
    pub metric: String,
    /// The value; the middle of a range.
    pub value: f64,
    /// The ends of a range.
    pub range: Option<(f64, f64)>,
    /// How exact it is.
    pub qualifier: Qualifier,
    /// How the paper comes to it.
    pub kind: Kind,
    /// As printed: `~1.8 Gb/s`, `~13 to 17 µs`.
    pub printed: String,
    /// Where in the paper: `section 4.2, Fig. 2`.
    pub place: String,
    /// What is doubtful or special about it; empty where nothing is.
    pub note: String,
    /// What it is drawn as, or why it stands in no figure of a suite.
    pub shown: Result<Shown, &'static str>,
}

/// The metrics of the file that stand on an axis, and what they are multiplied by to do so.
const ON_AXES: &[(&str, Axis, f64)] = &[
    ("throughput", Axis::Throughput, 1.0),
    ("throughput_peak", Axis::Throughput, 1.0),
    ("throughput_post_falloff", Axis::Throughput, 1.0),
    ("rate", Axis::Throughput, 1.0),
    ("bus_rate", Axis::Throughput, 1.0),
    ("mem_bw", Axis::Throughput, 1.0),
    ("dma_read", Axis::Throughput, 1.0),
    ("dma_write", Axis::Throughput, 1.0),
    ("dma_bidir", Axis::Throughput, 1.0),
    ("latency_rtt_half", Axis::HalfRoundTrip, 1.0),
    ("latency", Axis::HalfRoundTrip, 1.0),
    ("rtt", Axis::HalfRoundTrip, 0.5),
];

impl Axis {
    fn quantity(self) -> Quantity {
        match self {
            Axis::Throughput => Quantity::Rate,
            Axis::HalfRoundTrip => Quantity::Time,
        }
    }
}

impl Published {
    /// Whether it is of one way and one size after the other, as the figures of a ladder are: not of exchanges where a rate
    /// is shown, nor of both ways or several connections. What was quoted does not say.
    pub(super) fn is_of_ladder(&self) -> bool {
        let (measure, patterns): (_, &[Pattern]) = match self.axis {
            Axis::Throughput => ("throughput", &[Pattern::Stream, Pattern::FixedCount]),
            Axis::HalfRoundTrip => ("half-round-trip", &[Pattern::PingPong]),
        };
        self.shown.as_ref().map_or(self.kind == Kind::Prior, |shown| shown.is_of(measure, patterns))
    }

    /// The value of a line, where it can stand on an axis.
    pub(super) fn from_row(row: &Row) -> Option<Published> {
        let (_, axis, share) = ON_AXES.iter().find(|(metric, _, _)| *metric == row.metric)?;
        // A switch's latency is that of one hop, and what was set was not measured.
        let of_a_hop = row.layer == Layer::Hardware && *axis == Axis::HalfRoundTrip;
        if row.unit.of != axis.quantity() || row.kind == Kind::Setting || of_a_hop {
            return None;
        }
        let ours = |value: f64| value * row.unit.factor * share;
        let range = row.low.zip(row.high).map(|(low, high)| (ours(low), ours(high)));
        let middle = range.map(|(low, high)| (low + high) / 2.0);
        Some(Published {
            paper: PAPERS.iter().find(|paper| paper.id == row.paper)?,
            label: label(row),
            layer: row.layer,
            network: row.network.clone(),
            config: row.config.clone(),
            mtu: row.mtu,
            sizes: match &row.bytes {
                Some(Size::Messages(sizes)) => Some(sizes.clone()),
                _ => None,
            },
            axis: *axis,
            metric: row.metric.clone(),
            value: row.value.map(ours).or(middle)?,
            range,
            qualifier: row.qualifier,
            kind: row.kind,
            printed: printed(row),
            place: row.place.clone(),
            note: doubt::note(row),
            shown: Shown::of_row(row),
        })
    }

    /// The message size, where it is stated for one.
    pub fn message_bytes(&self) -> Option<u64> {
        self.sizes.as_ref().filter(|sizes| sizes.start() == sizes.end()).map(|sizes| *sizes.start())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{rows, values};
    use super::*;

    /// The only value of a paper and layer whose label begins so.
    fn only_value(paper: &str, layer: Layer, axis: Axis, label: &str) -> &'static Published {
        let is_it = |one: &&Published| {
            (one.layer, one.axis) == (layer, axis) && one.paper.id == paper && one.label.starts_with(label)
        };
        let mut found = values().iter().filter(is_it);
        let first = found.next().unwrap_or_else(|| panic!("no {label} in {paper}"));
        assert_eq!(found.next(), None);
        first
    }

    #[test]
    fn units_become_bits_a_second_and_ns() {
        let stock = only_value("S002", Layer::Tcp, Axis::Throughput, "NTTCP, stock, MTU 9000");
        assert_eq!((stock.value, stock.printed.as_str()), (2.7e9, "2.7 Gb/s"));
        let peak = only_value("S004", Layer::Tcp, Axis::Throughput, "netperf TCP_STREAM, myri10ge");
        assert_eq!((peak.value, peak.message_bytes()), (9726.55e6, Some(65536)));
        let bus = only_value("S000", Layer::Hardware, Axis::Throughput, "HyperTransport");
        assert_eq!((bus.value, bus.printed.as_str()), (51.2e9, "~6.4 GB/s"));
        let back_to_back =
            only_value("S002", Layer::Tcp, Axis::HalfRoundTrip, "NetPIPE 1 byte, back-to-back");
        assert_eq!((back_to_back.value, back_to_back.message_bytes()), (21e3, Some(1)));
        assert_eq!(back_to_back.printed, "~21 µs");
    }

    #[test]
    fn a_range_keeps_its_ends() {
        let small = only_value("S000", Layer::Tcp, Axis::HalfRoundTrip, "NetPIPE, TCP small");
        assert_eq!((small.value, small.range), (15e3, Some((13e3, 17e3))));
        assert_eq!((small.sizes.clone(), small.message_bytes()), (Some(1..=1500), None));
        assert_eq!(small.printed, "~13 to 17 µs");
    }

    #[test]
    fn a_whole_round_trip_is_halved_and_said_to_be() {
        let trip =
            only_value("S004", Layer::Filter, Axis::HalfRoundTrip, "netperf TCP_RR WAN, nf-HiPAC rules=0");
        assert_eq!((trip.value, trip.printed.as_str()), (241e3, "482 µs"));
        assert!(trip.note.contains("whole round trip"), "{}", trip.note);
    }

    #[test]
    fn a_label_is_unique_in_its_paper() {
        let mut seen = std::collections::BTreeSet::new();
        for one in values() {
            let on = (one.paper.id, one.layer, format!("{:?}", one.axis), &one.label);
            assert!(seen.insert(on), "{} {}: twice", one.paper.id, one.label);
        }
    }

    #[test]
    fn what_was_set_or_has_no_axis_stays_away() {
        let stays = |text: &str| values().iter().all(|one| !one.label.contains(text));
        assert!(stays("load offered by GbE hosts") && stays("T110 connection rate"));
        assert!(stays("Foundry SuperX") && stays("GA622"));
    }

    #[test]
    fn every_value_is_positive_finite_and_labelled() {
        let wanted = |row: &&Row| row.metric.starts_with("throughput") && !row.metric.ends_with("lost");
        let throughputs = rows().iter().filter(wanted).count();
        let placed = values().iter().filter(|one| one.metric.starts_with("throughput")).count();
        assert_eq!(throughputs, placed, "a throughput has no place");
        for value in values() {
            assert!(value.value.is_finite() && value.value > 0.0 && !value.label.is_empty(), "{value:?}");
            assert!(value.range.is_none_or(|(low, high)| low < high), "{value:?}");
        }
    }
}
