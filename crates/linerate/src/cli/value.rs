//! Values of options: how they are read, what is said of those that do not fit, what a shell may offer.

use super::lab_file;
use crate::plan::sizes::LONGEST_MESSAGE;
use crate::plan::{
    APPLICATIONS, COMPARED_BY, HostAddress, HostId, LEAST_BLOCKS, PROFILES, PortRange, Setting, SettingError,
    Suite, Target, TargetError, candidates, is_prefix, rungs_and_groups,
};
use crate::run::RemoteFolder;
use crate::unit::{self, BitRate, Bytes, Nanoseconds, ParseError, Share, within};
use crate::vocabulary::{KNOBS, Knob, KnobKind, PRESETS, RUNGS, SUITES, TOOLS, did_you_mean};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Why a value does not fit, and what to try.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Unfit {
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub hint: String,
}

/// What a parser of one value answers.
pub type Read<T> = Result<T, Unfit>;

fn unfit<T>(what: impl Into<String>, hint: impl Into<String>) -> Read<T> {
    Err(Unfit { what: what.into(), hint: hint.into() })
}

/// A parser that also tells the shells what may be written.
#[derive(Clone)]
pub struct Offering<P> {
    pub parser: P,
    pub offers: fn() -> Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Offering<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.offers)().into_iter().map(PossibleValue::new)))
    }
}

/// A rung's name or a prefix of some.
pub fn rungs() -> Offering<fn(&str) -> Read<String>> {
    Offering { parser: rung, offers: rungs_and_groups }
}

fn rung(text: &str) -> Read<String> {
    if RUNGS.iter().any(|rung| is_prefix(text, rung.id)) {
        return Ok(text.into());
    }
    let hint = match SUITES.iter().find(|suite| suite.name == text) {
        Some(suite) => {
            format!("it is a suite: `--suite {}` plays it, beside others that are named so", suite.name)
        }
        None => did_you_mean(rungs_and_groups(), text, "`linerate list rungs` shows them"),
    };
    unfit(format!("no rung is called `{text}`"), hint)
}

/// An application that arms are compared on.
pub fn applications() -> PossibleValuesParser {
    PossibleValuesParser::new(APPLICATIONS.iter().map(|one| PossibleValue::new(one.name)))
}

/// What decides a comparison of arms.
pub fn metrics() -> PossibleValuesParser {
    PossibleValuesParser::new(COMPARED_BY.iter().map(|entry| PossibleValue::new(entry.name)))
}

/// One knob and its value.
pub fn setting() -> Offering<fn(&str) -> Read<Setting>> {
    Offering { parser: one_setting, offers: knobs }
}

/// The knob that picks an MPI: a path has a slash in it, and from here on it is one from the root.
pub fn mpi(text: &str) -> Read<Setting> {
    if !text.contains('/') {
        return one_setting(&format!("mpi.implementation={text}"));
    }
    let missing = |error: std::io::Error| Unfit {
        what: format!("{text}: {error}"),
        hint: "`linerate doctor` lists the libraries that there are".into(),
    };
    let place = std::path::absolute(text).map_err(missing)?;
    one_setting(&format!("mpi.path={}", place.display()))
}

/// The candidates of one `--set`.
#[derive(Debug, Clone)]
pub struct Candidates(pub Vec<Vec<Setting>>);

/// Several knobs, of a comparison.
pub fn arms() -> Offering<fn(&str) -> Read<Candidates>> {
    Offering { parser: some_candidates, offers: knobs }
}

fn of_setting(error: SettingError) -> Unfit {
    Unfit { what: error.what, hint: error.hint }
}

fn one_setting(text: &str) -> Read<Setting> {
    text.parse().map_err(of_setting)
}

fn some_candidates(text: &str) -> Read<Candidates> {
    candidates(text).map(Candidates).map_err(of_setting)
}

/// `tcp.no-delay=on`, and `socket.send-buffer=` where the values cannot be counted.
static KNOB_WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let values = |knob: &Knob| match knob.kind {
        KnobKind::Switch => vec!["on", "off"],
        KnobKind::OneOf(words) => words.to_vec(),
        _ => vec![""],
    };
    let words = |knob: &'static Knob| values(knob).into_iter().map(|value| format!("{}={value}", knob.name));
    KNOBS.iter().flat_map(words).collect()
});

fn knobs() -> Vec<&'static str> {
    KNOB_WORDS.iter().map(String::as_str).collect()
}

/// The hosts.
pub fn target() -> Offering<fn(&str) -> Read<Target>> {
    Offering { parser: one_target, offers: || TARGET_WORDS.iter().map(String::as_str).collect() }
}

/// `lab`, `lab:metro`, and what the other kinds begin with.
static TARGET_WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let presets = PRESETS.iter().map(|preset| format!("lab:{}", preset.name));
    let kinds = ["lab", "simulated", "ssh://", "slurm", "mpirun", "launch:"].map(String::from);
    kinds.into_iter().chain(presets).collect()
});

fn one_target(text: &str) -> Read<Target> {
    let read = Target::read(text, &lab_file::text);
    read.map_err(|error: TargetError| Unfit { what: error.what, hint: error.hint })
}

/// The hosts, with the words by which they were asked for: what is printed of them is told in these.
#[derive(Debug, Clone)]
pub struct AskedTarget {
    pub target: Target,
    pub text: String,
}

/// The hosts, as they were written too.
pub fn asked_target() -> Offering<fn(&str) -> Read<AskedTarget>> {
    let parser = |text: &str| Ok(AskedTarget { target: one_target(text)?, text: text.into() });
    Offering { parser, offers: target().offers }
}

/// Where agents call back.
pub fn listen(text: &str) -> Read<SocketAddr> {
    let hint = "an address of this host and a port: 192.0.2.1:7000, [2001:db8::1]:7000, 0.0.0.0:7000";
    text.parse().or_else(|_| unfit(format!("`{text}` is no address with a port"), hint))
}

/// The tables of names.
pub fn kinds() -> PossibleValuesParser {
    crate::report::reference::kinds().map(|kind| kind.plural).collect::<Vec<_>>().into()
}

/// The names that can be explained; any word is taken, for what is unknown is told by what is near.
pub fn names() -> Offering<fn(&str) -> Read<String>> {
    let offers = || {
        let kinds = crate::report::reference::kinds();
        let mut names: Vec<_> = kinds.flat_map(|kind| kind.explanations()).map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    Offering { parser: |text| Ok(text.into()), offers }
}

/// The suites that are shipped.
pub fn suites() -> Offering<fn(&str) -> Read<Suite>> {
    let read =
        |name: &str| Suite::shipped(name).map_err(|error| Unfit { what: error.what, hint: error.hint });
    Offering { parser: read, offers: || SUITES.iter().map(|suite| suite.name).collect() }
}

/// The profiles.
pub fn profiles() -> PossibleValuesParser {
    PROFILES.iter().map(|shipped| shipped.name).collect::<Vec<_>>().into()
}

/// The forms of a report.
pub fn formats() -> PossibleValuesParser {
    crate::report::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}

/// The tools whose results are read.
pub fn tools() -> PossibleValuesParser {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().into()
}

/// What is said of a value that cannot be taken.
fn refused(text: &str, wanted: &str, why: &str, hint: impl Into<String>) -> Unfit {
    let colon = if why.is_empty() { "" } else { ": " };
    let found: String = text.chars().take(MOST_SHOWN).collect();
    Unfit { what: format!("`{found}` is not {wanted}{colon}{why}"), hint: hint.into() }
}

/// So many characters of a value are shown.
const MOST_SHOWN: usize = 80;

/// A whole number within bounds.
pub fn count(low: u32, high: u32) -> impl Fn(&str) -> Read<u32> + Clone + Send + Sync + 'static {
    move |text| {
        let number = within(unit::count(text), low.into(), high.into(), |count| count);
        let wanted = format!("a whole number from {low} to {high}");
        // It lies between two of these.
        number.map(|number| number as u32).map_err(|why| refused(text, &wanted, &why, format!("try {low}")))
    }
}

/// How many blocks.
pub fn blocks() -> impl Fn(&str) -> Read<u32> + Clone + Send + Sync + 'static {
    count(LEAST_BLOCKS, 1000)
}

/// Any whole number: all of its digits count.
pub fn seed(text: &str) -> Read<u64> {
    let why = || unit::count(text).err().map_or(String::new(), |error: ParseError| error.why);
    text.parse().map_err(|_| refused(text, "a whole number", &why(), "try 1"))
}

/// `64`, `1KiB`: a message size in bytes.
pub fn message_size(text: &str) -> Read<u64> {
    let [least, most] = [1, LONGEST_MESSAGE].map(Bytes);
    let size = within(text.parse(), least, most, |size| size);
    let wanted = format!("a message size from {least} to {most}");
    size.map(|size| size.0).map_err(|why| refused(text, &wanted, &why, "try 64KiB"))
}

/// `1%` or `0.01`, at least 1 % and at most one half.
pub fn share(text: &str) -> Read<f64> {
    let share = within(text.parse(), Share(0.01), Share(0.5), |share| share);
    share.map(|share| share.0).map_err(|why| refused(text, "a share from 1% to 50%", &why, "try 2%"))
}

/// The longest budget: a week is more than any plan takes.
const LONGEST_NS: f64 = 168.0 * 3600e9;

/// A time of at least a second.
pub fn budget(text: &str) -> Read<u64> {
    let [least, most] = [1e9, LONGEST_NS].map(Nanoseconds);
    match within(text.parse(), least, most, |time| {
        if time == most { "168 h" } else { "1 s, which measures nothing" }
    }) {
        Ok(time) => Ok(time.0 as u64),
        Err(why) => Err(refused(text, "a time from 1s to 168h", &why, "try 60s or 10min")),
    }
}

/// How long a pair of many hosts is timed.
pub fn trial(text: &str) -> Read<u64> {
    let [least, most] = [50e6, 60e9].map(Nanoseconds);
    match within(text.parse(), least, most, |time| time.rounded(2)) {
        Ok(time) => Ok(time.0 as u64),
        Err(why) => Err(refused(text, "a time from 50ms to 60s", &why, "try 400ms or 2s")),
    }
}

/// What a diagnosis is to explain: a rate that somebody expects, or what a recording has.
#[derive(Debug, Clone, PartialEq)]
pub enum Against {
    /// In bits a second.
    Rate(f64),
    /// A recording of the same rung.
    Recording(PathBuf),
    /// What the rung below carries, which is measured first.
    Below,
}

/// `40Gb/s`, `before.jsonl`, `below`.
pub fn against(text: &str) -> Read<Against> {
    match text.parse::<BitRate>() {
        Ok(rate) if rate.0 > 0.0 => Ok(Against::Rate(rate.0)),
        Ok(_) => {
            unfit(format!("`{text}` is no rate that can be expected"), "try 40Gb/s, below, or a recording")
        }
        Err(_) if text == "below" => Ok(Against::Below),
        Err(_) if Path::new(text).is_file() => Ok(Against::Recording(text.into())),
        Err(_) => unfit(
            format!("`{text}` is neither a rate nor a recording"),
            "try 40Gb/s, below, or linerate/NAME.jsonl",
        ),
    }
}

/// `a=192.0.2.1`, `b=fe80::1%eth0`.
pub fn address(text: &str) -> Read<(HostId, HostAddress)> {
    const TRY: &str = "try b=192.0.2.7";
    match text.split_once('=') {
        None => unfit(format!("`{text}` has no `=`"), TRY),
        Some((name, address)) => match (name.parse(), address.parse::<HostAddress>()) {
            (Ok(host), Ok(address)) => Ok((host, address)),
            (Ok(HostId(_)), Err(error)) => unfit(error.what, error.hint),
            _ => unfit(format!("no host is called `{name}`"), "the hosts are called a, b and so on"),
        },
    }
}

/// `5201`, `5201-5210`.
pub fn ports(text: &str) -> Read<PortRange> {
    text.parse::<PortRange>().or_else(|error| unfit(error.to_string(), "try 5201 or 5201-5210"))
}

/// `b>a`: the host that listens.
pub fn connect(text: &str) -> Read<HostId> {
    match text {
        "a>b" => Ok(HostId(1)),
        "b>a" => Ok(HostId(0)),
        // The shell takes `>` for itself, and leaves an empty file of that name.
        "a" | "b" => unfit(format!("`{text}` is only half of it"), "quote it for the shell: --connect 'b>a'"),
        _ => unfit(format!("`{text}` does not say who connects to whom"), "try 'a>b' or 'b>a'"),
    }
}

/// `/scratch/me`, `b=~/scratch`.
pub fn remote_dir(text: &str) -> Read<(Option<HostId>, RemoteFolder)> {
    const TRY: &str = "try /scratch/me, or b=/scratch/me for one host";
    let (host, folder) = match text.split_once('=').filter(|_| !text.starts_with(['/', '~'])) {
        None => (None, text),
        Some((name, folder)) => match name.parse() {
            Ok(host) => (Some(host), folder),
            Err(_) => {
                return unfit(format!("no host is called `{name}`"), "the hosts are called a, b and so on");
            }
        },
    };
    match folder.parse() {
        Ok(folder) => Ok((host, folder)),
        Err(why) => unfit(format!("`{folder}` {why}"), TRY),
    }
}
