//! `linerate tune` and `linerate undo` as a user meets them: what is found, what is left, and what is left after a kill.

use crate::ladder::ssh::Fixture;
use crate::user::runs::{PROGRAM, await_condition};
use linerate::lab::Lab;
use linerate::plan::Topology;
use linerate::record::Granted;
use linerate::run::host_settings::{Became, HostSettings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How many searches are killed, in a usual run and where it is said.
const USUAL_KILLS: usize = 3;
const KILLS: &str = "LINERATE_KILLS";
const SEED: &str = "LINERATE_KILLS_SEED";

/// What a search of hosts may change, as a shell prints it.
const SETTINGS: &str = "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem \
     /proc/sys/net/ipv4/tcp_slow_start_after_idle /proc/sys/net/ipv4/tcp_no_metrics_save \
     /proc/sys/net/ipv4/tcp_mtu_probing /sys/class/net/wire0/queues/rx-*/rps_cpus; ls /sys/class/net/wire0/queues; \
     ip -o link show wire0 | grep -o \"mtu [0-9]*\"";

fn linerate(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn each_outcome_of_a_search_has_its_exit_code() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let quiet = "simulated:noise=0.5%,between=0.2%,delay=500us";
    let loud = "simulated:noise=20%,between=10%";
    let base = ["--base", "socket.send-buffer=64KiB"];
    let cases: [(&[&str], i32, &str); 3] = [
        (&[&[quiet, "--knob", "send-buffer"], &base[..]].concat(), 10, "proved, and again in fresh blocks"),
        (&[quiet, "--knob", "congestion-control"], 0, "it is left as it is"),
        (&[loud, "--knob", "congestion-control"], 11, "cannot be told"),
    ];
    for (arguments, code, part) in cases {
        let output = linerate(&[&["tune"], arguments, &["--seed", "1", "--quiet", "--output", out]].concat());
        let printed = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.replace('\n', " ").contains(part), "{arguments:?}: {printed}");
        let recording = printed.lines().rev().find(|line| line.ends_with(".jsonl")).unwrap();
        let again = text(&linerate(&["report", recording]));
        assert!(printed.starts_with(&again), "a report of the recording says something else: {again}");
    }
}

#[test]
fn what_is_proved_is_written_down_for_who_keeps_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let target = "simulated:noise=0.5%,between=0.2%,delay=500us";
    let set = ["--base", "socket.send-buffer=64KiB", "--knob", "send-buffer", "--apply", "--seed", "1"];
    let output = linerate(&[&["tune", target], &set[..], &["--quiet", "--output", out]].concat());
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.into_iter().find(|path| path.extension().is_some_and(|it| it == "keep")).unwrap();
    let program = std::fs::read_to_string(kept.join("program.txt")).unwrap();
    assert!(program.contains("SO_SNDBUF") && program.contains("fresh blocks"), "{program}");
    assert!(std::fs::read_to_string(kept.join("undo.txt")).unwrap().contains("linerate undo"));
}

#[test]
fn a_dry_run_says_what_would_be_tried_and_why_not() {
    let text = |arguments: &[&str]| text(&linerate(&[&["tune", "lab", "--dry-run"], arguments].concat()));
    let of_sockets = text(&[]);
    assert!(of_sockets.contains("socket.send-buffer=4MiB\n") && of_sockets.contains("--allow host"));
    assert!(text(&["--allow", "host"]).contains("host.tcp-receive-buffer=16MiB"));
    let of_mpi = text(&["--rung", "network.mpi"]);
    assert!(of_mpi.contains("mpi.eager-limit=64KiB") && !of_mpi.contains("tcp.send-engine=sendfile\n"));
    assert!(text(&["--knob", "bufers"]).contains("did you mean `buffers`?"));
    let set = linerate(&["run", "lab", "--set", "host.mtu-probing=1", "--only", "network.tcp"]);
    assert_eq!(set.status.code(), Some(2), "a run sets a host's own setting");
}

/// The path's fault is put in: buffers of the hosts that begin at 64 KiB and stay there.
#[test]
fn a_lab_s_small_buffers_are_found() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let target =
        ["lab:delay=500us", "--fault", "small-buffers=64KiB", "--knob", "host-buffers", "--allow", "host"];
    let arguments = ["--quiet", "--output", out, "--format", "json", "--budget", "20s"];
    let output = linerate(&[&["tune"], &target[..], &arguments].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert_eq!(output.status.code(), Some(10), "{} {}", report["sentence"], text(&output));
    let step = &report["tuning"]["steps"][0];
    assert!(step["name"].as_str().unwrap().contains("host.tcp-receive-buffer"), "{step}");
    assert!(step["gain"]["low"].as_f64() > Some(0.5), "{step}");
}

/// A search that begins with a library's own bad value.
struct BadValue {
    rung: &'static str,
    base: &'static [&'static str],
    knob: &'static str,
    /// What else is asked for.
    options: &'static [&'static str],
    /// What the step that is kept is called, in part.
    step: &'static str,
    /// The least that it changes, for sure: a rate rises, a time falls.
    change: f64,
}

const EAGER: &[&str] = &["--metric", "latency", "--size", "16KiB"];

const BAD_VALUES: &[BadValue] = &[
    BadValue {
        rung: "network.mpi",
        base: &["mpi.socket-buffer=4KiB"],
        knob: "mpi-socket-buffer",
        options: &[],
        step: "mpi.socket-buffer",
        change: 0.01,
    },
    BadValue {
        rung: "network.mpi",
        base: &["mpi.implementation=openmpi", "mpi.eager-limit=1KiB"],
        knob: "mpi-eager-limit",
        options: EAGER,
        step: "mpi.eager-limit",
        change: -0.2,
    },
    BadValue {
        rung: "network.mpi",
        base: &["mpi.implementation=mpich", "mpi.eager-limit=1KiB"],
        knob: "mpi-eager-limit",
        options: EAGER,
        step: "mpi.eager-limit",
        change: -0.2,
    },
    BadValue {
        rung: "network.pvm",
        base: &[],
        knob: "pvm-route",
        options: &["--size", "64KiB"],
        step: "pvm.route=direct",
        change: 1.0,
    },
];

/// Turner and Chen 2002, section 4: what a library is set to decides what it carries.
#[test]
#[ignore = "takes four minutes: ./test --long"]
fn libraries_are_tuned_from_bad_values() {
    for one in BAD_VALUES {
        let folder = TempDir::new().unwrap();
        let out = folder.path().to_str().unwrap();
        let base: Vec<&str> = one.base.iter().flat_map(|base| ["--base", base]).collect();
        let target = ["tune", "lab", "--rung", one.rung, "--knob", one.knob, "--budget", "90s"];
        let arguments = ["--quiet", "--output", out, "--format", "json"];
        let output = linerate(&[&target[..], &base, one.options, &arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        assert_eq!(
            output.status.code(),
            Some(10),
            "{:?}: {} {}",
            one.base,
            report["sentence"],
            text(&output)
        );
        let step = &report["tuning"]["steps"][0];
        assert!(step["name"].as_str().unwrap().contains(one.step), "{step}");
        let (low, high) = (step["gain"]["low"].as_f64().unwrap(), step["gain"]["high"].as_f64().unwrap());
        let is_enough = if one.change < 0.0 { high < one.change } else { low > one.change };
        assert!(is_enough, "{:?}: {step}", one.base);
    }
}

/// A process that is no more.
const DEAD: &str = "4194304.1";

#[test]
fn what_an_administrator_changed_meanwhile_is_left() {
    let folder = TempDir::new().unwrap();
    let lab = Lab::build(&Topology::default(), Path::new(PROGRAM)).unwrap();
    let shell = |script: &str| {
        let output = lab.hosts()[0].command("sh").args(["-c", script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let journals = folder.path().join("linerate/settings");
    std::fs::create_dir_all(&journals).unwrap();
    let closed: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    for own in [folder.path().join("linerate"), journals.clone()] {
        std::fs::set_permissions(own, closed.clone()).unwrap();
    }
    let namespace = shell("readlink /proc/self/ns/net").trim().to_owned();
    let line = |place: &str, before: &str, set: &str| {
        json!({"place": place, "before": before, "set": set, "namespace": namespace}).to_string() + "\n"
    };
    let probing = line("net.ipv4.tcp_mtu_probing", "0", "1");
    let idle = line("net.ipv4.tcp_slow_start_after_idle", "1", "0");
    // The last line was not whole when its process died.
    std::fs::write(journals.join(DEAD), probing + &idle + "{\"place\":\"net.ipv4.tcp_rm").unwrap();
    shell(
        "echo 2 > /proc/sys/net/ipv4/tcp_mtu_probing; echo 0 > /proc/sys/net/ipv4/tcp_slow_start_after_idle",
    );
    let mut undo = lab.hosts()[0].command(PROGRAM);
    let output = undo.arg("undo").env("XDG_RUNTIME_DIR", folder.path()).output().unwrap();
    let printed = text(&output);
    assert!(output.status.success() && printed.contains("tcp_slow_start_after_idle is 1 again"), "{printed}");
    assert!(printed.contains("tcp_mtu_probing is 2, which somebody else made it meanwhile"), "{printed}");
    let read = shell("cat /proc/sys/net/ipv4/tcp_mtu_probing /proc/sys/net/ipv4/tcp_slow_start_after_idle");
    assert_eq!(read, "2\n1\n");
    assert!(!journals.join(DEAD).exists(), "it is told of again and again");
}

#[test]
fn what_others_change_during_a_search_is_told() {
    let lab = Lab::build(&Topology::default(), Path::new(PROGRAM)).unwrap();
    let mut part = lab.hosts()[0].command(std::env::current_exe().unwrap());
    let name = "tuning::settings_that_others_change_are_told";
    let output = part.args(["--exact", name, "--ignored"]).output().unwrap();
    let printed = text(&output);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
#[ignore = "a part, which runs on a host of a lab"]
fn settings_that_others_change_are_told() {
    let (probing, idle) =
        ("/proc/sys/net/ipv4/tcp_mtu_probing", "/proc/sys/net/ipv4/tcp_slow_start_after_idle");
    let folder = TempDir::new().unwrap();
    let mut settings = HostSettings::new(folder.path());
    let asked = ["host.mtu-probing=1", "host.slow-start-after-idle=off"].map(|text| text.parse().unwrap());
    let granted = settings.set(&asked, None).unwrap();
    assert!(granted.iter().all(Granted::is_as_asked), "{granted:?}");
    std::fs::write(probing, "2").unwrap();
    // The next trial asks for nothing of it.
    settings.set(&[], None).unwrap();
    let told = settings.put_back().unwrap();
    let became: Vec<(&str, Became)> = told.iter().map(|one| (one.place.as_str(), one.became)).collect();
    assert_eq!(became, [("net.ipv4.tcp_mtu_probing", Became::Left)]);
    let read = [probing, idle].map(|file| std::fs::read_to_string(file).unwrap());
    assert_eq!(read, ["2\n", "1\n"]);
    let files = std::fs::read_dir(folder.path().join("settings")).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let process = std::process::id().to_string();
    assert!(!names.iter().any(|name| name.starts_with(&process)), "it is written down still: {names:?}");
}

#[test]
fn a_queue_comes_back_and_a_driver_s_refusal_is_told() {
    let lab = Lab::build(&Topology::default(), Path::new(PROGRAM)).unwrap();
    let mut part = lab.hosts()[0].command(std::env::current_exe().unwrap());
    let name = "tuning::adapters_of_a_lab_are_set_and_put_back";
    let output = part.args(["--exact", name, "--ignored"]).output().unwrap();
    let printed = text(&output);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

/// What a shell prints on this host.
fn printed(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
#[ignore = "a part, which runs on a host of a lab"]
fn adapters_of_a_lab_are_set_and_put_back() {
    let folder = TempDir::new().unwrap();
    let queue = || printed("tc qdisc show dev wire0 root | cut -d' ' -f2");
    let address = printed("ip -o -4 address show wire0 | awk '{print $4}' | cut -d/ -f1");
    let address = Some(address.parse().unwrap());
    let before = queue();
    let mut settings = HostSettings::new(folder.path());
    settings.is_transient(true);
    let asked = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
    let set = asked(&[
        "host.queueing=pfifo",
        "host.ring-size=512",
        "host.interrupt-delay=50",
        "host.governor=performance",
    ]);
    let granted = settings.set(&set, address.as_ref()).unwrap();
    assert!(granted[0].is_as_asked() && queue() == "pfifo", "{granted:?} {}", queue());
    // Cables have no rings and no interrupts, and a clock is the machine's.
    for refused in &granted[1..] {
        let said = refused.granted.as_deref().unwrap();
        assert!(!refused.is_as_asked() && said.starts_with("nothing ("), "{refused:?}");
    }
    assert!(granted[1].granted.as_deref().unwrap().contains("not supported"), "{:?}", granted[1]);
    settings.set(&[], address.as_ref()).unwrap();
    assert_eq!(queue(), before);
    // What an administrator put there is left, for nobody could put it back.
    printed("tc qdisc replace dev wire0 root handle 7: pfifo limit 77");
    let granted = settings.set(&asked(&["host.queueing=fq_codel"]), address.as_ref()).unwrap();
    assert!(granted[0].granted.as_deref().unwrap().contains("somebody's own"), "{granted:?}");
    assert!(printed("tc qdisc show dev wire0 root").contains("limit 77p"));
}

#[test]
fn a_search_that_is_killed_leaves_its_hosts_as_they_were() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number(SEED).unwrap_or_else(rand::random);
    let kills = number(KILLS).map_or(USUAL_KILLS, |kills| kills as usize);
    println!("{kills} kills, {SEED}={seed}");
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let fixture = Fixture::new(2);
    let before = settings(&fixture);
    for kill in 0..kills {
        let mut search = search(&fixture);
        await_condition("a setting to be changed", || {
            assert!(search.try_wait().unwrap().is_none(), "the search ended by itself");
            settings(&fixture) != before
        });
        std::thread::sleep(Duration::from_millis(chance.random_range(0..300)));
        let victim = if chance.random_ratio(1, 2) { agents(&fixture).into_iter().next() } else { None };
        victim.into_iter().for_each(end);
        let _ = search.kill();
        search.wait().unwrap();
        // What sees the end of its controller puts back by itself.
        await_condition("the agents to be gone", || agents(&fixture).is_empty());
        for host in 0..2 {
            let output = program(&fixture, host).arg("undo").output().unwrap();
            assert!(output.status.success(), "{}", text(&output));
        }
        assert_eq!(settings(&fixture), before, "kill {kill}");
    }
}

/// How a shell at a host waits until a search changes one of its settings, and lets nothing in from then on.
const CUTS_OFF: &str = "all() { cat /proc/sys/net/ipv4/tcp_*mem /proc/sys/net/ipv4/tcp_slow_start_after_idle \
     /proc/sys/net/ipv4/tcp_no_metrics_save /proc/sys/net/ipv4/tcp_mtu_probing; }; was=$(all); \
     while test \"$(all)\" = \"$was\"; do :; done; \
     nft 'add table inet away; add chain inet away in { type filter hook input priority 0; policy drop; }'";

/// It hears nothing of its controller, and nobody tells it to.
#[test]
#[ignore = "a controller is waited for, half a minute: ./test --long"]
fn a_host_whose_path_is_lost_puts_back_by_itself() {
    let fixture = Fixture::new(2);
    let at_b = |program: &str, arguments: &[&str]| {
        let mut command = fixture.lab.hosts()[1].command(program);
        assert!(command.args(arguments).status().unwrap().success(), "{program} {arguments:?}");
    };
    let before = settings(&fixture)[1].clone();
    let mut search = search(&fixture);
    at_b("timeout", &["60", "sh", "-c", CUTS_OFF]);
    std::thread::sleep(Duration::from_secs(10));
    assert_ne!(settings(&fixture)[1], before, "its controller may come back");
    let cut_off = Instant::now();
    while settings(&fixture)[1] != before {
        assert!(cut_off.elapsed() < Duration::from_secs(60), "they are left as the search made them");
        std::thread::sleep(Duration::from_millis(200));
    }
    search.kill().unwrap();
    search.wait().unwrap();
    at_b("nft", &["delete table inet away"]);
    await_condition("the agents to be gone", || agents(&fixture).is_empty());
}

/// A search of what hosts may change, from host a to host b.
fn search(fixture: &Fixture) -> Child {
    let mut command = program(fixture, 0);
    command.args([
        "tune",
        &fixture.target(1),
        "--allow",
        "host",
        "--knob",
        "host-buffers,mtu,host-mtu-probing,host-queues,host-receive-packet-steering",
    ]);
    command.args(["--quiet", "--ssh", &fixture.ssh, "--output"]).arg(fixture.folder.path().join("out"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The program on a host, as sshd calls it there.
fn program(fixture: &Fixture, host: usize) -> Command {
    let mut command = fixture.lab.hosts()[host].command(PROGRAM);
    command.env_remove("XDG_RUNTIME_DIR").env("LINERATE_STATE", fixture.folder.path().join("state"));
    command
}

fn settings(fixture: &Fixture) -> [Vec<u8>; 2] {
    [0, 1].map(|host| {
        let mut shell = fixture.lab.hosts()[host].command("sh");
        shell.args(["-c", SETTINGS]).output().unwrap().stdout
    })
}

/// The agents in the namespaces of both hosts.
fn agents(fixture: &Fixture) -> Vec<u32> {
    let namespaces = [0, 1].map(|host| {
        let mut read = fixture.lab.hosts()[host].command("readlink");
        let output = read.arg("/proc/self/ns/net").output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    });
    let is_agent = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let namespace = std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"agent")
            && namespaces.iter().any(|one| namespace == Path::new(one))
    };
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(is_agent).collect()
}

fn end(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
