//! A lab's description as text: a preset's name, keys, and keys of single pairs of hosts.

use super::fault;
use super::network::{self, MTUS, Network};
use super::pair::{MOST_HOSTS, Pair, host_name, host_number};
use super::port::{PortRate, port_of};
use super::shape::{Shape, Wrong, wanted};
use super::switching::SWITCHINGS;
use super::target::TargetError;
use super::topology::{Topology, WIRES, WireKind};
use super::word::word;
use crate::unit::{Bytes, Nanoseconds, ParseError, count, within};
use crate::vocabulary::{LAB_KEYS, LONGEST_NS, PRESETS, Preset, did_you_mean};
use std::collections::BTreeSet;

/// The most switches in a row.
pub(super) const MOST_HOPS: u32 = 16;

/// The most frames that are held at once.
const MOST_FRAMES: u32 = 65_535;

/// Keys that a file of the lab says itself.
const OF_FILE: &[&str] = &["hosts", "hops", "switch"];

/// The key that may be said several times.
const FAULT: &str = "fault";

/// What is said of one direction between two hosts, before the lab's own shape is whole.
type OfPair<'t> = ((u32, u32), &'t str, &'t str);

/// Gives the text of a file: this room opens none.
pub type Open<'o> = &'o dyn Fn(&str) -> Result<String, TargetError>;

/// Whether the first part of a description names a file: `./net.toml`, and no rate of 1Gb/s.
pub fn is_lab_file(part: &str) -> bool {
    let is_path = part.contains('/') || part.ends_with(".toml");
    part.starts_with(['.', '/']) || (is_path && !part.contains('='))
}

impl Topology {
    /// The topology of a description: `hosts=5,rate=1Gb/s`, `metro,a-b.loss=1%`, `net.toml,mtu=9000`.
    pub(super) fn read(text: &str, open: Open) -> Result<Topology, TargetError> {
        let (first, rest) = text.split_once(',').map_or((text, None), |(first, rest)| (first, Some(rest)));
        let (mut topology, preset, keys) = if is_lab_file(first) {
            (of_file(first, open)?, None, rest)
        } else if first.contains('=') {
            (Topology::default(), None, Some(text))
        } else {
            (Topology::default(), Some(preset(first)?.keys), rest)
        };
        let (mut of_pairs, mut of_ports) = (Vec::new(), Vec::new());
        let key_and_value = |part| pair_or_none(part).ok_or_else(|| lacks_value(part));
        let said = keys.into_iter().flat_map(|keys| keys.split(','));
        // First of all: a comma in a number makes two parts of it, of which the first is none that was meant.
        let said = said
            .map(|part| Ok((part, key_and_value(part)?, true)))
            .collect::<Result<Vec<_>, TargetError>>()?;
        let of_preset = preset.into_iter().flat_map(|keys| keys.split(','));
        let of_preset = of_preset.filter_map(|part| Some((part, pair_or_none(part)?, false)));
        let mut seen = BTreeSet::new();
        for (part, (key, value), by_hand) in of_preset.chain(said) {
            // What a preset says may be said anew, and a lab may have several faults.
            if by_hand && key != FAULT && !seen.insert(key) {
                let what = format!("lab: {key} is said twice, the second time as {part}");
                return Err(TargetError::new(what, "say it once"));
            }
            match key.split_once('.') {
                Some((end, "rate")) if port_of(end).is_some() => topology.set_port(end, value)?,
                Some((end, name)) if port_of(end).is_some() => of_ports.push((end, name, value)),
                Some((pair, name)) => of_pairs.push((pair_of(pair)?, name, value)),
                None => topology.set(key, value)?,
            }
        }
        // What is said of a single pair comes after, and wins.
        let of_ports =
            of_ports.into_iter().flat_map(|(end, name, value)| topology.pairs_of(end, name, value));
        let of_pairs: Vec<OfPair> = of_ports.chain(of_pairs).collect();
        topology.set_pairs(&of_pairs)?;
        topology.check()?;
        Ok(topology)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), TargetError> {
        let refused = |why: String| {
            let colon = if why.is_empty() { "" } else { ": " };
            let what = format!("lab:{key}={value}: not {}{colon}{why}", wanted(key));
            TargetError::new(what, "try lab:hosts=2,mtu=9000,rate=1Gb/s")
        };
        let bad = || refused(String::new());
        if self.network.is_some() && OF_FILE.contains(&key) {
            let what = format!("lab: {key} is said by the file");
            return Err(TargetError::new(what, format!("leave out {key}=, or change the file")));
        }
        match key {
            "hosts" => self.hosts = in_range(count(value), 2, MOST_HOSTS).map_err(refused)?,
            "mtu" => {
                let bytes = value.parse::<Bytes>().map(|bytes| bytes.0);
                self.mtu = in_range(bytes, *MTUS.start(), *MTUS.end()).map_err(refused)?;
            }
            "coalesce" => {
                let [least, most] = [0.0, LONGEST_NS].map(Nanoseconds);
                let delay = within(value.parse(), least, most, |time| time.rounded(1)).map_err(refused)?;
                self.coalescing.delay_ns = delay.0;
            }
            "coalesce-frames" => {
                self.coalescing.frames = Some(in_range(count(value), 1, MOST_FRAMES).map_err(refused)?);
            }
            "hops" => self.hops = Some(in_range(count(value), 0, MOST_HOPS).map_err(refused)?),
            "switch" => self.switching = word(SWITCHINGS, value).ok_or_else(bad)?,
            "wire" => self.wire = word(WIRES, value).ok_or_else(bad)?,
            FAULT => self.faults.push(value.parse()?),
            _ => self.shape.set(key, value).map_err(|wrong| refusal(wrong, "", key, value))?,
        }
        Ok(())
    }

    /// The rate of what one host sends or receives.
    fn set_port(&mut self, end: &str, value: &str) -> Result<(), TargetError> {
        let mut shape = Shape::default();
        shape.set("rate", value).map_err(|wrong| refusal(wrong, &format!("{end}."), "rate", value))?;
        if let (Some((host, sends)), Some(rate)) = (port_of(end), shape.rate) {
            self.ports.push(PortRate { host, sends, rate });
        }
        Ok(())
    }

    /// What is said of all that one host sends or receives, of each pair by itself.
    fn pairs_of<'t>(&self, end: &str, name: &'t str, value: &'t str) -> Vec<OfPair<'t>> {
        let host = port_of(end).and_then(|(host, sends)| Some((host_number(&host)?, sends)));
        let hosts = self.hosts;
        let of_host = |(host, sends): (u32, bool)| {
            let others = (0..hosts.max(host + 1)).filter(move |other| *other != host);
            others.map(move |other| if sends { (host, other) } else { (other, host) })
        };
        host.into_iter().flat_map(of_host).map(|pair| (pair, name, value)).collect()
    }

    /// Each pair is like the lab but for what is said of it.
    fn set_pairs(&mut self, of_pairs: &[OfPair]) -> Result<(), TargetError> {
        for ((from, to), key, value) in of_pairs {
            let (from, to) = (host_name(*from), host_name(*to));
            let place = self.pairs.iter().position(|pair| (&pair.from, &pair.to) == (&from, &to));
            let place = place.unwrap_or_else(|| {
                let shape = self.shape.clone();
                self.pairs.push(Pair { from: from.clone(), to: to.clone(), shape });
                self.pairs.len() - 1
            });
            let of_pair = format!("{from}-{to}.");
            self.pairs[place].shape.set(key, value).map_err(|wrong| refusal(wrong, &of_pair, key, value))?;
        }
        // A pair that is as the lab is anyway need not be known.
        self.pairs.retain(|pair| pair.shape != self.shape);
        Ok(())
    }

    /// What cannot go together.
    pub fn check(&self) -> Result<(), TargetError> {
        let wrong = |place: &str| {
            let place = place.to_owned();
            move |(what, hint): (&str, &str)| TargetError::new(format!("lab: {place}{what}"), hint)
        };
        self.shape.check(&Shape::default()).map_err(wrong(""))?;
        for pair in &self.pairs {
            let place = format!("from {} to {} ", pair.from, pair.to);
            self.check_pair(pair).map_err(wrong(&place))?;
        }
        if let Some(port) = self.ports.iter().find(|port| host_number(&port.host) >= Some(self.hosts)) {
            let what = format!("lab: there is no host {} in it", port.host);
            return Err(TargetError::new(what, "give it more hosts: hosts=3"));
        }
        self.network.as_ref().map_or(Ok(()), |network| is_connected(network, self.hosts))?;
        let broken = self.broken().into_iter().find(|(holds, ..)| *holds);
        broken.map_or(Ok(()), |(_, what, hint)| Err(wrong("")((what, hint))))?;
        fault::check(self)
    }

    fn check_pair(&self, pair: &Pair) -> Result<(), (&'static str, &'static str)> {
        let is_host = |name: &str| host_number(name).is_some_and(|number| number < self.hosts);
        if !is_host(&pair.from) || !is_host(&pair.to) {
            return Err(("is no way in this lab", "give it more hosts: hosts=3"));
        }
        let line = |shape: &Shape| (shape.rate, shape.queue_bytes);
        let same_rate = pair.shape.rate == self.shape.rate;
        if self.has_links_before() && same_rate && line(&pair.shape) != line(&self.shape) {
            let hint = "the switches' queues are the lab's: try queue=1MiB";
            return Err(("queue says nothing without a rate of its own", hint));
        }
        pair.shape.check(&self.shape)
    }

    /// What is done between its hosts, from end to end.
    fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.pairs.iter().map(|pair| &pair.shape).chain([&self.shape])
    }

    /// Whether it says what links there are.
    fn has_links(&self) -> bool {
        self.network.is_some() || self.hops.is_some()
    }

    /// What cannot go together as a whole: whether it holds, what is wrong, what to try.
    fn broken(&self) -> [(bool, &'static str, &'static str); 9] {
        let rate_alone = Shape { rate: self.shape.rate, ..Shape::default() };
        let more_than_rate = self.shape != rate_alone || self.has_links() || !self.pairs.is_empty();
        let is_netem = self.wire == WireKind::Netem;
        [
            (
                !self.coalescing.is_none() && [WireKind::Netem, WireKind::TokenBucket].contains(&self.wire),
                "the kernel's wires hold no frames as an adapter does",
                "leave out wire= or coalesce=",
            ),
            (
                self.coalescing.frames.is_some() && self.coalescing.delay_ns == 0.0,
                "coalesce-frames says nothing without coalesce",
                "try coalesce=64us,coalesce-frames=32",
            ),
            (
                self.wire == WireKind::TokenBucket && more_than_rate,
                "wire=tbf knows nothing but a rate",
                "leave out wire=",
            ),
            (
                is_netem && self.has_links(),
                "wire=netem has no switches",
                "leave out wire=, or what asks for them",
            ),
            (
                is_netem && self.shapes().any(|shape| shape.reorder > 0.0),
                "wire=netem reorders otherwise: what it picks overtakes all that is under way",
                "leave out wire= or reorder=",
            ),
            (
                is_netem && self.hosts > 2 && !self.pairs.is_empty(),
                "wire=netem does not tell pairs from each other, where there are more than two hosts",
                "leave out wire=",
            ),
            (
                !self.ports.is_empty() && (is_netem || self.network.is_some()),
                "a host's own rate goes with neither wire=netem nor a file",
                "leave out wire=, or say the rate of the link in the file",
            ),
            (
                !self.ports.is_empty() && self.hosts == 2 && self.hops.unwrap_or(0) == 0,
                "a host's own rate is that of its link to a switch, and two hosts have none",
                "give it more hosts, or say it of the pair: a-b.rate=5Mb/s",
            ),
            (
                self.network.is_none() && self.hosts > 2 && self.hops == Some(0),
                "more than two hosts need a switch",
                "leave out hops=0",
            ),
        ]
    }
}

/// `KEY=VALUE`.
fn pair_or_none(part: &str) -> Option<(&str, &str)> {
    part.split_once('=')
}

/// The lab of a file.
fn of_file(name: &str, open: Open) -> Result<Topology, TargetError> {
    let described = network::read(name, &open(name)?)?;
    Ok(Topology {
        hosts: described.hosts,
        mtu: described.mtu,
        network: Some(described.network),
        ..Topology::default()
    })
}

/// Whether every host of a network reaches every other one.
fn is_connected(network: &Network, hosts: u32) -> Result<(), TargetError> {
    let hosts = hosts.min(MOST_HOSTS);
    let is_cut = |(place, route): &(u32, Vec<usize>)| place / hosts != place % hosts && route.is_empty();
    let Some((place, _)) = (0..).zip(network.routes(hosts as usize)).find(is_cut) else { return Ok(()) };
    let (from, to) = (host_name(place / hosts), host_name(place % hosts));
    let what = format!("{}: no links lead from {from} to {to}", network.file);
    Err(TargetError::new(what, format!("add some: between = [\"{from}\", \"{to}\"]")))
}

/// `a-b`: from host a to host b.
fn pair_of(text: &str) -> Result<(u32, u32), TargetError> {
    let pair = text.split_once('-').and_then(|(from, to)| Some((host_number(from)?, host_number(to)?)));
    pair.filter(|(from, to)| from != to).ok_or_else(|| {
        let what = format!("lab: `{text}` is no pair of hosts");
        TargetError::new(what, "a pair is two hosts, from and to: try a-b.loss=1%,b-a.delay=20ms")
    })
}

/// Why a key of a shape cannot be set, in words; `pair` is `a-b.`, or nothing for the lab.
fn refusal(wrong: Wrong, pair: &str, key: &str, value: &str) -> TargetError {
    match wrong {
        Wrong::Key => {
            let who = if pair.is_empty() { "the lab" } else { "a pair of hosts" };
            let known: Vec<&str> =
                LAB_KEYS.iter().filter(|key| pair.is_empty() || key.of_link).map(|key| key.name).collect();
            let hint = did_you_mean(known.iter().copied(), key, &format!("it knows {}", known.join(", ")));
            TargetError::new(format!("{who} knows no `{key}`"), hint)
        }
        Wrong::Value(wanted, why) => {
            let colon = if why.is_empty() { "" } else { ": " };
            let what = format!("lab:{pair}{key}={value}: not {wanted}{colon}{why}");
            TargetError::new(what, "try lab:rate=1Gb/s,delay=5ms,loss=0.1%")
        }
    }
}

fn lacks_value(part: &str) -> TargetError {
    let what = format!("`{part}` in the lab's description has no `=`");
    // A comma ends a key, so it cannot stand in a number.
    let is_number = part.starts_with(|c: char| c.is_ascii_digit());
    let hint = if is_number {
        "numbers are written without commas: mtu=9000"
    } else {
        "try lab:mtu=9000,rate=1Gb/s"
    };
    TargetError::new(what, hint)
}

/// The network with this name.
fn preset(name: &str) -> Result<&'static Preset, TargetError> {
    if LAB_KEYS.iter().any(|key| key.name == name) {
        return Err(lacks_value(name));
    }
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let presets = PRESETS.iter().map(|preset| preset.name);
        let known: Vec<&str> = presets.clone().collect();
        let otherwise = format!("presets are {}; a key is written lab:rate=1Gb/s", known.join(", "));
        TargetError::new(format!("the lab has no preset `{name}`"), did_you_mean(presets, name, &otherwise))
    })
}

fn in_range(read: Result<u64, ParseError>, low: u32, high: u32) -> Result<u32, String> {
    // It lies between two of these.
    within(read, low.into(), high.into(), |value| value).map(|value| value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Carrier;

    fn read(text: &str) -> Result<Topology, TargetError> {
        Topology::read(text, &|name| Err(TargetError::new(name, "")))
    }

    #[test]
    fn what_cannot_go_together_is_refused() {
        for text in [
            "jitter=1ms",
            "burst=3",
            "queue=1MiB",
            "rate=1Gb/s,delay=1ms,wire=tbf",
            "rate=1Gb/s,a-b.loss=1%,wire=tbf",
            "hops=1,wire=netem",
            "reorder=1%,wire=netem",
            "a-b.reorder=1%,wire=netem",
            "hosts=3,a-b.loss=1%,wire=netem",
            "hosts=3,hops=0",
            "coalesce-frames=8",
            "coalesce=64us,wire=netem",
            "coalesce=64us,wire=tbf",
            "a-b.coalesce=64us",
            "a-c.loss=1%",
            "a-b.jitter=1ms",
            "a-b.burst=3",
            "hosts=3,rate=1Gb/s,a-b.queue=1MiB",
            "a-a.loss=1%",
            "a-b.mtu=9000",
            "a-b-c.loss=1%",
            "a-.rate=5Mb/s",
            "hosts=3,d-.rate=5Mb/s",
            "hosts=3,a-.rate=5Mb/s,wire=netem",
            "hosts=3,a-.mtu=9000",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_host_sends_or_receives_otherwise() {
        let lab = read("hosts=4,rate=20Mb/s,c-.rate=12Mb/s,-d.rate=5Mb/s").unwrap();
        let rates = |host: &str| [true, false].map(|sends| lab.port_rate(host, sends).unwrap().0);
        assert_eq!((rates("c"), rates("d"), rates("a")), ([12e6, 20e6], [20e6, 5e6], [20e6; 2]));
        assert_eq!(lab.carrier(), Carrier::TokenBucket);
        assert_eq!(read("hosts=4,c-.rate=12Mb/s,delay=1ms").unwrap().carrier(), Carrier::User);
        assert_eq!(read(&lab.to_string()), Ok(lab));
        let lossy = read("hosts=4,-c.loss=1%,a-c.loss=2%").unwrap();
        let losses: Vec<_> =
            lossy.pairs.iter().map(|pair| (&*pair.from, &*pair.to, pair.shape.loss)).collect();
        assert_eq!(losses, [("a", "c", 0.02), ("b", "c", 0.01), ("d", "c", 0.01)]);
    }

    #[test]
    fn a_key_is_said_once_and_a_limit_is_told() {
        for (text, part) in [
            ("rate=1Gb/s,rate=2Gb/s", "rate is said twice, the second time as rate=2Gb/s"),
            ("metro,loss=1%,loss=2%", "loss is said twice"),
            ("a-b.loss=1%,a-b.loss=2%", "a-b.loss is said twice"),
            ("loss=100%", "at most 50%: it is more than 50 %"),
            ("rate=1mb/s", "1Mb/s is bits a second, 1MB/s bytes a second"),
            ("rate=1TB/s", "more than 400 Gb/s"),
            ("delay=5", "it lacks its unit"),
            ("hosts=1,000", "without commas"),
            ("hosts=2KiB", "without `KiB`"),
            ("mtu=70000", "more than 65535"),
            ("queue=-1", "below zero"),
            ("coalesce=64", "it lacks its unit"),
            ("coalesce=2s", "more than 1 s"),
            ("coalesce=64us,coalesce-frames=0", "1 to 65535 frames"),
        ] {
            let error = read(text).unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
        assert!(read("metro,loss=1%").is_ok() && read("loss=1%,a-b.loss=2%").is_ok());
        let rate = |text| read(text).unwrap().shape.rate;
        assert_eq!(rate("rate=1MB/s"), rate("rate=8Mb/s"));
    }

    #[test]
    fn a_pair_overrides_the_labs_keys() {
        let lab = read("a-b.loss=0,delay=10ms,b-a.delay=20ms,loss=1%,burst=8").unwrap();
        let there = lab.shape_between("a", "b");
        assert_eq!((there.loss, there.delay_ns), (0.0, 1e7));
        let back = lab.shape_between("b", "a");
        assert_eq!((back.loss, back.burst, back.delay_ns), (0.01, 8.0, 2e7));
        let said = "hosts=2,mtu=1500,delay=10000000ns,loss=0.01,burst=8,a-b.loss=0,b-a.delay=20000000ns";
        assert_eq!(lab.to_string(), said);
        assert_eq!(read(said), Ok(lab));
        assert_eq!(read("loss=1%,a-b.loss=1%").unwrap().pairs, []);
        let none = read("delay=1ms,a-b.delay=0ms").unwrap();
        assert_eq!((none.shape_between("a", "b").delay_ns, read(&none.to_string())), (0.0, Ok(none)));
    }

    #[test]
    fn later_keys_override_a_preset() {
        let metro = read("metro").unwrap();
        assert_eq!((metro.mtu, metro.shape.delay_ns, metro.hops), (9000, 1e5, Some(2)));
        let lossy = read("metro,loss=0.1%,mtu=1500,b-a.delay=1ms").unwrap();
        assert_eq!((lossy.mtu, lossy.shape.loss, lossy.shape.delay_ns), (1500, 0.001, 1e5));
        assert_eq!(lossy.shape_between("b", "a").delay_ns, 1e6);
        for preset in PRESETS {
            let keys = read(preset.keys).unwrap();
            assert_eq!(read(preset.name), Ok(keys.clone()), "{}", preset.name);
            assert_eq!(keys.carrier(), Carrier::User, "{}", preset.name);
        }
    }
}
