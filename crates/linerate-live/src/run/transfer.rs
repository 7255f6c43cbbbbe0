//! Moves a file between two hosts of a run: which end is asked what, in which order.

use super::host::Host;
use super::{PATIENCE, Runner};
use crate::control::{Call, Client, Wait};
use crate::record::{Transfer, TransferEnd};
use crate::transport::{Offer, Spec};
use crate::workload::tool::{Bench, Files, Took, Tool};
use crate::workload::transfer::{
    Answered, FinishRequest, OfferRequest, ReceiveRequest, Request, SendRequest, SinkRequest, SourceRequest,
};
use crate::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long nothing may move before a stream gives up: a disk may have much to write before it takes more.
const STILL: Duration = Duration::from_secs(60);

/// How long an end may take to read and digest what is there already, or to have a name on the disk: a disk's work.
const DISK: Duration = Duration::from_secs(24 * 3600);

/// How often is asked how far it is, and how often is looked whether it is over.
const PROGRESS: Duration = Duration::from_millis(250);
const LOOK: Duration = Duration::from_millis(50);

/// One end's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEnd {
    /// A path on its host.
    Path(PathBuf),
    /// So many bytes of memory; of a destination, nowhere.
    Memory(u64),
}

/// What is to be moved, and how.
#[derive(Debug, Clone)]
pub struct Order {
    /// What is sent.
    pub source: FileEnd,
    /// What it becomes.
    pub destination: FileEnd,
    /// Whether it goes from the second host to the first.
    pub pull: bool,
    /// Parallel streams.
    pub streams: u32,
    /// Whether each range is verified.
    pub verify: bool,
    /// Whether all is to be on the disk before it counts as moved.
    pub sync: bool,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
    /// Whether what an earlier transfer left is thrown away.
    pub anew: bool,
    /// Whether the source's pages are to go from its host's memory first.
    pub cold: bool,
    /// Whether files are read and written past the page cache.
    pub direct: bool,
    /// The cipher of TLS that seals what crosses; none where it crosses as it is.
    pub cipher: Option<String>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moving {
    /// Bytes that have come, those that were there included.
    pub bytes: u64,
    /// Of so many.
    pub of: u64,
    /// Those that were there.
    pub held: u64,
    /// Since the streams began.
    pub time: Duration,
}

impl FileEnd {
    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            FileEnd::Path(path) => Some(path.as_os_str().as_bytes().to_vec()),
            FileEnd::Memory(_) => None,
        }
    }

    fn memory_bytes(&self) -> u64 {
        match self {
            FileEnd::Path(_) => 0,
            FileEnd::Memory(bytes) => *bytes,
        }
    }

    fn shown(&self) -> String {
        match self {
            FileEnd::Path(path) => path.display().to_string(),
            FileEnd::Memory(bytes) => {
                let size = if *bytes == 0 { String::new() } else { format!(":{bytes}") };
                format!("memory{size}")
            }
        }
    }
}

/// The hosts' places in the run.
#[derive(Clone, Copy)]
struct Ends {
    sender: usize,
    receiver: usize,
    listener: usize,
}

impl Runner<'_> {
    /// Moves a file by another program, in a lab; gives what it took until it was on the disk. What takes longer is ended.
    pub fn transfer_by_tool(
        &self,
        bench: &mut Bench,
        tool: &Tool,
        streams: u32,
        files: &Files,
        longest: Duration,
    ) -> Result<Took> {
        let hosts = (self.hosts.virtual_hosts(), longest);
        bench.play(tool, streams, files, hosts, &|| self.watch.check())
    }

    /// Moves it. `told` hears how far it is.
    pub fn transfer(&mut self, order: &Order, told: &mut dyn FnMut(Moving)) -> Result<Transfer> {
        let begun = Instant::now();
        let ends = self.transfer_ends(order);
        let opened = match self.ask_end(ends.sender, &source(order), DISK)? {
            Answered::Opened(opened) => opened,
            _ => return Err(out_of_turn()),
        };
        let files = opened.files();
        let sink = SinkRequest {
            path: order.destination.bytes(),
            name: opened.name,
            bytes: opened.bytes,
            entries: opened.entries,
            mode: opened.mode,
            overwrite: order.overwrite,
            anew: order.anew,
            verify: order.verify,
            direct: order.direct,
            source: opened.whereabouts,
            threads: order.streams,
        };
        let prepared = match self.ask_end(ends.receiver, &Request::Sink(sink), DISK)? {
            Answered::Prepared(prepared) => prepared,
            _ => return Err(out_of_turn()),
        };
        let held: u64 = prepared.held.len() as u64 * prepared.range_bytes;
        let moving =
            Moving { bytes: 0, of: opened.bytes, held: held.min(opened.bytes), time: Duration::ZERO };
        let mut transfer = Transfer {
            source: order.source.shown(),
            destination: prepared.path.unwrap_or_else(|| order.destination.shown()),
            bytes: opened.bytes,
            files,
            range_bytes: prepared.range_bytes,
            cached_share: opened.cached_share,
            made_cold: order.cold,
            allocated: prepared.allocated,
            ..Transfer::default()
        };
        let offer = self.met(ends, order)?;
        let of = |end: usize| if end == ends.listener { Offer::Nothing } else { offer.clone() };
        let send = SendRequest {
            other: of(ends.sender),
            range_bytes: prepared.range_bytes,
            held: prepared.held,
            verify: order.verify,
        };
        let receive = ReceiveRequest { other: of(ends.receiver), verify: order.verify, sync: order.sync };
        [transfer.sender, transfer.receiver] = self.moved(ends, send, receive, moving, told)?;
        self.name_it(ends, order, &transfer)?;
        transfer.wall_ns = begun.elapsed().as_nanos() as u64;
        Ok(transfer)
    }

    /// The file has its name only where both ends have told the same digest, and each over its own control connection.
    fn name_it(&mut self, ends: Ends, order: &Order, transfer: &Transfer) -> Result<()> {
        let digest = transfer.receiver.digest.clone();
        if transfer.sender.digest != digest {
            let what = "what came has another digest than what was sent";
            let hint =
                "something on the way changed it; the same command looks through it and sends what differs";
            return Err(Error::peer("the transfer", what, hint));
        }
        let finish = Request::Finish(FinishRequest { digest, sync: order.sync });
        self.ask_end(ends.receiver, &finish, DISK).map(drop)
    }

    fn transfer_ends(&self, order: &Order) -> Ends {
        let (sender, receiver) = if order.pull { (1, 0) } else { (0, 1) };
        let listens = |host: &Host| self.plan.host(host.facts.host).is_some_and(|host| host.listens);
        let listener = self.hosts.all.iter().position(listens).unwrap_or(1);
        Ends { sender, receiver, listener }
    }

    fn ask_end(&mut self, end: usize, request: &Request, limit: Duration) -> Result<Answered> {
        let host = &mut self.hosts.all[end];
        let answer = host.client.call("transfer", request, limit, &|| self.watch.check());
        answer.map_err(|error| error.on_host(&host.facts.host))
    }

    /// Both ends are prepared to meet: the one that listens does so.
    fn met(&mut self, ends: Ends, order: &Order) -> Result<Offer> {
        let other = ends.sender + ends.receiver - ends.listener;
        let spec = |host: &Host, passive| Spec {
            flows: order.streams,
            passive,
            address: Some(host.address.clone()),
            ports: self.plan.host(host.facts.host).and_then(|host| host.ports),
            settings: self.plan.settings.clone(),
            patience_ms: STILL.as_millis() as u64,
            ..Spec::default()
        };
        let specs = [(ends.listener, true), (other, false)]
            .map(|(end, passive)| (end, spec(&self.hosts.all[end], passive)));
        let mut offer = Offer::Nothing;
        for (end, spec) in specs {
            match self.ask_end(end, &Request::Offer(offer_of(order, spec)), 2 * PATIENCE)? {
                Answered::Offered(Offer::Nothing) => {}
                Answered::Offered(told) => offer = told,
                _ => return Err(out_of_turn()),
            }
        }
        Ok(offer)
    }

    /// Both at once; who receives is asked how far it is.
    fn moved(
        &mut self,
        ends: Ends,
        send: SendRequest,
        receive: ReceiveRequest,
        moving: Moving,
        told: &mut dyn FnMut(Moving),
    ) -> Result<[TransferEnd; 2]> {
        let requests = [(ends.sender, Request::Send(send)), (ends.receiver, Request::Receive(receive))];
        let mut calls: Vec<(usize, Call<Answered>)> = Vec::new();
        for (end, request) in &requests {
            calls.push((*end, self.hosts.all[*end].client.begin("transfer", request)?));
        }
        let (begun, mut asked) = (Instant::now(), Instant::now());
        let mut are_well = [false; 2];
        let mut wait = Wait::new(DISK);
        loop {
            let mut clients: Vec<&mut Client> =
                self.hosts.all.iter_mut().map(|host| &mut host.client).collect();
            let waited_for = calls.iter().zip(are_well).filter(|(_, is_well)| !is_well);
            if let Some(silent) = wait.attend(&mut clients, waited_for.map(|((end, _), _)| *end)).first() {
                return Err(clients[*silent].silent());
            }
            // Who receives is the last to be done: that answer is not waited for a moment longer than it takes.
            let waits = [if are_well[1] { LOOK } else { Duration::ZERO }, LOOK];
            for at in [1, 0] {
                let (end, call) = &calls[at];
                match self.hosts.all[*end].client.is_answered(call, waits[at]) {
                    Some(is_well) => are_well[at] = is_well,
                    None => continue,
                }
                if !are_well[at] {
                    return self.ended(calls);
                }
            }
            if are_well == [true, true] || self.watch.check().is_err() {
                return self.ended(calls);
            }
            if asked.elapsed() > PROGRESS {
                asked = Instant::now();
                if let Answered::Moved(bytes) = self.ask_end(ends.receiver, &Request::Progress, STILL)? {
                    told(Moving { bytes: bytes + moving.held, time: begun.elapsed(), ..moving });
                }
            }
        }
    }

    fn ended(&mut self, calls: Vec<(usize, Call<Answered>)>) -> Result<[TransferEnd; 2]> {
        let named: Vec<usize> = calls.iter().map(|(end, _)| *end).collect();
        let mut ends = self.gather(calls, PATIENCE)?.into_iter().zip(named);
        let mut next = || match ends.next() {
            Some((Answered::Ended(end), _)) => Ok(*end),
            _ => Err(out_of_turn()),
        };
        Ok([next()?, next()?])
    }
}

fn offer_of(order: &Order, spec: Spec) -> OfferRequest {
    OfferRequest { spec, cipher: order.cipher.clone() }
}

fn source(order: &Order) -> Request {
    let (path, memory_bytes) = (order.source.bytes(), order.source.memory_bytes());
    Request::Source(SourceRequest { path, memory_bytes, cold: order.cold, direct: order.direct })
}

fn out_of_turn() -> Error {
    Error::peer(
        "an end of the transfer",
        "gave another answer than was asked for",
        "are both of the same version?",
    )
}
