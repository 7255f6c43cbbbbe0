//! `linerate run`: the ladder, from the arguments to the report.

use super::args::{Hosts, Run};
use super::measure::{finished, measure_onto};
use super::onto::Earlier;
use super::planned_hosts::two_hosts;
use super::recorder::Recorder;
use super::report::{columns, write_page};
use super::state::remember;
use super::suite;
use super::watch::lines;
use super::{farewell, print, settle};
use crate::plan::{Arm, Plan, Profile, Rungs, Setting, SettingError, Target, View, said_twice, sizes};
use crate::report::text;
use crate::schedule::schedule_of;
use crate::vocabulary::{Engine, RUNGS, Rung};
use crate::{Error, Result};
use std::process::ExitCode;

/// Measures, prints the report, and says how it ended.
pub fn main(args: &Run) -> Result<ExitCode> {
    let set: Vec<Setting> = args.set.iter().chain(&args.mpi).cloned().collect();
    once("--set", &set)?;
    let mut plan = plan(&args.hosts, &set, &args.profile, args.budget)?;
    if !args.sizes.is_empty() {
        plan.profile.sizes = sizes::stated_and(&args.sizes);
    }
    let files = args.plans.iter().map(|path| suite::of_file(path)).collect::<Result<Vec<_>>>()?;
    let suites = suite::of_figures([args.suites.clone(), files].concat(), &args.figures)?;
    suite::put_into(&mut plan, suites, &args.hosts)?;
    let earlier = args.onto.as_ref().map(|path| Earlier::read(path, &plan, args)).transpose()?;
    let is_known = earlier.as_ref().is_some_and(|earlier| earlier.was_complete);
    if let Some(earlier) = &earlier {
        plan = earlier.plan();
    } else if let Some(passes) = args.passes {
        plan.profile = Profile { passes, budget_ns: 0, ..plan.profile };
    }
    let (run, ended) = measure_onto(&plan, &args.hosts, earlier, schedule_of)?;
    // The history has an earlier run that was whole.
    reported(&run, ended, &Shown { hosts: &args.hosts, page: !args.no_page, is_new: !is_known })
}

/// What is shown of a run that is over.
pub struct Shown<'a> {
    pub hosts: &'a Hosts,
    /// Whether a page is written beside the recording.
    pub page: bool,
    /// Whether the history does not have it yet.
    pub is_new: bool,
}

/// Prints the report, and says how the run ended.
pub fn reported(run: &Recorder, ended: Result<()>, shown: &Shown<'_>) -> Result<ExitCode> {
    let ended = finished(&run.recording, ended)?;
    if shown.is_new {
        remember(shown.hosts, &run.recording, &run.path);
    }
    // After a failure there is something more urgent to say, and `linerate report` can make the page later.
    let wanted = shown.page && matches!(ended, Ok(()) | Err(Error::Interrupted));
    let page = wanted.then(|| write_page(&run.recording, &run.path)).flatten();
    if shown.hosts.watching.json {
        lines::report(&run.path, &run.recording)?;
        return settle(&run.recording, run.unless_stopped(ended));
    }
    print(&text(&run.recording, columns()))?;
    let page = page.map_or(String::new(), |page| format!("{}\n", page.display()));
    print(&format!("\n{page}{}\n", run.path.display()))?;
    farewell();
    settle(&run.recording, run.unless_stopped(ended))
}

/// The plan that the arguments ask for.
pub fn plan(args: &Hosts, set: &[Setting], profile: &str, budget_ns: Option<u64>) -> Result<Plan> {
    let profile = Profile::named(profile)
        .ok_or_else(|| Error::usage(format!("no profile is called `{profile}`"), ""))?;
    let settings = settings(&args.target, set)?;
    let ids = rungs(&profile, &args.only, &args.skip)?;
    let arms = engines(&ids)?;
    Ok(Plan {
        target: args.target.clone(),
        hosts: two_hosts(args)?,
        view: View::Ladder(Rungs { ids, named: !args.only.is_empty() }),
        profile,
        settings,
        arms,
        seed: args.seed.unwrap_or_else(rand::random),
        budget_ns,
    })
}

/// The engines of which one is chosen for a rung, as arms.
fn engines(ids: &[String]) -> Result<Vec<Arm>> {
    let choosing = ids.iter().filter_map(|id| Rung::named(id));
    let arm = |engine: &Engine| -> Result<Arm> {
        let read: std::result::Result<Vec<Setting>, SettingError> =
            engine.settings.iter().map(|text| text.parse()).collect();
        let settings = read.map_err(|error| Error::usage(error.what, error.hint))?;
        Ok(Arm { name: engine.name.into(), settings, ..Arm::default() })
    };
    choosing.flat_map(|rung| rung.engines).map(arm).collect()
}

/// No knob is set twice by the same option.
pub fn once(option: &str, set: &[Setting]) -> Result<()> {
    said_twice(set).map_or(Ok(()), |twice| Err(Error::usage(format!("{option}: {}", twice.what), twice.hint)))
}

/// The settings, and what holds on such a target without them.
pub fn settings(target: &Target, set: &[Setting]) -> Result<Vec<Setting>> {
    // What is set by hand comes last, and so it holds.
    let of_faults = match target {
        Target::Lab(topology) => topology.settings(),
        _ => Vec::new(),
    };
    let mut settings = [of_faults, set.to_vec()].concat();
    let chosen = settings.iter().any(|setting| setting.knob == "tcp.congestion-control");
    if matches!(target, Target::Lab(_)) && !chosen {
        // The lab's hosts are ours: they do not inherit this machine's default, which may be one
        // that cannot pace itself here.
        settings.insert(
            0,
            "tcp.congestion-control=cubic".parse::<Setting>().map_err(|e| Error::usage(e.what, e.hint))?,
        );
    }
    Ok(settings)
}

/// The rungs whose name or prefix is in `only` (those of the profile when it is empty) and not in `skip`.
pub fn rungs(profile: &Profile, only: &[String], skip: &[String]) -> Result<Vec<String>> {
    let named = |list: &[String], id: &str| list.iter().any(|name| crate::plan::is_prefix(name, id));
    let wanted = |rung: &Rung| match only {
        [] => profile.measures(rung),
        // A group means what is measured without being asked for; the others want their whole name.
        _ if rung.on_request => only.iter().any(|name| name == rung.id),
        _ => named(only, rung.id),
    };
    let rungs = RUNGS.iter().filter(|rung| wanted(rung) && !named(skip, rung.id));
    let rungs: Vec<String> = rungs.map(|rung| rung.id.to_owned()).collect();
    if rungs.is_empty() {
        Err(Error::usage(
            "no rung is left to measure",
            "leave out --skip, or name a rung: --only network.tcp",
        ))
    } else {
        Ok(rungs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_on_request_takes_its_full_name() {
        let profile = Profile::named("thorough").unwrap();
        let of =
            |only: &[&str]| rungs(&profile, &only.iter().map(ToString::to_string).collect::<Vec<_>>(), &[]);
        let has = |only: &[&str], id: &str| of(only).unwrap().iter().any(|rung| rung == id);
        for id in RUNGS.iter().filter(|rung| rung.on_request).map(|rung| rung.id) {
            assert!(has(&[id, "network.tcp"], id) && has(&[id], id), "{id}");
            let is_chosen = Rung::named(id).is_some_and(|rung| rung.chooses_engine());
            assert!(has(&[], id) == is_chosen && !has(&["network", "in-host"], id), "{id}");
        }
        let quick = Profile::named("quick").unwrap();
        assert!(!rungs(&quick, &[], &[]).unwrap().contains(&"network.tcp-best".to_owned()));
        assert!(has(&["network"], "network.udp6"));
    }
}
