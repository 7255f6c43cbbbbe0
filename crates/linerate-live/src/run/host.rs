//! A host of the run, as the controller sees it: its agent, its address, its facts.

use super::greeting::{GREETS, HELLO, greets_again};
use super::host_settings::{Became, PutBack};
use super::identity::{Said, is_restarted};
use super::launch::{self, LaunchAccess};
use super::lost::{LEAST_OF_MANY, without_lost};
use super::protocol::{Hello, HelloRequest, HostSettingsRequest, LinksRequest, ListenRequest, PROTOCOL};
use super::ssh::{Program, RemoteFolder, Ssh, Told, provide_all};
use super::standing_filter::StandingFilter;
use super::started::{LAB, LOCAL, Lifeline, Started, answers_in, is_here};
use super::way::{AddressUse, Proxied, past_proxies, past_tunnels};
use crate::control::{Call, Check, Client, gather_each};
use crate::lab::{Lab, VirtualHost, journal};
use crate::plan::{Coalescing, HostAddress, HostId, LinkSettings, Plan, Setting, Suite, Target};
use crate::record::{Granted, HostFacts, WireAudit};
use crate::vocabulary::{Family, LINK_COALESCE, LINK_COALESCE_FRAMES, Place, Rung};
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::spawn;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// What is needed to reach hosts.
#[derive(Debug, Clone)]
pub struct HostAccess {
    /// This program, to be started on each host.
    pub program: PathBuf,
    /// How to call ssh.
    pub ssh: String,
    /// Where the program's copy goes on hosts reached by ssh: on one, or on all that are not named. The last word holds.
    pub folders: Vec<(Option<HostId>, RemoteFolder)>,
    /// How a launcher is called, where one starts the agents.
    pub launch: LaunchAccess,
}

impl HostAccess {
    fn folder(&self, host: HostId) -> Option<&RemoteFolder> {
        let of = |wanted: Option<HostId>| {
            let mut said = self.folders.iter().rev();
            said.find(|(host, _)| *host == wanted).map(|(_, folder)| folder)
        };
        of(Some(host)).or_else(|| of(None))
    }
}

/// A host and its agent.
pub struct Host {
    /// What is known of it.
    pub facts: HostFacts,
    /// Where its peer's data goes to.
    pub address: HostAddress,
    /// Its IPv6 address, where one is known.
    pub address6: Option<HostAddress>,
    /// Those of its further adapters.
    further: Vec<HostAddress>,
    /// Whether it was started anew, and no step has told so yet.
    pub restarted: bool,
    /// How many of its agents ended before their time, or answered no more, since something was measured with it.
    pub lost_agents: u32,
    /// Its agent's process, as it finds itself.
    process: String,
    /// The connection to its agent.
    pub client: Client,
    /// Ends when its standard input closes with the client, which is dropped before.
    agent: Lifeline,
}

/// The hosts of a run, and the lab that they live in when they are virtual.
pub struct Hosts {
    /// `a`, `b` and so on.
    pub all: Vec<Host>,
    pub(super) lab: Option<Lab>,
    /// Those that cannot be reached, of which nobody was told yet.
    pub lost: Vec<(HostId, Error)>,
    access: HostAccess,
    /// What was last asked of the lab's links, and what the hosts granted of it.
    links: (LinkSettings, Vec<Vec<Granted>>),
    /// The packet filter that stands in the lab.
    pub filter: StandingFilter,
    /// What each host granted of its own settings, as they were last asked for.
    settings: Vec<Vec<Granted>>,
}

/// What may speak against waiting on: the user, or the end of a process that the run needs.
pub struct Watch<'r> {
    stop: &'r dyn Fn() -> bool,
    agents: Vec<Lifeline>,
    needed: Vec<ChildProcess>,
}

impl<'r> Watch<'r> {
    /// Asks `stop`, and looks after the hosts' agents and the lab's own processes.
    pub fn over(hosts: &Hosts, stop: &'r dyn Fn() -> bool) -> Watch<'r> {
        let agents = hosts.all.iter().map(|host| host.agent.clone()).collect();
        let of_lab = hosts.lab.iter().flat_map(Lab::processes);
        Watch { stop, agents, needed: of_lab.cloned().collect() }
    }

    /// The error that ends the wait.
    pub fn check(&self) -> Result<()> {
        asked(self.stop)?;
        if let Some(death) = self.agents.iter().find_map(Lifeline::verdict) {
            return Err(death);
        }
        let ended = self.needed.iter().filter(|process| process.has_ended());
        ended.filter_map(ChildProcess::verdict).next().map_or(Ok(()), |how| Err(Error::died(how)))
    }
}

/// Whether the user wants to go on.
pub fn asked(stop: &dyn Fn() -> bool) -> Result<()> {
    if stop() { Err(Error::Interrupted) } else { Ok(()) }
}

/// What an agent is called in an error.
const AGENT: &str = "its agent";

impl Hosts {
    /// Builds or reaches the hosts and starts their agents.
    pub fn reach(plan: &Plan, means: &HostAccess, stop: &dyn Fn() -> bool, told: Told<'_>) -> Result<Hosts> {
        let mut lost = Vec::new();
        let (started, lab) = match &plan.target {
            Target::Lab(topology) => {
                let lab = Lab::with_adapters(topology, plan.most_adapters(), &means.program)?;
                let started = plan.hosts.iter().map(|planned| in_lab(planned.id, &lab, means));
                (started.collect::<Result<Vec<_>>>()?, Some(lab))
            }
            Target::Ssh(hosts) if plan.target.hosts() as usize > plan.hosts.len() => {
                let (given, wanted) = (hosts.len(), plan.hosts.len());
                let what = format!("{given} hosts are given, and this is measured between {wanted}");
                let hint =
                    "name two; of any number of hosts are `linerate matrix`, and run with --suite or --plan";
                return Err(Error::usage(what, hint));
            }
            Target::Ssh(hosts) => {
                let ids: Vec<HostId> = plan.hosts.iter().map(|planned| planned.id).collect();
                let started = by_ssh(&ids, hosts, means, &|| asked(stop), told)?;
                (without_lost(plan, ids.into_iter().zip(started), &mut lost)?, None)
            }
            Target::Launched(launched) => {
                let access = (&means.launch, means.program.as_path());
                let started = launch::started(plan, launched, access, &|| asked(stop), told)?;
                (without_lost(plan, started.into_iter(), &mut lost)?, None)
            }
            Target::Simulated(_) => {
                return Err(Error::usage("a simulated machine has no hosts to reach", ""));
            }
        };
        let mut all = without_lost(plan, greet(started, plan, &|| asked(stop))?.into_iter(), &mut lost)?;
        for host in &mut all {
            host.facts.address = Some(host.address.to_string());
            host.facts.address6 = host.address6.as_ref().map(HostAddress::to_string);
        }
        let mut hosts = Hosts {
            all,
            lab,
            lost,
            access: means.clone(),
            links: Default::default(),
            filter: Default::default(),
            settings: Vec::new(),
        };
        hosts.may_listen(plan, stop)?;
        Ok(hosts)
    }

    /// Goes on without a host, where the plan is of many and enough are left.
    pub fn go_on_without(&mut self, index: usize, plan: &Plan, why: Error) -> Result<()> {
        if !plan.may_lose_hosts() || self.all.len() <= LEAST_OF_MANY {
            return Err(why);
        }
        let host = self.all.remove(index);
        for granted in [&mut self.links.1, &mut self.settings] {
            if index < granted.len() {
                granted.remove(index);
            }
        }
        self.lost.push((host.facts.host, why));
        Ok(())
    }

    /// Whether all agents have ended at once: then what started them has.
    pub fn have_all_ended(&self) -> bool {
        self.all.iter().all(|host| host.agent.verdict().is_some())
    }

    /// Whether something of the lab itself has ended, which nothing brings back.
    pub fn has_lost_lab(&self) -> bool {
        self.lab.iter().flat_map(Lab::processes).any(ChildProcess::has_ended)
    }

    /// The virtual hosts, where they are a lab's.
    pub fn virtual_hosts(&self) -> &[VirtualHost] {
        self.lab.as_ref().map_or(&[], Lab::hosts)
    }

    /// Gives a host a new agent. It is the same machine, so what is known of it stays, also where it was started anew.
    pub fn restart(
        &mut self,
        index: usize,
        plan: &Plan,
        (until, stop): (Instant, &dyn Fn() -> bool),
    ) -> Result<()> {
        let host = &self.all[index];
        let id = host.facts.host;
        let started = match (&plan.target, &self.lab) {
            (Target::Ssh(hosts), _) => {
                let mut started = by_ssh(&[id], hosts, &self.access, &|| asked(stop), &mut |_| ())?;
                started.pop().unwrap_or(Err(Error::Interrupted))?
            }
            (Target::Launched(launched), _) => {
                let slot = host.agent.slot().cloned().unwrap_or_default();
                let access = (&self.access.launch, self.access.program.as_path());
                let gone = || Error::Died { what: "what started it has ended".into(), limit: None };
                let asked = || if self.have_all_ended() { Err(gone()) } else { asked(stop) };
                launch::again((id, &slot), launched, access, until, &asked)?
            }
            (_, Some(lab)) => in_lab(id, lab, &self.access)?,
            (_, None) => return Err(Error::peer(id.to_string(), "has no lab", "")),
        };
        let Started { mut client, agent, .. } = started;
        let after = self.all[index].process.clone();
        let request = HelloRequest { settings: plan.to_try(), after };
        let hello: Hello = client.call("hello", &request, greets_again(until), &|| asked(stop))?;
        let host = &mut self.all[index];
        let before = Said { machine: &host.facts.machine, environment: &host.facts.environment };
        let now = Said { machine: &hello.machine, environment: &hello.environment };
        host.restarted |= is_restarted(id, &before, &now)?;
        host.facts.machine = hello.machine;
        let (agent, client) =
            (agent.after(&host.agent), client.answering_in(answers_in(&host.facts.reached, plan)));
        (host.client, host.agent, host.process) = (client, agent, hello.process);
        self.filter = StandingFilter::unsure();
        Ok(())
    }

    /// Whether the hosts that listen can have one of the ports, and whether zones are interfaces, before anything is
    /// measured.
    fn may_listen(&mut self, plan: &Plan, stop: &dyn Fn() -> bool) -> Result<()> {
        for host in &mut self.all {
            let id = host.facts.host;
            let ports = plan.host(id).and_then(|host| host.ports).filter(|_| plan.listens(id));
            let addresses: Vec<HostAddress> =
                std::iter::once(host.address.clone()).chain(host.address6.clone()).collect();
            if ports.is_some() || addresses.iter().any(HostAddress::is_link_local) {
                let request = ListenRequest { addresses, ports };
                let may = host.client.call::<()>("listen", &request, HELLO, &|| asked(stop));
                may.map_err(|error| error.on_host(&id))?;
            }
        }
        Ok(())
    }

    /// Makes the lab's links what a step asks for; what it does not say is as they were built. Of hosts that are no lab's
    /// nothing is changed: the schedule asks for nothing there.
    pub fn set_links(&mut self, wanted: LinkSettings, of_lab: Coalescing, check: Check<'_>) -> Result<()> {
        let Some(lab) = &mut self.lab else { return Ok(()) };
        let (before, granted) = &mut self.links;
        if *before == wanted {
            return Ok(());
        }
        if before.coalescing != wanted.coalescing {
            lab.hold(wanted.coalescing.unwrap_or(of_lab))?;
        }
        granted.clear();
        for host in &mut self.all {
            let request = LinksRequest { links: wanted };
            let told = host.client.call("links", &request, HELLO, check);
            granted.push(told.map_err(|error| error.on_host(&host.facts.host))?);
        }
        *before = wanted;
        Ok(())
    }

    /// What a host granted of what was asked of its links.
    pub fn granted_links(&self, host: usize) -> Vec<Granted> {
        let (asked, of_hosts) = &self.links;
        let of_wire = asked.coalescing.into_iter().flat_map(|held| {
            let frames = held.frames.map(|frames| (LINK_COALESCE_FRAMES.name, frames.to_string()));
            std::iter::once((LINK_COALESCE.name, format!("{}ns", held.delay_ns))).chain(frames)
        });
        let of_wire = of_wire.map(|(knob, value)| Granted {
            knob: knob.into(),
            asked: Some(value.clone()),
            granted: Some(value),
        });
        of_hosts.get(host).into_iter().flatten().cloned().chain(of_wire).collect()
    }

    /// Makes each host's own settings what is asked for, and what they were where nothing is.
    pub fn set_settings(&mut self, wanted: &[Setting], check: Check<'_>) -> Result<()> {
        self.settings.clear();
        for host in &mut self.all {
            let address = Some(host.address.clone());
            let transient = self.lab.is_some();
            let request = HostSettingsRequest { settings: wanted.to_vec(), address, transient };
            let told = host.client.call("host-settings", &request, HELLO, check);
            self.settings.push(told.map_err(|error| error.on_host(&host.facts.host))?);
        }
        Ok(())
    }

    /// What a host granted of its own settings.
    pub fn granted_settings(&self, host: usize) -> Vec<Granted> {
        self.settings.get(host).cloned().unwrap_or_default()
    }

    /// Puts back what was changed, on every host, whatever another one answers; says of each setting that is not as it was.
    pub fn put_back(&mut self) -> Result<Vec<String>> {
        let mut told = Vec::new();
        let mut failed = None;
        for host in &mut self.all {
            // Also where the user wants to stop: that is when it matters.
            match host.client.call::<Vec<PutBack>>("put-back", &(), HELLO, &|| Ok(())) {
                Ok(all) => {
                    let open = all.iter().filter(|one| one.became != Became::PutBack);
                    told.extend(open.map(|one| format!("host {}: {one}", host.facts.host)));
                }
                Err(error) => failed = Some(error.on_host(&host.facts.host)),
            }
        }
        failed.map_or(Ok(told), Err)
    }

    /// Sets these on every host, and leaves them so.
    pub fn keep_settings(&mut self, settings: &[Setting], check: Check<'_>) -> Result<Vec<String>> {
        self.set_settings(settings, check)?;
        let mut told = Vec::new();
        for (host, granted) in self.all.iter_mut().zip(&self.settings) {
            host.client
                .call::<()>("keep-settings", &(), HELLO, check)
                .map_err(|error| error.on_host(&host.facts.host))?;
            for one in granted {
                let got = one.granted.as_deref().unwrap_or_default();
                told.push(format!("host {}: {} is {got}", host.facts.host, one.knob));
            }
        }
        Ok(told)
    }

    /// What the lab's own wire did since it was last asked; none where there is none.
    pub fn audit(&mut self) -> Result<Option<WireAudit>> {
        self.lab.as_mut().map_or(Ok(None), Lab::audit)
    }
}

fn in_lab(id: HostId, lab: &Lab, means: &HostAccess) -> Result<Started> {
    let host: &VirtualHost = &lab.hosts()[usize::from(id.0)];
    let mut command = host.command(&means.program);
    command.arg("agent");
    let started = Started::new(id, LAB.into(), AGENT, command)?;
    Ok(Started {
        address: Some(host.address.into()),
        address6: host.address6.map(HostAddress::from),
        further: host.further.iter().copied().map(HostAddress::from).collect(),
        ..started
    })
}

/// The agents of these hosts. Where one is named, it is `b`, and `a` is this machine.
fn by_ssh(
    ids: &[HostId],
    hosts: &[String],
    means: &HostAccess,
    check: Check<'_>,
    told: Told<'_>,
) -> Result<Vec<Result<Started>>> {
    let first = u16::from(hosts.len() == 1);
    let name = |id: HostId| id.0.checked_sub(first).and_then(|index| hosts.get(usize::from(index)));
    let remote: Vec<(HostId, &String)> = ids.iter().filter_map(|id| Some((*id, name(*id)?))).collect();
    let wanted = |(id, host): &(HostId, &String)| Ok((Ssh::new(&means.ssh, host, *id)?, means.folder(*id)));
    let wanted: Vec<_> = remote.iter().map(wanted).collect::<Result<_>>()?;
    let program = Program::read(&means.program)?;
    let copies = provide_all(&wanted, &program, check, told)?;
    let mut copies = wanted.iter().zip(copies);
    let start = |id: &HostId| {
        let Some(host) = name(*id) else {
            let mut local = Command::new(&means.program);
            spawn::tie_to_parent(local.arg("agent"));
            journal::mark(&mut local);
            return Started::new(*id, LOCAL.into(), AGENT, local);
        };
        let ((ssh, _), copy) = copies.next().ok_or(Error::Interrupted)?;
        Started::new(*id, format!("ssh://{host}"), "its ssh", ssh.agent(&copy?))
    };
    Ok(ids.iter().map(start).collect())
}

/// Asks all agents at once, because each takes a moment to read its host.
fn greet(mut started: Vec<Started>, plan: &Plan, check: Check<'_>) -> Result<Vec<(HostId, Result<Host>)>> {
    let request = HelloRequest { settings: plan.to_try(), ..HelloRequest::default() };
    let begun: Vec<Result<Call<Hello>>> =
        started.iter_mut().map(|started| started.client.begin("hello", &request)).collect();
    let crosses = crosses_network(plan);
    // They think beside each other.
    let (mut calls, mut refused) = (Vec::new(), BTreeMap::new());
    for (place, call) in begun.into_iter().enumerate() {
        match call {
            Ok(call) => calls.push(vec![(place, call)]),
            Err(error) => _ = refused.insert(place, error),
        }
    }
    let mut clients: Vec<&mut Client> = started.iter_mut().map(|started| &mut started.client).collect();
    let mut came = gather_each(&mut clients, calls, GREETS, check).into_iter();
    check()?;
    let mut hellos = Vec::new();
    for (place, started) in started.iter().enumerate() {
        let hello = refused.remove(&place).map_or_else(|| came.next().unwrap_or(Ok(Vec::new())), Err);
        let hello = hello.and_then(|mut hello| hello.pop().ok_or(Error::Interrupted));
        hellos.push(hello.and_then(|hello| spoken(started, hello, !crosses)));
    }
    // The host that was not reached by ssh is known by the address from which it reached the other.
    let reached_from =
        |hello: &Result<Hello>| hello.as_ref().ok().and_then(|hello| hello.reached_from.clone());
    let reached_from: Vec<_> = hellos.iter().map(reached_from).collect();
    let machines: Vec<String> = hellos.iter().flatten().map(|hello| hello.machine.clone()).collect();
    let hosts = started.into_iter().zip(hellos).enumerate().map(|(index, (started, hello))| {
        let from_other = reached_from.get(1 - index.min(1)).cloned().flatten();
        let id = started.id;
        let addressed = |hello: Hello| {
            let standing = AddressUse {
                // What the user says holds, and within a host no address is needed.
                is_said: started.planned(plan).is_some_and(|host| host.address.is_some()),
                is_alone: machines.iter().all(|machine| *machine == hello.machine),
                stays_within: !crosses,
            };
            let host = addressed(started, hello, from_other, plan)?;
            past_tunnels(id, &host.address, standing).map(|()| host)
        };
        (id, hello.and_then(addressed))
    });
    Ok(hosts.collect())
}

/// Whether a plan measures between hosts.
fn crosses_network(plan: &Plan) -> bool {
    let suites = plan.view.suites().iter().chain(plan.view.application());
    let mut rungs = plan.view.rungs().iter().chain(suites.flat_map(Suite::rungs));
    rungs.any(|id| Rung::named(id).is_none_or(|rung| rung.place == Place::Network))
}

/// A greeting in this program's own words.
fn spoken(started: &Started, hello: Hello, stays_within: bool) -> Result<Hello> {
    let id = started.id;
    if hello.protocol == PROTOCOL {
        let is_here = is_here(&started.reached);
        past_proxies(id, &hello.environment, Proxied { is_here, stays_within })?;
        return Ok(hello);
    }
    let what = format!("speaks {}, this program {PROTOCOL}", hello.protocol);
    let hint = "remove ~/.cache/linerate there: the program is copied again";
    Err(Error::peer(format!("host {id}"), what, hint))
}

/// A host with the address that the others send to.
fn addressed(started: Started, hello: Hello, from_other: Option<HostAddress>, plan: &Plan) -> Result<Host> {
    let known = started.address.clone().or(hello.reached_at.clone()).or(from_other);
    let address = started.planned(plan).and_then(|host| host.address.clone()).or(known);
    let hint = format!("say it: --address {}=192.0.2.1", started.id);
    let what = format!("no address is known for host {}", started.id);
    Ok(host(started, hello, address.ok_or_else(|| Error::unavailable(what, hint))?, plan))
}

fn host(started: Started, hello: Hello, address: HostAddress, plan: &Plan) -> Host {
    let said = started.planned(plan).and_then(|host| host.address6.clone());
    let address6 = said.or(started.address6).or_else(|| Some(address.clone()).filter(HostAddress::is_ipv6));
    let facts = HostFacts {
        host: started.id,
        reached: started.reached,
        address: None,
        address6: None,
        loopback6: hello.loopback6,
        machine: hello.machine,
        cpus: hello.cpus,
        version: hello.version,
        lacks: hello.lacks,
        unobserved: hello.unobserved,
        refused: hello.refused,
        environment: hello.environment,
    };
    let Started { further, client, agent, .. } = started;
    let client = client.answering_in(answers_in(&facts.reached, plan));
    let (restarted, lost_agents, process) = (false, 0, hello.process);
    Host { facts, address, address6, further, restarted, lost_agents, process, client, agent }
}

impl Host {
    /// Whether its agent has ended, or answers no more.
    pub fn has_lost_agent(&mut self) -> bool {
        self.client.is_silent() || self.agent.verdict().is_some()
    }

    /// Ends its agent before there is another one, or none.
    pub fn end_agent(&self) {
        self.client.end();
        self.agent.end();
    }

    /// The address at which an end of a rung stands on this host.
    pub fn end_of(&self, rung: &Rung) -> Option<HostAddress> {
        match (rung.place, rung.family) {
            (Place::InHost, Family::V4) => Some(IpAddr::V4(Ipv4Addr::LOCALHOST).into()),
            (Place::InHost, Family::V6) => Some(IpAddr::V6(Ipv6Addr::LOCALHOST).into()),
            (Place::Network, Family::V4) => Some(self.address.clone()),
            (Place::Network, Family::V6) => self.address6.clone(),
        }
    }

    /// The addresses of so many of its adapters, at most; none for one, which has the address itself.
    pub fn adapters(&self, count: u32) -> Vec<HostAddress> {
        let all = std::iter::once(&self.address).chain(&self.further).take(count as usize);
        if count > 1 { all.cloned().collect() } else { Vec::new() }
    }

    /// The address from which an end of a rung connects to one at this address: of its family, where there is one.
    pub fn end_towards(&self, other: Option<&HostAddress>, rung: &Rung) -> Option<HostAddress> {
        let is_v6 = other.is_some_and(HostAddress::is_ipv6) && rung.place == Place::Network;
        self.address6.clone().filter(|_| is_v6).or_else(|| self.end_of(rung))
    }
}
