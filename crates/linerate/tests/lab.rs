//! The lab as root and as an ordinary user: hosts reach each other, have what was asked for, and vanish.
//!
//! A test that needs a process on a virtual host starts this very binary there, on one of the ignored
//! tests at the end, and reads the line of JSON that this says.

mod netem;
use crate::user::nobody;
mod removal;
mod sixteen;
mod wire;

use linerate::lab::{self, Lab, VirtualHost, builder};
use linerate::observer::refusal;
use linerate::plan::{Shape, Topology, WireKind};
use linerate::unit::BitRate;
use linerate::vocabulary::Privilege;
use linerate_sys::namespace;
use linerate_sys::netlink::{Netlink, Qdisc};
use nobody::{is_root, program};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// What a part is told.
const ORDER: &str = "LINERATE_TEST_ORDER";

/// How a line begins that a part says to the test.
const MARK: &str = "says ";

/// How long anything may take; only what is broken takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much a transfer carries: more than any buffer holds.
const BYTES: usize = 8 << 20;

#[test]
fn two_hosts_reach_each_other() {
    let lab = lab(Topology::default());
    let names: Vec<_> = lab.hosts().iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    transfer(&lab.hosts()[0], &lab.hosts()[1]);
    transfer(&lab.hosts()[1], &lab.hosts()[0]);
}

#[test]
fn five_hosts_reach_each_other_over_a_bridge() {
    let lab = lab(Topology { hosts: 5, ..Topology::default() });
    for number in 0..5 {
        transfer(&lab.hosts()[number], &lab.hosts()[(number + 1) % 5]);
    }
}

#[test]
fn every_host_has_the_rate_asked_for() {
    // 40 Gb/s is more bytes a second than fit into 32 bits.
    for (hosts, rate) in [(2, 1e9), (3, 4e10)] {
        let shape = Shape { rate: Some(BitRate(rate)), ..Shape::default() };
        let lab = lab(Topology { hosts, shape, wire: WireKind::TokenBucket, ..Topology::default() });
        for host in lab.hosts() {
            let facts = facts(host);
            assert_eq!(facts["bytes_per_s"], rate as u64 / 8, "{facts}");
            // The kernel keeps the burst as a time, rounded down.
            let least = (rate / 8.0 * 0.002).max(262_144.0) * 0.999;
            assert!(facts["burst_bytes"].as_f64().unwrap() >= least, "{facts}");
        }
        transfer(&lab.hosts()[0], &lab.hosts()[1]);
    }
}

#[test]
fn a_host_is_a_host_of_its_own() {
    for hosts in [2, 3] {
        let lab = lab(Topology { hosts, ..Topology::default() });
        for host in lab.hosts() {
            let facts = facts(host);
            assert_eq!(facts["host_name"], host.name.as_str());
            assert_eq!(facts["links"], json!(["lo", host.interface]));
            assert_eq!((&facts["loopback_up"], &facts["state"]), (&json!(true), &json!("up")), "{facts}");
            // Nobody has sent anything yet, and the kernel is to send nothing of its own accord.
            assert_eq!(facts["packets"], 0, "{facts}");
            assert_ne!(facts["ipv6_automatic"], true, "{facts}");
            // Every kernel allows reno to all, so BBR of the machine is never what remains.
            assert_ne!(facts["congestion_control"], "bbr", "{facts}");
        }
        let own = Netlink::open().unwrap().links().unwrap();
        assert!(own.iter().all(|link| link.name != lab.hosts()[0].interface), "{own:?}");
    }
}

#[test]
fn a_process_of_a_host_hears_no_terminal() {
    let lab = lab(Topology::default());
    let mut child = lab.hosts()[0].command("sleep").arg("60").spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    // After the name in parentheses: state, parent, process group.
    let group = stat.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap();
    assert_eq!(group, child.id().to_string());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_probe_tells_what_is_possible() {
    let abilities = lab::probe(&program()).unwrap();
    assert!(abilities.token_bucket, "{abilities:?}");
    assert_eq!(abilities.user_namespace, !namespace::may_administer().unwrap());
}

/// What a host's agent may do is what its user may: that is nothing more where the lab is in a user namespace.
#[test]
fn a_host_is_traced_where_its_user_may_trace() {
    let lab = lab(Topology::default());
    let said = hear(&mut part_on(&lab.hosts()[0], "part_tells_why_it_may_not_trace").spawn().unwrap());
    let why = said["why"].as_str();
    println!("{said}");
    if lab.has_user_namespace() {
        assert!(why.is_some_and(|why| why.contains("bpf(BPF_PROG_LOAD)") && why.contains("user namespace")));
    } else {
        assert_eq!(why, refusal(Privilege::Tracing).map(|refusal| refusal.why.as_str()));
    }
    // It is not this process's own namespace in which that holds.
    assert_ne!(said["network"], json!(fs::read_link("/proc/self/ns/net").unwrap()));
}

/// Runs every test of this file again.
#[test]
fn an_ordinary_user_can_do_it_too() {
    nobody::runs_them_too(&["lab::"], &[]);
}

#[test]
fn a_builder_without_a_controller_ends() {
    let (here, there) = linerate_sys::handover::pair().unwrap();
    let mut command = Command::new(program());
    let mut child = command.arg(builder::SUBCOMMAND).stdin(there).spawn().unwrap();
    drop((command, here));
    await_that("the builder ends", || child.try_wait().unwrap().is_some());
}

#[test]
fn what_is_wrong_is_said() {
    let one = Topology { hosts: 1, ..Topology::default() };
    let cases = [
        (Lab::build(&one, &program()), 2, "2 to 64 hosts"),
        (Lab::build(&Topology::default(), Path::new("/bin/true")), 4, "ended with exit status: 0"),
        (Lab::build(&Topology::default(), Path::new("/no/such/program")), 5, "start /no/such/program"),
        (Lab::build(&Topology { mtu: 1, ..Topology::default() }, &program()), 5, "RTM_NEWLINK veth wire0"),
    ];
    for (built, code, part) in cases {
        let error = built.unwrap_err();
        let text = format!("{error} {}", error.hint().unwrap_or_default());
        assert_eq!(error.exit_code(), code, "{text}");
        assert!(text.contains(part), "{text}");
    }
}

/// Only a user namespace has limits that a test may set: that of an ordinary user's lab. It owns what is
/// built inside, so a lab within the lab runs into them.
#[test]
fn what_is_forbidden_is_said_in_words() {
    if is_root() {
        // an_ordinary_user_can_do_it_too comes here again.
        return;
    }
    let lab = lab(Topology::default());
    let mut allowed = part_on(&lab.hosts()[0], "part_builds_a_lab").spawn().unwrap();
    assert_eq!(hear(&mut allowed), json!("built"));

    let script = "echo 0 > /proc/sys/user/max_net_namespaces; exec \"$@\"";
    let mut shell = lab.hosts()[0].command("sh");
    shell.args(["-c", script, "sh"]).arg(env::current_exe().unwrap());
    let mut forbidden = shell.args(arguments("part_builds_a_lab")).spawn().unwrap();
    let said = hear(&mut forbidden).to_string();
    assert!(said.contains("no more namespaces may be made here"), "{said}");
    assert!(said.contains("max_net_namespaces"), "{said}");
}

/// A lab of what is asked for.
fn lab(topology: Topology) -> Lab {
    Lab::build(&topology, &program()).unwrap()
}

/// Sends [`BYTES`] over TCP, and checks that all of it arrives from the right address.
fn transfer(from: &VirtualHost, to: &VirtualHost) {
    transfer_between((from, from.address), (to, to.address));
}

fn transfer_between((from, source): (&VirtualHost, IpAddr), (to, target): (&VirtualHost, IpAddr)) {
    let at = SocketAddr::new(target, 0).to_string();
    let mut receiver = part_on(to, "part_receives").env(ORDER, at).spawn().unwrap();
    let port = hear(&mut receiver)["port"].as_u64().unwrap() as u16;
    let target = SocketAddr::new(target, port);
    let sender = part_on(from, "part_sends").env(ORDER, target.to_string()).output().unwrap();
    assert!(
        sender.status.success(),
        "{} > {}: {}",
        from.name,
        to.name,
        String::from_utf8_lossy(&sender.stdout)
    );
    assert_eq!(hear(&mut receiver), json!({ "from": source, "bytes": BYTES }));
    assert!(receiver.wait().unwrap().success());
}

/// What a host says about itself.
fn facts(host: &VirtualHost) -> Value {
    let mut child = part_on(host, "part_tells_facts").env(ORDER, &host.interface).spawn().unwrap();
    let facts = hear(&mut child);
    assert!(child.wait().unwrap().success());
    facts
}

/// Whether any process is in this namespace or holds a descriptor of it.
fn is_referred_to(namespace: &str) -> bool {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    entries("/proc".into()).any(|process| {
        let links = entries(process.path().join("ns")).chain(entries(process.path().join("fd")));
        links.filter_map(|link| fs::read_link(link.path()).ok()).any(|link| link == Path::new(namespace))
    })
}

fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        thread::yield_now();
    }
}

fn arguments(part: &str) -> [String; 4] {
    ["--exact", "--ignored", "--nocapture", &format!("lab::{part}")].map(String::from)
}

/// A part as a process of its own on this host.
fn part_on(host: &VirtualHost, part: &str) -> Command {
    let mut command = host.command("/proc/self/exe");
    command.args(arguments(part));
    command
}

/// What a part says next. The test harness says other things on lines of its own.
fn hear(child: &mut Child) -> Value {
    let mut line = Vec::new();
    let output = child.stdout.as_mut().unwrap();
    loop {
        // Byte by byte, so that nothing of the next line is taken away.
        let mut byte = [0];
        assert_eq!(output.read(&mut byte).unwrap(), 1, "the part ended: {}", String::from_utf8_lossy(&line));
        match byte[0] {
            b'\n' if line.starts_with(MARK.as_bytes()) => {
                return serde_json::from_slice(&line[MARK.len()..]).unwrap();
            }
            b'\n' => line.clear(),
            byte => line.push(byte),
        }
    }
}

/// Says something to the test that started this part.
fn say(value: &Value) {
    let mut output = io::stdout();
    // The harness may have left a line unfinished.
    writeln!(output, "\n{MARK}{value}").unwrap();
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_receives() {
    let listener = TcpListener::bind(env::var(ORDER).unwrap()).unwrap();
    say(&json!({ "port": listener.local_addr().unwrap().port() }));
    let (mut stream, peer) = listener.accept().unwrap();
    let bytes = io::copy(&mut stream, &mut io::sink()).unwrap();
    say(&json!({ "from": peer.ip(), "bytes": bytes }));
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_sends() {
    let target = env::var(ORDER).unwrap().parse().unwrap();
    let mut stream = TcpStream::connect_timeout(&target, PATIENCE).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&vec![0; BYTES]).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    // The receiver closes when it has everything.
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_tells_facts() {
    let mut netlink = Netlink::open().unwrap();
    let wire = netlink.link(&env::var(ORDER).unwrap()).unwrap();
    let bucket = match netlink.qdisc(&wire).unwrap() {
        Some(Qdisc::TokenBucket(bucket)) => Some(bucket),
        _ => None,
    };
    let links = netlink.links().unwrap();
    let system = |path: &str| fs::read_to_string(format!("/proc/sys/{path}")).unwrap().trim().to_string();
    say(&json!({
        "host_name": system("kernel/hostname"),
        "congestion_control": system("net/ipv4/tcp_congestion_control"),
        "links": links.iter().map(|link| link.name.clone()).collect::<Vec<_>>(),
        "loopback_up": links.iter().any(|link| link.name == "lo" && link.up),
        "mtu": wire.mtu,
        "state": wire.state,
        "ipv6_automatic": wire.ipv6_automatic,
        "packets": wire.counters.rx_packets,
        "bytes": wire.counters.rx_bytes,
        "bytes_per_s": bucket.map(|bucket| bucket.bytes_per_s),
        "burst_bytes": bucket.map(|bucket| bucket.burst_bytes),
    }));
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_tells_why_it_may_not_trace() {
    let why = refusal(Privilege::Tracing).map(|refusal| &refusal.why);
    say(&json!({ "why": why, "network": fs::read_link("/proc/self/ns/net").unwrap() }));
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_builds_a_lab() {
    say(&match Lab::build(&Topology::default(), &program()) {
        Ok(_) => json!("built"),
        Err(error) => json!(format!("{error} {}", error.hint().unwrap_or_default())),
    });
}
