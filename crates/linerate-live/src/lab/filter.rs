//! A packet filter of a lab's host: its rules are loaded for a case, counted by the kernel, and gone for the next one.
//!
//! It is set by a process of the host, in that host's own network namespace, and goes with it at the latest. Rules that
//! fit nothing name addresses that nobody has. What passed them is counted behind them, by a chain of its own on the same
//! hook: by it a trial proves that its packets met the rules.

mod ipset;
mod iptables;
mod nft;
mod tc;

use super::fault::sysctl;
use super::program::{NFT, Program};
use super::wiring::PORT;
use crate::plan::{FilterPlace, FilterSettings, Fits, Hook, Setting, Tracking};
use crate::record::{Granted, KnobRefused};
use crate::vocabulary::{FILTER_AT, FILTER_KIND, FILTER_MATCH, FILTER_RULES, FILTER_STATE};
use crate::{Error, Result};
use linerate_sys::firewall;
use linerate_sys::netlink::Netlink;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// Of the addresses that RFC 2544 sets aside for benchmarks, the half that no lab has: a rule each.
const NOBODY: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 0);
/// The addresses of every lab.
const EVERYBODY: &str = "198.18.0.0/24";

/// Rules that one call adds: they go to the kernel in one message, which has the size of a socket's buffer, and an
/// ordinary user can have no larger one.
const AT_ONCE: usize = 500;

/// Whether a host hands on what is not for it.
const FORWARDING: &str = "net/ipv4/ip_forward";

/// The table that counts, and its counter.
const COUNTING: &str = "linerate-met";
const COUNTER: &str = "met";

/// What a host of a lab is to do with packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterOrder {
    /// The filter; none where nothing is asked for.
    pub filter: Option<FilterSettings>,
    /// Where it stands on this host; none where it does not.
    pub hook: Option<Hook>,
    /// Addresses that are reached by way of a neighbour, and the neighbour.
    pub routes: Vec<(Ipv4Addr, Ipv4Addr)>,
}

/// How rules of one kind are kept.
struct Loader {
    kind: &'static str,
    /// What it is loaded and cleared with.
    program: Program,
    load: fn(&RuleSet) -> Result<()>,
    /// How many the kernel has.
    count: fn() -> Result<u64>,
    clear: fn() -> Result<()>,
}

/// Every kind of the vocabulary.
const LOADERS: &[&Loader] =
    &[&nft::LIST, &nft::SET, &nft::MAP, &iptables::NFT, &iptables::LEGACY, &ipset::IPSET, &tc::BPF];

/// The rules of a filter at a hook.
struct RuleSet<'f> {
    filter: &'f FilterSettings,
    hook: Hook,
}

/// One of the rules.
enum Rule {
    /// It drops what comes from this address, or goes to it.
    Drop(Ipv4Addr),
    /// It accepts what is of the lab.
    Accept,
}

/// What the word for a hook is, and by which end of a packet its rules go.
struct HookWords {
    hook: Hook,
    nft: &'static str,
    chain: &'static str,
    end: &'static str,
    flag: &'static str,
    direction: &'static str,
}

const HOOKS: &[HookWords] = &[
    HookWords { hook: Hook::Input, nft: "input", chain: "INPUT", end: "saddr", flag: "-s", direction: "src" },
    HookWords {
        hook: Hook::Output,
        nft: "output",
        chain: "OUTPUT",
        end: "daddr",
        flag: "-d",
        direction: "dst",
    },
    HookWords {
        hook: Hook::Forward,
        nft: "forward",
        chain: "FORWARD",
        end: "saddr",
        flag: "-s",
        direction: "src",
    },
];

impl RuleSet<'_> {
    fn words(&self) -> &'static HookWords {
        // Every hook has a line; a test sees to it.
        HOOKS.iter().find(|words| words.hook == self.hook).unwrap_or(&HOOKS[0])
    }

    fn rules(&self) -> impl Iterator<Item = Rule> {
        let fits = self.filter.fits.place(self.filter.rules);
        (0..self.filter.rules).map(move |number| match Some(number) == fits {
            true => Rule::Accept,
            false => Rule::Drop(nobody(number)),
        })
    }

    /// The lines of an ordered filter: its rules, with the one for states before or behind them.
    fn lines(&self, states: &str, line: impl Fn(Rule) -> String) -> Vec<String> {
        let at = |place: Tracking| (self.filter.tracking == place).then(|| states.to_owned());
        at(Tracking::First).into_iter().chain(self.rules().map(line)).chain(at(Tracking::Last)).collect()
    }
}

fn nobody(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(NOBODY.to_bits() + number)
}

/// The packet filter and the routes of the host in which the process is.
#[derive(Debug, Default)]
pub struct HostFilter {
    standing: Option<&'static Loader>,
    counts: bool,
    /// What forwarding was before it was switched on.
    forwarding: Option<String>,
    routes: Vec<(Ipv4Addr, Ipv4Addr)>,
    /// Whether nothing stands that this process does not know of.
    is_swept: bool,
}

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind)
    }
}

impl HostFilter {
    /// Makes it what is asked for, and nothing where nothing is; tells what of it was read back.
    pub fn set(&mut self, order: &FilterOrder) -> Result<Vec<Granted>> {
        let told = self.replace(order);
        // Of what failed half-way nobody knows what stands.
        self.is_swept = told.is_ok();
        told
    }

    fn replace(&mut self, order: &FilterOrder) -> Result<Vec<Granted>> {
        // A host that has no such port is none of a lab's, and keeps its own.
        let port = Netlink::open()?.link(PORT)?;
        self.sweep()?;
        self.clear()?;
        for (to, via) in &order.routes {
            Netlink::open()?.add_route(&port, *to, *via)?;
            self.routes.push((*to, *via));
        }
        let Some((filter, hook)) = order.filter.as_ref().zip(order.hook) else { return Ok(Vec::new()) };
        if hook == Hook::Forward {
            self.forwarding = sysctl::get(FORWARDING);
            forward("1")?;
        }
        let set = RuleSet { filter, hook };
        let kept = self.load(&set);
        if kept.is_err() {
            self.clear()?;
        }
        Ok(granted(filter, kept?))
    }

    /// Loads the rules, and returns how many the kernel has.
    fn load(&mut self, set: &RuleSet) -> Result<u64> {
        let kind = &set.filter.kind;
        let loader = LOADERS.iter().find(|loader| loader.kind == kind);
        let loader =
            *loader.ok_or_else(|| Error::usage(format!("no packet filter is called `{kind}`"), ""))?;
        self.standing = Some(loader);
        (loader.load)(set)?;
        let kept = (loader.count)()?;
        let states = u64::from(set.filter.tracking != Tracking::None);
        if kept != u64::from(set.filter.rules) + states {
            let what =
                format!("the kernel keeps {kept} rules of {}, {kind}", u64::from(set.filter.rules) + states);
            return Err(Error::unavailable(what, "does another program change this host's packet filter?"));
        }
        self.counts = true;
        NFT.run(&counting(set.words().nft))?;
        Ok(kept - states)
    }

    /// Packets that have passed the rules; none where there are none.
    pub fn passed(&self) -> Result<Option<u64>> {
        if self.counts { Ok(firewall::counted_packets(COUNTING, COUNTER)?) } else { Ok(None) }
    }

    /// Takes away what a process before this one has left that died: the host outlives it.
    fn sweep(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_swept, true) {
            return Ok(());
        }
        for loader in LOADERS.iter().filter(|loader| loader.program.is_there()) {
            (loader.clear)()?;
        }
        if NFT.is_there() {
            NFT.run(&nft::without_table(COUNTING))?;
        }
        Netlink::open()?.remove_static_routes()?;
        *self = HostFilter { is_swept: true, forwarding: self.forwarding.take(), ..HostFilter::default() };
        Ok(())
    }

    /// Takes away what stands.
    fn clear(&mut self) -> Result<()> {
        if std::mem::take(&mut self.counts) {
            NFT.run(&nft::without_table(COUNTING))?;
        }
        if let Some(loader) = self.standing.take() {
            (loader.clear)()?;
        }
        if let Some(before) = self.forwarding.take() {
            forward(&before)?;
        }
        for (to, via) in std::mem::take(&mut self.routes) {
            let mut netlink = Netlink::open()?;
            let port = netlink.link(PORT)?;
            netlink.remove_route(&port, to, via)?;
        }
        Ok(())
    }
}

/// Those of these values that a lab's host would not have, each tried with one rule.
pub fn refused(settings: &[Setting]) -> Vec<KnobRefused> {
    let try_one = |setting: &&Setting| {
        let filter = FilterSettings {
            rules: 1,
            kind: setting.value.clone(),
            fits: Fits::None,
            tracking: Tracking::None,
            at: FilterPlace::Receiver,
        };
        let order = FilterOrder { filter: Some(filter), hook: Some(Hook::Input), routes: Vec::new() };
        let mut host = HostFilter::default();
        let error = host.set(&order).and_then(|_| host.clear()).err()?;
        let (knob, value) = (setting.knob.clone(), setting.value.clone());
        let hint = error.hint().unwrap_or_default().to_owned();
        Some(KnobRefused { knob, value, why: error.to_string(), hint })
    };
    settings
        .iter()
        .filter(|setting| setting.knob == FILTER_KIND.name)
        .filter_map(|one| try_one(&one))
        .collect()
}

/// Whether the host hands on what is not for it. A redirect would tell the ends of the straight way, and is never sent
/// from then on: nobody else would be told anything by it.
fn forward(value: &str) -> Result<()> {
    for interface in ["all", PORT] {
        sysctl::set(&format!("net/ipv4/conf/{interface}/send_redirects"), "0")?;
    }
    sysctl::set(FORWARDING, value).map(drop)
}

/// Counts behind the rules, which stand at priority 0.
fn counting(hook: &str) -> String {
    format!(
        "table ip {COUNTING} {{\n  counter {COUNTER} {{ }}\n  chain behind {{\n    type filter hook {hook} priority 10; \
         policy accept;\n    counter name \"{COUNTER}\"\n  }}\n}}\n"
    )
}

fn granted(filter: &FilterSettings, rules: u64) -> Vec<Granted> {
    let all = [
        (FILTER_RULES.name, filter.rules.to_string(), rules.to_string()),
        (FILTER_KIND.name, filter.kind.clone(), filter.kind.clone()),
        (FILTER_MATCH.name, word(filter.fits), word(filter.fits)),
        (FILTER_STATE.name, word(filter.tracking), word(filter.tracking)),
        (FILTER_AT.name, word(filter.at), word(filter.at)),
    ];
    let told = |(knob, asked, granted): (&str, String, String)| Granted {
        knob: knob.into(),
        asked: Some(asked),
        granted: Some(granted),
    };
    all.map(told).into()
}

/// A value as its knob has it.
fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::FILTER_KINDS;

    fn filter(rules: u32, fits: Fits, tracking: Tracking) -> FilterSettings {
        FilterSettings { rules, kind: "nft-list".into(), fits, tracking, at: FilterPlace::Receiver }
    }

    #[test]
    fn every_kind_of_filter_has_its_loader() {
        let loaders: Vec<&str> = LOADERS.iter().map(|loader| loader.kind).collect();
        let kinds: Vec<&str> = FILTER_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(loaders, kinds);
        for hook in [Hook::Input, Hook::Output, Hook::Forward] {
            let words = RuleSet { filter: &filter(1, Fits::None, Tracking::None), hook }.words();
            assert_eq!(words.hook, hook);
        }
    }

    #[test]
    fn rules_name_addresses_that_nobody_has() {
        let most = filter(20_000, Fits::Last, Tracking::Last);
        let set = RuleSet { filter: &most, hook: Hook::Input };
        let lines = set.lines("states", |rule| match rule {
            Rule::Drop(address) => address.to_string(),
            Rule::Accept => "fits".into(),
        });
        assert_eq!(lines.len(), 20_001);
        assert_eq!((&*lines[0], &*lines[19_998]), ("198.19.0.0", "198.19.78.30"));
        assert_eq!(lines[19_999..], ["fits", "states"]);
        let mut once = lines.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), lines.len(), "each is another one");
        let first = filter(3, Fits::First, Tracking::First);
        let set = RuleSet { filter: &first, hook: Hook::Output };
        let kinds = set.lines("s", |rule| if matches!(rule, Rule::Accept) { "fits" } else { "drops" }.into());
        assert_eq!(kinds, ["s", "fits", "drops", "drops"]);
    }
}
