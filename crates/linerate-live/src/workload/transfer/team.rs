//! The streams of one end: a thread each, and the end of all of them where one fails.

use super::fault;
use super::frame::{DIGEST_LEN, FRAME_LEN, Frame};
use super::meter::{Meter, Part};
use crate::record::{TransferEnd, TransferStream};
use crate::transport::Seal;
use crate::{Error, Result};
use linerate_sys::{socket, thread};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The byte that lets the other end begin.
const BEGIN: u8 = 1;

/// The connections, and what seals each of them.
pub struct Team {
    sockets: Vec<TcpStream>,
    seals: Vec<Option<Seal>>,
    patience_ms: u64,
}

/// One stream of them, as its thread has it.
pub struct Stream<'t> {
    socket: &'t TcpStream,
    seal: Option<&'t mut Seal>,
    patience_ms: u64,
}

impl Team {
    /// These connections have met the other end's.
    pub fn new(streams: Vec<(TcpStream, Option<Seal>)>, patience_ms: u64) -> Result<Team> {
        let (sockets, seals): (Vec<TcpStream>, Vec<Option<Seal>>) = streams.into_iter().unzip();
        for stream in &sockets {
            socket::limit_waits(stream, Duration::from_millis(patience_ms))?;
        }
        Ok(Team { sockets, seals, patience_ms })
    }

    /// Lets the sending end begin. What it sent before would be here before this end's clock began, and have taken no time.
    pub fn let_begin(&mut self) -> Result<()> {
        let patience_ms = self.patience_ms;
        let mut ends = self.sockets.iter().zip(&mut self.seals);
        ends.try_for_each(|(socket, seal)| {
            let mut stream = Stream { socket, seal: seal.as_mut(), patience_ms };
            stream.send_to(SENDER, &[BEGIN], |_| ())
        })
    }

    /// Plays a part on each at once. The first failure ends all of them, and of failures the one nearest to the cause is told.
    pub fn play(
        &mut self,
        begun_ns: u64,
        play: impl Fn(&mut Stream<'_>, &mut Meter) -> Result<()> + Sync,
    ) -> Result<TransferEnd> {
        let (sockets, patience_ms) = (&self.sockets, self.patience_ms);
        let cipher = self.seals.iter().flatten().next().and_then(Seal::cipher);
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let failed = |error: Error| {
            let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| first.origin() < error.origin()) {
                *first = Some(error);
            }
            drop(first);
            // Those that wait on the others hear of it.
            sockets.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        };
        let works = sockets.iter().zip(&mut self.seals).map(|(socket, seal)| {
            let (play, failed) = (&play, &failed);
            move || -> TransferStream {
                let mut stream = Stream { socket, seal: seal.as_mut(), patience_ms };
                let mut meter = Meter::begin(begun_ns, socket);
                if let Err(error) = play(&mut stream, &mut meter) {
                    failed(error);
                }
                meter.end(socket)
            }
        });
        let mut streams = Vec::new();
        for played in thread::together("transfer", works)? {
            let panicked = |_| Error::peer("this process", "a thread panicked", "please report it");
            streams.push(played.map_err(panicked)?);
        }
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let ends = || streams.iter().map(|stream: &TransferStream| stream.elapsed_ns);
        let [first_done_ns, last_done_ns] = [ends().min(), ends().max()].map(Option::unwrap_or_default);
        Ok(TransferEnd { first_done_ns, last_done_ns, streams, cipher, ..TransferEnd::default() })
    }
}

/// What each end calls the other one.
const RECEIVER: &str = "the receiving end";
const SENDER: &str = "the sending end";

impl Stream<'_> {
    /// The connection, where its bytes cross as they are.
    pub fn unsealed(&self) -> Option<&TcpStream> {
        Some(self.socket).filter(|_| self.seal.is_none())
    }

    /// What the receiving end's silence or leave is.
    pub fn sent<T>(&self, answer: io::Result<T>) -> Result<T> {
        fault::of_stream(RECEIVER, answer, self.patience_ms)
    }

    /// Sends all of it.
    pub fn send(&mut self, bytes: &[u8], meter: &mut Meter) -> Result<()> {
        self.send_to(RECEIVER, bytes, |part| meter.lap(part))
    }

    fn send_to(&mut self, other: &str, mut bytes: &[u8], mut lap: impl FnMut(Part)) -> Result<()> {
        while !bytes.is_empty() {
            let went = match &mut self.seal {
                None => socket::send_waiting(self.socket, bytes),
                Some(seal) => {
                    let went = seal.seal(bytes);
                    lap(Part::Seal);
                    let flushed = seal.flush(|parts| socket::send_parts_waiting(self.socket, parts));
                    flushed.and(went)
                }
            };
            bytes = &bytes[fault::of_stream(other, went, self.patience_ms)?..];
            if self.seal.is_some() {
                lap(Part::Network);
            }
        }
        lap(Part::Network);
        Ok(())
    }

    /// Waits until the receiving end's clock has begun.
    pub fn await_begin(&mut self, meter: &mut Meter) -> Result<()> {
        let mut room = [0];
        self.receive_from(RECEIVER, &mut room, meter)?;
        match room {
            [BEGIN] => Ok(()),
            _ => Err(Error::peer(
                RECEIVER,
                "began with what is no beginning",
                "are both ends of the same version?",
            )),
        }
    }

    /// Says what comes next.
    pub fn announce(&mut self, frame: Frame, meter: &mut Meter) -> Result<()> {
        self.send(&frame.encode(), meter)
    }

    /// Receives until the room is full.
    pub fn receive(&mut self, room: &mut [u8], meter: &mut Meter) -> Result<()> {
        self.receive_from(SENDER, room, meter)
    }

    fn receive_from(&mut self, other: &str, room: &mut [u8], meter: &mut Meter) -> Result<()> {
        let mut filled = 0;
        while filled < room.len() {
            let rest = &mut room[filled..];
            let came = match &mut self.seal {
                None => socket::receive_all(self.socket, rest),
                Some(seal) => opened(seal, self.socket, rest, meter),
            };
            match fault::of_stream(other, came, self.patience_ms)? {
                Some(0) => return Err(Error::hung_up(other, "ended a stream before its end")),
                came => filled += came.unwrap_or(0),
            }
        }
        meter.lap(if self.seal.is_some() { Part::Seal } else { Part::Network });
        Ok(())
    }

    /// What comes next.
    pub fn next(&mut self, meter: &mut Meter) -> Result<Frame> {
        let mut room = [0; FRAME_LEN];
        self.receive(&mut room, meter)?;
        Frame::decode(&room)
    }

    /// The digest that follows a range.
    pub fn digest(&mut self, meter: &mut Meter) -> Result<[u8; DIGEST_LEN]> {
        let mut room = [0; DIGEST_LEN];
        self.receive(&mut room, meter)?;
        Ok(room)
    }
}

/// Receives as much as has been opened, or opens what comes next: the time of each is told apart, once a read of the socket.
fn opened(
    seal: &mut Seal,
    socket: &TcpStream,
    room: &mut [u8],
    meter: &mut Meter,
) -> io::Result<Option<usize>> {
    match seal.opened(room)? {
        Some(came) => return Ok(Some(came)),
        None if seal.has_more() => {}
        None => {
            meter.lap(Part::Seal);
            seal.take_in(|room| socket::receive_waiting(socket, room))?;
            meter.lap(Part::Network);
        }
    }
    seal.open()?;
    Ok(None)
}
