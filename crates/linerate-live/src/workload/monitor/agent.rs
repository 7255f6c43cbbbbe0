//! The real thing that tells a node's state: Ganglia's gmond by its XML port, Prometheus' node exporter by HTTP.
//!
//! It is started on the node's host for one step, as this user, at a port that is free there, and gone with the step. Its
//! configuration goes through its standard input: nothing of it is written anywhere.

use super::Polled;
use super::reply::{Form, MOST_REPLY, read};
use crate::pattern::{Measured, Start, pull_all, push_all};
use crate::plan::Block;
use crate::workload::application::{Answers, Order, PairEnd};
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Signal;
use linerate_sys::{clock, spawn};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take until it answers, and how often is looked.
const ANSWERS: Duration = Duration::from_secs(8);
const LOOK: Duration = Duration::from_millis(20);

/// The room for one read of a reply.
const ROOM: usize = 64 << 10;

/// Where gmond's package has what it collects by default.
const GMOND_CONF: &str = "/etc/ganglia/gmond.conf";

/// A program that tells its host's state.
pub struct Agent {
    name: &'static str,
    package: &'static str,
    form: Form,
    request: &'static [u8],
    command: fn(SocketAddr) -> Result<(Command, String)>,
}

static AGENTS: &[Agent] = &[
    Agent { name: "gmond", package: "ganglia-monitor", form: Form::Xml, request: b"", command: gmond },
    Agent {
        name: "node-exporter",
        package: "prometheus-node-exporter",
        form: Form::Http,
        request: b"GET /metrics HTTP/1.0\r\n\r\n",
        command: node_exporter,
    },
];

/// Where one answers.
pub struct Place {
    address: SocketAddr,
    agent: &'static Agent,
}

impl Agent {
    /// The one that is asked for; none of this program's own.
    pub fn named(order: &Order) -> Result<Option<&'static Agent>> {
        let Some(name) = order.value::<String>("monitor.agent").filter(|name| name != "own") else {
            return Ok(None);
        };
        let unknown =
            || Error::usage(format!("no agent of a monitor is called `{name}`"), "gmond or node-exporter");
        AGENTS.iter().find(|agent| agent.name == name).map(Some).ok_or_else(unknown)
    }

    /// Where the other end's answers: it tells its port when it does.
    pub fn place(&'static self, pair_end: &mut PairEnd<'_>, order: &Order) -> Result<Place> {
        let ip = |of: fn(&TcpStream) -> std::io::Result<SocketAddr>| {
            pair_end.session.sockets().first().and_then(|socket| of(socket).ok()).map(|address| address.ip())
        };
        let plain = || Error::unavailable(format!("{} over this transport", self.name), "take network.tcp");
        let ip = ip(TcpStream::peer_addr).ok_or_else(plain)?;
        let mut port = [0; 2];
        let failed = |error| super::broken("the node", order.other(pair_end.pair), &error);
        let mut streams = pair_end.session.streams(pair_end.task)?;
        let stream = streams.first_mut().ok_or_else(plain)?;
        pull_all(&mut stream.link, &mut port).map_err(failed)?;
        Ok(Place { address: SocketAddr::new(ip, u16::from_be_bytes(port)), agent: self })
    }

    /// Starts it, tells where it is, and waits until the other end has gone.
    pub fn serve(
        &'static self,
        pair_ends: &mut [PairEnd<'_>],
        order: &Order,
        blocks: &[Block],
    ) -> Result<Answers> {
        let mut answers = Vec::new();
        for pair_end in pair_ends.iter_mut() {
            let local = pair_end.session.sockets().first().and_then(|socket| socket.local_addr().ok());
            let plain =
                || Error::unavailable(format!("{} over this transport", self.name), "take network.tcp");
            let (serving, port) = self.start(local.ok_or_else(plain)?.ip())?;
            let start = Start::now();
            {
                let failed = |error| super::broken("the monitor", order.other(pair_end.pair), &error);
                let mut streams = pair_end.session.streams(pair_end.task)?;
                let stream = streams.first_mut().ok_or_else(plain)?;
                push_all(&mut stream.link, &port.to_be_bytes()).map_err(failed)?;
                // The end of the stream is what is waited for.
                while let Err(error) = pull_all(&mut stream.link, &mut [0]) {
                    match error.kind() {
                        ErrorKind::TimedOut | ErrorKind::WouldBlock if !serving.process.has_ended() => {}
                        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => break,
                        _ => return Err(failed(error)),
                    }
                }
            }
            let flow = start.until(&Start::now());
            let measured = |_: &Block| Measured {
                flow: flow.clone(),
                samples: Vec::new(),
                timer_slack_lowered: true,
                kept_awake: false,
            };
            let of_flow = |_| blocks.iter().map(measured).collect();
            answers.push((0..pair_end.flows).map(of_flow).collect());
        }
        Ok(answers)
    }

    fn start(&'static self, ip: IpAddr) -> Result<(Serving, u16)> {
        let free = TcpListener::bind((ip, 0)).and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| Error::io("bind", ip.to_string(), error))?;
        let (mut command, text) = (self.command)(address)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A service manager may have told this process things that are not meant for this one.
        command.env_remove("NOTIFY_SOCKET");
        // Where daemons are is not in every user's path.
        command.env("PATH", FOLDERS.join(":"));
        spawn::tie_to_parent(&mut command);
        let serving = self.spawned(command, &text)?;
        let place = Place { address, agent: self };
        let begun = Instant::now();
        loop {
            match place.poll(Instant::now() + Duration::from_secs(1)) {
                Ok(answer) if answer.bytes > 0 && place.is_ready() => return Ok((serving, address.port())),
                _ if serving.process.has_ended() || begun.elapsed() > ANSWERS => {
                    let what = format!("does not answer at {address}");
                    return Err(Error::peer(self.name, what, "start it by hand, and see what it says"));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    fn spawned(&self, command: Command, text: &str) -> Result<Serving> {
        let missing = || {
            let hint = format!("apt install {}, or monitor.agent=own", self.package);
            Error::unavailable(format!("{} is not installed on this host", self.name), hint)
        };
        if !is_here(command.get_program()) {
            return Err(missing());
        }
        let process = ChildProcess::start(self.name, Duration::ZERO, command)?;
        let untaken = || Error::peer(self.name, "has no standard input", "please report it");
        let (mut input, output) = process.streams().ok_or_else(untaken)?;
        let serving = Serving { process, _output: output };
        input.write_all(text.as_bytes()).map_err(|error| Error::io("write", self.name, error))?;
        Ok(serving)
    }
}

/// One that runs; it ends with this value.
struct Serving {
    process: ChildProcess,
    /// Nobody reads it, and it stays open: little is said.
    _output: ChildStdout,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.process.signal_group(Signal::Kill);
    }
}

thread_local! {
    /// The room of a thread's reads: it asks one node again and again.
    static READ_ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Place {
    /// Asks once.
    pub fn poll(&self, until: Instant) -> Polled {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
        let mut stream = TcpStream::connect_timeout(&self.address, left)?;
        let stands_ns = clock::monotonic_ns();
        stream.write_all(self.agent.request)?;
        let bytes = READ_ROOM.with_borrow_mut(|room| {
            room.resize(ROOM, 0);
            read(self.agent.form, room, until, &mut |bytes, limit| {
                stream.set_read_timeout(Some(limit.max(Duration::from_micros(1))))?;
                stream.read(bytes)
            })
        })?;
        Ok(super::Answer { bytes, stands_ns, answered_ns: clock::monotonic_ns() })
    }

    /// Whether what it tells is of a host: gmond knows its own only when its first packet has come back.
    fn is_ready(&self) -> bool {
        let mut text = Vec::new();
        let told = TcpStream::connect(self.address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            stream.write_all(self.agent.request)?;
            stream.take(MOST_REPLY).read_to_end(&mut text)
        });
        let is_xml = self.agent.form == Form::Xml;
        told.is_ok() && (!is_xml || text.windows(6).any(|word| word == b"<HOST "))
    }
}

/// gmond with what its package collects, at this address alone: it sends to itself and hears nobody else.
fn gmond(address: SocketAddr) -> Result<(Command, String)> {
    let shipped = std::fs::read_to_string(GMOND_CONF).map_err(|error| {
        Error::unavailable(
            format!("{GMOND_CONF}: {error}"),
            "apt install ganglia-monitor, or monitor.agent=own",
        )
    })?;
    let mut command = Command::new("gmond");
    command.args(["--foreground", "--conf", "/dev/stdin"]);
    Ok((command, private(&shipped, address)))
}

/// The shipped configuration with its channels and its names replaced.
fn private(shipped: &str, address: SocketAddr) -> String {
    let (ip, port) = (address.ip(), address.port());
    let blocks = [
        (
            "globals",
            format!(
                "daemonize = no\nsetuid = no\ndebug_level = 0\nmax_udp_msg_len = 1472\nmute = no\ndeaf = no\n\
                 host_dmax = 0\ncleanup_threshold = 300\ngexec = no\nsend_metadata_interval = 5\n\
                 override_hostname = \"node\"\noverride_ip = \"{ip}\"\n"
            ),
        ),
        ("udp_send_channel", format!("host = {ip}\nport = {port}\nttl = 1\n")),
        ("udp_recv_channel", format!("port = {port}\nbind = {ip}\n")),
        ("tcp_accept_channel", format!("port = {port}\nbind = {ip}\n")),
    ];
    let mut text = String::new();
    let mut skips = false;
    for line in shipped.lines() {
        let begins =
            |name: &str| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('{'));
        if let Some((name, body)) = blocks.iter().find(|(name, _)| begins(name)) {
            text += &format!("{name} {{\n{body}}}\n");
            skips = true;
        }
        if !skips {
            text += &format!("{line}\n");
        }
        skips &= !line.starts_with('}');
    }
    text
}

fn node_exporter(address: SocketAddr) -> Result<(Command, String)> {
    let mut command = Command::new("prometheus-node-exporter");
    command.args([format!("--web.listen-address={address}"), "--log.level=error".into()]);
    Ok((command, String::new()))
}

/// Where their programs are.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Whether a program of this name is on this host.
fn is_here(program: &OsStr) -> bool {
    FOLDERS.iter().any(|folder| Path::new(folder).join(program).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_gmond_has_no_channel_of_the_shipped_one() {
        let shipped = "globals {\n  daemonize = yes\n}\n\ncluster {\n  name = \"x\"\n}\nudp_send_channel {\n  \
                       mcast_join = 239.2.11.71\n}\nudp_recv_channel {\n  mcast_join = 239.2.11.71\n}\n\
                       tcp_accept_channel {\n  port = 8649\n}\nmodules {\n}\n";
        let text = private(shipped, "192.0.2.7:4711".parse().unwrap());
        for gone in ["239.2.11.71", "8649", "daemonize = yes"] {
            assert!(!text.contains(gone), "{text}");
        }
        for there in ["port = 4711\nbind = 192.0.2.7\n", "cluster {\n  name = \"x\"\n}", "modules {\n}"] {
            assert!(text.contains(there), "{text}");
        }
    }

    #[test]
    fn real_agents_tell_their_hosts_state() {
        for agent in AGENTS {
            let program = if agent.name == "gmond" { "gmond" } else { "prometheus-node-exporter" };
            if !is_here(OsStr::new(program)) {
                println!("SKIP: real_agents_tell_their_hosts_state: no {program} here: {}", agent.package);
                continue;
            }
            let (serving, port) = agent.start("127.0.0.1".parse().unwrap()).unwrap();
            let place = Place { address: SocketAddr::from(([127, 0, 0, 1], port)), agent };
            let answer = place.poll(Instant::now() + Duration::from_secs(5));
            assert!(answer.is_ok_and(|answer| answer.bytes > 2000), "{}", agent.name);
            drop(serving);
            let begun = Instant::now();
            while place.poll(Instant::now() + Duration::from_secs(1)).is_ok() {
                assert!(begun.elapsed() < Duration::from_secs(10), "{} goes on", agent.name);
            }
        }
    }
}
