//! What is left of a block of which a sample of the exchanges is stamped.

/// Round trips of stamped exchanges, and of the others by how far behind one they are.
pub type ByPlace = (Vec<u64>, Vec<Vec<u64>>);

/// What is left of a block when what was lost is taken out; and which of the stamped exchanges are not of it, by their place among these:
/// where not all are stamped, also those behind a lost one, whose arrival an end may not have known to be one to stamp.
pub fn by_place(round_trips_ns: &[u64], lost: &[u32], every: usize) -> (ByPlace, Vec<u32>) {
    let (mut stamped, mut between) = (Vec::new(), vec![Vec::new(); every.saturating_sub(1)]);
    let mut unseen = Vec::new();
    let mut is_behind_lost = false;
    for (exchange, ns) in round_trips_ns.iter().enumerate() {
        let is_lost = lost.contains(&(exchange as u32));
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

    #[test]
    fn round_trips_are_told_by_their_place() {
        let all = [10, 11, 12, 20, 21, 22, 30, 31, 32];
        assert_eq!(by_place(&all, &[], 1), ((all.to_vec(), vec![]), vec![]));
        let between = vec![vec![10, 20, 30], vec![11, 21, 31]];
        assert_eq!(by_place(&all, &[], 3), ((vec![12, 22, 32], between), vec![]));
        // One before a stamped one, and a stamped one.
        let between = vec![vec![10, 20, 30], vec![21, 31]];
        assert_eq!(by_place(&all, &[1, 8], 3), ((vec![22], between), vec![0, 2]));
        assert_eq!(by_place(&all[..4], &[1], 1), ((vec![10, 12, 20], vec![]), vec![1]));
    }
}
