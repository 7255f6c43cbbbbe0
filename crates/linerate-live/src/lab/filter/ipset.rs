//! A set of ipset, and one rule of iptables that looks addresses up in it.

use super::iptables::{BY_NFT, TABLE, clear_nft, script};
use super::{Loader, Rule, RuleSet};
use crate::lab::program::Program;
use crate::plan::Tracking;
use crate::{Error, Result};
use linerate_sys::firewall;

const SET: &str = "linerate-filter";

const STATES: &str = "-m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT";

/// What the list of a set says of its elements.
const ENTRIES: &str = "Number of entries:";

const fn ipset(arguments: &'static [&'static str]) -> Program {
    Program {
        name: "ipset",
        arguments,
        variables: &[],
        package: "ipset",
        kernel: "the kernel needs CONFIG_IP_SET_HASH_IP and CONFIG_NETFILTER_XT_SET",
    }
}

const RESTORE: Program = ipset(&["restore"]);
const LIST: Program = ipset(&["list", "-terse", SET]);
const DESTROY: Program = ipset(&["destroy", SET]);

pub(super) const IPSET: Loader = Loader { kind: "ipset", program: RESTORE, load, count, clear };

fn load(set: &RuleSet) -> Result<()> {
    let addresses = set.rules().filter_map(|rule| match rule {
        Rule::Drop(address) => Some(format!("add {SET} {address}\n")),
        Rule::Accept => None,
    });
    let elements: String = addresses.collect();
    RESTORE.run(&format!("create {SET} hash:ip family inet\n{elements}"))?;
    let look_up = format!("-m set --match-set {SET} {} -j DROP", set.words().direction);
    let lines = match set.filter.tracking {
        Tracking::None => vec![look_up],
        Tracking::First => vec![STATES.to_owned(), look_up],
        Tracking::Last => vec![look_up, STATES.to_owned()],
    };
    BY_NFT.run(&script(set, &lines)).map(drop)
}

/// The elements, and the rules besides the one that looks them up.
fn count() -> Result<u64> {
    let said = LIST.run("")?;
    let entries = said.lines().find_map(|line| line.strip_prefix(ENTRIES)?.trim().parse::<u64>().ok());
    let beside = firewall::table_rules(TABLE)?.saturating_sub(1);
    entries.map(|entries| entries + beside).ok_or_else(|| Error::peer("ipset", "does not say how many", ""))
}

fn clear() -> Result<()> {
    clear_nft()?;
    // Where the set could not be made there is none to remove.
    match LIST.run("") {
        Ok(_) => DESTROY.run("").map(drop),
        Err(_) => Ok(()),
    }
}
