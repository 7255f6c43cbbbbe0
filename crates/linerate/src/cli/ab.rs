//! `linerate ab`: candidates against the plan as it stands, from the arguments to the verdict.

mod application;

use super::args::{Ab, Hosts};
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::two_hosts;
use super::recorder::Recorder;
use super::report::{columns, render};
use super::run::{once, rungs, settings};
use super::watch::lines;
use super::{farewell, print, settle, verdict_code};
use crate::analysis::{Verdict, compare_arms, has_failed};
use crate::plan::{
    Application, Arm, Carrier, Comparison, Metric, Plan, Profile, Rungs, Setting, SettingError, Target, View,
};
use crate::schedule::schedule_of;
use crate::vocabulary::{Knob, RUNGS, Rung};
use crate::vocabulary::{LADDER_BYTES, LATENCY_BYTES};
use crate::{Error, Result};
use std::process::ExitCode;

/// How long one trial lasts, and how long a stream runs before the first of a visit.
const TRIAL_NS: u64 = 15_000_000;
const WARM_UP_NS: u64 = 500_000_000;

/// A wire of this machine without a rate has no path to probe and no burst to spend.
const LAB_WARM_UP_NS: u64 = 5_000_000;

/// There a connection costs next to nothing: so many of each arm in a block.
const LAB_CONNECTIONS: u32 = 6;

/// A wire with a rate carries few messages in a short trial.
const RATED_TRIAL_NS: u64 = 100_000_000;

/// The knob that the positive control is made of.
const SLOWDOWN: &str = "shim.slowdown";

/// Measures, prints the report, and answers with the verdict's code.
pub fn main(args: &Ab) -> Result<ExitCode> {
    let on = args.application.as_deref().and_then(Application::named);
    let comparison = Comparison {
        metric: application::metric(on, args.metric.as_ref())?,
        blocks: args.blocks,
        extend: !args.no_extend,
        margin: args.margin,
        // Each visit of an application has connections of its own.
        connections: if on.is_some() { 1 } else { connections(&args.hosts.target) },
        adaptive: false,
        against_bps: None,
        hosts: false,
    };
    let (run, ended) = measure(&plan(args, comparison)?, &args.hosts, schedule_of)?;
    reported(&run, ended, args.hosts.watching.json, &args.format)
}

/// Prints the report, and answers with the verdict's code.
pub fn reported(run: &Recorder, ended: Result<()>, json: bool, format: &str) -> Result<ExitCode> {
    if ended.is_ok() && run.recording.steps.is_empty() {
        let nothing = || Error::unavailable("this rung has no such metric", "try --metric");
        // Of an only candidate that cannot be had the reason is its own.
        let own = || {
            let not = run.recording.unavailable.first()?;
            Some(Error::unavailable(not.reason.why.clone(), not.reason.hint.clone()))
        };
        return Err(why_nothing(&run.recording).or_else(own).unwrap_or_else(nothing));
    }
    let ended = finished(&run.recording, ended)?;
    match json {
        true => lines::report(&run.path, &run.recording)?,
        false => shown(run, format)?,
    }
    let verdict = compare_arms(&run.recording).map_or(Verdict::CannotTell, |compared| compared.verdict);
    match run.unless_stopped(ended) {
        Ok(()) if !has_failed(&run.recording) => Ok(verdict_code(verdict)),
        ended => settle(&run.recording, ended),
    }
}

/// Connections of each arm in a block.
pub fn connections(target: &Target) -> u32 {
    match target {
        Target::Lab(topology) if topology.carrier() == Carrier::Cable => LAB_CONNECTIONS,
        Target::Simulated(_) => LAB_CONNECTIONS,
        Target::Lab(_) | Target::Ssh(_) | Target::Launched(_) => 1,
    }
}

/// Prints the report; the recording's place only for people.
pub fn shown(run: &Recorder, format: &str) -> Result<()> {
    print(&render(&run.recording, format, columns())?)?;
    if format == "text" {
        print(&format!("\n{}\n", run.path.display()))?;
    }
    farewell();
    Ok(())
}

/// The plan that the arguments ask for.
fn plan(args: &Ab, comparison: Comparison) -> Result<Plan> {
    let on = args.application.as_deref().and_then(Application::named);
    let usual = on.filter(|_| args.hosts.only.is_empty()).map(|_| application::RUNG.to_owned());
    let rung = rung(args.rung.as_ref().or(usual.as_ref()), &args.hosts, args.blocks)?;
    let mut arms: Vec<Arm> = Vec::new();
    for settings in args.set.iter().flat_map(|set| &set.0) {
        let arm = Arm::candidate(settings.clone());
        if arms.contains(&arm) {
            return Err(Error::usage(format!("{} is given twice", arm.name), "name each candidate once"));
        }
        arms.push(arm);
    }
    arms.iter().try_for_each(|arm| once("--set", &arm.settings))?;
    once("--base", &args.base)?;
    let controls = controls(&args.base)?;
    if on.is_none() {
        arms.iter().flat_map(|arm| &arm.settings).try_for_each(|setting| applies(setting, rung))?;
        controls.iter().flat_map(|arm| &arm.settings).try_for_each(|setting| can_control(setting, rung))?;
    }
    arms.extend(controls);
    let target = &args.hosts.target;
    let mut plan = Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: Profile { sizes: sizes(args.size, comparison.metric), ..profile(target, args.blocks) },
        view: View::Comparison {
            rungs: Rungs::named([rung.id]),
            design: comparison.clone(),
            application: None,
        },
        settings: settings(target, &args.base)?,
        arms,
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: None,
    };
    if let Some(on) = on {
        application::put_into(&mut plan, on, rung, comparison, args)?;
    }
    Ok(plan)
}

/// The two controls; what they are made of is not the base's.
pub fn controls(base: &[Setting]) -> Result<[Arm; 2]> {
    if let Some(setting) = base.iter().find(|setting| setting.knob == SLOWDOWN) {
        let what = format!("--base {setting}: the positive control is made of it");
        return Err(Error::usage(what, "slow the base by shim.spin=20us instead"));
    }
    Arm::controls().map_err(|e: SettingError| Error::usage(e.what, e.hint))
}

/// How wide an interval of one arm may be; what decides is the comparison's own.
const TARGET: f64 = 0.05;

/// A small message for latency, a large one for throughput, and short trials.
pub fn profile(target: &Target, blocks: u32) -> Profile {
    let (trial_ns, warm_up_ns) = match target {
        Target::Lab(topology) if topology.shape.rate.is_some() || !topology.ports.is_empty() => {
            (RATED_TRIAL_NS, WARM_UP_NS)
        }
        Target::Lab(_) | Target::Simulated(_) => (TRIAL_NS, LAB_WARM_UP_NS),
        Target::Ssh(_) | Target::Launched(_) => (TRIAL_NS, WARM_UP_NS),
    };
    Profile {
        name: "ab".into(),
        sizes: vec![LATENCY_BYTES, LADDER_BYTES],
        passes: blocks,
        trial_ns,
        warm_up_ns,
        timeline_ns: 0,
        budget_ns: 0,
        throughput_target: TARGET,
        latency_target: TARGET,
        parallel_both_ways: false,
        forward_only: false,
        ipv6: true,
        whole_siblings: false,
    }
}

/// The small message of latency and the large one of throughput; one of them is the program's own, where it says which.
pub fn sizes(size: Option<u64>, metric: Metric) -> Vec<u64> {
    match (size, metric) {
        (None, _) => vec![LATENCY_BYTES, LADDER_BYTES],
        (Some(size), Metric::Latency) => vec![size, size.max(LADDER_BYTES)],
        (Some(size), _) => vec![size.min(LATENCY_BYTES), size],
    }
}

/// The topmost rung that is asked for and has two ends.
pub fn rung(named: Option<&String>, hosts: &Hosts, blocks: u32) -> Result<&'static Rung> {
    let named: Vec<String> = named.into_iter().cloned().collect();
    let only = if named.is_empty() { &hosts.only } else { &named };
    let asked = rungs(&profile(&hosts.target, blocks), only, &hosts.skip)?;
    // Which engine a rung has is what is compared, or holds for all arms.
    let able = |rung: &&Rung| {
        asked.iter().any(|id| id == rung.id) && rung.transport.ends == 2 && !rung.chooses_engine()
    };
    // A rung that stands beside the ladder is compared when it is named.
    let ladder = RUNGS.iter().rev().filter(|rung| !rung.sibling).find(able);
    let found = ladder.or_else(|| RUNGS.iter().rev().find(able));
    found.ok_or_else(|| {
        Error::usage(
            "no rung with two ends is left to compare on",
            "try --rung network.tcp or --rung in-host.tcp",
        )
    })
}

/// Without its slowed control a comparison shows nobody that it would have found a difference.
fn can_control(setting: &Setting, rung: &Rung) -> Result<()> {
    applies(setting, rung).map_err(|_| {
        Error::usage(
            format!(
                "nothing can be proved on {}: the control that is slowed on purpose does not act there",
                rung.id
            ),
            "compare two runs of each with `linerate compare`, or a plan file whose case has `vary`",
        )
    })
}

/// A candidate that cannot touch the rung would be found the same, which is true and useless.
pub fn applies(setting: &Setting, rung: &Rung) -> Result<()> {
    let knob = Knob::named(&setting.knob);
    let serves = knob.is_none_or(|knob| knob.acts_on(rung.transport.name));
    if serves && setting.applies_to(rung.id) {
        return Ok(());
    }
    Err(Error::usage(
        format!("{setting} does nothing on {}", rung.id),
        "choose another rung with --rung; `linerate list` shows them",
    ))
}
