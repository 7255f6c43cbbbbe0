//! `linerate lab down --stale`, and what the next start undoes by itself: what dead processes left, and nothing that
//! somebody only says they left.

use super::*;
use std::os::unix::fs::symlink;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that marks what linerate starts.
const VARIABLE: &str = linerate::lab::journal::VARIABLE;

/// A mark that no other test has, of this process or of another: what carries one is ended.
fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}{:016x}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Runtime {
    fn journal(&self, name: &str) -> PathBuf {
        self.0.path().join("linerate/journal").join(name)
    }

    fn journals(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join("linerate/journal")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name != "lock").collect()
    }

    /// The journal of a process that has ended, with this text.
    fn leave(&self, text: &str) -> PathBuf {
        // Any start makes the folders.
        self.done(&["down", "--stale"]);
        let mut dead = Command::new("true").spawn().unwrap();
        let start = Process::open(dead.id()).unwrap().unwrap().start_time().unwrap().unwrap_or(1);
        dead.wait().unwrap();
        let path = self.journal(&format!("{}.{start}", dead.id()));
        fs::write(&path, text).unwrap();
        path
    }
}

/// A process that carries a mark, and nothing else.
fn carrier(mark: &str) -> Child {
    Command::new("sleep").arg("605").env(VARIABLE, mark).spawn().unwrap()
}

fn line(kind: &str, mark: &str) -> String {
    format!("{{\"kind\":\"{kind}\",\"mark\":\"{mark}\"}}\n")
}

fn goes_on(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn where_nothing_is_stale_that_is_said() {
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    assert!(runtime.done(&["down", "--stale"]).contains("nothing is stale"));
    assert_eq!(runtime.done(&["down", "--stale", "--format", "json"]), "[]\n");
    assert!(runtime.done(&["list"]).contains("a b"), "a lab that is up is left alone");
    assert_eq!(runtime.journals().len(), 1, "its holder's");
    runtime.done(&["down"]);
    assert!(runtime.journals().is_empty());
}

#[test]
fn a_command_of_a_gone_lab_ends_on_request() {
    for form in ["text", "json"] {
        let runtime = Runtime::new();
        runtime.done(&["up", "--detach"]);
        let mut command = runtime.command(&["exec", "b", "--", "sh", "-c", "echo inside; sleep 606; :"]);
        let mut inside = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(inside.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (namespaces, holder) = (runtime.namespaces("lab"), runtime.record("lab")["pid"].clone());
        runtime.kill_holder("lab");
        assert!(runtime.done(&["list"]).contains("the lab `lab` is gone"));
        // Of a lab of another name, and of the same.
        for name in ["next", "lab"] {
            runtime.done(&["up", "--detach", "--name", name]);
            runtime.done(&["down", name]);
        }
        assert!(goes_on(&mut inside));
        let output = runtime.lab(&["down", "--stale", "--format", form]);
        assert!(output.status.success(), "{}", text(&output));
        inside.wait().unwrap();
        namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
        let said = String::from_utf8_lossy(&output.stdout);
        if form == "json" {
            let list: Value = serde_json::from_str(&said).unwrap();
            let ended = list.as_array().unwrap().iter().find(|one| one["pid"] == inside.id()).unwrap();
            assert_eq!((&ended["undone"], &ended["left_by_pid"]), (&json!("command"), &holder), "{list}");
        } else {
            assert!(said.contains(&format!("process {} is ended: `sh -c echo", inside.id())), "{said}");
        }
        assert!(runtime.journals().is_empty());
    }
}

#[test]
fn a_record_without_a_holder_is_undone() {
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    let holder = runtime.record("lab")["pid"].clone();
    runtime.kill_holder("lab");
    fs::write(runtime.path("part").with_extension("new"), "{").unwrap();
    let list: Value = serde_json::from_str(&runtime.done(&["down", "--stale", "--format", "json"])).unwrap();
    let expected = json!([
        { "undone": "record", "lab": "part", "holder_pid": null },
        { "undone": "record", "lab": "lab", "holder_pid": holder },
    ]);
    assert_eq!(list, expected);
    let left: Vec<_> = fs::read_dir(runtime.path("x").parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "the lock: {left:?}");
}

#[test]
fn the_next_start_ends_what_was_left() {
    let (runtime, mark) = (Runtime::new(), new_mark());
    let path = runtime.leave(&(line("processes", &mark) + "{\"kind\":\"proc"));
    let mut left = carrier(&mark);
    let said = runtime.done(&["up", "--detach"]);
    assert!(said.contains(&format!("process {} is ended: `sleep 605`", left.id())), "{said}");
    assert!(!left.wait().unwrap().success());
    assert!(!path.exists());
}

#[test]
fn only_what_carries_the_mark_is_ended() {
    let (runtime, mark) = (Runtime::new(), new_mark());
    let other = "ffeeddccbbaa99887766554433221100";
    let mut children = [carrier(other), carrier(&format!("{mark}0")), carrier("")];
    let mut older = carrier(&mark);
    // It is called after a process that is younger than the one that carries its mark.
    let path = runtime.leave(&line("processes", &mark));
    let late = path.with_file_name(format!("{}.{}", u32::MAX, u64::MAX));
    fs::rename(&path, &late).unwrap();
    assert!(runtime.done(&["down", "--stale"]).contains("nothing is stale"));
    assert!(children.iter_mut().all(goes_on) && goes_on(&mut older));
    assert!(!late.exists(), "there was nothing to undo");
    children.into_iter().chain([older]).for_each(end);
}

#[test]
fn a_living_process_keeps_its_journal() {
    let (runtime, mark) = (Runtime::new(), new_mark());
    let path = runtime.leave(&line("processes", &mark));
    // Nobody starts what is older than itself.
    let mut owner = Command::new("sleep").arg("607").spawn().unwrap();
    let mut started = carrier(&mark);
    // By its lock, whatever its name.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.lock().unwrap();
    assert!(runtime.done(&["down", "--stale"]).contains("nothing is stale"));
    drop(file);
    // By its name, though nobody locks it.
    let start = Process::open(owner.id()).unwrap().unwrap().start_time().unwrap().unwrap();
    let named = path.with_file_name(format!("{}.{start}", owner.id()));
    fs::rename(&path, &named).unwrap();
    assert!(runtime.done(&["down", "--stale"]).contains("nothing is stale"));
    assert!(goes_on(&mut started) && named.exists());
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(runtime.done(&["down", "--stale"]).contains("is ended: `sleep 605`"));
    started.wait().unwrap();
}

#[test]
fn a_journal_that_is_none_is_not_believed() {
    let (runtime, mark) = (Runtime::new(), new_mark());
    let mut started = carrier(&mark);
    let good = line("processes", &mark);
    let long = good.repeat(2000);
    let texts = [
        "{\n",
        "\u{0}\n",
        "[]\n",
        "{\"kind\":\"files\",\"mark\":\"/etc/passwd\"}\n",
        "{\"kind\":\"processes\",\"mark\":\"../../etc\"}\n",
        "{\"kind\":\"processes\",\"mark\":\"\"}\n",
        &good.replace(&mark, "00112233445566778899AABBCCDDEEFF"),
        &good.replace('}', ",\"path\":\"/\"}"),
        &long,
    ];
    for text in texts {
        // One line that is none, and the whole file is.
        let path = runtime.leave(&(good.clone() + text));
        let said = runtime.done(&["down", "--stale"]);
        assert!(said.contains("it is left alone") && said.contains("nothing is stale"), "{text:?}: {said}");
        assert!(path.exists() && goes_on(&mut started), "{text:?}");
        assert!(!runtime.done(&["up", "--detach"]).contains("left alone"), "only who asks is told");
        runtime.done(&["down"]);
        fs::remove_file(path).unwrap();
    }
    end(started);
}

#[test]
fn what_is_no_file_of_this_users_is_not_read() {
    let (runtime, mark) = (Runtime::new(), new_mark());
    let mut started = carrier(&mark);
    let path = runtime.leave(&line("processes", &mark));
    let elsewhere = runtime.0.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    type Maker = fn(&Path, &Path);
    let makers: [(&str, Maker); 3] = [
        ("a link", |from, to| symlink(from, to).unwrap()),
        ("a second name", |from, to| fs::hard_link(from, to).unwrap()),
        ("a pipe", |_, to| assert!(Command::new("mkfifo").arg(to).status().unwrap().success())),
    ];
    for (what, make) in makers {
        make(&elsewhere, &path);
        let said = runtime.done(&["down", "--stale"]);
        assert!(said.contains("it is left alone") && said.contains("nothing is stale"), "{what}: {said}");
        assert!(elsewhere.exists() && goes_on(&mut started), "{what}");
        fs::remove_file(&path).unwrap();
    }
    // Names that are no journal's are passed over, whatever they are.
    for name in ["notes", "1", "1.2.3", "-1.2", "1.x", ".1"] {
        fs::write(runtime.journal(name), line("processes", &mark)).unwrap();
    }
    assert!(runtime.done(&["down", "--stale"]).contains("nothing is stale"));
    assert!(goes_on(&mut started) && runtime.journals().len() == 6);
    end(started);
}

#[test]
fn a_record_that_is_no_file_is_passed_over() {
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    symlink(runtime.path("lab"), runtime.path("link")).unwrap();
    assert!(Command::new("mkfifo").arg(runtime.path("pipe")).status().unwrap().success());
    let said = runtime.done(&["list"]);
    assert!(said.matches("it is left alone").count() == 2 && said.contains("a b"), "{said}");
}

#[test]
fn a_journal_that_cannot_be_begun_fails_no_run() {
    let runtime = Runtime::new();
    fs::write(runtime.0.path().join("linerate"), "").unwrap();
    let mut command = Command::new(program());
    let output = command.env("XDG_RUNTIME_DIR", runtime.0.path()).arg("doctor").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("is not written down"), "{}", text(&output));
    assert!(text(&output).contains("two virtual hosts were built"), "{}", text(&output));
}
