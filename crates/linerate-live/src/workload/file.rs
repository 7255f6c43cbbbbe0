//! A file from a host to another, as a pattern: by this program's engine, or in a lab by another program.
//!
//! The end that has the file says over the session's first connection what the other end is to do, and keeps the time; the other
//! end takes the file, has it on the disk, and compares its digest with what it was told. What either makes is in a folder of its
//! own, which goes with its process.
//!
//! | part | does |
//! |---|---|
//! | `word` | what the ends say to each other |
//! | `own` | the two ends of this program's engine |
//! | `other` | those of another program |

mod other;
mod own;
mod word;

use super::application::{Answers, Order, PairEnd, broken};
use super::tool::{Bench, Files};
use crate::pattern::{Measured, Start};
use crate::plan::{Block, HostAddress, HostId};
use crate::record::Flow;
use crate::vocabulary::mover::OWN;
use crate::{Error, Result};
use linerate_sys::thread;
use std::io;
use std::net::{SocketAddr, TcpStream};
use word::{Ask, Told, Wire};

/// What one end has of a trial.
struct End<'e> {
    order: &'e Order,
    /// This end's address, and the other's.
    addresses: [SocketAddr; 2],
    /// The host at the other end.
    other: HostId,
    streams: u32,
    bench: Bench,
}

impl<'e> End<'e> {
    fn new(pair_end: &PairEnd<'_>, order: &'e Order, knob: &str) -> Result<End<'e>> {
        let address = |of: fn(&TcpStream) -> io::Result<SocketAddr>| {
            let address = pair_end.session.sockets().first().and_then(|socket| of(socket).ok());
            address.ok_or_else(|| Error::unavailable("a file over this transport", "take network.tcp"))
        };
        let addresses = [address(TcpStream::local_addr)?, address(TcpStream::peer_addr)?];
        let wanted = order.value::<String>(knob).unwrap_or_else(|| "disk".into());
        let (other, bench) = (order.other(pair_end.pair), Bench::between(&wanted, &wanted)?);
        Ok(End { order, addresses, other, streams: pair_end.flows, bench })
    }

    /// Whether this end is connected to.
    fn listens(&self, takes: bool) -> bool {
        listens(self.order, self.other, takes)
    }

    /// This end's, as a session's: a link's own address is none without its interface.
    fn address(&self) -> HostAddress {
        let zone = match self.addresses[0] {
            SocketAddr::V6(address) if address.scope_id() > 0 => Some(address.scope_id().to_string()),
            _ => None,
        };
        HostAddress { ip: self.addresses[0].ip(), zone }
    }
}

/// Of two ends the one is connected to that is said to be, and of two such or none the one that takes the file.
fn listens(order: &Order, other: HostId, takes: bool) -> bool {
    let is_said = |host: HostId| order.listening.contains(&host);
    match (is_said(order.host), is_said(other)) {
        (true, false) => true,
        (false, true) => false,
        _ => takes,
    }
}

/// Moves a file a message, and keeps the time of each.
pub fn move_files(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let (mut answers, lowered) = (Vec::new(), thread::lower_timer_slack().is_ok());
    for pair_end in pair_ends.iter_mut() {
        let (flows, host) = (pair_end.flows, order.other(pair_end.pair));
        let mut end = End::new(pair_end, order, "file.from")?;
        let mut wire = Wire::new(pair_end, host)?;
        let mut measured = Vec::new();
        for block in blocks {
            let files = end.bench.file(block.message_bytes)?;
            let count = u64::from(block.slices) * block.messages;
            let start = Start::now();
            let slices_ns = (0..count).map(|_| moved(&mut end, &mut wire, &files)).collect::<Result<_>>()?;
            let flow = Flow { bytes: count * files.bytes, slices_ns, ..start.until(&Start::now()) };
            measured.push(of_flow(flow, lowered));
        }
        wire.say(&Ask::Over)?;
        answers.push(with_idle(measured, flows));
    }
    Ok(answers)
}

/// One file; the time until it is on the disk of the other end, and compared there.
fn moved(end: &mut End<'_>, wire: &mut Wire<'_>, files: &Files) -> Result<u64> {
    let tool = end.order.value::<String>("file.tool").filter(|name| name != OWN);
    let is_best = end.order.value::<String>("file.flags").is_some_and(|flags| flags == "best");
    match tool {
        // One number under two names would be two numbers.
        None if is_best => {
            Err(Error::unavailable(format!("better flags of {OWN} than it has"), "file.flags=shipped"))
        }
        None => own::send(end, wire, files),
        Some(name) if own::cipher(end).is_some() => {
            let what = format!("a cipher of this program's for {name}, which has its own");
            Err(Error::unavailable(what, "file.cipher=none; file.flags=best for its fastest cipher"))
        }
        Some(name) => other::send(end, wire, files, (&name, is_best)),
    }
}

/// Takes files until it is over.
pub fn take_files(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let (mut answers, lowered) = (Vec::new(), thread::lower_timer_slack().is_ok());
    for pair_end in pair_ends.iter_mut() {
        let (flows, host) = (pair_end.flows, order.other(pair_end.pair));
        let mut end = End::new(pair_end, order, "file.to")?;
        let most = blocks.iter().map(|block| block.message_bytes).max().unwrap_or(0);
        let (mut wire, start) = (Wire::new(pair_end, host)?, Start::now());
        // A program at the other end may take so long until this one is asked again.
        wire.wait_for(most);
        let (mut own, mut other, mut bytes) = (own::Sink::default(), other::Sink::default(), 0);
        loop {
            let answer = match wire.hear::<Ask>()? {
                Ask::Over => break,
                Ask::Own(request) => own.handle(*request, &mut end, most),
                Ask::Expect(expect) => other.prepare(expect, &mut end, most).map(|told| (0, told)),
                Ask::Fetch(site) => other.fetch(&site, &end).map(|told| (0, told)),
                Ask::Compare => other.compare(),
            };
            match answer {
                Ok((came, told)) => {
                    bytes += came;
                    wire.say(&told)?;
                }
                Err(error) => {
                    // The end that keeps the time tells it; this one fails for the same.
                    let told = Told::Failed { what: error.to_string(), hint: error.hint().map(String::from) };
                    wire.say(&told)?;
                    return Err(error);
                }
            }
        }
        // Files follow each other without a word: what they took is on record with the first block.
        let mut flow = Flow { bytes, ..start.until(&Start::now()) };
        let measured = blocks.iter().map(|_| of_flow(std::mem::take(&mut flow), lowered)).collect();
        answers.push(with_idle(measured, flows));
    }
    Ok(answers)
}

fn of_flow(flow: Flow, timer_slack_lowered: bool) -> Measured {
    Measured { flow, samples: Vec::new(), timer_slack_lowered, kept_awake: false }
}

/// The other connections of the session say how many streams there are, and carry nothing themselves.
fn with_idle(measured: Vec<Measured>, flows: u32) -> Vec<Vec<Measured>> {
    let idle =
        |_: u32| measured.iter().map(|one| of_flow(Flow::default(), one.timer_slack_lowered)).collect();
    let others: Vec<Vec<Measured>> = (1..flows).map(idle).collect();
    std::iter::once(measured).chain(others).collect()
}

/// The error of what came from the other end.
fn nonsense(host: HostId, what: &str) -> Error {
    let error = io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    broken("the other end of a file", host, &error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_end_listens_whoever_takes_the_file() {
        let hosts = [HostId(0), HostId(1), HostId(2)];
        for listening in [&hosts[..1], &hosts[1..2], &hosts[1..], &hosts[..0]] {
            for (moves, takes) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
                let end = |own: usize, other: usize, takes| {
                    let order = Order { host: hosts[own], listening: listening.to_vec(), ..Order::default() };
                    listens(&order, hosts[other], takes)
                };
                let [mover, taker] = [end(moves, takes, false), end(takes, moves, true)];
                assert_ne!(mover, taker, "{listening:?}: {moves} to {takes}");
                let only = listening == [hosts[moves]] || listening.len() == 2 && takes == 0;
                assert_eq!(mover, only, "{listening:?}: {moves} to {takes}");
            }
        }
    }
}
