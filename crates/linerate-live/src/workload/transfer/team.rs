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
    pub fn send(&self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let went = self.sent(socket::send_waiting(self.socket, bytes))?;
            bytes = &bytes[went..];
        }
        Ok(())
    }

    /// Says what comes next.
    pub fn announce(&self, frame: Frame, meter: &mut Meter) -> Result<()> {
        self.send(&frame.encode())?;
        meter.lap(Part::Network);
        Ok(())
    }

    /// Receives until the room is full.
    pub fn receive(&self, room: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while filled < room.len() {
            let came = socket::receive_all(self.socket, &mut room[filled..]);
            match fault::of_stream(SENDER, came, self.patience_ms)? {
                Some(0) => return Err(Error::hung_up(SENDER, "ended a stream before its end")),
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
