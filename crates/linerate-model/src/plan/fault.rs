//! A known fault that the user puts into a lab: `[HOST:|FROM-TO:]NAME[=VALUE]`.

mod check;
mod shape;

pub(super) use check::check;

use super::target::TargetError;
use super::{Setting, Topology};
use crate::unit::{BitRate, Bytes, Nanoseconds, Share, count, within};
use crate::vocabulary::{FAULTS, FaultEntry, FaultKind, FaultSite, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The fault's name.
    pub name: String,
    /// The value, checked against the fault's kind; empty where it takes none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The host, `b`, or the direction, `a-b`, that alone has it; none where the table says how many have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

impl Fault {
    /// Its line in the table; none of a fault that this version does not know.
    pub fn entry(&self) -> Option<&'static FaultEntry> {
        FaultEntry::named(&self.name)
    }

    /// Whether it acts on the network namespace of this host.
    pub fn is_on_host(&self, host: &str) -> bool {
        self.is_at(FaultSite::Host, host) || self.is_at(FaultSite::Hosts, host)
    }

    /// Whether it is a disk of this host.
    pub fn is_disk_of(&self, host: &str) -> bool {
        self.is_at(FaultSite::Disk, host)
    }

    /// Whether it bounds the programs on this host.
    pub fn is_of_programs_on(&self, host: &str) -> bool {
        self.is_at(FaultSite::Programs, host)
    }

    fn is_at(&self, site: FaultSite, host: &str) -> bool {
        let is_there = self.entry().is_some_and(|entry| entry.site == site);
        is_there && self.only.as_deref().is_none_or(|only| only == host)
    }

    /// Whether it acts on what goes from one host to another; the first host is the one that answers go to.
    pub fn is_on_way(&self, from: &str, to: &str, to_first: bool) -> bool {
        let site = self.entry().map(|entry| entry.site);
        match (self.only.as_deref().and_then(|only| only.split_once('-')), site) {
            (Some(way), Some(FaultSite::Wire | FaultSite::WayBack)) => way == (from, to),
            (None, Some(FaultSite::Wire)) => true,
            (None, Some(FaultSite::WayBack)) => to_first,
            _ => false,
        }
    }

    /// The value in its own type; none where it is not of that type.
    pub fn parsed<T: FromStr>(&self) -> Option<T> {
        self.value.parse().ok()
    }

    /// The share that is its value; none where that is none.
    pub fn share(&self) -> Option<f64> {
        self.parsed::<Share>().map(|share| share.0)
    }

    /// The CPU that is taken, and how much of it; none of a fault that takes none.
    pub fn cpu(&self) -> Option<(u32, f64)> {
        let is_cpu = self.entry().is_some_and(|entry| entry.kind == FaultKind::Cpu);
        is_cpu.then(|| cpu(&self.value).ok()).flatten()
    }
}

impl Topology {
    /// The settings that its faults stand for in a plan.
    pub fn settings(&self) -> Vec<Setting> {
        let of_fault = |fault: &Fault| match fault.entry().map(|entry| entry.site) {
            Some(FaultSite::Knobs(knobs)) => {
                knobs.iter().filter_map(|knob| knob.replace("{}", &fault.value).parse().ok()).collect()
            }
            _ => Vec::new(),
        };
        self.faults.iter().flat_map(of_fault).collect()
    }
}

impl FromStr for Fault {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let (named, value) = match text.split_once('=') {
            Some((named, value)) => (named, Some(value)),
            None => (text, None),
        };
        let (only, name) = match named.split_once(':') {
            Some((only, name)) => (Some(only), name),
            None => (None, named),
        };
        let entry = FaultEntry::named(name).ok_or_else(|| {
            let names = FAULTS.iter().map(|entry| entry.name);
            let hint = did_you_mean(names, name, "`linerate list faults` shows them");
            TargetError::new(format!("no fault is called `{name}`"), hint)
        })?;
        let value = value.unwrap_or(entry.default);
        if let Err(why) = check_value(entry.kind, value) {
            let given = if value.is_empty() { name.to_owned() } else { format!("{name}={value}") };
            let why = if why.is_empty() { why } else { format!("{why}; ") };
            let hint = format!("`linerate explain {name}` tells more");
            return Err(TargetError::new(format!("`{given}`: {why}it takes {}", wanted(entry.kind)), hint));
        }
        if let Some(only) = only {
            check::scope(entry, only)?;
        }
        Ok(Fault { name: name.into(), value: value.into(), only: only.map(String::from) })
    }
}

/// Why a value cannot be taken; empty where that is plain to see.
fn check_value(kind: FaultKind, value: &str) -> Result<(), String> {
    match kind {
        FaultKind::Plain if value.is_empty() => Ok(()),
        FaultKind::Plain => Err(String::new()),
        FaultKind::Bytes(least, most) => {
            within(value.parse(), Bytes(least), Bytes(most), |size| size).map(drop)
        }
        FaultKind::Duration(least, most) => {
            let [least, most] = [least, most].map(Nanoseconds);
            within(value.parse(), least, most, |time| time.rounded(1)).map(drop)
        }
        FaultKind::Rate(least, most) => {
            let [least, most] = [least, most].map(BitRate);
            within(value.parse(), least, most, |rate| rate.rounded(1)).map(drop)
        }
        FaultKind::Share(most) => some_share(value, most).map(drop),
        FaultKind::Count(least, most) => within(count(value), least, most, |count| count).map(drop),
        FaultKind::Cpu => cpu(value).map(drop),
    }
}

/// A share above nothing.
fn some_share(text: &str, most: f64) -> Result<f64, String> {
    match within(text.parse(), Share(0.0), Share(most), |share| share)?.0 {
        0.0 => Err("it is nothing".into()),
        share => Ok(share),
    }
}

fn wanted(kind: FaultKind) -> String {
    match kind {
        FaultKind::Plain => "no value".into(),
        FaultKind::Bytes(least, most) => format!("a size of {} to {}", Bytes(least), Bytes(most)),
        FaultKind::Duration(least, most) => {
            let [least, most] = [least, most].map(|time| Nanoseconds(time).rounded(1));
            format!("a time of {least} to {most}")
        }
        FaultKind::Rate(least, most) => {
            let [least, most] = [least, most].map(|rate| BitRate(rate).rounded(1));
            format!("a rate of {least} to {most}")
        }
        FaultKind::Share(most) => format!("a share above 0 and up to {} %", 100.0 * most),
        FaultKind::Count(least, most) => format!("a whole number from {least} to {most}"),
        FaultKind::Cpu => "a CPU and perhaps a share of it: 0 or 0/50%".into(),
    }
}

/// The numbers of CPUs.
const MOST_CPU: u64 = 1023;

/// `0`, or `0/50%` for half of it.
fn cpu(text: &str) -> Result<(u32, f64), String> {
    let (number, part) = text.split_once('/').unwrap_or((text, "100%"));
    let number = within(count(number), 0, MOST_CPU, |number| number)?;
    Ok((number as u32, some_share(part, 1.0)?))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(only) = &self.only {
            write!(f, "{only}:")?;
        }
        match self.value.as_str() {
            "" => f.write_str(&self.name),
            value => write!(f, "{}={value}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_printed() {
        for text in [
            "small-buffers=32KiB",
            "b:sack-off",
            "a-b:loss=0.5%",
            "b-a:asymmetric-delay=5ms",
            "cpu-hog=1/50%",
            "firewall-rules=20000",
        ] {
            assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
        }
        assert_eq!("loss".parse::<Fault>().unwrap().to_string(), "loss=1%");
        assert_eq!("slow-disk=200MB/s".parse::<Fault>().unwrap().parsed(), Some(BitRate(1.6e9)));
        assert_eq!("cpu-hog=1/50%".parse::<Fault>().unwrap().cpu(), Some((1, 0.5)));
    }

    #[test]
    fn every_default_and_every_knob_is_read() {
        for entry in FAULTS {
            let fault: Fault = entry.name.parse().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            let topology = Topology { faults: vec![fault], ..Topology::default() };
            let knobs = match entry.site {
                FaultSite::Knobs(knobs) => knobs.len(),
                _ => 0,
            };
            assert_eq!(topology.settings().len(), knobs, "{}", entry.name);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("los=1%", "did you mean `loss`?"),
            ("everything", "linerate list faults"),
            ("loss=51%", "up to 50 %"),
            ("loss=0", "above 0"),
            ("sack-off=on", "no value"),
            ("small-buffers=1", "4 KiB to 64 MiB"),
            ("policer=1Tb/s", "1 Mb/s to 400 Gb/s"),
            ("slow-disk=200MB", "200Mb/s is bits a second, 200MB/s bytes a second"),
            ("slow-disk=600MB/s", "more than 4 Gb/s"),
            ("jitter=5", "lacks its unit"),
            ("firewall-rules=1,000", "without `,`"),
            ("cpu-hog=4000", "more than 1023"),
            ("delay=6s", "to 5 s"),
            ("firewall-rules=0", "from 1 to 20000"),
            ("cpu-hog=0/101%", "0/50%"),
            ("b:loss=1%", "a-b:loss"),
            ("a-b:sack-off", "b:sack-off"),
            ("a-a:loss", "two hosts"),
            ("B:sack-off", "no host"),
            ("b:cpu-hog", "leave out `b:`"),
            ("b:slow-reader", "leave out `b:`"),
        ];
        for (text, part) in cases {
            let error = text.parse::<Fault>().unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_is_printed_and_read_again(
            fault in 0..FAULTS.len(), only in "(b:|a-b:|b-a:)?", value in "(=[0-9a-zA-Z/.%]{0,8})?",
        ) {
            if let Ok(fault) = format!("{only}{}{value}", FAULTS[fault].name).parse::<Fault>() {
                proptest::prop_assert_eq!(fault.to_string().parse(), Ok(fault));
            }
        }
    }
}
