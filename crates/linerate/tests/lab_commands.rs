//! `linerate lab`, as root and as an ordinary user: labs are put up, worked in, taken down, and nothing of them is left.
//!
//! What a test runs on a host is this very binary, on one of the ignored tests at the end.

use crate::user::nobody;
use crate::user::runs::signal;
mod record;
mod stale;

use linerate::lab::holder;
use linerate_sys::namespace;
use linerate_sys::netlink::Netlink;
use linerate_sys::process::Process;
use nobody::program;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tempfile::TempDir;

/// What a part is told.
const ORDER: &str = "LINERATE_TEST_ORDER";

/// How a line begins that a part says to the test.
const MARK: &str = "says ";

/// How long anything may take; only what is broken takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A runtime directory of a test's own; what is still up in it when it is dropped is taken down.
struct Runtime(TempDir);

impl Runtime {
    fn new() -> Runtime {
        Runtime(tempfile::tempdir().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.env("XDG_RUNTIME_DIR", self.0.path()).arg("lab").args(arguments);
        command
    }

    fn lab(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What is printed where it must succeed.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.lab(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        text(&output)
    }

    /// This binary on a host, at one of the parts.
    fn part(&self, host: &str, part: &str, order: &str) -> Command {
        let test = env::current_exe().unwrap();
        let mut command = self.command(&["exec", host, "--", test.to_str().unwrap()]);
        command
            .args(["--exact", "--ignored", "--nocapture"])
            .arg(format!("lab_commands::{part}"))
            .env(ORDER, order);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(format!("linerate/labs/{name}.json"))
    }

    fn record(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// What the kernel calls a lab's namespaces.
    fn namespaces(&self, name: &str) -> Vec<String> {
        let record = self.record(name);
        let hosts = record["hosts"].as_array().unwrap().iter();
        let namespaces = hosts.flat_map(|host| host["namespaces"].as_array().unwrap());
        namespaces.map(|namespace| namespace["id"].as_str().unwrap().to_owned()).collect()
    }

    fn kill_holder(&self, name: &str) {
        let pid = self.record(name)["pid"].as_u64().unwrap() as u32;
        let holder = Process::open(pid).unwrap().unwrap();
        signal(pid, Signal::KILL);
        assert!(holder.wait(PATIENCE).unwrap());
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.command(&["down", "--all", "--kill"]).output();
    }
}

#[test]
fn a_lab_is_put_up_worked_in_and_taken_down() {
    let runtime = Runtime::new();
    let shown = runtime.done(&["up", "mtu=9000", "--detach"]);
    assert!(shown.contains("198.18.0.2") && shown.contains("9000"), "{shown}");
    assert!(shown.contains("linerate lab exec a -- ping -c 3 198.18.0.2"), "{shown}");
    for host in ["a", "b"] {
        let facts = hear(runtime.part(host, "part_tells_facts", ""));
        assert_eq!(facts, json!({ "host_name": host, "links": ["lo", "wire0"] }));
    }
    let mut receiver = runtime.part("b", "part_receives", "198.18.0.2:0").spawn().unwrap();
    let mut output = BufReader::new(receiver.stdout.take().unwrap());
    let target = next(&mut output).as_str().unwrap().to_owned();
    assert!(runtime.part("a", "part_sends", &target).output().unwrap().status.success());
    assert_eq!(next(&mut output), json!({ "from": "198.18.0.1", "text": "over the wire" }));
    assert!(receiver.wait().unwrap().success());

    let listed = runtime.done(&["list"]);
    assert!(listed.contains("a b") && listed.contains("lab:hosts=2,mtu=9000"), "{listed}");
    let output = runtime.lab(&["list", "--format", "json"]);
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&list[0]["name"], &list[0]["hosts"][1]["name"]), (&json!("lab"), &json!("b")), "{list}");
    assert_eq!(list[0]["pid"], runtime.record("lab")["pid"]);

    let namespaces = runtime.namespaces("lab");
    assert!(namespaces.iter().all(|namespace| is_referred_to(namespace)), "{namespaces:?}");
    assert!(runtime.done(&["down"]).contains("the lab `lab` is down"));
    namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    assert!(!runtime.path("lab").exists());
    assert!(runtime.done(&["list"]).contains("no lab is up"));
}

#[test]
fn a_command_keeps_arguments_streams_and_end() {
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    assert_eq!(runtime.lab(&["exec", "a", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    let killed = runtime.lab(&["exec", "a", "--", "sh", "-c", "kill -9 $$"]).status;
    assert_eq!(killed.signal(), Some(9));
    let script = "echo to the error >&2; for word; do echo \"<$word>\"; done; cat";
    let mut command = runtime.command(&["exec", "a", "sh", "-c", script, "sh", "--lab", "x y", "--", "-h"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from the input").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "<--lab>\n<x y>\n<-->\n<-h>\nfrom the input");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "to the error\n");
    let mut shell =
        runtime.command(&["exec", "b"]).env("SHELL", "/bin/sh").stdin(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(b"exit 9\n").unwrap();
    assert_eq!(shell.wait().unwrap().code(), Some(9));
    for (command, code, part) in
        [("no-such-command", 127, "no such command"), ("/etc/passwd", 126, "not a program")]
    {
        let output = runtime.lab(&["exec", "a", "--", command]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

#[test]
fn who_is_inside_is_ended_on_request_alone() {
    let runtime = Runtime::new();
    let mut outside = Command::new("sleep").arg("601").spawn().unwrap();
    for (kill, arguments) in [(false, &["down"][..]), (true, &["down", "--kill"])] {
        runtime.done(&["up", "--detach"]);
        // It does not mind being asked, and says when it runs.
        let script = "trap '' TERM; echo inside; while :; do sleep 602; done";
        let mut command = runtime.command(&["exec", "b", "--", "sh", "-c", script]);
        let mut inside = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(inside.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "inside\n");
        let namespaces = runtime.namespaces("lab");
        let said = runtime.done(arguments);
        assert_eq!(said.contains(&format!("\n  {:<8} sh -c trap", inside.id())), !kill, "{said}");
        assert_eq!(inside.try_wait().unwrap().is_none(), !kill, "{said}");
        if !kill {
            end_everybody_in(&namespaces);
        }
        inside.wait().unwrap();
        namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    }
    assert_eq!(outside.try_wait().unwrap(), None);
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[test]
fn a_lab_in_the_foreground_ends_with_a_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let runtime = Runtime::new();
        let mut command = runtime.command(&["up", "rate=1Gb/s", "--name", "fore"]);
        let mut holder = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(holder.stdout.as_mut().unwrap()).lines().take(3);
        let table: Vec<String> = lines.map(Result::unwrap).collect();
        assert!(table[2].starts_with("b ") && table[2].ends_with("1.00 Gb/s"), "{table:?}");
        assert!(runtime.lab(&["exec", "a", "--", "true"]).status.success());
        let namespaces = runtime.namespaces("fore");
        crate::user::runs::signal(holder.id(), signal);
        assert!(holder.wait().unwrap().success());
        assert!(!runtime.path("fore").exists());
        namespaces.iter().for_each(|namespace| await_that(namespace, || !is_referred_to(namespace)));
    }
}

#[test]
fn help_shows_worked_commands() {
    let runtime = Runtime::new();
    for command in ["up", "exec", "list", "down"] {
        let help = runtime.done(&[command, "--help"]);
        assert!(help.matches(&format!("\n  linerate lab {command}")).count() >= 2, "{help}");
    }
    assert!(!runtime.done(&["--help"]).contains(holder::SUBCOMMAND), "it is no user's command");
}

#[test]
fn what_is_wrong_is_said_with_what_to_try() {
    let runtime = Runtime::new();
    let expect = |arguments: &[&str], code: i32, part: &str| {
        let output = runtime.lab(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(part), "{arguments:?}: {}", text(&output));
    };
    expect(&["exec", "a", "--", "true"], 2, "linerate lab up --detach");
    expect(&["down"], 2, "no lab is up");
    expect(&["down", "--all"], 0, "no lab is up");
    expect(&["list"], 0, "linerate lab up --detach");
    expect(&["up", "lab:mtu=12"], 2, "576");
    expect(&["up", "slow"], 2, "--name");
    expect(&["up", "ssh://b"], 2, "no lab");
    expect(&["up", "--name", "../x"], 2, "letters, digits");
    expect(&[holder::SUBCOMMAND, "x"], 2, "linerate starts this command itself");
    runtime.done(&["up", "--detach"]);
    expect(&["up", "--detach"], 2, "--name lab-2");
    expect(&["exec", "c", "--", "true"], 2, "its hosts are a, b");
    expect(&["exec", "--lab", "lob", "a", "--", "true"], 2, "did you mean lab?");
    runtime.done(&["up", "--detach", "--name", "other"]);
    expect(&["exec", "a", "--", "true"], 2, "linerate lab exec --lab lab a");
    expect(&["down"], 2, "linerate lab down --all");
    expect(&["exec", "--lab", "zzzzzzzz", "a", "true"], 2, "up: lab, other");
    fs::write(runtime.path("broken"), "{").unwrap();
    expect(&["list"], 0, "not a lab's record");
    expect(&["up", "--detach", "--name", "broken"], 6, "not a lab's record");
    expect(&["down", "--all"], 0, "the lab `other` is down");
}

/// Runs every test of this file again.
#[test]
fn an_ordinary_user_can_do_it_too() {
    nobody::runs_them_too(&["lab_commands::"], &[]);
}

/// A user namespace gives its root no right over what is outside, so that the holder cannot be reached.
#[test]
fn inside_an_ordinary_users_lab_none_is_reached() {
    if namespace::may_administer().unwrap() {
        // an_ordinary_user_can_do_it_too comes here again.
        return;
    }
    let runtime = Runtime::new();
    runtime.done(&["up", "--detach"]);
    let program = program();
    let output =
        runtime.lab(&["exec", "a", "--", program.to_str().unwrap(), "lab", "exec", "b", "--", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("a host of a lab has users of its own"), "{}", text(&output));
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a link of this process leads to the namespace.
fn leads_to(folder: PathBuf, namespace: &str) -> bool {
    let links = fs::read_dir(folder).into_iter().flatten().flatten();
    links.filter_map(|link| fs::read_link(link.path()).ok()).any(|link| link == Path::new(namespace))
}

fn processes() -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))).collect()
}

/// Whether any process is in this namespace or holds a descriptor of it.
fn is_referred_to(namespace: &str) -> bool {
    let of = |process: PathBuf| ["ns", "fd"].map(|folder| leads_to(process.join(folder), namespace));
    processes().into_iter().any(|(_, process)| of(process).contains(&true))
}

fn end_everybody_in(namespaces: &[String]) {
    for (pid, process) in processes() {
        if namespaces.iter().any(|namespace| leads_to(process.join("ns"), namespace)) {
            signal(pid, Signal::KILL);
        }
    }
}

fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::yield_now();
    }
}

/// What a part says that says one thing.
fn hear(mut part: Command) -> Value {
    let output = part.output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    next(&mut output.stdout.as_slice())
}

/// What a part says next. The test harness says other things on lines of its own.
fn next(output: &mut impl BufRead) -> Value {
    let mut lines = output.lines().map(Result::unwrap);
    let line = lines.find_map(|line| line.strip_prefix(MARK).map(str::to_owned));
    serde_json::from_str(&line.expect("the part ended")).unwrap()
}

/// Says something to the test that started this part.
fn say(value: &Value) {
    let mut output = io::stdout();
    // The harness may have left a line unfinished.
    writeln!(output, "\n{MARK}{value}").unwrap();
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_tells_facts() {
    let links = Netlink::open().unwrap().links().unwrap();
    let host_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let links: Vec<_> = links.iter().map(|link| link.name.clone()).collect();
    say(&json!({ "host_name": host_name.trim(), "links": links }));
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_receives() {
    let listener = TcpListener::bind(env::var(ORDER).unwrap()).unwrap();
    say(&json!(listener.local_addr().unwrap()));
    let (mut stream, peer) = listener.accept().unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    say(&json!({ "from": peer.ip(), "text": text }));
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_sends() {
    let target = env::var(ORDER).unwrap().parse().unwrap();
    let mut stream = TcpStream::connect_timeout(&target, PATIENCE).unwrap();
    stream.write_all(b"over the wire").unwrap();
}
