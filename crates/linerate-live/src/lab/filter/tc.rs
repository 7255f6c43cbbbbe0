//! Programs of BPF at a host's port, by tc(8): a comparison for each rule, before the kernel's IP sees the packet.
//!
//! They are of the classic kind, which whoever may set a queueing discipline may load. A program has as many rules as one message
//! of tc holds; a packet that none of them fits goes on to the next program.

use super::{Loader, Rule, RuleSet};
use crate::Result;
use crate::lab::program::Program;
use crate::lab::wiring::PORT;
use std::fmt::Write;

/// Reads lines of commands.
const BATCH: Program = tc(&["-batch", "-"]);
/// The programs that stand where packets come in.
const SHOW: Program = tc(&["filter", "show", "dev", PORT, "ingress"]);
const QUEUEING: Program = tc(&["qdisc", "show", "dev", PORT]);

/// What programs are attached to.
const HOOK: &str = "clsact";

/// Rules of a program: an instruction each, and 16 KiB hold 2048 (`MAX_MSG` of tc/tc_filter.c).
const OF_PROGRAM: usize = 1500;

/// Rules that share a verdict: a comparison jumps over 255 instructions at most (linux/filter.h, `struct sock_filter`).
const OF_VERDICT: usize = 200;

/// Instructions (linux/bpf_common.h): half a word or a word of the packet into A, A and a mask, is A this, jump, the verdict.
const LOAD_HALF: u16 = 0x28;
const LOAD: u16 = 0x20;
const MASK: u16 = 0x54;
const EQUAL: u16 = 0x15;
const JUMP: u16 = 0x05;
const RETURN: u16 = 0x06;

/// Where a frame says what it carries, and what it says for IPv4 (linux/if_ether.h).
const PROTOCOL_AT: u32 = 12;
const IPV4: u32 = 0x0800;
/// Where a packet of IPv4 in a frame has the address that it comes from.
const SOURCE_AT: u32 = 14 + 12;

/// Verdicts (linux/pkt_cls.h): `TC_ACT_OK`, `TC_ACT_SHOT`, and `TC_ACT_UNSPEC`, on to the next program.
const ACCEPT: u32 = 0;
const DROP: u32 = 2;
const NEXT: u32 = u32::MAX;

/// The addresses of every lab, as [`super::EVERYBODY`] has them.
const EVERYBODY: (u32, u32) = (0xc612_0000, 0xffff_ff00);

const fn tc(arguments: &'static [&'static str]) -> Program {
    Program {
        name: "tc",
        arguments,
        variables: &[],
        package: "iproute2",
        kernel: "the kernel needs CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF",
    }
}

pub(super) const BPF: Loader = Loader { kind: "tc-bpf", program: BATCH, load, count, clear };

fn load(set: &RuleSet) -> Result<()> {
    let rules: Vec<Rule> = set.rules().collect();
    let mut script = format!("qdisc add dev {PORT} {HOOK}\n");
    // Of no rules there is a program all the same.
    for (at, some) in rules.chunks(OF_PROGRAM).chain(rules.is_empty().then_some(&[][..])).enumerate() {
        let (order, program) = (at + 1, Instructions::for_rules(some));
        let _ = writeln!(
            script,
            "filter add dev {PORT} ingress pref {order} protocol all bpf direct-action bytecode '{}'",
            program.text()
        );
    }
    BATCH.run(&script).map(drop)
}

/// A rule is a comparison, and each program has one more.
fn count() -> Result<u64> {
    let said = SHOW.run("")?;
    let programs = said.lines().filter_map(|line| line.split_once("bytecode '"));
    Ok(programs.map(|(_, text)| comparisons(text).saturating_sub(1)).sum())
}

/// Comparisons of a program as tc prints it.
fn comparisons(text: &str) -> u64 {
    let equal = format!("{EQUAL} ");
    text.split(',').filter(|instruction| instruction.starts_with(&equal)).count() as u64
}

fn clear() -> Result<()> {
    match QUEUEING.run("")?.contains(HOOK) {
        true => BATCH.run(&format!("qdisc del dev {PORT} {HOOK}\n")).map(drop),
        false => Ok(()),
    }
}

/// A program: what to do, how far to jump where it holds and where not, and with what.
struct Instructions(Vec<(u16, usize, usize, u32)>);

impl Instructions {
    fn for_rules(rules: &[Rule]) -> Instructions {
        let mut all = Instructions(vec![
            (LOAD_HALF, 0, 0, PROTOCOL_AT),
            (EQUAL, 1, 0, IPV4),
            (RETURN, 0, 0, NEXT),
            (LOAD, 0, 0, SOURCE_AT),
        ]);
        for some in rules.chunk_by(|one, next| matches!((one, next), (Rule::Drop(_), Rule::Drop(_)))) {
            for some in some.chunks(OF_VERDICT) {
                all.add(some);
            }
        }
        all.0.push((RETURN, 0, 0, NEXT));
        all
    }

    /// Rules that have one verdict.
    fn add(&mut self, rules: &[Rule]) {
        for (at, rule) in rules.iter().enumerate() {
            match rule {
                // Over those that follow, and over the jump over the verdict.
                Rule::Drop(address) => self.0.push((EQUAL, rules.len() - at, 0, address.to_bits())),
                Rule::Accept => {
                    let (address, mask) = EVERYBODY;
                    self.0.extend([
                        (MASK, 0, 0, mask),
                        (EQUAL, 0, 1, address),
                        (RETURN, 0, 0, ACCEPT),
                        (LOAD, 0, 0, SOURCE_AT),
                    ]);
                }
            }
        }
        if rules.iter().any(|rule| matches!(rule, Rule::Drop(_))) {
            self.0.extend([(JUMP, 0, 0, 1), (RETURN, 0, 0, DROP)]);
        }
    }

    /// As tc reads it.
    fn text(&self) -> String {
        let mut text = self.0.len().to_string();
        for (code, holds, fails, with) in &self.0 {
            let _ = write!(text, ",{code} {holds} {fails} {with}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EVERYBODY as EVERYBODY_TEXT, nobody};
    use super::*;
    use std::net::Ipv4Addr;

    /// What a program says of a frame that comes from an address.
    fn verdict(program: &Instructions, protocol: u32, source: Ipv4Addr) -> u32 {
        let (mut at, mut register) = (0, 0);
        loop {
            let (code, holds, fails, with) = program.0[at];
            at += 1;
            match code {
                LOAD_HALF => register = protocol,
                LOAD => register = source.to_bits(),
                MASK => register &= with,
                EQUAL => at += if register == with { holds } else { fails },
                JUMP => at += with as usize,
                _ => return with,
            }
        }
    }

    #[test]
    fn each_address_is_dropped_and_no_other() {
        let rules: Vec<Rule> = (0..501).map(|number| Rule::Drop(nobody(number))).collect();
        let program = Instructions::for_rules(&rules);
        for number in 0..501 {
            assert_eq!(verdict(&program, IPV4, nobody(number)), DROP, "{number}");
            assert_eq!(verdict(&program, 0x86dd, nobody(number)), NEXT);
        }
        for other in [nobody(501), Ipv4Addr::new(198, 18, 0, 1)] {
            assert_eq!(verdict(&program, IPV4, other), NEXT);
        }
        assert!(program.0.iter().all(|(_, holds, fails, _)| *holds < 256 && *fails < 256));
        assert_eq!(comparisons(&program.text()) - 1, 501);
    }

    #[test]
    fn a_rule_that_fits_accepts_the_lab_and_not_the_rest() {
        let rules = [Rule::Drop(nobody(0)), Rule::Accept, Rule::Drop(nobody(2))];
        let program = Instructions::for_rules(&rules);
        let verdicts = [nobody(0), nobody(2), Ipv4Addr::new(198, 18, 0, 200), Ipv4Addr::new(198, 18, 1, 1)];
        let verdicts = verdicts.map(|source| verdict(&program, IPV4, source));
        assert_eq!(verdicts, [DROP, DROP, ACCEPT, NEXT]);
        assert_eq!(comparisons(&program.text()) - 1, 3);
        let (address, mask) = EVERYBODY;
        let text = format!("{}/{}", Ipv4Addr::from_bits(address), mask.count_ones());
        assert_eq!(text, EVERYBODY_TEXT);
    }
}
