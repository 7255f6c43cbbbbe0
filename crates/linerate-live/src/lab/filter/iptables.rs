//! Rules of iptables: kept by nftables, as most systems have it now, and in a table of ip_tables, as it was.

use super::{AT_ONCE, EVERYBODY, Loader, Rule, RuleSet};
use crate::Result;
use crate::lab::program::{NFT as NFT_PROGRAM, Program};
use linerate_sys::firewall;

/// The table of both.
pub(super) const TABLE: &str = "filter";

/// Accepts what belongs to a connection.
const STATES: &str = "-m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT";

/// Entries of a table of ip_tables that are no rules: a policy for each of three chains, and an end mark.
const NO_RULES: u32 = 4;

/// Adds to what stands.
pub(super) const BY_NFT: Program = Program {
    name: "iptables-nft-restore",
    arguments: &["--noflush"],
    variables: &[],
    package: "iptables",
    kernel: "the kernel needs CONFIG_NF_TABLES and CONFIG_NFT_COMPAT",
};

const BY_TABLE: Program = Program {
    name: "iptables-legacy-restore",
    arguments: &["--noflush"],
    // Its lock is one of the whole machine, which an ordinary user cannot have; these tables are no one else's.
    variables: &[("XTABLES_LOCKFILE", "/dev/null")],
    package: "iptables",
    kernel: "the kernel needs CONFIG_IP_NF_IPTABLES_LEGACY and CONFIG_IP_NF_FILTER",
};

pub(super) const NFT: Loader = Loader {
    kind: "iptables-nft",
    program: BY_NFT,
    load: |set| {
        let lines = lines(set);
        // Of no rules there is a chain all the same.
        let pieces = lines.chunks(AT_ONCE).chain(lines.is_empty().then_some(&[][..]));
        pieces.into_iter().try_for_each(|some| BY_NFT.run(&script(set, some)).map(drop))
    },
    count: || Ok(firewall::table_rules(TABLE)?),
    clear: clear_nft,
};

/// The kernel keeps the table itself until the network namespace goes: an empty one.
pub(super) const LEGACY: Loader = Loader {
    kind: "iptables-legacy",
    program: BY_TABLE,
    load: |set| BY_TABLE.run(&script(set, &lines(set))).map(drop),
    count: || Ok(u64::from(firewall::iptables_entries(TABLE, false)?.saturating_sub(NO_RULES))),
    clear: clear_table,
};

/// To ask for a table makes it, so it is looked first whether there is one.
fn clear_table() -> Result<()> {
    let names = std::fs::read_to_string("/proc/net/ip_tables_names").unwrap_or_default();
    match names.lines().any(|name| name == TABLE) {
        true => BY_TABLE.run("*filter\n-F INPUT\n-F OUTPUT\n-F FORWARD\nCOMMIT\n").map(drop),
        false => Ok(()),
    }
}

pub(super) fn clear_nft() -> Result<()> {
    NFT_PROGRAM.run(&super::nft::without_table(TABLE)).map(drop)
}

/// A line a rule, without the chain.
fn lines(set: &RuleSet) -> Vec<String> {
    let flag = set.words().flag;
    set.lines(STATES, |rule| match rule {
        Rule::Drop(address) => format!("{flag} {address}/32 -j DROP"),
        Rule::Accept => format!("{flag} {EVERYBODY} -j ACCEPT"),
    })
}

/// What iptables-restore reads: these rules behind those that stand.
pub(super) fn script(set: &RuleSet, lines: &[String]) -> String {
    let chain = set.words().chain;
    let rules: String = lines.iter().map(|line| format!("-A {chain} {line}\n")).collect();
    format!("*{TABLE}\n:{chain} ACCEPT [0:0]\n{rules}COMMIT\n")
}
