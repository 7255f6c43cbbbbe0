//! A comparison on an application: its plan, and which of the settings do something to it.

use crate::cli::args::Ab;
use crate::cli::planned_hosts::first_hosts;
use crate::plan::{Application, Case, Comparison, Metric, Plan, Rungs, Setting, View};
use crate::unit::Bytes;
use crate::vocabulary::{Knob, Place, RUNGS, Rung, TRANSPORTS};
use crate::{Error, Result};
use std::collections::BTreeSet;

/// How long a trial lasts: several units of work of the slowest application.
const TRIAL_NS: u64 = 100_000_000;

/// What is carried where nothing is said.
pub const RUNG: &str = "network.tcp";

/// What decides: the application's own first metric, or the one that is asked for.
pub fn metric(application: Option<&Application>, asked: Option<&String>) -> Result<Metric> {
    let able: Vec<Metric> = match application {
        Some(application) => application.metrics().collect(),
        None => vec![Metric::Throughput, Metric::Latency],
    };
    let Some(asked) = asked else { return Ok(able.first().copied().unwrap_or(Metric::Throughput)) };
    let found = Metric::named(asked).filter(|metric| able.contains(metric));
    let names: Vec<String> = able.iter().map(Metric::to_string).collect();
    let what = application.map_or("a rung's streams and round trips tell", |_| "this application tells");
    found.ok_or_else(|| {
        let has_it = |one: &&Application| one.metrics().any(|metric| metric.to_string() == *asked);
        let other = crate::plan::APPLICATIONS.iter().find(has_it).filter(|_| application.is_none());
        let also = other.map_or(String::new(), |one| format!("; or --application {}", one.name));
        Error::usage(
            format!("--metric {asked}: {what} no such number"),
            format!("take {}{also}", names.join(" or ")),
        )
    })
}

/// Makes a plan of arms one of this application, over a rung and on all hosts.
pub fn put_into(
    plan: &mut Plan,
    application: &Application,
    rung: &'static Rung,
    design: Comparison,
    args: &Ab,
) -> Result<()> {
    let bytes = args.size.unwrap_or(application.bytes);
    if let Some((least, most, what)) = application.pattern.entry().messages
        && !(least..=most).contains(&bytes)
    {
        let [least, most] = [least, most].map(Bytes);
        let what = format!("--size {}: {what} have from {least} to {most}", Bytes(bytes));
        return Err(Error::usage(
            what,
            format!("--size {}", Bytes(application.bytes).to_string().replace(' ', "")),
        ));
    }
    let all = plan.target.hosts();
    plan.hosts = first_hosts(&args.hosts, all)?;
    if all > 2 && args.hosts.reach.connect.is_some() {
        let what = format!("--connect is between two hosts, and {} is on all {all}", application.name);
        return Err(Error::usage(what, "leave it out, or name two hosts"));
    }
    // What carries the plan as it stands comes first.
    let mut rungs = Vec::new();
    for arm in 0..=plan.arms.len() as u32 {
        let carrier = carrier(plan, application, rung, arm)?;
        let added = plan.arms.get((arm as usize).wrapping_sub(1)).map_or(&args.base, |arm| &arm.settings);
        added.iter().try_for_each(|setting| applies(setting, application, carrier))?;
        rungs.extend(Some(carrier.id).filter(|id| !rungs.contains(id)));
    }
    let suite = application.suite(rung, Some(bytes)).map_err(|error| Error::usage(error.what, error.hint))?;
    plan.profile.sizes = vec![bytes];
    plan.profile.trial_ns = plan.profile.trial_ns.max(TRIAL_NS);
    plan.view = View::Comparison { rungs: Rungs::named(rungs), design, application: Some(Box::new(suite)) };
    Ok(())
}

/// What carries it in an arm.
fn carrier(plan: &Plan, application: &Application, own: &'static Rung, arm: u32) -> Result<&'static Rung> {
    let case = Case { rung: own.id.into(), pattern: application.pattern, arm, ..Case::default() };
    let rung = match plan.asked_carrier(&case) {
        None => own,
        Some(name) => plan.carrier(&case).ok_or_else(|| {
            let place = if own.place == Place::Network { "between hosts" } else { "within a host" };
            let is_there = |rung: &&Rung| {
                (rung.place, rung.family) == (own.place, own.family) && rung.transport.carries(case.pattern)
            };
            let names: BTreeSet<&str> =
                RUNGS.iter().filter(is_there).map(|rung| rung.transport.name).collect();
            let names: Vec<&str> = names.into_iter().collect();
            let what = format!("{} over {name}: nothing is carried so {place}", application.name);
            Error::usage(what, format!("take one of {}", names.join(", ")))
        })?,
    };
    if rung.transport.carries(application.pattern) {
        return Ok(rung);
    }
    let able = TRANSPORTS.iter().filter(|entry| entry.carries(application.pattern)).map(|entry| entry.name);
    let what = format!("{} carries no {}", rung.id, application.name);
    Err(Error::usage(what, format!("a rung of {}: --rung {RUNG}", able.collect::<Vec<_>>().join(", "))))
}

/// A setting that cannot touch it would be found to change nothing, which is true and useless.
fn applies(setting: &Setting, application: &Application, rung: &Rung) -> Result<()> {
    let knob = Knob::named(&setting.knob);
    let acts = knob.is_none_or(|knob| application.has_knob(knob, rung));
    if acts && setting.applies_to(rung.id) {
        return Ok(());
    }
    let (what, name) =
        (format!("{setting} does nothing to {} over {}", application.name, rung.id), application.name);
    let own: Vec<&str> = application.own_knobs().collect();
    Err(Error::usage(
        what,
        format!("knobs of {name} are {}; `linerate list knobs` shows all", own.join(", ")),
    ))
}
