//! Plan files: read, checked, and put in place of the ladder.

use super::args::Hosts;
use super::planned_hosts::first_hosts;
use crate::plan::{LONGEST_PLAN, Plan, Suite, Target, View};
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
    for arm in suites.iter().flat_map(Suite::arms) {
        if !plan.arms.contains(&arm) {
            plan.arms.push(arm);
        }
    }
    plan.view = View::Suites(suites);
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
    fn every_shipped_suite_can_be_carried_out() {
        for entry in SUITES {
            let suite = Suite::shipped(entry.name).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert_eq!((suite.name.as_str(), suite.paper.as_deref()), (entry.name, Some(entry.paper)));
        }
    }
}
