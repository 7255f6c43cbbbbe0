//! A worker: the process that holds the sessions and runs the timed loops.
//!
//! It calls home on a Unix socket, presents its secret, and answers until the agent goes away. A crash
//! in a foreign library, or chatter on standard output, stays here.

use super::protocol::{
    BlockAnswer, CloseRequest, JoinRequest, Joined, OfferRequest, PartAnswer, TaskAnswer, TrialRequest,
    WorkerPart,
};
use crate::control::serve;
use crate::observer::{Seen, Site, Watch, Watched};
use crate::pattern::{self, Measured, run_beside};
use crate::plan::{Block, PATIENCE_NS};
use crate::record::{Flow, Latencies, SocketRecord, encode_histogram};
use crate::transport::{Pending, Session, Task, named};
use crate::vocabulary::{Does, Sample};
use crate::workload::application::{Order, PairEnd};
use crate::workload::ends;
use crate::{Error, Result};
use linerate_sys::{local, socket, thread};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufReader, ErrorKind, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The environment variable that carries the secret, so that no process listing shows it.
pub const SECRET: &str = "LINERATE_WORKER_SECRET";

/// How long the end of a trial is waited for whose session is to be closed.
const CLOSING: Duration = Duration::from_nanos(PATIENCE_NS);

/// Calls home and answers until the agent goes away.
pub fn main(home: &str, secret: &str) -> Result<()> {
    let mut stream = match local::connect(home) {
        // The agent has gone, and whoever is told of that is told of it.
        Err(error) if error.source.kind() == ErrorKind::ConnectionRefused => return Ok(()),
        connected => connected?,
    };
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
    busy: Mutex<Busy>,
    /// Told when one of them is back.
    idle: Condvar,
}

/// The sessions that meet their other end, or are in a trial.
#[derive(Default)]
struct Busy {
    /// What each may wait on.
    waits: HashMap<String, Vec<OwnedFd>>,
    /// Those that are to be closed: whoever comes to wait from now on is told so at once. The threads of two requests begin
    /// in any order, so one that is let go may not have begun.
    closing: Vec<CloseRequest>,
}

impl Busy {
    fn is_closing(&self, session: &String) -> bool {
        self.closing.iter().any(|request| !request.spares(session))
    }
}

impl Worker {
    fn handle(&self, method: &str, params: Value) -> Result<Value> {
        match method {
            "offer" => answer(self.offer(read(params)?)?),
            "join" => answer(self.join(&read(params)?)?),
            "trial" => answer(self.trial(&read(params)?)?),
            "close" => answer(self.close(&read(params)?)?),
            "let-go" => answer(self.let_go(&read(params)?)?),
            _ => Err(Error::usage(format!("a worker knows no `{method}`"), "")),
        }
    }

    fn offer(&self, request: OfferRequest) -> Result<crate::transport::Offer> {
        let (pending, offer) = named(&request.spec.transport)?.offer(&request.spec)?;
        lock(&self.pending)?.insert(request.session, pending);
        Ok(offer)
    }

    fn join(&self, request: &JoinRequest) -> Result<Joined> {
        let pending = {
            // At no moment is it in neither table: who closes it would miss it.
            let mut all = lock(&self.pending)?;
            let pending = all.remove(&request.session).ok_or_else(|| unknown(&request.session))?;
            self.waits(&request.session, pending.waits_on())?;
            pending
        };
        let joined = pending.join(&request.other).and_then(|session| {
            let (granted, endpoints) = (session.granted(), session.endpoints());
            let joined = Joined { granted, endpoints, processes: session.processes() };
            lock(&self.open)?.insert(request.session.clone(), session);
            Ok(joined)
        });
        self.is_back([&request.session])?;
        joined
    }

    fn close(&self, request: &CloseRequest) -> Result<()> {
        lock(&self.pending)?.retain(|name, _| request.spares(name));
        // Sessions in a trial come back to the table.
        self.let_go(request)?;
        let closed = self.close_idle(request);
        lock(&self.busy)?.closing.retain(|other| other != request);
        closed
    }

    fn close_idle(&self, request: &CloseRequest) -> Result<()> {
        let in_trial = |busy: &mut Busy| busy.waits.keys().any(|name| !request.spares(name));
        drop(self.idle.wait_timeout_while(lock(&self.busy)?, CLOSING, in_trial));
        let closed: Vec<_> = lock(&self.open)?.extract_if(|name, _| !request.spares(name)).collect();
        // All at once: one may wait for its other end, which another worker lets go in an order of its own.
        thread::together("close", closed.into_iter().map(|(_, session)| move || drop(session)))?;
        Ok(())
    }

    /// Notes what a session may wait on from now on.
    fn waits(&self, session: &String, on: Vec<BorrowedFd<'_>>) -> Result<()> {
        let own = on.into_iter().filter_map(|fd| fd.try_clone_to_owned().ok()).collect();
        let mut busy = lock(&self.busy)?;
        if busy.is_closing(session) {
            return Err(Error::hung_up("this end", "is being closed"));
        }
        busy.waits.insert(session.clone(), own);
        Ok(())
    }

    fn is_back<'s>(&self, sessions: impl IntoIterator<Item = &'s String>) -> Result<()> {
        let mut busy = lock(&self.busy)?;
        sessions.into_iter().for_each(|session| drop(busy.waits.remove(session)));
        self.idle.notify_all();
        Ok(())
    }

    /// Ends what these sessions wait for. Where one end has failed the other one may still wait: a sender does for a window
    /// that never opens.
    fn let_go(&self, request: &CloseRequest) -> Result<()> {
        let mut busy = lock(&self.busy)?;
        let waiting = busy.waits.iter().filter(|(name, _)| !request.spares(name)).flat_map(|(_, all)| all);
        waiting.for_each(socket::shut_down);
        busy.closing.push(request.clone());
        Ok(())
    }

    fn trial(&self, request: &TrialRequest) -> Result<Vec<PartAnswer>> {
        let answers = self.try_trial(request);
        self.is_back(request.parts.iter().map(|part| &part.session))?;
        answers
    }

    /// The sessions leave the table while their trials run, so that nothing waits for a lock.
    fn try_trial(&self, request: &TrialRequest) -> Result<Vec<PartAnswer>> {
        let mut sessions = Vec::new();
        for part in &request.parts {
            let session = lock(&self.open)?.remove(&part.session);
            let session = session.ok_or_else(|| unknown(&part.session))?;
            self.waits(&part.session, session.waits_on())?;
            sessions.push((session, part));
        }
        let limit = Duration::from_nanos(request.limit_ns);
        sessions.iter_mut().for_each(|(session, _): &mut (Box<dyn Session>, _)| session.limit(limit));
        let answers = play_all(&mut sessions, request);
        lock(&self.open)?.extend(sessions.into_iter().map(|(session, part)| (part.session.clone(), session)));
        answers
    }
}

/// Plays all sessions at once. What runs beside the others has a lead, and ends when they are done.
fn play_all(
    sessions: &mut [(Box<dyn Session>, &WorkerPart)],
    request: &TrialRequest,
) -> Result<Vec<PartAnswer>> {
    if let Some((_, WorkerPart { order: Some(order), .. })) = sessions.first() {
        return played_together(sessions, order);
    }
    if let [(session, part)] = sessions
        && !part.beside
    {
        pattern::lead(request.lead_ns);
        return Ok(vec![play(session.as_mut(), part, request.sample_ns, &AtomicBool::new(false))?]);
    }
    let (done, timed) = (AtomicBool::new(false), sessions.iter().filter(|(_, part)| !part.beside).count());
    let left = AtomicUsize::new(timed);
    let works = sessions.iter_mut().map(|(session, part)| {
        let (part, done, left) = (*part, &done, &left);
        move || {
            if part.beside {
                return play(session.as_mut(), part, request.sample_ns, done);
            }
            let _timed = Timed { left, done };
            pattern::lead(request.lead_ns);
            play(session.as_mut(), part, request.sample_ns, done)
        }
    });
    let panicked = |_| Err(Error::peer("a session", "panicked", "please report it"));
    let answers = thread::together("session", works)?.into_iter();
    answers.map(|answer| answer.unwrap_or_else(panicked)).collect()
}

/// Plays the sessions of an application, by what is common to all of them.
fn played_together(
    sessions: &mut [(Box<dyn Session>, &WorkerPart)],
    order: &Order,
) -> Result<Vec<PartAnswer>> {
    let watch =
        |(session, _): &(Box<dyn Session>, _)| Watch::begin(Site::Session, &watched(session.as_ref(), None));
    let watches: Vec<Watch> = sessions.iter().map(watch).collect::<Result<_>>()?;
    let Some((_, WorkerPart { blocks, .. })) = sessions.first() else { return Ok(Vec::new()) };
    let mut pair_ends = Vec::new();
    for (session, part) in sessions.iter_mut() {
        let [task] = part.tasks.as_slice() else {
            return Err(Error::usage("an application has one task an end", ""));
        };
        pair_ends.push(PairEnd { session: session.as_mut(), task, pair: part.pair, flows: part.flows });
    }
    let measured = ends::play(&mut pair_ends, order, blocks)?;
    let mut answers = Vec::new();
    for (((session, part), mut watch), flows) in sessions.iter().zip(watches).zip(&measured) {
        let seen = watch.end(&watched(session.as_ref(), None))?;
        answers.push(part_answer(part, std::slice::from_ref(flows), seen)?);
    }
    Ok(answers)
}

/// One that is timed: with the last of them, however it ends, what runs beside them is done.
struct Timed<'t> {
    left: &'t AtomicUsize,
    done: &'t AtomicBool,
}

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.done.store(true, Ordering::Relaxed);
        }
    }
}

/// Plays one session; what ran beside the others hangs up last, whatever came of it.
fn play(
    session: &mut dyn Session,
    part: &WorkerPart,
    sample_ns: Option<u64>,
    done: &AtomicBool,
) -> Result<PartAnswer> {
    let played = measure(session, part, sample_ns, done);
    if part.beside {
        session.hang_up();
    }
    played
}

/// The sockets are read while they are open.
fn measure(
    session: &mut dyn Session,
    part: &WorkerPart,
    sample_ns: Option<u64>,
    done: &AtomicBool,
) -> Result<PartAnswer> {
    let sample = sample_ns.map(Duration::from_nanos);
    let mut watch = Watch::begin(Site::Session, &watched(session, sample))?;
    let settles = !part.beside && sample.is_none();
    let measured = match part.beside {
        false => session.trial(&part.tasks, part.wait, &part.blocks)?,
        true => vec![beside(session, part, done)?],
    };
    let seen = watch.end(&Watched { settles, ..watched(session, sample) })?;
    part_answer(part, &measured, seen)
}

fn part_answer(part: &WorkerPart, measured: &[Vec<Vec<Measured>>], seen: Seen) -> Result<PartAnswer> {
    let Seen { sockets, series, .. } = seen;
    let sockets = sockets.into_iter().map(|socket| SocketRecord { worker: part.worker, ..socket }).collect();
    let every = |quality: fn(&Measured) -> bool| measured.iter().flatten().flatten().all(quality);
    Ok(PartAnswer {
        worker: part.worker,
        pair: part.pair,
        beside: part.beside,
        kept_awake: every(|measured| measured.kept_awake),
        timer_slack_lowered: every(|measured| measured.timer_slack_lowered),
        tasks: part
            .tasks
            .iter()
            .zip(measured)
            .map(|(task, flows)| task_answer(task, flows, &part.blocks))
            .collect::<Result<_>>()?,
        sockets,
        series,
    })
}

fn watched(session: &dyn Session, sample: Option<Duration>) -> Watched<'_> {
    Watched { sockets: session.sockets(), sample, ..Watched::default() }
}

/// Its one task and one block tell what it is; a flow, a block.
fn beside(session: &mut dyn Session, part: &WorkerPart, done: &AtomicBool) -> Result<Vec<Vec<Measured>>> {
    let ([task], [block]) = (part.tasks.as_slice(), part.blocks.as_slice()) else {
        return Err(Error::usage("what runs beside a step has one task and one block", ""));
    };
    let flows = run_beside(session.streams(task)?, part.wait, block.message_bytes, done)?;
    Ok(flows.into_iter().map(|flow| vec![flow]).collect())
}

fn task_answer(task: &Task, flows: &[Vec<Measured>], blocks: &[Block]) -> Result<TaskAnswer> {
    let blocks = blocks.iter().enumerate().map(|(index, block)| {
        let measured: Vec<&Measured> = flows.iter().map(|blocks| &blocks[index]).collect();
        block_answer(task.does, block, &measured)
    });
    Ok(TaskAnswer { does: task.does, blocks: blocks.collect::<Result<_>>()? })
}

/// Thousands of round trips go into a histogram, the warm-up left out; slices of a stream stay as they are.
fn block_answer(does: Does, block: &Block, measured: &[&Measured]) -> Result<BlockAnswer> {
    let mut flows: Vec<Flow> = measured.iter().map(|measured| measured.flow.clone()).collect();
    let samples = samples(measured)?;
    if !does.samples() {
        return Ok(BlockAnswer { flows, histogram: None, samples });
    }
    let slices = flows.iter().flat_map(|flow| flow.slices_ns.iter().skip(block.lead as usize));
    let histogram = Some(encode_histogram(slices.copied())?);
    flows.iter_mut().for_each(|flow| flow.slices_ns.clear());
    Ok(BlockAnswer { flows, histogram, samples })
}

/// What else was timed, over all flows.
fn samples(measured: &[&Measured]) -> Result<BTreeMap<Sample, String>> {
    let mut merged: BTreeMap<Sample, Latencies> = BTreeMap::new();
    for (sample, latencies) in measured.iter().flat_map(|measured| &measured.samples) {
        merged.entry(*sample).or_default().merge(latencies);
    }
    merged.into_iter().map(|(sample, latencies)| Ok((sample, latencies.encode()?))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::decode_histogram;
    use crate::transport::Spec;

    /// Two flows, whose first two slices find caches and are slow.
    #[test]
    fn what_warms_up_is_in_no_histogram() {
        let block = Block { message_bytes: 64, messages: 1, slices: 5, lead: 2, ..Block::default() };
        let flow = Flow { slices_ns: vec![1_000_000, 900_000, 500, 510, 520], ..Flow::default() };
        let one = Measured { flow, samples: Vec::new(), timer_slack_lowered: true, kept_awake: true };
        let answer = block_answer(Does::Pings, &block, &[&one, &one]).unwrap();
        let histogram = decode_histogram(&answer.histogram.unwrap()).unwrap();
        assert_eq!((histogram.len(), histogram.min()), (6, 500));
        assert!(histogram.max() < 600, "{}", histogram.max());
        assert!(answer.flows.iter().all(|flow| flow.slices_ns.is_empty()), "the histogram says it better");
        // Slices of a stream stay as they are, and who reads them knows how many are warm-up.
        let stream = block_answer(Does::Receives, &block, &[&one]).unwrap();
        assert_eq!((stream.histogram, &stream.flows[0].slices_ns), (None, &one.flow.slices_ns));
    }

    /// Of two requests that come together the later one may begin first.
    #[test]
    fn who_joins_what_is_let_go_is_told_at_once() {
        let (worker, session) = (Worker::default(), String::from("tcp"));
        let spec =
            Spec { transport: "tcp".into(), flows: 1, passive: true, patience_ms: 10_000, ..Spec::default() };
        let other = worker.offer(OfferRequest { worker: 0, session: session.clone(), spec }).unwrap();
        let all = CloseRequest { sessions: None };
        worker.let_go(&all).unwrap();
        let joined = worker.join(&JoinRequest { worker: 0, session: session.clone(), other });
        assert_eq!(joined.unwrap_err().to_string(), "this end: is being closed");
        worker.close(&all).unwrap();
        assert!(worker.waits(&session, Vec::new()).is_ok(), "closed, it may be opened anew");
    }
}
