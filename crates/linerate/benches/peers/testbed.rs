//! Where the races are run: a loopback interface of their own, with CPUs that are kept awake for both sides.
//!
//! The network is a namespace of this run, so that a peer that has no option for its congestion control has the same one
//! as ours; with it goes a process namespace, with which all processes end, whatever becomes of this one.

use linerate::pattern::Awake;
use linerate_sys::netlink::Netlink;
use linerate_sys::process::effective_user;
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::process::{Command, ExitCode, Stdio};

/// What says to a started bench that it is in its namespaces.
pub const INSIDE: &str = "--inside";

/// Ports of servers; above them are those that the kernel chooses.
const FIRST_PORT: u16 = 20_001;
const LAST_PORT: u16 = 24_999;

/// What is written into the namespace: the port range, that a closed connection does not keep its port for a minute, and one
/// size of buffers for all connections. Where buffers grow by autotuning, equal runs of one program are 70 and 100 Gb/s.
const SYSCTLS: &[(&str, &str)] = &[
    ("ip_local_port_range", "25000 65000"),
    ("tcp_max_tw_buckets", "4096"),
    ("tcp_tw_reuse", "1"),
    ("tcp_rmem", "4096 2097152 2097152"),
    ("tcp_wmem", "4096 4194304 4194304"),
];

/// A second address of the loopback interface, to which nothing goes: getaddrinfo(3), as netperf calls it, takes a host
/// for one without IPv4 that has nothing but 127.0.0.1. It is one of RFC 5737.
const BESIDE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// The first that the namespace takes; the last one is always allowed there.
const CONGESTION: &[&str] = &["cubic", "reno"];

/// The words that make the namespaces.
fn leave() -> Vec<&'static str> {
    let mut words = vec!["--net", "--pid", "--mount-proc", "--fork", "--kill-child=KILL"];
    if effective_user() != 0 {
        words.extend(["--user", "--map-root-user"]);
    }
    words
}

/// Runs this program again, in its namespaces; none where they are not to be had.
pub fn enter(arguments: &[String]) -> Option<ExitCode> {
    let mut probe = Command::new("unshare");
    probe.args(leave()).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return None;
    }
    let this = std::env::current_exe().ok()?;
    let mut again = Command::new("setpriv");
    again.args(["--pdeathsig", "KILL", "unshare"]).args(leave()).arg(this).arg(INSIDE).args(arguments);
    let status = again.status().ok()?;
    Some(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8)))
}

/// The place of the races.
pub struct Testbed {
    /// The CPUs that are used: one or two.
    pub cpus: Vec<u32>,
    /// The congestion control of every connection.
    pub congestion: String,
    port: Cell<u16>,
    _awake: Option<Awake>,
}

impl Testbed {
    /// Readies it; `inside` says that the network is this run's own.
    pub fn prepare(inside: bool) -> Result<Testbed, String> {
        if inside {
            furnish()?;
        }
        let cpus = linerate_sys::thread::allowed_cpus().map_err(|error| error.to_string())?;
        let cpus: Vec<u32> = cpus.into_iter().take(2).collect();
        let congestion = std::fs::read_to_string(sysctl("tcp_congestion_control")).unwrap_or_default();
        let awake = Awake::keep(&cpus);
        let congestion = congestion.trim().to_owned();
        Ok(Testbed { cpus, congestion, port: Cell::new(FIRST_PORT), _awake: awake })
    }

    /// A port that no server had lately: an old one's connections may still be waiting at theirs.
    pub fn port(&self) -> u16 {
        let port = self.port.get();
        self.port.set(if port == LAST_PORT { FIRST_PORT } else { port + 1 });
        port
    }
}

fn sysctl(name: &str) -> String {
    format!("/proc/sys/net/ipv4/{name}")
}

fn furnish() -> Result<(), String> {
    let said = |error: linerate_sys::Error| error.to_string();
    let mut netlink = Netlink::open().map_err(said)?;
    let loopback = netlink.link("lo").map_err(said)?;
    netlink.set_up(&loopback).map_err(said)?;
    netlink.add_address(&loopback, BESIDE.into(), 32).map_err(said)?;
    for (name, value) in SYSCTLS {
        std::fs::write(sysctl(name), value).map_err(|error| format!("{name}: {error}"))?;
    }
    let taken = CONGESTION.iter().any(|name| std::fs::write(sysctl("tcp_congestion_control"), name).is_ok());
    taken.then_some(()).ok_or_else(|| "no congestion control could be set".into())
}
