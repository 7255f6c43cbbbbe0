//! The streams of one end: a thread each, and the end of all of them where one fails.

use super::fault;
use super::frame::{DIGEST_LEN, FRAME_LEN, Frame};
use super::meter::{Meter, Part};
use crate::record::{TransferEnd, TransferStream};
use crate::{Error, Result};
use linerate_sys::{socket, thread};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The byte that lets the other end begin.
const BEGIN: u8 = 1;

/// The connections.
pub struct Team {
    streams: Vec<TcpStream>,
    patience_ms: u64,
}

/// One stream of them, as its thread has it.
pub struct Stream<'t> {
    socket: &'t TcpStream,
    patience_ms: u64,
}

impl Team {
    /// These connections have met the other end's.
    pub fn new(streams: Vec<TcpStream>, patience_ms: u64) -> Result<Team> {
        for stream in &streams {
            socket::limit_waits(stream, Duration::from_millis(patience_ms))?;
        }
        Ok(Team { streams, patience_ms })
    }

    /// Lets the sending end begin. What it sent before would be here before this end's clock began, and have taken no time.
    pub fn let_begin(&self) -> Result<()> {
        self.streams.iter().try_for_each(|socket| {
            let stream = Stream { socket, patience_ms: self.patience_ms };
            stream.send_to(SENDER, &[BEGIN])
        })
    }

    /// Plays a part on each at once. The first failure ends all of them, and of failures the one nearest to the cause is told.
    pub fn play(
        &self,
        begun_ns: u64,
        play: impl Fn(&Stream<'_>, &mut Meter) -> Result<()> + Sync,
    ) -> Result<TransferEnd> {
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let failed = |error: Error| {
            let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| first.origin() < error.origin()) {
                *first = Some(error);
            }
            drop(first);
            // Those that wait on the others hear of it.
            self.streams.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        };
        let works = self.streams.iter().map(|socket| {
            let (play, failed) = (&play, &failed);
            move || -> TransferStream {
                let stream = Stream { socket, patience_ms: self.patience_ms };
                let mut meter = Meter::begin(begun_ns, socket);
                if let Err(error) = play(&stream, &mut meter) {
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
        Ok(TransferEnd { first_done_ns, last_done_ns, streams, ..TransferEnd::default() })
    }
}

/// What each end calls the other one.
const RECEIVER: &str = "the receiving end";
const SENDER: &str = "the sending end";

impl Stream<'_> {
    /// The connection.
    pub fn socket(&self) -> &TcpStream {
        self.socket
    }

    /// What the receiving end's silence or leave is.
    pub fn sent<T>(&self, answer: std::io::Result<T>) -> Result<T> {
        fault::of_stream(RECEIVER, answer, self.patience_ms)
    }

    /// Sends all of it.
    pub fn send(&self, bytes: &[u8]) -> Result<()> {
        self.send_to(RECEIVER, bytes)
    }

    fn send_to(&self, other: &str, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let went = socket::send_waiting(self.socket, bytes);
            bytes = &bytes[fault::of_stream(other, went, self.patience_ms)?..];
        }
        Ok(())
    }

    /// Waits until the receiving end's clock has begun.
    pub fn await_begin(&self, meter: &mut Meter) -> Result<()> {
        let mut room = [0];
        self.receive_from(RECEIVER, &mut room)?;
        meter.lap(Part::Network);
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
    pub fn announce(&self, frame: Frame, meter: &mut Meter) -> Result<()> {
        self.send(&frame.encode())?;
        meter.lap(Part::Network);
        Ok(())
    }

    /// Receives until the room is full.
    pub fn receive(&self, room: &mut [u8]) -> Result<()> {
        self.receive_from(SENDER, room)
    }

    fn receive_from(&self, other: &str, room: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while filled < room.len() {
            let came = socket::receive_all(self.socket, &mut room[filled..]);
            match fault::of_stream(other, came, self.patience_ms)? {
                Some(0) => return Err(Error::hung_up(other, "ended a stream before its end")),
                came => filled += came.unwrap_or(0),
            }
        }
        Ok(())
    }

    /// What comes next.
    pub fn next(&self, meter: &mut Meter) -> Result<Frame> {
        let mut room = [0; FRAME_LEN];
        self.receive(&mut room)?;
        meter.lap(Part::Network);
        Frame::decode(&room)
    }

    /// The digest that follows a range.
    pub fn digest(&self, meter: &mut Meter) -> Result<[u8; DIGEST_LEN]> {
        let mut room = [0; DIGEST_LEN];
        self.receive(&mut room)?;
        meter.lap(Part::Network);
        Ok(room)
    }
}
