//! Places of a stream that are covered: ranges that do not overlap.

use std::collections::BTreeMap;

/// Ranges by where they begin, each with its end.
#[derive(Debug, Default)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Covers these places too; whether one of them was not covered.
    pub fn add(&mut self, begin: u64, end: u64) -> bool {
        if begin >= end || self.covers(begin, end) {
            return false;
        }
        let (mut from, mut to) = (begin, end);
        while let Some((at, behind)) = self.0.range(..=to).next_back().map(|(at, behind)| (*at, *behind)) {
            if behind < from {
                break;
            }
            self.0.remove(&at);
            (from, to) = (from.min(at), to.max(behind));
        }
        self.0.insert(from, to);
        true
    }

    fn covers(&self, begin: u64, end: u64) -> bool {
        self.0.range(..=begin).next_back().is_some_and(|(_, behind)| *behind >= end)
    }

    /// Whether one of these places is covered.
    pub fn touches(&self, begin: u64, end: u64) -> bool {
        begin < end && self.0.range(..end).next_back().is_some_and(|(_, behind)| *behind > begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_as_a_set_of_places(of in prop::collection::vec((0_u64..40, 0_u64..12), 0..30), asked in (0_u64..40, 1_u64..12)) {
            let (mut ranges, mut places) = (Ranges::default(), std::collections::BTreeSet::new());
            for (begin, length) in of {
                let before = places.len();
                places.extend(begin..begin + length);
                prop_assert_eq!(ranges.add(begin, begin + length), places.len() > before);
            }
            let (begin, end) = (asked.0, asked.0 + asked.1);
            prop_assert_eq!(ranges.touches(begin, end), (begin..end).any(|place| places.contains(&place)));
        }
    }
}
