//! Packet filter rules of a host, by nft(8): those that fit nothing, and those that track connections.

use crate::Result;
use crate::lab::program::NFT;
use crate::plan::Fault;
use linerate_sys::firewall::nftables_rules;

/// Rules that one call adds: they go to the kernel in one message, which has the size of a socket's buffer.
const AT_ONCE: usize = 500;

/// Each family: its addresses that nobody has, being set aside for documentation (RFC 5737, RFC 3849).
const FAMILIES: [(&str, &str); 2] = [("ip", "192.0.2."), ("ip6", "2001:db8::")];

/// The hooks that a host's own packets pass, and the end that a rule asks for.
const HOOKS: [(&str, &str); 2] = [("input", "saddr"), ("output", "daddr")];

/// Tracks connections of both families.
const TRACKING: &str = "table inet linerate-tracking {
  chain input { type filter hook input priority -10; ct state invalid counter; }
  chain output { type filter hook output priority -10; ct state invalid counter; }
}
";

/// So many rules that fit no packet, before what comes in and before what goes out.
pub(super) fn rules(fault: &Fault) -> Result<String> {
    let count = fault.parsed::<usize>().unwrap_or(0);
    NFT.run(&chains())?;
    let rules: Vec<String> = lines(count).collect();
    rules.chunks(AT_ONCE).try_for_each(|some| NFT.run(&some.concat()).map(drop))?;
    standing("rules")
}

/// One rule each way that asks for the state of the connection.
pub(super) fn tracking() -> Result<String> {
    NFT.run(TRACKING)?;
    standing("rules, with connection tracking")
}

/// The rules of the host, counted by the kernel.
fn standing(what: &str) -> Result<String> {
    Ok(format!("{} {what}", nftables_rules()?))
}

fn chains() -> String {
    let chain =
        |(hook, _): &(&str, &str)| format!("  chain {hook} {{ type filter hook {hook} priority 0; }}\n");
    let chains: String = HOOKS.iter().map(chain).collect();
    FAMILIES.iter().map(|(family, _)| format!("table {family} linerate-fault {{\n{chains}}}\n")).collect()
}

/// The rules, one a line: so many a family and hook.
fn lines(count: usize) -> impl Iterator<Item = String> {
    let chains = FAMILIES.iter().flat_map(|family| HOOKS.iter().map(move |hook| (family, hook)));
    chains.flat_map(move |((family, network), (hook, end))| {
        (0..count).map(move |number| {
            let address = format!("{network}{}", 1 + number % 254);
            format!("add rule {family} linerate-fault {hook} {family} {end} {address} drop\n")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_and_hook_gets_its_rules() {
        let all: Vec<String> = lines(300).collect();
        assert_eq!(all.len(), 4 * 300);
        assert_eq!(all[0], "add rule ip linerate-fault input ip saddr 192.0.2.1 drop\n");
        assert_eq!(all[1199], "add rule ip6 linerate-fault output ip6 daddr 2001:db8::46 drop\n");
        assert!(chains().contains("table ip6 linerate-fault {\n  chain input {"));
    }
}
