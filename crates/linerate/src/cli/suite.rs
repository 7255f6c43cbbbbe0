//! Plan files: read, checked, and put in place of the ladder.

use super::args::Hosts;
use super::planned_hosts::first_hosts;
use crate::plan::{HostId, LONGEST_PLAN, Plan, Suite, Target, View};
use crate::vocabulary::{Pattern, Place, Rung, did_you_mean};
use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A plan file's suite.
pub fn of_file(path: &Path) -> Result<Suite> {
    let object = path.display().to_string();
    let failed = |error: std::io::Error| {
        let hint =
            "a plan is a file of one's own, in TOML: docs/guides/plans.md; those of papers are --suite NAME";
        Error::usage(format!("--plan {object}: {error}"), hint)
    };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LONGEST_PLAN as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    Suite::read(&text).map_err(|error| Error::usage(format!("{object}: {}", error.what), error.hint))
}

/// The suites with these figures alone, where some are named; a suite without any of them is left out.
pub fn of_figures(suites: Vec<Suite>, names: &[String]) -> Result<Vec<Suite>> {
    if names.is_empty() {
        return Ok(suites);
    }
    let ids = || suites.iter().flat_map(|suite| suite.figures.iter().map(|figure| figure.id.as_str()));
    if let Some(unknown) = names.iter().find(|name| !ids().any(|id| id.starts_with(name.as_str()))) {
        let hint = match suites.is_empty() {
            true => "figures are of suites: --suite sockets".into(),
            false => {
                did_you_mean(ids(), unknown, &format!("there are {}", ids().collect::<Vec<_>>().join(", ")))
            }
        };
        return Err(Error::usage(format!("--figures: no figure is called `{unknown}`"), hint));
    }
    let all = suites.iter().map(|suite| suite.of_figures(names));
    Ok(all.filter(|suite| !suite.figures.is_empty()).collect())
}

/// Makes a plan measure these suites and nothing else.
pub fn put_into(plan: &mut Plan, suites: Vec<Suite>, args: &Hosts) -> Result<()> {
    if suites.is_empty() {
        return Ok(());
    }
    if !args.only.is_empty() || !args.skip.is_empty() {
        return Err(Error::usage("a suite says which rungs it measures", "leave out --only and --skip"));
    }
    let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        return Err(Error::usage(format!("the suite `{}` is there twice", names[twice]), "say it once"));
    }
    // Who names hosts wants them in it; of a lab there are as many as it is built with.
    if suites.iter().any(Suite::takes_all_hosts)
        || matches!(plan.target, Target::Ssh(_) | Target::Launched(_))
    {
        plan.hosts = first_hosts(args, plan.target.hosts())?;
        if plan.hosts.len() > 2 && args.reach.connect.is_some() {
            let what = format!("--connect is between two hosts, and this suite is of {}", plan.hosts.len());
            return Err(Error::usage(what, "leave it out, or name two hosts"));
        }
    }
    has_hosts(&suites, &plan.host_ids())?;
    plan.arms.clear();
    for arm in suites.iter().flat_map(Suite::arms) {
        if !plan.arms.contains(&arm) {
            plan.arms.push(arm);
        }
    }
    plan.view = View::Suites(suites);
    Ok(())
}

/// Every stage of a pipeline that is measured must have its hosts.
fn has_hosts(suites: &[Suite], hosts: &[HostId]) -> Result<()> {
    for suite in suites {
        for case in suite.cases.iter().filter(|case| case.pattern == Pattern::Pipeline) {
            let graph = suite.graph(&case.graph);
            if let Some((stage, host)) = graph.absent(hosts) {
                let what =
                    format!("pipeline `{}`, stage `{}`: there is no host {host}", case.graph, stage.id);
                let last = hosts.last().copied().unwrap_or_default();
                let hint = format!("this run has the hosts a to {last}: lab:hosts={}", host.0 + 1);
                return Err(Error::usage(what, hint));
            }
            let is_network =
                |rung: &String| Rung::named(rung).is_some_and(|rung| rung.place == Place::Network);
            let at_one = graph.layout(hosts, hosts.len()).pairs.is_empty();
            if at_one && case.rung.iter().any(is_network) {
                let what = format!("pipeline `{}`: all of its stages are on one host", case.graph);
                return Err(Error::usage(what, "put one of them on another host, or take an in-host rung"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Args, Command, Run};
    use crate::cli::run;
    use crate::vocabulary::SUITES;
    use clap::Parser;

    /// The hosts that a suite has on a target.
    fn hosts(arguments: &[&str]) -> Result<Vec<String>> {
        let line = ["linerate", "run"].iter().chain(arguments);
        let Ok(Args { command: Command::Run(args), .. }) = Args::try_parse_from(line) else {
            panic!("{arguments:?}")
        };
        let Run { hosts, suites, profile, .. } = args;
        let mut plan = run::plan(&hosts, &[], &profile, None)?;
        put_into(&mut plan, suites, &hosts)?;
        let told = plan.hosts.iter().map(|host| match &host.address {
            Some(address) => format!("{} {address}", host.id),
            None => host.id.to_string(),
        });
        Ok(told.collect())
    }

    #[test]
    fn a_suite_has_every_host_that_is_named() {
        for (target, suite, expected) in [
            ("ssh://x,ssh://y,ssh://z", "sockets", &["a", "b", "c"][..]),
            ("ssh://x,ssh://y,ssh://z", "san", &["a", "b", "c"]),
            ("ssh://y", "sockets", &["a", "b"]),
            ("lab:hosts=4", "sockets", &["a", "b", "c", "d"]),
            ("lab:hosts=4", "san", &["a", "b"]),
        ] {
            assert_eq!(hosts(&[target, "--suite", suite]).unwrap(), expected, "{target} {suite}");
        }
        let third = &["ssh://x,ssh://y,ssh://z", "--suite", "sockets", "--address", "c=192.0.2.7"];
        assert_eq!(hosts(third).unwrap(), ["a", "b", "c 192.0.2.7"]);
        let none = hosts(&["ssh://x,ssh://y", "--suite", "sockets", "--address", "c=192.0.2.7"]).unwrap_err();
        assert!(none.to_string().contains("there is no host c"), "{none}");
    }

    #[test]
    fn figures_are_chosen_by_how_their_names_begin() {
        let sockets = || vec![Suite::shipped("sockets").unwrap(), Suite::shipped("san").unwrap()];
        let of = |name: &str| of_figures(sockets(), &[name.to_owned()]);
        let found = of("003-F12").unwrap();
        let figures: Vec<&str> = found[0].figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!((found.len(), figures), (1, vec!["003-F12", "003-F12-parts", "003-F12-carried"]));
        let cases: Vec<&str> = found[0].cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(cases, ["monitor", "asked", "monitor-carried"], "what a ranking is set against, too");
        assert_eq!(found[0].claims.len(), 1, "what is concluded of it stays");
        let unknown = of("003-F13").unwrap_err();
        assert!(unknown.hint().is_some_and(|hint| hint.contains("003-F12")), "{unknown}");
        assert!(of_figures(Vec::new(), &["x".into()]).is_err());
    }

    #[test]
    fn every_shipped_suite_can_be_carried_out() {
        for entry in SUITES {
            let suite = Suite::shipped(entry.name).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert_eq!((suite.name.as_str(), suite.paper.as_deref()), (entry.name, Some(entry.paper)));
        }
    }
}
