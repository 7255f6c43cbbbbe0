//! What an earlier run of the same plan measured on the same hosts, to which this one adds: `--onto RECORDING`, where the
//! plan is said anew, and `linerate resume`, where it is the recording's own.
//!
//! The file stays as it is: the new recording begins with what of it stands, and goes on from there.

use super::args::Run;
use super::report::read_recording;
use super::watch::warn;
use crate::plan::{Plan, Profile, Setting, Target};
use crate::record::{Addition, Event, Header, HostFacts, Recording};
use crate::schedule::{Choose, NoGoingOn, Resumable, continued, resumable};
use crate::state::{facts_hash, identity};
use crate::{Error, Result};
use jiff::Timestamp;
use std::path::Path;

/// An earlier run, and how this one adds to it.
pub struct Earlier {
    /// What of it stands.
    pub recording: Recording,
    /// Its first line.
    pub header: Header,
    /// Where this run goes on.
    pub addition: Addition,
    /// Whether it was completed, and so is in the history.
    pub was_complete: bool,
    /// How it was asked for: `--onto FILE`.
    said: String,
}

impl Earlier {
    /// Reads it, and sees that it is of this plan.
    pub fn read(path: &Path, plan: &Plan, args: &Run) -> Result<Earlier> {
        let said = format!("--onto {}", path.display());
        let (recording, header) = opened(path, &said)?;
        if let Some(what) = other_plan(&header.plan, plan) {
            let hint = format!("it was made by: {}", header.command.join(" "));
            return Err(refused(&said, &format!("it is of another plan: {what}"), &hint));
        }
        let was_complete = is_complete(&recording);
        let Resumable { recording, dropped } =
            resumable(&header.plan, &recording).map_err(|why| no_going_on(&said, &header, why))?;
        if let Some(pass) = dropped {
            warn(&format!("{} was cut within pass {pass}: that pass is measured again", path.display()));
        }
        let mut earlier = Earlier::going_on(recording, header, args.hosts.asked.line.clone(), said);
        earlier.was_complete = was_complete;
        (earlier.addition.passes, earlier.addition.budget_ns) = (args.passes, args.budget);
        Ok(earlier)
    }

    /// One that was cut, and goes on at the step at which it was.
    pub fn cut(path: &Path, line: Vec<String>, choose: Choose<'_>) -> Result<Earlier> {
        let said = path.display().to_string();
        let (recording, header) = opened(path, &said)?;
        let stands = continued(&header.plan, &recording, choose);
        let recording = stands.map_err(|why| no_going_on(&said, &header, why))?;
        Ok(Earlier::going_on(recording, header, line, said))
    }

    fn going_on(recording: Recording, header: Header, command: Vec<String>, said: String) -> Earlier {
        let now = Timestamp::now();
        let addition = Addition {
            utc: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command,
            after_steps: recording.steps.len() as u32,
            at_ns: since(&header, &recording, now),
            passes: None,
            budget_ns: None,
        };
        Earlier { recording, header, addition, was_complete: false, said }
    }

    /// The plan that both are of: that of the earlier one, with its seed.
    pub fn plan(&self) -> Plan {
        self.header.plan.clone()
    }

    /// Sees that the hosts are the same and as they were.
    pub fn check(&self, hosts: &[Event]) -> Result<()> {
        let now: Vec<&HostFacts> = hosts.iter().filter_map(facts).collect();
        let known = &self.recording.hosts;
        if known.len() != now.len() {
            let what = format!("it is of {} hosts, and here are {}", known.len(), now.len());
            return Err(refused(&self.said, &what, "name the same hosts"));
        }
        let differs = |(known, now): (&HostFacts, &&HostFacts)| {
            let found = SAME.iter().find(|(_, is)| is(known) != is(now))?;
            Some(format!("host {}: {}", known.host, found.0))
        };
        match known.iter().zip(&now).find_map(differs) {
            Some(what) => {
                Err(refused(&self.said, &what, "its numbers are of hosts as they were: begin anew"))
            }
            None => Ok(()),
        }
    }
}

/// A recording of ours, of this version, and its first line.
fn opened(path: &Path, said: &str) -> Result<(Recording, Header)> {
    let recording = read_recording(path)?;
    let Some(header) = recording.header.clone() else {
        return Err(refused(said, "it holds what another tool measured", "name a recording of `run`"));
    };
    let own = env!("CARGO_PKG_VERSION");
    if header.version != own {
        let what = format!("linerate {} made it, and this is {own}", header.version);
        return Err(refused(said, &what, "two versions may measure differently: begin anew"));
    }
    if header.plan_hash != header.plan.hash() {
        return Err(refused(said, "its plan is not the one that it was made by", "begin anew"));
    }
    // The hash is anybody's to compute: what is set is read as if it were typed.
    if let Some(setting) =
        header.plan.all_settings().find(|one| one.to_string().parse::<Setting>().as_ref() != Ok(*one))
    {
        return Err(refused(said, &format!("it sets {setting}, which cannot be set"), "begin anew"));
    }
    Ok((recording, header))
}

/// Whether it ended by itself.
fn is_complete(recording: &Recording) -> bool {
    recording.end.as_ref().is_some_and(|end| end.reason == "completed")
}

/// What tells of a host, in one word that can be compared.
type Fact = fn(&HostFacts) -> String;

/// What must be the same of each host, and what is said where it is not.
const SAME: &[(&str, Fact)] = &[
    ("another one has its name", |host| host.host.to_string()),
    ("it is another machine", |host| identity(host)),
    ("another version of linerate is there", |host| host.version.clone()),
    ("it may use other CPUs than it did", |host| format!("{:?}", host.cpus)),
    ("its kernel, its CPUs or its clock have changed", |host| facts_hash(host)),
    ("it can do other things than it could", |host| format!("{:?} {:?}", lacks(host), host.refused)),
];

fn lacks(host: &HostFacts) -> Vec<&str> {
    host.lacks.iter().map(|lack| lack.transport.as_str()).collect()
}

fn facts(event: &Event) -> Option<&HostFacts> {
    match event {
        Event::Host(facts) => Some(facts),
        _ => None,
    }
}

/// What differs between the plan of a recording and the one that was asked for, seed and time apart.
fn other_plan(known: &Plan, asked: &Plan) -> Option<String> {
    let profile = |plan: &Plan| {
        let Profile { passes, budget_ns, .. } = known.profile;
        Profile { passes, budget_ns, ..plan.profile.clone() }
    };
    let told = |what: &str, known: &dyn std::fmt::Display, asked: &dyn std::fmt::Display| {
        Some(format!("{what} {known}, and not {asked}"))
    };
    if known.target != asked.target {
        return told("its target is", &known.target, &asked.target);
    }
    if known.profile.name != asked.profile.name {
        return told("its profile is", &known.profile.name, &asked.profile.name);
    }
    let parts = [
        ("its hosts differ", known.hosts == asked.hosts),
        ("it measures something else", known.view == asked.view && known.arms == asked.arms),
        ("its message sizes differ, or its times", profile(known) == profile(asked)),
        ("its settings differ", known.settings == asked.settings),
    ];
    parts.iter().find(|(_, is_same)| !is_same).map(|(what, _)| (*what).to_owned())
}

/// Since the first run began. Of virtual time nothing has passed between, and a clock that was set back says nothing.
fn since(header: &Header, recording: &Recording, now: Timestamp) -> u64 {
    let end_ns = recording.steps.last().map_or(0, |step| step.at_ns.saturating_add(step.duration_ns));
    let is_virtual = matches!(header.plan.target, Target::Simulated(_));
    let begun = header.utc.parse::<Timestamp>().ok().filter(|_| !is_virtual);
    let passed = begun.and_then(|begun| u64::try_from(now.duration_since(begun).as_nanos()).ok());
    passed.map_or(end_ns, |ns| ns.max(end_ns))
}

fn no_going_on(said: &str, header: &Header, why: NoGoingOn) -> Error {
    let begin = || format!("begin anew: {}", header.command.join(" "));
    match why {
        NoGoingOn::NoWholePass => {
            let hint = "there is nothing to add to: leave out --onto; linerate resume goes on within a pass";
            refused(said, "not one of its passes is whole", hint)
        }
        NoGoingOn::OtherSteps(step) => {
            let what = format!("this program would have measured something else at its step {step}");
            refused(said, &what, "another build of linerate made it, or it was changed: begin anew")
        }
        NoGoingOn::NoStep => refused(said, "nothing was measured yet", &begin()),
        NoGoingOn::Complete if header.plan.screening().is_some() => {
            refused(said, "it is whole: nothing is left to measure", &begin())
        }
        NoGoingOn::Complete => refused(
            said,
            "it is whole: nothing is left to measure",
            "linerate run … --onto adds passes to it",
        ),
    }
}

fn refused(said: &str, what: &str, hint: &str) -> Error {
    Error::usage(format!("{said}: {what}"), hint)
}
