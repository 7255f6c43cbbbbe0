//! Packet filter rules of a host, by nft(8): those that fit nothing, and those that track connections.

use crate::plan::Fault;
use crate::{Error, Result};
use linerate_sys::firewall::nftables_rules;
use linerate_sys::spawn;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

/// Where nft is: an ordinary user's path may not have the second folder.
const PLACES: [&str; 2] = ["nft", "/usr/sbin/nft"];

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
    nft(&chains())?;
    let rules: Vec<String> = lines(count).collect();
    rules.chunks(AT_ONCE).try_for_each(|some| nft(&some.concat()))?;
    standing("rules")
}

/// One rule each way that asks for the state of the connection.
pub(super) fn tracking() -> Result<String> {
    nft(TRACKING)?;
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

/// Lets nft read a script in the present network namespace.
fn nft(script: &str) -> Result<()> {
    let mut command = PLACES.iter().map(|place| {
        let mut command = Command::new(place);
        command.args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        spawn::end_with_parent(&mut command);
        command.spawn()
    });
    let is_there =
        |spawned: &std::io::Result<_>| !matches!(spawned, Err(error) if error.kind() == ErrorKind::NotFound);
    let mut child = command.find(is_there).ok_or_else(missing)?.map_err(|e| Error::io("start", "nft", e))?;
    // What it does not read it has refused, which it says itself.
    let _ = child.stdin.take().map(|mut input| input.write_all(script.as_bytes()));
    let output = child.wait_with_output().map_err(|e| Error::io("wait for", "nft", e))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("it said nothing").trim();
    let hint = "the kernel needs CONFIG_NF_TABLES, and CONFIG_NFT_CT for conntrack";
    Err(Error::unavailable(format!("nft refuses: {first}"), hint))
}

fn missing() -> Error {
    Error::unavailable("the program nft is not there", "install it: apt install nftables")
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
