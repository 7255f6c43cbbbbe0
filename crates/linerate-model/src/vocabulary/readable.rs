//! What a reader who knows networks calls a transport or a setting: the names of legends and axes.

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
        None => {
            let name = knob.rsplit_once('.').map_or(knob, |(_, name)| name);
            format!("{} {said}", name.replace('-', " "))
        }
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
    use crate::vocabulary::{KNOBS, RUNGS as ALL};

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
        ];
        for (knob, value, said) in cases {
            assert_eq!(readable_setting(knob, value), said);
        }
        for (knob, _) in SETTINGS {
            assert!(KNOBS.iter().any(|known| known.name == *knob), "{knob} is no knob");
        }
        assert!(VALUES.iter().all(|(knob, ..)| KNOBS.iter().any(|known| known.name == *knob)));
    }
}
