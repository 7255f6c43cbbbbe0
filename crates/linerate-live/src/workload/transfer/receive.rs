//! The receiving end: each stream writes what comes to its place, and a range counts once its digest is the one that was sent.

use super::frame::Frame;
use super::meter::{Meter, Part};
use super::range::{Digest, Division, Span};
use super::sink::Sink;
use super::team::Stream;
use crate::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is received, digested and written at once: it stays in a core's own cache.
const PIECE: usize = 256 << 10;

/// All that is to come.
pub struct Receiving<'s> {
    sink: &'s Sink,
    division: Division,
    verify: bool,
    ranges: Vec<Range>,
    held_bytes: AtomicU64,
}

/// What is known of a range.
#[derive(Default)]
struct Range {
    is_taken: AtomicBool,
    is_there: AtomicBool,
    digest: OnceLock<Digest>,
}

impl<'s> Receiving<'s> {
    /// Into this.
    pub fn new(sink: &'s Sink, verify: bool) -> Receiving<'s> {
        let division = sink.division();
        let ranges = (0..division.count()).map(|_| Range::default()).collect();
        Receiving { sink, division, verify, ranges, held_bytes: AtomicU64::new(0) }
    }

    /// Bytes that were there.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Whether every range came, or was there.
    pub fn is_whole(&self) -> Result<()> {
        let missing = self.ranges.iter().filter(|range| !range.is_there.load(Ordering::Acquire)).count();
        match missing {
            0 => Ok(()),
            _ => Err(Error::peer("the sending end", format!("left out {missing} ranges"), "please report it")),
        }
    }

    /// The file's digest; none where nothing was verified.
    pub fn digest(&self) -> Result<Option<Digest>> {
        if !self.verify {
            return Ok(None);
        }
        let all: Option<Vec<Digest>> = self.ranges.iter().map(|range| range.digest.get().copied()).collect();
        let all = all.ok_or_else(|| Error::peer("this end", "lost a digest", "please report it"))?;
        Ok(Some(self.division.digest(&all)))
    }

    /// One stream's part.
    pub fn play(&self, stream: &Stream<'_>, meter: &mut Meter, moved: &AtomicU64) -> Result<()> {
        let mut room = vec![0; PIECE];
        loop {
            match stream.next(meter)? {
                Frame::End => return Ok(()),
                Frame::Held { range } => self.hold(range)?,
                Frame::Bytes { range, bytes } => {
                    let span = self.take(range)?;
                    if bytes != span.bytes {
                        return Err(broken(format!("sent {bytes} B of range {range}, which has {}", span.bytes)));
                    }
                    self.receive(stream, (range, span), &mut room, meter, moved)?;
                }
            }
        }
    }

    /// A range comes once, whoever sends it.
    fn take(&self, range: u64) -> Result<Span> {
        let span = self.division.span(range).ok_or_else(|| broken(format!("sent range {range}, which is none")))?;
        match self.ranges[range as usize].is_taken.swap(true, Ordering::AcqRel) {
            false => Ok(span),
            true => Err(broken(format!("sent range {range} twice"))),
        }
    }

    fn hold(&self, range: u64) -> Result<()> {
        let span = self.take(range)?;
        let held = self.sink.held().iter().find(|held| held.range == range);
        let held = held.ok_or_else(|| broken(format!("left out range {range}, which is not here")))?;
        self.held_bytes.fetch_add(span.bytes, Ordering::Relaxed);
        self.settle(range, held.digest);
        Ok(())
    }

    fn settle(&self, range: u64, digest: Digest) {
        let known = &self.ranges[range as usize];
        // It was taken by this thread alone.
        let _ = known.digest.set(digest);
        known.is_there.store(true, Ordering::Release);
    }

    fn receive(
        &self,
        stream: &Stream<'_>,
        (range, span): (u64, Span),
        room: &mut [u8],
        meter: &mut Meter,
        moved: &AtomicU64,
    ) -> Result<()> {
        let mut hasher = self.division.hasher(span.at);
        let end = span.at + span.bytes;
        let mut at = span.at;
        while at < end {
            let length = (end - at).min(room.len() as u64) as usize;
            let piece = &mut room[..length];
            stream.receive(piece)?;
            meter.lap(Part::Network);
            if self.verify {
                hasher.update(piece);
                meter.lap(Part::Digest);
            }
            self.sink.write(at, piece)?;
            meter.lap(Part::File);
            at += length as u64;
            meter.bytes += length as u64;
            moved.fetch_add(length as u64, Ordering::Relaxed);
        }
        let digest = self.verify.then(|| hasher.digest()).unwrap_or_default();
        if self.verify && stream.digest(meter)? != digest {
            let what = format!("bytes {} to {end} are not what was sent: their digest differs", span.at);
            let hint = "something on the way or in a host's memory changed them; the same command sends them again";
            return Err(Error::peer("the stream", what, hint));
        }
        self.sink.keep(range)?;
        self.settle(range, digest);
        meter.lap(Part::File);
        Ok(())
    }
}

fn broken(what: String) -> Error {
    Error::peer("the sending end", what, "are both ends of the same version?")
}
