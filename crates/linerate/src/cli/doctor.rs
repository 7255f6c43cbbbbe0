//! `linerate doctor`: what this host can do, what is missing, and how to get it.

use super::args::StateFolder;
use super::watch::warn;
use super::{print, state, traces};
use crate::Result;
use crate::lab;
use crate::observer::{Check, CheckState, doctor, environment, machine_id};
use crate::plan::HostId;
use crate::record::{HostFacts, UnavailableTransport};
use crate::run::this_program;
use crate::state::{CalibratedHost, Stored};
use crate::transport::foreign::library::{Found, ProcessEnvironment, libraries};
use crate::transport::{self, lacking};
use crate::vocabulary::LIBRARY_KINDS;
use jiff::Timestamp;
use std::process::ExitCode;

/// Prints every check; what is in order takes one line, what is not takes two more.
pub fn main(args: &StateFolder) -> Result<ExitCode> {
    let checks: Vec<Check> = lab_checks()?
        .into_iter()
        .chain(doctor())
        .chain(transports())
        .chain(message_libraries()?)
        .chain(calibrations(args))
        .collect();
    for check in &checks {
        print(&line(check))?;
    }
    let limited = checks.iter().filter(|check| check.state != CheckState::Ok).count();
    print(&format!("\n{} of {} checks are in order\n", checks.len() - limited, checks.len()))?;
    Ok(ExitCode::SUCCESS)
}

fn line(check: &Check) -> String {
    let mark = match check.state {
        CheckState::Ok => "ok     ",
        CheckState::Limited => "limited",
        CheckState::Missing => "missing",
    };
    let first = format!("{mark}  {:<28} {}\n", check.name, check.found);
    if check.state == CheckState::Ok {
        return first;
    }
    let more = |text: &str| if text.is_empty() { String::new() } else { format!("         {text}\n") };
    first + &more(&check.matters) + &more(&check.hint)
}

/// Builds a scratch lab: nothing tells better whether one can be built.
fn lab_checks() -> Result<Vec<Check>> {
    let check = |name: &str, ok: bool, found: &str, matters: &str, hint: &str| Check {
        name: name.into(),
        state: if ok { CheckState::Ok } else { CheckState::Missing },
        found: found.into(),
        matters: matters.into(),
        hint: hint.into(),
    };
    traces::begin()?.iter().for_each(|told| warn(told));
    let abilities = match lab::probe(&this_program()?) {
        Ok(abilities) => abilities,
        Err(error) => {
            let hint = error.hint().unwrap_or_default().to_owned();
            let matters = "without namespaces there is no `linerate run lab`; ssh:// targets work";
            return Ok(vec![check("lab", false, &error.to_string(), matters, &hint)]);
        }
    };
    let way = if abilities.user_namespace { "in a user namespace" } else { "as root" };
    Ok(vec![
        check("lab", true, &format!("two virtual hosts were built {way}"), "", ""),
        check(
            "lab: token bucket (tbf)",
            abilities.token_bucket,
            if abilities.token_bucket { "this kernel has it" } else { "not in this kernel" },
            "only lab:wire=tbf needs it: the program's own wire has rates without it",
            "load the module sch_tbf",
        ),
        check(
            "lab: netem",
            abilities.netem,
            if abilities.netem { "this kernel has it" } else { "not in this kernel" },
            "only lab:wire=netem needs it: the program's own wire delays and loses without it",
            "load the module sch_netem",
        ),
    ])
}

/// What this host has not: a line each. What only a session can tell is not known here.
fn transports() -> Vec<Check> {
    let (all, lacks) = (transport::transports().len(), lacking());
    let has = Check {
        name: "transports".into(),
        state: CheckState::Ok,
        found: format!("{} of {all} can be measured", all - lacks.len()),
        matters: String::new(),
        hint: String::new(),
    };
    let lack = |lack: UnavailableTransport| Check {
        name: format!("transport: {}", lack.transport),
        state: CheckState::Limited,
        found: lack.why,
        matters: "its rungs are not measured on this host".into(),
        hint: lack.hint,
    };
    [has].into_iter().chain(lacks.into_iter().map(lack)).collect()
}

/// Every message library of this host: what it is, or why it cannot be used.
fn message_libraries() -> Result<Vec<Check>> {
    let found = libraries(&this_program()?, &ProcessEnvironment::of_this_process());
    if found.is_empty() {
        return Ok(vec![Check {
            name: "message libraries".into(),
            state: CheckState::Limited,
            found: "none was found".into(),
            matters: "there is no message passing to be measured on this host".into(),
            hint: "install one: apt-get install openmpi-bin mpich".into(),
        }]);
    }
    Ok(found.iter().map(library_check).collect())
}

fn library_check(found: &Found) -> Check {
    let path = found.path.display();
    match &found.identity {
        Ok(identity) => {
            let version = Some(identity.version.clone()).filter(|version| !version.is_empty());
            let abi = identity.abi.as_ref().map(|abi| format!("ABI {abi}"));
            let told: Vec<String> = version.into_iter().chain(abi).chain([path.to_string()]).collect();
            let launcher = found.launcher.as_ref();
            let launcher = launcher.map_or(String::new(), |by| format!(", started by {}", by.display()));
            let needs_one =
                LIBRARY_KINDS.iter().any(|kind| kind.name == found.kind && !kind.launchers.is_empty());
            let is_whole = found.launcher.is_some() || !needs_one;
            Check {
                name: format!("library: {}", identity.name),
                state: if is_whole { CheckState::Ok } else { CheckState::Limited },
                found: format!("{}{launcher}", told.join(", ")),
                matters: if is_whole { String::new() } else { "no launcher of it is on the path".into() },
                hint: if is_whole { String::new() } else { "put the folder of its mpirun into PATH".into() },
            }
        }
        Err(why) => Check {
            name: format!("library: {}", found.kind),
            state: CheckState::Limited,
            found: format!("{path} {why}"),
            matters: "it is not measured".into(),
            hint: "does a program that is linked with it run? `linerate list mpi-abis` shows what is known"
                .into(),
        },
    }
}

/// What is known of this host: one line for each calibration that it has part in.
fn calibrations(args: &StateFolder) -> Vec<Check> {
    let check = |name: String, ok: bool, found: String| Check {
        name,
        state: if ok { CheckState::Ok } else { CheckState::Limited },
        found,
        matters: "without it a report cannot say how far equal runs lie apart".into(),
        hint: if ok { String::new() } else { "linerate calibrate".into() },
    };
    let Some(state) = state::folder(args) else {
        return vec![check("calibration".into(), false, "there is no home to keep one in".into())];
    };
    let here = this_host();
    let (stored, broken) = state.calibrations();
    let known = stored.iter().filter_map(|stored| {
        let old = stored.hosts.iter().find(|host| host.identity == here.identity)?;
        let is_fresh = old.facts_hash == here.facts_hash;
        let stale = if is_fresh { "" } else { ", stale: the kernel or the CPUs changed since" };
        let found = format!("{}{stale}", age(stored));
        let kind = stored.key.split('-').next().unwrap_or_default();
        Some(check(format!("calibration: {kind}"), is_fresh, found))
    });
    let broken = broken.iter().map(|error| check("calibration".into(), false, super::chain(error)));
    let mut checks: Vec<Check> = known.chain(broken).collect();
    if checks.is_empty() {
        checks.push(check("calibration".into(), false, "none of this host".into()));
    }
    checks
}

fn this_host() -> CalibratedHost {
    CalibratedHost::from_facts(&HostFacts {
        host: HostId::default(),
        reached: String::new(),
        address: None,
        address6: None,
        loopback6: false,
        machine: machine_id(),
        cpus: Vec::new(),
        version: String::new(),
        lacks: Vec::new(),
        unobserved: Vec::new(),
        refused: Vec::new(),
        environment: environment(),
    })
}

/// How old the latest part of a calibration is.
fn age(stored: &Stored) -> String {
    let dates = stored.runs.values().map(|runs| &runs.utc).chain(&stored.utc);
    let latest = dates.filter_map(|utc| utc.parse::<Timestamp>().ok()).max();
    let Some(latest) = latest else {
        return "of an unknown date".into();
    };
    let hours = (Timestamp::now().as_second() - latest.as_second()) / 3600;
    match hours {
        ..1 => "less than an hour old".into(),
        1..48 => format!("{hours} h old"),
        _ => format!("{} days old", hours / 24),
    }
}
