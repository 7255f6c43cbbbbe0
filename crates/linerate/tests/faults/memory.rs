//! Little memory for sockets: what it does to a stream, and that its control group goes with its lab.

use super::measured::{one_step, within};
use super::removal::{kill, playing};
use crate::user::nobody;
use crate::user::runs::{await_condition, code, command, processes};
use linerate::lab::Lab;
use linerate::lab::fault::socket_memory::SUBCOMMAND;
use linerate::plan::{Block, Step, Topology};
use linerate::vocabulary::{LADDER_BYTES, Pattern};
use linerate_sys::control_group::groups;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FAULT: &str = "b:socket-memory=256KiB";

/// Why no such group may be made here; nothing where it may.
fn may_not() -> Option<String> {
    let topology = Topology { faults: vec![FAULT.parse().unwrap()], ..Topology::default() };
    match Lab::build(&topology, &nobody::program()) {
        Ok(lab) => {
            let granted = &lab.faults()[0].granted;
            assert_eq!(granted, "memory.kmem.tcp.limit_in_bytes = 262144");
            None
        }
        Err(error) => {
            assert_eq!(error.exit_code(), 3, "{error}");
            assert!(
                error.to_string().contains("the fault b:socket-memory=256KiB cannot be put in"),
                "{error}"
            );
            assert!(error.hint().is_some_and(|hint| hint.contains("root")), "{:?}", error.hint());
            Some(error.to_string())
        }
    }
}

#[test]
fn a_group_is_made_or_what_it_takes_is_said() {
    let refusal = may_not();
    assert!(nobody::is_root() || refusal.is_some(), "an ordinary user made one");
}

#[test]
fn what_finds_no_memory_is_dropped_and_a_small_buffer_fits() {
    if let Some(why) = may_not() {
        return println!("SKIP: what_finds_no_memory_is_dropped_and_a_small_buffer_fits: {why}");
    }
    // Few messages: each stall is a timeout.
    let few = |step: Step| {
        let block = Block { message_bytes: LADDER_BYTES, messages: 1, slices: 12, lead: 2, ..step.blocks[0] };
        Step { blocks: vec![block], ..step }
    };
    let of = |settings: &[&str]| {
        let recording = one_step("lab", (&[FAULT], settings), ("network.tcp", Pattern::Stream), few);
        let trials = recording.trials.iter().filter(|trial| trial.pass > 0);
        let flows = trials.flat_map(|trial| &trial.roles).flat_map(|role| &role.flows);
        let ns: u64 = flows.flat_map(|flow| &flow.slices_ns).sum();
        let hosts = recording.steps.iter().flat_map(|step| &step.hosts);
        let dropped: u64 = hosts.filter_map(|host| host.counters.get("tcp.TCPRcvQDrop")).sum();
        (ns as f64, dropped)
    };
    let (grown, fitting) = (of(&[]), of(&["socket.receive-buffer=32KiB"]));
    assert!(grown.1 > 0 && fitting.1 == 0, "{grown:?} {fitting:?}");
    within("socket-memory=256KiB: rate over that of a buffer that fits", fitting.0 / grown.0, 0.0..0.5);
}

/// The groups that keepers made.
fn made() -> Vec<PathBuf> {
    let own = groups(Path::new("/"), "memory").into_iter().next().unwrap().directory;
    let entries = fs::read_dir(own).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("linerate-")).collect()
}

#[test]
fn its_group_goes_with_it_whatever_is_killed() {
    if let Some(why) = may_not() {
        return println!("SKIP: its_group_goes_with_it_whatever_is_killed: {why}");
    }
    for is_keeper_killed in [false, true] {
        await_condition("no group", || made().is_empty());
        let folder = TempDir::new().unwrap();
        let arguments = ["lab", "--only", "network.tcp", "--fault", FAULT];
        let mut run = command(folder.path(), &arguments).spawn().unwrap();
        // The members are the agent of host b and what that started.
        let members = || made().first().and_then(|group| fs::read_to_string(group.join("cgroup.procs")).ok());
        await_condition("a member", || members().is_some_and(|members| !members.trim().is_empty()));
        let keeper = playing(SUBCOMMAND)[0];
        run.kill().unwrap();
        if is_keeper_killed {
            kill(keeper);
        }
        assert_eq!(code(&mut run), None);
        await_condition("every process's end", || processes().is_empty());
        if is_keeper_killed && !made().is_empty() {
            // Nobody was left to remove it: the next one does.
            assert_eq!(may_not(), None);
        }
        await_condition("the group's end", || made().is_empty());
    }
}

/// Runs the tests of this file again.
#[test]
fn a_group_is_refused_to_an_ordinary_user() {
    nobody::runs_them_too(&["faults::memory::"], &[]);
}
