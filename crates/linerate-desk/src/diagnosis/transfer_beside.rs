//! What bounds a transfer by another program, and by which evidence.
//!
//! The program is a box: nobody sees its streams' time. So what it may be bound by is computed from what was measured beside it, and
//! named only where the program comes near it.

use crate::record::{TransfersBeside, TransfersOf};
use crate::statistic::Estimate;
use crate::unit::{BitRate, Nanoseconds, percent, significant};

/// A program that reaches this share of a bound is held by it. What is missing are its beginning and the wait for the disk.
const NEAR: f64 = 0.7;

/// What a program cannot pass.
struct Bound {
    bps: f64,
    what: String,
    without: &'static str,
}

type Kind = fn(&TransfersOf, &TransfersBeside) -> Option<Bound>;

/// What is known to bound programs.
const BOUNDS: &[Kind] = &[window, cipher];

/// A window that the program sets itself, over a round trip.
fn window(of: &TransfersOf, beside: &TransfersBeside) -> Option<Bound> {
    let (bytes, trip_ns) = (of.window_bytes? as f64, beside.round_trip_ns.filter(|ns| *ns > 0)? as f64);
    let mib = significant(bytes / f64::from(1 << 20), 3);
    let what = format!("a window of its own: {mib} MiB a round trip of {}", Nanoseconds(trip_ns));
    Some(Bound {
        bps: 8e9 * bytes * f64::from(of.streams.max(1)) / trip_ns,
        what,
        without: "a larger window",
    })
}

/// Its cipher on one core, for each stream.
fn cipher(of: &TransfersOf, beside: &TransfersBeside) -> Option<Bound> {
    let name = of.cipher.as_ref()?;
    let bytes_per_s = beside.ciphers.get(name)?;
    let what = format!("its cipher: {name} on one core, by `openssl speed`");
    Some(Bound { bps: 8.0 * bytes_per_s * f64::from(of.streams.max(1)), what, without: "a faster cipher" })
}

/// What binds a program at the rate that was measured; none where it does not come near anything that is known.
pub fn transfer_beside_bound(of: &TransfersOf, rate: &Estimate, beside: &TransfersBeside) -> Option<String> {
    let mut bounds: Vec<Bound> = BOUNDS.iter().filter_map(|kind| kind(of, beside)).collect();
    bounds.sort_by(|one, other| one.bps.total_cmp(&other.bps));
    let mut bounds = bounds.into_iter();
    let first = bounds.next().filter(|bound| rate.median >= NEAR * bound.bps)?;
    let share = percent(rate.median / first.bps);
    let next = bounds.next().map_or(String::new(), |next| {
        format!("; {} would give {} at most: then {} binds", first.without, BitRate(next.bps), next.what)
    });
    Some(format!("{}, {} at most, of which it reaches {share}{next}", first.what, BitRate(first.bps)))
}

/// What a program's time consists of: of a file, of a longer one and of many small ones.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCosts {
    /// What it takes before anything moves.
    pub begin_ns: Estimate,
    /// What a file takes, whatever its size.
    pub file_ns: Estimate,
    /// What a byte takes.
    pub byte_ns: Estimate,
}

/// `time = a + b files + c bytes`, solved in each round by the shortest file, the longest one and the folder: what changes from
/// round to round falls on all three. None where one of them is missing.
pub fn file_costs(folder: &TransfersOf, all: &[TransfersOf]) -> Option<FileCosts> {
    let count = folder.files.filter(|count| *count > 1)? as f64;
    let way = |of: &TransfersOf| (of.tool.clone(), of.flags.clone(), of.streams);
    let alike = || all.iter().filter(|one| one.files.is_none() && way(one) == way(folder));
    let (short, long) = (
        alike().min_by_key(|one| one.bytes)?,
        alike().max_by_key(|one| one.bytes).filter(|one| one.bytes > 0)?,
    );
    if short.bytes == long.bytes {
        return None;
    }
    let solved =
        short.took_ns.iter().zip(&long.took_ns).zip(&folder.took_ns).map(|((short_ns, long_ns), all_ns)| {
            let [short_ns, long_ns, all_ns] = [*short_ns, *long_ns, *all_ns].map(|ns| ns as f64);
            let byte = (long_ns - short_ns) / (long.bytes - short.bytes) as f64;
            let more = folder.bytes as f64 - short.bytes as f64;
            let file = (all_ns - short_ns - byte * more) / (count - 1.0);
            [short_ns - file - byte * short.bytes as f64, file, byte]
        });
    let solved: Vec<[f64; 3]> = solved.collect();
    let of = |at: usize| Estimate::from_values(solved.iter().map(|one| one[at]));
    Some(FileCosts { begin_ns: of(0)?, file_ns: of(1)?, byte_ns: of(2)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfers(files: Option<u64>, bytes: u64, took_ns: Vec<u64>) -> TransfersOf {
        TransfersOf { tool: "scp".into(), streams: 1, files, bytes, took_ns, ..TransfersOf::default() }
    }

    fn beside() -> TransfersBeside {
        let ciphers = [("chacha20-poly1305", 1e9), ("aes-128-gcm", 3e9)];
        let ciphers = ciphers.map(|(name, speed)| (name.to_owned(), speed)).into();
        TransfersBeside { round_trip_ns: Some(20_000_000), ciphers, ..TransfersBeside::default() }
    }

    fn rate(bps: f64) -> Estimate {
        Estimate::from_values([bps]).unwrap()
    }

    #[test]
    fn what_a_program_comes_near_binds_it() {
        let ssh = TransfersOf {
            cipher: Some("chacha20-poly1305".into()),
            window_bytes: Some(2 << 20),
            ..transfers(None, 1, Vec::new())
        };
        // 2 MiB in 20 ms are 839 Mb/s.
        let said = transfer_beside_bound(&ssh, &rate(700e6), &beside()).unwrap();
        for part in
            ["a window of its own: 2.00 MiB a round trip of 20.0 ms", "839 Mb/s at most", "8.00 Gb/s at most"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(transfer_beside_bound(&ssh, &rate(300e6), &beside()), None, "far from both");
        let near = TransfersBeside { round_trip_ns: Some(100_000), ..beside() };
        let said = transfer_beside_bound(&ssh, &rate(7e9), &near).unwrap();
        assert!(said.starts_with("its cipher: chacha20-poly1305"), "{said}");
        assert_eq!(
            transfer_beside_bound(&transfers(None, 1, Vec::new()), &rate(9e9), &near),
            None,
            "not sealed"
        );
    }

    #[test]
    fn time_is_a_beginning_files_and_bytes() {
        // 50 ms, 1 ms a file, 2 ns a byte, in each of six rounds.
        let ns = |files: u64, bytes: u64| vec![50_000_000 + files * 1_000_000 + 2 * bytes; 6];
        let folder = transfers(Some(300), 9_000_000, ns(300, 9_000_000));
        let all = [
            folder.clone(),
            transfers(None, 1_000_000, ns(1, 1_000_000)),
            transfers(None, 50_000_000, ns(1, 50_000_000)),
        ];
        let found = file_costs(&folder, &all).unwrap();
        let near = |of: &Estimate, wanted: f64| (of.median / wanted - 1.0).abs() < 1e-6 && of.low.is_some();
        assert!(
            near(&found.begin_ns, 5e7) && near(&found.file_ns, 1e6) && near(&found.byte_ns, 2.0),
            "{found:?}"
        );
        assert_eq!(file_costs(&folder, &all[..2]), None, "one size tells no slope");
    }
}
