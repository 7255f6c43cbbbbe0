//! Which hosts: the virtual lab, hosts reached by ssh, or a machine that is made up.

use super::{LAUNCHERS, Launched, Open, Topology, World, host_list};
use crate::vocabulary::did_you_mean;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::{fmt, str::FromStr};

/// The hosts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Virtual hosts on this machine.
    Lab(Topology),
    /// Hosts reached by ssh, as `[user@]host[:port]`; one means from this host to that one.
    Ssh(#[serde(deserialize_with = "host_list::names")] Vec<String>),
    /// Hosts whose agents a launcher starts, and which call back.
    Launched(Launched),
    /// No hosts at all: a made-up machine in virtual time.
    Simulated(World),
}

/// Why a target cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TargetError {
    /// What is wrong with which part.
    pub what: String,
    /// What to try.
    pub hint: String,
}

impl TargetError {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        TargetError { what: what.into(), hint: hint.into() }
    }
}

impl Target {
    /// What kind of hosts: `lab`, `ssh`, `simulated`, or the launcher.
    pub fn kind(&self) -> &'static str {
        match self {
            Target::Lab(_) => "lab",
            Target::Ssh(_) => "ssh",
            Target::Launched(launched) => launched.by().name,
            Target::Simulated(_) => "simulated",
        }
    }
}

impl Target {
    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        match self {
            Target::Lab(topology) => topology.hosts,
            Target::Ssh(hosts) => (hosts.len() as u32).max(2),
            Target::Launched(launched) => launched.hosts(),
            Target::Simulated(_) => 2,
        }
    }

    /// Reads a target; `open` gives the text of the file that a lab may be described by.
    pub fn read(text: &str, open: Open) -> Result<Self, TargetError> {
        if let Some(launched) = Launched::read(text) {
            return launched.map(Target::Launched);
        }
        match text.split_once("://") {
            Some(("ssh", _)) => host_list::of_list(text).map(Target::Ssh),
            None if text.starts_with('@') => file_of_hosts(&text[1..], open).map(Target::Ssh),
            Some((scheme, _)) if !scheme.contains(':') => Err(TargetError::new(
                format!("`{scheme}://` is not a kind of target"),
                "a target is `lab`, `lab:rate=1Gb/s`, `ssh://HOST[,HOST]` or `@FILE`",
            )),
            _ if text == "simulated" => Ok(Target::Simulated(World::quiet())),
            _ if text.starts_with("simulated:") => world(&text["simulated:".len()..]).map(Target::Simulated),
            _ if text == "lab" => Ok(Target::Lab(Topology::default())),
            _ if text.starts_with("lab:") => Topology::read(&text[4..], open).map(Target::Lab),
            _ => Err(not_a_target(text)),
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    /// Reads a target that needs no file.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let closed = |name: &str| {
            Err(TargetError::new(format!("no file is read here, and {name} is one"), "say it with keys"))
        };
        Target::read(text, &closed)
    }
}

fn not_a_target(text: &str) -> TargetError {
    let what = format!("`{text}` is not a target");
    let (kind, rest) = text.split_once([':', '/']).unwrap_or((text, ""));
    let host = rest.trim_start_matches(['/', ':']);
    if kind == "ssh" {
        return TargetError::new(what, format!("did you mean `ssh://{host}`?"));
    }
    // As scp has it: the file first.
    if text.contains('/') {
        return TargetError::new(what, "the hosts come first, and a file behind them: ssh://HOST FILE");
    }
    let by_ssh = format!("a host is reached by ssh: try ssh://{text}");
    let kinds = ["lab", "simulated"].into_iter().chain(LAUNCHERS.iter().map(|launcher| launcher.name));
    TargetError::new(what, did_you_mean(kinds, kind, &by_ssh))
}

/// The hosts that a file names.
fn file_of_hosts(name: &str, open: Open) -> Result<Vec<String>, TargetError> {
    let hint = "a file of hosts has one name a line: @hosts.txt";
    let text = open(name).map_err(|error| TargetError::new(error.what, hint))?;
    host_list::of_file(name, &text)
}

/// The keys on top of a quiet machine.
fn world(text: &str) -> Result<World, TargetError> {
    let hint = "try simulated:noise=2%,step=64KiB/3ms";
    let mut world = World::quiet();
    let mut seen = BTreeSet::new();
    for pair in text.split(',') {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| TargetError::new(format!("`{pair}` in the simulation has no `=`"), hint))?;
        if !seen.insert(key) {
            return Err(TargetError::new(format!("simulated: {key} is said twice"), "say it once"));
        }
        world.set(key, value).map_err(|what| TargetError::new(what, hint))?;
    }
    Ok(world)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Simulated(world) if *world == World::quiet() => write!(f, "simulated"),
            Target::Simulated(world) => write!(f, "simulated:{world}"),
            Target::Ssh(hosts) => {
                let hosts: Vec<_> = hosts.iter().map(|host| format!("ssh://{host}")).collect();
                write!(f, "{}", hosts.join(","))
            }
            Target::Launched(launched) => write!(f, "{launched}"),
            Target::Lab(topology) => write!(f, "lab:{topology}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::pair::MOST_HOSTS;
    use proptest::strategy::Strategy;

    #[test]
    fn targets_are_read_and_printed() {
        for text in [
            "lab:hosts=2,mtu=9000,rate=1000000000b/s,hops=2,switch=cut-through,wire=user",
            "lab:hosts=2,mtu=1500,fault=b:small-buffers=64KiB,fault=a-b:loss=1%",
            "ssh://root@b:2222",
            "ssh://a,ssh://b",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in ["simulated", "simulated:noise=0%", "simulated:step=64KiB/3ms,loss=1%"] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!("lab".parse(), Ok(Target::Lab(Topology::default())));
        let three: Target = "ssh://a,root@b:2222,ssh://c".parse().unwrap();
        assert_eq!((three.hosts(), three.to_string().as_str()), (3, "ssh://a,ssh://root@b:2222,ssh://c"));
    }

    const NETWORK: &str = "hosts = 3\n[[switch]]\nname = \"s1\"\n[[link]]\nbetween = [\"a\", \"s1\"]\n\
                           rate = \"1Gb/s\"\n[[link]]\nbetween = [\"s1\", \"b\"]\n[[link]]\n\
                           between = [\"s1\", \"c\"]\ndelay = \"5ms\"\n";

    #[test]
    fn a_lab_of_a_file_takes_further_keys() {
        let open = |_: &str| Ok(NETWORK.to_owned());
        for text in ["lab:nets/three.toml,mtu=9000,loss=0.01,a-c.delay=20000000ns", "lab:./a=b,mtu=1500"] {
            let target = Target::read(text, &open).unwrap();
            assert_eq!(target.to_string(), text);
            let json = serde_json::to_string(&target).unwrap();
            assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
        }
        for (text, part) in [
            ("lab:net.toml,hosts=4", "hosts is said by the file"),
            ("lab:net.toml,wire=netem", "no switches"),
            ("lab:net.toml,a-d.loss=1%", "no way in this lab"),
            ("lab:net.toml,jitter=1ms", "jitter is larger than delay"),
        ] {
            let error = Target::read(text, &open).unwrap_err();
            assert!(error.what.contains(part), "{text}: {error:?}");
        }
        let apart = |_: &str| Ok(NETWORK.replace("between = [\"s1\", \"b\"]", "from = \"s1\"\nto = \"b\""));
        let error = Target::read("lab:net.toml", &apart).unwrap_err();
        assert_eq!(error.what, "net.toml: no links lead from b to a");
        assert!("lab:net.toml".parse::<Target>().unwrap_err().what.contains("no file is read here"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("lob", "did you mean `lab`?"),
            ("lab:mtu=12", "576"),
            ("lab:speed=1", "it knows hosts, mtu"),
            ("lab:dela=1ms", "did you mean `delay`"),
            ("lab:metr", "did you mean `metro`"),
            ("lab:", "presets are lan, metro, wan, satellite"),
            ("lab:metro,lan", "no `=`"),
            ("lab:a-b.los=1%", "did you mean `loss`"),
            ("lab:a-b.loss=99%", "lab:a-b.loss=99%: not a share"),
            ("lab:ab.loss=1%", "try a-b.loss"),
            ("lab:a-c.loss=1%", "from a to c is no way"),
            ("node7", "try ssh://node7"),
            ("ssh:node7", "did you mean `ssh://node7`"),
            ("simulatd:noise=1%", "did you mean `simulated`"),
            ("ssh://-oProxyCommand=x", "try ssh://a"),
            ("ssh://a,,b", "try ssh://a"),
            ("ftp://a", "a target is"),
            ("simulated:noise=much", "such as 2%"),
            ("simulated:noises=1%", "autocorrelation"),
            ("simulated:noise=1%,noise=2%", "said twice"),
            ("simulated:noise=95%", "more than 90 %"),
            ("simulated:step=64kb/3ms", "64kB by thousands, 64KiB by 1024"),
        ];
        for (text, part) in cases {
            let error = text.parse::<Target>().unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
        let many = format!("ssh://a{}", ",b".repeat(MOST_HOSTS as usize));
        assert_eq!(many.parse::<Target>().unwrap_err().what, "65 hosts are given");
    }

    /// Descriptions of labs that can be read more often than not.
    fn lab() -> impl proptest::strategy::Strategy<Value = String> {
        let keys = "(rate=[1-9]00Mb/s|delay=[0-9]{1,2}ms|jitter=[0-9]us|loss=[0-9](\\.5)?%|burst=[1-9]|\
                    reorder=0\\.[0-4]|duplicate=0|queue=[2-9]KiB)";
        let key = proptest::string::string_regex(&format!("([ab]-[abc]\\.)?{keys}")).unwrap();
        proptest::collection::vec(key, 1..6).prop_map(|keys| format!("lab:hosts=3,{}", keys.join(",")))
    }

    proptest::proptest! {
        #[test]
        fn a_lab_is_printed_as_it_was_read(text in lab()) {
            if let Ok(target) = text.parse::<Target>() {
                proptest::prop_assert_eq!(target.to_string().parse(), Ok(target));
            }
        }

        #[test]
        fn no_text_of_a_file_is_too_much(text in ".{0,200}|(hosts = [0-9]\n|\\[\\[(link|switch)\\]\\]\n|\
            (from|to|name|mode|rate) = \"?[a-c1-9%]{1,3}\"?\n|between = \\[\"[a-c]\", \"[a-c]\"\\]\n){0,12}") {
            let open = |_: &str| Ok(text.clone());
            if let Ok(target) = Target::read("lab:net.toml", &open) {
                proptest::prop_assert_eq!(Target::read(&target.to_string(), &open), Ok(target));
            }
        }

        #[test]
        fn whatever_is_read_is_printed_and_read_again(text in "(lab:?|ssh://|simulated:)?[a-z0-9.,:=/@ MGKib-]{0,40}") {
            if let Ok(target) = text.parse::<Target>() {
                proptest::prop_assert_eq!(target.to_string().parse(), Ok(target));
            }
        }
    }
}
