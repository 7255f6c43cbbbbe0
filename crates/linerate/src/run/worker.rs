//! A worker: the process that holds the sessions and runs the timed loops.
//!
//! It calls home on a Unix socket, presents its secret, and answers until the agent goes away. A crash
//! in a foreign library, or chatter on standard output, stays here.

use super::protocol::{
    BlockAnswer, CloseRequest, JoinRequest, Joined, OfferRequest, TaskAnswer, TrialRequest, WorkerAnswer,
};
use crate::control::serve;
use crate::observer::{Sampler, tcp_info};
use crate::pattern::Measured;
use crate::plan::Block;
use crate::record::{Flow, SocketRecord, encode_histogram};
use crate::transport::{Pending, Session, Task, named};
use crate::vocabulary::Does;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Mutex;
use std::time::Duration;

/// The environment variable that carries the secret, so that no process listing shows it.
pub const SECRET: &str = "LINERATE_WORKER_SECRET";

/// Calls home and answers until the agent goes away.
pub fn main(home: &str, secret: &str) -> Result<()> {
    let address = SocketAddr::from_abstract_name(home).map_err(|e| Error::io("bind", home, e))?;
    let mut stream = UnixStream::connect_addr(&address).map_err(|e| Error::io("connect", home, e))?;
    stream.write_all(format!("{secret}\n").as_bytes()).map_err(|e| Error::io("write", home, e))?;
    let reader = stream.try_clone().map_err(|e| Error::io("dup", home, e))?;
    let worker = Worker::default();
    serve(BufReader::new(reader), stream, move |method, params| worker.handle(method, params))
}

/// The sessions of one worker.
#[derive(Default)]
struct Worker {
    pending: Mutex<HashMap<String, Box<dyn Pending>>>,
    open: Mutex<HashMap<String, Box<dyn Session>>>,
}

impl Worker {
    fn handle(&self, method: &str, params: Value) -> Result<Value> {
        match method {
            "offer" => answer(self.offer(read(params)?)?),
            "join" => answer(self.join(&read(params)?)?),
            "trial" => answer(self.trial(&read(params)?)?),
            "close" => answer(self.close(&read(params)?)?),
            _ => Err(Error::usage(format!("a worker knows no `{method}`"), "")),
        }
    }

    fn offer(&self, request: OfferRequest) -> Result<crate::transport::Offer> {
        let (pending, offer) = named(&request.spec.transport)?.offer(&request.spec)?;
        lock(&self.pending)?.insert(request.session, pending);
        Ok(offer)
    }

    fn join(&self, request: &JoinRequest) -> Result<Joined> {
        let pending = lock(&self.pending)?.remove(&request.session);
        let pending = pending.ok_or_else(|| unknown(&request.session))?;
        let session = pending.join(&request.other)?;
        let joined = Joined { granted: session.granted(), endpoints: session.endpoints() };
        lock(&self.open)?.insert(request.session.clone(), session);
        Ok(joined)
    }

    fn close(&self, _request: &CloseRequest) -> Result<()> {
        lock(&self.pending)?.clear();
        lock(&self.open)?.clear();
        Ok(())
    }

    /// The session leaves the table while its trial runs, so that nothing waits for a lock.
    fn trial(&self, request: &TrialRequest) -> Result<WorkerAnswer> {
        let session = lock(&self.open)?.remove(&request.session);
        let mut session = session.ok_or_else(|| unknown(&request.session))?;
        let answer = play(session.as_mut(), request);
        lock(&self.open)?.insert(request.session.clone(), session);
        answer
    }
}

fn play(session: &mut dyn Session, request: &TrialRequest) -> Result<WorkerAnswer> {
    let part = request.parts.first().ok_or_else(|| Error::usage("a trial without a part", ""))?;
    let sampler = match request.sample_ns {
        Some(interval) => Some(Sampler::of_sockets(&session.sockets(), Duration::from_nanos(interval))?),
        None => None,
    };
    let before: Vec<Vec<u8>> = session.sockets().into_iter().map(read_info).collect::<Result<_>>()?;
    let measured = session.trial(&part.tasks, request.wait, &request.blocks)?;
    let sockets = session.sockets().into_iter().zip(before).enumerate();
    let sockets = sockets
        .map(|(flow, (socket, before))| socket_record(part.worker, flow as u32, socket, &before))
        .collect::<Result<_>>()?;
    let every = |quality: fn(&Measured) -> bool| measured.iter().flatten().flatten().all(quality);
    Ok(WorkerAnswer {
        worker: part.worker,
        kept_awake: every(|measured| measured.kept_awake),
        timer_slack_lowered: every(|measured| measured.timer_slack_lowered),
        tasks: part
            .tasks
            .iter()
            .zip(&measured)
            .map(|(task, flows)| task_answer(task, flows, &request.blocks))
            .collect::<Result<_>>()?,
        sockets,
        series: sampler.map(Sampler::finish).unwrap_or_default(),
    })
}

fn task_answer(task: &Task, flows: &[Vec<Measured>], blocks: &[Block]) -> Result<TaskAnswer> {
    let blocks = blocks.iter().enumerate().map(|(index, block)| {
        let flows: Vec<Flow> = flows.iter().map(|blocks| blocks[index].flow.clone()).collect();
        block_answer(task.does, block, flows)
    });
    Ok(TaskAnswer { does: task.does, blocks: blocks.collect::<Result<_>>()? })
}

/// Thousands of round trips go into a histogram, the warm-up left out; slices of a stream stay as they are.
fn block_answer(does: Does, block: &Block, mut flows: Vec<Flow>) -> Result<BlockAnswer> {
    if does != Does::Pings {
        return Ok(BlockAnswer { flows, histogram: None });
    }
    let samples = flows.iter().flat_map(|flow| flow.slices_ns.iter().skip(block.lead as usize));
    let histogram = Some(encode_histogram(samples.copied())?);
    flows.iter_mut().for_each(|flow| flow.slices_ns.clear());
    Ok(BlockAnswer { flows, histogram })
}

fn read_info(socket: &TcpStream) -> Result<Vec<u8>> {
    Ok(linerate_sys::tcp_info::tcp_info(socket)?)
}

fn socket_record(worker: u32, flow: u32, socket: &TcpStream, before: &[u8]) -> Result<SocketRecord> {
    let after = read_info(socket)?;
    Ok(SocketRecord {
        host: String::new(),
        worker,
        flow,
        congestion_control: Some(linerate_sys::socket::congestion_control(socket)?),
        moved: tcp_info::moved(before, &after),
        last: tcp_info::last(&after),
    })
}

/// Reads a request's parameters.
pub(super) fn read<T: DeserializeOwned>(params: Value) -> Result<T> {
    serde_json::from_value(params).map_err(|e| Error::usage(format!("malformed request: {e}"), ""))
}

/// Writes an answer's result.
pub(super) fn answer(value: impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::usage(format!("unprintable answer: {e}"), ""))
}

/// Locks; a lock is only poisoned when a thread panicked, which has been answered already.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> Result<std::sync::MutexGuard<'_, T>> {
    mutex.lock().map_err(|_| Error::peer("this process", "a thread panicked", "please report it"))
}

fn unknown(session: &str) -> Error {
    Error::usage(format!("no session is called `{session}`"), "")
}
