//! The numbers that a search for a rate finds.

use super::{BASE, Metric, WHOLE, bound, fault};

pub const IP_CAPACITY: Metric = Metric {
    name: "ip-capacity",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    bounds: &[bound("link")],
    faults: &[fault("policer")],
    about: "the bits of IP packets that came in the best second of a search, headers of IP and UDP among them",
    formula: "the largest of 8 * messages * (message + headers) / sub-interval",
    source: "RFC 9097, Maximum IP-Layer Capacity, section 6.3",
    hint: "below the line rate: another link of the path, a policer, or the hosts; capacity-loss and capacity-delay-variation say which",
    page: "searches.md",
    ..BASE
};

pub const CAPACITY_LOSS: Metric = Metric {
    name: "capacity-loss",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    faults: &[fault("policer")],
    about: "the share of the messages that was lost in the second of the ip-capacity",
    formula: "lost / (came + lost), by their numbers; what came late or twice is not lost",
    source: "RFC 9097, section 6.5",
    hint: "much of it: a policer or a short queue at the narrowest link",
    page: "searches.md",
    ..BASE
};

pub const CAPACITY_DELAY_VARIATION: Metric = Metric {
    name: "capacity-delay-variation",
    unit: "ns",
    parts: &[WHOLE],
    more_is_better: Some(false),
    about: "how far delays lay above the least one in the second of the ip-capacity: the largest mean of 50 ms",
    formula: "max over 50 ms of (mean D - min D), with D = arrival - sending; no clocks are compared",
    source: "RFC 9097, section 8.1; RFC 5481, PDV",
    hint: "near 30 ms and more: a deep queue at the narrowest link",
    page: "searches.md",
    ..BASE
};

pub const ZERO_LOSS_RATE: Metric = Metric {
    name: "zero-loss-rate",
    unit: "1/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "messages a second of the largest rate at which none was lost; below every rate at which one was",
    formula: "messages / time of the quickest clean trial of a bisection",
    source: "RFC 2544, section 26.1, throughput",
    hint: "far below what comes with losses: bursts find a short queue; raise socket.receive-buffer or the ring",
    page: "searches.md",
    ..BASE
};
