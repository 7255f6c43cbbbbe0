//! Watches a thread of an application over a few units of work: what it waited for in each of equal parts of that time.
//!
//! All that is written to is there before the block begins. Parts begin short and are joined in twos when they are full, so
//! that their number never changes, however long a unit takes.

use crate::record::{Activity, Doing};
use linerate_sys::clock::monotonic_ns;

/// Parts of the time, and how long one is at first.
const PARTS: usize = 80;
const FIRST_NS: u64 = 1000;

/// The most units that are watched: one by one the one that is shown and the next, during which others still wait.
const ONE_BY_ONE: u64 = 2;
const AHEAD: u64 = 8;

/// The most threads of a host that are told.
pub const MOST: usize = 32;

/// A thread that is watched.
pub struct Watch {
    /// What is timed; the time that is left goes elsewhere.
    kinds: [Doing; 2],
    from: u64,
    until: u64,
    is_on: bool,
    begun_ns: u64,
    part_ns: u64,
    spent_ns: [[u64; PARTS]; 2],
    done_ns: Vec<u64>,
}

impl Watch {
    /// Over units in the middle of so many, after the first where there are several.
    pub fn new(units: u64, one_by_one: bool, kinds: [Doing; 2]) -> Watch {
        let from = units / 2;
        let most = if one_by_one { ONE_BY_ONE } else { (units / 8).clamp(ONE_BY_ONE, AHEAD) };
        Watch {
            kinds,
            from,
            until: (from + most).min(units),
            is_on: false,
            begun_ns: 0,
            part_ns: FIRST_NS,
            spent_ns: [[0; PARTS]; 2],
            done_ns: Vec::with_capacity(AHEAD as usize),
        }
    }

    /// A unit begins.
    pub fn begin(&mut self, unit: u64) {
        if unit == self.from && !self.is_on {
            (self.is_on, self.begun_ns) = (true, monotonic_ns());
        }
    }

    /// It is done.
    pub fn end(&mut self, unit: u64) {
        if self.is_on {
            self.done_ns.push(monotonic_ns() - self.begun_ns);
            self.is_on = unit + 1 < self.until;
        }
    }

    /// Something that took so long has just ended.
    pub fn spent(&mut self, kind: usize, ns: u64) {
        if self.is_on && ns > 0 {
            let to = monotonic_ns() - self.begun_ns;
            self.add(kind, to.saturating_sub(ns), to);
        }
    }

    /// Something went on from one moment of the monotonic clock to another.
    pub fn between(&mut self, kind: usize, from_ns: u64, to_ns: u64) {
        if self.is_on {
            let [from, to] = [from_ns, to_ns].map(|at| at.saturating_sub(self.begun_ns));
            self.add(kind, from, to);
        }
    }

    /// The same, since it began.
    fn add(&mut self, kind: usize, mut from: u64, to: u64) {
        while to >= self.part_ns * PARTS as u64 {
            self.join();
        }
        while from < to {
            let part = (from / self.part_ns) as usize;
            let end = (part as u64 + 1) * self.part_ns;
            self.spent_ns[kind][part] += end.min(to) - from;
            from = end;
        }
    }

    fn join(&mut self) {
        self.part_ns *= 2;
        for parts in &mut self.spent_ns {
            for at in 0..PARTS {
                let sum = |at: usize| parts.get(at).copied().unwrap_or(0);
                parts[at] = sum(2 * at) + sum(2 * at + 1);
            }
        }
    }

    /// What it saw; nothing where its units were not reached.
    pub fn into_activity(mut self, of: String, copy: u32, rest: Doing) -> Option<Activity> {
        let lasted = *self.done_ns.last()?;
        while lasted >= self.part_ns * PARTS as u64 {
            self.join();
        }
        let length = |part: usize| self.part_ns.min(lasted.saturating_sub(part as u64 * self.part_ns));
        let share = |(part, ns): (usize, &u64)| match length(part) {
            0 => 0,
            length => (100 * ns / length).min(100) as u8,
        };
        let shares = |parts: &[u64; PARTS]| {
            let mut shares: Vec<u8> = parts.iter().enumerate().map(share).collect();
            shares.truncate(shares.iter().rposition(|share| *share > 0).map_or(0, |last| last + 1));
            shares
        };
        let kinds = self.kinds.into_iter().zip(self.spent_ns.iter().map(shares));
        let spent = kinds.filter(|(_, shares)| !shares.is_empty()).collect();
        let Watch { begun_ns, part_ns, done_ns, from: unit, .. } = self;
        Some(Activity { of, copy, unit, begun_ns, done_ns, part_ns, rest, spent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Doing; 2] = [Doing::WaitsForInput, Doing::WaitsForRoom];

    /// One that began at nought, and was done with its units then.
    fn watched(done_ns: &[u64], spent: &[(usize, u64, u64)]) -> Activity {
        let mut watch = Watch::new(100, true, KINDS);
        watch.is_on = true;
        spent.iter().for_each(|(kind, from, to)| watch.between(*kind, *from, *to));
        watch.done_ns = done_ns.to_vec();
        watch.into_activity("clip".into(), 1, Doing::Works).unwrap()
    }

    #[test]
    fn waits_stand_in_the_parts_in_which_they_were() {
        let told = watched(&[10_000, 20_000], &[(0, 0, 2500), (1, 9000, 10_000), (0, 19_500, 20_000)]);
        assert_eq!((told.part_ns, told.unit, told.lasted_ns()), (1000, 50, 20_000));
        let input = &told.spent[&Doing::WaitsForInput];
        assert_eq!((input[..3].to_vec(), input[19], input.len()), (vec![100, 100, 50], 50, 20));
        assert_eq!(told.spent[&Doing::WaitsForRoom], [vec![0; 9], vec![100]].concat());
    }

    #[test]
    fn parts_grow_with_the_time_and_keep_what_was_in_them() {
        let told = watched(&[700_000], &[(0, 0, 1000), (0, 350_000, 700_000)]);
        assert_eq!(told.part_ns, 16_000);
        let input = &told.spent[&Doing::WaitsForInput];
        assert_eq!((input[0], input[1], input[20], input[21], input[22]), (6, 0, 0, 12, 100));
        // The last part is no whole one: its share is of what there is of it.
        assert_eq!((input.len(), input[43]), (44, 100));
    }

    #[test]
    fn only_units_in_the_middle_are_watched() {
        let mut watch = Watch::new(8, true, KINDS);
        for unit in 0..8 {
            watch.begin(unit);
            assert_eq!(watch.is_on, (4..6).contains(&unit), "{unit}");
            watch.spent(0, 1);
            watch.end(unit);
        }
        assert_eq!(watch.done_ns.len(), 2);
        assert!(
            Watch::new(8, true, KINDS).into_activity("clip".into(), 0, Doing::Works).is_none(),
            "it never began"
        );
        let mut alone = Watch::new(1, false, KINDS);
        alone.begin(0);
        alone.end(0);
        assert_eq!(alone.done_ns.len(), 1);
    }
}
