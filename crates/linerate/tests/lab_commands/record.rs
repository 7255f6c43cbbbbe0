//! What is written down of a lab: not believed where it lies, removed where it is out of date, and in a folder of
//! the user's own.

use super::*;
use linerate::lab::Order;
use linerate::plan::Topology;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

#[test]
fn a_killed_holders_record_goes_at_the_next_look() {
    let runtime = Runtime::new();
    runtime.done(&["up", "hosts=3", "--detach"]);
    let namespaces = runtime.namespaces("lab");
    runtime.kill_holder("lab");
    namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    let said = runtime.done(&["list"]);
    assert!(said.contains("the lab `lab` is gone") && said.contains("no lab is up"), "{said}");
    assert!(!runtime.path("lab").exists());
    assert!(!runtime.done(&["list"]).contains("gone"));
    // Its name is free again, even where nobody looked.
    runtime.done(&["up", "--detach"]);
    runtime.kill_holder("lab");
    runtime.done(&["up", "--detach"]);
}

#[test]
fn only_a_labs_holder_is_signalled() {
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    let honest = runtime.record("lab");
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let process = Process::open(other.id()).unwrap().unwrap();
    let start = process.start_time().unwrap().unwrap();
    // Its number was another process's before: that one is gone, and so is its lab.
    let reused = [("pid", json!(other.id())), ("start_ticks", json!(start - 1))];
    // A record that tells of a process that holds nothing.
    let forged = [("pid", json!(other.id())), ("start_ticks", json!(start))];
    for (changes, code, part, stays) in
        [(reused, 2, "the lab `forged` is gone", false), (forged, 4, "does not hold the lab", true)]
    {
        let mut record = honest.clone();
        record["name"] = json!("forged");
        changes.into_iter().for_each(|(key, value)| record[key] = value);
        fs::write(runtime.path("forged"), record.to_string()).unwrap();
        let output = runtime.lab(&["down", "forged", "--kill"]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains(part), "{}", text(&output));
        assert_eq!(runtime.path("forged").exists(), stays);
        assert_eq!(other.try_wait().unwrap(), None);
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_holder_whose_caller_has_gone_ends() {
    let runtime = Runtime::new();
    let (here, there) = linerate_sys::handover::pair().unwrap();
    let order = Order {
        name: "orphan".into(),
        topology: Topology::default(),
        base: runtime.0.path().join("linerate"),
        utc: String::new(),
    };
    linerate_sys::handover::send(here.as_fd(), &serde_json::to_vec(&order).unwrap(), &[]).unwrap();
    drop(here);
    let mut command = runtime.command(&[holder::SUBCOMMAND, "orphan"]);
    let mut holder = command.stdin(there).stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    await_that("the holder ends", || holder.try_wait().unwrap().is_some());
    assert!(!runtime.path("orphan").exists());
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    for spoil in [open_to_all as fn(&Path), link_elsewhere] {
        let runtime = Runtime::new();
        spoil(&runtime.0.path().join("linerate"));
        let output = runtime.lab(&["up", "--detach"]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains("XDG_RUNTIME_DIR"), "{}", text(&output));
    }
}

fn open_to_all(folder: &Path) {
    fs::create_dir(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

fn link_elsewhere(folder: &Path) {
    let elsewhere = folder.with_extension("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, folder).unwrap();
}
