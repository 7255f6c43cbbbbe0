//! The blocks of an earlier run, by what it wrote: races take hours, and a run that was cut goes on from there.

use super::race::Race;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest file of an earlier run.
const LARGEST: u64 = 64 << 20;

/// The blocks of one race: ours and theirs, by what follows the row's name.
#[derive(Debug, Default)]
pub struct Earlier(BTreeMap<String, Vec<(f64, f64)>>);

/// What is read of a line.
#[derive(Deserialize)]
struct RaceLine {
    row: String,
    peer: String,
    ours_blocks: Vec<f64>,
    peer_blocks: Vec<f64>,
}

impl Earlier {
    /// The pairs of this figure.
    pub fn pairs(&self, suffix: &str) -> &[(f64, f64)] {
        self.0.get(suffix).map_or(&[], Vec::as_slice)
    }

    /// How many there are.
    pub fn blocks(&self) -> u32 {
        self.0.values().map(Vec::len).max().unwrap_or(0) as u32
    }

    fn find(told: &[RaceLine], race: &Race) -> Earlier {
        let peer = race.found.title();
        let of_suffix = |suffix: &'static str| {
            let row = race.row.name.clone() + suffix;
            let told = told.iter().find(|told| told.row == row && told.peer == peer)?;
            let pairs = told.ours_blocks.iter().copied().zip(told.peer_blocks.iter().copied());
            Some((suffix.to_owned(), pairs.collect()))
        };
        Earlier(race.row.metrics.iter().filter_map(|metric| of_suffix(metric.suffix)).collect())
    }
}

/// Gives each race the blocks that were run of it, with the same version of the peer.
pub fn remember(races: &mut [Race], path: &Path) -> Result<(), String> {
    let said = |why: String| format!("{}: {why}", path.display());
    let size = std::fs::metadata(path).map_err(|error| said(error.to_string()))?.len();
    if size > LARGEST {
        return Err(said(format!("{size} bytes are no file of a run")));
    }
    let told =
        read(&std::fs::read_to_string(path).map_err(|error| said(error.to_string()))?).map_err(said)?;
    for race in races {
        race.earlier = Earlier::find(&told, race);
    }
    Ok(())
}

fn read(text: &str) -> Result<Vec<RaceLine>, String> {
    let line = |(number, line): (usize, &str)| {
        let told: RaceLine =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        if told.ours_blocks.len() != told.peer_blocks.len() {
            return Err(format!("line {}: not as many blocks of either side", number + 1));
        }
        Ok(told)
    };
    text.lines().enumerate().map(line).collect()
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_from_a_run() {
        let line = r#"{"row":"a CPU","peer":"b 1","ours_blocks":[1.5,2],"peer_blocks":[1,4],"ratio":null}"#;
        let told = read(line).unwrap();
        assert_eq!((told[0].row.as_str(), told[0].peer.as_str()), ("a CPU", "b 1"));
        assert_eq!(told[0].ours_blocks, [1.5, 2.0]);
        assert!(read("").unwrap().is_empty());
        for wrong in [line.replace("[1,4]", "[1]"), line.replace("\"row\"", "\"line\""), "x".into()] {
            assert!(read(&wrong).err().unwrap().starts_with("line 1: "), "{wrong}");
        }
    }
}
