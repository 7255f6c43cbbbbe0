//! How many of a trace's exchanges are stamped, and what that leaves of a block.

/// Levels from this one on stamp every exchange: to turn them off and on takes a call of the kernel's.
pub const SAMPLED_BELOW: u8 = 2;

/// Every so manyth exchange is stamped where stamps would show in the round trips: a prime, so that what comes back every few messages is
/// not met each time or never.
const EVERY: u32 = 11;

/// Of a round trip above this what both hosts' stamps take, some 2 µs, is below 3 %: nanoseconds.
const LONG_NS: u64 = 100_000;

/// Of one way of waiting: every so manyth exchange is stamped.
pub struct Sampling {
    /// As it was asked for.
    asked: Option<u32>,
    /// As the last block that was not traced lets it be.
    found: u32,
}

impl Sampling {
    /// Before any block: as asked for, else as round trips will say.
    pub fn new(asked: Option<u32>) -> Sampling {
        Sampling { asked, found: 1 }
    }

    /// Every so manyth.
    pub fn every(&self) -> u32 {
        self.asked.unwrap_or(self.found).max(1)
    }

    /// Round trips of a block that is not traced: nineteen of twenty are short, or all that follow are stamped.
    pub fn see(&mut self, round_trips_ns: &[u64]) {
        let long = round_trips_ns.iter().filter(|ns| **ns > LONG_NS).count();
        self.found = if 20 * long > round_trips_ns.len() { 1 } else { EVERY };
    }
}

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
    fn short_round_trips_are_sampled_and_long_ones_are_not() {
        let mut sampling = Sampling::new(None);
        assert_eq!(sampling.every(), 1, "nothing is known yet");
        sampling.see(&[[16_000; 96].as_slice(), &[4_000_000; 4]].concat());
        assert_eq!(sampling.every(), EVERY);
        sampling.see(&[[16_000; 90].as_slice(), &[4_000_000; 10]].concat());
        assert_eq!(sampling.every(), 1);
        sampling.see(&[]);
        let mut asked = Sampling::new(Some(3));
        asked.see(&[1; 9]);
        assert_eq!(asked.every(), 3);
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
        assert_eq!(by_place(&all[..4], &[1], 1), ((vec![10, 12, 20], vec![]), vec![1]));
    }
}
