//! A network of switches and links as a file describes it, in TOML.

use super::pair::{MOST_HOSTS, host_name, host_number};
use super::shape::{KEYS, Shape, Wrong};
use super::switching::{SWITCHINGS, Switching};
use super::target::TargetError;
use super::word::word;
use crate::vocabulary::did_you_mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// A longer file holds something else.
pub const LONGEST_FILE: usize = 1 << 20;

/// More of them are no lab.
const MOST_SWITCHES: usize = 256;
const MOST_LINKS: usize = 1024;

/// The MTUs that a lab can have, and the usual one.
pub(super) const MTUS: RangeInclusive<u32> = 576..=65535;
const USUAL_MTU: u32 = 1500;

const HINT: &str = "a link is `[[link]]` with between = [\"a\", \"s1\"] and keys such as rate = \"1Gb/s\"";

/// The switches and links of a lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// The file that describes it, as it was named.
    pub file: String,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The links, one direction each.
    pub links: Vec<NetworkLink>,
}

/// A switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// How it passes a packet on.
    pub mode: Switching,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLink {
    /// The host or switch that sends.
    pub from: String,
    /// The one that receives.
    pub to: String,
    /// What it does to what crosses it.
    #[serde(flatten)]
    pub shape: Shape,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hosts: u32,
    mtu: Option<u32>,
    #[serde(default)]
    switch: Vec<SwitchTable>,
    #[serde(default)]
    link: Vec<LinkTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchTable {
    name: String,
    mode: Option<String>,
}

/// All other keys are a shape's, and what is none is told as such.
#[derive(Deserialize)]
struct LinkTable {
    between: Option<[String; 2]>,
    from: Option<String>,
    to: Option<String>,
    #[serde(flatten)]
    keys: BTreeMap<String, toml::Value>,
}

/// What a file says: hosts, MTU, and the network between them.
#[derive(Debug)]
pub(super) struct Described {
    pub hosts: u32,
    pub mtu: u32,
    pub network: Network,
}

/// Reads a file's text. Whether its hosts reach each other is seen once it is wired.
pub(super) fn read(name: &str, text: &str) -> Result<Described, TargetError> {
    let wrong = |(what, hint): (String, String)| TargetError::new(format!("{name}: {what}"), hint);
    if text.len() > LONGEST_FILE {
        return Err(wrong(("longer than 1 MiB: this describes no lab".into(), HINT.into())));
    }
    let file: File = toml::from_str(text).map_err(|error| wrong((misread(&error, text), HINT.into())))?;
    described(name, &file).map_err(wrong)
}

/// Why a text is no such file, and in which line.
fn misread(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map(|before| 1 + before.matches('\n').count());
    let message = error.message().trim_end().replace('\n', ", ");
    line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"))
}

/// What is wrong, and what to try.
type Fault = (String, String);

fn described(name: &str, file: &File) -> Result<Described, Fault> {
    let fault = |what: &str, hint: &str| (what.to_owned(), hint.to_owned());
    if !(2..=MOST_HOSTS).contains(&file.hosts) {
        return Err(fault("a lab has 2 to 64 hosts", "try hosts = 2"));
    }
    let mtu = file.mtu.unwrap_or(USUAL_MTU);
    if !MTUS.contains(&mtu) {
        return Err(fault("an MTU is 576 to 65535", "try mtu = 1500"));
    }
    if file.switch.len() > MOST_SWITCHES || file.link.len() > MOST_LINKS {
        return Err(fault("more than 256 switches or 1024 links", "describe a smaller network"));
    }
    let switches = switches(file)?;
    let names: BTreeSet<String> =
        (0..file.hosts).map(host_name).chain(switches.iter().map(|switch| switch.name.clone())).collect();
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, table) in (1..).zip(&file.link) {
        for link in
            directions(table, &names).map_err(|(what, hint)| (format!("link {number}: {what}"), hint))?
        {
            if !seen.insert((link.from.clone(), link.to.clone())) {
                let what = format!("link {number}: {} to {} is there twice", link.from, link.to);
                return Err((what, "say it once".into()));
            }
            links.push(link);
        }
    }
    Ok(Described { hosts: file.hosts, mtu, network: Network { file: name.into(), switches, links } })
}

fn switches(file: &File) -> Result<Vec<Switch>, Fault> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_host = |name: &str| host_number(name).is_some_and(|number| number < file.hosts);
    let mut switches: Vec<Switch> = Vec::new();
    for SwitchTable { name, mode } in &file.switch {
        let fault = |what: &str, hint: &str| Err((format!("switch `{name}`: {what}"), hint.to_owned()));
        if !(1..=32).contains(&name.len()) || !name.chars().all(is_legal) {
            return fault("a name is 1 to 32 letters, digits and _", "try name = \"s1\"");
        }
        if is_host(name) || switches.iter().any(|known| known.name == *name) {
            return fault("this name is taken", "hosts are a, b and so on: call it s1");
        }
        let Some(mode) = mode.as_ref().map_or(Some(Switching::default()), |mode| word(SWITCHINGS, mode))
        else {
            return fault("no such mode", "try mode = \"store-and-forward\" or mode = \"cut-through\"");
        };
        switches.push(Switch { name: name.clone(), mode });
    }
    Ok(switches)
}

/// The directions of a link: one, or both.
fn directions(table: &LinkTable, names: &BTreeSet<String>) -> Result<Vec<NetworkLink>, Fault> {
    let ends = match (&table.between, &table.from, &table.to) {
        (Some([one, other]), None, None) => vec![(one, other), (other, one)],
        (None, Some(from), Some(to)) => vec![(from, to)],
        _ => {
            let hint = "between = [\"a\", \"b\"] is both directions, from = \"a\" with to = \"b\" is one";
            return Err(("it needs either between, or from and to".into(), hint.into()));
        }
    };
    let (from, to) = ends[0];
    for end in [from, to] {
        if !names.contains(end) {
            let hint =
                did_you_mean(names.iter().map(String::as_str), end, "name it in a [[switch]], or add hosts");
            return Err((format!("`{}` is neither a host nor a switch", shown(end)), hint));
        }
    }
    if from == to {
        return Err((format!("it goes from {from} to {from}"), "a link has two ends".into()));
    }
    let shape = shape(&table.keys)?;
    shape.check(&Shape::default()).map_err(|(what, hint)| (what.to_owned(), hint.to_owned()))?;
    let link = |(from, to): (&String, &String)| NetworkLink {
        from: from.clone(),
        to: to.clone(),
        shape: shape.clone(),
    };
    Ok(ends.into_iter().map(link).collect())
}

fn shape(keys: &BTreeMap<String, toml::Value>) -> Result<Shape, Fault> {
    let mut shape = Shape::default();
    for (key, value) in keys {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            _ => {
                let what = format!("{} is neither a text nor a number", shown(key));
                return Err((what, "try loss = \"1%\" or loss = 0.01".into()));
            }
        };
        shape.set(key, &text).map_err(|wrong| match wrong {
            Wrong::Key => {
                let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                let otherwise = format!("it knows between, from, to, {}", known.join(", "));
                (format!("it knows no `{}`", shown(key)), did_you_mean(known, key, &otherwise))
            }
            Wrong::Value(wanted) => (format!("{key} = {:?}: not {wanted}", shown(&text)), HINT.into()),
        })?;
    }
    Ok(shape)
}

/// So much of a text as a message needs.
fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "hosts = 2\n[[switch]]\nname = \"s1\"\nmode = \"cut-through\"\n\
                        [[link]]\nbetween = [\"a\", \"s1\"]\nrate = \"1Gb/s\"\nloss = 0.01\n\
                        [[link]]\nfrom = \"s1\"\nto = \"b\"\ndelay = \"5ms\"\nrate = \"1Gb/s\"\nqueue = 65536\n\
                        [[link]]\nfrom = \"b\"\nto = \"s1\"\n";

    #[test]
    fn a_file_is_switches_and_directions() {
        let Described { hosts, mtu, network } = read("net.toml", LINE).unwrap();
        assert_eq!((hosts, mtu, network.links.len()), (2, 1500, 4));
        assert_eq!(network.switches, [Switch { name: "s1".into(), mode: Switching::CutThrough }]);
        assert_eq!((network.links[1].from.as_str(), network.links[1].shape.loss), ("s1", 0.01));
        assert_eq!(network.links[2].shape.queue_bytes, Some(65536));
        assert!(network.links[3].shape.is_plain());
    }

    #[test]
    fn an_error_in_a_file_has_its_place() {
        let link = |text: &str| format!("hosts = 2\n[[link]]\n{text}\n");
        let cases = [
            ("hosts = 2\nhots = 3\n".to_owned(), "line 2: unknown field `hots`"),
            ("hosts = 1\n".into(), "2 to 64 hosts"),
            ("hosts = 2\nmtu = 9\n".into(), "mtu = 1500"),
            ("hosts = \n".into(), "line 1: "),
            ("mtu = 1500\n".into(), "missing field `hosts`"),
            ("hosts = 2\n[[switch]]\nname = \"b\"\n".into(), "switch `b`: this name is taken"),
            ("hosts = 2\n[[switch]]\nname = \"s 1\"\n".into(), "letters"),
            ("hosts = 2\n[[switch]]\nname = \"s1\"\nmode = \"cut\"\n".into(), "cut-through"),
            (link("between = [\"a\", \"b\"]\nfrom = \"a\""), "link 1: it needs either"),
            (link("between = [\"a\", \"c\"]"), "`c` is neither a host nor a switch"),
            (link("between = [\"a\", \"a\"]"), "two ends"),
            (link("between = [\"a\", \"b\"]\nrat = \"1Gb/s\""), "did you mean `rate`?"),
            (link("between = [\"a\", \"b\"]\nrate = \"1\""), "not a rate of 1Mb/s"),
            (link("between = [\"a\", \"b\"]\nloss = true"), "neither a text nor a number"),
            (link("between = [\"a\", \"b\"]\njitter = \"1ms\""), "jitter is larger than delay"),
            (
                link("between = [\"a\", \"b\"]\n[[link]]\nfrom = \"b\"\nto = \"a\""),
                "link 2: b to a is there twice",
            ),
            (" ".repeat(LONGEST_FILE + 1), "longer than 1 MiB"),
        ];
        for (text, part) in cases {
            let error = read("net.toml", &text).unwrap_err();
            assert!(error.what.starts_with("net.toml: ") && !error.what.contains('\n'), "{error:?}");
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{part}: {error:?}");
        }
    }
}
