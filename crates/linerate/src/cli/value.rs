//! Values of options: how they are read, what is said of those that do not fit, what a shell may offer.

use super::lab_file;
use crate::plan::sizes::LONGEST_MESSAGE;
use crate::plan::{
    HostId, LEAST_BLOCKS, PROFILES, Setting, SettingError, Suite, Target, TargetError, candidates, is_prefix,
    rungs_and_groups,
};
use crate::run::RemoteFolder;
use crate::unit::{Bytes, Nanoseconds};
use crate::vocabulary::{KNOBS, Knob, KnobKind, PRESETS, RUNGS, SUITES, TOOLS, did_you_mean};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsStr;
use std::net::IpAddr;
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
    let hint = did_you_mean(rungs_and_groups(), text, "`linerate list rungs` shows them");
    unfit(format!("no rung is called `{text}`"), hint)
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
    let kinds = ["lab", "simulated", "ssh://"].map(String::from);
    kinds.into_iter().chain(presets).collect()
});

fn one_target(text: &str) -> Read<Target> {
    let read = Target::read(text, &lab_file::text);
    read.map_err(|error: TargetError| Unfit { what: error.what, hint: error.hint })
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

/// A whole number within bounds.
pub fn count(low: u32, high: u32) -> impl Fn(&str) -> Read<u32> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => unfit(format!("`{text}` is not a whole number from {low} to {high}"), format!("try {low}")),
    }
}

/// How many blocks.
pub fn blocks() -> impl Fn(&str) -> Read<u32> + Clone + Send + Sync + 'static {
    count(LEAST_BLOCKS, 1000)
}

/// Any whole number.
pub fn seed(text: &str) -> Read<u64> {
    let wrong = |_| Unfit { what: format!("`{text}` is not a whole number"), hint: "try 1".into() };
    text.parse().map_err(wrong)
}

/// `64`, `1KiB`: a message size in bytes.
pub fn message_size(text: &str) -> Read<u64> {
    match text.parse::<Bytes>() {
        Ok(Bytes(bytes)) if (1..=LONGEST_MESSAGE).contains(&bytes) => Ok(bytes),
        _ => {
            unfit(format!("`{text}` is no message size from 1 B to {}", Bytes(LONGEST_MESSAGE)), "try 64KiB")
        }
    }
}

/// `1%` or `0.01`, at least 1 % and at most one half.
pub fn share(text: &str) -> Read<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    let share = share.filter(|share| (0.01..=0.5).contains(share));
    share.map_or_else(|| unfit(format!("`{text}` is not a share from 1% to 50%"), "try 2%"), Ok)
}

/// A time of at least a second.
pub fn budget(text: &str) -> Read<u64> {
    match text.parse::<Nanoseconds>() {
        Ok(time) if time.0 < 1e9 => unfit("a budget below 1s measures nothing", "try 60s"),
        Ok(time) => Ok(time.0 as u64),
        Err(_) => unfit(format!("`{text}` is not a time"), "try 60s or 10min"),
    }
}

/// `a=192.0.2.1`.
pub fn address(text: &str) -> Read<(HostId, IpAddr)> {
    const TRY: &str = "try b=192.0.2.7";
    match text.split_once('=') {
        None => unfit(format!("`{text}` has no `=`"), TRY),
        Some((name, address)) => match (name.parse(), address.parse()) {
            (Ok(host @ HostId(0 | 1)), Ok(address)) => Ok((host, address)),
            (Ok(HostId(0 | 1)), Err(_)) => unfit(format!("`{address}` is not an IP address"), TRY),
            _ => unfit(format!("no host is called `{name}`"), "the hosts are called a and b"),
        },
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
