//! A host of the run, as the controller sees it: its agent, its address, its facts.

use super::protocol::{Hello, PROTOCOL};
use super::ssh::Ssh;
use crate::control::Client;
use crate::lab::Lab;
use crate::plan::{Plan, Target};
use crate::record::HostFacts;
use crate::vocabulary::{Family, Place, Rung};
use crate::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long an agent may take to answer `hello`: it reads all of its host's environment.
const HELLO: Duration = Duration::from_secs(60);

/// What is needed to reach hosts.
#[derive(Debug, Clone)]
pub struct Means {
    /// This program, to be started on each host.
    pub program: PathBuf,
    /// How to call ssh.
    pub ssh: String,
}

/// A host and its agent.
pub struct Host {
    /// What is known of it.
    pub facts: HostFacts,
    /// Where its peer's data goes to.
    pub address: IpAddr,
    /// Its IPv6 address, where one is known.
    pub address6: Option<IpAddr>,
    /// The connection to its agent.
    pub client: Client,
    _agent: Agent,
}

/// The agent's process; it ends by itself when its standard input closes with the client.
struct Agent(Child);

impl Drop for Agent {
    /// The client, and with it the agent's standard input, was dropped before.
    fn drop(&mut self) {
        let deadline = std::time::Instant::now() + Duration::from_secs(2);
        while matches!(self.0.try_wait(), Ok(None)) {
            if std::time::Instant::now() > deadline {
                // It hangs: it must not outlive the run.
                let _ = self.0.kill();
                let _ = self.0.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Two hosts, and the lab that they live in when they are virtual.
pub struct Hosts {
    /// `a` and `b`.
    pub pair: Vec<Host>,
    _lab: Option<Lab>,
}

/// An agent that has been started and not yet asked.
struct Started {
    name: &'static str,
    reached: String,
    client: Client,
    agent: Agent,
    address: Option<IpAddr>,
    address6: Option<IpAddr>,
}

const NAMES: [&str; 2] = ["a", "b"];

impl Hosts {
    /// Builds or reaches the hosts and starts their agents.
    pub fn reach(plan: &Plan, means: &Means, stop: &dyn Fn() -> bool) -> Result<Hosts> {
        let (started, lab) = match &plan.target {
            Target::Lab(topology) => {
                let lab = Lab::build(topology, &means.program)?;
                let started = NAMES.iter().enumerate().map(|(index, name)| in_lab(&lab, index, name, means));
                (started.collect::<Result<Vec<_>>>()?, Some(lab))
            }
            Target::Ssh(hosts) => (by_ssh(hosts, means)?, None),
            Target::Simulated(_) => {
                return Err(Error::usage("a simulated machine has no hosts to reach", ""));
            }
        };
        let mut pair = greet(started, plan, stop)?;
        for host in &mut pair {
            host.facts.address = Some(host.address.to_string());
            host.facts.address6 = host.address6.map(|address| address.to_string());
        }
        Ok(Hosts { pair, _lab: lab })
    }
}

fn in_lab(lab: &Lab, index: usize, name: &'static str, means: &Means) -> Result<Started> {
    let host = &lab.hosts()[index];
    let mut command = host.command(&means.program);
    command.arg("agent");
    let started = Started::new(name, "lab".into(), start(command)?)?;
    Ok(Started { address: Some(host.address), address6: host.address6, ..started })
}

fn by_ssh(hosts: &[String], means: &Means) -> Result<Vec<Started>> {
    let remote = |name, host: &String| {
        let command = Ssh::new(&means.ssh, host)?.agent(&means.program)?;
        Started::new(name, format!("ssh://{host}"), start(command)?)
    };
    match hosts {
        [b] => {
            let mut local = Command::new(&means.program);
            local.arg("agent");
            Ok(vec![Started::new(NAMES[0], "local".into(), start(local)?)?, remote(NAMES[1], b)?])
        }
        _ => hosts.iter().zip(NAMES).map(|(host, name)| remote(name, host)).collect(),
    }
}

fn start(mut command: Command) -> Result<Child> {
    let object = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    child.map_err(|e| Error::io("start", object, e))
}

impl Started {
    fn new(name: &'static str, reached: String, mut child: Child) -> Result<Started> {
        let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(Error::peer(name, "has no standard streams", ""));
        };
        let client = Client::new(format!("host {name} ({reached})"), output, input);
        Ok(Started { name, reached, client, agent: Agent(child), address: None, address6: None })
    }
}

/// Asks all agents at once, because each takes a moment to read its host.
fn greet(mut started: Vec<Started>, plan: &Plan, stop: &dyn Fn() -> bool) -> Result<Vec<Host>> {
    let calls: Vec<_> = started.iter_mut().map(|s| s.client.begin("hello", &())).collect::<Result<_>>()?;
    let mut hellos: Vec<Hello> = Vec::new();
    for (started, call) in started.iter_mut().zip(calls) {
        let hello: Hello = started.client.finish(call, HELLO, stop)?;
        if hello.protocol != PROTOCOL {
            let what = format!("speaks {}, this program {PROTOCOL}", hello.protocol);
            return Err(Error::peer(
                format!("host {}", started.name),
                what,
                "remove ~/.cache/linerate there: the program is copied again",
            ));
        }
        hellos.push(hello);
    }
    // The host that was not reached by ssh is known by the address from which it reached the other.
    let reached_from: Vec<_> = hellos.iter().map(|hello| hello.reached_from).collect();
    let hosts = started.into_iter().zip(hellos).enumerate().map(|(index, (started, hello))| {
        let from_other = reached_from.get(1 - index.min(1)).copied().flatten();
        let known = started.address.or(hello.reached_at).or(from_other);
        let address = plan.addresses.get(started.name).copied().or(known);
        let hint = format!("say it: --address {}=192.0.2.1", started.name);
        let what = format!("no address is known for host {}", started.name);
        Ok(host(started, hello, address.ok_or_else(|| Error::unavailable(what, hint))?, plan))
    });
    hosts.collect()
}

fn host(started: Started, hello: Hello, address: IpAddr, plan: &Plan) -> Host {
    let said = plan.addresses6.get(started.name).map(|address| IpAddr::V6(*address));
    let address6 = said.or(started.address6).or(Some(address).filter(IpAddr::is_ipv6));
    let facts = HostFacts {
        host: started.name.into(),
        reached: started.reached,
        address: None,
        address6: None,
        loopback6: hello.loopback6,
        machine: hello.machine,
        cpus: hello.cpus,
        version: hello.version,
        environment: hello.environment,
    };
    Host { facts, address, address6, client: started.client, _agent: started.agent }
}

impl Host {
    /// The address at which an end of a rung stands on this host.
    pub fn end_of(&self, rung: &Rung) -> Option<IpAddr> {
        match (rung.place, rung.family) {
            (Place::InHost, Family::V4) => Some(Ipv4Addr::LOCALHOST.into()),
            (Place::InHost, Family::V6) => Some(Ipv6Addr::LOCALHOST.into()),
            (Place::Network, Family::V4) => Some(self.address),
            (Place::Network, Family::V6) => self.address6,
        }
    }
}

/// The program itself, to be started again.
pub fn this_program() -> Result<PathBuf> {
    let path = Path::new("/proc/self/exe");
    std::fs::read_link(path).map_err(|e| Error::io("readlink", "/proc/self/exe", e))
}
