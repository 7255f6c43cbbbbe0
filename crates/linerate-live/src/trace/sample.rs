//! Which exchanges are stamped: every one, or one of so many, whatever time they take.

/// Exchanges before those that count: caches and the kernel's paths are warm then.
pub const WARM_UP: usize = 50;

/// Every so manyth exchange; the last of those that count is one.
#[derive(Debug, Clone, Copy)]
pub struct Sample(usize);

impl Sample {
    /// Every so manyth.
    pub fn new(every: u32) -> Sample {
        Sample((every as usize).max(1))
    }

    /// Whether others are left out.
    pub fn leaves_out(self) -> bool {
        self.0 > 1
    }

    /// Whether this exchange is stamped.
    #[inline]
    pub fn has(self, exchange: usize) -> bool {
        self.0 == 1 || exchange % self.0 == (WARM_UP - 1) % self.0
    }

    /// What a list of all exchanges says of those that are stamped and count.
    pub fn stamped<T: Copy>(self, all: &[T], warm_up: usize) -> Vec<T> {
        let places = (warm_up.min(all.len())..all.len()).filter(|exchange| self.has(*exchange));
        places.map(|exchange| all[exchange]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_so_many_is_stamped() {
        for every in [1, 2, 7, 50, 64] {
            let all: Vec<usize> = (0..WARM_UP + 3 * every).collect();
            let expected = [1, 2, 3].map(|times| WARM_UP + times * every - 1);
            let chosen = Sample::new(every as u32).stamped(&all, WARM_UP);
            assert_eq!(chosen.iter().rev().take(3).rev().copied().collect::<Vec<_>>(), expected);
            assert_eq!(chosen.len(), 3, "one of every {every}");
        }
        assert!(Sample::new(3).stamped(&[0_u8; 2], WARM_UP).is_empty());
    }
}
