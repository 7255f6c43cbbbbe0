//! An agent: the linerate process at one host. It starts the workers, relays what the controller
//! asks of them, and reads the host's counters around each step. No message passes through it.

use super::protocol::{
    CalibrateRequest, CloseRequest, Hello, JoinRequest, OfferRequest, PROTOCOL, TrialAnswer, TrialRequest,
    WorkerAnswer,
};
use super::worker::{SECRET, answer, lock, read};
use crate::calibration;
use crate::control::{Client, serve};
use crate::observer::{self, Sampler};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv6Addr, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Worker processes a host: in-host rungs have two ends.
const WORKERS: u32 = 2;

/// A worker does what it is asked in its own time limits; this one only ends what hangs.
const WORKER_LIMIT: Duration = Duration::from_secs(1200);

/// How long a worker may take to call home.
const WELCOME: Duration = Duration::from_secs(20);

/// Starts the workers and answers the controller until it goes away.
pub fn main(
    program: &Path,
    ssh_connection: Option<&str>,
    input: impl Read,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let agent = Agent::start(program, ssh_connection)?;
    serve(BufReader::new(input), output, move |method, params| agent.handle(method, params))
}

/// The agent's state.
struct Agent {
    cpus: Vec<u32>,
    reached: Option<(IpAddr, IpAddr)>,
    processes: Vec<u32>,
    workers: Vec<Mutex<Client>>,
    /// Kept so that the workers are children of a live process; they end by themselves with their socket.
    _children: Vec<Child>,
}

impl Agent {
    fn start(program: &Path, ssh_connection: Option<&str>) -> Result<Agent> {
        let cpus = linerate_sys::thread::allowed_cpus()?;
        let secret = format!("{:032x}", rand::random::<u128>());
        let home = format!("linerate-{}-{:016x}", std::process::id(), rand::random::<u64>());
        let address = SocketAddr::from_abstract_name(&home).map_err(|e| Error::io("bind", &home, e))?;
        let listener = UnixListener::bind_addr(&address).map_err(|e| Error::io("bind", &home, e))?;
        let (mut workers, mut children) = (Vec::new(), Vec::new());
        for _ in 0..WORKERS {
            children.push(start_worker(program, &home, &secret)?);
            workers.push(Mutex::new(welcome(&listener, &secret)?));
        }
        let mut processes: Vec<u32> = children.iter().map(Child::id).collect();
        processes.push(std::process::id());
        let reached = ssh_connection.and_then(ssh_ends);
        Ok(Agent { cpus, reached, processes, workers, _children: children })
    }

    fn handle(&self, method: &str, params: Value) -> Result<Value> {
        match method {
            "hello" => answer(self.hello()),
            "offer" => {
                let request: OfferRequest = read(params)?;
                self.relay::<Value>(request.worker, method, &request)
            }
            "join" => {
                let request: JoinRequest = read(params)?;
                self.relay::<Value>(request.worker, method, &request)
            }
            "close" => {
                let request: CloseRequest = read(params)?;
                for worker in 0..self.workers.len() as u32 {
                    self.relay::<()>(worker, method, &request)?;
                }
                Ok(Value::Null)
            }
            "trial" => answer(self.trial(&read(params)?)?),
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

    fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            machine: observer::machine_id(),
            cpus: self.cpus.clone(),
            reached_at: self.reached.map(|(at, _)| at),
            reached_from: self.reached.map(|(_, from)| from),
            loopback6: UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok(),
            environment: observer::environment(),
        }
    }

    fn relay<T: DeserializeOwned>(&self, worker: u32, method: &str, request: &impl Serialize) -> Result<T> {
        let client = self.workers.get(worker as usize);
        let client = client.ok_or_else(|| Error::usage(format!("no worker {worker} here"), ""))?;
        lock(client)?.call(method, request, WORKER_LIMIT, &|| false)
    }

    /// Runs all of this host's parts at once, between two readings of the host's counters.
    fn trial(&self, request: &TrialRequest) -> Result<TrialAnswer> {
        let sampler =
            request.sample_ns.map(|interval| Sampler::of_host(&self.cpus, Duration::from_nanos(interval)));
        let before = observer::snapshot(&self.cpus, &self.processes);
        let workers: Vec<Result<WorkerAnswer>> = std::thread::scope(|scope| {
            let parts = request.parts.iter().map(|part| {
                let request = TrialRequest { parts: vec![part.clone()], ..request.clone() };
                scope.spawn(move || self.relay(part.worker, "trial", &request))
            });
            let threads: Vec<_> = parts.collect();
            let panicked = || Err(Error::peer("a relay", "panicked", "please report it"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
        });
        let after = observer::snapshot(&self.cpus, &self.processes);
        let series = sampler.transpose()?.map(Sampler::finish).unwrap_or_default();
        let workers = workers.into_iter().collect::<Result<_>>()?;
        Ok(TrialAnswer { host: before.delta(&after, ""), workers, series })
    }
}

fn start_worker(program: &Path, home: &str, secret: &str) -> Result<Child> {
    let child = Command::new(program)
        .args(["worker", home])
        .env(SECRET, secret)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    child.map_err(|e| Error::io("start", program.display().to_string(), e))
}

/// Waits for a worker to call home; a stranger on the socket is turned away.
fn welcome(listener: &UnixListener, secret: &str) -> Result<Client> {
    let deadline = Instant::now() + WELCOME;
    listener.set_nonblocking(true).map_err(|e| Error::io("fcntl", "worker socket", e))?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::peer("worker", "did not call home", "is the host overloaded?"));
        }
        linerate_sys::socket::wait_readable(listener, left)?;
        let Ok((stream, _)) = listener.accept() else {
            continue;
        };
        stream.set_nonblocking(false).map_err(|e| Error::io("fcntl", "worker socket", e))?;
        let reader = stream.try_clone().map_err(|e| Error::io("dup", "worker", e))?;
        if let Some(reader) = presented(reader, secret) {
            return Ok(Client::new("worker", reader, stream));
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

/// The addresses in sshd's `SSH_CONNECTION`: client address and port, server address and port.
fn ssh_ends(connection: &str) -> Option<(IpAddr, IpAddr)> {
    let fields: Vec<&str> = connection.split_ascii_whitespace().collect();
    let address = |index: usize| fields.get(index)?.parse::<IpAddr>().ok();
    Some((address(2)?, address(0)?))
}
