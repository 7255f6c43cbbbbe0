//! The JSON form of a matrix.

use crate::analysis::Verdict;
use crate::plan::HostId;
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Many hosts with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixReport {
    /// Somebody is slow, nobody is, or it cannot be told.
    pub verdict: Verdict,
    /// Partners that each host was to send to: a round each, or a round two of them where both directions were at once.
    pub rounds: u32,
    /// Whether both directions of each pair were measured at once.
    #[serde(default)]
    pub bidirectional: bool,
    /// Who or what is slow, the worst first.
    pub named: Vec<NamedEntry>,
    /// Who stood apart in the screening and is neither cleared nor named.
    pub suspected: Vec<SuspectEntry>,
    /// Who stood apart and was as fast as the others in fresh trials.
    pub cleared: Vec<SuspectEntry>,
    /// Why it cannot be told, and what it would take; null where it can.
    pub doubt: Option<DoubtEntry>,
    /// Pairs that passed nothing, though both hosts have rates with others.
    #[serde(default)]
    pub failed: Vec<FailedPairEntry>,
    /// How much slower than the others a host would have to be to stand apart in nineteen of twenty runs: a share.
    pub seen: Option<f64>,
    /// How much longer the round trips of a host would have to be to stand apart in nineteen of twenty runs: a share; null where
    /// they were not measured.
    #[serde(default)]
    pub seen_round_trip: Option<f64>,
    /// How much cells scatter that have nothing wrong: a share, one standard deviation.
    pub noise: f64,
    /// The median rate of all cells.
    pub usual_bps: Option<f64>,
    /// The median round trip of all cells.
    pub usual_round_trip_ns: Option<f64>,
    /// Groups that were found from the data, where neither names nor a file told any: each is a name and its hosts.
    #[serde(default)]
    pub found_groups: Vec<FoundGroupEntry>,
    /// Each host, in the order of the target.
    pub hosts: Vec<MatrixHostEntry>,
    /// Each two hosts that met.
    pub cells: Vec<CellEntry>,
    /// What a host has that most others have not. A likely cause at most, and no proof.
    pub inventory: Vec<DifferenceEntry>,
}

/// Hosts that the screening shows to have something in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundGroupEntry {
    /// What it is called here.
    pub name: String,
    /// Its hosts, by name.
    pub hosts: Vec<String>,
}

/// A pair that passed nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedPairEntry {
    /// Where it was to come from, by name.
    pub from: String,
    /// Where it was to go.
    pub to: String,
    /// Why.
    pub why: String,
}

/// Something slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedEntry {
    /// By what: `throughput`, `round-trip`, or `retransmit-share`, the part of its segments that is sent again.
    #[serde(default)]
    pub metric: String,
    /// `sender`, `receiver`, `link`, `group` or `host`.
    pub kind: String,
    /// Who, by name; of a link where it comes from and where it goes.
    pub hosts: Vec<String>,
    /// The group's name; null of other kinds.
    pub group: Option<String>,
    /// Of a group whether it was found from the data: neither names nor a file told it.
    #[serde(default)]
    pub found: bool,
    /// Of a group whether it is what it sends to the others, or what it receives from them; null of other kinds, and of round
    /// trips, which are both.
    #[serde(default)]
    pub sends: Option<bool>,
    /// Its rate over that of the others in fresh trials, or its round trips over theirs; null where it is named by what is sent again.
    pub ratio: Option<Estimate>,
    /// How much more of its segments is sent again than of the others' in fresh trials: a share of all; null where nothing is.
    #[serde(default)]
    pub sent_again: Option<Estimate>,
    /// `alone`: while nobody else sends; `under-load`: only while others do.
    pub confirmed: String,
    /// Partners that it was slow with in the screening; of a group pairs.
    pub slow_partners: u32,
    /// Partners that it met; of a group pairs.
    pub partners: u32,
    /// What sets it apart from most others: likely causes, and no proof.
    pub likely: Vec<String>,
}

/// Who stood apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuspectEntry {
    /// By what: `throughput`, `round-trip`, or `retransmit-share`.
    #[serde(default)]
    pub metric: String,
    /// `sender`, `receiver`, `link`, `group`, or by round trips `host`.
    pub kind: String,
    /// Who, by name.
    pub hosts: Vec<String>,
    /// Its rate or round trip over that of the others in the screening, or how much more was sent again: too far off by chance, for
    /// it was chosen by it.
    pub screened: f64,
    /// The same in fresh trials, where there were enough; null where it stood apart by what was sent again.
    pub ratio: Option<Estimate>,
    /// How much more of its segments was sent again than of the others' in fresh trials, where it stood apart by that: a share of all.
    #[serde(default)]
    pub sent_again: Option<Estimate>,
}

/// Why it cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtEntry {
    /// Why.
    pub why: String,
    /// What it would take.
    pub takes: String,
}

/// A host's row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixHostEntry {
    /// Its letter.
    pub host: HostId,
    /// What it is called.
    pub name: String,
    /// Its group, where it is in one.
    pub group: Option<String>,
    /// Its sending over the usual, by the median of its cells.
    pub sends: Option<f64>,
    /// Its receiving over the usual.
    pub receives: Option<f64>,
    /// Its round trips over the usual: more is slower.
    pub round_trips: Option<f64>,
    /// Partners that it sent to.
    pub sent_to: u32,
    /// Partners that it received from.
    pub had_from: u32,
    /// Why its cells are missing, where it failed; null of others.
    pub failed: Option<String>,
}

/// One direction between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellEntry {
    /// Where it comes from.
    pub from: HostId,
    /// Where it goes.
    pub to: HostId,
    /// The rate, by the receiver's clock.
    pub throughput_bps: Option<f64>,
    /// The round trip of a small message.
    pub round_trip_ns: Option<f64>,
    /// The part of its segments that its streams of the screening sent again, by the sender's kernel; null where nothing counts them.
    #[serde(default)]
    pub sent_again: Option<f64>,
    /// Whether the other direction was measured at the same time; the round trip is alone.
    #[serde(default)]
    pub bidirectional: bool,
}

/// What sets a host apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceEntry {
    /// The host's name.
    pub host: String,
    /// What it is: `MTU`.
    pub what: String,
    /// What it has.
    pub value: String,
    /// What most others have.
    pub usual: String,
    /// How many have that; 0 of what is found at the host alone.
    pub others: usize,
}
