//! What was sent again in each cell: TCP's own count at the sender, over the segments that it sent in the screening.

use super::shot::Stage;
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
    let is_of_screen = |step: &&StepRecord| {
        step.pass > 0 && Stage::of(step.why) == Some(Stage::Screen) && !step.case.pattern.is_exchange()
    };
    for step in recording.steps.iter().filter(is_of_screen) {
        let pairs: Vec<HostPair> = step.case.pairs.iter().collect();
        for socket in step.sockets.iter().filter(|socket| !socket.beside) {
            let pair =
                pairs.get(socket.pair as usize).and_then(|pair| sent_by(socket, *pair, step.case.pattern));
            let moved = |name: &str| socket.moved.get(name).copied();
            let (Some(pair), Some(sent)) = (pair, moved("data_segs_out")) else { continue };
            let segments = all.entry(pair).or_default();
            segments.sent = segments.sent.saturating_add(sent);
            segments.again = segments.again.saturating_add(moved("total_retrans").unwrap_or(0));
        }
    }
    all
}

/// The direction that a socket's segments go in; none of an end that only answers.
fn sent_by(socket: &SocketRecord, pair: HostPair, pattern: Pattern) -> Option<HostPair> {
    let back = HostPair { from: pair.to, to: pair.from };
    match socket.host {
        host if host == pair.from => Some(pair),
        host if host == pair.to && pattern == Pattern::Bidirectional => Some(back),
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
