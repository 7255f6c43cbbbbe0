//! What a reader who knows networks calls a transport, a setting or a number: the names of legends and axes.

use super::{Place, Rung};

/// Rungs of one transport that are told apart by more than where they are.
const RUNGS: &[(&str, &str)] = &[
    ("memory.copy", "memory copy, in cache"),
    ("memory.copy-cold", "memory copy, DRAM"),
    ("memory.triad", "memory triad (STREAM)"),
    ("in-host.tcp6", "TCP over IPv6"),
    ("network.tcp6", "TCP over IPv6"),
    ("network.tcp-best", "TCP, best engine"),
    ("in-host.udp6", "UDP over IPv6"),
    ("network.udp6", "UDP over IPv6"),
];

/// How a setting is said, where it is not its name and its value: `{}` is the value.
const SETTINGS: &[(&str, &str)] = &[
    ("mpi.implementation", "{}"),
    ("mpi.receive", "{} calls"),
    ("link.mtu", "MTU {} B"),
    ("link.offload", "offload {}"),
    ("link.coalesce", "interrupts after {}"),
    ("shmem.operation", "by {}"),
    ("tcp.mss", "segments of {} B"),
    ("tcp.send-engine", "{}()"),
    ("tcp.receive-engine", "received by {}()"),
    ("tcp.congestion-control", "{}"),
    ("pvm.route", "{} route"),
    ("pvm.encoding", "{} encoding"),
    ("lite.progress", "progress by {}"),
    ("libfabric.provider", "provider {}"),
    ("mpi.environment", "{}"),
    ("shmem.environment", "{}"),
    ("tcgmsg.environment", "{}"),
    ("ucx.environment", "{}"),
    ("libfabric.environment", "{}"),
    ("filter.kind", "{}"),
    ("filter.state", "{}"),
    ("filter.match", "{} rule fits"),
    ("filter.at", "at the {}"),
    ("file.tool", "{}"),
    ("file.flags", "{} flags"),
    ("file.cipher", "{}"),
    ("file.from", "from {}"),
    ("file.to", "to {}"),
];

/// Values that have a name.
const VALUES: &[(&str, &str, &str)] = &[
    ("mpi.implementation", "openmpi", "Open MPI"),
    ("mpi.implementation", "mpich", "MPICH"),
    ("mpi.implementation", "intel-mpi", "Intel MPI"),
    ("mpi.implementation", "mvapich", "MVAPICH"),
    ("mpi.implementation", "lam", "LAM"),
    ("lite.progress", "none", "nothing"),
    ("pvm.encoding", "in-place", "in-place"),
    ("filter.kind", "nft-list", "nftables list"),
    ("filter.kind", "nft-set", "nftables set"),
    ("filter.kind", "nft-map", "nftables verdict map"),
    ("filter.kind", "iptables-nft", "iptables (nft)"),
    ("filter.kind", "iptables-legacy", "iptables (legacy)"),
    ("filter.kind", "tc-bpf", "BPF at the port (tc)"),
    ("filter.state", "state-first", "connections first"),
    ("filter.state", "state-last", "connections last"),
    ("filter.match", "none", "no"),
    ("filter.match", "first", "the first"),
    ("filter.match", "middle", "the middle"),
    ("filter.match", "last", "the last"),
    ("file.flags", "shipped", "usual"),
    ("file.cipher", "none", "not sealed"),
];

/// Knobs that are not called by their name.
const KNOBS_IN_WORDS: &[(&str, &str)] = &[("link.mtu", "MTU"), ("tcp.mss", "size of a segment")];

/// Numbers that are not called by their name without its hyphens.
const METRICS_IN_WORDS: &[(&str, &str)] = &[
    ("ping-pong-throughput", "ping-pong throughput"),
    ("round-trip-rate", "round-trip rate"),
    ("round-trip-p99", "99th percentile of round trips"),
    ("zero-loss-rate", "zero-loss rate"),
    ("ip-capacity", "IP capacity"),
    ("tcp-efficiency", "TCP efficiency"),
    ("cpu.sender", "CPU time, sender"),
    ("cpu.receiver", "CPU time, receiver"),
    ("cpu.both", "CPU time, both ends"),
    ("cpu.per-message", "CPU time of a message"),
    ("cpu.per-unit", "CPU time of a unit"),
    ("cpu-share", "CPU share"),
    ("cpu-share.sender", "CPU share, sender"),
    ("cpu-share.receiver", "CPU share, receiver"),
    ("done-time.first", "done time, first"),
    ("connect-time.p50", "connect time, median"),
];

/// A number: `ping-pong throughput`, `limited by network`.
pub fn readable_metric(name: &str) -> String {
    let own = METRICS_IN_WORDS.iter().find(|(known, _)| *known == name);
    own.map_or_else(|| name.replace(['-', '.'], " "), |(_, said)| (*said).into())
}

/// A knob by itself: `receive buffer`, `MTU`.
pub fn readable_knob(name: &str) -> String {
    let own = KNOBS_IN_WORDS.iter().find(|(known, _)| *known == name);
    let bare = name.rsplit_once('.').map_or(name, |(_, name)| name);
    own.map_or_else(|| bare.replace('-', " "), |(_, said)| (*said).into())
}

/// A rung, without where its ends stand: `TCP`. One that this version has not is called by its name.
pub fn readable_rung(id: &str) -> String {
    let of_transport = || Rung::named(id).map(|rung| rung.transport.readable);
    let own = RUNGS.iter().find(|(known, _)| *known == id).map(|(_, said)| *said);
    own.or_else(of_transport).unwrap_or(id).into()
}

/// Where the ends of a rung stand; nothing of one that this version has not.
pub fn readable_place(id: &str) -> &'static str {
    match Rung::named(id) {
        Some(rung) if rung.id.starts_with("memory") => "",
        Some(rung) if rung.place == Place::InHost => "within the host",
        Some(_) => "across the network",
        None => "",
    }
}

/// A setting: `send buffer 1 MiB`, `Open MPI`.
pub fn readable_setting(knob: &str, value: &str) -> String {
    let of_table = VALUES.iter().find(|(of, known, _)| (*of, *known) == (knob, value));
    let said = of_table.map(|(.., said)| (*said).to_owned()).or(size(value));
    // What is meant for a library may be any text; an equals sign is one of a shell.
    let said = said.unwrap_or_else(|| value.replace('=', " "));
    match SETTINGS.iter().find(|(known, _)| *known == knob) {
        Some((_, form)) => form.replace("{}", &said),
        None => format!("{} {said}", readable_knob(knob)),
    }
}

/// `1 MiB` of `1MiB`; none of what is no size.
fn size(value: &str) -> Option<String> {
    let (number, unit) = value.split_at(value.find(|c: char| c.is_ascii_alphabetic())?);
    let is_size = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) && unit.ends_with('B');
    is_size.then(|| format!("{number} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{KNOBS, METRICS, RUNGS as ALL};

    #[test]
    fn every_rung_has_a_name_that_is_not_its_own() {
        for rung in ALL {
            let said = readable_rung(rung.id);
            assert!(said != rung.id && !said.contains('.') && !said.contains('='), "{}: {said}", rung.id);
        }
    }

    #[test]
    fn settings_are_said_in_words() {
        let cases = [
            ("socket.send-buffer", "1MiB", "send buffer 1 MiB"),
            ("mpi.implementation", "openmpi", "Open MPI"),
            ("mpi.eager-limit", "64KiB", "eager limit 64 KiB"),
            ("tcp.mss", "1448", "segments of 1448 B"),
            ("ucx.environment", "UCX_TLS=tcp", "UCX_TLS tcp"),
            ("link.mtu", "9000", "MTU 9000 B"),
        ];
        for (knob, value, said) in cases {
            assert_eq!(readable_setting(knob, value), said);
        }
        for (knob, _) in SETTINGS {
            assert!(KNOBS.iter().any(|known| known.name == *knob), "{knob} is no knob");
        }
        assert!(VALUES.iter().all(|(knob, ..)| KNOBS.iter().any(|known| known.name == *knob)));
    }

    #[test]
    fn numbers_and_knobs_are_said_in_words() {
        let cases = [
            ("ping-pong-throughput", "ping-pong throughput"),
            ("limited-by.network", "limited by network"),
            ("half-round-trip", "half round trip"),
            ("cpu-share.sender", "CPU share, sender"),
        ];
        for (name, said) in cases {
            assert_eq!(readable_metric(name), said);
        }
        for (name, _) in METRICS_IN_WORDS {
            let is_of = |known: &str| {
                name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            assert!(METRICS.iter().any(|known| is_of(known.name)), "{name} is no metric");
        }
        assert_eq!(readable_knob("socket.receive-buffer"), "receive buffer");
        assert_eq!(readable_knob("link.mtu"), "MTU");
        assert!(KNOBS_IN_WORDS.iter().all(|(knob, _)| KNOBS.iter().any(|known| known.name == *knob)));
    }
}
