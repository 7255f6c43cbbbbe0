//! What ends tell of a block: whether it is of as many exchanges as were asked for, and what is left of it where some were lost or are not
//! stamped.

use crate::record::TraceSide;
use crate::trace::Played;

/// Round trips of stamped exchanges, and of the others by how far behind one they are.
pub type ByPlace = (Vec<u64>, Vec<Vec<u64>>);

/// Whether an end tells of so many exchanges, of which every so manyth is stamped: an end that asked of each its round trip, and either one
/// of each stamped one what it stamped of any.
pub fn is_of(played: &Played, asks: bool, exchanges: u32, every: u32) -> bool {
    let (all, stamped) = (exchanges as usize, (exchanges / every.max(1)) as usize);
    let TraceSide { points, run_delay_ns, .. } = &played.side;
    let mut columns = points.values().map(Vec::len).chain([run_delay_ns.len()]);
    let lost = &played.lost;
    columns.all(|length| length == stamped || length == 0)
        && (!asks || played.round_trips_ns.len() == all)
        && lost.windows(2).all(|pair| pair[0] < pair[1])
        && lost.last().is_none_or(|last| *last < exchanges)
}

/// What is left of a block when what was lost is taken out, which is told in its order; and which of the stamped exchanges are not of it, by
/// their place among these: where not all are stamped, also those behind a lost one, whose arrival an end may not have known to be one to
/// stamp.
pub fn by_place(round_trips_ns: &[u64], lost: &[u32], every: usize) -> (ByPlace, Vec<u32>) {
    let (mut stamped, mut between) = (Vec::new(), vec![Vec::new(); every.saturating_sub(1)]);
    let mut unseen = Vec::new();
    let (mut is_behind_lost, mut lost) = (false, lost.iter().peekable());
    for (exchange, ns) in round_trips_ns.iter().enumerate() {
        let is_lost = lost.next_if(|place| **place as usize == exchange).is_some();
        match ((exchange + 1) % every, is_lost) {
            (0, _) if is_lost || is_behind_lost && every > 1 => unseen.push((exchange / every) as u32),
            (0, _) => stamped.push(*ns),
            (_, true) => {}
            (place, false) => between[place - 1].push(*ns),
        }
        is_behind_lost = is_lost;
    }
    ((stamped, between), unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(round_trips: usize, stamped: usize, lost: &[u32]) -> Played {
        let mut side = TraceSide::default();
        side.points.insert("send".into(), vec![None; stamped]);
        side.points.insert("woken".into(), Vec::new());
        Played { round_trips_ns: vec![1; round_trips], side, kept_awake: true, lost: lost.to_vec() }
    }

    #[test]
    fn what_is_of_other_exchanges_is_told() {
        assert!(is_of(&played(60, 20, &[]), true, 60, 3) && is_of(&played(60, 0, &[0, 59]), true, 60, 3));
        assert!(is_of(&played(0, 20, &[]), false, 60, 3), "who answers has no round trips");
        // An end that knows no sample stamps all.
        assert!(!is_of(&played(60, 60, &[]), true, 60, 3) && is_of(&played(60, 60, &[]), true, 60, 1));
        for (round_trips, stamped) in [(59, 20), (61, 20), (0, 20), (60, 19), (60, 21)] {
            assert!(!is_of(&played(round_trips, stamped, &[]), true, 60, 3), "{round_trips} {stamped}");
        }
        for lost in [&[60][..], &[3, 2], &[2, 2], &[u32::MAX]] {
            assert!(!is_of(&played(60, 20, lost), true, 60, 3), "{lost:?}");
        }
        let mut delayed = played(60, 20, &[]);
        delayed.side.run_delay_ns = vec![0; 60];
        assert!(!is_of(&delayed, true, 60, 3));
    }

    #[test]
    fn round_trips_are_told_by_their_place() {
        let all = [10, 11, 12, 20, 21, 22, 30, 31, 32];
        assert_eq!(by_place(&all, &[], 1), ((all.to_vec(), vec![]), vec![]));
        let between = vec![vec![10, 20, 30], vec![11, 21, 31]];
        assert_eq!(by_place(&all, &[], 3), ((vec![12, 22, 32], between), vec![]));
        // One before a stamped one, and a stamped one.
        let between = vec![vec![10, 20, 30], vec![21, 31]];
        assert_eq!(by_place(&all, &[1, 8], 3), ((vec![22], between), vec![0, 2]));
        // Two in a row, and all.
        let between = vec![vec![20, 30], vec![21, 31]];
        assert_eq!(by_place(&all, &[0, 1], 3), ((vec![22, 32], between), vec![0]));
        assert_eq!(by_place(&all[..3], &[0, 1, 2], 3), ((vec![], vec![vec![], vec![]]), vec![0]));
        assert_eq!(by_place(&all[..4], &[1], 1), ((vec![10, 12, 20], vec![]), vec![1]));
    }
}
