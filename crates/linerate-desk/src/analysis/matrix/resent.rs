//! What was sent again in each cell: TCP's own count at the sender, over the segments that it sent.

use super::metric::of_share;
use super::part::reversed;
use super::shot::{Shot, Stage};
use crate::plan::HostPair;
use crate::record::{Recording, SocketRecord, StepRecord};
use crate::vocabulary::Pattern;
use std::collections::BTreeMap;

/// Segments of one direction between two hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segments {
    /// All that were sent, those again included.
    pub sent: u64,
    /// Those that were sent again.
    pub again: u64,
}

impl Segments {
    /// The part that was sent again; none where nothing is known to have been sent.
    pub fn share(self) -> Option<f64> {
        (self.sent > 0).then(|| self.again as f64 / self.sent as f64)
    }
}

/// The segments of each direction that the screening's streams sent, where the transport counts them.
pub fn segments(recording: &Recording) -> BTreeMap<HostPair, Segments> {
    let mut all: BTreeMap<HostPair, Segments> = BTreeMap::new();
    for (pair, own) in recording.steps.iter().filter(|step| is_at(step, Stage::Screen)).flat_map(of_step) {
        let segments = all.entry(pair).or_default();
        segments.sent = segments.sent.saturating_add(own.sent);
        segments.again = segments.again.saturating_add(own.again);
    }
    all
}

/// The part that each stream sent again, at every stage. Of a fresh trial of both directions only the one that was asked for counts.
pub fn sent_again(recording: &Recording) -> Vec<Shot> {
    let of_one = |step: &StepRecord| {
        let stage = Stage::of_step(step.why).filter(|_| is_of_stream(step))?;
        let asked: Vec<HostPair> = step.case.pairs.iter().collect();
        let counts = move |pair: &HostPair| stage == Stage::Screen || asked.contains(pair);
        let all = of_step(step).into_iter().filter(move |(pair, _)| counts(pair));
        Some(all.filter_map(move |(pair, own)| Some(Shot { stage, pair, log: of_share(own.share()?) })))
    };
    recording.steps.iter().filter_map(of_one).flatten().collect()
}

fn is_of_stream(step: &StepRecord) -> bool {
    step.pass > 0 && !step.case.pattern.is_exchange()
}

fn is_at(step: &StepRecord, stage: Stage) -> bool {
    is_of_stream(step) && Stage::of_step(step.why) == Some(stage)
}

/// What each direction of a step sent.
fn of_step(step: &StepRecord) -> BTreeMap<HostPair, Segments> {
    let mut all: BTreeMap<HostPair, Segments> = BTreeMap::new();
    let pairs: Vec<HostPair> = step.case.pairs.iter().collect();
    for socket in step.sockets.iter().filter(|socket| !socket.beside) {
        let pair = pairs.get(socket.pair as usize).and_then(|pair| sent_by(socket, *pair, step.case.pattern));
        let moved = |name: &str| socket.moved.get(name).copied();
        let (Some(pair), Some(sent)) = (pair, moved("data_segs_out")) else { continue };
        let segments = all.entry(pair).or_default();
        segments.sent = segments.sent.saturating_add(sent);
        segments.again = segments.again.saturating_add(moved("total_retrans").unwrap_or(0));
    }
    all
}

/// The direction that a socket's segments go in; none of an end that only answers.
fn sent_by(socket: &SocketRecord, pair: HostPair, pattern: Pattern) -> Option<HostPair> {
    match socket.host {
        host if host == pair.from => Some(pair),
        host if host == pair.to && pattern == Pattern::Bidirectional => Some(reversed(pair)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HostId;

    #[test]
    fn a_socket_sends_in_its_own_direction() {
        let pair = HostPair { from: HostId(2), to: HostId(5) };
        let socket = |host| SocketRecord { host: HostId(host), ..SocketRecord::default() };
        assert_eq!(sent_by(&socket(2), pair, Pattern::Stream), Some(pair));
        assert_eq!(sent_by(&socket(5), pair, Pattern::Stream), None);
        let back = HostPair { from: HostId(5), to: HostId(2) };
        assert_eq!(sent_by(&socket(5), pair, Pattern::Bidirectional), Some(back));
        assert_eq!(sent_by(&socket(7), pair, Pattern::Bidirectional), None);
        assert_eq!(Segments { sent: 50, again: 1 }.share(), Some(0.02));
        assert_eq!(Segments::default().share(), None);
    }
}
