//! Where a run of iperf 2 begins in what it prints.

use super::{CLIENT, CONNECTION, SERVER};
use std::collections::BTreeSet;

/// A connection that is made after results begins another run, unless streams of this one have more to tell.
pub(super) fn begins(text: &str) -> Vec<usize> {
    let (mut at, mut begins, mut has_results) = (0, vec![0], false);
    // Streams whose last line was one of their parts.
    let mut going: BTreeSet<&str> = BTreeSet::new();
    for line in text.split_inclusive('\n') {
        let of_end = [CLIENT, SERVER].iter().any(|mark| line.contains(mark));
        let id = line.split_once(']').map_or("", |(id, _)| id);
        let goes_on = || going.iter().any(|known| *known != id);
        if has_results && (of_end || line.contains(CONNECTION) && !goes_on()) {
            begins.push(at);
            going.clear();
            has_results = false;
        }
        // Of both ways together there is a line too, and no stream.
        if line.contains("/sec") && line.contains(" sec ") && !line.contains("[FD") {
            let from = line.split_once(']').and_then(|(_, rest)| rest.trim_start().split('-').next());
            let is_part = from.and_then(|from| from.parse::<f64>().ok()).is_some_and(|from| from > 0.0);
            if is_part {
                going.insert(id);
            } else {
                going.remove(id);
            }
            has_results = true;
        }
        at += line.len();
    }
    begins
}
