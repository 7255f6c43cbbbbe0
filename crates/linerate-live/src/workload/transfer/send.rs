//! The sending end: each stream takes the next range that nobody has taken, until there is none.

use super::ask::Held;
use super::frame::Frame;
use super::meter::{Meter, Part};
use super::range::{Digest, Division, Span};
use super::source::{Hands, Source};
use super::team::Stream;
use crate::{Error, Result};
use linerate_sys::socket;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is read, digested and sent at once: it stays in a core's own cache.
const PIECE: usize = 256 << 10;

/// All that is to be sent.
pub struct Sending<'s> {
    source: &'s Source,
    division: Division,
    held: HashMap<u64, Digest>,
    verify: bool,
    next: AtomicU64,
    digests: Vec<OnceLock<Digest>>,
    held_bytes: AtomicU64,
}

impl<'s> Sending<'s> {
    /// Of a source, to an end that says what it has.
    pub fn new(source: &'s Source, division: Division, held: &[Held], verify: bool) -> Result<Sending<'s>> {
        let digests = (0..division.count()).map(|_| OnceLock::new()).collect();
        let held = held.iter().map(|held| (held.range, held.digest)).collect();
        let (next, held_bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Sending { source, division, held, verify, next, digests, held_bytes })
    }

    /// Bytes that the other end had.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// The file's digest; none where nothing was verified.
    pub fn digest(&self) -> Result<Option<Digest>> {
        if !self.verify {
            return Ok(None);
        }
        let all: Option<Vec<Digest>> = self.digests.iter().map(|one| one.get().copied()).collect();
        let all =
            all.ok_or_else(|| Error::peer("the sending end", "left out a range", "please report it"))?;
        Ok(Some(self.division.digest(&all)))
    }

    /// One stream's part.
    pub fn play(&self, stream: &mut Stream<'_>, meter: &mut Meter, moved: &AtomicU64) -> Result<()> {
        let mut hands = self.source.hands(PIECE)?;
        stream.await_begin(meter)?;
        while let Some((range, span)) = self.take() {
            if self.is_held(range, span, &mut hands, meter)? {
                self.held_bytes.fetch_add(span.bytes, Ordering::Relaxed);
                stream.announce(Frame::Held { range }, meter)?;
                continue;
            }
            stream.announce(Frame::Bytes { range, bytes: span.bytes }, meter)?;
            // What is sealed or verified goes through this process.
            match self.source.file().filter(|_| !self.verify && stream.unsealed().is_some()) {
                Some(file) => self.send_file(stream, file, span, meter, moved)?,
                None => self.send_read(stream, (range, span), &mut hands, meter, moved)?,
            }
        }
        stream.announce(Frame::End, meter)
    }

    fn take(&self) -> Option<(u64, Span)> {
        let range = self.next.fetch_add(1, Ordering::Relaxed);
        Some((range, self.division.span(range)?))
    }

    /// Whether the other end has the range as it is here.
    fn is_held(&self, range: u64, span: Span, hands: &mut Hands, meter: &mut Meter) -> Result<bool> {
        let Some(there) = self.held.get(&range) else { return Ok(false) };
        let here = self.read(span, hands, meter, |_, _| Ok(()))?;
        let is_same = here == *there;
        if is_same {
            self.know(range, here);
        }
        Ok(is_same)
    }

    fn know(&self, range: u64, digest: Digest) {
        // A range is taken once.
        let _ = self.digests.get(range as usize).map(|known| known.set(digest));
    }

    /// Reads a range, piece by piece; gives its digest.
    fn read(
        &self,
        span: Span,
        hands: &mut Hands,
        meter: &mut Meter,
        mut with: impl FnMut(&[u8], &mut Meter) -> Result<()>,
    ) -> Result<Digest> {
        let mut hasher = self.division.hasher(span.at);
        let end = span.at + span.bytes;
        let mut at = span.at;
        while at < end {
            let piece = self.source.next(at, end, hands)?;
            meter.lap(Part::File);
            if self.verify {
                hasher.update(piece);
                meter.lap(Part::Digest);
            }
            at += piece.len() as u64;
            with(piece, meter)?;
        }
        Ok(if self.verify { hasher.digest() } else { Digest::default() })
    }

    /// By this process's own memory, with the digest after it.
    fn send_read(
        &self,
        stream: &mut Stream<'_>,
        (range, span): (u64, Span),
        hands: &mut Hands,
        meter: &mut Meter,
        moved: &AtomicU64,
    ) -> Result<()> {
        let digest = self.read(span, hands, meter, |piece, meter| {
            stream.send(piece, meter)?;
            meter.bytes += piece.len() as u64;
            moved.fetch_add(piece.len() as u64, Ordering::Relaxed);
            Ok(())
        })?;
        if self.verify {
            stream.send(&digest, meter)?;
            self.know(range, digest);
        }
        Ok(())
    }

    /// From the kernel's pages, which this process does not see: reading is part of what the network takes.
    fn send_file(
        &self,
        stream: &mut Stream<'_>,
        file: &std::fs::File,
        span: Span,
        meter: &mut Meter,
        moved: &AtomicU64,
    ) -> Result<()> {
        let end = span.at + span.bytes;
        let mut at = span.at;
        while at < end {
            let before = at;
            let most = (end - at).min(4 * PIECE as u64) as usize;
            let Some(socket) = stream.unsealed() else { return Err(self.source.shrank()) };
            match stream.sent(socket::send_file(socket, file, &mut at, most))? {
                Some(0) => return Err(self.source.shrank()),
                _ => meter.lap(Part::Network),
            }
            meter.bytes += at - before;
            moved.fetch_add(at - before, Ordering::Relaxed);
        }
        Ok(())
    }
}
