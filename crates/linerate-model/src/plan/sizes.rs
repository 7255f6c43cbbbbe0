//! Message sizes: powers of two, and the denser ladder that also shows what lies beside them.

use crate::vocabulary::{DATAGRAM_BYTES, LADDER_BYTES, LATENCY_BYTES};

/// Both ladders reach 8 MiB.
const LARGEST: u32 = 23;
/// From this size on a step is larger than four bytes and sizes get neighbours.
const NEIGHBOURS_FROM: u64 = 16;
/// NetPIPE measures this many bytes beside each size: an odd size may cost more than a round one. Snell,
/// Mikler and Gustafson, NetPIPE: A network protocol independent performance evaluator, IASTED 1996.
const BESIDE: u64 = 3;

/// The largest message that can be asked for, in bytes.
pub const LONGEST_MESSAGE: u64 = 1 << 30;

/// These sizes and those that the ladder's table states, in their order.
pub fn stated_and(sizes: &[u64]) -> Vec<u64> {
    let mut all = [sizes, &[LATENCY_BYTES, DATAGRAM_BYTES, LADDER_BYTES]].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Powers of two from 1 B to 8 MiB: 24 sizes.
pub fn ladder() -> Vec<u64> {
    (0..=LARGEST).map(|power| 1 << power).collect()
}

/// NetPIPE's sizes: powers of two, the middle between each two of them, and from 16 B on the sizes three
/// bytes beside all of these: 124 sizes.
pub fn full() -> Vec<u64> {
    let middles = (1..LARGEST).map(|power| 3 << (power - 1));
    let mut sizes: Vec<u64> = ladder().into_iter().chain(middles).collect();
    let beside = sizes.iter().filter(|size| **size >= NEIGHBOURS_FROM);
    let beside: Vec<u64> = beside.flat_map(|size| [size - BESIDE, size + BESIDE]).collect();
    sizes.extend(beside);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_asked_for_are_measured_once() {
        assert_eq!(stated_and(&[1 << 20, 9000, 1, 9000]), [1, 64, 1024, 9000, 1 << 20]);
    }

    #[test]
    fn the_dense_ladder_is_that_of_netpipe() {
        let sizes = full();
        let first = [1, 2, 3, 4, 6, 8, 12, 13, 16, 19, 21, 24, 27, 29, 32, 35, 45, 48, 51, 61, 64, 67, 93];
        assert_eq!(sizes[..first.len()], first);
        assert_eq!((sizes.len(), sizes.last()), (124, Some(&((8 << 20) + 3))));
        assert!(ladder().iter().all(|size| sizes.contains(size)));
        assert_eq!(ladder().len(), 24);
    }
}
