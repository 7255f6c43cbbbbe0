//! The peers: a table of who they are, how to get them, and what they take part in. Each has a file of its own.

mod iperf;
mod iperf3;
mod kperf;
mod likwid;
mod neper;
mod netperf;
mod nptcp;
mod nuttcp;
mod qperf;
mod sockperf;
mod uperf;
mod xfr;

use super::process::answer;
use super::testbed::Testbed;
use super::work::{Clocked, Kind, Outcome, Work};
use linerate::vocabulary::{Content, Wait};
use std::time::Duration;

/// One peer.
#[derive(Debug)]
pub struct Peer {
    /// What it is called.
    pub name: &'static str,
    /// What must be on the path.
    pub programs: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
    /// How it is had.
    pub get: &'static str,
    /// The words to which the first program says its version; nothing where it never does.
    pub version: &'static [&'static str],
    /// The words to which it tells its options; nothing where nobody asks.
    pub help: &'static [&'static str],
    /// What it takes part in; of several plays of a kind the first one that can be played.
    pub plays: &'static [Play],
}

/// How a peer does one kind of work.
#[derive(Debug)]
pub struct Play {
    /// The kind.
    pub kind: Kind,
    /// Which work of the kind it can do.
    pub fits: fn(&Work) -> bool,
    /// Its least message: both sides send that where the row asks for less.
    pub least_bytes: u64,
    /// How it waits where that is not as the row has it: both sides do so then.
    pub waits: Option<Wait>,
    /// What it sends: both sides do so then.
    pub content: Content,
    /// How it times its work.
    pub clocked: Clocked,
    /// An option that its help must name; empty for none.
    pub needs: &'static str,
    /// Whether its CPU time is known, where the row asks for it: its ends are the processes that were started, and it
    /// tells the bytes of their whole life.
    pub tells_cpu: bool,
    /// Does it.
    pub run: fn(&Found, &Work, &Testbed) -> Result<Outcome, String>,
}

impl Play {
    /// One that does all work of a kind, from the first byte on.
    const fn new(kind: Kind, run: fn(&Found, &Work, &Testbed) -> Result<Outcome, String>) -> Play {
        let (fits, clocked): (fn(&Work) -> bool, _) = (|_| true, Clocked::WHOLE);
        let content = Content::Random;
        Play { kind, fits, least_bytes: 1, waits: None, content, clocked, needs: "", tells_cpu: true, run }
    }
}

/// Every peer.
pub const PEERS: &[&Peer] = &[
    &iperf3::IPERF3,
    &iperf::IPERF,
    &nuttcp::NUTTCP,
    &netperf::NETPERF,
    &neper::NEPER,
    &xfr::XFR,
    &kperf::KPERF,
    &sockperf::SOCKPERF,
    &qperf::QPERF,
    &uperf::UPERF,
    &nptcp::NPTCP,
    &likwid::LIKWID,
];

/// What this machine has of a peer.
#[derive(Debug, Clone)]
pub struct Found {
    pub peer: &'static Peer,
    /// Whether all its programs are on the path.
    pub is_here: bool,
    pub version: Option<String>,
    help: String,
}

impl Found {
    /// Looks for it.
    pub fn look(peer: &'static Peer) -> Found {
        let has = |program: &&str| {
            answer("sh", &["-c", &format!("command -v {program}")])
                .is_some_and(|path| !path.trim().is_empty())
        };
        let is_here = peer.programs.iter().all(has);
        let ask = |words: &[&str]| {
            let asked = is_here && !words.is_empty();
            asked.then(|| answer(peer.programs[0], words)).flatten().unwrap_or_default()
        };
        let (version, help) = (number_in(&ask(peer.version)), ask(peer.help));
        Found { peer, is_here, version, help }
    }

    /// Its name, and its version where it tells one.
    pub fn title(&self) -> String {
        let version = self.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        self.peer.name.to_owned() + &version
    }

    /// Whether its CPU time is known in this kind of work.
    pub fn tells_cpu(&self, kind: Kind) -> bool {
        self.peer.plays.iter().any(|play| play.kind == kind && play.tells_cpu)
    }

    /// What of it does this work; none where it never does.
    pub fn play(&self, work: &Work) -> Option<Result<&'static Play, String>> {
        let mut plays = self.peer.plays.iter().filter(|play| play.kind == work.kind && (play.fits)(work));
        let first = plays.clone().next()?;
        if !self.is_here {
            return Some(Err("missing: it is not on the path".into()));
        }
        let can = |play: &&Play| play.needs.is_empty() || self.help.contains(play.needs);
        Some(plays.find(can).ok_or_else(|| format!("missing: this version has no {}", first.needs)))
    }
}

/// The first number with a point in it: `3.12`, `2.1.8`, `3.7`.
fn number_in(text: &str) -> Option<String> {
    let mut parts = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let is_version =
        |part: &&str| part.starts_with(|first: char| first.is_ascii_digit()) && part.contains('.');
    parts.find(is_version).map(|part| part.trim_end_matches('.').to_owned())
}

/// What stands behind a word, up to the next blank.
fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.split_once(word)?.1.split_whitespace().next()
}

/// The number behind a word; the reason where there is none.
fn number_after(text: &str, word: &str) -> Result<f64, String> {
    let number = after(text, word).and_then(|number| number.trim_end_matches(',').parse().ok());
    number.ok_or_else(|| format!("no `{word}` in what it printed: {}", super::process::last_line(text)))
}

/// How long a peer may take for this work, start and end included.
fn limit(work: &Work) -> Duration {
    Duration::from_secs(u64::from(work.seconds) + 12)
}

/// What both lives took.
fn cpu_of(ended: &[super::process::Ended]) -> Option<u64> {
    ended.iter().map(|ended| ended.cpu_ns).sum()
}

const HERE: &str = "127.0.0.1";

/// Whether both ends sleep: most peers cannot ask again and again.
fn sleeps(work: &Work) -> bool {
    work.wait == Wait::Sleeping
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::super::rows;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn versions_are_found_as_programs_print_them() {
        let cases = [
            ("iperf 3.12 (cJSON 1.7.15)\nLinux", Some("3.12")),
            ("iperf version 2.1.8 (12 August 2022) pthreads\n", Some("2.1.8")),
            ("nuttcp-6.1.2\nCopyright(c) 2000 - 2006", Some("6.1.2")),
            ("Netperf version 2.7.1.", Some("2.7.1")),
            ("sockperf, version 3.7-no.git \n   compiled with gcc 12", Some("3.7")),
            ("qperf 0.4.11\n", Some("0.4.11")),
            ("likwid-bench -- Version 5.2.2 (commit: 0)", Some("5.2.2")),
            ("no such option", None),
        ];
        for (text, version) in cases {
            assert_eq!(number_in(text).as_deref(), version, "{text}");
        }
    }

    #[test]
    fn a_number_behind_a_word_is_read() {
        let text = "megabytes=9812.0000 real_seconds=2.00 rate_Mbps=41149.1034 tx_cpu=99\n";
        assert_eq!(number_after(text, "rate_Mbps="), Ok(41149.1034));
        assert_eq!(number_after("MByte/s:\t\t9123.5\n", "MByte/s:"), Ok(9123.5));
        assert!(number_after("no route\n", "rate=").unwrap_err().contains("no route"));
    }

    #[test]
    fn every_peer_has_a_row_and_every_row_a_peer() {
        let rows = rows::all(&[0, 1], 2);
        let takes_part = |peer: &Peer, work: &Work| {
            peer.plays.iter().any(|play| play.kind == work.kind && (play.fits)(work))
        };
        for peer in PEERS {
            assert!(rows.iter().any(|row| takes_part(peer, &row.work)), "{}", peer.name);
        }
        for row in &rows {
            assert!(PEERS.iter().any(|peer| takes_part(peer, &row.work)), "{}", row.name);
        }
        let names: BTreeSet<&str> = PEERS.iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), PEERS.len());
    }

    #[test]
    fn a_play_without_its_option_gives_way() {
        let best = rows::all(&[0, 1], 2).into_iter().find(|row| row.work.kind == Kind::BestStream).unwrap();
        let with =
            |is_here, help: &str| Found { peer: &iperf3::IPERF3, is_here, version: None, help: help.into() };
        let needs = |found: Found| found.play(&best.work).unwrap().map(|play| play.needs);
        assert_eq!(needs(with(true, "--skip-rx-copy")), Ok("--skip-rx-copy"));
        assert_eq!(needs(with(true, "")), Ok(""));
        assert!(needs(with(false, "")).unwrap_err().starts_with("missing: "));
    }
}
