//! `linerate resume`: a run that was cut goes on where it was, by the plan, the seed and the options of its recording.

use super::args::{CommandLine, Hosts, Keep, Resume};
use super::measure::measure_onto;
use super::onto::Earlier;
use super::reach::Reach;
use super::run::Shown;
use super::{ab, command, diagnose, matrix, run, tune};
use crate::diagnosis::suspects;
use crate::plan::{Plan, Target, View};
use crate::record::Header;
use crate::schedule::search_of;
use crate::unit::counted;
use crate::vocabulary::{Knob, KnobKind};
use crate::{Error, Result};
use clap::FromArgMatches;
use std::path::Path;
use std::process::ExitCode;

/// Measures what is left, prints the report, and says how it ended.
pub fn main(args: &Resume) -> Result<ExitCode> {
    let choose = |plan: &Plan, recording: &_| search_of(plan, recording, suspects);
    let line: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let earlier = Earlier::cut(&args.file, line.clone(), &choose)?;
    let reach = reach(&earlier.header)?;
    let beyond = beyond_measuring(&earlier.header.plan, &reach)?;
    if !args.trust && !beyond.is_empty() {
        let what = format!("{}: it {}", args.file.display(), beyond.join("; it "));
        return Err(Error::usage(what, "where that is what you want: linerate resume --trust RECORDING"));
    }
    let plan = earlier.plan();
    let beside = args.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let hosts = Hosts {
        target: plan.target.clone(),
        only: Vec::new(),
        skip: Vec::new(),
        seed: Some(plan.seed),
        faults: Vec::new(),
        reach,
        output: args.output.clone().unwrap_or_else(|| beside.to_owned()),
        watching: args.watching,
        state: args.state.clone(),
        asked: CommandLine { line, defaults: None },
        keep: Keep::Nothing,
    };
    if !args.watching.quiet && !args.watching.json {
        let steps = counted(earlier.recording.steps.len(), "step");
        super::tell(&format!("{steps} of {} are on record: {}", args.file.display(), plan.target));
    }
    let (recorder, ended) = measure_onto(&plan, &hosts, Some(earlier), choose)?;
    let (json, format) = (args.watching.json, args.format.as_str());
    match &plan.view {
        View::Ladder(_) | View::Suites(_) => {
            let shown = Shown { hosts: &hosts, page: !args.no_page, is_new: true };
            run::reported(&recorder, ended, &shown)
        }
        View::Comparison { design, .. } if design.adaptive => {
            diagnose::reported(&recorder, ended, json, format)
        }
        View::Comparison { .. } => ab::reported(&recorder, ended, json, format),
        View::Tuning { .. } => tune::reported(&recorder, ended, json, format),
        View::Matrix { .. } => matrix::reported(&recorder, ended, json, format, !args.no_page),
    }
}

/// How the hosts were reached: what the recorded command line says of it. A lab is built anew, whatever file it is of.
fn reach(header: &Header) -> Result<Reach> {
    if matches!(header.plan.target, Target::Lab(_) | Target::Simulated(_)) {
        return usual();
    }
    let unread = |why: &dyn std::fmt::Display| {
        let what = format!("its command line cannot be read: {why}");
        Error::usage(what, "linerate run … --onto says the way to the hosts anew")
    };
    let known = command::command().try_get_matches_from(&header.command);
    let known = known.map_err(|error| unread(&error.kind()))?;
    let (_, of_command) = known.subcommand().ok_or_else(|| unread(&"no command"))?;
    Reach::from_arg_matches(of_command).map_err(|error| unread(&error.kind()))
}

/// How hosts are reached where nothing is said.
fn usual() -> Result<Reach> {
    let known = command::command().try_get_matches_from(["linerate", "run", "lab"]).ok();
    let reach = known.and_then(|known| Reach::from_arg_matches(known.subcommand()?.1).ok());
    reach.ok_or_else(|| Error::usage("the usual way to hosts cannot be told", ""))
}

/// What would be done that a recording from anywhere should not have done.
fn beyond_measuring(plan: &Plan, reach: &Reach) -> Result<Vec<String>> {
    let usual = usual()?;
    let mut found = Vec::new();
    match &plan.target {
        Target::Ssh(_) if reach.ssh != usual.ssh => found.push(format!("calls: {}", reach.ssh)),
        Target::Launched(launched) => {
            let own = launched.to_string();
            if reach.launch != usual.launch || launched.has_options() {
                let by = reach.launch.as_deref().or(launched.by().usual).unwrap_or_default();
                found.push(format!("calls: {by}, for {own}"));
            }
        }
        _ => {}
    }
    if plan.may_change_hosts() {
        found.push("changes settings of the hosts, and puts them back".to_owned());
    }
    found.extend(reach.remote_dirs.iter().map(|(_, folder)| format!("copies the program to {folder}")));
    found.extend(reach.listen.map(|address| format!("listens at {address}")));
    let loads = plan.all_settings().filter(|setting| {
        let kind = Knob::named(&setting.knob).map(|knob| knob.kind);
        matches!(kind, Some(KnobKind::Path | KnobKind::Variables))
    });
    found.extend(loads.map(|setting| format!("sets {}={}", setting.knob, setting.value)));
    // It is shown on a terminal.
    found.iter_mut().for_each(|text| text.retain(|c| !c.is_control()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Args, Command};

    fn found(line: &[&str]) -> Vec<String> {
        let matches = command::command().try_get_matches_from([&["linerate"], line].concat()).unwrap();
        let Command::Run(run) = Args::from_arg_matches(&matches).unwrap().command else { unreachable!() };
        let plan = Plan { settings: run.set.clone(), ..run::plan(&run.hosts, &[], "quick", None).unwrap() };
        beyond_measuring(&plan, &run.hosts.reach).unwrap()
    }

    #[test]
    fn what_a_recording_would_call_is_shown_first() {
        for line in [&["run", "lab"][..], &["run", "ssh://b"], &["run", "slurm:-N4"], &["run", "launch:a,b"]]
        {
            assert_eq!(found(line), Vec::<String>::new(), "{line:?}");
        }
        for (line, part) in [
            (&["run", "ssh://b", "--ssh", "ssh -F mine"][..], "calls: ssh -F mine"),
            (&["run", "launch:a,b", "--launch", "rsh {host}"], "calls: rsh {host}, for launch:a,b"),
            (&["run", "slurm:-N2 --prolog=/x"], "calls: srun, for slurm:-N 2 --prolog=/x"),
            (&["run", "mpirun", "--launch", "/opt/mpirun"], "calls: /opt/mpirun, for mpirun:-n 2"),
            (&["run", "ssh://b", "--remote-dir", "/x"], "copies the program to /x"),
            (&["run", "lab", "--set", "mpi.path=/opt/libmpi.so"], "sets mpi.path=/opt/libmpi.so"),
        ] {
            let found = found(line);
            assert!(found.len() == 1 && found[0] == part, "{line:?}: {found:?}");
        }
    }
}
