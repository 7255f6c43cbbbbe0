//! Packet filters: in which ways rules are kept, and what each of them can do.

/// A way in which rules are kept.
#[derive(Debug)]
pub struct FilterKind {
    /// Its name in plans and records.
    pub name: &'static str,
    /// Whether a packet meets the rules one after the other, so that one of them can fit first or last.
    pub ordered: bool,
    /// Whether it stands on a hook of netfilter: elsewhere it meets packets where they come in alone, before connections are tracked.
    pub hooked: bool,
    /// What it is.
    pub about: &'static str,
    /// Where it is documented.
    pub source: &'static str,
}

/// Every kind, the default one first.
pub const FILTER_KINDS: &[FilterKind] = &[
    FilterKind {
        name: NFT_LIST,
        ordered: true,
        hooked: true,
        about: "nftables: a chain with a rule for each address",
        source: "nft(8)",
    },
    FilterKind {
        name: "nft-set",
        ordered: false,
        hooked: true,
        about: "nftables: one rule that looks the address up in a set (a hash table)",
        source: "nft(8), SETS",
    },
    FilterKind {
        name: "nft-map",
        ordered: false,
        hooked: true,
        about: "nftables: one rule that looks up what to do with the address, a verdict map",
        source: "nft(8), MAPS; the counterpart of nf-HiPAC",
    },
    FilterKind {
        name: "iptables-nft",
        ordered: true,
        hooked: true,
        about: "iptables as most systems have it now: its rules are kept by nftables",
        source: "iptables(8), iptables-nft(8)",
    },
    FilterKind {
        name: "iptables-legacy",
        ordered: true,
        hooked: true,
        about: "iptables as it was: a table of the kernel's ip_tables",
        source: "iptables(8); net/ipv4/netfilter/ip_tables.c, ipt_do_table",
    },
    FilterKind {
        name: "ipset",
        ordered: false,
        hooked: true,
        about: "one rule of iptables that looks the address up in a set of ipset (a hash table)",
        source: "ipset(8), hash:ip",
    },
    FilterKind {
        name: "tc-bpf",
        ordered: true,
        hooked: false,
        about: "programs of BPF at the port itself, before the kernel's IP: a comparison for each address",
        source: "tc-bpf(8); net/sched/cls_bpf.c",
    },
];

/// The default kind.
pub const NFT_LIST: &str = "nft-list";

/// The names, as the knob takes them.
pub(super) const FILTER_KIND_NAMES: &[&str] =
    &[NFT_LIST, "nft-set", "nft-map", "iptables-nft", "iptables-legacy", "ipset", "tc-bpf"];

impl FilterKind {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<&'static FilterKind> {
        FILTER_KINDS.iter().find(|kind| kind.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knob_takes_every_kind_of_filter() {
        let names: Vec<&str> = FILTER_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names, FILTER_KIND_NAMES);
    }
}
