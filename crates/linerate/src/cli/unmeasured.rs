//! Commands that use the hosts of a run and record nothing: a transfer, a trace.

use super::args::{CommandLine, Hosts, Keep, StateFolder};
use super::planned_hosts::two_hosts;
use super::reach::Reach;
use super::run::{once, settings};
use super::watch::Watching;
use crate::plan::{Plan, Profile, Rungs, Setting, Target, View};
use crate::vocabulary::{Had, Knob, OF_CONNECTIONS};
use crate::{Error, Result};
use std::path::PathBuf;

/// The rung whose addresses the connections have.
const RUNG: &str = "network.tcp";

/// The hosts as commands that measure are told them.
pub fn hosts(target: Target, reach: &Reach, quiet: bool) -> Hosts {
    Hosts {
        target,
        only: Vec::new(),
        skip: Vec::new(),
        // Nothing is visited in an order.
        seed: Some(0),
        faults: Vec::new(),
        reach: reach.clone(),
        output: PathBuf::new(),
        watching: Watching { quiet, live: false, json: false },
        state: StateFolder { folder: None },
        asked: CommandLine::default(),
        keep: Keep::default(),
    }
}

/// What the hosts of one connection are told: a setting that nothing of it heeds is refused, `also` are those that this command heeds.
pub fn plan_of_connection(hosts: &Hosts, set: &[Setting], also: &[&str]) -> Result<Plan> {
    let plan = plan(hosts, set)?;
    let in_lab = matches!(plan.target, Target::Lab(_));
    let heeds = |setting: &Setting| {
        let had = Knob::named(&setting.knob).map(|knob| knob.had);
        let of_lab = matches!(had, Some(Had::Links | Had::Filter | Had::FilterTried | Had::Host));
        let name = setting.knob.as_str();
        OF_CONNECTIONS.contains(&name) || also.contains(&name) || of_lab && in_lab
    };
    match plan.settings.iter().find(|setting| !heeds(setting)) {
        None => Ok(plan),
        Some(setting) => Err(Error::usage(
            format!("{setting} does nothing to the connection of this command"),
            format!(
                "it heeds socket. and tcp. knobs, without the engines{}, and in a lab link., filter. and host. too: linerate list knobs",
                also.iter().map(|name| format!(", {name}")).collect::<String>()
            ),
        )),
    }
}

/// What the hosts are told that are reached.
pub fn plan(hosts: &Hosts, set: &[Setting]) -> Result<Plan> {
    once("--set", set)?;
    let profile = Profile::named("quick").ok_or_else(|| Error::usage("no profile is called `quick`", ""))?;
    Ok(Plan {
        target: hosts.target.clone(),
        hosts: two_hosts(hosts)?,
        profile,
        view: View::Ladder(Rungs::named([RUNG])),
        settings: settings(&hosts.target, set)?,
        arms: Vec::new(),
        seed: 0,
        budget_ns: None,
    })
}
