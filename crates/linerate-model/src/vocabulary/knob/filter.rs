//! Knobs of a packet filter, which stands on a lab's hosts alone: those of real hosts are never changed.

use super::{Had, Knob, KnobKind};
use crate::vocabulary::filter::FILTER_KIND_NAMES;

/// The most rules: the most of J. Cope and others, LCI 2007, tables 4 and 5.
const MOST_RULES: u32 = 20_000;

/// `filter.rules`.
pub const FILTER_RULES: Knob = Knob {
    name: "filter.rules",
    kind: KnobKind::Count(0, MOST_RULES),
    transports: &[],
    default: "no packet filter; 0 is a filter that is there and empty",
    harmless: None,
    had: Had::Filter,
    about: "how many rules a packet filter has, each for another address that nobody has; in a lab alone, over IPv4",
    source: "J. Cope and others, LCI 2007, tables 4 and 5; docs/method/packet-filter.md",
    hint: "100 and 5000: what a rule costs each packet; with filter.kind=nft-set next to nothing",
};

/// `filter.kind`.
pub const FILTER_KIND: Knob = Knob {
    name: "filter.kind",
    kind: KnobKind::OneOf(FILTER_KIND_NAMES),
    transports: &[],
    default: "nft-list",
    harmless: None,
    had: Had::FilterTried,
    about: "how the rules are kept: one after the other by nftables, iptables or BPF, or in a set or a map",
    source: "nft(8), iptables(8), ipset(8), tc-bpf(8)",
    hint: "nft-list, nft-set beside filter.rules=5000: what one look-up saves",
};

/// `filter.match`.
pub const FILTER_MATCH: Knob = Knob {
    name: "filter.match",
    kind: KnobKind::OneOf(&["none", "first", "middle", "last"]),
    transports: &[],
    default: "none: no rule fits, and a packet meets them all",
    harmless: None,
    had: Had::Filter,
    about: "which of the rules fits every packet of the lab and accepts it: those behind it are not met",
    source: "nft(8), VERDICT STATEMENTS: accept",
    hint: "first, last: what the order of rules is worth",
};

/// `filter.state`.
pub const FILTER_STATE: Knob = Knob {
    name: "filter.state",
    kind: KnobKind::OneOf(&["stateless", "state-first", "state-last"]),
    transports: &[],
    default: "stateless",
    harmless: None,
    had: Had::Filter,
    about: "whether connections are tracked, and a rule before or behind the others accepts what belongs to one",
    source: "nft(8), CONNTRACK EXPRESSIONS: ct state; iptables-extensions(8), conntrack",
    hint: "state-first: packets of a connection that is open meet one rule, however many there are",
};

/// The value of `filter.at` that needs a host between the others.
pub const FILTER_AT_ROUTER: &str = "router";

/// `filter.at`.
pub const FILTER_AT: Knob = Knob {
    name: "filter.at",
    kind: KnobKind::OneOf(&["receiver", "sender", FILTER_AT_ROUTER]),
    transports: &[],
    default: "receiver",
    harmless: None,
    had: Had::Filter,
    about: "where the rules stand: where data comes in, where it goes out, or on a host between that forwards it",
    source: "nft(8), ADDRESS FAMILIES: the hooks input, output and forward",
    hint: "router needs a third host: lab:hosts=3; a round trip meets its rules twice",
};
