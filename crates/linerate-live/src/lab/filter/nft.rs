//! Rules of nftables: one after the other, in a set, and in a map of verdicts.

use super::{AT_ONCE, EVERYBODY, Loader, Rule, RuleSet};
use crate::Result;
use crate::lab::program::NFT;
use crate::plan::Tracking;
use linerate_sys::firewall;

const TABLE: &str = "linerate-filter";
const CHAIN: &str = "rules";
/// The set, or the map.
const NAMED: &str = "addresses";

/// Accepts what belongs to a connection.
const STATES: &str = "ct state established,related accept";

pub(super) const LIST: Loader = Loader {
    kind: "nft-list",
    program: NFT,
    load: |set| {
        NFT.run(&table(set, ""))?;
        let end = set.words().end;
        let line = |rule: Rule| match rule {
            Rule::Drop(address) => format!("ip {end} {address} drop"),
            Rule::Accept => format!("ip {end} {EVERYBODY} accept"),
        };
        add_rules(&set.lines(STATES, line))
    },
    count: || Ok(firewall::table_rules(TABLE)?),
    clear,
};

pub(super) const SET: Loader = Loader {
    kind: "nft-set",
    program: NFT,
    load: |set| look_up(set, "set addresses { type ipv4_addr; }", "", "@addresses drop"),
    count: elements,
    clear,
};

pub(super) const MAP: Loader = Loader {
    kind: "nft-map",
    program: NFT,
    load: |set| look_up(set, "map addresses { type ipv4_addr : verdict; }", " : drop", "vmap @addresses"),
    count: elements,
    clear,
};

/// A table with a chain at the hook, and what else it has.
fn table(set: &RuleSet, more: &str) -> String {
    let hook = set.words().nft;
    format!(
        "table ip {TABLE} {{\n  {more}\n  chain {CHAIN} {{ type filter hook {hook} priority 0; policy accept; }}\n}}\n"
    )
}

fn add_rules(lines: &[String]) -> Result<()> {
    lines.chunks(AT_ONCE).try_for_each(|some| {
        let script: String =
            some.iter().map(|line| format!("add rule ip {TABLE} {CHAIN} {line}\n")).collect();
        NFT.run(&script).map(drop)
    })
}

/// One rule that looks all addresses up.
fn look_up(set: &RuleSet, named: &str, verdict: &str, rule: &str) -> Result<()> {
    NFT.run(&table(set, named))?;
    let addresses: Vec<String> = set.rules().filter_map(address).collect();
    for some in addresses.chunks(AT_ONCE) {
        let elements: Vec<String> = some.iter().map(|address| format!("{address}{verdict}")).collect();
        NFT.run(&format!("add element ip {TABLE} {NAMED} {{ {} }}\n", elements.join(", ")))?;
    }
    let look_up = format!("ip {} {rule}", set.words().end);
    let with_states = match set.filter.tracking {
        Tracking::None => vec![look_up],
        Tracking::First => vec![STATES.to_owned(), look_up],
        Tracking::Last => vec![look_up, STATES.to_owned()],
    };
    add_rules(&with_states)
}

fn address(rule: Rule) -> Option<String> {
    match rule {
        Rule::Drop(address) => Some(address.to_string()),
        Rule::Accept => None,
    }
}

/// The elements, and the rules besides the one that looks them up.
fn elements() -> Result<u64> {
    let beside = firewall::table_rules(TABLE)?.saturating_sub(1);
    Ok(firewall::set_elements(TABLE, NAMED)? + beside)
}

fn clear() -> Result<()> {
    NFT.run(&without_table(TABLE)).map(drop)
}

/// Removes a table, whether it is there or not.
pub(super) fn without_table(table: &str) -> String {
    format!("add table ip {table}\ndelete table ip {table}\n")
}
