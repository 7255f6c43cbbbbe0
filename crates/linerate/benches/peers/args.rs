//! The words after `--`.

use super::looks::Looks;
use std::path::PathBuf;

/// Blocks where nothing else is asked for: enough for the lines of all rows and peers, with one to spare.
const BLOCKS: u32 = 14;
const SECONDS: u32 = 2;

/// What is asked for.
#[derive(Debug)]
pub struct Args {
    pub json: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub profile: Option<PathBuf>,
    pub list: bool,
    pub blocks: u32,
    /// Blocks at most of a race that is not decided before.
    pub most: u32,
    /// After how many minutes no further block is begun.
    pub minutes: Option<u32>,
    pub seconds: u32,
    pub seed: u64,
    /// What an earlier run wrote, whose blocks come before those of this one.
    pub onto: Option<PathBuf>,
    /// Parts of rows' names; all where there are none.
    pub rows: Vec<String>,
    /// Names of peers; all where there are none.
    pub peers: Vec<String>,
    /// Parts of rows' names or names of peers.
    pub words: Vec<String>,
}

pub const USAGE: &str = "\
cargo bench --bench peers -- [OPTIONS] [WORD]...

  WORD             a part of a row's name, or a peer's name: only these races
  --rows WORD,...  only rows whose name contains one of these
  --peers NAME,... only these peers
  --blocks N       pairs of each race (14; fewer than 6 have no interval)
  --most N         go on with races that are not decided, up to so many pairs (as many as --blocks)
  --minutes M      begin no further block after so long
  --seconds S      how long each side works (2)
  --seed N         of the order (1)
  --json FILE      a line a row and peer
  --onto FILE      what an earlier run wrote by --json: its blocks count as well
  --markdown FILE  the table for a page
  --profile FILE   after the blocks, where the time of both sides of each row goes (perf), a table for a page
  --list           the peers: what they are, how they are had, whether they are here, what they take part in";

impl Args {
    pub fn read(words: &[String]) -> Result<Args, String> {
        let mut args = Args {
            json: None,
            markdown: None,
            profile: None,
            list: false,
            blocks: BLOCKS,
            most: 0,
            minutes: None,
            seconds: SECONDS,
            seed: 1,
            onto: None,
            rows: Vec::new(),
            peers: Vec::new(),
            words: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or_else(|| format!("{word} wants a value"));
            let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<String>>();
            match word.as_str() {
                "--json" => args.json = Some(value()?.into()),
                "--markdown" => args.markdown = Some(value()?.into()),
                "--profile" => args.profile = Some(value()?.into()),
                "--blocks" => args.blocks = number(&value()?)?,
                "--most" => args.most = number(&value()?)?,
                "--minutes" => args.minutes = Some(number(&value()?)?),
                "--seconds" => args.seconds = number(&value()?)?.max(1),
                "--seed" => args.seed = u64::from(number(&value()?)?),
                "--onto" => args.onto = Some(value()?.into()),
                "--rows" => args.rows.extend(list(value()?)),
                "--peers" => args.peers.extend(list(value()?)),
                "--list" => args.list = true,
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ => args.words.push(word.clone()),
            }
        }
        args.most = args.most.max(args.blocks);
        Ok(args)
    }

    /// When the races are looked at.
    pub fn looks(&self) -> Looks {
        Looks::between(self.blocks, self.most)
    }

    /// Whether this race was asked for.
    pub fn wants(&self, row: &str, peer: &str) -> bool {
        let names = |row_part: &String| row.contains(row_part.as_str());
        let in_rows = self.rows.is_empty() || self.rows.iter().any(names);
        let in_peers = self.peers.is_empty() || self.peers.iter().any(|name| name == peer);
        let in_words = self.words.is_empty() || self.words.iter().any(|word| names(word) || word == peer);
        in_rows && in_peers && in_words
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Args, String> {
        Args::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<String>>())
    }

    #[test]
    fn words_pick_races() {
        let all = read("").unwrap();
        assert!(all.wants("tcp-stream 64 KiB x 1 parity", "iperf3"));
        let picked = read("udp iperf3 --seconds 0 --blocks 6").unwrap();
        assert!(picked.wants("udp-stream 18 B parity", "nuttcp") && picked.wants("connections", "iperf3"));
        assert!(!picked.wants("connections", "netperf"));
        assert_eq!((picked.seconds, picked.blocks, picked.most), (1, 6, 6));
        let longer = read("--blocks 15 --most 60 --minutes 90").unwrap();
        assert_eq!((longer.blocks, longer.most, longer.minutes), (15, 60, Some(90)));
        let both = read("--rows round-trip,requests --peers NPtcp,neper").unwrap();
        assert!(both.wants("requests 1 B x 16", "neper") && !both.wants("requests 1 B x 16", "iperf3"));
        assert!(!both.wants("connections", "neper"));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert_eq!(read("--onto a.json").unwrap().onto, Some("a.json".into()));
        for wrong in ["--nothing", "--json", "--onto", "--blocks many"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
