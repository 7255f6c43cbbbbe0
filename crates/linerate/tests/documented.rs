//! Every command that the documentation shows is run: those of the pages, and the examples of `--help`.
//!
//! | module | what it does |
//! |---|---|
//! | [`collect`] | finds the commands in pages and in the help |
//! | [`rules`] | the table: how each kind of command is run, and which exit codes are right |
//! | [`world`] | the folder, the recordings and the hosts that a command finds |
//! | [`sshd`] | an sshd for the run over ssh |
//!
//! A command that no rule is for fails. What is not run stands in the table with its reason.

mod collect;
mod rules;
pub mod sshd;
mod world;

use collect::{Documented, Kind, help, pages};
use rules::{How, RULES, Rule, rule};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use world::World;

/// Programs that documented commands and this test call.
const PROGRAMS: [&str; 8] = ["iperf3", "jq", "man", "ping", "script", "ssh-keygen", "sshd", "timeout"];

/// The first of [`PROGRAMS`] that is not installed.
fn missing() -> Option<&'static str> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin";
    let found = |name: &str| path.split(':').any(|folder| Path::new(folder).join(name).exists());
    PROGRAMS.into_iter().find(|name| !found(name))
}

/// Commands that run beside each other: nothing here is measured that anybody reads.
const BESIDE: usize = 2;

/// Runs commands, each text once, and fails with all that went wrong.
#[track_caller]
fn run(commands: Vec<Documented>) {
    let world = World::new();
    let mut seen = BTreeSet::new();
    let commands: Vec<Documented> =
        commands.into_iter().filter(|one| seen.insert((one.kind, one.text.clone()))).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(one) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            let ended = world.run(one);
            println!("{:5.1} s  {}", begun.elapsed().as_secs_f64(), one.text.replace('\n', "; "));
            if let Err(what) = ended {
                wrong.lock().unwrap().push(format!("{}: {}\n{what}\n", one.place, one.text));
            }
        }
    };
    std::thread::scope(|scope| (0..BESIDE).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} failed\n\n{}", wrong.len(), commands.len(), wrong.join("\n"));
}

#[test]
fn every_command_of_pages_and_help_runs() {
    if let Some(program) = missing() {
        return println!("SKIP: every_command: {program} is not installed");
    }
    let (pages, examples) = (pages(), help(&[]));
    assert!(pages.len() > 60, "only {} commands were found", pages.len());
    assert!(examples.len() > 10, "only {} examples were found", examples.len());
    run(pages.into_iter().chain(examples).collect());
}

#[test]
fn every_rule_is_needed() {
    let mut used: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in pages().iter().chain(&help(&[])).filter(|one| one.kind == Kind::Line) {
        if let Some(rule) = rule(&one.text) {
            *used.entry((rule.starts, rule.holds)).or_default() += 1;
        }
    }
    let idle = |rule: &&Rule| !used.contains_key(&(rule.starts, rule.holds));
    let idle: Vec<_> =
        RULES.iter().filter(idle).map(|rule| format!("{}…{}", rule.starts, rule.holds)).collect();
    assert!(idle.is_empty(), "no command needs these rules any more; remove them: {idle:#?}");
}

#[test]
fn what_is_not_run_has_a_reason() {
    for rule in RULES {
        if let How::NotRun(reason) = rule.how {
            assert!(reason.split_whitespace().count() > 3, "{}: {reason}", rule.starts);
        }
    }
}
