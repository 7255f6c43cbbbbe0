//! Plan files: read, checked, and put in place of the ladder.

use super::args::Hosts;
use crate::plan::{LONGEST_PLAN, Plan, PlannedHost, Suite, View};
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
    if suites.iter().any(Suite::takes_all_hosts) {
        let others = PlannedHost::first(plan.target.hosts()).into_iter().skip(plan.hosts.len());
        plan.hosts.extend(others.map(|host| PlannedHost { ports: args.ports, ..host }));
        if plan.hosts.len() > 2 && args.connect.is_some() {
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
    use crate::vocabulary::SUITES;

    #[test]
    fn every_shipped_suite_can_be_carried_out() {
        for entry in SUITES {
            let suite = Suite::shipped(entry.name).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert_eq!((suite.name.as_str(), suite.paper.as_deref()), (entry.name, Some(entry.paper)));
        }
    }
}
