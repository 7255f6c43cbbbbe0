//! What a message takes between hosts, by the trials so far: usually, and of the slowest pair of a step.

use crate::plan::{Block, Case, HostId, HostPair};
use crate::record::{Recording, Trial};
use crate::schedule::blocks;
use crate::schedule::entries::PROBE_NS;
use crate::statistic::median;
use crate::vocabulary::Pattern;
use std::collections::BTreeMap;

/// The times of a message in one pattern, in one look at the recording: a screening of a thousand hosts asks for each of its
/// pairs.
#[derive(Debug, Default)]
pub struct Pace {
    all: Vec<f64>,
    of_pair: BTreeMap<HostPair, Vec<f64>>,
    sent: BTreeMap<HostId, Vec<f64>>,
    received: BTreeMap<HostId, Vec<f64>>,
}

impl Pace {
    /// The times on record.
    pub fn from_recording(pattern: Pattern, recording: &Recording) -> Pace {
        let mut pace = Pace::default();
        for trial in recording.trials.iter().filter(|trial| trial.case.pattern == pattern) {
            pace.add(trial);
        }
        pace
    }

    fn add(&mut self, trial: &Trial) {
        let Some(ns) = blocks::message_ns(trial) else { return };
        let HostPair { from, to } = trial.case.pairs.first();
        self.all.push(ns);
        self.of_pair.entry(HostPair { from, to }).or_default().push(ns);
        self.sent.entry(from).or_default().push(ns);
        self.received.entry(to).or_default().push(ns);
        // Both do both: the slower direction ends the block.
        if trial.case.pattern == Pattern::Bidirectional {
            self.sent.entry(to).or_default().push(ns);
            self.received.entry(from).or_default().push(ns);
        }
    }

    /// What it usually is.
    pub fn usual(&self) -> Option<f64> {
        median(self.all.iter().copied())
    }

    /// What the slowest pair of a case takes, or the usual where that is more.
    pub fn slowest(&self, case: &Case, usual: f64) -> f64 {
        case.pairs.iter().map(|pair| self.of_ends(pair).unwrap_or(usual)).fold(usual, f64::max)
    }

    /// How long blocks of a case take: as long as its slowest pair.
    pub fn predicted_ns(&self, case: &Case, blocks: &[Block]) -> u64 {
        let slowest = self.usual().map(|usual| self.slowest(case, usual));
        let messages = |block: &Block| (block.messages * u64::from(block.slices)) as f64;
        let of_block = |block| slowest.map_or(PROBE_NS, |ns| (ns * messages(block)) as u64);
        blocks.iter().map(of_block).sum()
    }

    /// Of a pair, or where it is not known of its ends.
    fn of_ends(&self, pair: HostPair) -> Option<f64> {
        let middle = |times: Option<&Vec<f64>>| median(times?.iter().copied());
        let [sent, received] = [middle(self.sent.get(&pair.from)), middle(self.received.get(&pair.to))];
        let both = || Some(sent?.max(received?));
        middle(self.of_pair.get(&pair)).or_else(both).or(sent).or(received)
    }
}
