//! `--fault`: known faults that are put into a lab, and into nothing else.

use super::value::{AskedTarget, Offering, Read, Unfit};
use crate::plan::{Fault, Target};
use crate::vocabulary::FAULTS;
use crate::{Error, Result};

/// One fault, with or without a place and a value.
pub fn faults() -> Offering<fn(&str) -> Read<Fault>> {
    Offering { parser: parse_fault, offers: || FAULTS.iter().map(|entry| entry.name).collect() }
}

fn parse_fault(text: &str) -> Read<Fault> {
    text.parse().map_err(|error: crate::plan::TargetError| Unfit { what: error.what, hint: error.hint })
}

/// A target with these faults.
pub fn with_faults(target: &Target, faults: &[Fault]) -> Result<Target> {
    match (target, faults) {
        (target, []) => Ok(target.clone()),
        (Target::Lab(topology), faults) => {
            let topology = topology.clone().with_faults(faults.iter().cloned());
            topology.map(Target::Lab).map_err(|error| Error::usage(error.what, error.hint))
        }
        (target, [first, ..]) => {
            let what = format!("--fault {first}: faults are put into a lab, and {target} is none");
            Err(Error::usage(what, format!("try lab --fault {first}")))
        }
    }
}

/// What was asked for, in the words of who asked.
pub fn as_asked(target: &AskedTarget, faults: &[Fault]) -> String {
    faults.iter().fold(target.text.clone(), |said, fault| format!("{said} --fault {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_gets_its_faults_and_nothing_else_does() {
        let faults: Vec<Fault> = ["loss=2%", "b:sack-off"].map(|text| text.parse().unwrap()).into();
        let target = with_faults(&"lab:fault=delay=1ms".parse().unwrap(), &faults).unwrap();
        let asked = AskedTarget { target: target.clone(), text: "lab:rate=200Mb/s".into() };
        assert_eq!(as_asked(&asked, &faults), "lab:rate=200Mb/s --fault loss=2% --fault b:sack-off");
        assert_eq!(target.to_string(), "lab:hosts=2,mtu=1500,fault=delay=1ms,fault=loss=2%,fault=b:sack-off");
        for (text, part) in [("ssh://b", "is none"), ("simulated", "is none"), ("lab:fault=loss", "the same")]
        {
            let error = with_faults(&text.parse().unwrap(), &faults).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
        assert!(with_faults(&"ssh://b".parse().unwrap(), &[]).is_ok());
    }
}
