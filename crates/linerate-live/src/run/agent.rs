//! An agent: the linerate process at one host. It starts the workers, relays what the controller
//! asks of them, and reads the host's counters around each step. No message passes through it.
//!
//! A worker that dies is told of by its number and its signal, and ends what it was asked for: nobody waits
//! for the other end of a connection that will not speak again.

use super::host_settings::{HostSettings, LEASE};
use super::predecessor;
use super::protocol::{
    CalibrateRequest, CloseRequest, Hello, HelloRequest, HostSettingsRequest, JoinRequest, Joined,
    LinksRequest, ListenRequest, OfferRequest, PROTOCOL, PartAnswer, TrialAnswer, TrialRequest, WorkerPart,
};
use super::worker::{SECRET, answer, lock, read};
use crate::calibration;
use crate::control::{ANSWERED_IN, Call, Client, Limit, Notifier, Wait, gather, serve};
use crate::lab::{FilterOrder, HostFilter, HostPort, refused_filters};
use crate::observer::{self, Seen, Site, Watch, Watched, reassembly};
use crate::plan::HostAddress;
use crate::record::{Environment, HostDelta};
use crate::trace::Traces;
use crate::transport;
use crate::workload::application::Order;
use crate::workload::transfer::Transfers;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::{local, spawn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv6Addr, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Worker processes a host: in-host rungs have two ends.
const WORKERS: u32 = 2;

/// A worker does what it is asked in its own time limits; this one only ends what hangs.
const WORKER_LIMIT: Duration = Duration::from_secs(1200);

/// How long a worker may take to call home, and how often it is looked whether it still may.
const WELCOME: Duration = Duration::from_secs(20);

/// How long at most what earlier trials left in the kernel is waited for: what is cut at IPv6 stays a minute.
pub const SETTLES: Duration = Duration::from_secs(65);
const LOOK: Duration = Duration::from_millis(50);

/// Starts the workers and answers the controller until it goes away. Where they cannot be started, that is the
/// answer: standard error may be nobody's.
pub fn main(
    program: &Path,
    ssh_connection: Option<&str>,
    base: &Path,
    input: impl Read,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let input = BufReader::new(input);
    let settings = Arc::new(Mutex::new(HostSettings::new(base)));
    let of_host = settings.clone();
    match Agent::start(program, ssh_connection, of_host) {
        Ok(agent) => {
            let served = serve(input, output, move |method, params| agent.handle(method, params));
            // Whatever is set for a case ends with its controller.
            lock(&settings)?.put_back().map(drop).and(served)
        }
        Err(error) => {
            let error = Mutex::new(Some(error));
            let over = || Error::peer("the agent", "could not start", "");
            serve(input, output, move |_, _| Err(lock(&error)?.take().unwrap_or_else(over)))
        }
    }
}

/// The agent's state.
struct Agent {
    cpus: Vec<u32>,
    reached: Option<(HostAddress, HostAddress)>,
    /// Its own and its workers'.
    processes: Vec<u32>,
    /// Those that work for each open session beside them.
    helpers: Mutex<HashMap<String, Vec<u32>>>,
    /// What has watched the host since the last trial began.
    watch: Mutex<Option<Watch>>,
    /// The interface of a lab's host, as it was before it was first set.
    port: Mutex<Option<HostPort>>,
    /// The packet filter of a lab's host.
    filter: Mutex<HostFilter>,
    /// The host's own settings, as they were before they were first set.
    settings: Arc<Mutex<HostSettings>>,
    /// Whether a thread watches over them, and how many requests are under way.
    is_leased: AtomicBool,
    under_way: Arc<AtomicUsize>,
    /// Whether the kernel holds what is not of our trials.
    never_settles: AtomicBool,
    /// What workers are told of the application that they play now.
    orders: Mutex<Vec<(u32, Order)>>,
    workers: Vec<Mutex<Client>>,
    /// How many want sessions closed: who waits for a worker meanwhile asks it whether it is there.
    closing: AtomicUsize,
    /// Each worker, also while a trial is waited for.
    notifiers: Vec<Notifier>,
    /// They end with the agent.
    children: Vec<ChildProcess>,
    /// The file that is moved. Its threads are the agent's own: no message is timed meanwhile.
    transfers: Transfers,
    /// The trace under way, whose thread is the agent's own too.
    traces: Traces,
}

impl Agent {
    fn start(
        program: &Path,
        ssh_connection: Option<&str>,
        settings: Arc<Mutex<HostSettings>>,
    ) -> Result<Agent> {
        let cpus = linerate_sys::thread::allowed_cpus()?;
        let secret = format!("{:032x}", rand::random::<u128>());
        let home = format!("linerate-{}-{:016x}", std::process::id(), rand::random::<u64>());
        let listener = local::listen(&home)?;
        let (mut workers, mut notifiers, mut children) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..WORKERS {
            let child = start_worker(program, number, &home, &secret)?;
            let worker = welcome(&listener, &secret, &child)?;
            notifiers.push(worker.notifier());
            workers.push(Mutex::new(worker));
            children.push(child);
        }
        let mut processes: Vec<u32> = children.iter().map(ChildProcess::pid).collect();
        processes.push(std::process::id());
        let reached = ssh_connection.and_then(ssh_ends);
        Ok(Agent {
            cpus,
            reached,
            processes,
            helpers: Mutex::default(),
            watch: Mutex::default(),
            port: Mutex::default(),
            filter: Mutex::default(),
            settings,
            is_leased: AtomicBool::new(false),
            under_way: Arc::default(),
            never_settles: AtomicBool::new(false),
            orders: Mutex::default(),
            workers,
            closing: AtomicUsize::new(0),
            notifiers,
            children,
            transfers: Transfers::default(),
            traces: Traces::default(),
        })
    }

    fn handle(&self, method: &str, params: Value) -> Result<Value> {
        self.check()?;
        self.under_way.fetch_add(1, Ordering::Relaxed);
        lock(&self.settings)?.hear();
        let answer = self.answer(method, params);
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    fn answer(&self, method: &str, params: Value) -> Result<Value> {
        match method {
            "hello" => {
                let request: HelloRequest = read(params)?;
                let base = lock(&self.settings)?.base().to_owned();
                predecessor::end(&request.after, &base)?;
                answer(self.hello(&request))
            }
            "offer" => {
                let request: OfferRequest = read(params)?;
                self.relay::<Value>(request.worker, method, &request)
            }
            "join" => {
                let request: JoinRequest = read(params)?;
                let joined: Joined = self.relay(request.worker, method, &request)?;
                // Both ends of a session may be here.
                let mut helpers = lock(&self.helpers)?;
                helpers.entry(request.session).or_default().extend(&joined.processes);
                drop(helpers);
                answer(joined)
            }
            "close" => {
                let request = read(params)?;
                self.closing.fetch_add(1, Ordering::Relaxed);
                let closed = self.close(&request);
                self.closing.fetch_sub(1, Ordering::Relaxed);
                closed.map(|()| Value::Null)
            }
            "trial" => answer(self.trial(&read(params)?)?),
            "listen" => {
                let request: ListenRequest = read(params)?;
                transport::may_listen(&request.addresses, request.ports)?;
                Ok(Value::Null)
            }
            "links" => {
                let request: LinksRequest = read(params)?;
                let mut port = lock(&self.port)?;
                let port = match port.take() {
                    Some(known) => port.insert(known),
                    None => port.insert(HostPort::find()?),
                };
                answer(port.set(&request.links)?)
            }
            "filter" => {
                let order: FilterOrder = read(params)?;
                answer(lock(&self.filter)?.set(&order)?)
            }
            "filter-passed" => answer(lock(&self.filter)?.passed()?),
            "host-settings" => {
                let request: HostSettingsRequest = read(params)?;
                self.watch_lease()?;
                let mut settings = lock(&self.settings)?;
                settings.is_transient(request.transient);
                answer(settings.set(&request.settings, request.address.as_ref())?)
            }
            "put-back" => answer(lock(&self.settings)?.put_back()?),
            "keep-settings" => {
                lock(&self.settings)?.keep()?;
                Ok(Value::Null)
            }
            "settle" => {
                self.settle()?;
                Ok(Value::Null)
            }
            "recount" => answer(self.recount()?),
            "transfer" => answer(self.transfers.handle(read(params)?)?),
            "trace" => answer(self.traces.handle(read(params)?)?),
            "calibrate" => {
                let request: CalibrateRequest = read(params)?;
                answer(calibration::calibrate(&self.cpus, &request.settings)?)
            }
            _ => Err(Error::usage(
                format!("an agent knows no `{method}`"),
                "are both ends of the same version?",
            )),
        }
    }

    /// Has a thread put back what was set once the controller is not heard any more.
    fn watch_lease(&self) -> Result<()> {
        if self.is_leased.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let (settings, under_way) = (self.settings.clone(), self.under_way.clone());
        let watch = move || {
            loop {
                std::thread::sleep(LEASE / 10);
                let Ok(mut settings) = settings.lock() else { return };
                match under_way.load(Ordering::Relaxed) {
                    0 => settings.look_at_lease(),
                    _ => settings.hear(),
                }
            }
        };
        linerate_sys::thread::start("lease", watch)?;
        Ok(())
    }

    /// What can be read about the host, with who reached it by ssh.
    fn environment(&self) -> Environment {
        let mut environment = observer::environment();
        let from = self.reached.iter().map(|(_, from)| ("ssh.reached_from".into(), from.to_string().into()));
        environment.host.extend(from);
        environment
    }

    fn hello(&self, request: &HelloRequest) -> Hello {
        Hello {
            protocol: PROTOCOL.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            process: predecessor::own_name(),
            machine: observer::machine_id(),
            cpus: self.cpus.clone(),
            reached_at: self.reached.clone().map(|(at, _)| at),
            reached_from: self.reached.clone().map(|(_, from)| from),
            lacks: transport::lacking(),
            unobserved: observer::unobserved(),
            refused: [transport::refused(&request.settings), refused_filters(&request.settings)].concat(),
            loopback6: UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok(),
            environment: self.environment(),
        }
    }

    fn relay<T: DeserializeOwned>(&self, worker: u32, method: &str, request: &impl Serialize) -> Result<T> {
        self.worker(worker)?.call(method, request, WORKER_LIMIT, &|| self.check())
    }

    /// Whether all workers go on, also those that have no part in what is done now.
    fn check(&self) -> Result<()> {
        let mut ended = (0..).zip(&self.children).filter(|(_, worker)| worker.has_ended());
        let death = ended.find_map(|(number, worker)| Some((number, worker.verdict()?)));
        death.map_or(Ok(()), |(number, how)| Err(self.at_its_stages(Error::died(how), Some(number))))
    }

    /// The end of a worker, of any where none is known, with the stages of a pipeline that it runs.
    fn at_its_stages(&self, error: Error, worker: Option<u32>) -> Error {
        let Ok(orders) = lock(&self.orders) else { return error };
        let own = orders.iter().filter(|(number, _)| worker.is_none_or(|worker| worker == *number));
        let stages: BTreeSet<String> = own.flat_map(|(_, order)| order.stages()).collect();
        let names: Vec<String> = stages.into_iter().map(|stage| format!("`{stage}`")).collect();
        match names.as_slice() {
            [] => error,
            [one] => error.while_it(&format!("ran the stage {one}")),
            several => error.while_it(&format!("ran the stages {}", several.join(", "))),
        }
    }

    fn worker(&self, worker: u32) -> Result<MutexGuard<'_, Client>> {
        let client = self.workers.get(worker as usize);
        lock(client.ok_or_else(|| Error::usage(format!("no worker {worker} here"), ""))?)
    }

    /// At once: ranks take leave of each other, and one that is let go alone waits for the other.
    fn close(&self, request: &CloseRequest) -> Result<()> {
        // The kernel gives the number of a process that has gone to another one.
        lock(&self.helpers)?.retain(|name, _| request.spares(name));
        // A trial of theirs may still be waited for, where the other end has given up.
        self.notifiers.iter().try_for_each(|worker| worker.notify("let-go", request))?;
        let numbers = 0..self.workers.len() as u32;
        let mut workers: Vec<_> = numbers.map(|number| self.worker(number)).collect::<Result<_>>()?;
        let calls: Result<Vec<(usize, Call<()>)>> = workers
            .iter_mut()
            .enumerate()
            .map(|(at, worker)| Ok((at, worker.begin("close", request)?)))
            .collect();
        let mut workers: Vec<&mut Client> = workers.iter_mut().map(|worker| &mut **worker).collect();
        gather(&mut workers, calls?, WORKER_LIMIT, &|| self.check()).map(drop)
    }

    /// Runs all of this host's parts at once, between two readings of the host's counters.
    fn trial(&self, request: &TrialRequest) -> Result<TrialAnswer> {
        let helpers: Vec<u32> = lock(&self.helpers)?.values().flatten().copied().collect();
        let processes = [self.processes.as_slice(), &helpers].concat();
        let sample = request.sample_ns.map(Duration::from_nanos);
        let watched = Watched { cpus: &self.cpus, processes: &processes, sample, ..Watched::default() };
        let mut watch = Watch::begin(Site::Host, &watched)?;
        let parts = self.play(request);
        let Seen { host, series, .. } = watch.end(&watched)?;
        *lock(&self.watch)? = Some(watch);
        Ok(TrialAnswer { host, parts: parts?, series })
    }

    /// Waits until what earlier trials left in the kernel is gone. Where others fill its place it is no use, and not
    /// tried again.
    fn settle(&self) -> Result<()> {
        let begun = Instant::now();
        let limit = reassembly::lifetime().min(SETTLES);
        while !reassembly::has_room() && !self.never_settles.load(Ordering::Relaxed) {
            self.check()?;
            std::thread::sleep(LOOK);
            self.never_settles.store(begun.elapsed() > limit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// What the host's counters did since the last trial began.
    fn recount(&self) -> Result<HostDelta> {
        let none = || Error::usage("no trial was made yet", "");
        let mut watch = lock(&self.watch)?.take().ok_or_else(none)?;
        let watched = Watched { cpus: &self.cpus, processes: &self.processes, ..Watched::default() };
        Ok(watch.end(&watched)?.host)
    }

    /// Every worker plays its own parts.
    fn play(&self, request: &TrialRequest) -> Result<Vec<PartAnswer>> {
        let order = |part: &WorkerPart| Some((part.worker, Order::clone(part.order.as_deref()?)));
        *lock(&self.orders)? = request.parts.iter().filter_map(order).collect();
        let numbers: BTreeSet<u32> = request.parts.iter().map(|part| part.worker).collect();
        let mut workers: Vec<_> = numbers.iter().map(|number| self.worker(*number)).collect::<Result<_>>()?;
        let mut calls: Vec<(usize, Call<Vec<PartAnswer>>)> = Vec::new();
        for (place, (worker, number)) in workers.iter_mut().zip(&numbers).enumerate() {
            let parts = request.parts.iter().filter(|part| part.worker == *number).cloned().collect();
            let request = TrialRequest { parts, ..*request };
            calls.push((place, worker.begin("trial", &request)?));
        }
        let mut workers: Vec<&mut Client> = workers.iter_mut().map(|worker| &mut **worker).collect();
        // Nobody is asked anything while it measures: until its time is over, or the other end has given up.
        let limit = Limit::expected(WORKER_LIMIT, Duration::from_nanos(request.limit_ns));
        let wait = Wait::new(limit).hurried_by(&self.closing);
        let answers = gather(&mut workers, calls, wait, &|| self.check());
        let answers = answers.map_err(|error| self.at_its_stages(error, None))?;
        // Who ends from here on is not at it any more.
        lock(&self.orders)?.clear();
        Ok(answers.into_iter().flatten().collect())
    }
}

fn start_worker(program: &Path, number: u32, home: &str, secret: &str) -> Result<ChildProcess> {
    let mut command = Command::new(program);
    command.args(["worker", home]).env(SECRET, secret).stdin(Stdio::null()).stdout(Stdio::null());
    spawn::tie_to_parent(&mut command);
    // It has nothing to tidy up.
    Ok(ChildProcess::start(format!("worker {number}"), Duration::ZERO, command)?)
}

/// Waits for a worker to call home; a stranger on the socket is turned away.
fn welcome(listener: &UnixListener, secret: &str, worker: &ChildProcess) -> Result<Client> {
    let deadline = Instant::now() + WELCOME;
    loop {
        if worker.has_ended()
            && let Some(how) = worker.verdict()
        {
            return Err(Error::died(how));
        }
        if Instant::now() > deadline {
            return Err(Error::peer("worker", "did not call home", "is the host overloaded?"));
        }
        linerate_sys::socket::wait_readable(listener, LOOK)?;
        let Ok((stream, _)) = listener.accept() else {
            continue;
        };
        let prepared =
            stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(ANSWERED_IN)));
        prepared.map_err(|e| Error::io("prepare", "worker socket", e))?;
        let reader = stream.try_clone().map_err(|e| Error::io("dup", "worker", e))?;
        if let Some(reader) = presented(reader, secret) {
            let witness = worker.clone();
            let client = Client::new("worker", reader, stream)?.attended();
            return Ok(client.with_post_mortem(move || witness.verdict()));
        }
    }
}

fn presented(stream: UnixStream, secret: &str) -> Option<UnixStream> {
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let mut greeting = String::new();
    let mut reader = BufReader::with_capacity(1, &stream);
    (&mut reader).take(secret.len() as u64 + 1).read_line(&mut greeting).ok()?;
    stream.set_read_timeout(None).ok()?;
    (greeting.trim_end() == secret).then_some(stream)
}

/// The addresses in sshd's `SSH_CONNECTION`: client address and port, server address and port. The zone of both is one
/// of this host, so that the client's own is not known.
fn ssh_ends(connection: &str) -> Option<(HostAddress, HostAddress)> {
    let fields: Vec<&str> = connection.split_ascii_whitespace().collect();
    let address = |index: usize| fields.get(index)?.parse::<HostAddress>().ok();
    Some((address(2)?, address(0)?.elsewhere()))
}

#[cfg(test)]
mod tests {
    use super::ssh_ends;

    #[test]
    fn the_zone_of_one_host_is_no_zone_of_the_other() {
        let ends = |text: &str| ssh_ends(text).map(|(at, from)| (at.to_string(), from.to_string()));
        let known = |at: &str, from: &str| Some((at.to_owned(), from.to_owned()));
        assert_eq!(ends("192.0.2.1 5 192.0.2.2 22"), known("192.0.2.2", "192.0.2.1"));
        assert_eq!(ends("fe80::1%eth1 5 fe80::2%eth1 22"), known("fe80::2%eth1", "fe80::1"));
        for text in ["", "192.0.2.1 5", "x 5 192.0.2.2 22", "UNKNOWN 65535 UNKNOWN 65535"] {
            assert_eq!(ends(text), None, "{text}");
        }
    }
}
