//! Hosts whose agents are started by a launcher: Slurm, an MPI's own, or any command that runs something on a host.

use super::TargetError;
use super::host_list::is_host;
use super::pair::MOST_HOSTS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What starts agents.
#[derive(Debug, PartialEq, Eq)]
pub struct Launcher {
    /// What a target of it begins with.
    pub name: &'static str,
    /// The program that is called where nobody names another one; none where one has to be named.
    pub usual: Option<&'static str>,
    /// The options of its own that say how many hosts are wanted, the short one first; none where hosts are named.
    pub count: &'static [&'static str],
    /// What is added to the user's options: `{n}` is the number of hosts.
    pub adds: &'static [&'static str],
    /// What it is told, in place of all options, to start an agent again on one host that had one: `{job}` is the allocation, and
    /// `{node}` the host as the launcher knows it. Empty where that cannot be, or where each host has a call of its own.
    pub again: &'static [&'static str],
    /// Whether its standard input reaches every agent; else the environment does.
    pub feeds_all: bool,
}

/// Every launcher.
pub const LAUNCHERS: &[Launcher] = &[
    Launcher {
        name: "slurm",
        usual: Some("srun"),
        count: &["-N", "--nodes"],
        // The number of tasks is said too: an allocation of more tasks than nodes starts all of them otherwise. Other steps
        // of the job may hold its CPUs, and a node that dies is no end of the others.
        adds: &[
            "--overlap",
            "--no-kill",
            "--cpu-bind=none",
            "--ntasks-per-node=1",
            "--nodes={n}",
            "--ntasks={n}",
        ],
        again: &[
            "--jobid={job}",
            "--nodelist={node}",
            "--overlap",
            "--no-kill",
            "--cpu-bind=none",
            "--nodes=1",
            "--ntasks=1",
        ],
        feeds_all: true,
    },
    Launcher {
        name: "mpirun",
        usual: Some("mpirun"),
        count: &["-n", "-np"],
        adds: &["-n", "{n}"],
        // All of its processes end with one of them.
        again: &[],
        feeds_all: false,
    },
    Launcher { name: "launch", usual: None, count: &[], adds: &[], again: &[], feeds_all: true },
];

/// A launcher, and what it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Launched {
    by: &'static Launcher,
    /// The user's options of it, without the number of hosts; or the hosts' names.
    words: Vec<String>,
    hosts: u32,
}

/// What a target of hosts takes together.
const LONGEST: usize = 2000;

/// A ladder stands between two.
const USUAL: u32 = 2;

impl Launched {
    /// Reads what stands behind the launcher's name and its colon; none where it is no launcher's.
    pub fn read(text: &str) -> Option<Result<Launched, TargetError>> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let by = LAUNCHERS.iter().find(|launcher| launcher.name == name)?;
        let read = if by.count.is_empty() { named(by, rest) } else { counted(by, rest) };
        Some(read.and_then(Launched::checked))
    }

    fn checked(self) -> Result<Launched, TargetError> {
        let hosts = self.hosts;
        let wrong = |what: String| {
            Err(TargetError::new(what, "between two hosts is measured, of a lab or real ones"))
        };
        match hosts {
            0..USUAL => wrong(format!("{}: {hosts} of the two hosts that it takes", self.by.name)),
            USUAL..=MOST_HOSTS if self.to_string().len() <= LONGEST => Ok(self),
            USUAL..=MOST_HOSTS => wrong(format!("{}: more than {LONGEST} characters", self.by.name)),
            _ => Err(TargetError::new(
                format!("{hosts} hosts are asked for"),
                format!("at most {MOST_HOSTS} take part in a run"),
            )),
        }
    }

    /// What starts them.
    pub fn by(&self) -> &'static Launcher {
        self.by
    }

    /// How many there are.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The hosts, where each is started by a call of its own.
    pub fn names(&self) -> &[String] {
        if self.by.count.is_empty() { &self.words } else { &[] }
    }

    /// Whether the user has the launcher do more than start so many agents.
    pub fn has_options(&self) -> bool {
        self.names().is_empty() && !self.words.is_empty()
    }

    /// What the launcher is told before the agent's own words: the user's options and those that make it one agent a host.
    pub fn options(&self) -> Vec<String> {
        let added = self.by.adds.iter().map(|word| word.replace("{n}", &self.hosts.to_string()));
        let own = self.words.iter().filter(|_| self.names().is_empty()).cloned();
        own.chain(added).collect()
    }

    /// What the launcher is told to start an agent again, where one call was for all; none where that cannot be.
    pub fn options_again(&self, job: &str, node: &str) -> Option<Vec<String>> {
        let word = |word: &&str| word.replace("{job}", job).replace("{node}", node);
        (!self.by.again.is_empty()).then(|| self.by.again.iter().map(word).collect())
    }

    /// Whether an agent that ended can be started again while others go on.
    pub fn starts_again(&self) -> bool {
        !self.names().is_empty() || !self.by.again.is_empty()
    }

    /// What a host is called before anything is heard of it.
    pub fn name_of(&self, place: u32) -> String {
        let name = self.names().get(place as usize);
        name.cloned().unwrap_or_else(|| format!("task {place} of {}", self.by.usual.unwrap_or(self.by.name)))
    }
}

/// `launch:n1,n2`.
fn named(by: &'static Launcher, text: &str) -> Result<Launched, TargetError> {
    let words: Vec<String> = text.split(',').map(String::from).collect();
    if let Some(wrong) = words.iter().find(|word| !is_host(word)) {
        let what = format!("{}: `{wrong}` is no host's name", by.name);
        return Err(TargetError::new(what, format!("name hosts: {}:n1,n2", by.name)));
    }
    if let Some(twice) = words.iter().enumerate().find(|(at, word)| words[..*at].contains(word)) {
        return Err(TargetError::new(
            format!("{}: {} is named twice", by.name, twice.1),
            "name each host once",
        ));
    }
    Ok(Launched { by, hosts: words.len() as u32, words })
}

/// `slurm:-N4 -p fast`: the number of hosts is taken out of the options, for it is said anew.
fn counted(by: &'static Launcher, text: &str) -> Result<Launched, TargetError> {
    let hint = || format!("say how many: {}:{} 4", by.name, by.count[0]);
    let mut words = Vec::new();
    let mut hosts = None;
    let mut given = text.split_whitespace();
    while let Some(word) = given.next() {
        if word.contains(char::is_control) {
            return Err(TargetError::new(format!("{}: an option with control characters", by.name), hint()));
        }
        if words.is_empty() && !word.starts_with('-') && hosts.is_none() {
            return Err(TargetError::new(format!("{}: `{word}` is no option", by.name), hint()));
        }
        let Some(value) = count_in(by, word) else {
            words.push(word.to_owned());
            continue;
        };
        let value = if value.is_empty() { given.next().unwrap_or_default() } else { value };
        let number: u32 = value
            .parse()
            .map_err(|_| TargetError::new(format!("{}: `{value}` is no number of hosts", by.name), hint()))?;
        if hosts.replace(number).is_some() {
            return Err(TargetError::new(format!("{}: {} is said twice", by.name, by.count[0]), hint()));
        }
    }
    Ok(Launched { by, words, hosts: hosts.unwrap_or(USUAL) })
}

/// The value within an option of the number of hosts, empty where it is the next word; none of another option.
fn count_in<'w>(by: &Launcher, word: &'w str) -> Option<&'w str> {
    by.count.iter().find_map(|option| {
        let rest = word.strip_prefix(option)?;
        match (option.starts_with("--"), rest.strip_prefix('=')) {
            (_, Some(value)) => Some(value),
            (true, None) => rest.is_empty().then_some(rest),
            (false, None) => {
                (rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit())).then_some(rest)
            }
        }
    })
}

impl fmt::Display for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by.count.is_empty() {
            return write!(f, "{}:{}", self.by.name, self.words.join(","));
        }
        let count = format!("{} {}", self.by.count[0], self.hosts);
        write!(f, "{}:{}", self.by.name, [&[count], &self.words[..]].concat().join(" "))
    }
}

impl FromStr for Launched {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Launched, TargetError> {
        let none = || Err(TargetError::new(format!("`{text}` is no launcher's"), "slurm:-N4, launch:n1,n2"));
        Launched::read(text).unwrap_or_else(none)
    }
}

impl TryFrom<String> for Launched {
    type Error = TargetError;

    fn try_from(text: String) -> Result<Launched, TargetError> {
        text.parse()
    }
}

impl From<Launched> for String {
    fn from(launched: Launched) -> String {
        launched.to_string()
    }
}

impl JsonSchema for Launched {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Launched".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Launched, TargetError> {
        text.parse()
    }

    #[test]
    fn the_number_of_hosts_is_taken_out_of_the_options() {
        for (text, shown, hosts) in [
            ("slurm", "slurm:-N 2", 2),
            ("slurm:-N4 -p fast", "slurm:-N 4 -p fast", 4),
            ("slurm:--nodes=3 --time 5", "slurm:-N 3 --time 5", 3),
            ("slurm:--nodelist=n[1-4] -N 4", "slurm:-N 4 --nodelist=n[1-4]", 4),
            ("mpirun:-host h1,h2 -np 2", "mpirun:-n 2 -host h1,h2", 2),
            ("launch:n1,n2,n3", "launch:n1,n2,n3", 3),
        ] {
            let launched = read(text).unwrap();
            assert_eq!((launched.to_string().as_str(), launched.hosts()), (shown, hosts));
            assert_eq!(read(shown), Ok(launched));
        }
        let options = read("slurm:-p fast -N4").unwrap().options();
        assert_eq!(options[..3], ["-p", "fast", "--overlap"]);
        assert!(options.contains(&"--ntasks=4".to_owned()) && options.contains(&"--nodes=4".to_owned()));
        assert_eq!(read("launch:n1,n2").unwrap().options(), Vec::<String>::new());
        assert_eq!(read("launch:n1,n2").unwrap().name_of(1), "n2");
        let again = read("slurm:-N4 -p fast").unwrap().options_again("17", "n3").unwrap();
        assert_eq!(again[..3], ["--jobid=17", "--nodelist=n3", "--overlap"]);
        let starts_again = ["slurm", "mpirun", "launch:n1,n2"].map(|text| read(text).unwrap().starts_again());
        assert_eq!(starts_again, [true, false, true]);
    }

    #[test]
    fn what_is_wrong_with_hosts_is_said() {
        for (text, part) in [
            ("slurm:-N", "no number of hosts"),
            ("slurm:-N1", "1 of the two hosts"),
            ("slurm:-N2-4", "no number"),
            ("slurm:-N2 -N3", "-N is said twice"),
            ("slurm:-N65", "65 hosts"),
            ("launch:n1", "1 of the two"),
            ("launch:", "no host's name"),
            ("launch:n1,n1", "n1 is named twice"),
            ("launch:n1,-oX", "`-oX` is no host's name"),
            ("launch:n1,$(id)", "no host's name"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(part), "{text}: {error:?}");
        }
        assert!(Launched::read("lab:hosts=2").is_none() && Launched::read("slurmy").is_none());
    }
}
