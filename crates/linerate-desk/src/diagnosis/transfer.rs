//! What bound the transfer of a file, by where the time of its streams went.
//!
//! Each stream is one thread at each end, which reads or writes, digests, and sends or receives, one after the other. So the end
//! that binds is the one whose threads do not wait for the network, and what binds there is what they spend their time on. A
//! share is of the time until all was done, and a perfect fix of what takes the share `s` cannot make it faster than `1/(1-s)`.

use crate::record::{Transfer, TransferEnd, TransferStream};
use crate::unit::{BitRate, Nanoseconds, percent};

/// What takes less of the time does not bind: something else takes as much.
const BINDS: f64 = 0.5;

/// A connection that was held up for this share of its sending time by one thing was bound by that (`tcpi_rwnd_limited` and
/// `tcpi_sndbuf_limited` of linux/tcp.h).
const LIMITED: f64 = 0.5;

/// Where more than this share of the segments went twice, loss is told.
const LOSES: f64 = 0.001;

/// What helps where an end's threads wait for a CPU for longer than they have one.
const SHARED: &str = "see what else has its CPUs (top): hosts on one machine, as a lab's are, share them, and more --streams do not help";

/// What helps where an end's threads seal or open for most of the time that they work.
const CIPHER: &str = "more --streams where CPUs are idle; --tls=aes-128-gcm is the fastest where they have instructions for AES; without --tls nothing is sealed";

/// What may bind.
struct Bound {
    name: &'static str,
    what: &'static str,
    /// The share of the time that it took.
    share: fn(&Transfer) -> f64,
    hint: &'static str,
}

/// What may bind, in the order in which the first of equals is taken.
const BOUNDS: &[Bound] = &[
    Bound {
        name: "destination-disk",
        what: "the disk of the receiving host",
        share: |transfer| {
            let waits = share(&transfer.receiver, |stream| waited(stream, stream.file.waited_ns()));
            waits * streaming(&transfer.receiver) + synced(&transfer.receiver)
        },
        hint: "a faster disk there; --no-sync does not wait until all is on it, which a crash then may lose",
    },
    Bound {
        name: "source-disk",
        what: "the disk of the sending host",
        share: |transfer| share(&transfer.sender, |stream| waited(stream, stream.file.waited_ns())),
        hint: "a faster disk there; more --streams read at more places at once",
    },
    Bound {
        name: "receiver-cpu",
        what: "the CPU of the receiving host",
        share: |transfer| share(&transfer.receiver, busy) * streaming(&transfer.receiver),
        hint: "more --streams where CPUs are idle there; --no-verify spares the digests",
    },
    Bound {
        name: "sender-cpu",
        what: "the CPU of the sending host",
        share: |transfer| share(&transfer.sender, busy),
        hint: "more --streams where CPUs are idle there; --no-verify spares the digests, and copying with them",
    },
    Bound {
        name: "path",
        what: "the path",
        share: |transfer| {
            let sends = share(&transfer.sender, |stream| waited(stream, stream.network.waited_ns()));
            let receives = share(&transfer.receiver, |stream| waited(stream, stream.network.waited_ns()));
            sends.min(receives * streaming(&transfer.receiver))
        },
        hint: "`linerate diagnose` between the same hosts says what of the path it is",
    },
];

/// What bound a transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferBound {
    /// Its name; none where nothing took half of the time.
    pub name: Option<&'static str>,
    /// The share of the time that it took.
    pub share: f64,
    /// In words, with its evidence.
    pub sentence: String,
    /// What to try.
    pub hint: Option<&'static str>,
}

/// What bound it; none where nothing crossed.
pub fn transfer_bound(transfer: &Transfer) -> Option<TransferBound> {
    let rate = transfer.throughput_bps()?;
    let shares = BOUNDS.iter().map(|bound| (bound, (bound.share)(transfer)));
    let (bound, share) = shares.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    if share < BINDS {
        let sentence = format!(
            "nothing took half of the time: most of it, {}, went to {} ({})",
            percent(share),
            bound.what,
            evidence(bound.name, transfer)
        );
        return Some(TransferBound { name: None, share, sentence, hint: None });
    }
    let (what, hint) = match bound.name {
        "path" => window(transfer).unwrap_or((bound.what, bound.hint)),
        "receiver-cpu" if is_kept_from_cpu(&transfer.receiver) => (bound.what, SHARED),
        "sender-cpu" if is_kept_from_cpu(&transfer.sender) => (bound.what, SHARED),
        "receiver-cpu" if is_sealing(&transfer.receiver) => {
            ("the cipher on the CPU of the receiving host", CIPHER)
        }
        "sender-cpu" if is_sealing(&transfer.sender) => ("the cipher on the CPU of the sending host", CIPHER),
        _ => (bound.what, bound.hint),
    };
    let fixed = match share < 0.95 {
        true => format!("; a perfect fix would give {} at most", BitRate(rate / (1.0 - share))),
        false => String::new(),
    };
    let share_text = percent(share);
    let sentence = format!("{what}: {share_text} of the time ({}){fixed}", evidence(bound.name, transfer));
    Some(TransferBound { name: Some(bound.name), share, sentence, hint: Some(hint) })
}

/// A window that held the sender up, where the kernel counted one.
fn window(transfer: &Transfer) -> Option<(&'static str, &'static str)> {
    let sum = |name: &str| -> f64 {
        transfer.sender.streams.iter().filter_map(|stream| stream.tcp.get(name)).map(|n| *n as f64).sum()
    };
    let busy = sum("busy_time");
    let limited = |name: &str| busy > 0.0 && sum(name) / busy > LIMITED;
    match () {
        () if limited("rwnd_limited") => Some((
            "the window of the receiving host",
            "more --streams, or a larger receive buffer there: net.ipv4.tcp_rmem",
        )),
        () if limited("sndbuf_limited") => Some((
            "the send buffer of the sending host",
            "more --streams, or a larger send buffer there: net.ipv4.tcp_wmem",
        )),
        () => None,
    }
}

/// What sealing cost, and what one core has of the cipher by it; none where nothing was sealed.
pub fn transfer_seal(transfer: &Transfer) -> Option<String> {
    let cipher = transfer.sender.cipher.as_ref()?;
    let of = |end: &TransferEnd| {
        let took = share_text(share(end, |stream| stream.seal.cpu_ns as f64));
        let core = core_bps(end).map_or(String::new(), |bps| format!(", {} a core", BitRate(bps)));
        format!("{took}{core}")
    };
    let (sealing, opening) = (of(&transfer.sender), of(&transfer.receiver));
    Some(format!(
        "{cipher} by TLS 1.3: sealing took {sealing}, of the sending streams' time, opening {opening}, of the receiving ones'"
    ))
}

/// Bits that one core sealed or opened in a second that it did nothing else, by the CPU time of the streams' threads.
fn core_bps(end: &TransferEnd) -> Option<f64> {
    let cpu_ns: f64 = end.streams.iter().map(|stream| stream.seal.cpu_ns as f64).sum();
    let bytes: f64 = end.streams.iter().map(|stream| stream.bytes as f64).sum();
    (cpu_ns > 0.0 && bytes > 0.0).then(|| bytes * 8e9 / cpu_ns)
}

/// What sealing took beside the rest, where there was any.
fn beside(end: &TransferEnd, what: &str, share: String) -> String {
    end.cipher.as_ref().map_or(String::new(), |_| format!(", {what} {share}"))
}

/// Whether sealing or opening was most of what its threads did on a CPU.
fn is_sealing(end: &TransferEnd) -> bool {
    let cpu = |of: fn(&TransferStream) -> u64| end.streams.iter().map(of).sum::<u64>();
    let all = cpu(|stream| stream.parts().iter().map(|part| part.cpu_ns).sum());
    2 * cpu(|stream| stream.seal.cpu_ns) > all
}

/// A share; of one that nobody would notice only that.
fn share_text(share: f64) -> String {
    if share < 0.001 { "next to nothing".into() } else { percent(share) }
}

/// What the streams' own time says, in numbers.
fn evidence(bound: &str, transfer: &Transfer) -> String {
    let (sender, receiver) = (&transfer.sender, &transfer.receiver);
    let sent = |of: fn(&TransferStream) -> u64| share_text(share(sender, |s| of(s) as f64));
    // Of the whole time, as the share that it is evidence of.
    let received =
        |of: fn(&TransferStream) -> u64| share_text(streaming(receiver) * share(receiver, |s| of(s) as f64));
    match bound {
        "destination-disk" => {
            let writes = share_text(share(receiver, |stream| waited(stream, stream.file.waited_ns())));
            let synced =
                receiver.sync_ns.map(|ns| format!(", {} until all was on the disk", Nanoseconds(ns as f64)));
            format!("its streams waited for writes {writes} of theirs{}", synced.unwrap_or_default())
        }
        "source-disk" => {
            let cached =
                transfer.cached_share.map(|share| format!("; {} of the file was in memory", percent(share)));
            let reads = share_text(share(sender, |stream| waited(stream, stream.file.waited_ns())));
            format!("its streams waited for reads {reads} of theirs{}", cached.unwrap_or_default())
        }
        "receiver-cpu" => format!(
            "copying and writing {}, digests {}{}, waiting for a CPU {}",
            received(|s| s.file.cpu_ns + s.network.cpu_ns),
            received(|s| s.digest.cpu_ns),
            beside(receiver, "opening", received(|s| s.seal.cpu_ns)),
            received(|s| s.run_delay_ns.unwrap_or(0)),
        ),
        "sender-cpu" => format!(
            "reading and sending {}, digests {}{}, waiting for a CPU {}",
            sent(|s| s.file.cpu_ns + s.network.cpu_ns),
            sent(|s| s.digest.cpu_ns),
            beside(sender, "sealing", sent(|s| s.seal.cpu_ns)),
            sent(|s| s.run_delay_ns.unwrap_or(0)),
        ),
        _ => path_evidence(transfer),
    }
}

fn path_evidence(transfer: &Transfer) -> String {
    let of = |name: &str| {
        transfer.sender.streams.iter().filter_map(|stream| stream.tcp.get(name)).copied().collect()
    };
    let round_trips: Vec<u64> = of("min_rtt");
    let [again, out] = ["total_retrans", "data_segs_out"].map(|name| of(name).iter().sum::<u64>() as f64);
    let least = round_trips.into_iter().filter(|us| *us < u64::from(u32::MAX)).min();
    let trip = least.map(|us| format!("; a round trip takes {} at least", Nanoseconds(1e3 * us as f64)));
    let lost = (out > 0.0 && again / out > LOSES)
        .then(|| format!("; {} of the segments went twice", percent(again / out)));
    format!("both ends waited for it{}{}", trip.unwrap_or_default(), lost.unwrap_or_default())
}

/// The share of an end's streams' time that something took.
fn share(end: &TransferEnd, took_ns: impl Fn(&TransferStream) -> f64) -> f64 {
    let all: u64 = end.streams.iter().map(|stream| stream.elapsed_ns).sum();
    let took: f64 = end.streams.iter().map(took_ns).sum();
    if all == 0 { 0.0 } else { (took / all as f64).min(1.0) }
}

/// On a CPU, or waiting for one.
fn busy(stream: &TransferStream) -> f64 {
    (stream.parts().iter().map(|part| part.cpu_ns).sum::<u64>() + stream.run_delay_ns.unwrap_or(0)) as f64
}

/// Whether its threads waited for a CPU for longer than they had one.
fn is_kept_from_cpu(end: &TransferEnd) -> bool {
    let delayed = share(end, |stream| stream.run_delay_ns.unwrap_or(0) as f64);
    2.0 * delayed > share(end, busy)
}

/// What was waited, less the part of the time in which another thread had the CPU: which wait that fell into is not known, so each
/// has its share.
fn waited(stream: &TransferStream, waited_ns: u64) -> f64 {
    let all: u64 = stream.parts().iter().map(|part| part.waited_ns()).sum();
    let delay = stream.run_delay_ns.unwrap_or(0).min(all) as f64;
    if all == 0 { 0.0 } else { waited_ns as f64 * (1.0 - delay / all as f64) }
}

/// The share of the whole time during which streams went.
fn streaming(end: &TransferEnd) -> f64 {
    if end.done_ns == 0 { 1.0 } else { end.last_done_ns as f64 / end.done_ns as f64 }
}

/// The share of the whole time that was waited for the disk after the last stream.
fn synced(end: &TransferEnd) -> f64 {
    let sync_ns = end.sync_ns.unwrap_or(0);
    if end.done_ns == 0 { 0.0 } else { sync_ns as f64 / end.done_ns as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Spent;
    use std::collections::BTreeMap;

    const SECOND: u64 = 1_000_000_000;

    fn spent(wall: f64, cpu: f64) -> Spent {
        let ns = |share: f64| (share * SECOND as f64) as u64;
        Spent { wall_ns: ns(wall), cpu_ns: ns(cpu) }
    }

    fn end(file: Spent, digest: Spent, network: Spent, sync_ns: u64) -> TransferEnd {
        let run_delay_ns = Some(0);
        let (bytes, elapsed_ns, tcp, seal) = (1 << 30, SECOND, BTreeMap::new(), Spent::default());
        let stream = TransferStream { bytes, elapsed_ns, file, digest, network, seal, run_delay_ns, tcp };
        TransferEnd {
            streams: vec![stream],
            first_done_ns: SECOND,
            last_done_ns: SECOND,
            done_ns: SECOND + sync_ns,
            sync_ns: Some(sync_ns),
            ..TransferEnd::default()
        }
    }

    fn bound(sender: TransferEnd, receiver: TransferEnd) -> TransferBound {
        transfer_bound(&Transfer { bytes: 1 << 30, sender, receiver, ..Transfer::default() }).unwrap()
    }

    fn idle() -> Spent {
        Spent::default()
    }

    #[test]
    fn what_the_time_went_to_is_named() {
        let waits = end(spent(0.05, 0.05), spent(0.05, 0.05), spent(0.9, 0.05), 0);
        let cases = [
            (waits.clone(), end(spent(0.9, 0.1), idle(), spent(0.1, 0.1), 0), "destination-disk"),
            (waits.clone(), end(spent(0.1, 0.1), idle(), spent(0.9, 0.1), 3 * SECOND), "destination-disk"),
            (waits.clone(), end(spent(0.4, 0.4), spent(0.4, 0.4), spent(0.2, 0.2), 0), "receiver-cpu"),
            (end(spent(0.8, 0.1), idle(), spent(0.2, 0.1), 0), waits.clone(), "source-disk"),
            (end(spent(0.3, 0.3), spent(0.4, 0.4), spent(0.3, 0.2), 0), waits.clone(), "sender-cpu"),
            (waits.clone(), waits, "path"),
        ];
        for (sender, receiver, name) in cases {
            let bound = bound(sender, receiver);
            assert_eq!(bound.name, Some(name), "{bound:?}");
            assert!(bound.share >= BINDS && bound.hint.is_some());
        }
    }

    #[test]
    fn where_nothing_takes_half_none_is_named() {
        let even = || end(spent(0.5, 0.1), spent(0.1, 0.1), spent(0.4, 0.1), 0);
        let bound = bound(even(), even());
        assert_eq!((bound.name, bound.hint), (None, None), "{bound:?}");
        assert!(bound.sentence.contains("nothing took half"), "{}", bound.sentence);
    }

    #[test]
    fn a_window_is_told_apart_from_the_path() {
        let mut sender = end(idle(), idle(), spent(1.0, 0.0), 0);
        let receiver = sender.clone();
        sender.streams[0].tcp = [("busy_time", 1_000_000), ("rwnd_limited", 900_000), ("min_rtt", 20_000)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        let bound = bound(sender, receiver);
        assert!(bound.sentence.starts_with("the window of the receiving host"), "{}", bound.sentence);
        assert!(bound.sentence.contains("20"), "the round trip: {}", bound.sentence);
    }

    #[test]
    fn a_cipher_that_takes_the_cpu_is_named() {
        let mut sender = end(spent(0.1, 0.1), spent(0.1, 0.1), spent(0.2, 0.1), 0);
        sender.cipher = Some("aes-128-gcm".into());
        let receiver =
            TransferEnd { cipher: sender.cipher.clone(), ..end(idle(), idle(), spent(0.9, 0.0), 0) };
        sender.streams[0].seal = spent(0.6, 0.55);
        let mut receiver = receiver;
        receiver.streams[0].seal = spent(0.1, 0.1);
        let sealed = Transfer { sender, receiver, ..Transfer::default() };
        let bound = transfer_bound(&sealed).unwrap();
        assert!(bound.sentence.starts_with("the cipher on the CPU of the sending host: 85 %"), "{bound:?}");
        assert!(bound.sentence.contains("sealing 55 %"), "{bound:?}");
        let said = transfer_seal(&sealed).unwrap();
        // 1 GiB in 550 ms and in 100 ms of a core.
        for part in
            ["aes-128-gcm by TLS 1.3: sealing took 55 %, 15.6 Gb/s a core", "opening 10 %, 85.9 Gb/s a core"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        let mut less = sealed.clone();
        less.sender.streams[0].seal = spent(0.3, 0.3);
        less.sender.streams[0].digest = spent(0.4, 0.35);
        assert!(transfer_bound(&less).unwrap().sentence.starts_with("the CPU of the sending host"));
        assert_eq!(transfer_seal(&Transfer::default()), None);
    }

    #[test]
    fn waiting_for_a_cpu_is_no_wait_for_a_disk() {
        let mut receiver = end(spent(0.8, 0.1), idle(), spent(0.2, 0.1), 0);
        receiver.streams[0].run_delay_ns = Some(8 * SECOND / 10);
        let bound = bound(end(idle(), idle(), spent(1.0, 0.0), 0), receiver);
        assert_eq!(bound.name, Some("receiver-cpu"), "{bound:?}");
    }

    #[test]
    fn of_nothing_nothing_is_said() {
        assert_eq!(transfer_bound(&Transfer::default()), None);
    }
}
