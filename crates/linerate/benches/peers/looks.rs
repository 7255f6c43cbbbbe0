//! When the races are looked at: those that are decided then are not run on.

/// How many more blocks the next look has: by half as many again a verdict is not far from where it could have been had.
const GROWS: f64 = 1.5;

/// The numbers of blocks after which is looked, all planned before the first block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks(Vec<u32>);

impl Looks {
    /// From the first one to the last one.
    pub fn between(first: u32, last: u32) -> Looks {
        let mut all = vec![first.min(last)];
        while let Some(at) = all.last().copied().filter(|at| *at < last) {
            all.push(((f64::from(at) * GROWS).ceil() as u32).clamp(at + 1, last));
        }
        Looks(all)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// The most blocks.
    pub fn last(&self) -> u32 {
        self.0.last().copied().unwrap_or(0)
    }

    /// The one for which the block of this number, from 0, is run: after which block the one before it was, and it is.
    pub fn next(&self, block: u32) -> (u32, u32) {
        let before = self.0.iter().copied().rfind(|at| *at <= block).unwrap_or(0);
        let next = self.0.iter().copied().find(|at| *at > block);
        (before, next.unwrap_or_else(|| self.last()))
    }

    /// In words.
    pub fn sentence(&self) -> String {
        let all: Vec<String> = self.0.iter().map(u32::to_string).collect();
        match &all[..] {
            [only] => format!("{only} blocks"),
            several => format!("blocks until decided, looked at after {}", several.join(", ")),
        }
    }
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_and_end_at_the_last_one() {
        assert_eq!(Looks::between(14, 14), Looks(vec![14]));
        assert_eq!(Looks::between(16, 60), Looks(vec![16, 24, 36, 54, 60]));
        assert_eq!(Looks::between(1, 3), Looks(vec![1, 2, 3]));
        assert_eq!(Looks::between(0, 2), Looks(vec![0, 1, 2]));
    }

    #[test]
    fn a_block_is_run_for_the_next_look() {
        let looks = Looks::between(16, 60);
        assert_eq!((looks.next(0), looks.next(15), looks.next(16)), ((0, 16), (0, 16), (16, 24)));
        assert_eq!((looks.next(59), looks.last(), looks.count()), ((54, 60), 60, 5));
        assert_eq!(looks.sentence(), "blocks until decided, looked at after 16, 24, 36, 54, 60");
        assert_eq!(Looks::between(14, 14).sentence(), "14 blocks");
    }
}
