//! A file by this program's engine: the end that has it asks both ends, as the controller of `linerate transfer` does.

use super::word::{Ask, Told, Wire};
use super::{End, nonsense};
use crate::transport::{Offer, Spec};
use crate::vocabulary::mover::NO_CIPHER;
use crate::workload::tool::Files;
use crate::workload::transfer::{
    Answered, FinishRequest, OfferRequest, ReceiveRequest, Request, SendRequest, SinkRequest, SourceRequest,
    Transfers,
};
use crate::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

/// Sends one; gives the time until it has its name on the disk of the other end.
pub fn send(end: &mut End<'_>, wire: &mut Wire<'_>, files: &Files) -> Result<u64> {
    wire.wait_for(files.bytes);
    let begun = Instant::now();
    let own = Transfers::default();
    let path = Some(files.source.as_os_str().as_bytes().to_vec());
    own.handle(Request::Source(SourceRequest { path, memory_bytes: 0, cold: false, direct: false }))?;
    let sink = SinkRequest {
        path: None,
        name: None,
        bytes: files.bytes,
        entries: None,
        mode: 0o600,
        overwrite: false,
        anew: true,
        verify: true,
        direct: false,
        source: None,
        threads: end.streams,
    };
    let Answered::Prepared(prepared) = asked(wire, Request::Sink(sink))? else {
        return Err(wire.out_of_turn());
    };
    let mut offers = [Offer::Nothing, Offer::Nothing];
    // Who listens is prepared first.
    for here in if end.listens(false) { [true, false] } else { [false, true] } {
        let offer = Request::Offer(offer(end, false));
        let answered = if here { own.handle(offer)? } else { asked(wire, offer)? };
        let Answered::Offered(offer) = answered else { return Err(wire.out_of_turn()) };
        offers[usize::from(here)] = offer;
    }
    let [other, own_offer] = offers;
    let receive = ReceiveRequest { other: own_offer, verify: true, sync: true };
    wire.say(&Ask::Own(Box::new(Request::Receive(receive))))?;
    let range_bytes = prepared.range_bytes;
    let sent = own.handle(Request::Send(SendRequest { other, range_bytes, held: Vec::new(), verify: true }));
    // What the other end says of a failure comes first: it may be its cause.
    let (received, sent) = (heard(wire)?, sent?);
    let (Answered::Ended(sent), Answered::Ended(received)) = (sent, received) else {
        return Err(wire.out_of_turn());
    };
    if sent.digest.is_none() || sent.digest != received.digest {
        let what = "what came has another digest than what was sent";
        return Err(Error::peer("a file", what, "something on the way changed it"));
    }
    asked(wire, Request::Finish(FinishRequest { digest: received.digest, sync: true }))?;
    Ok(begun.elapsed().as_nanos() as u64)
}

fn asked(wire: &mut Wire<'_>, request: Request) -> Result<Answered> {
    match wire.ask(&Ask::Own(Box::new(request)))? {
        Told::Own(answered) => Ok(*answered),
        _ => Err(wire.out_of_turn()),
    }
}

fn heard(wire: &mut Wire<'_>) -> Result<Answered> {
    match wire.hear()? {
        Told::Own(answered) => Ok(*answered),
        Told::Failed { what, hint } => Err(Error::peer("the other end", what, hint.unwrap_or_default())),
        _ => Err(wire.out_of_turn()),
    }
}

/// What seals the file on its way; none where it crosses as it is.
pub fn cipher(end: &End<'_>) -> Option<String> {
    end.order.value::<String>("file.cipher").filter(|cipher| cipher != NO_CIPHER)
}

/// How this end meets the other, whether it takes the file or has it.
fn offer(end: &End<'_>, takes: bool) -> OfferRequest {
    let spec = Spec {
        flows: end.streams,
        passive: end.listens(takes),
        address: Some(end.address()),
        ports: end.order.ports,
        settings: end.order.settings.clone(),
        // A disk may stall for longer than a path that failed before is waited for.
        patience_ms: end.order.patience_ms.max(crate::plan::PATIENCE_NS / 1_000_000),
        ..Spec::default()
    };
    OfferRequest { spec, cipher: cipher(end) }
}

/// The end that takes.
#[derive(Default)]
pub struct Sink {
    transfers: Transfers,
}

impl Sink {
    /// Does what the other end asks; where the file goes and how this end is reached is its own affair.
    /// Gives the bytes of the file that came by it, too.
    pub fn handle(&mut self, request: Request, end: &mut End<'_>, most_bytes: u64) -> Result<(u64, Told)> {
        let request = match request {
            Request::Sink(sink) if sink.bytes <= most_bytes => {
                let path = Some(end.bench.destination().as_os_str().as_bytes().to_vec());
                Request::Sink(SinkRequest { path, name: None, entries: None, threads: end.streams, ..sink })
            }
            Request::Offer(_) => Request::Offer(offer(end, true)),
            request @ (Request::Receive(_) | Request::Finish(_)) => request,
            _ => return Err(nonsense(end.order.host, "asks for what no file has")),
        };
        let answered = self.transfers.handle(request)?;
        let bytes = if let Answered::Ended(end) = &answered { end.bytes() } else { 0 };
        Ok((bytes, Told::Own(Box::new(answered))))
    }
}
